// Lets each allocation of the library fail in turn. The call must then return PRETOK_OK or
// PRETOK_OUT_OF_MEMORY, leak no memory, and leave all earlier objects usable.
#include "pretok.h"
#include "small_vocabulary.h"
#include "tests/run_out.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

pretok_error error;
char file[1 << 14];
std::size_t file_size;
std::string text; // contains long words and many distinct words
std::vector<std::uint32_t> expected_ids;

const pretok_special_token SPECIAL[] = {{"<|end|>", 7, 1000}, {"<|x|>", 5, 1001}};

// Returns whether `status` is PRETOK_OK. Counts a failure of the test if it is neither
// PRETOK_OK nor PRETOK_OUT_OF_MEMORY.
bool is_made(pretok_status status) {
  const bool ok = status == PRETOK_OK || status == PRETOK_OUT_OF_MEMORY;
  if (!ok)
    std::printf("%s\n", error.message);
  CHECK(ok);
  CHECK(status == PRETOK_OK || error.status == PRETOK_OUT_OF_MEMORY);
  return status == PRETOK_OK;
}

pretok_load_options load_options(const char *normalizer) {
  pretok_load_options options{};
  options.struct_size = sizeof options;
  options.preset = "cl100k";
  options.normalizer = normalizer;
  options.special_tokens = SPECIAL;
  options.special_token_count = 2;
  return options;
}

pretok_encode_options allowing() {
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = PRETOK_SPECIAL_ALLOW;
  return options;
}

// Each function from here to stream_text makes one call, or the calls of one stream. It checks
// the result, frees its memory, and returns whether no allocation failed.
bool load_and_free(const char *normalizer) {
  const pretok_load_options options = load_options(normalizer);
  pretok_tokenizer *tokenizer = nullptr;
  const bool ok =
      is_made(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &error));
  CHECK(ok == (tokenizer != nullptr));
  pretok_tokenizer_free(tokenizer);
  CHECK(live == 0);
  return ok;
}

bool load_file(const char *path) {
  const pretok_load_options options = load_options(nullptr);
  pretok_tokenizer *tokenizer = nullptr;
  const pretok_status status = pretok_tokenizer_from_file(path, &options, &tokenizer, &error);
  pretok_tokenizer_free(tokenizer);
  CHECK(live == 0);
  // The C library allocates memory to open a file. If this allocation fails, PRETOK_CANNOT_READ
  // is a correct result.
  if (status == PRETOK_CANNOT_READ) {
    CHECK(failed);
    return false;
  }
  return is_made(status);
}

std::vector<pretok_span> spans;

bool split(const char *preset) {
  pretok_pre_tokenizer *pre_tokenizer = nullptr;
  bool ok = is_made(pretok_pre_tokenizer_named(preset, nullptr, &pre_tokenizer, &error));
  if (ok) {
    std::size_t count = 0;
    ok = is_made(pretok_spans(pre_tokenizer, text.data(), text.size(), spans.data(),
                              spans.size(), &count, &error));
  }
  pretok_pre_tokenizer_free(pre_tokenizer);
  CHECK(live == 0);
  return ok;
}

std::vector<std::uint32_t> room;

// If `much_room`, the output array has room for the ids of any text of this size. Otherwise it
// has room for exactly the expected ids.
bool encode(const pretok_tokenizer *tokenizer, bool much_room) {
  const pretok_encode_options options = allowing();
  std::size_t count = 0;
  const bool ok =
      is_made(pretok_encode(tokenizer, text.data(), text.size(), &options, room.data(),
                            much_room ? room.size() : expected_ids.size(), &count, &error));
  CHECK(!ok || (count == expected_ids.size() &&
                std::memcmp(room.data(), expected_ids.data(), count * sizeof room[0]) == 0));
  return ok;
}

bool encode_new(const pretok_tokenizer *tokenizer) {
  const pretok_encode_options options = allowing();
  std::size_t count = 0;
  std::uint32_t *ids = nullptr;
  const bool ok = is_made(
      pretok_encode_new(tokenizer, text.data(), text.size(), &options, &ids, &count, &error));
  CHECK(!ok || (count == expected_ids.size() &&
                std::memcmp(ids, expected_ids.data(), count * sizeof *ids) == 0));
  pretok_ids_free(ids);
  return ok;
}

