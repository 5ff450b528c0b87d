#include "core/session/chunk_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

namespace pretok {
namespace {

// The allocator takes about this many bytes for each block.
constexpr std::size_t BLOCK_BYTES = 16;
constexpr std::size_t FIRST_SLOTS = 8;

} // namespace

std::size_t Chunk::bytes_of(const ChunkKey &key, const ChunkContent &content) {
  const std::size_t size = sizeof(Chunk) +
                           (content.count + content.end_count) * sizeof(std::uint32_t) +
                           key.domain.size() + key.size;
  return (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES;
}

Chunk *Chunk::make(const ChunkKey &key, const ChunkContent &content) {
  const std::size_t bytes = bytes_of(key, content);
  void *const block = std::malloc(bytes - BLOCK_BYTES);
  if (block == nullptr)
    return nullptr;
  auto *const chunk = new (block) Chunk;
  chunk->hash_ = key.hash;
  chunk->bytes_ = bytes;
  chunk->domain_size_ = key.domain.size();
  chunk->window_size_ = key.size;
  chunk->cut_ = content.cut;
  chunk->count_ = content.count;
  chunk->end_count_ = content.end_count;
  chunk->flags_ = key.flags;
  auto *to = reinterpret_cast<char *>(chunk + 1);
  const auto add = [&](const void *from, std::size_t size) {
    if (size != 0)
      std::memcpy(to, from, size);
    to += size;
  };
  add(content.ids, content.count * sizeof *content.ids);
  add(content.ends, content.end_count * sizeof *content.ends);
  add(key.domain.data(), key.domain.size());
  add(key.window, key.size);
  return chunk;
}

void Chunk::destroy() {
  this->~Chunk();
  std::free(this);
}

// Takes the lock of a shard, or fails after a short while. If the last thread that waited has
// failed, no other thread waits: a lock that was held during a fork stays locked.
class ChunkStore::Lock {
public:
  explicit Lock(Shard &shard) : shard_(shard) {
    constexpr int SPINS = 256;
    constexpr int YIELDS = 16;
    const int tries = shard_.is_stuck.load(std::memory_order_relaxed) ? 1 : SPINS + YIELDS;
    for (int at = 0; at < tries; ++at) {
      if (!shard_.is_locked.load(std::memory_order_relaxed) &&
          !shard_.is_locked.exchange(true, std::memory_order_acquire)) {
        is_held_ = true;
        break;
      }
      if (at >= SPINS)
        std::this_thread::yield();
    }
    if (shard_.is_stuck.load(std::memory_order_relaxed) == is_held_)
      shard_.is_stuck.store(!is_held_, std::memory_order_relaxed);
  }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;
  ~Lock() {
    if (is_held_)
      shard_.is_locked.store(false, std::memory_order_release);
  }

  explicit operator bool() const { return is_held_; }

private:
  Shard &shard_;
  bool is_held_ = false;
};

// A list of chunks that left the store. Releases them when destroyed, which must be after the
// lock is released.
class ChunkStore::Dropped {
public:
  Dropped() = default;
  Dropped(const Dropped &) = delete;
  Dropped &operator=(const Dropped &) = delete;
  ~Dropped() {
    while (first_ != nullptr) {
      Chunk *const chunk = std::exchange(first_, first_->next_dropped_);
      chunk->release();
    }
  }

  void add(Chunk *chunk) {
    chunk->next_dropped_ = first_;
    first_ = chunk;
  }

private:
  Chunk *first_ = nullptr;
};

std::size_t ChunkStore::slot_of(const Table &table, std::uint64_t hash) {
  const std::size_t mask = table.size() - 1;
  std::size_t slot = static_cast<std::size_t>(hash) & mask;
  while (table[slot].chunk != nullptr && table[slot].hash != hash)
    slot = (slot + 1) & mask;
  return slot;
}

ChunkRef ChunkStore::find(std::uint64_t hash) {
  Shard &shard = shard_of(hash);
  const Lock lock(shard);
  if (!lock || shard.table.empty())
    return {};
  Chunk *const chunk = shard.table[slot_of(shard.table, hash)].chunk;
  if (chunk == nullptr)
    return {};
  chunk->is_used_ = true;
  chunk->retain();
  return ChunkRef(chunk);
}

void ChunkStore::insert(Chunk &chunk) {
  Shard &shard = shard_of(chunk.hash());
  Dropped dropped; // outlives the lock
  const Lock lock(shard);
  if (!lock)
    return;
  if (!shard.table.empty()) {
    const std::size_t slot = slot_of(shard.table, chunk.hash());
    if (shard.table[slot].chunk != nullptr)
      remove(shard, slot, dropped);
  }
  make_room(shard, chunk.bytes(), dropped);
  chunk.retain();
  shard.table[slot_of(shard.table, chunk.hash())] = {chunk.hash(), &chunk};
  shard.count.fetch_add(1, std::memory_order_relaxed);
  shard.bytes.fetch_add(chunk.bytes(), std::memory_order_relaxed);
}

void ChunkStore::clear() {
  for (Shard &shard : shards_) {
    Dropped dropped;
    Table table;
    const Lock lock(shard);
    if (!lock)
      continue;
    table.swap(shard.table);
    for (const Slot &slot : table)
      if (slot.chunk != nullptr)
        dropped.add(slot.chunk);
    shard.count.store(0, std::memory_order_relaxed);
    shard.bytes.store(0, std::memory_order_relaxed);
  }
}

ChunkStore::Statistics ChunkStore::statistics() const {
  Statistics result;
  for (const Shard &shard : shards_) {
    result.chunks += shard.count.load(std::memory_order_relaxed);
    result.bytes_held += shard.bytes.load(std::memory_order_relaxed);
    result.evicted += shard.evicted.load(std::memory_order_relaxed);
  }
  return result;
}

void ChunkStore::remove(Shard &shard, std::size_t slot, Dropped &dropped) {
  Table &table = shard.table;
  const std::size_t mask = table.size() - 1;
  shard.count.fetch_sub(1, std::memory_order_relaxed);
  shard.bytes.fetch_sub(table[slot].chunk->bytes(), std::memory_order_relaxed);
  dropped.add(table[slot].chunk);
  // A later chunk of the same run moves into the gap, unless its search begins after the gap.
  std::size_t gap = slot;
  for (std::size_t at = (slot + 1) & mask; table[at].chunk != nullptr; at = (at + 1) & mask) {
    const std::size_t home = static_cast<std::size_t>(table[at].hash) & mask;
    if (((at - home) & mask) >= ((at - gap) & mask)) {
      table[gap] = table[at];
      gap = at;
    }
  }
  table[gap] = {};
}

void ChunkStore::evict(Shard &shard, Dropped &dropped) {
  for (;;) {
    const Slot &slot = shard.table[shard.hand];
    if (slot.chunk != nullptr && !slot.chunk->is_used_) {
      remove(shard, shard.hand, dropped); // the hand stays: another chunk may be there now
      shard.evicted.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (slot.chunk != nullptr)
      slot.chunk->is_used_ = false;
    shard.hand = (shard.hand + 1) & (shard.table.size() - 1);
  }
}

void ChunkStore::make_room(Shard &shard, std::size_t bytes, Dropped &dropped) const {
  for (;;) {
    const std::size_t count = shard.count.load(std::memory_order_relaxed);
    const std::size_t held = shard.bytes.load(std::memory_order_relaxed);
    // At least a third of the slots stay empty, so that runs stay short.
    const bool grows = (count + 1) * 3 > shard.table.size() * 2;
    const std::size_t slots = grows ? std::max(shard.table.size() * 2, FIRST_SLOTS) : 0;
    if (held + bytes + slots * sizeof(Slot) > shard_limit_) {
      evict(shard, dropped); // there is a chunk: a table takes less than half of shard_limit_
      continue;
    }
    if (grows) {
      Table table(slots);
      for (const Slot &slot : shard.table)
        if (slot.chunk != nullptr)
          table[slot_of(table, slot.hash)] = slot;
      shard.bytes.fetch_add((slots - shard.table.size()) * sizeof(Slot),
                            std::memory_order_relaxed);
      table.swap(shard.table);
      shard.hand = 0; // it may lie past a table that is smaller than one before `clear`
    }
    return;
  }
}

} // namespace pretok
