// Prompt caches: encode texts that have parts in common with earlier texts.
#include "capi/options.hpp"
#include "capi/segment_call.hpp"
#include "core/session/prompt_text.hpp"

#include <algorithm>

using namespace pretok;

struct pretok_prompt_cache {
  pretok_prompt_cache(const pretok_tokenizer &owner, std::size_t max_bytes)
      : tokenizer(owner), prompts(settings(max_bytes)) {}

  static PromptCacheSettings settings(std::size_t max_bytes) {
    PromptCacheSettings result;
    result.max_bytes = max_bytes;
    return result;
  }

  const AddedTokenPhases &all() const { return tokenizer.policies[PRETOK_SPECIAL_ALLOW]; }

  const pretok_tokenizer &tokenizer;
  PromptCache prompts;
};

pretok_status pretok_prompt_cache_new(const pretok_tokenizer *tokenizer, size_t max_bytes,
                                      pretok_prompt_cache **result,
                                      pretok_error *error) noexcept {
  return guarded(error, {{tokenizer, "the tokenizer"}, {result, "result"}}, [&] {
    *result = new pretok_prompt_cache(*tokenizer, max_bytes);
    return PRETOK_OK;
  });
}

pretok_status pretok_prompt_cache_encode(pretok_prompt_cache *cache, const char *text,
                                         size_t size, const pretok_encode_options *options,
                                         const char *salt, size_t salt_size, uint32_t *ids,
                                         size_t capacity, size_t *count, pretok_reuse *reuse,
                                         pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{cache, "the cache"},
                                                 {text, "text", size != 0},
                                                 {salt, "salt", salt_size != 0},
                                                 {count, "count"}}))
    return status;
  return guarded(error, [&] {
    const auto *const bytes = reinterpret_cast<const std::uint8_t *>(text);
    EncodeCall call;
    if (const pretok_status status = call.read(cache->tokenizer, options, error))
      return status;
    if (const pretok_status status = call.check_bytes(bytes, size, 0, error))
      return status;
    const PromptSegment whole{MAX_ELEMENTS<char>, call.policy, call.policy_key};
    const PromptCache::Request request{cache->all(),
                                       std::string_view(salt_size != 0 ? salt : "", salt_size),
                                       &whole, 1, call.first_part};
    IdBuffer buffer = buffer_in(ids, capacity, call.tokenizer->max_capacity(size));
    call.begin(buffer);
    const std::size_t before = buffer.size();
    const CacheLease lease(call.tokenizer->caches());
    const PromptCache::Result result =
        cache->prompts.encode(*call.tokenizer, bytes, size, request, *lease, buffer, [] {});
    if (const pretok_status status = call.refuse(result.refusal, 0, error))
      return status;
    call.end(buffer);
    if (reuse != nullptr)
      *reuse = {result.reused_prefix != 0 ? before + result.reused_prefix : 0, result.reused};
    return return_ids(buffer, ids, capacity, count, error);
  });
}

pretok_status
pretok_prompt_cache_encode_segments(pretok_prompt_cache *cache, const pretok_segment *segments,
                                    size_t segment_count, bool joined, const char *salt,
                                    size_t salt_size, uint32_t *ids, size_t capacity,
                                    size_t *count, size_t *ends, pretok_reuse *reuse,
                                    size_t *failed_segment, pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{cache, "the cache"},
                                                 {segments, "segments", segment_count != 0},
                                                 {salt, "salt", salt_size != 0},
                                                 {count, "count"}}))
    return status;
  return guarded(error, [&] {
    PromptText text(joined);
    for (std::size_t i = 0; i < segment_count; ++i) {
      EncodeCall call;
      if (const pretok_status status = read_segment(cache->tokenizer, segments[i], call, error))
        return fail_segment(i, status, failed_segment, error);
      text.add(reinterpret_cast<const std::uint8_t *>(segments[i].text), segments[i].size,
               *call.policy, call.policy_key, segments[i].ids, segments[i].id_count);
    }
    const Tokenizer &tokenizer = *cache->tokenizer.core;
    IdBuffer buffer;
    const CacheLease lease(tokenizer.caches());
    const PromptCache::Result result = text.encode(
        cache->prompts, tokenizer, cache->all(),
        std::string_view(salt_size != 0 ? salt : "", salt_size), *lease, buffer, [] {});
    if (result.refusal.token != nullptr) {
      Refusal refusal = result.refusal;
      EncodeCall call;
      call.tokenizer = &tokenizer;
      const std::size_t failed = text.locate(refusal.position);
      return fail_segment(failed, call.refuse(refusal, 0, error), failed_segment, error);
    }
    if (ends != nullptr)
      std::copy(result.ends.begin(), result.ends.end(), ends);
    if (reuse != nullptr)
      *reuse = {result.reused_prefix, result.reused};
    return return_ids(buffer, ids, capacity, count, error);
  });
}

pretok_status pretok_prompt_cache_statistics(const pretok_prompt_cache *cache,
                                             pretok_prompt_statistics *result,
                                             pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{cache, "the cache"}, {result, "result"}}))
    return status;
  const PromptCache::Statistics all = cache->prompts.statistics();
  return write_result(pretok_prompt_statistics{result->struct_size, all.calls, all.bytes,
                                               all.bytes_reused, all.ids, all.ids_reused,
                                               all.chunks, all.bytes_held, all.evicted},
                      *result, error);
}

void pretok_prompt_cache_clear(pretok_prompt_cache *cache) noexcept {
  if (cache != nullptr)
    cache->prompts.clear();
}

void pretok_prompt_cache_free(pretok_prompt_cache *cache) noexcept { delete cache; }
