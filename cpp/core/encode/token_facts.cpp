#include "core/encode/token_facts.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace pretok {
namespace {

// A text of tokens with a role.
struct RoleName {
  std::string_view text;
  TokenRole role;
};

#include "core/encode/generated/token_names.inc"

constexpr TokenRole END_ROLES[] = {TokenRole::EOS,     TokenRole::EOT,      TokenRole::EOM,
                                   TokenRole::FIM_PAD, TokenRole::FIM_REPO, TokenRole::FIM_SEP};
constexpr std::string_view NO_END = "<|plamo:eos|>";

// The lowest id of each text in ROLE_NAMES and END_NAMES, or NO_ID.
class NamedIds {
public:
  explicit NamedIds(const KnownTokens &tokens) {
    role_ids_.fill(NO_ID);
    end_ids_.fill(NO_ID);
    for (std::uint32_t id = 0; id < tokens.id_limit; ++id) {
      const TokenView token = tokens.decoder.token(id);
      if (token.bytes != nullptr)
        add({reinterpret_cast<const char *>(token.bytes), token.size}, id);
    }
    for (const AddedToken &token : tokens.added)
      add(token.content, token.id);
  }

  std::uint32_t role_id(std::size_t index) const { return role_ids_[index]; }
  std::uint32_t end_id(std::size_t index) const { return end_ids_[index]; }
  std::uint32_t end_id(std::string_view text) const {
    return end_ids_[static_cast<std::size_t>(
        std::find(std::begin(END_NAMES), std::end(END_NAMES), text) - END_NAMES)];
  }

private:
  void add(std::string_view text, std::uint32_t id) {
    if (text.empty() || text.size() > MAX_NAME_BYTES ||
        NAME_STARTS.find(text[0]) == std::string_view::npos)
      return;
    for (std::size_t i = 0; i < std::size(ROLE_NAMES); ++i)
      if (text == ROLE_NAMES[i].text)
        role_ids_[i] = std::min(role_ids_[i], id);
    for (std::size_t i = 0; i < std::size(END_NAMES); ++i)
      if (text == END_NAMES[i])
        end_ids_[i] = std::min(end_ids_[i], id);
  }

  std::array<std::uint32_t, std::size(ROLE_NAMES)> role_ids_;
  std::array<std::uint32_t, std::size(END_NAMES)> end_ids_;
};

// Returns `id`, or NO_ID if no token has it.
std::uint32_t token_or_none(const Decoder &decoder, std::uint32_t id) {
  return decoder.token(id).bytes == nullptr ? NO_ID : id;
}

std::vector<std::uint8_t> complete_types(const TokenFacts &file, const KnownTokens &tokens,
                                         const RoleIds &roles) {
  const auto number = [](TokenType type) { return static_cast<std::uint8_t>(type); };
  std::vector<std::uint8_t> types(tokens.id_limit);
  for (std::uint32_t id = 0; id < types.size(); ++id)
    types[id] = number(tokens.decoder.token(id).bytes == nullptr ? TokenType::UNDEFINED
                       : tokens.decoder.is_fallback(id)          ? TokenType::BYTE
                                                                 : TokenType::NORMAL);
  for (const bool special : {false, true})
    for (const AddedToken &token : tokens.added)
      if (token.special == special)
        types[token.id] = number(special ? TokenType::CONTROL : TokenType::USER_DEFINED);
  for (const std::uint32_t id : {roles[TokenRole::UNK], tokens.unknown})
    if (id < types.size())
      types[id] = number(TokenType::UNKNOWN);
  std::copy_n(file.types.begin(), std::min(file.types.size(), types.size()), types.begin());
  return types;
}

// bpe/token_facts.py explains the rules.
std::vector<std::uint32_t> complete_ends(const TokenFacts &file, const Decoder &decoder,
                                         const RoleIds &roles, const NamedIds &named) {
  std::set<std::uint32_t> ends;
  for (const std::uint32_t id : file.ends)
    ends.insert(token_or_none(decoder, id));
  for (const TokenRole role : END_ROLES)
    ends.insert(roles[role]);
  for (std::size_t i = 0; i < std::size(END_NAMES); ++i)
    if (END_NAMES[i] != NO_END)
      ends.insert(named.end_id(i));
  ends.erase(NO_ID);
  const auto is_end = [&](std::string_view first, std::string_view second) {
    return ends.count(named.end_id(first)) != 0 || ends.count(named.end_id(second)) != 0;
  };
  if (is_end("<|call|>", "<|calls|>") && is_end("<|return|>", "<|flush|>"))
    ends.erase(named.end_id("<|end|>"));
  if (is_end("<|tool_response>", NO_END))
    ends.erase(named.end_id("</s>"));
  return {ends.begin(), ends.end()};
}

} // namespace

TokenFacts complete_facts(const TokenFacts &file, const KnownTokens &tokens) {
  const NamedIds named(tokens);
  TokenFacts result;
  for (std::size_t role = 0; role < file.roles.ids.size(); ++role)
    result.roles.ids[role] = token_or_none(tokens.decoder, file.roles.ids[role]);
  if (result.roles[TokenRole::UNK] == NO_ID)
    result.roles[TokenRole::UNK] = tokens.unknown;
  for (std::size_t i = 0; i < std::size(ROLE_NAMES); ++i) {
    std::uint32_t &id = result.roles[ROLE_NAMES[i].role];
    if (id == NO_ID)
      id = named.role_id(i);
  }
  result.types = complete_types(file, tokens, result.roles);
  result.ends = complete_ends(file, tokens.decoder, result.roles, named);
  return result;
}

std::vector<float> scores_of_ranks(const std::vector<Merge> &merges, std::size_t id_limit) {
  std::vector<float> scores(id_limit);
  for (std::size_t rank = merges.size(); rank-- > 0;) // the first merge of a token counts
    if (merges[rank].id < id_limit)
      scores[merges[rank].id] = -static_cast<float>(rank);
  return scores;
}

} // namespace pretok
