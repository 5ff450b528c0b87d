// Fuzzes the reader of SentencePiece models. Each file must give an error or a tokenizer that
// works. The merges of a valid file must give the ids that its scores define. So must a
// PieceMerge.
#include "formats/piece_merge.hpp"
#include "fuzz/files.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

namespace {

using namespace pretok;

using Ids = std::vector<std::uint32_t>;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7)
    bytes += static_cast<char>(0x80 | (value & 0x7F));
  return bytes + static_cast<char>(value);
}

// Returns a protobuf field with a number.
std::string number(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}

// Returns a protobuf field with bytes.
std::string bytes(std::uint32_t field, const std::string &value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

struct Scored {
  std::string text;
  std::uint8_t
      score; // 100 minus the score of the file: a piece with a lower value merges first
};

// Returns a piece of a model. The types are 1 for normal, 2 for unknown and 6 for byte.
std::string piece(const std::string &text, std::uint8_t score, std::uint32_t type) {
  const float value = 100.0F - static_cast<float>(score); // positive, zero or negative
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::string message = bytes(1, text) + varint(2 << 3 | 5) + little_endian(bits, 4);
  if (type != 1)
    message += number(3, type);
  return bytes(1, message);
}

constexpr std::uint32_t FIRST_PIECE = 257; // after <unk> and the 256 bytes

const std::string &byte_pieces() {
  static const std::string PIECES = [] {
    std::string pieces = piece("<unk>", 0, 2);
    for (int byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", byte);
      pieces += piece(name, 0, 6);
    }
    return pieces;
  }();
  return PIECES;
}

// Returns four pieces of one character, and pieces that join two earlier pieces. Some of the
// joined pieces have equal scores.
std::vector<Scored> some_pieces(Input &input) {
  std::vector<Scored> pieces = {
      {"\xE2\x96\x81", 255}, {"a", 255}, {"b", 255}, {"\xC3\xA9", 255}};
  for (std::size_t left = input.below(24); left != 0; --left) {
    const std::string text =
        pieces[input.below(pieces.size())].text + pieces[input.below(pieces.size())].text;
    const std::uint8_t score = input.coin() ? static_cast<std::uint8_t>(left) : input.byte();
    const auto is_text = [&](const Scored &other) { return other.text == text; };
    if (text.size() < 40 && std::none_of(pieces.begin(), pieces.end(), is_text))
      pieces.push_back({text, score});
  }
  return pieces;
}

// Returns a model file. `is_plain` becomes true if it has only valid pieces and options. Field
// 2 of the file is the trainer_spec: model_type (3; 2 is BPE) and byte_fallback (35). Field 3
// is the normalizer_spec: precompiled_charsmap (2), add_dummy_prefix (3) and
// remove_extra_whitespaces (4).
std::string some_file(Input &input, const std::vector<Scored> &pieces, bool &is_plain) {
  std::string file = byte_pieces();
  for (const Scored &each : pieces)
    file += piece(each.text, each.score, 1);
  const std::uint8_t choices = input.byte();
  is_plain = choices < 192;
  if (!is_plain)
    for (std::size_t left = input.below(4); left != 0; --left) {
      const std::vector<std::uint8_t> text = input.take(1 + input.below(6));
      file += piece(std::string(text.begin(), text.end()), 0,
                    1 + static_cast<std::uint32_t>(input.below(6)));
    }
  const std::string charsmap = is_plain || input.below(8) != 0 ? "" : bytes(2, "map");
  const std::uint64_t type = is_plain || input.below(8) != 0 ? 2 : input.below(6);
  return file + bytes(2, number(3, type) + number(35, 1)) +
         bytes(3, charsmap + number(3, choices & 1) + number(4, is_plain ? 0 : choices & 2));
}

// Merges by `rank_of(left, right)`, which returns the rank and the id of two adjacent symbols.
template <typename RankOf> Ids merged(Ids symbols, RankOf rank_of) {
  for (;;) {
    std::pair<std::uint32_t, std::uint32_t> best{NO_RANK, NO_ID};
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i)
      if (const auto merge = rank_of(symbols[i], symbols[i + 1]); merge.first < best.first) {
        best = merge;
        place = i;
      }
    if (best.first == NO_RANK)
      return symbols;
    symbols[place] = best.second;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

// Checks that a PieceMerge of the file merges `text` to `expected`. Both have indices in
// `pieces`.
void check_piece_merge(const std::vector<Scored> &pieces, const std::string &file,
                       const Ids &text, const Ids &expected) {
  PieceFile parsed;
  check(!read_piece_file(file, parsed), "a valid file is read");
  UnknownCharacters unknown;
  unknown.fallback.fill(NO_ID);
  for (std::uint32_t id = 0; id < FIRST_PIECE; ++id)
    if (const auto byte = fallback_byte(parsed.pieces[id].text))
      unknown.fallback[*byte] = id;
  check(unknown.has_fallback(), "the file has all fallback tokens");
  ScoredPieces scored;
  for (std::uint32_t id = FIRST_PIECE; id < parsed.pieces.size(); ++id) {
    scored.texts.push_back(parsed.pieces[id].text);
    scored.ids.push_back(id);
    scored.scores.push_back(parsed.pieces[id].score);
  }
  const auto by_score = std::make_shared<PieceTable>(scored, unknown);
  by_score->set_ranks(scored);
  const auto check_ids = [&](std::shared_ptr<const PieceTable> used, bool has_spaces) {
    std::string bytes;
    for (const std::uint32_t character : text)
      bytes += has_spaces && character == 0 ? " " : pieces[character].text;
    Ids ids(bytes.size());
    ids.resize(
        PieceMerge(std::move(used), has_spaces ? PieceUnits::MARKED : PieceUnits::CHARACTERS)
            .merge(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size(),
                   ids.data()));
    for (std::uint32_t &id : ids)
      id -= FIRST_PIECE;
    check(ids == expected, "a PieceMerge gives the ids that the scores define");
  };
  check_ids(by_score, false);
  check_ids(by_score, true);
}

// Checks that the merges of the loaded file give the ids that the scores of `pieces` define.
void check_merges(const std::vector<Scored> &pieces, const std::string &file, Input &input) {
  TokenizerSpec spec;
  const auto *data = reinterpret_cast<const std::uint8_t *>(file.data());
  check(!read_spec(data, file.size(), spec), "a valid model is read");
  const LoadError error = find_piece_merges(scored_pieces(spec), spec.vocabulary.merges);
  std::map<std::string, std::uint32_t> ids;
  for (std::uint32_t i = 0; i < pieces.size(); ++i)
    ids.emplace(pieces[i].text, i);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>>
      listed;
  for (std::uint32_t rank = 0; rank < spec.vocabulary.merges.size(); ++rank) {
    const Merge &merge = spec.vocabulary.merges[rank];
    listed[{merge.left - FIRST_PIECE, merge.right - FIRST_PIECE}] = {rank,
                                                                     merge.id - FIRST_PIECE};
  }
  using Merged = std::pair<std::uint32_t, std::uint32_t>;
  const Merged none{NO_RANK, NO_ID};
  const auto by_score = [&](std::uint32_t left, std::uint32_t right) -> Merged {
    const auto entry = ids.find(pieces[left].text + pieces[right].text);
    return entry == ids.end() ? none : Merged{pieces[entry->second].score, entry->second};
  };
  const auto by_rank = [&](std::uint32_t left, std::uint32_t right) {
    const auto entry = listed.find({left, right});
    return entry == listed.end() ? none : entry->second;
  };
  Ids text;
  for (const std::uint8_t byte : input.take(40))
    text.push_back(byte % 4);
  check_piece_merge(pieces, file, text, merged(text, by_score));
  const Ids long_run(100, text.empty() ? 0 : text[0]);
  check_piece_merge(pieces, file, long_run, merged(long_run, by_score));
  Ids repeated;
  while (!text.empty() && repeated.size() < 200)
    repeated.insert(repeated.end(), text.begin(), text.end());
  check_piece_merge(pieces, file, repeated, merged(repeated, by_score));
  if (error) {
    check(error.kind == LoadError::UNSUPPORTED,
          "the merges of a valid model are unsupported only because of equal scores");
    return;
  }
  check(merged(text, by_rank) == merged(text, by_score),
        "merging by rank and merging by score give the same ids");
  const Ids run(40, text.empty() ? 0 : text[0]);
  check(merged(run, by_rank) == merged(run, by_score),
        "merging a run by rank and by score gives the same ids");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::vector<Scored> pieces = some_pieces(input);
  bool is_plain = false;
  std::string file = some_file(input, pieces, is_plain);
  if (is_plain && input.coin()) {
    check_merges(pieces, file, input);
    return 0;
  }
  damage(input, file, input.coin() ? 0 : byte_pieces().size());
  check_file(file, input);
  return 0;
}
