#include "policy.hpp"

#include "nfc.hpp"
#include "status.hpp"
#include "words.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

namespace pretok {

namespace {

std::string as_nfc(const std::string &text) {
  std::vector<std::uint8_t> normal;
  to_nfc(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), normal);
  return std::string(normal.begin(), normal.end());
}

} // namespace

Policy make_policy(const pretok_tokenizer &tokenizer, Treatment treatment,
                   const std::function<bool(const std::string &)> &wanted) {
  std::vector<AddedToken> tokens;
  bool all_special = true;
  bool single_words = false;
  for (std::size_t i = 0; i < tokenizer.added.size(); ++i) {
    const bool is_special = tokenizer.added_special[i];
    if (is_special && !wanted(tokenizer.added[i].content))
      continue;
    AddedToken token = tokenizer.added[i];
    all_special = all_special && is_special;
    single_words = single_words || token.single_word;
    token.refused = is_special && treatment == Treatment::RAISE;
    // tokenizers finds special tokens that it takes as text, and nothing within them.
    token.as_text = is_special && treatment == Treatment::TEXT;
    if (tokenizer.nfc && token.normalized)
      token.content = as_nfc(token.content);
    tokens.push_back(std::move(token));
  }
  if (all_special && treatment == Treatment::TEXT)
    tokens.clear(); // nothing that they could hide
  const AddedTokens::Ranges words = single_words ? word_ranges() : AddedTokens::Ranges();
  std::vector<AddedToken> exact;
  std::vector<AddedToken> normalized;
  if (tokenizer.nfc)
    for (const AddedToken &token : tokens)
      (token.normalized ? normalized : exact).push_back(token);
  return {AddedTokens(tokens, words), AddedTokens(exact, words),
          AddedTokens(normalized, words)};
}

} // namespace pretok

using namespace pretok;

pretok_status pretok_special_set_new(const pretok_tokenizer *tokenizer,
                                     const char *const *texts, const size_t *sizes,
                                     size_t count, pretok_special_set **made,
                                     pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{tokenizer, "the tokenizer"},
                                                 {texts, "texts", count != 0},
                                                 {sizes, "sizes", count != 0},
                                                 {made, "made"}}))
    return status;
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
