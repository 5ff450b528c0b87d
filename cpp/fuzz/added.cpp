// Added tokens that overlap, repeat and are long, in texts that nearly have them: by
// definition, in a bounded number of steps, and for any cut and any chunks.
#include "capi/encode_call.hpp"
#include "capi/special_policy.hpp"
#include "core/encode/safe_cut_between.hpp"
#include "core/split/presets.hpp"
#include "fuzz/definition.hpp"
#include "fuzz/rank_lines.hpp"

#include <cstring>
#include <memory>

namespace {

using namespace pretok;

// So many steps a byte, and so many besides, are linear. Each of two phases takes two steps a
// byte at most, and looks at white space once from each side.
constexpr std::size_t STEPS_A_BYTE = 8;
constexpr std::size_t STEPS_BESIDES = 64;
// A stream looks for cuts in windows, each with the bytes before it that tokens may have.
constexpr std::size_t STREAM_STEPS_A_BYTE = 40;
constexpr std::size_t STREAM_STEPS_BESIDES = 4096;

constexpr std::size_t MAX_TEXT = 400;

void reset_steps() {
#ifdef PRETOK_COUNT_STEPS
  counted_steps = 0;
#endif
}

std::size_t steps() {
#ifdef PRETOK_COUNT_STEPS
  return counted_steps;
#else
  return 0;
#endif
}

// A part of an alphabet so small that tokens overlap.
const std::string &some_unit(Input &input) {
  static const std::string UNITS[] = {"a",           "b",   "ab", "aab",          " ",
                                      "  ",          "\n",  "<",  "\xE3\x80\x80", "\xC3\xA9",
                                      "e\xCC\x81",   "x y", "|>", "<|",           "\xCC\x81",
                                      "\xE4\xB8\xAD"};
  return UNITS[input.byte() % (sizeof UNITS / sizeof *UNITS)];
}

// A unit so many times: mostly few, sometimes up to 64.
std::string some_run(Input &input) {
  const std::string &unit = some_unit(input);
  const std::size_t choice = input.byte();
  const std::size_t times = choice < 224 ? choice % 8 : (choice - 223) * 2;
  std::string run;
  for (std::size_t i = 0; i < times; ++i)
    run += unit;
  return run;
}

std::vector<AddedToken> some_tokens(Input &input) {
  std::vector<AddedToken> tokens;
  for (std::size_t left = input.below(8); left != 0; --left) {
    AddedToken token;
    const std::uint8_t flags = input.byte();
    token.normalized = (flags & 1) != 0;
    token.lstrip = (flags & 2) != 0;
    token.rstrip = (flags & 4) != 0;
    token.single_word = (flags & 8) != 0;
    token.special = (flags & 16) != 0;
    // Often another token and more, so that tokens have parts in common.
    if ((flags & 32) != 0 && !tokens.empty())
      token.content = tokens[input.byte() % tokens.size()].content;
    token.content += some_run(input);
    if ((flags & 64) != 0)
      token.content += some_run(input);
    token.id = static_cast<std::uint32_t>(1000 + tokens.size());
    const auto is_known = [&](const AddedToken &other) {
      return other.content == token.content;
    };
    if (!token.content.empty() && token.content.size() <= MAX_TEXT &&
        std::none_of(tokens.begin(), tokens.end(), is_known))
      tokens.push_back(std::move(token));
  }
  return tokens;
}

std::string some_text(Input &input, const std::vector<AddedToken> &tokens) {
  std::string text;
  while (input.left() != 0 && text.size() < MAX_TEXT) {
    const std::uint8_t choice = input.byte();
    if (choice < 128 || tokens.empty()) {
      text += some_run(input);
    } else if (choice < 250) {
      // A token, or its start.
      const std::string &content = tokens[choice % tokens.size()].content;
      text += content.substr(0, content.size() - input.byte() % (content.size() + 1) / 2);
    } else {
      text += static_cast<char>(input.byte());
    }
  }
  text.resize(std::min(text.size(), MAX_TEXT));
  return text;
}

const std::uint8_t *bytes_of(const std::string &text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

struct Split {
  struct Part {
    std::size_t start;
    std::size_t end;
    std::uint32_t id;
    bool operator==(const Part &other) const {
      return start == other.start && end == other.end && id == other.id;
    }
  };
  std::vector<Part> parts;
  std::string refused;
  std::size_t position = 0;

  void add(std::size_t start, std::size_t end, const AddedToken *token) {
    parts.push_back({start, end, token == nullptr ? 0 : token->id});
  }
  void end_with(const Refusal &refusal) {
    refused = refusal.token == nullptr ? "" : refusal.token->content;
    position = refusal.position;
  }
  bool operator==(const Split &other) const {
    return parts == other.parts && refused == other.refused && position == other.position;
  }
};

Split split(const AddedTokens &added, const std::string &text) {
  Split result;
  reset_steps();
  result.end_with(added.split(bytes_of(text), text.size(), [&result](const Segment &segment) {
    result.add(segment.start, segment.end, segment.token);
  }));
  check(steps() <= STEPS_A_BYTE * text.size() + STEPS_BESIDES, "steps are linear in the text");
  return result;
}

Split slow_split(const SlowAdded &added, const std::string &text) {
  Split result;
  const auto emit = [&result](std::size_t start, std::size_t end, const AddedToken *token) {
    result.add(start, end, token);
  };
  result.end_with(added.split(text, 0, text.size(), false, emit));
  return result;
}

// The places are those of the definition, whatever comes after `to`, and both sides of each
// have the tokens of the whole.
void check_clear(const AddedTokens &added, const std::vector<AddedToken> &tokens,
                 const std::string &text, const Split &whole, std::size_t from,
                 std::size_t to) {
  const std::size_t first = from - std::min(from, added.longest());
  // Memory of this very size.
  const std::vector<std::uint8_t> around(text.begin() + static_cast<std::ptrdiff_t>(first),
                                         text.begin() + static_cast<std::ptrdiff_t>(to));
  reset_steps();
  const ClearPlaces clear = added.clear_places(around.data(), from - first, to - first);
  check(steps() <= STEPS_A_BYTE * around.size() + STEPS_BESIDES,
        "steps are linear in the text");
  std::size_t start = from;
  std::size_t begun = 0;
  for (const AddedToken &token : tokens) {
    const std::string &content = token.content;
    for (std::size_t end = first + content.size(); end <= to; ++end)
      if (text.compare(end - content.size(), content.size(), content) == 0)
        start = std::max(start, end);
    for (std::size_t size = begun + 1; size <= content.size() && size <= to - first; ++size)
      if (text.compare(to - size, size, content, 0, size) == 0)
        begun = size;
  }
  if (added.longest() == 0) {
    check(clear.start + first == from && clear.end + first == to,
          "all is clear without tokens");
    return;
  }
  check(added.strips() ? clear.start + first >= start : clear.start + first == start,
        "the last token that ends is known");
  check(clear.end == (to - first > begun ? to - first - begun - 1 : 0),
        "a token that has begun is known");
  if (!whole.refused.empty())
    return;
  const std::size_t cut = first + clear.end;
  const auto is_tail = [&](std::size_t at) {
    return at < text.size() && (static_cast<std::uint8_t>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t after = first + clear.start + 1;
  while (is_tail(after))
    ++after;
  if (cut < after || is_tail(cut) ||
      (added.strips() && AddedTokens::is_white_space_before(bytes_of(text), 0, cut)))
    return;
  Split both = split(added, text.substr(0, cut));
  const Split rest = split(added, text.substr(cut));
  check(!both.parts.empty() && both.parts.back().id == 0, "text is before a cut");
  // A token that begins later may take white space along, up to the cut.
  for (const Split::Part &part : rest.parts) {
    if (part.start == 0 && part.id == 0)
      both.parts.back().end = cut + part.end;
    else
      both.parts.push_back({part.start + cut, part.end + cut, part.id});
  }
  check(both == whole, "both sides of a cut have the tokens of the whole");
}

// One with a token for each byte, and added tokens that each input sets.
pretok_tokenizer &tokenizer_of(std::size_t number) {
  static const char *const PRESETS[] = {"gpt2", "cl100k", "o200k", "falcon"};
  constexpr std::size_t KINDS = sizeof PRESETS / sizeof *PRESETS;
  static std::array<pretok_tokenizer *, 2 * KINDS> known{};
  pretok_tokenizer *&found = known[number % known.size()];
  if (found == nullptr) {
    std::string file;
    for (std::uint32_t byte = 0; byte < 256; ++byte)
      file += rank_line(std::string(1, static_cast<char>(byte)), byte);
    pretok_load_options options{};
    options.struct_size = sizeof options;
    options.preset = PRESETS[number % KINDS];
    options.normalizer = number % known.size() >= KINDS ? "NFC" : nullptr;
    check(pretok_tokenizer_from_memory(file.data(), file.size(), &options, &found, nullptr) ==
              PRETOK_OK,
          "a right file is read");
  }
  return *found;
}

void check_stream(pretok_tokenizer &tokenizer, Treatment treatment, const std::string &text,
                  std::size_t chunk) {
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = treatment == Treatment::RAISE  ? PRETOK_SPECIAL_RAISE
                    : treatment == Treatment::TEXT ? PRETOK_SPECIAL_TEXT
                                                   : PRETOK_SPECIAL_ALLOW;
  std::vector<std::uint32_t> ids(pretok_encode_bound(&tokenizer, text.size()));
  std::size_t count = 0;
  pretok_error error{};
  pretok_error stream_error{};
  const pretok_status status = pretok_encode(&tokenizer, text.data(), text.size(), &options,
                                             ids.data(), ids.size(), &count, &error);
  pretok_encode_stream *stream = nullptr;
  check(pretok_encode_stream_new(&tokenizer, &options, &stream, nullptr) == PRETOK_OK,
        "a stream can be made");
  std::vector<std::uint32_t> streamed;
  const std::uint32_t *some = nullptr;
  std::size_t some_count = 0;
  pretok_status streamed_status = PRETOK_OK;
  reset_steps();
  for (std::size_t at = 0; at < text.size() && streamed_status == PRETOK_OK; at += chunk) {
    streamed_status =
        pretok_encode_stream_feed(stream, text.data() + at, std::min(chunk, text.size() - at),
                                  &some, &some_count, &stream_error);
    if (streamed_status == PRETOK_OK)
      streamed.insert(streamed.end(), some, some + some_count);
  }
  if (streamed_status == PRETOK_OK)
    streamed_status = pretok_encode_stream_finish(stream, &some, &some_count, &stream_error);
  if (streamed_status == PRETOK_OK)
    streamed.insert(streamed.end(), some, some + some_count);
  pretok_encode_stream_free(stream);
  check(steps() <= STREAM_STEPS_A_BYTE * text.size() + STREAM_STEPS_BESIDES,
        "steps of a stream are linear in the text");
  check(status == streamed_status, "a stream says what one call says");
  if (status != PRETOK_OK) {
    check(status == PRETOK_SPECIAL_TOKEN && error.position == stream_error.position,
          "both say where");
    return;
  }
  ids.resize(count);
  check(ids == streamed, "a stream gives what one call gives");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const CodePointRanges WORDS = {{'0', '9'},   {'A', 'Z'},     {'a', 'z'},
                                        {0xE9, 0xE9}, {0x301, 0x301}, {0x4E00, 0x9FFF}};
  Input input(data, size);
  const auto treatment = static_cast<Treatment>(input.below(3));
  const std::size_t number = input.byte();
  const std::size_t chunk = 1 + input.byte();
  const std::size_t place = input.byte();
  const std::size_t window = input.byte() * std::size_t{4};
  const std::vector<AddedToken> tokens = some_tokens(input);
  const std::string text = some_text(input, tokens);

  const AddedTokens added = AddedTokens(tokens, WORDS).treating(treatment);
  const Split whole = split(added, text);
  check(whole == slow_split(SlowAdded(tokens, WORDS, treatment), text),
        "tokens are found as it is defined");
  const std::size_t to = text.size() * place / 255;
  check_clear(added, tokens, text, whole, to - std::min(to, window), to);

  if (number >= 128)
    return 0; // What follows takes as long as the rest.
  pretok_tokenizer &tokenizer = tokenizer_of(number);
  tokenizer.added = tokens;
  tokenizer.policies.clear();
  make_policies(tokenizer);
  check_stream(tokenizer, treatment, text, chunk);
  return 0;
}
