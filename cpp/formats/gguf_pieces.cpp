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
      : values_(values), tokens_(values[GgufKey::TOKENS]), types_(values[GgufKey::TYPES]),
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
    list_added(values_, "", spec_);
    const std::string problem = problem_of_characters(spec_);
    if (!problem.empty())
      return unsupported("the SentencePiece model ", problem);
    return {};
  }

private:
  TokenType type_of(std::size_t id) const {
    return types_.numbers.empty() ? TokenType::NORMAL
                                  : static_cast<TokenType>(types_.numbers[id]);
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
    TextSpec &text = spec_.text.emplace();
    text.has_fallback = text.fuses_unknown = true;
    set_gguf_decoder(adds_space, spec_);
    return {};
  }

  // Lists the tokens that are not empty, and the pieces, which merges may make.
  LoadError list_tokens() {
    constexpr std::size_t MAX_TOKEN = 1 << 12; // characters
    VocabularyData &data = spec_.vocabulary;
    std::size_t fallback = 0;
    for (std::uint32_t id = 0; id < tokens_.texts.size(); ++id) {
      const std::string_view text = tokens_.texts[id];
      const TokenType type = type_of(id);
      const bool is_byte = type == TokenType::BYTE;
      if (is_byte && !fallback_byte(text))
        return malformed("the fallback tokens include ", quote(text),
                         "; expected <0x00> to <0xFF>");
      fallback += is_byte ? 1 : 0;
      if (text.empty())
        continue;
      data.add(text, id);
      const bool is_one = count_characters(text) == 1;
      if (is_byte || type == TokenType::UNKNOWN || type == TokenType::CONTROL) {
        if (is_one)
          return unsupported(
              "token ", id, ", ", quote(text),
              ", is a special token of one character, which llama.cpp also "
              "finds in ordinary text; pretok does not support such a vocabulary");
        spec_.scores.push_back(NAN);
        continue;
      }
      // llama.cpp finds each user-defined token before it merges, so merges see its text only
      // if they write a space as "▁".
      if (type == TokenType::USER_DEFINED && !is_one &&
          text.find(SPACE_MARK) == std::string_view::npos) {
        spec_.scores.push_back(NAN);
        continue;
      }
      if (count_characters(text) > MAX_TOKEN)
        return malformed("token ", id, " has more than ", MAX_TOKEN, " characters");
      const float score = scores_.floats[id];
      if (score != score)
        return malformed("token ", id, " has the score NaN; expected a number");
      spec_.scores.push_back(score == 0 ? 0 : score); // -0.0 ties with 0.0
    }
    data.mergeable = data.ids.size();
    data.from_ranks = data.ignore_merges = false;
    return fallback == 256 ? LoadError()
                           : malformed("the file has ", fallback,
                                       " fallback tokens; expected <0x00> to <0xFF>");
  }

  const std::vector<GgufValue> &values_;
  const GgufValue &tokens_;
  const GgufValue &types_;
  const GgufValue &scores_;
  const GgufValue &space_;
  TokenizerSpec &spec_;
};

} // namespace

void set_gguf_decoder(bool strips_space, TokenizerSpec &spec) {
  std::vector<DecoderStep> &steps = spec.decoder.emplace();
  for (const char *name : {"Replace", "ByteFallback", "Fuse"})
    steps.push_back(DECODER_TYPES.make(name));
  steps.front().replacement = {std::string(SPACE_MARK), " ", {}};
  if (!strips_space)
    return;
  steps.push_back(DECODER_TYPES.make("Strip"));
  steps.back().text = " ";
  steps.back().start = 1;
}

LoadError read_gguf_pieces(const std::vector<GgufValue> &values, TokenizerSpec &spec) {
  return GgufPieceReader(values, spec).read();
}

} // namespace pretok
