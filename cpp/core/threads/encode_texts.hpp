// Encodes many texts, or long texts, on several threads.
#pragma once

#include "core/base/scratch.hpp"
#include "core/encode/tokenizer.hpp"
#include "core/threads/parallel.hpp"
#include "core/threads/text_tasks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// The output for each text: its ids, the number of its ids, or its ids and their spans.
enum class OutputKind { IDS, COUNT, SPANS };

// The result of encoding consecutive texts. The first and the last text may be incomplete.
struct EncodeResult {
  IdBuffer ids;
  std::vector<std::int64_t> text_ends; // for each complete text, the end of its ids in `ids`
  std::size_t count = 0;               // number of ids, for OutputKind::COUNT
  Spans spans;                         // of each token in its text, for OutputKind::SPANS
  // If the last text is incomplete at its end, the number of bytes of this text so far; else 0.
  std::size_t open_bytes = 0;
  // The first refused special token; encoding stops there. Its position is a byte offset in the
  // text with index `refused_text`.
  Refusal refusal;
  std::size_t refused_text = 0;

  // Encodes a text or the next part of a text, and adds the output to this result. `is_last`
  // must be true for a whole text and for the last part of a text. If `dropout` is not nullptr,
  // encodes a whole text, and leaves out merges at random.
  void add(const Tokenizer &tokenizer, OutputKind output, const std::uint8_t *data,
           std::size_t size, const AddedTokenPhases &added, PreTokenCache &cache,
           Encoder::Part which, bool is_last, Dropout *dropout = nullptr) {
    if (dropout != nullptr) {
      refusal = tokenizer.encode_some(data, size, added, *dropout, ids, which);
    } else if (output == OutputKind::IDS) {
      refusal = tokenizer.encode(data, size, added, cache, ids, which);
    } else if (output == OutputKind::COUNT) {
      refusal = tokenizer.count(data, size, added, cache, count, which);
    } else {
      std::size_t span = spans.starts.size();
      refusal = tokenizer.encode_spans(data, size, added, cache, ids, spans, which);
      for (; open_bytes != 0 && span < spans.starts.size(); ++span) {
        spans.starts[span] += static_cast<std::int64_t>(open_bytes);
        spans.ends[span] += static_cast<std::int64_t>(open_bytes);
      }
    }
    refusal.position += open_bytes;
    if (refusal.token != nullptr)
      return;
    open_bytes += size;
    if (is_last) {
      text_ends.push_back(static_cast<std::int64_t>(ids.size()));
      open_bytes = 0;
    }
  }

  // Appends `other`, the result of the texts that follow the texts of this result. Leaves
  // `other` empty.
  void append(EncodeResult &other) {
    const auto id_count = static_cast<std::int64_t>(ids.size());
    ids.append(other.ids.data(), other.ids.size());
    for (const std::int64_t end : other.text_ends)
      text_ends.push_back(id_count + end);
    count += other.count;
    const auto bytes = static_cast<std::int64_t>(open_bytes);
    for (const std::int64_t start : other.spans.starts)
      spans.starts.push_back(bytes + start);
    for (const std::int64_t end : other.spans.ends)
      spans.ends.push_back(bytes + end);
    if (other.refusal.token != nullptr) {
      refusal = other.refusal;
      refused_text = other.refused_text;
      if (other.text_ends.empty())
        refusal.position += open_bytes;
    }
    open_bytes = other.text_ends.empty() ? open_bytes + other.open_bytes : other.open_bytes;
    other.clear();
  }

  // Empties the result, but keeps its memory for the next texts.
  void clear() {
    drop_ended_texts();
    ids.clear();
    spans.starts.clear();
    spans.ends.clear();
    count = open_bytes = 0;
    refusal = {};
  }

  // Drops the ids of complete texts.
  void drop_ended_texts() {
    if (!text_ends.empty())
      ids.drop_front(static_cast<std::size_t>(text_ends.back()));
    text_ends.clear();
  }
};

// Encodes `texts` into `total`, which must be empty. If `threads` is 0, uses one thread per
// processor, or fewer for little work. On the calling thread, calls on_progress(total) after
// each task, and check_interrupt() every few milliseconds (run_in_order in parallel.hpp). If
// on_progress returns false, encoding stops. `which` says how each text begins. If `dropout` is
// not nullptr, merges are left out at random; the output is then OutputKind::IDS.
template <typename View, typename OnProgress, typename InterruptCheck>
void encode_texts(const Tokenizer &tokenizer, OutputKind output, const std::vector<View> &texts,
                  const AddedTokenPhases &added, unsigned threads, EncodeResult &total,
                  OnProgress on_progress, InterruptCheck check_interrupt,
                  Encoder::Part which = Encoder::Part::FIRST,
                  const DropoutOptions *dropout = nullptr) {
  struct Worker {
    CacheLease cache;
    Scratch scratch;
    Dropout dropout;
  };
  std::size_t size = 0;
  for (const View &text : texts)
    size += text.size();
  const TaskPlan plan = plan_tasks(size, threads);
  const Encoder &encoder = tokenizer.encoder();
  // A text that the normalizer may change has no safe cuts.
  const auto may_cut = [&](const View &text) {
    Scratch scratch;
    if (dropout != nullptr) // the draws depend on all text before
      return false;
    return tokenizer.normalizer() == Normalizer::NONE ||
           (tokenizer.normalizer() == Normalizer::NFC &&
            text.with_utf8(scratch, [](const std::uint8_t *data, std::size_t bytes) {
              return is_nfc(data, bytes);
            }));
  };
  const TextTasks<View> tasks(texts, plan.task_size, encoder.pre_tokenizer(), &encoder,
                              added.all, may_cut);
  run_in_order(
      tasks.count(), plan.threads, total,
      [&] {
        return Worker{CacheLease(tokenizer.caches()),
                      {},
                      Dropout(dropout != nullptr ? *dropout : DropoutOptions())};
      },
      [&](std::size_t task, Worker &worker, EncodeResult &result) {
        tasks.run(task, worker.scratch,
                  [&](std::size_t text, std::size_t start, const std::uint8_t *data,
                      std::size_t bytes, bool is_last) {
                    if (dropout != nullptr)
                      worker.dropout.begin(text);
                    result.add(tokenizer, output, data, bytes, added, *worker.cache,
                               start == 0 ? which : Encoder::Part::LATER, is_last,
                               dropout != nullptr ? &worker.dropout : nullptr);
                    result.refused_text = text;
                    return result.refusal.token == nullptr;
                  });
      },
      on_progress, check_interrupt);
}

} // namespace pretok
