#include "core/normalize/unicode_form.hpp"

#include "core/normalize/character_tables.hpp"
#include "core/unicode/compositions.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <numeric>

namespace pretok {

UnicodeForm::UnicodeForm(bool composes, bool is_compatible) : composes_(composes) {
  if (is_compatible)
    compatible_.emplace(std::vector<Spelling>{append_compatible});
}

void UnicodeForm::run(const std::uint8_t *data, std::size_t size, PassResult &result) const {
  const auto form = composes_ ? to_nfc : to_nfd;
  if (compatible_) {
    std::vector<std::uint8_t> spelled;
    PassResult compatible{spelled, nullptr};
    compatible_->run(data, size, compatible);
    form(spelled.data(), spelled.size(), result.bytes);
  } else {
    form(data, size, result.bytes);
  }
  if (result.origins == nullptr)
    return;
  if (std::equal(result.bytes.begin(), result.bytes.end(), data, data + size)) {
    result.origins->resize(size);
    std::iota(result.origins->begin(), result.origins->end(), 0);
    return;
  }
  std::vector<std::size_t> starts;
  Changes changes = decomposed(data, size, starts);
  if (composes_)
    compose(
        changes, [](const Change &each) { return combining_class(each.code_point); },
        [](Change &starter, const Change &each) {
          const std::uint32_t composite = composed(starter.code_point, each.code_point);
          if (composite == NOT_COMPOSED)
            return false;
          // The composite replaces the old characters of both.
          starter = {composite, starter.change + each.change - 1};
          return true;
        });
  append_origins(changes, starts, *result.origins);
}

UnicodeForm::Changes UnicodeForm::decomposed(const std::uint8_t *data, std::size_t size,
                                             std::vector<std::size_t> &starts) const {
  Changes changes;
  std::size_t sorted = 0; // changes[sorted..) are marks that are not in order yet
  const auto sort_marks = [&] {
    std::stable_sort(changes.begin() + static_cast<std::ptrdiff_t>(sorted), changes.end(),
                     [](const Change &a, const Change &b) {
                       return combining_class(a.code_point) < combining_class(b.code_point);
                     });
  };
  std::vector<std::uint8_t> compatible;
  for (std::size_t at = 0; at < size;) {
    const Decoded decoded = decode_utf8(data + at, size - at);
    starts.push_back(at);
    at += decoded.width;
    compatible.clear();
    (compatible_ ? append_compatible : append_character)(decoded.code_point, compatible);
    std::ptrdiff_t change = 0; // 0 for the first part of the character, then 1
    for (std::size_t i = 0; i < compatible.size();) {
      const Decoded character = decode_utf8(compatible.data() + i, compatible.size() - i);
      i += character.width;
      std::uint32_t parts[MAX_DECOMPOSITION];
      const std::size_t count = decompose(character.code_point, parts);
      for (std::size_t part = 0; part < count; ++part, change = 1) {
        if (combining_class(parts[part]) == 0) {
          sort_marks();
          sorted = changes.size() + 1;
        }
        changes.push_back({parts[part], change});
      }
    }
  }
  sort_marks();
  return changes;
}

} // namespace pretok
