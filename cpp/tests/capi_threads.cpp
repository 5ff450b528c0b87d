// Uses one tokenizer of the C interface on several threads at the same time. Each thread must
// get the results that a single thread gets.
#include "pretok.h"
#include "small_vocabulary.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

using Ids = std::vector<std::uint32_t>;

struct Results {
  Ids ids;
  Ids streamed;
  std::string decoded;
  std::size_t spans = 0;
  std::size_t span_ends = 0; // the sum of the ends of the spans of all ids
  std::string facts;
  pretok_status count_status = PRETOK_OK;

  bool operator==(const Results &other) const {
    return ids == other.ids && streamed == other.streamed && decoded == other.decoded &&
           spans == other.spans && span_ends == other.span_ends && facts == other.facts &&
           count_status == other.count_status;
  }
};

// Sets `facts` to the answers of queries whose first call makes a table, and to the text of a
// stream and of its copy. Returns whether the calls succeeded.
bool query(const pretok_tokenizer *tokenizer, const Ids &ids, std::string &facts) {
  std::uint32_t id = 0;
  float score = 0;
  pretok_token_facts all{};
  all.struct_size = sizeof all;
  pretok_vocabulary vocabulary{};
  vocabulary.struct_size = sizeof vocabulary;
  if (pretok_token_id(tokenizer, "the", 3, &id, nullptr) != PRETOK_OK ||
      pretok_token_score(tokenizer, id, &score, nullptr) != PRETOK_OK ||
      pretok_token_facts_of(tokenizer, &all, nullptr) != PRETOK_OK ||
      pretok_vocabulary_of(tokenizer, &vocabulary, nullptr) != PRETOK_OK)
    return false;
  facts = std::to_string(id) + " " + std::to_string(score) + " " +
          std::to_string(all.max_token_bytes) + " " + std::to_string(vocabulary.sorted[9]) +
          " " + std::to_string(vocabulary.types[id]) + " ";
  pretok_decode_stream *stream = nullptr;
  pretok_decode_stream *copy = nullptr;
  const char *text = nullptr;
  std::size_t size = 0;
  std::size_t removed = 0;
  bool good = pretok_decode_stream_with(tokenizer, nullptr, &stream, nullptr) == PRETOK_OK;
  for (std::size_t i = 0; good && i < ids.size() && i < 40; ++i) {
    good = pretok_decode_stream_feed(stream, &ids[i], 1, &text, &size, nullptr) == PRETOK_OK;
    facts.append(good ? text : "", good ? size : 0);
  }
  good = good && pretok_decode_stream_clone(stream, &copy, nullptr) == PRETOK_OK;
  for (pretok_decode_stream *const each : {stream, copy}) {
    good = good &&
           pretok_decode_stream_rewind(each, pretok_decode_stream_size(each) / 2, &removed,
                                       nullptr) == PRETOK_OK &&
           pretok_decode_stream_finish(each, &text, &size, nullptr) == PRETOK_OK;
    facts += std::to_string(removed);
    facts.append(good ? text : "", good ? size : 0);
  }
  pretok_decode_stream_free(stream);
  pretok_decode_stream_free(copy);
  return good;
}

// Sets `sum` to the sum of the ends of the spans of all ids. Returns whether the calls
// succeeded: spans of one text, and both functions for batches of this text twice, on two
// threads.
bool ask_for_spans(const pretok_tokenizer *tokenizer, const std::string &text,
                   const pretok_encode_options &options, const Ids &ids, std::size_t &sum) {
  Ids same(ids.size());
  std::vector<pretok_span> spans(ids.size());
  std::size_t count = 0;
  if (pretok_encode_spans(tokenizer, text.data(), text.size(), &options, same.data(),
                          spans.data(), spans.size(), &count, nullptr) != PRETOK_OK ||
      same != ids)
    return false;
  for (const pretok_span &span : spans)
    sum += span.end;
  const char *const texts[] = {text.data(), text.data()};
  const std::size_t sizes[] = {text.size(), text.size()};
  std::uint32_t *batch = nullptr;
  std::size_t ends[2];
  if (pretok_encode_batch_new(tokenizer, texts, sizes, 2, &options, 2, &batch, ends, nullptr,
                              nullptr) != PRETOK_OK)
    return false;
  const std::size_t starts[] = {0, ends[0], ends[1]};
  char *bytes = nullptr;
  std::size_t byte_ends[3];
  const bool good = Ids(batch + ends[0], batch + ends[1]) == ids &&
                    pretok_decode_batch(tokenizer, batch, starts, 2, false, 2, &bytes,
                                        byte_ends, nullptr) == PRETOK_OK &&
                    text.compare(0, text.size(), bytes, byte_ends[1]) == 0;
  pretok_ids_free(batch);
  pretok_bytes_free(bytes);
  return good;
}

