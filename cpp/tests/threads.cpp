// Compares encoding and counting on several threads, in tiny tasks, with encoding and counting
// on one thread.
#include "core/split/presets.hpp"
#include "core/threads/encode_texts.hpp"
#include "core/train/word_counts.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pretok;

std::mt19937 source(20261121);

std::size_t below(std::size_t limit) { return source() % limit; }

// A text for encode_texts: bytes, which may be invalid UTF-8.
class Bytes {
public:
  explicit Bytes(const std::string &text)
      : Bytes(reinterpret_cast<const std::uint8_t *>(text.data()), text.size()) {}

  std::size_t size() const { return size_; }
  std::size_t utf8_size() const { return size_; }
  std::size_t units_in(std::size_t bytes) const { return bytes; }
  std::size_t whole(std::size_t at) const { return at; }
  Bytes part(std::size_t start, std::size_t end) const { return {data_ + start, end - start}; }
  template <typename Use> auto with_utf8(Scratch &, Use use) const { return use(data_, size_); }

private:
  Bytes(const std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}

  const std::uint8_t *data_;
  std::size_t size_;
};

std::string random_text(std::size_t most) {
  static const char *const PARTS[] = {
      "a",   " ",        "   ",  " the",     "\n",   "\r\n", "'s",
      "'ll", "12",       "1234", "<x>",      "<xx>", "word", "\xE4\xB8\xAD",
      "!",   "\xCC\x81", "Ab",   "\xE2\x80", "_",    "\xFF", "\xE3\x80\x80",
      "/",   "\t",       "<"};
  std::string text;
  for (std::size_t left = below(most); left > 0; --left)
    text += PARTS[below(std::size(PARTS))];
  return text;
}

bool coin() { return below(2) == 0; }

AddedTokens random_added() {
  std::vector<AddedToken> tokens;
  std::uint32_t id = 1000;
  for (const char *content : {"<x>", "<xx>", "word", " the", "\n", "\xE4\xB8\xAD"})
    if (below(3) == 0)
      tokens.push_back({content, id++, coin(), coin(), coin(), coin(), below(20) == 0});
  return AddedTokens(tokens, {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {0x4E00, 0x9FFF}})
      .treating(coin() ? Treatment::RAISE : Treatment::ALLOW);
}

VocabularyData vocabulary_data() {
  VocabularyData data;
  data.from_ranks = true;
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.emplace_back(1, static_cast<char>(byte));
  for (const char *token : {"th", "he", " t", " the", "12", "wo", "rd", "  ", "'s", "\r\n"})
    tokens.emplace_back(token);
  for (std::uint32_t id = 0; id < tokens.size(); ++id) {
    data.bytes.insert(data.bytes.end(), tokens[id].begin(), tokens[id].end());
    data.lengths.push_back(static_cast<std::uint32_t>(tokens[id].size()));
    data.ids.push_back(id);
  }
  data.mergeable = tokens.size();
  return data;
}

bool same(const EncodeResult &a, const EncodeResult &b) {
  if (a.refusal.token != nullptr || b.refusal.token != nullptr)
    return a.refusal.token == b.refusal.token && a.refusal.position == b.refusal.position &&
           a.refused_text == b.refused_text;
  return std::vector<std::uint32_t>(a.ids.data(), a.ids.data() + a.ids.size()) ==
             std::vector<std::uint32_t>(b.ids.data(), b.ids.data() + b.ids.size()) &&
         a.text_ends == b.text_ends && a.spans.starts == b.spans.starts &&
         a.spans.ends == b.spans.ends && a.count == b.count;
}

bool agree(const Tokenizer &tokenizer, OutputKind output, const std::vector<Bytes> &texts,
           const AddedTokenPhases &added) {
  const auto go_on = [](const EncodeResult &found) { return found.refusal.token == nullptr; };
  EncodeResult expected;
  encode_texts(tokenizer, output, texts, added, 1, expected, go_on, [] {});
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    set_task_size(1 + below(100));
    EncodeResult found;
    encode_texts(tokenizer, output, texts, added, threads, found, go_on, [] {});
    set_task_size(0);
    if (!same(found, expected)) {
      std::printf("%u threads give another result than one thread\n", threads);
      return false;
    }
  }
  return true;
}