bool count(const pretok_tokenizer *tokenizer) {
  const pretok_encode_options options = allowing();
  std::size_t found = 0;
  const bool ok =
      is_made(pretok_count(tokenizer, text.data(), text.size(), &options, &found, &error));
  CHECK(!ok || found == expected_ids.size());
  return ok;
}

bool make_set(const pretok_tokenizer *tokenizer) {
  const char *const texts[] = {"<|x|>"};
  const std::size_t sizes[] = {5};
  pretok_special_set *set = nullptr;
  const bool ok = is_made(pretok_special_set_new(tokenizer, texts, sizes, 1, &set, &error));
  pretok_special_set_free(set);
  CHECK(live == 0);
  return ok;
}

// Encodes by a stream. Repeats each call until it succeeds: a call that fails must leave the
// stream unchanged.
bool stream_ids(const pretok_tokenizer *tokenizer) {
  const pretok_encode_options options = allowing();
  pretok_encode_stream *stream = nullptr;
  if (!is_made(pretok_encode_stream_new(tokenizer, &options, &stream, &error)))
    return false;
  bool all_ok = true;
  std::size_t total = 0;
  const auto add = [&](const auto &next) {
    const std::uint32_t *ids = nullptr;
    std::size_t found = 0;
    while (!is_made(next(&ids, &found)))
      all_ok = false;
    if (found != 0)
      std::memcpy(room.data() + total, ids, found * sizeof *ids);
    total += found;
  };
  constexpr std::size_t CHUNK = 700;
  for (std::size_t at = 0; at < text.size(); at += CHUNK)
    add([&](const std::uint32_t **ids, std::size_t *found) {
      return pretok_encode_stream_feed(stream, text.data() + at,
                                       std::min(CHUNK, text.size() - at), ids, found, &error);
    });
  add([&](const std::uint32_t **ids, std::size_t *found) {
    return pretok_encode_stream_finish(stream, ids, found, &error);
  });
  CHECK(total == expected_ids.size() &&
        std::memcmp(room.data(), expected_ids.data(), total * sizeof room[0]) == 0);
  pretok_encode_stream_free(stream);
  return all_ok;
}

char decoded[1 << 17];

bool decode(const pretok_tokenizer *tokenizer) {
  std::size_t size = 0;
  const bool ok = is_made(pretok_decode(tokenizer, expected_ids.data(), expected_ids.size(),
                                        false, decoded, sizeof decoded, &size, &error));
  CHECK(!ok || (size == text.size() && std::memcmp(decoded, text.data(), size) == 0));
  return ok;
}

bool stream_text(const pretok_tokenizer *tokenizer) {
  pretok_decode_stream *stream = nullptr;
  if (!is_made(pretok_decode_stream_new(tokenizer, false, &stream, &error)))
    return false;
  bool all_ok = true;
  std::size_t total = 0;
  for (std::size_t at = 0; at <= expected_ids.size(); at += 50) {
    const char *some = nullptr;
    std::size_t size = 0;
    while (!is_made(pretok_decode_stream_feed(
        stream, expected_ids.data() + at, std::min<std::size_t>(50, expected_ids.size() - at),
        &some, &size, &error)))
      all_ok = false;
    std::memcpy(decoded + total, some, size);
    total += size;
  }
  const char *some = nullptr;
  std::size_t size = 0;
  while (!is_made(pretok_decode_stream_finish(stream, &some, &size, &error)))
    all_ok = false;
  CHECK(size == 0 && total == text.size() && std::memcmp(decoded, text.data(), total) == 0);
  pretok_decode_stream_free(stream);
  return all_ok;
}

pretok_tokenizer *load(const char *normalizer) {
  const pretok_load_options options = load_options(normalizer);
  pretok_tokenizer *tokenizer = nullptr;
  CHECK(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &error) ==
        PRETOK_OK);
  return tokenizer;
}

// Computes expected_ids, with a tokenizer that never runs out of memory.
void set_expected(const char *normalizer) {
  pretok_tokenizer *const tokenizer = load(normalizer);
  const pretok_encode_options options = allowing();
  std::size_t found = 0;
  room.resize(pretok_encode_bound(tokenizer, text.size()));
  CHECK(pretok_encode(tokenizer, text.data(), text.size(), &options, room.data(), room.size(),
                      &found, &error) == PRETOK_OK);
  expected_ids.assign(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(found));
  pretok_tokenizer_free(tokenizer);
}

