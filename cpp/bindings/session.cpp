#include "bindings/session.hpp"

#include "bindings/convert.hpp"
#include "bindings/packed_tokens.hpp"
#include "bindings/results.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace pretok {
namespace {

namespace py = pybind11;

// A copy of a Patch. Few ids need no allocation.
class PatchCopy {
public:
  explicit PatchCopy(const Patch &patch)
      : keep_(patch.keep), tail_(patch.tail), count_(patch.count) {
    if (count_ <= near_.size())
      std::copy(patch.ids, patch.ids + count_, near_.data());
    else
      far_.assign(patch.ids, patch.ids + count_);
  }

  // Returns (keep, ids, tail).
  py::tuple as_tuple() && {
    if (count_ > near_.size())
      return py::make_tuple(keep_, as_array(std::move(far_)), tail_);
    py::array_t<std::uint32_t> ids(static_cast<py::ssize_t>(count_));
    std::copy(near_.data(), near_.data() + count_, ids.mutable_data());
    return py::make_tuple(keep_, std::move(ids), tail_);
  }

private:
  std::size_t keep_ = 0;
  std::size_t tail_ = 0;
  std::size_t count_ = 0;
  std::array<std::uint32_t, 256> near_;
  std::vector<std::uint32_t> far_;
};

// Checks the range from `start` to `end`.
void check(std::size_t start, std::size_t end, std::size_t size) {
  if (start > end || end > size)
    throw py::value_error("expected 0 <= start <= end <= size");
}

// Throws an error if the session drops its text.
void check_text(const Session &session) {
  if (session.drops_text())
    throw py::value_error("the session drops its text");
}

} // namespace

struct NativeSession::Call {
  Session &session;
  const std::uint8_t *data;
  std::size_t size;
  PreTokenCache &cache;
  Patch &patch;
};

template <typename Change>
py::tuple NativeSession::changed(const py::object &text, Change change) const {
  const TextView view(text);
  std::optional<PatchCopy> made;
  Refusal refusal;
  session_.use(view.size(), [&](Session &session) {
    Scratch scratch;
    view.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
      const CacheLease cache(tokenizer_.caches());
      Patch patch;
      refusal = change(Call{session, data, size, *cache, patch});
      if (refusal.token == nullptr)
        made.emplace(patch);
    });
  });
  raise_if_refused(refusal, py::none());
  return std::move(*made).as_tuple();
}

void NativeSession::drop_text() {
  session_.use(0, [](Session &session) { session.drop_text(); });
}

py::tuple NativeSession::append(const py::object &text, const Added &added) {
  return changed(text, [&](const Call &call) {
    const std::size_t end = call.session.text().size();
    return call.session.replace(end, end, call.data, call.size, added, call.cache, call.patch);
  });
}

py::tuple NativeSession::peek(const py::object &text, const Added &added) const {
  IdBuffer ids;
  return changed(text, [&](const Call &call) {
    return call.session.peek(call.data, call.size, added, call.cache, ids, call.patch);
  });
}

py::tuple NativeSession::update(const py::object &text, const Added &added) {
  return changed(text, [&](const Call &call) {
    check_text(call.session);
    return call.session.update(call.data, call.size, added, call.cache, call.patch);
  });
}

py::tuple NativeSession::replace(std::size_t start, std::size_t end, const py::object &text,
                                 const Added &added) {
  return changed(text, [&](const Call &call) {
    check_text(call.session);
    check(start, end, call.session.text().size());
    return call.session.replace(start, end, call.data, call.size, added, call.cache,
                                call.patch);
  });
}

py::tuple NativeSession::extend(const py::array &ids, const py::array &sizes,
                                const py::bytes &text, const Added &added) {
  const auto given = cast_argument<Array<std::uint32_t>>(ids, "an array of uint32");
  const auto widths = cast_argument<Array<std::uint32_t>>(sizes, "an array of uint32");
  const std::size_t total =
      std::accumulate(widths.data(), widths.data() + widths.size(), std::size_t{0});
  if (given.ndim() != 1 || widths.ndim() != 1 || given.size() != widths.size() ||
      total != TextView(text).size())
    throw py::value_error("expected one size for each id, and text of these sizes");
  return changed(text, [&](const Call &call) {
    call.session.extend(given.data(), widths.data(), static_cast<std::size_t>(given.size()),
                        call.data, added, call.patch);
    return Refusal();
  });
}

