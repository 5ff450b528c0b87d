#include "encoder.hpp"

#include <algorithm>

namespace pretok {

Refusal Encoder::encode(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                        PreTokenCache &cache, IdBuffer &ids) const {
  return added.split(data, size, [&](const Segment &segment) {
    if (segment.token != nullptr) {
      *ids.room(1) = segment.token->id;
      ids.add(1);
    } else {
      encode_text(data + segment.start, segment.end - segment.start, cache, ids, [] {});
    }
  });
}

Refusal Encoder::count(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                       PreTokenCache &cache, std::size_t &result) const {
  IdBuffer ids;
  return added.split(data, size, [&](const Segment &segment) {
    if (segment.token != nullptr)
      ++result;
    else
      encode_text(data + segment.start, segment.end - segment.start, cache, ids, [&] {
        result += ids.size();
        ids.clear();
      });
  });
}

Refusal Encoder::encode_spans(const std::uint8_t *data, std::size_t size,
                              const AddedTokens &added, PreTokenCache &cache, IdBuffer &ids,
                              std::vector<std::int64_t> &starts,
                              std::vector<std::int64_t> &ends) const {
  return added.split(data, size, [&](const Segment &segment) {
    if (segment.token != nullptr) {
      *ids.room(1) = segment.token->id;
      ids.add(1);
      starts.push_back(static_cast<std::int64_t>(segment.start));
      ends.push_back(static_cast<std::int64_t>(segment.end));
      return;
    }
    const std::uint8_t *text = data + segment.start;
    // A space that was put before the text is in no span.
    std::int64_t ahead = prefixed(text) ? 1 : 0;
    auto at = static_cast<std::int64_t>(segment.start);
    std::size_t done = ids.size();
    encode_text(text, segment.end - segment.start, cache, ids, [&] {
      for (; done < ids.size(); ++done) {
        starts.push_back(at);
        at += vocabulary_.token(ids.data()[done]).size - ahead;
        ahead = 0;
        ends.push_back(at);
      }
    });
  });
}

template <typename Filled>
void Encoder::encode_text(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                          IdBuffer &ids, Filled filled) const {
  if (!prefixed(text))
    return encode_whole(text, size, cache, ids, filled);
  std::vector<std::uint8_t> with_space;
  with_space.reserve(size + 1);
  with_space.push_back(' ');
  with_space.insert(with_space.end(), text, text + size);
  encode_whole(with_space.data(), with_space.size(), cache, ids, filled);
}

template <typename Filled>
void Encoder::encode_whole(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                           IdBuffer &ids, Filled filled) const {
  Batch batch;
  split(machine_, Utf8(text, size, machine_.classes()),
        [&](const std::size_t *ends, std::size_t count) {
          while (count != 0) {
            const std::size_t taken = std::min(count, Batch::MOST - batch.count);
            std::copy_n(ends, taken, batch.ends.data() + batch.count);
            batch.count += taken;
            ends += taken;
            count -= taken;
            if (batch.count == Batch::MOST) {
              encode_batch(text, text + size, batch, cache, ids);
              filled();
            }
          }
        });
  encode_batch(text, text + size, batch, cache, ids);
  filled();
}

void Encoder::encode_batch(const std::uint8_t *text, const std::uint8_t *limit, Batch &batch,
                           PreTokenCache &cache, IdBuffer &ids) const {
  if (batch.count == 0)
    return;
  std::array<PreTokenCache::Key, Batch::MOST> keys;
  std::array<const PreTokenCache::Entry *, Batch::MOST> kept;
  std::size_t start = batch.start;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::size_t size = batch.ends[i] - start;
    if (size <= PreTokenCache::MOST_BYTES) {
      keys[i] = PreTokenCache::Key(text + start, size, limit);
      cache.prefetch(keys[i]);
    }
    start = batch.ends[i];
  }
  start = batch.start;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::size_t size = batch.ends[i] - start;
    if (size <= PreTokenCache::MOST_BYTES) {
      kept[i] = cache.find(keys[i], text + start, size);
      if (kept[i] == nullptr && size <= ShortBytes::MOST)
        vocabulary_.whole().prefetch(keys[i].hash);
    }
    start = batch.ends[i];
  }
  // One id a byte at most, and room for what is copied in vain.
  std::uint32_t *const first = ids.room(start - batch.start + PreTokenCache::MOST_INLINE);
  std::uint32_t *to = first;
  bool moved = false; // whether something was kept since, so that what is kept may have moved
  start = batch.start;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::uint8_t *bytes = text + start;
    const std::size_t size = batch.ends[i] - start;
    start = batch.ends[i];
    if (size > PreTokenCache::MOST_BYTES) {
      to += vocabulary_.encode(bytes, size, limit, to);
      continue;
    }
    if (moved)
      kept[i] = cache.find(keys[i], bytes, size);
    if (kept[i] != nullptr) {
      to += cache.copy(*kept[i], to);
      continue;
    }
    const std::size_t count =
        vocabulary_.encode_hashed(bytes, size, keys[i].bytes, keys[i].hash, to);
    cache.insert(keys[i], bytes, size, to, count);
    moved = true;
    to += count;
  }
  ids.add(static_cast<std::size_t>(to - first));
  batch.start = start;
  batch.count = 0;
}

} // namespace pretok
