#include "core/session/prompt_cache.hpp"

#include "core/base/sizes.hpp"
#include "core/encode/find_cut.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace pretok {
namespace {

// Flags of a ChunkKey.
constexpr unsigned IS_FIRST = 1; // encoded as a FIRST part, which may get a prefix
constexpr unsigned IS_END = 2;   // the text ends at the end of the window

constexpr std::size_t LONGER_WINDOW = 4;
constexpr std::size_t ANCHOR_BYTES = 8;
constexpr int ANCHOR_SHIFT = 60; // 1 of 16 line breaks is an anchor

// Hashes a window of any size. Four independent lanes are faster than hash_long.
std::uint64_t hash_window(const std::uint8_t *window, std::size_t size, const HashKey &key) {
  constexpr std::size_t LANE = 16;
  constexpr std::size_t LANES = 4;
  if (size < LANE) {
    std::array<std::uint8_t, LANE> padded{};
    if (size != 0)
      std::memcpy(padded.data(), window, size);
    return hash_words(load_word(padded.data()) ^ size, load_word(padded.data() + 8), key);
  }
  if (size < LANE * LANES)
    return hash_long(window, size, key);
  std::array<std::uint64_t, LANES> states{};
  for (std::size_t lane = 0; lane < LANES; ++lane)
    states[lane] = hash_words(size, lane + 1, key);
  const auto add_block = [&](std::size_t at) {
    for (std::size_t lane = 0; lane < LANES; ++lane)
      states[lane] = hash_words(load_word(window + at + lane * LANE) ^ states[lane],
                                load_word(window + at + lane * LANE + 8), key);
  };
  for (std::size_t at = 0; at < size - LANE * LANES; at += LANE * LANES)
    add_block(at);
  add_block(size - LANE * LANES); // may overlap the block before it
  return hash_words(hash_words(states[0], states[1], key),
                    hash_words(states[2], states[3], key), key);
}

// Returns a text that only equal policies and salts have.
std::string domain_of(std::string_view policy, std::string_view salt) {
  std::array<std::uint64_t, 2> sizes{policy.size(), salt.size()};
  std::string domain(reinterpret_cast<const char *>(sizes.data()), sizeof sizes);
  domain.append(policy);
  domain.append(salt);
  return domain;
}

// Returns whether find_cut can find cuts.
bool has_cuts(const Tokenizer &tokenizer) {
  const Normalizer normalizer = tokenizer.normalizer();
  return (normalizer == Normalizer::NONE || normalizer == Normalizer::NFC) &&
         tokenizer.encoder().pre_tokenizer().first() != nullptr;
}

} // namespace

class PromptCache::Walk {
public:
  Walk(PromptCache &prompts, const Tokenizer &tokenizer, const std::uint8_t *text,
       std::size_t size, const Request &request, PreTokenCache &cache, IdBuffer &ids)
      : prompts_(prompts), tokenizer_(tokenizer), text_(text), size_(size), request_(request),
        cache_(cache), ids_(ids), first_id_(ids.size()),
        // Tokenizer normalizes each part as a text of its own.
        later_(tokenizer.normalizer() == Normalizer::NONE ? Encoder::Part::LATER
                                                          : Encoder::Part::FIRST),
        has_cuts_(has_cuts(tokenizer)),
        has_prefix_(!has_cuts_ ||
                    tokenizer.encoder().spaces().prefix != TextSpaces::Prefix::NONE),
        domain_(domain_of(request.policy, request.salt)),
        domain_hash_(hash_long(reinterpret_cast<const std::uint8_t *>(domain_.data()),
                               domain_.size(), prompts.key_)) {}

  Result run(FunctionRef<void()> between_chunks) {
    while (at_ < size_ && result_.refusal.token == nullptr) {
      if (!take_next() && !take_window())
        take_rest();
      if ((++chunks_ & 63U) == 0)
        between_chunks();
    }
    if (result_.refusal.token == nullptr)
      count();
    return result_;
  }

private:
  Encoder::Part part() const { return at_ == 0 ? request_.part : later_; }
  unsigned part_flag() const {
    return has_prefix_ && part() == Encoder::Part::FIRST ? IS_FIRST : 0;
  }
  const std::uint8_t *here() const { return text_ + at_; }
  std::size_t rest() const { return size_ - at_; }

  ChunkKey key_of(std::size_t window, unsigned flags) const {
    const HashKey &key = prompts_.key_;
    const std::uint64_t hash = hash_words(hash_window(here(), window, key) ^ domain_hash_,
                                          std::uint64_t{window} << 2 | flags, key);
    return {hash & prompts_.settings_.hash_mask, domain_, flags, here(), window};
  }

  // Returns whether the text from at_ on has the ids of a chunk.
  bool matches(const Chunk &chunk) const {
    const bool is_end = (chunk.flags() & IS_END) != 0;
    return (chunk.flags() & ~IS_END) == part_flag() &&
           (is_end ? chunk.window_size() == rest() : chunk.window_size() <= rest()) &&
           chunk.domain() == domain_ &&
           std::memcmp(chunk.window(), here(), chunk.window_size()) == 0;
  }

  // Takes the chunk with this hash, if the text has it here.
  bool take(std::uint64_t hash) {
    ChunkRef chunk = prompts_.store_.find(hash);
    if (!chunk || !matches(*chunk))
      return false;
    const std::size_t count = chunk->count();
    if (count != 0)
      std::memcpy(ids_.room(count), chunk->ids(), count * sizeof *chunk->ids());
    ids_.add(count);
    if (result_.reused == ids_.size() - count - first_id_)
      result_.reused_prefix += count;
    result_.reused += count;
    bytes_reused_ += chunk->cut();
    at_ += chunk->cut();
    follow(std::move(chunk));
    return true;
  }

