// Stores chunks of texts with their ids, for PromptCache. Threads may share a ChunkStore.
#pragma once

#include "core/base/hash.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {

// The text of a chunk and all else that its ids depend on. PromptCache explains the fields.
struct ChunkKey {
  std::uint64_t hash = 0;  // of all other fields
  std::string_view domain; // the policies, the ends of segments, given ids, and the salt
  unsigned flags = 0;
  const std::uint8_t *window = nullptr;
  std::size_t size = 0; // of the window
};

// The result of encoding the first `cut` bytes of a chunk's window: the ids, and for each
// segment that ends there, the number of ids that begin before its end.
struct ChunkContent {
  std::size_t cut = 0;
  const std::uint32_t *ids = nullptr;
  std::size_t count = 0;
  const std::uint32_t *ends = nullptr;
  std::size_t end_count = 0;
};

// A key with its content. One block of memory. Immutable, but for hints.
class Chunk {
public:
  // Returns a new chunk with one reference, or nullptr if there is no memory.
  static Chunk *make(const ChunkKey &key, const ChunkContent &content);
  // Returns the number of bytes that a chunk takes, with those of the allocator.
  static std::size_t bytes_of(const ChunkKey &key, const ChunkContent &content);

  std::uint64_t hash() const { return hash_; }
  ChunkContent content() const { return {cut_, ids(), count_, ids() + count_, end_count_}; }
  std::size_t bytes() const { return bytes_; }
  std::size_t window_size() const { return window_size_; }
  unsigned flags() const { return flags_; }
  std::string_view domain() const { return {text(), domain_size_}; }
  const std::uint8_t *window() const {
    return reinterpret_cast<const std::uint8_t *>(text()) + domain_size_;
  }

  // The hash of the chunk that came after this one when it was last used, or 0. A hint: the
  // caller compares the chunk that it finds.
  std::uint64_t next() const { return next_.load(std::memory_order_relaxed); }
  void set_next(std::uint64_t hash) { next_.store(hash, std::memory_order_relaxed); }

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }

private:
  friend class ChunkStore; // uses next_dropped_ and is_used_

  Chunk() = default;
  ~Chunk() = default;
  void destroy();
  const std::uint32_t *ids() const { return reinterpret_cast<const std::uint32_t *>(this + 1); }
  const char *text() const {
    return reinterpret_cast<const char *>(ids() + count_ + end_count_);
  }

  std::atomic<std::uint64_t> next_{0};
  std::uint64_t hash_ = 0;
  std::size_t bytes_ = 0;
  std::size_t domain_size_ = 0;
  std::size_t window_size_ = 0;
  std::size_t cut_ = 0;
  std::size_t count_ = 0;
  std::size_t end_count_ = 0;
  Chunk *next_dropped_ = nullptr;
  std::atomic<std::uint32_t> references_{1};
  unsigned flags_ = 0;
  bool is_used_ = false; // since the hand of the clock passed it; only with the lock
};

// Owns a reference to a chunk, or is empty.
class ChunkRef {
public:
  ChunkRef() = default;
  explicit ChunkRef(Chunk *chunk) : chunk_(chunk) {}
  ChunkRef(ChunkRef &&other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
  ChunkRef &operator=(ChunkRef &&other) noexcept {
    std::swap(chunk_, other.chunk_);
    return *this;
  }
  ~ChunkRef() {
    if (chunk_ != nullptr)
      chunk_->release();
  }

  explicit operator bool() const { return chunk_ != nullptr; }
  Chunk *operator->() const { return chunk_; }
  Chunk &operator*() const { return *chunk_; }

private:
  Chunk *chunk_ = nullptr;
};

// Each chunk belongs to one of SHARDS shards, by its hash. A shard holds at most its share of
// `max_bytes`: its chunks and its table. It drops chunks by the CLOCK algorithm: the hand
// spares each chunk that was found since the hand last passed it.
//
// A shard has a spin lock, which is held only to search or change the table. No lock is held
// while chunks are compared, copied or freed. A thread that does not get the lock in time goes
// on as if the chunk were not there. So a lock that another thread held during a fork does no
// harm in the child process.
class ChunkStore {
public:
  static constexpr std::size_t SHARDS = 16;

  explicit ChunkStore(std::size_t max_bytes) : shard_limit_(max_bytes / SHARDS) {}
  ChunkStore(const ChunkStore &) = delete;
  ChunkStore &operator=(const ChunkStore &) = delete;
  ~ChunkStore() { clear(); }

  // Returns the chunk with this hash, or an empty ChunkRef.
  ChunkRef find(std::uint64_t hash);
  // Keeps a chunk for which keeps() is true, in place of one with the same hash. Throws
  // std::bad_alloc.
  void insert(Chunk &chunk);
  // Returns whether a chunk of this many bytes is small enough to keep.
  bool keeps(std::size_t bytes) const { return bytes <= shard_limit_ / LARGEST; }
  void clear();

  struct Statistics {
    std::uint64_t chunks = 0;
    std::uint64_t bytes_held = 0;
    std::uint64_t evicted = 0;
  };
  Statistics statistics() const;

private:
  // A chunk may take 1 / LARGEST of a shard.
  static constexpr std::size_t LARGEST = 8;

  struct Slot {
    std::uint64_t hash = 0;
    Chunk *chunk = nullptr;
  };
  // An open hash table with linear probing. The size is 0 or a power of two.
  using Table = std::vector<Slot>;
  struct alignas(64) Shard {
    std::atomic<bool> is_locked{false};
    std::atomic<bool> is_stuck{false}; // a thread has waited for the lock in vain
    Table table;
    std::size_t hand = 0; // of the clock: a slot
    // Written with the lock; statistics() reads them without it.
    std::atomic<std::size_t> count{0};
    std::atomic<std::size_t> bytes{0};
    std::atomic<std::uint64_t> evicted{0};
  };
  class Lock;
  class Dropped;

  Shard &shard_of(std::uint64_t hash) { return shards_[hash >> 60]; }
  // Returns the slot of this hash, or the empty slot at which the search ends.
  static std::size_t slot_of(const Table &table, std::uint64_t hash);
  // Takes the chunk out of a slot, and moves later chunks into the gap.
  static void remove(Shard &shard, std::size_t slot, Dropped &dropped);
  // Drops a chunk; there must be one.
  static void evict(Shard &shard, Dropped &dropped);
  // Makes room for one more chunk of `bytes` bytes, for which keeps() is true.
  void make_room(Shard &shard, std::size_t bytes, Dropped &dropped) const;

  const std::size_t shard_limit_;
  std::array<Shard, SHARDS> shards_;
};

} // namespace pretok
