// Added tokens of the native backend of bpe.Tokenizer.
#include "bindings/added_record.hpp"
#include "bindings/bind.hpp"
#include "bindings/convert.hpp"
#include "core/encode/tokenizer.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pretok {

namespace py = pybind11;

namespace {

AddedTokenPhases make_added(const std::vector<AddedRecord> &records, CodePointRanges words) {
  std::vector<AddedToken> tokens;
  tokens.reserve(records.size());
  for (const AddedRecord &record : records)
    tokens.push_back(added_token(record));
  return AddedTokenPhases(AddedTokens(tokens, std::move(words)));
}

AddedTokenPhases treating(const AddedTokenPhases &added, const std::string &treatment) {
  if (!added.all.ends().empty())
    throw py::value_error("expected tokens without ranges");
  if (treatment != "raise" && treatment != "text" && treatment != "allow")
    throw py::value_error("expected \"raise\", \"text\" or \"allow\"");
  return AddedTokenPhases(added.all.treating(treatment == "raise"  ? Treatment::RAISE
                                             : treatment == "text" ? Treatment::TEXT
                                                                   : Treatment::ALLOW));
}

using Row = std::tuple<std::size_t, std::shared_ptr<const AddedTokenPhases>,
                       std::vector<std::uint32_t>>;

AddedTokenPhases of_ranges(const std::vector<Row> &rows) {
  struct Owner {
    std::vector<AddedTokens::TextRange> ranges;
    std::vector<std::shared_ptr<const AddedTokenPhases>> tokens;
  };
  const auto owner = std::make_shared<Owner>();
  std::vector<AddedTokens::TextRange> &ranges = owner->ranges;
  std::size_t last = 0;
  for (const auto &[end, added, ids] : rows) {
    if (added == nullptr)
      throw py::type_error("expected AddedTokens");
    if (end < last || !added->all.ends().empty())
      throw py::value_error("expected ascending ends of ranges, and tokens without ranges");
    last = end;
    ranges.push_back({end, &added->all, {}});
    owner->tokens.push_back(added);
    for (const std::uint32_t id : ids) {
      ranges.back().given.emplace_back();
      ranges.back().given.back().id = id;
    }
  }
  return AddedTokenPhases(AddedTokens::of_ranges(AddedTokens::TextRanges(owner, &ranges)));
}

AddedTokenPhases moved(const AddedTokenPhases &added, const std::vector<std::size_t> &ends) {
  if (ends.size() != added.all.ends().size() || !std::is_sorted(ends.begin(), ends.end()))
    throw py::value_error("expected one end per range, and ascending ends");
  return AddedTokenPhases(added.all.moved(ends));
}

// Returns two values. The first is a list with (start, end, id) for each segment; `id` is None
// for a segment that is not an added token. The second is (content, position) of the refused
// token, or None.
py::tuple segments(const AddedTokenPhases &added, const py::bytes &text) {
  const auto [data, size] = bytes_of(text);
  py::list result;
  const Refusal refusal = added.all.split(data, size, [&](const Segment &segment) {
    py::object id = py::none();
    if (segment.token != nullptr)
      id = py::int_(segment.token->id);
    result.append(py::make_tuple(segment.start, segment.end, id));
  });
  py::object refused = py::none();
  if (refusal.token != nullptr)
    refused = py::make_tuple(py::str(refusal.token->content), refusal.position);
  return py::make_tuple(result, refused);
}

} // namespace

void bind_added(py::module_ &module) {
  py::class_<AddedTokenPhases, std::shared_ptr<AddedTokenPhases>>(module, "AddedTokens")
      .def(py::init(&make_added), py::arg("tokens"), py::arg("words"))
      .def("treating", &treating, py::arg("treatment"))
      .def("exact", [](const AddedTokenPhases &added) { return AddedTokenPhases(added.exact); })
      .def("normalized",
           [](const AddedTokenPhases &added) { return AddedTokenPhases(added.normalized); })
      .def_static("of_ranges", &of_ranges, py::arg("rows"))
      .def("ends", [](const AddedTokenPhases &added) { return added.all.ends(); })
      .def(
          "of_part",
          [](const AddedTokenPhases &added, std::size_t start, std::size_t end) {
            return AddedTokenPhases(added.all.of_part(start, end));
          },
          py::arg("start"), py::arg("end"))
      .def("moved", &moved, py::arg("ends"))
      .def("segments", &segments, py::arg("text"));
}

} // namespace pretok
