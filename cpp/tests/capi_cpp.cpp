// Tests the C++ wrapper, compiled without exceptions and RTTI if the compiler can.
#include "pretok.hpp"
#include "small_vocabulary.h"

#include <cstdio>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

int failures = 0;

void check(bool condition, const char *what, int line) {
  if (condition)
    return;
  std::printf("%s:%d: %s\n", __FILE__, line, what);
  ++failures;
}
#define CHECK(condition) check((condition), #condition, __LINE__)

static_assert(std::is_move_constructible_v<pretok::Tokenizer> &&
              !std::is_copy_constructible_v<pretok::Tokenizer>);
static_assert(std::is_nothrow_move_assignable_v<pretok::EncodeStream> &&
              !std::is_copy_constructible_v<pretok::EncodeStream>);

pretok::Tokenizer load() {
  std::string file(1 << 14, '\0');
  file.resize(write_small_vocabulary(file.data()));
  pretok::LoadOptions options;
  options.preset = "cl100k";
  options.special_tokens = {{"<|end|>", 1000}, {"<|x|>", 1001}};
  auto loaded = pretok::Tokenizer::from_memory(file, options);
  CHECK(loaded.ok());
  auto plain = pretok::Tokenizer::from_memory(file, "gpt2");
  CHECK(plain && plain->vocab_size() == SMALL_COUNT);
  CHECK(std::string(plain->preset()) == "gpt2");
  return std::move(*loaded);
}

void test_pre_tokenizer() {
  auto o200k = pretok::PreTokenizer::named("o200k");
  CHECK(o200k.ok());
  const auto spans = o200k->spans("Hello world!");
  CHECK(spans && spans->size() == 3 && (*spans)[1].start == 5 && (*spans)[1].end == 11);
  CHECK(o200k->spans({})->empty());
  const auto wrong = pretok::PreTokenizer::named("o200k", "1.1");
  CHECK(!wrong && wrong.error().status == PRETOK_UNKNOWN_NAME);
  const std::uint32_t words[] = {1, 2, 3};
  const auto damaged = pretok::PreTokenizer::from_program(words, 3, "16.0");
  CHECK(!damaged && damaged.error().status == PRETOK_MALFORMED);
  pretok::PreTokenizer moved = std::move(*o200k);
  CHECK(moved.spans("a b")->size() == 2);
}

void test_tokenizer(const pretok::Tokenizer &tokenizer) {
  CHECK(tokenizer.vocab_size() == 1002);
  CHECK(std::string(tokenizer.preset()) == "cl100k");
  CHECK(*tokenizer.token_bytes(1000) == "<|end|>");
  CHECK(!tokenizer.token_bytes(500));
  CHECK(*tokenizer.token_id("<|x|>") == 1001);
  CHECK(tokenizer.token_id("zz").error().status == PRETOK_UNKNOWN_NAME);
  CHECK(tokenizer.is_special(1000) && !tokenizer.is_special(0));

  const std::string text("hello the\0 world", 16);
  const auto ids = tokenizer.encode(text);
  CHECK(ids && *tokenizer.count(text) == ids->size());
  CHECK(*tokenizer.decode(*ids) == text);
  CHECK(tokenizer.encode({})->empty());
  CHECK(tokenizer.decode(std::vector<std::uint32_t>())->empty());
  // More ids than the first buffer has room for.
  const std::string bytes(1000, '\xFF');
  CHECK(tokenizer.encode(bytes)->size() == 1000);
  for (const std::size_t size : {2000U, 2040U, 2044U, 2048U, 2100U, 100000U}) {
    const auto many = tokenizer.encode(std::string(size, '\xFF'));
    CHECK(many->size() == size && many->capacity() == size);
  }
  CHECK(tokenizer.cache_limit() == std::size_t{128} << 20);
  CHECK(tokenizer.cache_bytes() != 0 && tokenizer.cache_bytes() <= tokenizer.cache_limit());
  tokenizer.trim();
  CHECK(tokenizer.cache_bytes() == 0);

  const auto refused = tokenizer.encode("a <|end|>");
  CHECK(!refused && refused.error().status == PRETOK_SPECIAL_TOKEN);
  CHECK(refused.error().position == 2);
  CHECK(refused.error().message.find("<|end|>") != std::string::npos);
  CHECK(!tokenizer.count("a <|end|>"));
  pretok::EncodeOptions options;
  options.special = PRETOK_SPECIAL_ALLOW;
  options.add_special_tokens = true; // the file has no template
  CHECK(*tokenizer.count("a<|end|>", options) == 2);
  CHECK(*tokenizer.decode({97, 1000}, true) == "a");
  const auto only = pretok::SpecialSet::of(tokenizer, {"<|x|>"});
  options.allowed = &*only;
  CHECK(tokenizer.encode("<|x|>", options)->front() == 1001);
  CHECK(tokenizer.encode("<|end|>", options)->front() == '<');
  CHECK(pretok::SpecialSet::of(tokenizer, {"<|y|>"}).error().status == PRETOK_UNKNOWN_NAME);

  const auto unknown = tokenizer.decode({97, 999});
  CHECK(!unknown && unknown.error().status == PRETOK_UNKNOWN_ID &&
        unknown.error().position == 1);
}