using Counts = std::vector<std::pair<std::string, std::int64_t>>;

Counts counts_of(const PreTokenizer &tokenizer, const std::vector<Bytes> &texts,
                 unsigned threads) {
  WordCounts counts;
  for (int batch = 0; batch < 2; ++batch)
    counts.add(tokenizer, texts, threads, [] {});
  WordTable table = counts.take(threads);
  Counts result;
  for (const Word &word : table.finish())
    result.emplace_back(std::string(reinterpret_cast<const char *>(word.data), word.size),
                        word.count);
  return result;
}

bool agree_on_counts(const PreTokenizer &tokenizer, const std::vector<Bytes> &texts) {
  const Counts expected = counts_of(tokenizer, texts, 1);
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    set_task_size(1 + below(100));
    const Counts found = counts_of(tokenizer, texts, threads);
    set_task_size(0);
    if (found != expected) {
      std::printf("%u threads give other counts than one thread\n", threads);
      return false;
    }
  }
  return true;
}

// encode_texts calls its argument check_interrupt, here `pulse`, from time to time. An
// exception that `pulse` throws during encoding must reach the caller.
bool exceptions_reach_the_caller(const Tokenizer &tokenizer) {
  const std::string text(100'000, ' ');
  const std::vector<Bytes> texts(8, Bytes(text));
  for (const unsigned threads : {1U, 3U}) {
    int calls = 0;
    const auto pulse = [&calls] {
      if (++calls == 3)
        throw std::runtime_error("stop");
    };
    set_task_size(1000);
    EncodeResult found;
    try {
      encode_texts(
          tokenizer, OutputKind::IDS, texts, AddedTokenPhases(AddedTokens({}, {})), threads,
          found, [](const EncodeResult &) { return true; }, pulse);
      return false;
    } catch (const std::runtime_error &) {
    }
    set_task_size(0);
  }
  return true;
}

// Returns a tokenizer that normalizes text to NFC if `nfc`, or nullptr after an error.
std::unique_ptr<Tokenizer> make_tokenizer(const PreTokenizer &pre_tokenizer, bool nfc) {
  auto vocabulary = std::make_unique<Vocabulary>();
  if (const char *wrong = vocabulary->build(vocabulary_data())) {
    std::printf("%s\n", wrong);
    return nullptr;
  }
  return std::make_unique<Tokenizer>(TokenizerParts{nfc,
                                                    std::nullopt,
                                                    nullptr,
                                                    {},
                                                    {"", pre_tokenizer},
                                                    TextSpaces::of(coin()),
                                                    false,
                                                    CacheBudget::DEFAULT_LIMIT,
                                                    std::move(vocabulary),
                                                    {},
                                                    nullptr,
                                                    300,
                                                    {}});
}

} // namespace

int main() {
  std::size_t passed = 0;
  for (std::size_t index = 0; index < preset_count(); ++index) {
    const Preset &preset = preset_at(index);
    std::vector<StageProgram> stages;
    if (!read_stages(preset.words(), stages).empty())
      return 1;
    const PreTokenizer tokenizer(stages, unicode_table(preset.unicode));
    for (int round = 0; round < 40; ++round) {
      const bool nfc = coin();
      const std::unique_ptr<Tokenizer> made = make_tokenizer(tokenizer, nfc);
      if (!made)
        return 1;
      const AddedTokenPhases added(random_added());
      std::vector<std::string> kept;
      for (std::size_t left = 1 + below(4); left > 0; --left)
        kept.push_back(random_text(coin() ? 10 : 400));
      const std::vector<Bytes> texts(kept.begin(), kept.end());
      const std::vector<Bytes> one(texts.begin(), texts.begin() + 1);
      if (!agree(*made, OutputKind::IDS, texts, added) ||
          !agree(*made, OutputKind::COUNT, texts, added) ||
          !agree(*made, OutputKind::SPANS, one, added) || !agree_on_counts(tokenizer, texts) ||
          (round == 0 && !exceptions_reach_the_caller(*made))) {
        std::printf("%s\n0 passed, 1 failed\n", preset.names);
        return 1;
      }
      ++passed;
    }
  }
  std::printf("%zu passed, 0 failed\n", passed);
  return 0;
}
