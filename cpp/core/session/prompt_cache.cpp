#include "core/session/prompt_cache.hpp"

#include "core/base/sizes.hpp"
#include "core/encode/find_cut.hpp"
#include "core/encode/segments.hpp"
#include "core/session/prompt_windows.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace pretok {
namespace {

// Flags of a ChunkKey.
constexpr unsigned IS_FIRST = 1; // encoded as a FIRST part, which may get a prefix
constexpr unsigned IS_END = 2;   // the text ends at the end of the window

constexpr std::size_t LONGER_WINDOW = 4;

void add_number(std::uint64_t number, std::string &to) {
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}

void add_text(std::string_view text, std::string &to) {
  add_number(text.size(), to);
  to.append(text);
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
        cache_(cache), ids_(ids), first_id_(ids.size()), has_cuts_(has_cuts(tokenizer)),
        has_prefix_(!has_cuts_ ||
                    tokenizer.encoder().spaces().prefix != TextSpaces::Prefix::NONE) {}

  Result run(FunctionRef<void()> between_chunks) {
    while ((at_ < size_ || ends_here(size_)) && result_.refusal.token == nullptr) {
      if (!take_next() && !take_window())
        take_rest();
      if ((++chunks_ & 63U) == 0)
        between_chunks();
    }
    if (result_.refusal.token == nullptr)
      count();
    return std::move(result_);
  }

private:
  Encoder::Part part() const { return at_ == 0 ? request_.part : Encoder::Part::LATER; }
  unsigned part_flag() const {
    return has_prefix_ && part() == Encoder::Part::FIRST ? IS_FIRST : 0;
  }
  const std::uint8_t *here() const { return text_ + at_; }
  std::size_t rest() const { return size_ - at_; }

  // The segments that end before segment_ are done. Returns whether the next one ends at or
  // before byte `end`.
  bool ends_here(std::size_t end) const {
    return segment_ < request_.segment_count && request_.segments[segment_].end <= end;
  }
  // Returns the number of segments that end in a chunk up to byte `end`.
  std::size_t count_ends(std::size_t end) const {
    std::size_t at = segment_;
    while (at < request_.segment_count && request_.segments[at].end <= end)
      ++at;
    return at - segment_;
  }

  // Sets domain_ to a text that depends on the salt, and on the policies, ends and ids of the
  // segments of a window. Windows within a segment with the same policy have equal domains.
  void read_domain(std::size_t window) {
    const std::size_t end = at_ + window;
    const bool is_one = !ends_here(end);
    if (is_one && domain_segment_ == segment_)
      return;
    domain_segment_ = is_one ? segment_ : NO_SEGMENT;
    domain_.clear();
    add_text(request_.salt, domain_);
    for (std::size_t i = segment_; i < request_.segment_count; ++i) {
      const PromptSegment &segment = request_.segments[i];
      const bool is_last = segment.end > end;
      add_text(segment.policy, domain_);
      if (is_last)
        break;
      add_number(segment.end - at_, domain_);
      add_number(segment.id_count, domain_);
      domain_.append(reinterpret_cast<const char *>(segment.ids),
                     segment.id_count * sizeof *segment.ids);
    }
    domain_hash_ = hash_window(reinterpret_cast<const std::uint8_t *>(domain_.data()),
                               domain_.size(), prompts_.key_);
  }

  // The result is valid until the domain changes.
  ChunkKey key_of(std::size_t window, unsigned flags) {
    read_domain(window);
    const HashKey &key = prompts_.key_;
    const std::uint64_t hash = hash_words(hash_window(here(), window, key) ^ domain_hash_,
                                          std::uint64_t{window} << 2 | flags, key);
    return {hash & prompts_.settings_.hash_mask, domain_, flags, here(), window};
  }

  // Returns whether the text from at_ on has the ids of a chunk.
  bool matches(const Chunk &chunk) {
    const bool is_end = (chunk.flags() & IS_END) != 0;
    if ((chunk.flags() & ~IS_END) != part_flag() ||
        (is_end ? chunk.window_size() != rest() : chunk.window_size() > rest()))
      return false;
    read_domain(chunk.window_size());
    return chunk.domain() == domain_ &&
           std::memcmp(chunk.window(), here(), chunk.window_size()) == 0;
  }

  // Takes the chunk with this hash, if the text has it here.
  bool take(std::uint64_t hash) {
    ChunkRef chunk = prompts_.store_.find(hash);
    if (!chunk || !matches(*chunk))
      return false;
    const ChunkContent content = chunk->content();
    const std::size_t before = ids_.size();
    if (content.count != 0)
      std::memcpy(ids_.room(content.count), content.ids, content.count * sizeof *content.ids);
    ids_.add(content.count);
    if (result_.reused == before - first_id_)
      result_.reused_prefix += content.count;
    result_.reused += content.count;
    bytes_reused_ += content.cut;
    go_on(before, content);
    follow(std::move(chunk));
    return true;
  }

  // Goes to the end of a chunk whose ids begin at `first`.
  void go_on(std::size_t first, const ChunkContent &content) {
    at_ += content.cut;
    segment_ += content.end_count;
    for (std::size_t i = 0; i < content.end_count; ++i)
      result_.ends.push_back(static_cast<std::int64_t>(first - first_id_ + content.ends[i]));
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

  // Returns the last safe cut of a window, or 0. It lies after all given ids in the window,
  // also those at its end: the next chunk is a LATER part, but text after given ids may get a
  // prefix.
  std::size_t find_cut_of(std::size_t window) const {
    std::size_t start = at_;
    for (std::size_t i = segment_; i < request_.segment_count; ++i) {
      const PromptSegment &segment = request_.segments[i];
      if (segment.end > at_ + window)
        break;
      if (segment.id_count != 0)
        start = segment.end;
    }
    const std::size_t before = start - at_;
    const std::size_t cut = find_cut(tokenizer_.encoder(), request_.all,
                                     tokenizer_.normalizer(), text_ + start, window - before)
                                .position;
    return cut == 0 ? 0 : before + cut;
  }

  // Takes or encodes the next chunk. Returns false if there is none.
  bool take_window() {
    if (!has_cuts_)
      return false;
    std::size_t window = first_window(here(), rest(), prompts_.settings_.min_window,
                                      prompts_.settings_.max_window);
    while (window != 0) {
      const ChunkKey key = key_of(window, part_flag());
      if (take(key.hash))
        return true;
      if (const std::size_t cut = find_cut_of(window)) {
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
    const std::size_t before = ids_.size();
    if (rest() < min) {
      const ChunkContent content = append(rest());
      return go_on(before, content);
    }
    const ChunkKey key = key_of(rest(), part_flag() | IS_END);
    if (!take(key.hash))
      encode(key, rest());
  }

  // Encodes the first `cut` bytes of a window, and keeps the ids.
  void encode(ChunkKey key, std::size_t cut) {
    read_domain(key.size); // a search for another chunk may have changed it
    key.domain = domain_;
    const std::size_t before = ids_.size();
    const ChunkContent content = append(cut);
    if (result_.refusal.token != nullptr)
      return;
    go_on(before, content);
    if (!prompts_.store_.keeps(Chunk::bytes_of(key, content)))
      return;
    ChunkRef chunk(Chunk::make(key, content));
    if (!chunk)
      return;
    prompts_.store_.insert(*chunk);
    follow(std::move(chunk));
  }

  // Appends the ids of the next `size` bytes. The result is valid until the next call.
  ChunkContent append(std::size_t size) {
    const std::size_t before = ids_.size();
    const std::size_t end_count = count_ends(at_ + size);
    ends_.clear();
    if (end_count == 0)
      result_.refusal = tokenizer_.encode(here(), size, *request_.segments[segment_].added,
                                          cache_, ids_, part());
    else
      append_segments(size, end_count);
    result_.refusal.position += at_;
    return {size, ids_.data() + before, ids_.size() - before, ends_.data(), end_count};
  }

  // Like `append`, for text in which `end_count` segments end. Sets ends_.
  void append_segments(std::size_t size, std::size_t end_count) {
    SegmentedText segments;
    const auto add = [&](std::size_t start, std::size_t end, const PromptSegment &segment,
                         std::size_t id_count) {
      segments.add(text_ + start, end - start, segment.added->all, segment.ids, id_count);
    };
    std::size_t start = at_;
    for (std::size_t i = segment_; i < segment_ + end_count; ++i) {
      add(start, request_.segments[i].end, request_.segments[i], request_.segments[i].id_count);
      start = request_.segments[i].end;
    }
    if (start < at_ + size)
      add(start, at_ + size, request_.segments[segment_ + end_count], 0);
    const std::size_t before = ids_.size();
    result_.refusal = segments.encode(tokenizer_, cache_, ids_, part());
    const Spans spans = segments.spans(tokenizer_, ids_.data() + before, ids_.size() - before);
    for (const std::int64_t end : segments.token_ends(spans))
      ends_.push_back(static_cast<std::uint32_t>(end));
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

  static constexpr std::size_t NO_SEGMENT = static_cast<std::size_t>(-1);

  PromptCache &prompts_;
  const Tokenizer &tokenizer_;
  const std::uint8_t *const text_;
  const std::size_t size_;
  const Request &request_;
  PreTokenCache &cache_;
  IdBuffer &ids_;
  const std::size_t first_id_;
  const bool has_cuts_;
  const bool has_prefix_; // whether something may come before the start of a text

  std::size_t at_ = 0;
  std::size_t segment_ = 0; // the first that has not ended
  std::string domain_;
  std::uint64_t domain_hash_ = 0;
  std::size_t domain_segment_ = NO_SEGMENT; // which domain_ is of, if of one only
  std::vector<std::uint32_t> ends_;         // of the last text that was encoded
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
