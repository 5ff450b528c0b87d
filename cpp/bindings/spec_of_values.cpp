#include "bindings/added_record.hpp"
#include "bindings/native_spec.hpp"
#include "bindings/packed_tokens.hpp"
#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_spec.hpp"
#include "formats/json_readers.hpp"
#include "formats/pretok_file_reader.hpp"
#include "formats/text_spec.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// The members of TextSpec.
using TextFields =
    std::tuple<std::optional<std::uint32_t>, bool, bool, bool, std::string, std::string>;

// The items of a dict, by name. An item may be missing.
class Fields {
public:
  explicit Fields(const py::dict &items) : items_(items) {}

  template <typename Value> std::optional<Value> get(const char *name, const char *expected) {
    if (!items_.contains(name))
      return std::nullopt;
    ++used_;
    return cast_argument<Value>(items_[name], expected);
  }
  bool flag(const char *name) { return get<bool>(name, "a bool").value_or(false); }

  // Throws py::value_error if an item was never read.
  void check_all_used() const {
    if (used_ != items_.size())
      throw py::value_error("expected only names of fields that Spec has");
  }

private:
  const py::dict &items_;
  std::size_t used_ = 0;
};

void throw_unless(bool is_right, const char *problem) {
  if (!is_right)
    throw py::value_error(problem);
}

void set_tokens(const py::bytes &bytes, const Array<std::uint32_t> &lengths,
                const Array<std::uint32_t> &ids, VocabularyData &data) {
  const std::vector<std::string_view> texts = texts_of(bytes, lengths);
  const std::string_view all = view_of(bytes);
  data.bytes.assign(all.begin(), all.end());
  data.lengths = as_vector(lengths);
  data.ids = as_vector(ids);
  throw_unless(!texts.empty() && texts.size() == data.ids.size() &&
                   texts.back().data() + texts.back().size() == all.data() + all.size(),
               "expected as many ids as tokens, and the bytes of all tokens");
  std::vector<std::uint32_t> sorted = data.ids;
  std::sort(sorted.begin(), sorted.end());
  throw_unless(sorted.back() < ID_LIMIT, "expected ids below 16777216");
  throw_unless(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
               "expected a different id for each token");
}

void set_merging(Fields &fields, TokenizerSpec &spec) {
  VocabularyData &data = spec.vocabulary;
  data.mergeable = fields.get<std::size_t>("mergeable", "a number").value_or(data.ids.size());
  data.from_ranks = fields.flag("from_ranks");
  data.ignore_merges = fields.flag("ignore_merges");
  spec.add_prefix_space = fields.flag("add_prefix_space");
  if (const auto rows = fields.get<Array<std::uint32_t>>("merges", "an array of uint32"))
    data.merges = merges_of(*rows);
  if (const auto scores = fields.get<Array<float>>("scores", "an array of float32"))
    spec.scores = as_vector(*scores);
  const auto records = fields.get<std::vector<AddedRecord>>("added", "a list of added tokens");
  for (const AddedRecord &record : records.value_or(std::vector<AddedRecord>())) {
    spec.added.push_back(added_token(record));
    const AddedToken &token = spec.added.back();
    throw_unless(!token.content.empty() && token.id < ID_LIMIT,
                 "expected added tokens with text, and ids below 16777216");
  }
  const std::uint32_t limit = first_step(spec);
  const bool has_wrong =
      std::any_of(data.merges.begin(), data.merges.end(), [limit](const Merge &merge) {
        return merge.left >= limit || merge.right >= limit || merge.id >= limit;
      });
  throw_unless(data.mergeable <= data.ids.size() && !has_wrong,
               "expected merges of the ids of tokens, and not more mergeable tokens than all");
  throw_unless(spec.scores.empty() || spec.scores.size() == data.mergeable,
               "expected a score for each mergeable token, or no scores");
}

void set_text(const TextFields &fields, TokenizerSpec &spec) {
  const auto &[unknown, fuses_unknown, has_fallback, byte_level, prefix, suffix] = fields;
  spec.text = TextSpec{
      unknown.value_or(NO_ID), fuses_unknown, has_fallback, byte_level, prefix, suffix};
  throw_unless(!unknown || *unknown < first_step(spec), "expected the id of an unknown token");
  const std::vector<std::string_view> texts = texts_of(spec);
  const auto end = texts.begin() + static_cast<std::ptrdiff_t>(spec.vocabulary.mergeable);
  throw_unless(
      std::all_of(texts.begin(), end, [](std::string_view text) { return is_utf8(text); }),
      "expected texts in UTF-8");
  std::vector<bool> has_byte(256);
  for (auto at = texts.begin(); has_fallback && at != end; ++at)
    if (const std::optional<std::uint8_t> byte = fallback_byte(*at))
      has_byte[*byte] = true;
  const bool has_all = std::find(has_byte.begin(), has_byte.end(), false) == has_byte.end();
  throw_unless(spec.scores.empty() || unknown || has_all,
               "expected a fallback token for each byte, or an unknown token");
}

void set_steps(const py::bytes &stored, TokenizerSpec &spec) {
  const std::string_view bytes = view_of(stored);
  PretokFileReader reader(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size(),
                          0);
  if (!read_steps_section(reader, spec))
    throw py::value_error(reader.error().message);
  use_nfc(spec);
}

SplitAtMarks split_at_marks_of(const std::string &name) {
  throw_unless(name == "yes" || name == "no" || name == "other",
               "expected split_at_marks \"yes\", \"no\" or \"other\"");
  return name == "yes"  ? SplitAtMarks::YES
         : name == "no" ? SplitAtMarks::NO
                        : SplitAtMarks::OTHER;
}

} // namespace

NativeSpec spec_of_values(const py::bytes &tokens, const Array<std::uint32_t> &lengths,
                          const Array<std::uint32_t> &ids, const py::dict &values) {
  auto spec = std::make_shared<TokenizerSpec>();
  Fields fields(values);
  set_tokens(tokens, lengths, ids, spec->vocabulary);
  set_merging(fields, *spec);
  if (const auto text = fields.get<TextFields>("text", "the fields of a model of text"))
    set_text(*text, *spec);
  throw_unless(spec->text || spec->scores.empty(), "expected scores only of tokens of text");
  if (const auto stored = fields.get<py::bytes>("steps", "bytes"))
    set_steps(*stored, *spec);
  spec->stages = {whole_stage()};
  spec->split_at_marks =
      split_at_marks_of(fields.get<std::string>("split_at_marks", "a str").value_or("other"));
  if (auto invisible = fields.get<std::vector<std::uint32_t>>("invisible", "a list of ids")) {
    throw_unless(spec->decoding && std::all_of(invisible->begin(), invisible->end(),
                                               [limit = first_step(*spec)](std::uint32_t id) {
                                                 return id < limit;
                                               }),
                 "expected the ids of tokens that SentencePiece decodes to no text");
    spec->decoding->invisible = std::move(*invisible);
  }
  const bool decodes = fields.get<bool>("decodes", "a bool").value_or(true);
  fields.check_all_used();
  if (spec->text && spec->split_at_marks != SplitAtMarks::OTHER)
    use_character_spec(*spec); // or leaves the spec as it is, which is slower
  return {std::move(spec), decodes};
}

} // namespace pretok
