#include "core/encode/encoder.hpp"

#include <algorithm>
#include <cstring>

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
  const InstructionSet instructions = kernels().instruction_set;
  std::size_t start = 0;
  split(pre_tokenizer_, Utf8(text, size, pre_tokenizer_.classes()),
        [&](const std::size_t *ends, std::size_t count) {
          for (std::size_t done = 0; done < count;) {
            const std::size_t taken = std::min(count - done, PreTokens::MOST);
            encode_batch(instructions,
                         {text, text + size, start, ends + done, taken, lowest_apart_}, cache,
                         ids);
            done += taken;
            start = ends[done - 1];
            filled();
          }
        });
}

// A pre-token of a batch that the cache does not have, or a long one to be merged.
struct Encoder::Missing {
  const std::uint8_t *bytes;
  std::size_t size;
  std::uint64_t hash; // if it is long
  std::size_t count;  // of ids; if it is long, 0: it falls into units
  std::array<std::uint32_t, ShortKey::MOST + ShortCache::SLACK> ids; // if it is short
  std::uint8_t place;                                                // in the batch
  bool is_cut; // if it is short: whether it is more than one unit

  bool is_long() const { return size > ShortKey::MOST; }
};

void Encoder::encode_batch(InstructionSet instructions, const PreTokens &given,
                           PreTokenCache &cache, IdBuffer &ids) const {
  LookUp found;
  look_up(instructions, given, cache.whole, found);
  std::array<Missing, PreTokens::MOST> missing;
  std::size_t missing_count = 0;
  for (std::size_t j = 0; j < found.other_count; ++j) {
    const std::size_t i = found.others[j];
    const std::uint8_t *const bytes = given.text + given.start_of(i);
    if (given.falls_apart(*bytes))
      continue;
    Missing &one = missing[missing_count++];
    one.bytes = bytes;
    one.size = given.ends[i] - given.start_of(i);
    one.place = found.others[j];
    if (one.is_long()) {
      one.hash = hash_long(one.bytes, one.size, cache.longs.key());
      cache.longs.prefetch(one.hash);
      continue;
    }
    const ShortCache::Entry *displaced =
        cache.whole.find_displaced(found.keys[i], found.hashes[i]);
    one.count = displaced != nullptr ? ShortCache::copy(*displaced, one.ids.data()) : 0;
    if (displaced != nullptr)
      continue;
    // What merging makes, no merge of which can reach across, is no token.
    one.is_cut = !is_one_unit(one.bytes, one.size);
    if (!one.is_cut || !vocabulary_.merging_makes_all())
      vocabulary_.whole().prefetch(found.keys[i]);
  }
  if (missing_count != 0)
    encode_missing(missing.data(), missing_count, found.keys.data(), given.limit, cache);
  // One id a byte at most, and room for what is copied in vain.
  std::uint32_t *const first =
      ids.room(given.ends[given.count - 1] - given.start + ShortCache::SLACK);
  std::uint32_t *to = first;
  std::size_t done = 0;
  const Missing *next_missing = missing.data();
  for (std::size_t j = 0; j <= found.other_count; ++j) {
    const std::size_t next = j < found.other_count ? found.others[j] : given.count;
    for (; done < next; ++done)
      to += ShortCache::copy(*found.kept[done], to);
    if (j == found.other_count)
      break;
    const std::uint8_t *const bytes = given.text + given.start_of(done);
    const std::size_t size = given.ends[done] - given.start_of(done);
    ++done;
    if (given.falls_apart(*bytes)) {
      to += encode_units(bytes, size, given.limit, cache, to);
      continue;
    }
    const Missing &one = *next_missing++;
    if (one.is_long()) {
      if (one.count == 0) {
        const std::size_t n = encode_units(one.bytes, one.size, given.limit, cache, to);
        if (one.size <= LongCache::MOST)
          cache.longs.insert(one.bytes, one.size, one.hash, to, n);
        to += n;
      } else {
        to += encode_long(one.bytes, one.size, one.hash, given.limit, cache, to);
      }
    } else {
      std::memcpy(to, one.ids.data(), ShortCache::SLACK * sizeof *to);
      if (one.count > ShortCache::SLACK)
        std::copy_n(one.ids.data(), one.count, to);
      to += one.count;
    }
  }
  ids.add(static_cast<std::size_t>(to - first));
  // Only now, for what is kept may move.
  for (std::size_t j = 0; j < missing_count; ++j) {
    const Missing &one = missing[j];
    if (!one.is_long())
      cache.whole.insert(found.keys[one.place], found.hashes[one.place], one.ids.data(),
                         one.count);
  }
}

