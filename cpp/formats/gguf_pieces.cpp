#include "formats/gguf_parts.hpp"

#include "core/unicode/utf8.hpp"
#include "formats/character_spec.hpp"
#include "formats/load_error.hpp"
#include "formats/piece_file.hpp"
#include "formats/text_model.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

// Reads a vocabulary of SentencePiece's BPE (tokenizer.ggml.model "llama"), as
// bpe/formats/gguf_text.py does.
class GgufPieceReader {
public:
  GgufPieceReader(const std::vector<GgufValue> &values, TokenizerSpec &spec)
      : tokens_(values[GgufKey::TOKENS]), types_(values[GgufKey::TYPES]),
        scores_(values[GgufKey::SCORES]), space_(values[GgufKey::ADD_SPACE]), spec_(spec) {}

  LoadError read() {
    if (tokens_.kind != GgufValue::STRINGS || tokens_.texts.empty())
      return unexpected(tokens_, "an array of strings, one for each token");
    const std::size_t count = tokens_.texts.size();
    if (LoadError error = check_types(types_, count, true))
      return error;
    const TextIndex places(tokens_.texts);
    if (LoadError error = check_unique(tokens_.texts, places))
      return error;
    if (scores_.kind != GgufValue::NUMBERS || scores_.floats.size() != count)
      return unexpected(scores_, "floats of 32 bits, one for each token");
    if (LoadError error = read_options())
      return error;
    if (LoadError error = list_tokens())
      return error;
    if (LoadError error = check_unreachable(places))
      return error;
    list_added(tokens_, types_, "", spec_);
    const std::string problem = problem_of_characters(spec_);
    if (!problem.empty())
      return unsupported("the SentencePiece model ", problem);
    return {};
  }

private:
  std::int64_t type_of(std::size_t id) const {
    return types_.numbers.empty() ? std::int64_t{GgufTokenType::NORMAL} : types_.numbers[id];
  }

  LoadError read_options() {
    bool adds_space = true;
    if (LoadError error = read_flag(space_, true, adds_space))
      return error;
    CharacterSpec &characters = spec_.characters.emplace();
    characters.spaces.prefix =
        adds_space ? TextSpaces::Prefix::ALWAYS : TextSpaces::Prefix::NONE;
    characters.spaces.are_marks = characters.spaces.prefix_has_span = true;
    characters.is_normalizer = true;
    characters.fuses_unknown = true;
    set_decoder(adds_space);
    return {};
  }

  // Sets the decoders that the tokenizer.json of such a model has.
  void set_decoder(bool strips_space) {
    std::vector<DecoderStep> &steps = spec_.decoder.emplace();
    for (const char *name : {"Replace", "ByteFallback", "Fuse"})
      steps.push_back(DECODER_TYPES.make(name));
    steps.front().replacement = {std::string(SPACE_MARK), " ", {}};
    if (!strips_space)
      return;
    steps.push_back(DECODER_TYPES.make("Strip"));
    steps.back().text = " ";
    steps.back().start = 1;
  }

  // Lists the tokens that are not empty, and the pieces, which merges may make.
  LoadError list_tokens() {
    constexpr std::size_t MAX_TOKEN = 1 << 12; // characters
    VocabularyData &data = spec_.vocabulary;
    std::size_t fallback = 0;
    for (std::uint32_t id = 0; id < tokens_.texts.size(); ++id) {
      const std::string_view text = tokens_.texts[id];
      const std::int64_t type = type_of(id);
      const bool is_byte = type == GgufTokenType::BYTE;
      if (is_byte && !fallback_byte(text))
        return malformed("the fallback tokens include ", quote(text),
                         "; expected <0x00> to <0xFF>");
      fallback += is_byte ? 1 : 0;
      if (text.empty())
        continue;
      data.bytes.insert(data.bytes.end(), text.begin(), text.end());
      data.lengths.push_back(static_cast<std::uint32_t>(text.size()));
      data.ids.push_back(id);
      if (is_byte || type == GgufTokenType::UNKNOWN || type == GgufTokenType::CONTROL) {
        special_.push_back(text);
        spec_.scores.push_back(NAN);
        continue;
      }
      if (count_characters(text) > MAX_TOKEN)
        return malformed("token ", id, " has more than ", MAX_TOKEN, " characters");
      const float score = scores_.floats[id];
      if (score != score)
        return malformed("token ", id, " has the score NaN; expected a number");
      spec_.scores.push_back(score);
    }
    data.mergeable = data.ids.size();
    data.from_ranks = data.ignore_merges = false;
    return fallback == 256 ? LoadError()
                           : malformed("the file has ", fallback,
                                       " fallback tokens; expected <0x00> to <0xFF>");
  }

  // Fails if llama.cpp may merge ordinary text to a special token or a fallback token: if such
  // a token has one character, or its text is that of two tokens or characters together.
  LoadError check_unreachable(const TextIndex &places) const {
    std::vector<bool> characters(0x110000);
    for (const std::string_view text : tokens_.texts)
      for (std::size_t at = 0; at < text.size();) {
        const Decoded decoded = character_at(text, at);
        characters[decoded.code_point] = true;
        at += decoded.width;
      }
    const auto is_known = [&](std::string_view text) {
      const Decoded first = character_at(text, 0);
      return (first.width == text.size() && characters[first.code_point]) ||
             places.find(text) != TextIndex::NO_TEXT;
    };
    for (const std::string_view text : special_) {
      std::size_t at = character_at(text, 0).width;
      bool is_reachable = at == text.size();
      for (; at < text.size(); at += character_at(text, at).width)
        is_reachable =
            is_reachable || (is_known(text.substr(0, at)) && is_known(text.substr(at)));
      if (is_reachable)
        return unsupported("in llama.cpp, ordinary text may become the token ", quote(text),
                           ", which is a special token or the name of a byte; pretok does not "
                           "support such a vocabulary");
    }
    return {};
  }

  static Decoded character_at(std::string_view text, std::size_t at) {
    return decode_utf8(reinterpret_cast<const std::uint8_t *>(text.data()) + at,
                       text.size() - at);
  }

  const GgufValue &tokens_;
  const GgufValue &types_;
  const GgufValue &scores_;
  const GgufValue &space_;
  TokenizerSpec &spec_;
  std::vector<std::string_view> special_;
};

} // namespace

LoadError read_gguf_pieces(const std::vector<GgufValue> &values, TokenizerSpec &spec) {
  return GgufPieceReader(values, spec).read();
}

} // namespace pretok
