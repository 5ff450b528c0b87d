// Fuzzes the search for added tokens that overlap, repeat or are long. Checks four properties:
//   - splitting a text gives the result of the slow definition;
//   - splitting takes a linear number of steps;
//   - splitting the two sides of a cut gives the result for the whole text;
//   - a stream that gets the text in chunks gives the ids of one call.
#include "capi/encode_call.hpp"
#include "capi/load_tokenizer.hpp"
#include "core/encode/safe_cut_between.hpp"
#include "core/split/presets.hpp"
#include "fuzz/definition.hpp"
#include "fuzz/rank_lines.hpp"

#include <cstring>
#include <memory>

namespace {

using namespace pretok;

// A search of n bytes may take STEPS_PER_BYTE * n + EXTRA_STEPS steps, which is linear. Each of
// the two phases (raw text, normalized text) takes at most two steps per byte, and reads a run
// of white space at most once from each side.
constexpr std::size_t STEPS_PER_BYTE = 8;
constexpr std::size_t EXTRA_STEPS = 64;
// The limit of steps for a stream is higher: a stream searches windows of the text for cuts,
// and each search also reads the bytes before its window that could belong to a token.
constexpr std::size_t STREAM_STEPS_PER_BYTE = 40;
constexpr std::size_t STREAM_EXTRA_STEPS = 4096;

// The maximum size of a text, and of the content of a token.
constexpr std::size_t MAX_BYTES = 400;

// Returns one of a few short strings. Tokens of so few strings often overlap.
const std::string &some_unit(Input &input) {
  static const std::string UNITS[] = {"a",           "b",   "ab", "aab",          " ",
                                      "  ",          "\n",  "<",  "\xE3\x80\x80", "\xC3\xA9",
                                      "e\xCC\x81",   "x y", "|>", "<|",           "\xCC\x81",
                                      "\xE4\xB8\xAD"};
  return UNITS[input.byte() % (sizeof UNITS / sizeof *UNITS)];
}

// Returns a unit repeated 0 to 7 times, or sometimes 2 to 64 times.
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
    // Many tokens start with the content of an earlier token, so tokens share prefixes.
    if ((flags & 32) != 0 && !tokens.empty())
      token.content = tokens[input.byte() % tokens.size()].content;
    token.content += some_run(input);
    if ((flags & 64) != 0)
      token.content += some_run(input);
    token.id = static_cast<std::uint32_t>(1000 + tokens.size());
    const auto has_same_content = [&](const AddedToken &other) {
      return other.content == token.content;
    };
    if (!token.content.empty() && token.content.size() <= MAX_BYTES &&
        std::none_of(tokens.begin(), tokens.end(), has_same_content))
      tokens.push_back(std::move(token));
  }
  return tokens;
}

std::string some_text(Input &input, const std::vector<AddedToken> &tokens) {
  std::string text;
  while (input.left() != 0 && text.size() < MAX_BYTES) {
    const std::uint8_t choice = input.byte();
    if (choice < 128 || tokens.empty()) {
      text += some_run(input);
    } else if (choice < 250) {
      // Add a token or a prefix of a token.
      const std::string &content = tokens[choice % tokens.size()].content;
      text += content.substr(0, content.size() - input.byte() % (content.size() + 1) / 2);
    } else {
      text += static_cast<char>(input.byte());
    }
  }
  text.resize(std::min(text.size(), MAX_BYTES));
  return text;
}