void Encoder::encode_missing(Missing *missing, std::size_t missing_count, const ShortKey *keys,
                             const std::uint8_t *limit, PreTokenCache &cache) const {
  const OrderedMerges *const merges = vocabulary_.ordered();
  std::array<std::uint8_t, PreTokens::MOST> to_merge;
  std::size_t count = 0;
  for (std::size_t j = 0; j < missing_count; ++j) {
    Missing &one = missing[j];
    std::uint32_t *const ids = one.ids.data();
    if (one.is_long()) {
      one.count = 1;
      if (merges == nullptr || cache.longs.has(one.bytes, one.size, one.hash))
        continue;
      if (!is_one_unit(one.bytes, one.size))
        one.count = vocabulary_.merging_makes_all() ? 0 : 1;
      else if (one.size <= ShortMerge::MOST)
        to_merge[count++] = static_cast<std::uint8_t>(j);
      continue;
    }
    if (one.count != 0)
      continue;
    ids[0] = one.is_cut && vocabulary_.merging_makes_all()
                 ? NO_ID
                 : vocabulary_.whole().find_short(keys[one.place]);
    if (ids[0] != NO_ID)
      one.count = 1;
    else if (one.is_cut)
      one.count = encode_units(one.bytes, one.size, limit, cache, ids);
    else if (merges == nullptr)
      one.count = vocabulary_.merge(one.bytes, one.size, ids);
    else
      to_merge[count++] = static_cast<std::uint8_t>(j);
  }
  if (count == 0)
    return;
  std::size_t given = 0;
  const auto next = [&](const std::uint8_t *&bytes, std::size_t &size) {
    if (given == count)
      return false;
    const Missing &one = missing[to_merge[given++]];
    bytes = one.bytes;
    size = one.size;
    return true;
  };
  const auto done = [&](std::size_t which, const ShortMerge &merge) {
    Missing &one = missing[to_merge[which]];
    if (!one.is_long()) {
      one.count = merge.finish(*merges, one.ids.data());
      return;
    }
    // Where encode_long will find it.
    std::array<std::uint32_t, ShortMerge::MOST> ids;
    cache.longs.insert(one.bytes, one.size, one.hash, ids.data(),
                       merge.finish(*merges, ids.data()));
  };
  merge_in_turn(*merges, *vocabulary_.joints(), next, done);
}

bool Encoder::is_one_unit(const std::uint8_t *bytes, std::size_t size) const {
  const CharJoints *const joints = vocabulary_.joints();
  return joints == nullptr || is_ascii(bytes, size) || joints->is_one_unit(bytes, size);
}

// A pre-token of more than ShortKey::MOST bytes.
std::size_t Encoder::encode_long(const std::uint8_t *bytes, std::size_t size,
                                 std::uint64_t hash, const std::uint8_t *limit,
                                 PreTokenCache &cache, std::uint32_t *to) const {
  if (!vocabulary_.merging_makes_all()) {
    *to = vocabulary_.whole().find(bytes, size, limit);
    if (*to != NO_ID)
      return 1;
  }
  const std::size_t count = cache.longs.copy(bytes, size, hash, to);
  if (count != 0)
    return count;
  if (is_one_unit(bytes, size))
    return merge_long_unit(bytes, size, hash, cache, to);
  return encode_units(bytes, size, limit, cache, to);
}

std::size_t Encoder::encode_units(const std::uint8_t *bytes, std::size_t size,
                                  const std::uint8_t *limit, PreTokenCache &cache,
                                  std::uint32_t *to) const {
  std::uint32_t *const first = to;
  const auto one = [&to](const CharJoints::Char &character) {
    std::memcpy(to, character.ids.data(), sizeof character.ids);
    to += character.count();
  };
  const auto many = [&](std::size_t start, std::size_t end) {
    to += encode_unit(bytes + start, end - start, limit, cache, to);
  };
  vocabulary_.joints()->for_units(bytes, size, one, many);
  return static_cast<std::size_t>(to - first);
}

// Merges; what is a token as a whole does not matter here.
std::size_t Encoder::encode_unit(const std::uint8_t *bytes, std::size_t size,
                                 const std::uint8_t *limit, PreTokenCache &cache,
                                 std::uint32_t *to) const {
  if (size <= ShortKey::MOST) {
    const ShortKey key(bytes, size, limit);
    const std::uint64_t hash = key.hash(cache.units.key());
    if (const ShortCache::Entry *kept = cache.units.find(key, hash))
      return ShortCache::copy(*kept, to);
    const std::size_t count = vocabulary_.merge(bytes, size, to);
    cache.units.insert(key, hash, to, count);
    return count;
  }
  const std::uint64_t hash = hash_long(bytes, size, cache.longs.key());
  const std::size_t count = cache.longs.copy(bytes, size, hash, to);
  return count != 0 ? count : merge_long_unit(bytes, size, hash, cache, to);
}

std::size_t Encoder::merge_long_unit(const std::uint8_t *bytes, std::size_t size,
                                     std::uint64_t hash, PreTokenCache &cache,
                                     std::uint32_t *to) const {
  const std::size_t count = vocabulary_.merge(bytes, size, to);
  if (size <= LongCache::MOST)
    cache.longs.insert(bytes, size, hash, to, count);
  return count;
}

} // namespace pretok
