#include "core/decode/decoder_step.hpp"

#include "core/decode/decoder_flow.hpp"
#include "core/normalize/growth.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"
#include "core/unicode/whole_utf8.hpp"

#include <iterator>
#include <utility>

namespace pretok {
namespace {

const std::uint8_t *flow_bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// Returns `text` with each match of `pattern` replaced. An empty pattern matches between all
// characters, and at both ends.
std::string replace_each(std::string_view text, std::string_view pattern,
                         std::string_view content) {
  std::string result;
  std::size_t done = 0;
  if (pattern.empty()) {
    while (done < text.size()) {
      const std::size_t width = decode_utf8(flow_bytes(text) + done, text.size() - done).width;
      result.append(content).append(text.substr(done, width));
      done += width;
    }
    return result.append(content);
  }
  for (std::size_t at; (at = text.find(pattern, done)) != std::string_view::npos;) {
    result.append(text.substr(done, at - done)).append(content);
    done = at + pattern.size();
  }
  return result.append(text.substr(done));
}

// Returns what the option `cleanup` of the library makes of a token.
std::string cleaned_token(std::string token) {
  static constexpr std::string_view CHANGES[][2] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &[old, content] : CHANGES)
    token = replace_each(token, old, content);
  return token;
}

// Returns the number of bytes at the start, or at the end, of a token that are `character`,
// repeated at most `limit` times.
std::size_t leading(std::string_view token, std::string_view character, std::size_t limit) {
  std::size_t size = 0;
  for (; limit != 0 && token.substr(size, character.size()) == character; --limit)
    size += character.size();
  return size;
}
std::size_t trailing(std::string_view token, std::string_view character, std::size_t limit) {
  std::size_t size = 0;
  for (; limit != 0 && token.size() - size >= character.size() &&
         token.substr(token.size() - size - character.size(), character.size()) == character;
       --limit)
    size += character.size();
  return size;
}

// Strips the ends of one token that comes in parts.
class StripPartsFlow final : public Cloned<StripPartsFlow> {
public:
  explicit StripPartsFlow(const DecoderStep &step) : step_(&step), start_(step.start) {}
  void feed(std::string_view token, const Sink &sink) override {
    const std::string_view character = step_->text;
    while (start_ != 0 && !token.empty()) {
      if (token.substr(0, character.size()) != character) {
        start_ = 0;
        break;
      }
      token.remove_prefix(character.size());
      --start_;
    }
    std::string text = held_;
    text.append(token);
    const std::size_t kept = text.size() - trailing(text, character, step_->stop);
    held_ = text.substr(kept);
    sink(std::string_view(text).substr(0, kept));
  }
  void finish(const Sink &) override {} // the text that is held back is stripped
  void skip_start() override { start_ = 0; }
  bool is_idle() const override { return start_ == 0 && held_.empty(); }

private:
  const DecoderStep *step_;
  std::uint32_t start_; // the number of characters that may still be stripped at the start
  std::string held_;
};

// Decodes the bytes that the characters of byte-level tokens stand for.
class BytesFlow final : public Cloned<BytesFlow> {
public:
  explicit BytesFlow(Invalid invalid) : invalid_(invalid) {}
  void feed(std::string_view token, const Sink &sink) override {
    std::vector<std::uint8_t> bytes;
    if (append_bytes(token, bytes))
      held_.append(bytes.begin(), bytes.end());
    else // a character stands for no byte, so the token stands for itself
      held_.append(token);
    std::string text;
    held_.erase(0, append_whole_utf8(held_, invalid_, text));
    sink(text);
  }
  void finish(const Sink &sink) override {
    std::string text = invalid_ == Invalid::KEEP ? held_ : std::string();
    if (invalid_ != Invalid::KEEP)
      append_replacements(held_.empty() ? 0 : 1, text);
    sink(text);
  }
  bool is_idle() const override { return held_.empty(); }

private:
  Invalid invalid_;
  std::string held_; // an incomplete sequence of UTF-8
};

// Decodes each run of adjacent tokens such as <0x0A>.
class FallbackFlow final : public Cloned<FallbackFlow> {
public:
  explicit FallbackFlow(Invalid invalid) : invalid_(invalid) {}
  void feed(std::string_view token, const Sink &sink) override {
    if (const std::optional<char> byte = byte_of_token(token)) {
      run_.push_back(*byte);
      return;
    }
    finish(sink);
    sink(token);
  }
  void finish(const Sink &sink) override {
    const std::string run = std::exchange(run_, {});
    if (run.empty())
      return;
    if (invalid_ == Invalid::KEEP || is_utf8(run))
      return sink(run);
    std::string mark;
    append_replacements(1, mark);
    for (std::size_t i = 0; i < run.size(); ++i)
      sink(mark);
  }
  bool is_idle() const override { return run_.empty(); }

private:
  Invalid invalid_;
  std::string run_;
};

// The functions of the types.

void no_decoder_fields(DecoderStep &, StepFields &) {}

std::string keep_token(const DecoderRule &, TokenPlace, std::string_view token) {
  return std::string(token);
}

std::string strip_token(const DecoderRule &rule, TokenPlace, std::string_view token) {
  token.remove_prefix(leading(token, rule.step.text, rule.step.start));
  token.remove_suffix(trailing(token, rule.step.text, rule.step.stop));
  return std::string(token);
}

FlowPointer make_strip_flow(const DecoderRule &rule, Invalid, bool in_parts) {
  if (in_parts)
    return std::make_unique<StripPartsFlow>(rule.step);
  return make_each_flow(rule, true);
}

void grow_replaced(const DecoderStep &step, Growth &growth) {
  // Only characters of two bytes stand for bytes.
  const std::string &content = step.replacement.content;
  bool is_stable = true;
  for (std::size_t at = 0, width = 0; at < content.size(); at += width) {
    width = decode_utf8(flow_bytes(content) + at, content.size() - at).width;
    is_stable = is_stable && width != 2;
  }
  growth.multiply(replace_factor(step.replacement), is_stable);
}

std::string replace_in_token(const DecoderRule &rule, TokenPlace, std::string_view token) {
  if (!rule.replacer)
    return replace_each(token, rule.step.replacement.pattern, rule.step.replacement.content);
  std::vector<std::uint8_t> changed;
  PassResult result{changed, nullptr};
  rule.replacer->run(flow_bytes(token), token.size(), result);
  return {changed.begin(), changed.end()};
}

FlowPointer make_replace_flow(const DecoderRule &rule, Invalid, bool in_parts) {
  // A match of one character lies within one part. Any other match may cross parts.
  const std::string &pattern = rule.step.replacement.pattern;
  const bool is_local =
      !rule.replacer &&
      decode_utf8(flow_bytes(pattern), pattern.size()).width == pattern.size();
  return hold_parts(make_each_flow(rule, true), in_parts && !is_local);
}

std::string change_word_piece(const DecoderRule &rule, TokenPlace place,
                              std::string_view token) {
  const std::string &prefix = rule.step.text;
  std::string changed(token);
  if (place != TokenPlace::FIRST) {
    if (token.substr(0, prefix.size()) == prefix)
      changed.erase(0, prefix.size());
    else
      changed.insert(0, " ");
  }
  return rule.step.cleanup ? cleaned_token(std::move(changed)) : changed;
}

std::string change_ctc(const DecoderRule &rule, TokenPlace, std::string_view token) {
  const DecoderStep &step = rule.step;
  std::string changed =
      step.text.empty() ? std::string(token) : replace_each(token, step.text, "");
  return step.cleanup ? replace_each(cleaned_token(std::move(changed)), step.delimiter, " ")
                      : changed;
}

void grow_ctc(const DecoderStep &step, Growth &growth) {
  if (step.cleanup && step.delimiter.empty()) { // a space around each character
    growth.multiply(2, true);
    growth.add(1, true);
  }
}

void grow_space(const DecoderStep &, Growth &growth) { growth.add(1, true); }

constexpr DecoderType DECODERS[] = {
    {"ByteLevel", no_decoder_fields,
     // A character of two bytes stands for a byte, which may become U+FFFD.
     [](const DecoderStep &, Growth &growth) { growth.spell(2); }, nullptr,
     [](const DecoderRule &, Invalid invalid, bool in_parts) {
       return hold_parts(std::make_unique<BytesFlow>(invalid), in_parts);
     },
     true},
    {"ByteFallback", no_decoder_fields, nullptr, nullptr,
     [](const DecoderRule &, Invalid invalid, bool in_parts) {
       return hold_parts(std::make_unique<FallbackFlow>(invalid), in_parts);
     }},
    {"Fuse", no_decoder_fields, nullptr, keep_token,
     [](const DecoderRule &rule, Invalid, bool) { return make_each_flow(rule, true); }, true},
    {"Strip",
     [](DecoderStep &step, StepFields &fields) {
       fields.character("content", step.text);
       fields.count("start", step.start);
       fields.count("stop", step.stop);
     },
     nullptr, strip_token, make_strip_flow},
    {"Replace",
     [](DecoderStep &step, StepFields &fields) {
       fields.pattern("pattern", step.replacement);
       fields.text("content", step.replacement.content, true);
     },
     grow_replaced, replace_in_token, make_replace_flow},
    {"Metaspace",
     [](DecoderStep &step, StepFields &fields) {
       fields.character("replacement", step.text);
       fields.scheme("prepend_scheme", step.scheme);
     },
     nullptr,
     [](const DecoderRule &rule, TokenPlace place, std::string_view token) {
       const bool removes =
           place == TokenPlace::FIRST && rule.step.scheme != PrependScheme::NEVER;
       return replace_each(token, rule.step.text, removes ? "" : " ");
     },
     [](const DecoderRule &rule, Invalid, bool in_parts) {
       return make_each_flow(rule, in_parts);
     }},
    {"BPEDecoder",
     [](DecoderStep &step, StepFields &fields) { fields.text("suffix", step.text, false); },
     nullptr,
     [](const DecoderRule &rule, TokenPlace place, std::string_view token) {
       return replace_each(token, rule.step.text, place == TokenPlace::LAST ? "" : " ");
     },
     [](const DecoderRule &rule, Invalid, bool in_parts) {
       return hold_parts(make_last_flow(rule), in_parts);
     }},
    {"WordPiece",
     [](DecoderStep &step, StepFields &fields) {
       fields.text("prefix", step.text, true);
       fields.flag("cleanup", step.cleanup);
     },
     grow_space, change_word_piece,
     [](const DecoderRule &rule, Invalid, bool in_parts) {
       return hold_parts(make_each_flow(rule, false), in_parts);
     }},
    {"CTC",
     [](DecoderStep &step, StepFields &fields) {
       fields.text("pad_token", step.text, true);
       fields.text("word_delimiter_token", step.delimiter, true);
       fields.flag("cleanup", step.cleanup);
     },
     grow_ctc, change_ctc,
     [](const DecoderRule &rule, Invalid, bool in_parts) {
       return hold_parts(make_distinct_flow(rule), in_parts);
     }},
    {"Spaces", no_decoder_fields, grow_space,
     [](const DecoderRule &, TokenPlace place, std::string_view token) {
       return (place == TokenPlace::FIRST ? "" : " ") + std::string(token);
     },
     [](const DecoderRule &rule, Invalid, bool) { return make_each_flow(rule, false); }},
    {"SentencePieceDecoding",
     [](DecoderStep &step, StepFields &fields) {
       fields.flag("strips_space", step.strips_space);
       fields.flag("strips_spaces", step.strips_spaces);
       fields.any_text("unknown_surface", step.text);
     },
     nullptr, nullptr, nullptr},
};

} // namespace

std::optional<char> byte_of_token(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>')
    return std::nullopt;
  const bool has_sign = token[3] == '+';
  unsigned value = 0;
  for (const char digit : token.substr(has_sign ? 4 : 3, has_sign ? 1 : 2)) {
    const char lower = static_cast<char>(digit | 0x20);
    if (digit >= '0' && digit <= '9')
      value = value * 16 + static_cast<unsigned>(digit - '0');
    else if (lower >= 'a' && lower <= 'f')
      value = value * 16 + static_cast<unsigned>(lower - 'a' + 10);
    else
      return std::nullopt;
  }
  return static_cast<char>(value);
}

// The last two types are only in .pretok files: a tokenizer.json has null for Spaces.
const StepTypes<DecoderStep> DECODER_TYPES = {DECODERS, std::size(DECODERS),
                                              std::size(DECODERS) - 2};

} // namespace pretok
