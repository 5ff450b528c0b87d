#include "policy.hpp"

#include "status.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

namespace pretok {

Policy make_policy(const pretok_tokenizer &tokenizer, Treatment treatment,
                   const std::function<bool(const std::string &)> &wanted) {
  std::vector<AddedToken> tokens;
  bool all_special = true;
  for (std::size_t i = 0; i < tokenizer.added.size(); ++i) {
    const bool is_special = tokenizer.added_special[i];
    if (is_special && !wanted(tokenizer.added[i].content))
      continue;
    all_special = all_special && is_special;
    tokens.push_back(tokenizer.added[i]);
    tokens.back().refused = is_special && treatment == Treatment::RAISE;
    // tokenizers finds special tokens that it takes as text, and nothing within them.
    tokens.back().as_text = is_special && treatment == Treatment::TEXT;
  }
  if (all_special && treatment == Treatment::TEXT)
    tokens.clear(); // nothing that they could hide
  return {AddedTokens(tokens, {})};
}

} // namespace pretok

using namespace pretok;

pretok_status pretok_special_set_new(const pretok_tokenizer *tokenizer,
                                     const char *const *texts, const size_t *sizes,
                                     size_t count, pretok_special_set **made,
                                     pretok_error *error) noexcept {
  if (tokenizer == nullptr)
    return missing(error, "the tokenizer");
  if (count != 0 && texts == nullptr)
    return missing(error, "texts");
  if (count != 0 && sizes == nullptr)
    return missing(error, "sizes");
  if (made == nullptr)
    return missing(error, "made");
  return guarded(error, [&] {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < count; ++i) {
      if (texts[i] == nullptr)
        return missing(error, "one of texts");
      names.emplace_back(texts[i], sizes[i]);
      bool found = false;
      for (std::size_t j = 0; j < tokenizer->added.size() && !found; ++j)
        found = tokenizer->added_special[j] && tokenizer->added[j].content == names.back();
      if (!found)
        return fail(error, PRETOK_UNKNOWN_NAME,
                    "\"%.*s\" is no special token of this tokenizer",
                    static_cast<int>(std::min<std::size_t>(sizes[i], 100)), texts[i]);
    }
    const auto is_named = [&names](const std::string &content) {
      return std::find(names.begin(), names.end(), content) != names.end();
    };
    *made =
        new pretok_special_set{tokenizer, make_policy(*tokenizer, Treatment::ALLOW, is_named)};
    return PRETOK_OK;
  });
}

void pretok_special_set_free(pretok_special_set *freed) noexcept { delete freed; }
