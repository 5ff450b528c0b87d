#include "bindings/session.hpp"

#include "bindings/convert.hpp"
#include "bindings/packed_tokens.hpp"
#include "bindings/results.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <optional>
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

} // namespace

template <typename Work> void NativeSession::locked(std::size_t size, Work work) const {
  unlocked(size, [&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    work();
  });
}

template <typename Change>
py::tuple NativeSession::changed(const py::object &text, Change change) const {
  const TextView view(text);
  std::optional<PatchCopy> made;
  EncodeResult result;
  locked(view.size(), [&] {
    Scratch scratch;
    view.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
      const CacheLease cache(tokenizer_.caches());
      Patch patch;
      result.refusal = change(data, size, *cache, patch);
      if (is_not_refused(result))
        made.emplace(patch);
    });
  });
  raise_if_refused(result, py::none());
  return std::move(*made).as_tuple();
}

void NativeSession::check(std::size_t start, std::size_t end, std::size_t size) const {
  if (start > end || end > size)
    throw py::value_error("expected 0 <= start <= end <= size");
}

void NativeSession::check_text() const {
  if (session_.dropped() != 0)
    throw py::value_error("the session has dropped its text");
}

void NativeSession::drop_text() {
  locked(0, [&] { session_.drop_text(); });
}

py::tuple NativeSession::append(const py::object &text, const Added &added) {
  return changed(text, [&](const std::uint8_t *data, std::size_t size, PreTokenCache &cache,
                           Patch &patch) {
    const std::size_t end = session_.text().size();
    return session_.replace(end, end, data, size, added, cache, patch);
  });
}

py::tuple NativeSession::peek(const py::object &text, const Added &added) const {
  IdBuffer ids;
  return changed(
      text, [&](const std::uint8_t *data, std::size_t size, PreTokenCache &cache,
                Patch &patch) { return session_.peek(data, size, added, cache, ids, patch); });
}

py::tuple NativeSession::update(const py::object &text, const Added &added) {
  return changed(text, [&](const std::uint8_t *data, std::size_t size, PreTokenCache &cache,
                           Patch &patch) {
    check_text();
    return session_.update(data, size, added, cache, patch);
  });
}

py::tuple NativeSession::replace(std::size_t start, std::size_t end, const py::object &text,
                                 const Added &added) {
  return changed(text, [&](const std::uint8_t *data, std::size_t size, PreTokenCache &cache,
                           Patch &patch) {
    check_text();
    check(start, end, session_.text().size());
    return session_.replace(start, end, data, size, added, cache, patch);
  });
}

py::tuple NativeSession::extend(const py::array &ids, const py::array &sizes,
                                const py::bytes &text, const Added &added) {
  const auto given = cast_argument<Array<std::uint32_t>>(ids, "an array of uint32");
  const auto widths = cast_argument<Array<std::uint32_t>>(sizes, "an array of uint32");
  const TextView view(text);
  std::size_t total = 0;
  for (py::ssize_t i = 0; i < widths.size(); ++i)
    total += widths.data()[i];
  if (given.ndim() != 1 || widths.ndim() != 1 || given.size() != widths.size() ||
      total != view.size())
    throw py::value_error("expected one size for each id, and text of these sizes");
  std::optional<PatchCopy> made;
  locked(total, [&] {
    Scratch scratch;
    view.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t) {
      Patch patch;
      session_.extend(given.data(), widths.data(), static_cast<std::size_t>(given.size()), data,
                      added, patch);
      made.emplace(patch);
    });
  });
  return std::move(*made).as_tuple();
}

std::unique_ptr<NativeSession> NativeSession::clone() const {
  std::unique_ptr<NativeSession> copy;
  locked(0, [&] {
    copy = std::unique_ptr<NativeSession>(new NativeSession(owner_, tokenizer_, session_));
  });
  return copy;
}

py::tuple NativeSession::spans(std::size_t first, std::size_t last) const {
  Spans spans;
  locked(last - first, [&] {
    check_text();
    check(first, last, session_.ids().size());
    const CacheLease cache(tokenizer_.caches());
    session_.spans(first, last, *cache, spans);
  });
  return py::make_tuple(as_array(std::move(spans.starts)), as_array(std::move(spans.ends)));
}

py::array_t<std::uint32_t> NativeSession::ids() const {
  std::vector<std::uint32_t> ids;
  locked(count(), [&] {
    ids.assign(session_.ids().data(), session_.ids().data() + session_.ids().size());
  });
  return as_array(std::move(ids));
}

py::bytes NativeSession::text(std::size_t start, std::size_t end) const {
  std::string text;
  locked(0, [&] {
    const std::size_t dropped = session_.dropped();
    check(start, end, dropped + session_.text().size());
    if (start < dropped)
      check_text();
    const auto *const data = reinterpret_cast<const char *>(session_.text().data());
    text.assign(data + (start - dropped), data + (end - dropped));
  });
  return py::bytes(text);
}

py::list NativeSession::parts() const {
  std::vector<Session::Part> parts;
  locked(0, [&] {
    check_text();
    parts = session_.parts();
  });
  py::list result;
  for (const Session::Part &part : parts)
    result.append(py::make_tuple(
        part.size, std::const_pointer_cast<AddedTokenPhases>(part.policy), part.is_given));
  return result;
}

std::size_t NativeSession::count() const {
  std::size_t count = 0;
  locked(0, [&] { count = session_.ids().size(); });
  return count;
}

std::size_t NativeSession::size() const {
  std::size_t size = 0;
  locked(0, [&] { size = session_.dropped() + session_.text().size(); });
  return size;
}

std::size_t NativeSession::characters() const {
  std::size_t characters = 0;
  locked(0, [&] { characters = session_.characters(); });
  return characters;
}

std::size_t NativeSession::byte_of(std::size_t character) const {
  std::size_t byte = 0;
  locked(0, [&] {
    check_text();
    byte = session_.byte_of(character);
  });
  return byte;
}

std::size_t NativeSession::character_of(std::size_t byte) const {
  std::size_t character = 0;
  locked(0, [&] {
    check_text();
    check(0, byte, session_.text().size());
    character = session_.character_of(byte);
  });
  return character;
}

std::size_t NativeSession::stable() const {
  std::size_t stable = 0;
  locked(0, [&] { stable = session_.stable(); });
  return stable;
}

std::size_t NativeSession::memory() const {
  std::size_t memory = 0;
  locked(0, [&] { memory = session_.memory(); });
  return memory;
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
      .def_property_readonly("characters", on_self(&Native::characters))
      .def_property_readonly("stable", on_self(&Native::stable))
      .def_property_readonly("memory", on_self(&Native::memory));
  // For tests.
  module.def("set_piece_size", &Session::set_piece_size, py::arg("size"));
}

} // namespace pretok
