// Uses one prompt cache of the C++ interface on several threads at the same time, and sessions
// with the same tokenizer. The ids must be those of Tokenizer::encode, and the memory of the
// cache must stay below the bound.
#include "pretok.hpp"
#include "small_vocabulary.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t TEXTS = 24;
constexpr std::size_t THREADS = 64;
constexpr int TURNS = 25;

pretok::Tokenizer load() {
  std::string file(1 << 14, '\0');
  file.resize(write_small_vocabulary(file.data()));
  pretok::LoadOptions options;
  options.preset = "cl100k";
  options.special_tokens = {{"<|end|>", 1000}};
  auto loaded = pretok::Tokenizer::from_memory(file, options);
  return std::move(*loaded);
}

// Returns texts that have lines in common.
std::vector<std::string> make_texts() {
  std::mt19937 random(7);
  std::string lines;
  for (int line = 0; line < 900; ++line)
    lines += "line " + std::to_string(random() % 1000) + " <|end|> the end\n";
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < TEXTS; ++i) {
    const std::size_t cut = random() % lines.size();
    texts.push_back(lines.substr(cut) + std::to_string(i) + lines.substr(0, cut / 2));
  }
  return texts;
}

// Returns the text in two segments, of which the first has ids after it.
std::vector<pretok::TextSegment> parts_of(const std::string &text, std::size_t cut) {
  std::vector<pretok::TextSegment> segments(2);
  segments[0].text = std::string_view(text).substr(0, cut % 200);
  segments[0].special = PRETOK_SPECIAL_TEXT;
  segments[0].ids = {7, 8};
  segments[1].text = std::string_view(text).substr(segments[0].text.size());
  segments[1].special = PRETOK_SPECIAL_ALLOW;
  return segments;
}

// Returns whether a session and its copy, to which the text after `cut` is added, have `ids`.
// The copy drops its text.
bool session_agrees(const pretok::Tokenizer &tokenizer, const std::string &text,
                    std::size_t cut, const pretok::EncodeOptions &options,
                    const std::vector<std::uint32_t> &ids) {
  auto session = pretok::Session::of(tokenizer, options);
  if (!session || !session->append(text.substr(cut)) || !session->update(text.substr(0, cut)))
    return false;
  auto copy = session->fork();
  if (!copy)
    return false;
  copy->drop_text();
  const auto agrees = [&](pretok::Session &each) {
    return each.append(text.substr(cut)).ok() &&
           std::equal(ids.begin(), ids.end(), each.ids().begin(), each.ids().end());
  };
  return agrees(*session) && agrees(*copy) && session->text() == text &&
         !copy->update(text).ok();
}

// Returns the number of wrong results.
int run(const pretok::Tokenizer &tokenizer, std::size_t max_bytes) {
  const std::vector<std::string> texts = make_texts();
  pretok::EncodeOptions allow;
  allow.special = PRETOK_SPECIAL_ALLOW;
  std::vector<std::vector<std::uint32_t>> expected;
  for (const std::string &text : texts)
    expected.push_back(*tokenizer.encode(text, allow));
  auto made = pretok::PromptCache::of(tokenizer, max_bytes);
  if (!made)
    return 1;
  pretok::PromptCache cache = std::move(*made);
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int turn = 0; turn < TURNS; ++turn) {
      const std::size_t i = random() % TEXTS;
      const auto found = cache.encode(texts[i], allow, random() % 4 == 0 ? "salt" : "");
      if (!found || found->ids != expected[i] || found->reuse.prefix > found->reuse.total)
        ++wrong;
      if (random() % 8 == 0) {
        const std::vector<pretok::TextSegment> segments = parts_of(texts[i], random());
        const auto together = tokenizer.encode_segments(segments);
        const auto cached = cache.encode_segments(segments);
        if (!together || !cached || cached->ids != together->ids ||
            cached->ends != together->ends)
          ++wrong;
      }
      if (random() % 8 == 0 &&
          !session_agrees(tokenizer, texts[i], random() % texts[i].size(), allow, expected[i]))
        ++wrong;
      if (random() % 16 == 0 && cache.encode(texts[i]).ok())
        ++wrong; // the special tokens must be refused
      if (random() % 40 == 0)
        cache.clear();
      const auto numbers = cache.statistics();
      if (!numbers || numbers->bytes_held > max_bytes)
        ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < THREADS; ++seed)
    threads.emplace_back(work, seed);
  for (std::thread &thread : threads)
    thread.join();
  const auto numbers = cache.statistics();
  const bool has_reused = numbers && numbers->ids_reused != 0;
  const bool counts = numbers && numbers->calls >= THREADS * TURNS;
  return wrong + (has_reused ? 0 : 1) + (counts ? 0 : 1);
}

} // namespace

int main() {
  const pretok::Tokenizer tokenizer = load();
  int wrong = 0;
  // The smaller cache always evicts.
  for (const std::size_t max_bytes : {std::size_t{1'500'000}, std::size_t{20'000'000}})
    wrong += run(tokenizer, max_bytes);
  std::printf("%d results are wrong\n", wrong);
  return wrong != 0;
}
