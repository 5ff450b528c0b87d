// Tests ChunkStore with hashes that collide: it finds each chunk that it counts, and takes no
// more memory than its bound.
#include "core/session/chunk_store.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>

namespace {

using namespace pretok;

std::mt19937 source(20261130);

std::uint32_t below(std::uint32_t limit) { return source() % limit; }

// In a table of 8 or 16 slots, searches for these hashes begin at the last two slots and at the
// first two.
std::uint64_t hash_at(std::uint32_t index) { return (index / 4) << 8 | (14 + index % 4); }
constexpr std::uint32_t HASHES = 32;
constexpr std::size_t SLOT_BYTES = 16;
constexpr std::size_t MAX_TABLE = 64 * SLOT_BYTES;

// Returns a chunk with one id, which is the number of the chunk, and with some more bytes.
ChunkRef make_chunk(std::uint64_t hash, std::uint32_t number) {
  static const std::uint8_t window[400] = {};
  ChunkKey key;
  key.hash = hash;
  key.window = window;
  key.size = below(sizeof window);
  ChunkContent content;
  content.ids = &number;
  content.count = 1;
  return ChunkRef(Chunk::make(key, content));
}

// Returns whether the store has the chunks that it counts, each the last one of its hash.
bool is_right(ChunkStore &store, const std::map<std::uint64_t, std::uint32_t> &last,
              std::size_t max_bytes) {
  std::size_t chunks = 0;
  std::size_t bytes = 0;
  for (std::uint32_t index = 0; index < HASHES; ++index) {
    const std::uint64_t hash = hash_at(index);
    const ChunkRef found = store.find(hash);
    if (!found)
      continue;
    if (found->hash() != hash || *found->content().ids != last.at(hash))
      return false;
    ++chunks;
    bytes += found->bytes();
  }
  const ChunkStore::Statistics all = store.statistics();
  return all.chunks == chunks && all.bytes_held <= max_bytes &&
         all.bytes_held >= bytes + chunks * SLOT_BYTES && all.bytes_held <= bytes + MAX_TABLE;
}

bool has_right_chunks(std::size_t max_bytes) {
  ChunkStore store(max_bytes * ChunkStore::SHARDS); // all hashes belong to one shard
  std::map<std::uint64_t, std::uint32_t> last;
  for (std::uint32_t number = 0; number < 4000; ++number) {
    const std::uint64_t hash = hash_at(below(HASHES));
    const ChunkRef chunk = make_chunk(hash, number);
    if (store.keeps(chunk->bytes())) {
      store.insert(*chunk);
      last[hash] = number;
    }
    if (below(3) == 0 && !is_right(store, last, max_bytes))
      return false;
    if (below(500) == 0) {
      store.clear();
      if (store.statistics().bytes_held != 0 || !is_right(store, last, max_bytes))
        return false;
    }
  }
  return store.statistics().evicted != 0;
}

} // namespace

int main() {
  const ChunkStore store(ChunkStore::SHARDS * 800);
  bool passes = store.keeps(100) && !store.keeps(101);
  for (std::size_t max_bytes = 4000; passes && max_bytes < 9000; max_bytes += 100)
    passes = has_right_chunks(max_bytes);
  std::printf(passes ? "the store is right\n" : "the store differs\n");
  return passes ? 0 : 1;
}
