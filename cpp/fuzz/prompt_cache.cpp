// Fuzzes PromptCache with small chunks and a small bound, so that chunks are evicted. The ids
// must be those of pretok_encode and pretok_encode_segments.
#include "capi/handles.hpp"
#include "core/session/prompt_text.hpp"
#include "fuzz/small_texts.hpp"
#include "fuzz/small_tokenizers.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace {

using namespace pretok;

constexpr std::string_view KEYS = "01234"; // of the policies
constexpr std::string_view SALTS[] = {"", "one", "two"};

struct Piece {
  std::string text;
  std::size_t special;
  std::vector<std::uint32_t> ids;
};

Piece piece_of(Input &input) {
  Piece piece{text_of(input), input.below(PRETOK_SPECIAL_CONTENT + 1), {}};
  if (input.below(8) == 0)
    piece.ids.assign(1 + input.below(2), static_cast<std::uint32_t>(input.below(3)));
  return piece;
}

// Changes some pieces of a prompt.
void change(std::vector<Piece> &pieces, Input &input) {
  const auto at = static_cast<std::ptrdiff_t>(input.below(pieces.size() + 1));
  const std::size_t kind = input.below(4);
  if (kind == 0 && !pieces.empty())
    pieces.erase(pieces.begin() + at / 2);
  else if (kind == 1 && !pieces.empty())
    pieces.push_back(pieces[static_cast<std::size_t>(at) / 2]);
  else
    pieces.insert(pieces.begin() + at, piece_of(input));
  if (pieces.size() > 12)
    pieces.erase(pieces.begin());
}

struct Encoded {
  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> ends;
  std::size_t failed = 0; // the segment, and the position in it
  std::size_t position = 0;
  bool is_refused = false;

  bool operator==(const Encoded &other) const {
    if (is_refused || other.is_refused)
      return is_refused == other.is_refused && failed == other.failed &&
             position == other.position;
    return ids == other.ids && ends == other.ends;
  }
};

Encoded expected_of(const pretok_tokenizer *tokenizer, const std::vector<Piece> &pieces,
                    bool joined) {
  std::vector<pretok_segment> segments;
  std::size_t size = 16;
  for (const Piece &piece : pieces) {
    segments.push_back({piece.text.data(), piece.text.size(), piece.ids.data(),
                        piece.ids.size(), static_cast<pretok_special>(piece.special), nullptr});
    size += piece.text.size() + piece.ids.size();
  }
  Encoded result;
  result.ids.resize(size);
  result.ends.resize(pieces.size());
  std::size_t count = 0;
  pretok_error error{};
  const pretok_status status = pretok_encode_segments(
      tokenizer, segments.data(), segments.size(), joined, result.ids.data(), nullptr, size,
      &count, result.ends.data(), &result.failed, &error);
  check(status == PRETOK_OK || status == PRETOK_SPECIAL_TOKEN, "only tokens are refused");
  result.is_refused = status != PRETOK_OK;
  result.position = error.position;
  result.ids.resize(result.is_refused ? 0 : count);
  return result;
}

Encoded found_of(const pretok_tokenizer *tokenizer, PromptCache &prompts,
                 const std::vector<Piece> &pieces, bool joined, std::string_view salt) {
  PromptText text(joined);
  for (const Piece &piece : pieces)
    text.add(reinterpret_cast<const std::uint8_t *>(piece.text.data()), piece.text.size(),
             tokenizer->policies[piece.special], KEYS.substr(piece.special, 1),
             piece.ids.data(), piece.ids.size());
  IdBuffer ids;
  const CacheLease cache(tokenizer->core->caches());
  const PromptCache::Result found =
      text.encode(prompts, *tokenizer->core, tokenizer->policies[PRETOK_SPECIAL_ALLOW], salt,
                  *cache, ids, [] {});
  Encoded result;
  if (found.refusal.token != nullptr) {
    result.is_refused = true;
    result.position = found.refusal.position;
    result.failed = text.locate(result.position);
    return result;
  }
  check(found.reused_prefix <= found.reused && found.reused <= ids.size(),
        "reused ids are ids");
  result.ids.assign(ids.data(), ids.data() + ids.size());
  result.ends.assign(found.ends.begin(), found.ends.end());
  return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const pretok_tokenizer *const tokenizer = tokenizer_of(input.byte());
  PromptCacheSettings settings;
  settings.max_bytes = std::size_t{1} << (14 + input.below(6));
  settings.min_window = 1 + input.below(40);
  settings.max_window = settings.min_window + input.below(60);
  settings.hash_mask = input.coin() ? ~std::uint64_t{0} : 15;
  PromptCache prompts(settings);
  std::vector<Piece> pieces;
  for (std::size_t steps = 0; steps < 40 && input.left() != 0; ++steps) {
    change(pieces, input);
    const bool joined = input.below(8) != 0;
    const std::string_view salt = SALTS[input.below(3)];
    check(found_of(tokenizer, prompts, pieces, joined, salt) ==
              expected_of(tokenizer, pieces, joined),
          "the ids are those without a cache");
    check(prompts.statistics().bytes_held <= settings.max_bytes, "the bound holds");
    if (input.below(16) == 0)
      prompts.clear();
  }
  return 0;
}
