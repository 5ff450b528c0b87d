// pretok_decode_batch.
#include "capi/check_ids.hpp"
#include "core/threads/parallel.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace pretok {
namespace {

// The texts of adjacent lists.
struct Texts {
  void append(Texts &other) {
    for (const std::size_t end : other.ends)
      ends.push_back(bytes.size() + end);
    bytes += other.bytes;
    other = {};
  }

  std::string bytes;
  std::vector<std::size_t> ends;
};

} // namespace
} // namespace pretok

using namespace pretok;

pretok_status pretok_decode_batch(const pretok_tokenizer *tokenizer, const uint32_t *ids,
                                  const size_t *id_offsets, size_t count, bool skip_special,
                                  unsigned threads, char **bytes, size_t *byte_offsets,
                                  pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{tokenizer, "the tokenizer"},
                                                 {id_offsets, "id_offsets"},
                                                 {bytes, "bytes"},
                                                 {byte_offsets, "byte_offsets"}}))
    return status;
  for (std::size_t i = 0; i < count; ++i)
    if (id_offsets[i] > id_offsets[i + 1])
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "id_offsets[%zu] is less than the offset before it; expected ascending "
                  "offsets",
                  i + 1);
  const std::size_t first = id_offsets[0];
  const std::size_t total = id_offsets[count] - first;
  if (total != 0 && ids == nullptr)
    return missing(error, "ids");
  return guarded(error, [&] {
    if (const pretok_status status =
            check_ids(*tokenizer, total != 0 ? ids + first : ids, total, error))
      return status;
    constexpr std::size_t BYTES_PER_ID = 4;
    const TaskPlan plan = plan_tasks(total * BYTES_PER_ID, threads);
    const std::size_t tasks = std::min(count, plan.threads * std::size_t{16});
    const Decoder &decoder = tokenizer->core->decoder();
    Texts texts;
    run_in_order(
        tasks, plan.threads, texts, [] { return 0; },
        [&](std::size_t task, int, Texts &result) {
          for (std::size_t i = task * count / tasks; i < (task + 1) * count / tasks; ++i) {
            const std::size_t size = id_offsets[i + 1] - id_offsets[i];
            with_decoded(decoder, size != 0 ? ids + id_offsets[i] : ids, size, skip_special,
                         [&](const char *text, std::size_t text_size) {
                           result.bytes.append(text, text_size);
                         });
            result.ends.push_back(result.bytes.size());
          }
        },
        [](const Texts &) { return true; }, [] {});
    const std::size_t size = texts.bytes.size();
    auto *const result = static_cast<char *>(std::malloc(size != 0 ? size : 1));
    if (result == nullptr)
      return fail(error, PRETOK_OUT_OF_MEMORY, "there is no memory for %zu bytes", size);
    std::memcpy(result, texts.bytes.data(), size);
    byte_offsets[0] = 0;
    std::copy(texts.ends.begin(), texts.ends.end(), byte_offsets + 1);
    *bytes = result;
    return PRETOK_OK;
  });
}

void pretok_bytes_free(char *bytes) noexcept { std::free(bytes); }
