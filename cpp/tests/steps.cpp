// A .pretok file with the normalizers and decoders of a tokenizer.json: each allocation fails
// in turn, and each byte of the file is damaged. The call must then return an error, or a
// correct result, and leave all earlier objects usable.
#include "pretok.h"
#include "tests/run_out.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace {

pretok_error error;

std::string varint(std::size_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7)
    bytes += static_cast<char>(0x80 | (value & 0x7F));
  return bytes + static_cast<char>(value);
}

std::string sized(const std::string &text) { return varint(text.size()) + text; }

std::uint32_t crc32_of(const std::string &data) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char each : data) {
    crc ^= static_cast<unsigned char>(each);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

// Returns a file with this body.
std::string with_header(const std::string &body) {
  std::string file = "\x89PRETOK\n";
  for (const std::uint32_t value : {std::uint32_t{4}, crc32_of(body)})
    for (unsigned shift = 0; shift < 32; shift += 8)
      file += static_cast<char>(value >> shift);
  return file + body;
}

const std::string MARK = "\xE2\x96\x81";

// Returns the body of a model whose tokens are text.
std::string body() {
  std::string bytes = varint(36) + sized("gpt2") + sized("16.0"); // text and steps
  bytes += varint(0) + varint(0);                                 // no ids around a text
  bytes += varint(1) + sized("<S>") + varint(1) + varint(3);      // special and normalized
  // The model: unknown characters become token 0, adjacent ones only one.
  bytes += varint(1) + varint(1) + varint(2) + sized("") + sized("");
  // Strip, Lowercase, NFKC, BertNormalizer, Replace
  bytes += varint(5) + varint(8) + varint(1) + varint(1) + varint(4) + varint(2) + varint(9) +
           varint(1) + varint(0) + varint(2) + varint(1) + varint(11) + sized(" ") + varint(0) +
           sized(MARK);
  bytes += varint(1) + sized(MARK) + varint(0); // Metaspace, always
  // Replace, ByteFallback, Fuse, Replace of two characters, Strip, Metaspace
  bytes += varint(7) + varint(4) + sized(MARK) + varint(0) + sized(" ") + varint(1) +
           varint(2) + varint(4) + sized("bb") + varint(0) + sized("b") + varint(3) +
           sized(" ") + varint(1) + varint(0) + varint(5) + sized("_") + varint(0);
  const std::string tokens[] = {"<unk>", "<S>", MARK,     "a",      "b",
                                "c",     "_",   "<0xC3>", "<0xA9>", "ab"};
  bytes += varint(std::size(tokens));
  for (const std::string &token : tokens)
    bytes += varint(token.size());
  for (const std::string &token : tokens)
    bytes += token;
  // Three merges: "ab" is a literal; "▁ab" and "abc" are new.
  bytes += varint(3) + varint(1) + varint(0) + varint(9) + "\3\4" + "\2\x09" + "\x09\5";
  return bytes + varint(1) + varint(0) + varint(std::size(tokens) + 2);
}

// Returns whether `status` is PRETOK_OK. Only a lack of memory may be another result.
bool is_done(pretok_status status) {
  if (status != PRETOK_OK && status != PRETOK_OUT_OF_MEMORY)
    std::printf("%s\n", error.message);
  CHECK(status == PRETOK_OK || status == PRETOK_OUT_OF_MEMORY);
  return status == PRETOK_OK;
}

std::string file;
std::string text;
std::vector<std::uint32_t> expected_ids;
std::string expected_text;
std::vector<std::uint32_t> room;
std::vector<char> characters;

pretok_encode_options allowing() {
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = PRETOK_SPECIAL_ALLOW;
  return options;
}

pretok_tokenizer *load() {
  pretok_tokenizer *tokenizer = nullptr;
  return is_done(pretok_tokenizer_from_memory(file.data(), file.size(), nullptr, &tokenizer,
                                              &error))
             ? tokenizer
             : nullptr;
}

bool encode(const pretok_tokenizer *tokenizer) {
  const pretok_encode_options options = allowing();
  std::size_t count = 0;
  if (!is_done(pretok_encode(tokenizer, text.data(), text.size(), &options, room.data(),
                             room.size(), &count, &error)))
    return false;
  CHECK(count == expected_ids.size() &&
        std::equal(expected_ids.begin(), expected_ids.end(), room.begin()));
  return true;
}

bool decode(const pretok_tokenizer *tokenizer) {
  std::size_t size = 0;
  if (!is_done(pretok_decode(tokenizer, expected_ids.data(), expected_ids.size(), false,
                             characters.data(), characters.size(), &size, &error)))
    return false;
  CHECK(size == expected_text.size() &&
        std::memcmp(characters.data(), expected_text.data(), size) == 0);
  return true;
}

// Repeats each call until it succeeds: a call that fails must leave the stream unchanged.
bool stream(const pretok_tokenizer *tokenizer) {
  pretok_decode_stream *decoding = nullptr;
  if (!is_done(pretok_decode_stream_new(tokenizer, false, &decoding, &error)))
    return false;
  bool all_ok = true;
  std::size_t total = 0;
  const char *some = nullptr;
  std::size_t size = 0;
  const auto add = [&] {
    std::memcpy(characters.data() + total, some, size);
    total += size;
  };
  for (std::size_t at = 0; at < expected_ids.size(); at += 7) {
    while (!is_done(pretok_decode_stream_feed(
        decoding, expected_ids.data() + at, std::min<std::size_t>(7, expected_ids.size() - at),
        &some, &size, &error)))
      all_ok = false;
    add();
  }
  while (!is_done(pretok_decode_stream_finish(decoding, &some, &size, &error)))
    all_ok = false;
  add();
  CHECK(total == expected_text.size() &&
        std::memcmp(characters.data(), expected_text.data(), total) == 0);
  pretok_decode_stream_free(decoding);
  return all_ok;
}

// Computes the expected results, with a tokenizer that never runs out of memory.
void set_expected() {
  pretok_tokenizer *const tokenizer = load();
  CHECK(tokenizer != nullptr);
  const pretok_encode_options options = allowing();
  room.resize(pretok_encode_bound(tokenizer, text.size()));
  std::size_t count = 0;
  CHECK(pretok_encode(tokenizer, text.data(), text.size(), &options, room.data(), room.size(),
                      &count, &error) == PRETOK_OK);
  expected_ids.assign(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
  std::size_t size = 0;
  CHECK(pretok_decode(tokenizer, expected_ids.data(), count, false, nullptr, 0, &size,
                      &error) == PRETOK_OK);
  characters.resize(size + 1);
  CHECK(pretok_decode(tokenizer, expected_ids.data(), count, false, characters.data(),
                      characters.size(), &size, &error) == PRETOK_OK);
  expected_text.assign(characters.data(), size);
  // The special token is found in the normalized text, and refused at its place.
  CHECK(pretok_count(tokenizer, text.data(), text.size(), nullptr, &count, &error) ==
        PRETOK_SPECIAL_TOKEN);
  CHECK(error.position == text.find("<S>"));
  CHECK(std::strstr(error.message, "\"<S>\"") != nullptr);
  pretok_tokenizer_free(tokenizer);
}

void lack_memory() {
  run_out("load", [] {
    pretok_tokenizer *const tokenizer = load();
    pretok_tokenizer_free(tokenizer);
    CHECK(live == 0);
    return tokenizer != nullptr;
  });
  pretok_tokenizer *tokenizer = nullptr;
  // A new tokenizer for each run, because a tokenizer keeps the pages of its normalizer.
  const auto fresh = [&](bool (*work)(const pretok_tokenizer *)) {
    return [&tokenizer, work] {
      counting = false;
      pretok_tokenizer_free(tokenizer);
      tokenizer = load();
      live = 0;
      counting = true;
      return work(tokenizer);
    };
  };
  run_out("encode", fresh(encode));
  CHECK(encode(tokenizer));
  run_out("decode", fresh(decode));
  run_out("decode stream", fresh(stream));
  CHECK(encode(tokenizer) && decode(tokenizer) && stream(tokenizer));
  pretok_tokenizer_free(tokenizer);
}

void use_damaged(const std::string &damaged) {
  const std::string whole = with_header(damaged);
  pretok_tokenizer *tokenizer = nullptr;
  const pretok_status status =
      pretok_tokenizer_from_memory(whole.data(), whole.size(), nullptr, &tokenizer, &error);
  if (status != PRETOK_OK) {
    CHECK(status != PRETOK_INTERNAL && error.message[0] != '\0');
    return;
  }
  const pretok_encode_options options = allowing();
  std::uint32_t *ids = nullptr;
  std::size_t count = 0;
  if (pretok_encode_new(tokenizer, text.data(), 64, &options, &ids, &count, &error) ==
      PRETOK_OK) {
    std::size_t size = 0;
    CHECK(pretok_decode(tokenizer, ids, count, false, nullptr, 0, &size, &error) == PRETOK_OK);
    pretok_ids_free(ids);
  }
  pretok_tokenizer_free(tokenizer);
}

void damage() {
  const std::string whole = body();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    pretok_tokenizer *tokenizer = nullptr;
    const std::string truncated = with_header(whole.substr(0, at));
    CHECK(pretok_tokenizer_from_memory(truncated.data(), truncated.size(), nullptr, &tokenizer,
                                       &error) != PRETOK_OK);
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      use_damaged(changed);
    }
  }
}

} // namespace

int main() {
  file = with_header(body());
  text = "  Ab C<S>  abc  \xC3\x89 e\xCC\x81\xEF\xAC\x81 \xE4\xB8\xAD" + std::string("bb_ ");
  for (int i = 0; i < 40; ++i)
    text += " abc ab\xC3\xA9 B" + std::to_string(i) + "bb";
  set_expected();
  lack_memory();
  damage();
  return failures != 0;
}
