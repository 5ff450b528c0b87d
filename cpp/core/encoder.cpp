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
  split(machine_, Utf8(text, size, machine_.classes()), [&](std::size_t end) {
    batch.ends[batch.count++] = end;
    if (batch.count == Batch::MOST) {
      encode_batch(text, text + size, batch, cache, ids);
      filled();
    }
  });
  encode_batch(text, text + size, batch, cache, ids);
  filled();
}

void Encoder::encode_batch(const std::uint8_t *text, const std::uint8_t *limit, Batch &batch,
                           PreTokenCache &cache, IdBuffer &ids) const {
  if (batch.count == 0)
    return;
  std::array<ShortBytes, Batch::MOST> keys;
  std::array<std::uint64_t, Batch::MOST> hashes;
  std::size_t start = batch.start;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::size_t size = batch.ends[i] - start;
    if (size <= ShortBytes::MOST) {
      keys[i] = ShortBytes::load(text + start, size, limit);
      hashes[i] = keys[i].hash(size);
      prefetch(&cache.place(hashes[i]));
    }
    start = batch.ends[i];
  }
  start = batch.start;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::size_t size = batch.ends[i] - start;
    if (size <= ShortBytes::MOST && !cache.place(hashes[i]).holds(keys[i], size))
      vocabulary_.whole().prefetch(hashes[i]);
    start = batch.ends[i];
  }
  // One id a byte at most, and room for what is copied in vain.
  std::uint32_t *const first = ids.room(start - batch.start + PreTokenCache::MOST_IDS);
  std::uint32_t *to = first;
  start = batch.start;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::uint8_t *bytes = text + start;
    const std::size_t size = batch.ends[i] - start;
    start = batch.ends[i];
    if (size > ShortBytes::MOST) {
      to += vocabulary_.encode(bytes, size, limit, to);
      continue;
    }
    PreTokenCache::Entry &entry = cache.place(hashes[i]);
    if (entry.holds(keys[i], size)) {
      std::copy(entry.ids.begin(), entry.ids.end(), to);
      to += entry.count;
      continue;
    }
    *to = vocabulary_.whole().find_short(keys[i], size, hashes[i]);
    const std::size_t count = *to != NO_ID ? 1 : vocabulary_.merge(bytes, size, to);
    if (count <= PreTokenCache::MOST_IDS) {
      entry = {keys[i].low,
               keys[i].high,
               static_cast<std::uint16_t>(size),
               static_cast<std::uint16_t>(count),
               {}};
      std::copy(to, to + count, entry.ids.begin());
    }
    to += count;
  }
  ids.add(static_cast<std::size_t>(to - first));
  batch.start = start;
  batch.count = 0;
}

} // namespace pretok