  // Takes the chunk that came after the last one before.
  bool take_next() {
    const std::uint64_t hash = last_ ? last_->next() : 0;
    return hash != 0 && take(hash);
  }

  // Notes that `chunk` comes after the last chunk.
  void follow(ChunkRef chunk) {
    if (last_ && last_->next() != chunk->hash())
      last_->set_next(chunk->hash());
    last_ = std::move(chunk);
  }

  // Returns the size of the next window, or 0 if the text ends before it.
  std::size_t window_size() const {
    const std::size_t min = prompts_.settings_.min_window;
    const std::size_t max = prompts_.settings_.max_window;
    const std::uint8_t *const data = here();
    const std::size_t end = std::min(rest(), max);
    for (std::size_t at = min; at + ANCHOR_BYTES <= end;) {
      const void *const found = std::memchr(data + at - 1, '\n', end - ANCHOR_BYTES - at + 1);
      if (found == nullptr)
        break;
      at = static_cast<std::size_t>(static_cast<const std::uint8_t *>(found) - data) + 1;
      if (hash_without_key(load_word(data + at)) >> ANCHOR_SHIFT == 0)
        return at + ANCHOR_BYTES;
      ++at;
    }
    return rest() >= max ? max : 0;
  }

  // Takes or encodes the next chunk. Returns false if there is none.
  bool take_window() {
    if (!has_cuts_)
      return false;
    std::size_t window = window_size();
    while (window != 0) {
      const ChunkKey key = key_of(window, part_flag());
      if (take(key.hash))
        return true;
      const std::size_t cut = find_cut(tokenizer_.encoder(), request_.added,
                                       tokenizer_.normalizer(), here(), window, later_)
                                  .position;
      if (cut != 0) {
        encode(key, cut);
        return true;
      }
      window =
          window == rest() ? 0 : std::min(saturating_multiply(window, LONGER_WINDOW), rest());
    }
    return false;
  }

  // Takes or encodes the text after the last chunk.
  void take_rest() {
    // A short rest is encoded in less time than the cache needs to keep it.
    const std::size_t min =
        has_cuts_ ? prompts_.settings_.max_window : prompts_.settings_.min_window / 4;
    if (rest() < min) {
      append(rest());
      at_ = size_;
      return;
    }
    const ChunkKey key = key_of(rest(), part_flag() | IS_END);
    if (!take(key.hash))
      encode(key, rest());
  }

  // Encodes the first `cut` bytes of a window, and keeps the ids.
  void encode(const ChunkKey &key, std::size_t cut) {
    const std::size_t before = ids_.size();
    append(cut);
    at_ += cut;
    if (result_.refusal.token != nullptr)
      return;
    const std::size_t count = ids_.size() - before;
    if (!prompts_.store_.keeps(Chunk::bytes_of(key, count))) {
      last_ = ChunkRef();
      return;
    }
    ChunkRef chunk(Chunk::make(key, cut, ids_.data() + before, count));
    if (!chunk)
      return;
    prompts_.store_.insert(*chunk);
    follow(std::move(chunk));
  }

  // Appends the ids of the next `size` bytes.
  void append(std::size_t size) {
    result_.refusal = tokenizer_.encode(here(), size, request_.added, cache_, ids_, part());
    result_.refusal.position += at_;
  }

  void count() {
    const auto add = [](std::atomic<std::uint64_t> &counter, std::uint64_t value) {
      counter.fetch_add(value, std::memory_order_relaxed);
    };
    add(prompts_.calls_, 1);
    add(prompts_.bytes_, size_);
    add(prompts_.bytes_reused_, bytes_reused_);
    add(prompts_.ids_, ids_.size() - first_id_);
    add(prompts_.ids_reused_, result_.reused);
  }

  PromptCache &prompts_;
  const Tokenizer &tokenizer_;
  const std::uint8_t *const text_;
  const std::size_t size_;
  const Request &request_;
  PreTokenCache &cache_;
  IdBuffer &ids_;
  const std::size_t first_id_;
  const Encoder::Part later_;
  const bool has_cuts_;
  const bool has_prefix_; // whether something may come before the start of a text
  const std::string domain_;
  const std::uint64_t domain_hash_;

  std::size_t at_ = 0;
  std::size_t bytes_reused_ = 0;
  std::size_t chunks_ = 0;
  ChunkRef last_;
  Result result_;
};

PromptCache::PromptCache(const PromptCacheSettings &settings)
    : settings_(settings), key_(hash_key().next()), store_(settings.max_bytes) {}

PromptCache::Result PromptCache::encode(const Tokenizer &tokenizer, const std::uint8_t *text,
                                        std::size_t size, const Request &request,
                                        PreTokenCache &cache, IdBuffer &ids,
                                        FunctionRef<void()> between_chunks) {
  return Walk(*this, tokenizer, text, size, request, cache, ids).run(between_chunks);
}

PromptCache::Statistics PromptCache::statistics() const {
  const auto read = [](const std::atomic<std::uint64_t> &counter) {
    return counter.load(std::memory_order_relaxed);
  };
  const ChunkStore::Statistics store = store_.statistics();
  return {read(calls_),      read(bytes_), read(bytes_reused_), read(ids_),
          read(ids_reused_), store.chunks, store.bytes_held,    store.evicted};
}

} // namespace pretok
