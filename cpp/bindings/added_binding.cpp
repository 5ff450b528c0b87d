#include "bindings/added_binding.hpp"

#include "bindings/added_record.hpp"
#include "bindings/convert.hpp"
#include "core/encode/tokenizer.hpp"

#include <cstdint>
#include <string>
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
  if (treatment != "raise" && treatment != "text" && treatment != "allow")
    throw py::value_error("expected \"raise\", \"text\" or \"allow\"");
  return AddedTokenPhases(added.all.treating(treatment == "raise"  ? Treatment::RAISE
                                             : treatment == "text" ? Treatment::TEXT
                                                                   : Treatment::ALLOW));
}

// Returns two values. The first is a list with (start, end, id) for each segment; `id` is None
// for a segment that is not an added token. The second is (content, position) of the refused
// token, or None.
py::tuple segments(const AddedTokenPhases &added, const py::bytes &text) {
  const auto *data = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(text.ptr()));
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(text.ptr()));
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
  py::class_<AddedTokenPhases>(module, "AddedTokens")
      .def(py::init(&make_added), py::arg("tokens"), py::arg("words"))
      .def("treating", &treating, py::arg("treatment"))
      .def("exact", [](const AddedTokenPhases &added) { return AddedTokenPhases(added.exact); })
      .def("normalized",
           [](const AddedTokenPhases &added) { return AddedTokenPhases(added.normalized); })
      .def("segments", &segments, py::arg("text"));
}

} // namespace pretok