// Lets the allocations of each call fail, first with a new tokenizer for each run, then with
// one tokenizer whose caches grow from run to run.
void run_all(const char *normalizer) {
  set_expected(normalizer);
  pretok_tokenizer *tokenizer = nullptr;
  const auto fresh = [&] {
    counting = false;
    pretok_tokenizer_free(tokenizer);
    tokenizer = load(normalizer);
    live = 0;
    counting = true;
  };
  const std::vector<std::pair<const char *, std::function<bool()>>> calls = {
      {"encode", [&] { return encode(tokenizer, false); }},
      {"encode with much room", [&] { return encode(tokenizer, true); }},
      {"encode into a new array", [&] { return encode_new(tokenizer); }},
      {"count", [&] { return count(tokenizer); }},
      {"encode stream", [&] { return stream_ids(tokenizer); }}};
  for (const auto &[what, call] : calls) {
    tokenizer = load(normalizer);
    run_out(what, [&, &work = call] {
      fresh();
      return work();
    });
    for (const auto &[name, other] : calls) // the tokenizer must still be usable
      CHECK(other());
    pretok_tokenizer_free(tokenizer);
    tokenizer = load(normalizer);
    run_out("the same with one tokenizer", call);
    CHECK(call());
    pretok_tokenizer_free(tokenizer);
  }
  tokenizer = load(normalizer);
  run_out("special set", [&] { return make_set(tokenizer); });
  if (normalizer == nullptr) {
    run_out("decode", [&] { return decode(tokenizer); });
    run_out("decode stream", [&] {
      fresh();
      return stream_text(tokenizer);
    });
    // The first stream has made the tables of the decoder, which the tokenizer keeps.
    run_out("the same with one tokenizer", [&] {
      live = 0;
      const bool ok = stream_text(tokenizer);
      CHECK(live == 0);
      return ok;
    });
  }
  pretok_tokenizer_free(tokenizer);
}

// A call that ran out of memory must release its cache budget: the next call has as much cache
// as the first call of another tokenizer.
void failures_hold_no_cache() {
  std::size_t expected = 0;
  const auto at = [&expected](long long allowed) {
    pretok_tokenizer *const tokenizer = load(nullptr);
    failed = false;
    until_failure = allowed;
    counting = true;
    encode(tokenizer, false);
    counting = false;
    pretok_tokenizer_trim(tokenizer);
    CHECK(pretok_tokenizer_cache_bytes(tokenizer) == 0);
    encode(tokenizer, false);
    if (allowed < 0)
      expected = pretok_tokenizer_cache_bytes(tokenizer);
    CHECK(expected != 0 && pretok_tokenizer_cache_bytes(tokenizer) == expected);
    pretok_tokenizer_free(tokenizer);
    return failed;
  };
  at(-1);
  for (long long allowed = 0; at(allowed); ++allowed)
    ;
}

} // namespace

int main() {
  file_size = write_small_vocabulary(file);
  for (int i = 0; i < 400; ++i)
    text += (i % 7 == 0   ? " hello"
             : i % 5 == 0 ? " the world"
                          : " \xE4\xB8\xAD") +
            std::to_string(i * 7919) + (i % 11 == 0 ? "caf\xC3\xA9s and others<|x|>" : ".");
  text += std::string(2000, 'a') + " e" + std::string(600, '=') + "\n\n";
  std::printf("%zu bytes\n", text.size());
#if !defined(PRETOK_COUNTS_MALLOC)
  std::printf("only operator new fails in this build, not malloc\n");
#endif
  static const char PATH[] = "allocation_test.tiktoken";
  std::FILE *const to = std::fopen(PATH, "wb");
  CHECK(to != nullptr && std::fwrite(file, 1, file_size, to) == file_size);
  if (to != nullptr)
    std::fclose(to);
  spans.resize(text.size());
  set_expected(nullptr); // also detects the instruction set, which allocates only once
  for (const bool forever : {false, true}) {
    stays_out = forever;
    run_out("load", [] { return load_and_free(nullptr); });
    run_out("load with NFC", [] { return load_and_free("NFC"); });
    run_out("load from a file", [] { return load_file(PATH); });
    for (const char *preset : {"gpt2", "o200k", "deepseek-v3"})
      run_out(preset, [preset] { return split(preset); });
  }
  stays_out = false;
  std::remove(PATH);
  failures_hold_no_cache();
  run_all(nullptr);
  text += "e\xCC\x81 \xE1\x84\x80\xE1\x85\xA1 o\xCC\x81<|x|>";
  run_all("NFC");
  return failures != 0;
}
