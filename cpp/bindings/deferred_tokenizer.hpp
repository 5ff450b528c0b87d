// A Tokenizer whose tables for fast merging are made when texts are worth it.
#pragma once

#include "core/encode/tokenizer.hpp"

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace pretok {

// Tables that only fast merging needs take much of the time of loading a file. So the first
// short texts are encoded by a Tokenizer that takes less time to make and more time to encode,
// and a program that encodes little text ends before the tables are made. Both Tokenizers give
// the same ids. Needs the GIL, but for `set_first_size`.
class DeferredTokenizer {
public:
  // Returns a new Tokenizer (TokenizerOptions::for_short_texts). Throws the Python error. May
  // release the GIL if `is_alone`: if no other thread can call it for the same object.
  using Make =
      std::function<std::unique_ptr<const Tokenizer>(bool for_short_texts, bool is_alone)>;

  // A Tokenizer for one call.
  class Lease {
  public:
    explicit Lease(const Tokenizer &tokenizer) : tokenizer_(&tokenizer) {}
    explicit Lease(std::shared_ptr<const Tokenizer> first)
        : tokenizer_(first.get()), first_(std::move(first)) {}

    const Tokenizer &operator*() const { return *tokenizer_; }
    const Tokenizer *operator->() const { return tokenizer_; }

  private:
    const Tokenizer *tokenizer_;
    std::shared_ptr<const Tokenizer> first_; // keeps it alive, if it is the first Tokenizer
  };

  DeferredTokenizer(Make make, bool is_deferred) : make_(std::move(make)) {
    if (is_deferred && room_ >= 0)
      first_ = make_(true, true);
    else
      make_whole(true);
  }
  DeferredTokenizer(const DeferredTokenizer &) = delete;
  DeferredTokenizer &operator=(const DeferredTokenizer &) = delete;
  ~DeferredTokenizer() { delete whole_.load(); }

  // Returns the Tokenizer for a text of `size` code units.
  Lease for_text(std::size_t size) const {
    if (const Tokenizer *whole = whole_.load(std::memory_order_acquire))
      return Lease(*whole);
    const auto units = static_cast<std::int64_t>(size);
    if (room_.fetch_sub(units) >= units)
      if (std::shared_ptr<const Tokenizer> first = std::atomic_load(&first_))
        return Lease(std::move(first));
    return Lease(whole());
  }

  // Returns the Tokenizer with all tables.
  const Tokenizer &whole() const {
    const Tokenizer *whole = whole_.load(std::memory_order_acquire);
    return whole != nullptr ? *whole : make_whole(false);
  }

  // Returns the last Tokenizer that was made.
  Lease current() const { return for_text(0); }
  bool has_whole() const { return whole_.load() != nullptr; }

  // Sets the number of code units of all texts that the first Tokenizer of a DeferredTokenizer
  // may encode. With a negative size, there is no first Tokenizer.
  static void set_first_size(std::int64_t size) { first_size() = size; }

private:
  static std::atomic<std::int64_t> &first_size() {
    static std::atomic<std::int64_t> size{2048};
    return size;
  }

  // Uses no lock but the GIL, since a lock could stay locked in a child process. In
  // free-threaded Python, threads may make it at the same time; then one is kept.
  const Tokenizer &make_whole(bool is_alone) const {
    std::unique_ptr<const Tokenizer> made = make_(false, is_alone);
    const Tokenizer *current = nullptr;
    if (!whole_.compare_exchange_strong(current, made.get()))
      return *current;
    std::atomic_store(&first_, std::shared_ptr<const Tokenizer>());
#ifndef Py_GIL_DISABLED
    make_ = nullptr; // frees the parts
#endif
    return *made.release();
  }

  mutable Make make_;
  mutable std::atomic<std::int64_t> room_{first_size().load()};
  mutable std::shared_ptr<const Tokenizer> first_;
  mutable std::atomic<const Tokenizer *> whole_{nullptr};
};

} // namespace pretok
