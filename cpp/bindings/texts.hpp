// The texts of a batch.
#pragma once

#include "convert.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

namespace pretok {

// Which texts a backend may take as they are: others need something done first.
struct Usual {
  bool only_str;
  bool only_ascii;

  bool operator()(PyObject *text) const {
    return PyUnicode_CheckExact(text) ? !only_ascii || PyUnicode_IS_ASCII(text)
                                      : PyBytes_CheckExact(text) && !only_str && !only_ascii;
  }
};

class Texts {
public:
  // Throws if one is neither str nor bytes.
  explicit Texts(const py::list &texts) : kept_(texts) { add_views(); }

  // Returns nothing if one is not `usual`.
  static std::optional<Texts> if_all(const Usual &usual, const py::list &texts) {
    py::tuple kept(texts);
    for (const py::handle text : kept)
      if (!usual(text.ptr()))
        return std::nullopt;
    return Texts(std::move(kept));
  }

  const std::vector<TextView> &views() const { return views_; }
  std::size_t total() const { return total_; }
  std::size_t largest() const { return largest_; }

  // How many threads are to share the work.
  unsigned threads(std::optional<unsigned> asked) const {
    if (asked)
      return *asked;
    // A thread costs some 20 us to start, the time of some kB of text; 256 kB each is worth it.
    const std::size_t worth = std::max<std::size_t>(total_ >> 18, 1);
    const unsigned most = std::max(std::thread::hardware_concurrency(), 1U);
    return static_cast<unsigned>(std::min<std::size_t>(worth, most));
  }

private:
  explicit Texts(py::tuple &&kept) : kept_(std::move(kept)) { add_views(); }

  void add_views() {
    views_.reserve(kept_.size());
    for (const py::handle text : kept_) {
      views_.emplace_back(text);
      total_ += views_.back().size();
      largest_ = std::max(largest_, views_.back().size());
    }
  }

  py::tuple kept_; // keeps the texts alive, whatever becomes of the list meanwhile
  std::vector<TextView> views_;
  std::size_t total_ = 0; // in units
  std::size_t largest_ = 0;
};

} // namespace pretok