// Encodes, counts, decodes, splits and streams `text`. Returns whether these calls succeeded.
// Only pretok_count may fail: without options, it refuses special tokens in the text.
bool ask(const pretok_tokenizer *tokenizer, const pretok_pre_tokenizer *split,
         const std::string &text, Results &results) {
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = PRETOK_SPECIAL_ALLOW;
  Ids ids(pretok_encode_bound(tokenizer, text.size()));
  std::size_t count = 0;
  if (pretok_encode(tokenizer, text.data(), text.size(), &options, ids.data(), ids.size(),
                    &count, nullptr) != PRETOK_OK)
    return false;
  ids.resize(count);
  pretok_error error{};
  results.count_status =
      pretok_count(tokenizer, text.data(), text.size(), nullptr, &count, &error);
  results.decoded.resize(text.size());
  std::size_t size = 0;
  if (pretok_decode(tokenizer, ids.data(), ids.size(), false, results.decoded.data(),
                    results.decoded.size(), &size, nullptr) != PRETOK_OK)
    return false;
  results.decoded.resize(size);
  if (pretok_spans(split, text.data(), text.size(), nullptr, 0, &results.spans, nullptr) !=
      PRETOK_OK)
    return false;
  pretok_encode_stream *stream = nullptr;
  if (pretok_encode_stream_new(tokenizer, &options, &stream, nullptr) != PRETOK_OK)
    return false;
  const std::uint32_t *new_ids = nullptr; // the ids that the last call completed
  bool good = true;
  for (std::size_t at = 0; good && at < text.size(); at += 700) {
    const std::size_t chunk = std::min<std::size_t>(700, text.size() - at);
    good = pretok_encode_stream_feed(stream, text.data() + at, chunk, &new_ids, &count,
                                     nullptr) == PRETOK_OK;
    if (good)
      results.streamed.insert(results.streamed.end(), new_ids, new_ids + count);
  }
  good = good && pretok_encode_stream_finish(stream, &new_ids, &count, nullptr) == PRETOK_OK;
  if (good)
    results.streamed.insert(results.streamed.end(), new_ids, new_ids + count);
  pretok_encode_stream_free(stream);
  good = good && query(tokenizer, ids, results.facts) &&
         ask_for_spans(tokenizer, text, options, ids, results.span_ends);
  results.ids = std::move(ids);
  return good;
}

// Calls `ask` with the same texts on eight threads. `cache_bytes` limits the caches; 0 means
// the default limit. One thread also trims the tokenizer before each text. Returns whether all
// threads got the results of a single thread.
bool all_agree(std::size_t cache_bytes) {
  std::string file(std::size_t{1} << 14, ' ');
  file.resize(write_small_vocabulary(file.data()));
  const pretok_special_token special{"<end>", 5, 1000};
  pretok_load_options load{};
  load.struct_size = sizeof load;
  load.preset = "o200k";
  load.special_tokens = &special;
  load.special_token_count = 1;
  load.cache_bytes = cache_bytes;
  pretok_tokenizer *tokenizer = nullptr;
  pretok_pre_tokenizer *split = nullptr;
  if (pretok_tokenizer_from_memory(file.data(), file.size(), &load, &tokenizer, nullptr) !=
          PRETOK_OK ||
      pretok_pre_tokenizer_named("o200k", nullptr, &split, nullptr) != PRETOK_OK)
    return false;

  constexpr std::size_t TEXTS = 12;
  std::vector<std::string> texts;
  std::vector<Results> expected(TEXTS);
  for (std::size_t i = 0; i < TEXTS; ++i) {
    std::string text;
    for (std::size_t j = 0; j < 200 * i; ++j)
      text += "the " + std::to_string(i * j % 1009) + " world\xE4\xB8\xAD\xC3\xA9's\n ";
    texts.push_back(i % 3 == 0 ? text + "<end>" : text);
  }
  // Half of the texts are in the caches when the threads start.
  for (std::size_t i = 0; i < TEXTS / 2; ++i)
    if (!ask(tokenizer, split, texts[i], expected[i]))
      return false;
  constexpr std::size_t THREADS = 8;
  std::vector<std::vector<Results>> results(THREADS, std::vector<Results>(TEXTS));
  std::atomic<bool> good{true};
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < THREADS; ++number)
    threads.emplace_back([&, number] {
      for (std::size_t turn = 0; turn < TEXTS; ++turn) {
        const std::size_t i = (turn + 5 * number) % TEXTS;
        if (number == 0)
          pretok_tokenizer_trim(tokenizer);
        if (!ask(tokenizer, split, texts[i], results[number][i]))
          good = false;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (std::size_t i = TEXTS / 2; i < TEXTS; ++i)
    good = ask(tokenizer, split, texts[i], expected[i]) && good;
  int wrong = 0;
  for (std::size_t i = 0; i < TEXTS; ++i) {
    wrong += expected[i].ids != expected[i].streamed || expected[i].decoded != texts[i];
    wrong += expected[i].count_status != (i % 3 == 0 ? PRETOK_SPECIAL_TOKEN : PRETOK_OK);
    for (const std::vector<Results> &of_thread : results)
      wrong += !(of_thread[i] == expected[i]);
  }
  pretok_pre_tokenizer_free(split);
  pretok_tokenizer_free(tokenizer);
  std::printf("%d of %zu comparisons failed\n", wrong, TEXTS * (THREADS + 2));
  return good && wrong == 0;
}

} // namespace

int main() {
  bool good = true;
  for (const std::size_t cache_bytes : {0, 1, 1'000'000})
    good = all_agree(cache_bytes) && good;
  return good ? 0 : 1;
}
