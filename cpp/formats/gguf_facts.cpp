#include "formats/gguf_parts.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace pretok {
namespace {

struct RoleKey {
  std::string_view key;
  TokenRole role;
};

// A later key replaces an earlier one of the same role. The last three are deprecated.
constexpr RoleKey ROLE_KEYS[] = {
    {"tokenizer.ggml.unknown_token_id", TokenRole::UNK},
    {"tokenizer.ggml.padding_token_id", TokenRole::PAD},
    {"tokenizer.ggml.seperator_token_id", TokenRole::SEP}, // spelled so in the format
    {"tokenizer.ggml.mask_token_id", TokenRole::MASK},
    {"tokenizer.ggml.eot_token_id", TokenRole::EOT},
    {"tokenizer.ggml.eom_token_id", TokenRole::EOM},
    {"tokenizer.ggml.fim_pre_token_id", TokenRole::FIM_PREFIX},
    {"tokenizer.ggml.fim_suf_token_id", TokenRole::FIM_SUFFIX},
    {"tokenizer.ggml.fim_mid_token_id", TokenRole::FIM_MIDDLE},
    {"tokenizer.ggml.fim_pad_token_id", TokenRole::FIM_PAD},
    {"tokenizer.ggml.fim_rep_token_id", TokenRole::FIM_REPO},
    {"tokenizer.ggml.fim_sep_token_id", TokenRole::FIM_SEP},
    {"tokenizer.ggml.prefix_token_id", TokenRole::FIM_PREFIX},
    {"tokenizer.ggml.suffix_token_id", TokenRole::FIM_SUFFIX},
    {"tokenizer.ggml.middle_token_id", TokenRole::FIM_MIDDLE},
};
constexpr std::string_view CHAT_TEMPLATE = "tokenizer.chat_template";
constexpr std::string_view TEMPLATE_NAMES = "tokenizer.chat_templates";
constexpr std::size_t FACT_KEYS = std::size(ROLE_KEYS) + 2;

} // namespace

void add_fact_keys(std::vector<GgufValue> &values) {
  for (const RoleKey &each : ROLE_KEYS)
    values.emplace_back().key = each.key;
  values.emplace_back().key = TEMPLATE_NAMES;
  values.emplace_back().key = CHAT_TEMPLATE;
}

LoadError read_named_templates(ByteSource &file, const std::vector<GgufValue> &values,
                               TokenFacts &facts) {
  const std::vector<std::string_view> &names = values[values.size() - 2].texts;
  if (names.empty())
    return {};
  // The names are known only now, so this reads the metadata again.
  std::vector<std::string> keys;
  for (const std::string_view name : names)
    keys.push_back(std::string(CHAT_TEMPLATE) + "." + std::string(name));
  std::vector<GgufValue> templates(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    templates[i].key = keys[i];
  if (LoadError error = read_gguf_metadata(file, templates))
    return error;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (templates[i].kind == GgufValue::STRING)
      facts.named_templates.emplace_back(names[i], templates[i].text);
  return {};
}

void read_gguf_facts(const std::vector<GgufValue> &values, TokenFacts &facts) {
  const std::vector<std::string_view> &texts = values[GgufKey::TOKENS].texts;
  const std::size_t count = texts.size();
  const auto set = [&](TokenRole role, const GgufValue &value) {
    if (value.kind == GgufValue::INTEGER && !value.negative && value.number < count &&
        !texts[value.number].empty())
      facts.roles[role] = static_cast<std::uint32_t>(value.number);
  };
  set(TokenRole::BOS, values[GgufKey::BOS]);
  set(TokenRole::EOS, values[GgufKey::EOS]);
  const std::size_t first = values.size() - FACT_KEYS;
  for (std::size_t i = 0; i < std::size(ROLE_KEYS); ++i)
    set(ROLE_KEYS[i].role, values[first + i]);
  if (values.back().kind == GgufValue::STRING)
    facts.chat_template = values.back().text;
  const std::vector<std::int64_t> &types = values[GgufKey::TYPES].numbers;
  if (types.size() == count &&
      std::all_of(types.begin(), types.end(), is_token_type<std::int64_t>)) {
    facts.types.reserve(count);
    for (const std::int64_t type : types)
      facts.types.push_back(static_cast<std::uint8_t>(type));
  }
  if (values[GgufKey::SCORES].floats.size() == count)
    facts.scores = values[GgufKey::SCORES].floats;
}

} // namespace pretok
