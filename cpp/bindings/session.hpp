// Keeps the ids of a text that changes, for bpe.sessions.session.
#pragma once

#include "bindings/shared.hpp"
#include "core/session/session.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace pretok {

// A Session. Threads that share it wait for each other. Positions are in bytes. Calls that
// change the text return (keep, ids, tail), the fields of a Patch. They throw the Python error
// for a refused special token.
class NativeSession {
public:
  using Added = std::shared_ptr<AddedTokenPhases>;

  // `owner` keeps `tokenizer` alive.
  NativeSession(pybind11::object owner, const Tokenizer &tokenizer, const Added &all,
                bool continuation)
      : owner_(std::move(owner)), tokenizer_(tokenizer),
        session_(tokenizer, all, continuation ? Encoder::Part::LATER : Encoder::Part::FIRST) {}

  pybind11::tuple append(const pybind11::object &text, const Added &added);
  pybind11::tuple peek(const pybind11::object &text, const Added &added) const;
  pybind11::tuple update(const pybind11::object &text, const Added &added);
  pybind11::tuple replace(std::size_t start, std::size_t end, const pybind11::object &text,
                          const Added &added);
  // `sizes` are uint32, one per id, and add up to the size of `text`.
  pybind11::tuple extend(const pybind11::array &ids, const pybind11::array &sizes,
                         const pybind11::bytes &text, const Added &added);
  std::unique_ptr<NativeSession> clone() const;
  // After it, only `append`, `peek`, `extend`, `text` of what is left, and numbers are
  // possible.
  void drop_text();

  // Returns the starts and the ends of the ids from `first` to `last`, excluded.
  pybind11::tuple spans(std::size_t first, std::size_t last) const;
  pybind11::array_t<std::uint32_t> ids() const;
  // Returns the bytes from `start` to `end`.
  pybind11::bytes text(std::size_t start, std::size_t end) const;
  // Returns (size, added, is_given) of each part of the text.
  pybind11::list parts() const;
  // Returns what a method of the Session returns.
  template <typename Result> Result get(Result (Session::*method)() const) const {
    return session_.use(0, [&](const Session &session) { return (session.*method)(); });
  }
  std::size_t count() const;
  std::size_t size() const;
  std::size_t byte_of(std::size_t character) const;
  std::size_t character_of(std::size_t byte) const;

private:
  NativeSession(pybind11::object owner, const Tokenizer &tokenizer, const Session &session)
      : owner_(std::move(owner)), tokenizer_(tokenizer), session_(session) {}

  struct Call; // what a change gets, with the text in UTF-8
  // Returns what change(call) writes to call.patch. Throws the Python error for the refused
  // token that it returns.
  template <typename Change>
  pybind11::tuple changed(const pybind11::object &text, Change change) const;

  pybind11::object owner_;
  const Tokenizer &tokenizer_;
  Shared<Session> session_;
};

void bind_session(pybind11::module_ &module);

} // namespace pretok
