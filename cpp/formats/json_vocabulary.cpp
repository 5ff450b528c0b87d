#include "formats/json_vocabulary.hpp"

#include "core/base/ids.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace pretok {
namespace {

// Fails with an error about the entry `text` of the vocabulary.
void fail_entry(const JsonPart &entry, const std::string &expected) {
  entry.fail(malformed("model.vocab[", quote(entry.name()), "] is not ", expected));
}

bool read_merge(const JsonPart &merge, TextMerge &result) {
  if (merge.is(JsonKind::STRING))
    return split_merge(merge.text(), result);
  if (!merge.is(JsonKind::LIST))
    return false;
  std::size_t count = 0;
  for (const JsonPart side : merge.items()) {
    if (!side.is(JsonKind::STRING) || count == 2)
      return false;
    (count++ == 0 ? result.left : result.right) = side.text();
  }
  return count == 2;
}

} // namespace

void read_json_vocab(const JsonPart &vocab, TextModel &model) {
  std::vector<bool> seen;
  for (const JsonPart entry : vocab.members()) {
    std::uint32_t id = 0;
    if (!entry.get_id(id))
      return fail_entry(entry, "a number from 0 to " + std::to_string(ID_LIMIT - 1));
    if (id >= seen.size())
      seen.resize(std::max<std::size_t>(std::size_t{id} + 1, seen.size() * 2));
    if (seen[id])
      return fail_entry(entry, "a unique id");
    seen[id] = true;
    model.texts.push_back(entry.name());
    model.ids.push_back(id);
  }
}

void read_json_merges(const JsonPart &merges, TextModel &model) {
  for (const JsonPart item : merges.items()) {
    TextMerge &merge = model.merges.emplace_back();
    if (!read_merge(item, merge))
      return item.fail_malformed("two tokens, as \"a b\" or [\"a\", \"b\"]");
  }
}

} // namespace pretok