void test_streams(const pretok::Tokenizer &tokenizer) {
  const std::string text = "hello the world, caf\xC3\xA9 and 1234 the \xE4\xB8\xAD";
  const auto expected = tokenizer.encode(text);
  for (std::size_t step = 1; step <= text.size(); ++step) {
    auto encoder = pretok::EncodeStream::of(tokenizer);
    auto decoder = pretok::DecodeStream::of(tokenizer);
    CHECK(encoder && decoder);
    std::vector<std::uint32_t> ids;
    std::string back;
    for (std::size_t at = 0; at < text.size(); at += step) {
      const auto some = encoder->feed(std::string_view(text).substr(at, step));
      CHECK(some.ok());
      ids.insert(ids.end(), some->begin(), some->end());
    }
    const auto last = encoder->finish();
    ids.insert(ids.end(), last->begin(), last->end());
    CHECK(ids == *expected);
    CHECK(encoder->feed("a").error().status == PRETOK_FINISHED);
    CHECK(encoder->finish().error().status == PRETOK_FINISHED);
    for (const std::uint32_t id : ids)
      back += *decoder->feed(id);
    back += *decoder->finish();
    CHECK(back == text);
    CHECK(decoder->feed(97).error().status == PRETOK_FINISHED);
    CHECK(decoder->finish().error().status == PRETOK_FINISHED);
  }
}

void test_queries(const pretok::Tokenizer &tokenizer) {
  CHECK(tokenizer.kind() == PRETOK_KIND_BYTES);
  CHECK(*tokenizer.token_type(1000) == PRETOK_TYPE_CONTROL);
  CHECK(*tokenizer.token_type(97) == PRETOK_TYPE_NORMAL);
  CHECK(tokenizer.token_type(500).error().status == PRETOK_UNKNOWN_ID);
  CHECK(*tokenizer.rendered_bytes(97) == "a" && !tokenizer.rendered_bytes(500));
  CHECK(*tokenizer.token_score(97) == 0 && !tokenizer.token_score(500));
  const auto facts = tokenizer.token_facts();
  CHECK(facts && facts->roles[PRETOK_ROLE_BOS] == PRETOK_NO_ID && !facts->add_bos);
  // No file states a role of <|end|>, but its text does.
  CHECK(facts->roles[PRETOK_ROLE_EOT] == 1000 && facts->end_id_count == 1 &&
        facts->end_ids[0] == 1000);
  CHECK(facts->chat_template == nullptr && facts->max_token_bytes >= 7);
  const auto all = tokenizer.vocabulary();
  CHECK(all && all->count == tokenizer.vocab_size() && all->types[1001] == PRETOK_TYPE_CONTROL);
  CHECK(std::string(all->bytes + all->offsets[1000], 7) == "<|end|>");
  CHECK(all->offsets[501] == all->offsets[500] && all->types[500] == PRETOK_TYPE_UNDEFINED);
  for (std::size_t i = 1; i < all->sorted_count; ++i)
    CHECK(*tokenizer.rendered_bytes(all->sorted[i - 1]) <=
          *tokenizer.rendered_bytes(all->sorted[i]));
  pretok_vocabulary old{};
  pretok_error error;
  CHECK(pretok_vocabulary_of(tokenizer.get(), &old, &error) == PRETOK_INVALID_ARGUMENT);
  old.struct_size = sizeof old.struct_size + sizeof old.count; // of an older header
  CHECK(pretok_vocabulary_of(tokenizer.get(), &old, &error) == PRETOK_OK);
  CHECK(old.count == all->count && old.bytes == nullptr);
}