const std::uint8_t *bytes_of(const std::string &text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// The result of a split: the segments, and the refused token that stopped the split, if any.
struct Split {
  struct Span {
    std::size_t start;
    std::size_t end;
    std::uint32_t id; // 0 for plain text
    bool operator==(const Span &other) const {
      return start == other.start && end == other.end && id == other.id;
    }
  };
  std::vector<Span> segments;
  std::string refused_content; // empty if no token was refused
  std::size_t position = 0;    // of the refused token

  void add(std::size_t start, std::size_t end, const AddedToken *token) {
    segments.push_back({start, end, token == nullptr ? 0 : token->id});
  }
  void set_refusal(const Refusal &refusal) {
    refused_content = refusal.token == nullptr ? "" : refusal.token->content;
    position = refusal.position;
  }
  bool operator==(const Split &other) const {
    return segments == other.segments && refused_content == other.refused_content &&
           position == other.position;
  }
};

Split split(const AddedTokens &added, const std::string &text) {
  Split result;
  reset_steps();
  result.set_refusal(
      added.split(bytes_of(text), text.size(), [&result](const Segment &segment) {
        result.add(segment.start, segment.end, segment.token);
      }));
  check(steps() <= STEPS_PER_BYTE * text.size() + EXTRA_STEPS,
        "splitting takes a linear number of steps");
  return result;
}

Split slow_split(const SlowAdded &added, const std::string &text) {
  Split result;
  const auto emit = [&result](std::size_t start, std::size_t end, const AddedToken *token) {
    result.add(start, end, token);
  };
  result.set_refusal(added.split(text, 0, text.size(), false, emit));
  return result;
}

// Checks `clear_places` for the bytes [from, to) of `text`. clear_places returns a range of
// positions that no token can include or touch, whatever bytes follow `to`. This function also
// computes the range by a slow definition. If the end of the range is a valid place for a cut,
// it cuts `text` there and splits both sides. Joined, they must equal `whole`, the split of
// `text`.
void check_clear(const AddedTokens &added, const std::vector<AddedToken> &tokens,
                 const std::string &text, const Split &whole, std::size_t from,
                 std::size_t to) {
  const std::size_t first = from - std::min(from, added.longest());
  // An exact-size allocation lets a sanitizer catch every read outside these bytes.
  const std::vector<std::uint8_t> around(text.begin() + static_cast<std::ptrdiff_t>(first),
                                         text.begin() + static_cast<std::ptrdiff_t>(to));
  reset_steps();
  const ClearPlaces clear = added.clear_places(around.data(), from - first, to - first);
  check(steps() <= STEPS_PER_BYTE * around.size() + EXTRA_STEPS,
        "finding clear places takes a linear number of steps");
  std::size_t last_token_end = from;
  std::size_t open_size = 0; // of the longest prefix of a token that ends at `to`
  for (const AddedToken &token : tokens) {
    const std::string &content = token.content;
    for (std::size_t end = first + content.size(); end <= to; ++end)
      if (text.compare(end - content.size(), content.size(), content) == 0)
        last_token_end = std::max(last_token_end, end);
    for (std::size_t size = open_size + 1; size <= content.size() && size <= to - first; ++size)
      if (text.compare(to - size, size, content, 0, size) == 0)
        open_size = size;
  }
  if (added.longest() == 0) {
    check(clear.start + first == from && clear.end + first == to,
          "without tokens, every position is clear");
    return;
  }
  check(added.strips() ? clear.start + first >= last_token_end
                       : clear.start + first == last_token_end,
        "the clear range starts after the last token");
  check(clear.end == (to - first > open_size ? to - first - open_size - 1 : 0),
        "the clear range ends before the longest token prefix at `to`");
  if (!whole.refused_content.empty())
    return;
  const std::size_t cut = first + clear.end;
  const auto is_continuation_byte = [&](std::size_t at) {
    return at < text.size() && (static_cast<std::uint8_t>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t first_cut = first + clear.start + 1;
  while (is_continuation_byte(first_cut))
    ++first_cut;
  if (cut < first_cut || is_continuation_byte(cut) ||
      (added.strips() && AddedTokens::is_white_space_before(bytes_of(text), 0, cut)))
    return;
  Split joined = split(added, text.substr(0, cut));
  const Split right = split(added, text.substr(cut));
  check(!joined.segments.empty() && joined.segments.back().id == 0,
        "plain text comes before a cut");
  // Join the plain text on both sides of the cut into one segment. The right side may instead
  // begin with a token: a token with `lstrip` takes the white space before it, back to the cut.
  for (const Split::Span &part : right.segments) {
    if (part.start == 0 && part.id == 0)
      joined.segments.back().end = cut + part.end;
    else
      joined.segments.push_back({part.start + cut, part.end + cut, part.id});
  }
  check(joined == whole, "both sides of a cut together have the tokens of the whole text");
}

// Returns a tokenizer with one token per byte. `index` chooses one of 4 presets, with or
// without NFC. Later calls with an equal `index` return the same tokenizer. The caller replaces
// its added tokens.
pretok_tokenizer &cached_tokenizer(std::size_t index) {
  static const char *const PRESETS[] = {"gpt2", "cl100k", "o200k", "falcon"};
  constexpr std::size_t PRESET_COUNT = sizeof PRESETS / sizeof *PRESETS;
  static std::array<pretok_tokenizer *, 2 * PRESET_COUNT> cache{};
  index %= cache.size();
  pretok_tokenizer *&tokenizer = cache[index];
  if (tokenizer == nullptr) {
    std::string file;
    for (std::uint32_t byte = 0; byte < 256; ++byte)
      file += rank_line(std::string(1, static_cast<char>(byte)), byte);
    pretok_load_options options{};
    options.struct_size = sizeof options;
    options.preset = PRESETS[index % PRESET_COUNT];
    options.normalizer = index >= PRESET_COUNT ? "NFC" : nullptr;
    check(pretok_tokenizer_from_memory(file.data(), file.size(), &options, &tokenizer,
                                       nullptr) == PRETOK_OK,
          "a valid file loads");
  }
  return *tokenizer;
}

// Checks that a stream that gets `text` in chunks of `chunk` bytes gives the ids and the error
// of one call.
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
        "creating a stream succeeds");
  std::vector<std::uint32_t> streamed;
  const std::uint32_t *new_ids = nullptr; // the ids that the last call completed
  std::size_t new_count = 0;
  pretok_status streamed_status = PRETOK_OK;
  reset_steps();
  for (std::size_t at = 0; at < text.size() && streamed_status == PRETOK_OK; at += chunk) {
    streamed_status =
        pretok_encode_stream_feed(stream, text.data() + at, std::min(chunk, text.size() - at),
                                  &new_ids, &new_count, &stream_error);
    if (streamed_status == PRETOK_OK)
      streamed.insert(streamed.end(), new_ids, new_ids + new_count);
  }
  if (streamed_status == PRETOK_OK)
    streamed_status = pretok_encode_stream_finish(stream, &new_ids, &new_count, &stream_error);
  if (streamed_status == PRETOK_OK)
    streamed.insert(streamed.end(), new_ids, new_ids + new_count);
  pretok_encode_stream_free(stream);
  check(steps() <= STREAM_STEPS_PER_BYTE * text.size() + STREAM_EXTRA_STEPS,
        "a stream takes a linear number of steps");
  check(status == streamed_status, "a stream and one call return the same status");
  if (status != PRETOK_OK) {
    check(status == PRETOK_SPECIAL_TOKEN && error.position == stream_error.position,
          "a stream and one call report the same position");
    return;
  }
  ids.resize(count);
  check(ids == streamed, "a stream and one call give the same ids");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const CodePointRanges WORDS = {{'0', '9'},   {'A', 'Z'},     {'a', 'z'},
                                        {0xE9, 0xE9}, {0x301, 0x301}, {0x4E00, 0x9FFF}};
  Input input(data, size);
  const auto treatment = static_cast<Treatment>(input.below(3));
  const std::size_t tokenizer_index = input.byte();
  const std::size_t chunk = 1 + input.byte();
  const std::size_t window_end = input.byte(); // in 255ths of the text
  const std::size_t window_size = input.byte() * std::size_t{4};
  const std::vector<AddedToken> tokens = some_tokens(input);
  const std::string text = some_text(input, tokens);

  const AddedTokens added = AddedTokens(tokens, WORDS).treating(treatment);
  const Split whole = split(added, text);
  check(whole == slow_split(SlowAdded(tokens, WORDS, treatment), text),
        "the fast search finds the tokens of the definition");
  const std::size_t to = text.size() * window_end / 255;
  check_clear(added, tokens, text, whole, to - std::min(to, window_size), to);

  if (tokenizer_index >= 128)
    return 0; // The stream takes as long as all checks above, so half of the inputs skip it.
  pretok_tokenizer &tokenizer = cached_tokenizer(tokenizer_index);
  tokenizer.policies = make_policies(*tokenizer.core, tokens);
  check_stream(tokenizer, treatment, text, chunk);
  return 0;
}
