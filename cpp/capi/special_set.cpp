// pretok_special_set.
#include "capi/handles.hpp"
#include "capi/status.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

using namespace pretok;

pretok_status pretok_special_set_new(const pretok_tokenizer *tokenizer,
                                     const char *const *texts, const size_t *sizes,
                                     size_t count, pretok_special_set **result,
                                     pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{tokenizer, "the tokenizer"},
                                                 {texts, "texts", count != 0},
                                                 {sizes, "sizes", count != 0},
                                                 {result, "result"}}))
    return status;
  return guarded(error, [&] {
    struct Name {
      std::string_view text;
      std::size_t index; // in `texts`
    };
    std::vector<Name> names;
    for (std::size_t i = 0; i < count; ++i) {
      if (texts[i] == nullptr)
        return missing(error, "one of texts");
      names.push_back({{texts[i], sizes[i]}, i});
    }
    const auto is_before = [](const Name &a, const Name &b) { return a.text < b.text; };
    std::sort(names.begin(), names.end(), is_before);
    std::vector<bool> is_known(count);
    std::vector<AddedToken> allowed;
    // Added tokens that are not special are always recognized in text, so `allowed` has all of
    // them.
    for (const AddedToken &token : tokenizer->core->added()) {
      const auto range =
          std::equal_range(names.begin(), names.end(), Name{token.content, 0}, is_before);
      if (!token.special || range.first != range.second)
        allowed.push_back(token);
      for (auto name = range.first; name != range.second && token.special; ++name)
        is_known[name->index] = true;
    }
    for (std::size_t i = 0; i < count; ++i)
      if (!is_known[i])
        return fail(error, PRETOK_UNKNOWN_NAME,
                    "texts[%zu] is \"%.*s\", which is not a special token of this tokenizer; "
                    "remove it from texts",
                    i, static_cast<int>(std::min<std::size_t>(sizes[i], 100)), texts[i]);
    std::string key = "{";
    for (std::size_t i = 0; i < count; ++i)
      if (i == 0 || names[i].text != names[i - 1].text)
        key.append(std::to_string(names[i].text.size()) + ':').append(names[i].text);
    *result = new pretok_special_set{
        tokenizer, AddedTokenPhases(tokenizer->core->search_for(std::move(allowed))),
        std::move(key)};
    return PRETOK_OK;
  });
}

void pretok_special_set_free(pretok_special_set *freed) noexcept { delete freed; }
