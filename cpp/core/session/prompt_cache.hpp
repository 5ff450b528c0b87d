// Encodes texts that have parts in common with earlier texts: prompts with the same
// instructions, the turns of a chat, documents in another order.
//
// A text is encoded in chunks. The cache keeps the ids of each chunk, and copies them when the
// chunk comes again, in any text and at any place.
//
//   text     | chunk            | chunk        | chunk             | rest |
//   kept     [ window 1           ]
//                               [ window 2       ]
//                                              [ window 3            ]
//
// A chunk is the start of a window, up to the last safe cut in the window (find_cut.hpp). The
// text after this cut is the next chunk. So a window ends with the bytes that prove the cut.
//
// Proof that a kept chunk gives the ids of any text T that begins with its window. find_cut has
// seen the window only, and its cut c is safe whatever text follows the window. So the ids of T
// are the ids of T[0..c), which are the kept ids, and then the ids of T[c..) as a LATER part.
// They depend on no other text, because T itself begins the text or is a LATER part. By
// induction, all chunks and the rest give the ids of the whole text. So the cache compares
// these fields of a ChunkKey, and a hash only finds a chunk:
//   window   all bytes, those after the cut included
//   flags    whether the chunk begins the text, if encoding treats that in a special way
//   domain   the policies for added tokens, the ends of segments, given ids, and the salt
// The rest of a text after the last chunk is encoded again, because more text could change it.
// A long rest is kept too, with the flag IS_END: its key is equal only to the whole rest of
// another text. Tokenizers whose normalizer has no safe cuts have only such rests.
//
// A text may consist of segments (segments.hpp), with policies of their own and given ids. A
// safe cut is clear of the added tokens of all policies, so the proof holds for any policies
// before and after it. Given ids stand where a part of the text begins, and a cut after them is
// searched in this part only. So a chunk may hold ends of segments and given ids, and keeps the
// number of ids before each of these ends. No cut is at the place of given ids.
//
// A window ends at a place that depends on the text near it, not on the start of the window: so
// two texts that differ at one place soon have equal windows again. This place is 8 bytes after
// a line break, at least `min_window` bytes after the start of the window, where the 8 bytes on
// either side of the line break have a certain hash. If there is no such place, it is the place
// in the second half of `max_window` bytes whose next 8 bytes have the least hash. If a window
// has no safe cut, a window of 4 times the size is tried. The windows of a text depend on no
// text after them, so a longer text begins with the same windows.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/encode/tokenizer.hpp"
#include "core/session/chunk_store.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

struct PromptCacheSettings {
  std::size_t max_bytes = std::size_t{256} << 20;
  // Tests use small windows, and hashes of few bits.
  std::size_t min_window = 1536;
  std::size_t max_window = 4096;
  std::uint64_t hash_mask = ~std::uint64_t{0};
};

// A part of a text, from the end of the segment before it to byte `end`. Given ids come after
// its text.
struct PromptSegment {
  std::size_t end;
  const AddedTokenPhases *added;
  std::string_view policy; // equal strings stand for equal `added`
  const std::uint32_t *ids = nullptr;
  std::size_t id_count = 0;
};

// Threads may share a PromptCache. Use it with one tokenizer only.
class PromptCache {
public:
  explicit PromptCache(const PromptCacheSettings &settings);

  struct Request {
    const AddedTokenPhases &all; // the added tokens of all policies
    // Texts share chunks only if their salts are equal.
    std::string_view salt;
    // The end of the last segment is the size of the text. If it is larger, the text has this
    // policy, and Result::ends leaves it out.
    const PromptSegment *segments;
    std::size_t segment_count; // at least 1
    Encoder::Part part = Encoder::Part::FIRST;
  };
  struct Result {
    Refusal refusal;
    std::size_t reused_prefix = 0; // the ids before the first that was not in the cache
    std::size_t reused = 0;        // the ids that were in the cache
    // For each segment, the number of new ids that begin before its end.
    std::vector<std::int64_t> ends;
  };

  // Appends the ids of Tokenizer::encode, or of SegmentedText::encode. Calls between_chunks()
  // now and then, which may throw. After a refused token, `ids` has the ids of some text before
  // it. Throws std::bad_alloc.
  Result encode(const Tokenizer &tokenizer, const std::uint8_t *text, std::size_t size,
                const Request &request, PreTokenCache &cache, IdBuffer &ids,
                FunctionRef<void()> between_chunks);

  // Drops all chunks. Does not change the numbers of calls, bytes and ids.
  void clear() { store_.clear(); }

  // `bytes` and `ids` count the texts of all calls that did not fail.
  struct Statistics {
    std::uint64_t calls;
    std::uint64_t bytes;
    std::uint64_t bytes_reused;
    std::uint64_t ids;
    std::uint64_t ids_reused;
    std::uint64_t chunks;     // now in the cache
    std::uint64_t bytes_held; // by the cache now
    std::uint64_t evicted;    // chunks dropped for others
  };
  Statistics statistics() const;

private:
  class Walk; // one call of `encode`

  const PromptCacheSettings settings_;
  const HashKey key_;
  ChunkStore store_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> bytes_reused_{0};
  std::atomic<std::uint64_t> ids_{0};
  std::atomic<std::uint64_t> ids_reused_{0};
};

} // namespace pretok
