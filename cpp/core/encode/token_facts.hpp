// Facts about tokens that samplers and chat servers ask for. No fact changes ids or texts.
// bpe/token_facts.py has the same struct and rules in Python.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary_data.hpp"
#include "core/decode/decoder.hpp"
#include "core/encode/added.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

// The type of a token. The numbers are those of GGUF files and of SentencePiece.
enum class TokenType : std::uint8_t {
  UNDEFINED,
  NORMAL,
  UNKNOWN,
  CONTROL,
  USER_DEFINED,
  UNUSED,
  BYTE
};

// Returns whether a number of a file is the number of a TokenType.
template <typename Number> bool is_token_type(Number number) {
  return number >= Number{0} && number <= static_cast<Number>(TokenType::BYTE);
}

// A role of one token.
enum class TokenRole : std::uint8_t {
  BOS,
  EOS,
  UNK,
  PAD,
  SEP,
  MASK,
  EOT,
  EOM,
  FIM_PREFIX,
  FIM_SUFFIX,
  FIM_MIDDLE,
  FIM_PAD,
  FIM_REPO,
  FIM_SEP
};
inline constexpr std::size_t TOKEN_ROLES = 14;

// The id of each role, or NO_ID.
struct RoleIds {
  RoleIds() { ids.fill(NO_ID); }
  std::uint32_t &operator[](TokenRole role) { return ids[static_cast<std::size_t>(role)]; }
  std::uint32_t operator[](TokenRole role) const { return ids[static_cast<std::size_t>(role)]; }

  std::array<std::uint32_t, TOKEN_ROLES> ids;
};

struct TokenFacts {
  // By id: the TokenType and the score. Ids beyond the end have none.
  std::vector<std::uint8_t> types;
  std::vector<float> scores;
  RoleIds roles;
  std::vector<std::uint32_t> ends; // ids that end a generation, ascending
  std::string chat_template;       // in Jinja; "" if there is none
  double dropout = 0;              // of a tokenizer.json; no call uses it by itself
  // Further chat templates of a GGUF file, with their names.
  std::vector<std::pair<std::string, std::string>> named_templates;
};

// The tokens of a tokenizer, for complete_facts.
struct KnownTokens {
  const Decoder &decoder;
  const std::vector<AddedToken> &added; // with AddedToken::special
  std::size_t id_limit;
  std::uint32_t unknown; // the id of the unknown token of the model, or NO_ID
};

// Returns the types, the roles and the ends of all tokens: those of a file, and others that
// follow from the tokens. The published texts of tokens such as <|im_end|> give the roles from
// EOT on, and ends. The scores and the template of the result are empty.
TokenFacts complete_facts(const TokenFacts &file, const KnownTokens &tokens);

// Returns a score for each id below `id_limit`: minus the rank of the first merge that makes
// the token, or 0. `merges` are in order of rank.
std::vector<float> scores_of_ranks(const std::vector<Merge> &merges, std::size_t id_limit);

} // namespace pretok