std::unique_ptr<NativeSession> NativeSession::clone() const {
  return session_.use(0, [&](const Session &session) {
    return std::unique_ptr<NativeSession>(new NativeSession(owner_, tokenizer_, session));
  });
}

py::tuple NativeSession::spans(std::size_t first, std::size_t last) const {
  Spans spans;
  session_.use(last - first, [&](const Session &session) {
    check_text(session);
    check(first, last, session.ids().size());
    const CacheLease cache(tokenizer_.caches());
    session.spans(first, last, *cache, spans);
  });
  return py::make_tuple(as_array(std::move(spans.starts)), as_array(std::move(spans.ends)));
}

py::array_t<std::uint32_t> NativeSession::ids() const {
  return as_array(session_.use(count(), [](const Session &session) {
    const auto &ids = session.ids();
    return std::vector<std::uint32_t>(ids.data(), ids.data() + ids.size());
  }));
}

py::bytes NativeSession::text(std::size_t start, std::size_t end) const {
  return py::bytes(session_.use(0, [&](const Session &session) {
    const std::size_t dropped = session.dropped();
    check(start, end, dropped + session.text().size());
    if (start < dropped)
      throw py::value_error("the session has dropped this text");
    const auto *const data = reinterpret_cast<const char *>(session.text().data());
    return std::string(data + (start - dropped), data + (end - dropped));
  }));
}

py::list NativeSession::parts() const {
  const std::vector<Session::Part> parts = session_.use(0, [](const Session &session) {
    check_text(session);
    return session.parts();
  });
  py::list result;
  for (const Session::Part &part : parts)
    result.append(py::make_tuple(
        part.size, std::const_pointer_cast<AddedTokenPhases>(part.policy), part.is_given));
  return result;
}

std::size_t NativeSession::count() const {
  return session_.use(0, [](const Session &session) { return session.ids().size(); });
}

std::size_t NativeSession::size() const {
  return session_.use(
      0, [](const Session &session) { return session.dropped() + session.text().size(); });
}

std::size_t NativeSession::byte_of(std::size_t character) const {
  return session_.use(0, [&](const Session &session) {
    check_text(session);
    return session.byte_of(character);
  });
}

std::size_t NativeSession::character_of(std::size_t byte) const {
  return session_.use(0, [&](const Session &session) {
    check_text(session);
    check(0, byte, session.text().size());
    return session.character_of(byte);
  });
}

// Returns a function that returns what a method of a Session returns.
template <typename Result> static auto property(Result (Session::*method)() const) {
  return [method](const NativeSession &self) { return self.get(method); };
}

void bind_session(py::module_ &module) {
  using Native = NativeSession;
  py::class_<Native>(module, "Session")
      .def("append", &Native::append, py::arg("text"), py::arg("added").none(false))
      .def("peek", &Native::peek, py::arg("text"), py::arg("added").none(false))
      .def("update", &Native::update, py::arg("text"), py::arg("added").none(false))
      .def("replace", &Native::replace, py::arg("start"), py::arg("end"), py::arg("text"),
           py::arg("added").none(false))
      .def("extend", &Native::extend, py::arg("ids"), py::arg("sizes"), py::arg("text"),
           py::arg("added").none(false))
      .def("clone", on_self(&Native::clone))
      .def("drop_text", on_self(&Native::drop_text))
      .def("spans", &Native::spans, py::arg("first"), py::arg("last"))
      .def("text", &Native::text, py::arg("start"), py::arg("end"))
      .def("byte_of", &Native::byte_of, py::arg("character"))
      .def("character_of", &Native::character_of, py::arg("byte"))
      .def("parts", on_self(&Native::parts))
      .def("__len__", on_self(&Native::count))
      .def_property_readonly("ids", on_self(&Native::ids))
      .def_property_readonly("size", on_self(&Native::size))
      .def_property_readonly("characters", property(&Session::characters))
      .def_property_readonly("stable", property(&Session::stable))
      .def_property_readonly("memory", property(&Session::memory));
  // For tests.
  module.def("set_piece_size", &Session::set_piece_size, py::arg("size"));
}

} // namespace pretok
