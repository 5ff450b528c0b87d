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

// Tables that only fast merging needs take much of the time of making a Tokenizer. So the first
// short texts are encoded by a Tokenizer that takes less time to make and more time to encode,
// and a program that encodes little text ends before the tables are made. Both Tokenizers give
// the same ids, and are made when they are first needed. Needs the GIL, but for
// `set_first_size`.
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
    if (!is_deferred)
      room_ = -1;
    if (room_ < 0)
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
    return room_.fetch_sub(units) >= units ? Lease(first()) : Lease(whole());
  }

  // Returns the Tokenizer with all tables.
  const Tokenizer &whole() const {
    const Tokenizer *whole = whole_.load(std::memory_order_acquire);
    return whole != nullptr ? *whole : make_whole(false);
  }

  // Returns the Tokenizer for a call that encodes no text.
  Lease current() const { return for_text(0); }
  bool has_any() const { return has_whole() || std::atomic_load(&first_) != nullptr; }
  bool has_whole() const { return whole_.load() != nullptr; }

  // Sets the number of code units of all texts that the first Tokenizer of a DeferredTokenizer
  // may encode. With a negative size, there is no first Tokenizer.
  static void set_first_size(std::int64_t size) { first_size() = size; }

private:
  static std::atomic<std::int64_t> &first_size() {
    static std::atomic<std::int64_t> size{2048};
    return size;
  }

  std::shared_ptr<const Tokenizer> first() const {
    std::shared_ptr<const Tokenizer> first = std::atomic_load(&first_);
    if (first == nullptr) {
      first = make_(true, false);
      std::atomic_store(&first_, first);
    }
    return first;
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