void test_decode_options(const pretok::Tokenizer &tokenizer) {
  pretok::DecodeOptions options;
  options.skip_special = true;
  options.clean_up = true;
  options.stop = {"lo w", "END"};
  auto stream = pretok::DecodeStream::of(tokenizer, options);
  CHECK(stream.ok());
  std::string text;
  for (const char character : std::string("a . hello"))
    text += *stream->feed(static_cast<std::uint8_t>(character));
  CHECK(text == "a. hel" && stream->size() == 9 && stream->feed(1000)->empty());
  auto copy = stream->clone();
  CHECK(copy && *copy->finish() == "lo" && copy->feed(97).error().status == PRETOK_FINISHED);
  CHECK(copy->reset() && copy->size() == 0 && *copy->feed(97) == "a");
  const std::uint32_t ids[] = {' ', 'w', '!'};
  CHECK(stream->feed(ids, 3)->empty() && stream->stopped() == 0 && stream->size() == 12);
  CHECK(stream->feed(97).error().status == PRETOK_FINISHED && stream->finish()->empty());
  CHECK(stream->reset() && stream->stopped() == PRETOK_NO_STOP);
  CHECK(*stream->feed(97) == "a" && *stream->rewind(1) == 1 && stream->size() == 0);
  CHECK(stream->rewind(1).error().status == PRETOK_INVALID_ARGUMENT);
  options.stop = {""};
  CHECK(pretok::DecodeStream::of(tokenizer, options).error().status == PRETOK_INVALID_ARGUMENT);
  const auto texts = tokenizer.decode_batch({{97, 98}, {}, {1000}}, true, 2);
  CHECK(texts && *texts == std::vector<std::string>({"ab", "", ""}));
  CHECK(tokenizer.decode_batch({{97}, {999}}).error().position == 1);
  CHECK(tokenizer.decode_batch({})->empty());
}

void test_segments(const pretok::Tokenizer &tokenizer) {
  const auto only = pretok::SpecialSet::of(tokenizer, {"<|x|>"});
  std::vector<pretok::TextSegment> segments(4);
  segments[0].text = "<|end|><|x|>";
  segments[0].allowed = &*only;
  segments[1].text = "<|x|><|e";
  segments[1].special = PRETOK_SPECIAL_CONTENT;
  segments[2].text = "nd|>";
  segments[2].special = PRETOK_SPECIAL_ALLOW;
  segments[3].ids = {7, 8};
  const auto found = tokenizer.encode_segments(segments);
  CHECK(found && found->ends.size() == 4 && found->ids.size() == found->spans.size());
  const std::size_t last = found->ends[0];
  CHECK(found->ids[last - 1] == 1001 && found->spans[last - 1].start == 7);
  for (std::size_t i = last; i < found->ends[2]; ++i)
    CHECK(found->ids[i] < 1000); // neither segment holds a whole token that it may hold
  CHECK(found->ends[3] == found->ends[2] + 2 && found->ids.back() == 8);
  CHECK(*tokenizer.decode(found->ids.data(), found->ends[2]) ==
        std::string("<|end|><|x|><|x|><|end|>"));
  segments[2].special = PRETOK_SPECIAL_RAISE;
  segments[2].text = "<|end|>";
  CHECK(tokenizer.encode_segments(segments, false).error().status == PRETOK_SPECIAL_TOKEN);
  CHECK(tokenizer.encode_segments({})->ids.empty());
  // More ids than bytes / 2 + 64 take a second call.
  const std::string digits(300, '\x01');
  segments.resize(1);
  segments[0] = {};
  segments[0].text = digits;
  CHECK(tokenizer.encode_segments(segments)->ids == *tokenizer.encode(digits));
  CHECK(tokenizer.encode_spans(digits)->ids.size() == tokenizer.encode(digits)->size());
}

void test_loading() {
  const auto none = pretok::Tokenizer::from_file("no such file", "gpt2");
  CHECK(!none && none.error().status == PRETOK_CANNOT_READ);
  CHECK(!pretok::Tokenizer::from_memory({}, "gpt2"));
  const auto split = pretok::PreTokenizer::named("llama3");
  std::string file(1 << 14, '\0');
  file.resize(write_small_vocabulary(file.data()));
  pretok::LoadOptions options;
  options.pre_tokenizer = &*split;
  options.normalizer = "NFC";
  const auto loaded = pretok::Tokenizer::from_memory(file, options);
  CHECK(loaded && std::string(loaded->preset()) == "llama3");
  CHECK(loaded->encode("e\xCC\x81")->size() == 1);
}

void test_threads(const pretok::Tokenizer &tokenizer) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += " hello the " + std::to_string(i * 7919) + "\n";
  const auto expected = tokenizer.encode(text);
  bool same[4] = {};
  std::vector<std::thread> threads;
  for (bool &is_same : same)
    threads.emplace_back([&] {
      is_same = true;
      for (int round = 0; round < 5; ++round) {
        const auto ids = tokenizer.encode(text);
        is_same = is_same && ids && *ids == *expected && *tokenizer.decode(*ids) == text;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const bool is_same : same)
    CHECK(is_same);
}

} // namespace

int main() {
  const pretok::Tokenizer tokenizer = load();
  test_pre_tokenizer();
  test_tokenizer(tokenizer);
  test_streams(tokenizer);
  test_queries(tokenizer);
  test_decode_options(tokenizer);
  test_segments(tokenizer);
  test_loading();
  test_threads(tokenizer);
  return failures != 0;
}
