#include "core/normalize/pass_maker.hpp"

#include "core/normalize/unicode_form.hpp"

namespace pretok {
namespace {

// The maximum number of spellings in all CharacterMaps of a chain that keep pages. A page takes
// as much time as 256 characters, even if a text has only one character of the page.
constexpr std::size_t MAX_SPELLINGS = 16;

} // namespace

void PassMaker::add_form(bool composes, bool is_compatible) {
  finish_map();
  auto form = std::make_unique<UnicodeForm>(composes, is_compatible);
  if (form->map() != nullptr)
    add_map(*form->map(), 1);
  passes_.push_back(std::move(form));
}

NormalizerPasses PassMaker::finish() {
  finish_map();
  if (spelling_count_ <= MAX_SPELLINGS)
    for (CharacterMap *map : maps_)
      map->keep_pages();
  return std::move(passes_);
}

void PassMaker::finish_map() {
  if (spellings_.empty())
    return;
  const std::size_t count = spellings_.size();
  auto map = std::make_unique<CharacterMap>(std::exchange(spellings_, {}));
  add_map(*map, count);
  passes_.push_back(std::move(map));
}

void PassMaker::add_map(CharacterMap &map, std::size_t spelling_count) {
  maps_.push_back(&map);
  spelling_count_ += spelling_count;
}

} // namespace pretok
