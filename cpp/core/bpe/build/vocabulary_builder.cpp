#include "core/bpe/build/vocabulary_builder.hpp"

#include "core/base/bits.hpp"
#include "core/base/ids.hpp"
#include "core/base/prefetch.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pretok {
namespace {

// Returns the ids of the mergeable tokens, ascending.
std::vector<std::uint32_t> in_order(const VocabularyData &data) {
  const auto end = data.ids.begin() + static_cast<std::ptrdiff_t>(data.mergeable);
  std::vector<std::uint32_t> ids(data.ids.begin(), end);
  if (std::is_sorted(ids.begin(), ids.end()))
    return ids;
  // The ids are distinct and below ID_LIMIT (place_tokens), so one pass over a bitmap sorts
  // them.
  std::vector<std::uint64_t> words(*std::max_element(ids.begin(), ids.end()) / 64 + 1);
  for (const std::uint32_t id : ids)
    words[id / 64] |= std::uint64_t{1} << id % 64;
  ids.clear();
  for (std::size_t at = 0; at < words.size(); ++at)
    for (std::uint64_t word = words[at]; word != 0; word &= word - 1)
      ids.push_back(static_cast<std::uint32_t>(at * 64 + lowest_bit(word)));
  return ids;
}

} // namespace

const char *Vocabulary::build(VocabularyData &&data) {
  return Builder(*this).build(std::move(data));
}

const char *Vocabulary::build(VocabularyData &&data,
                              std::unique_ptr<CharacterMerging> characters) {
  return Builder(*this).build(std::move(data), std::move(characters));
}

const char *Vocabulary::find_merges(VocabularyData &&data) {
  return Builder(*this).find_merges(std::move(data));
}

// Does only the part of `build` that finds the merges. The reader of SentencePiece models
// (formats/piece_merges.cpp) needs nothing else of the vocabulary.
const char *Vocabulary::Builder::find_merges(VocabularyData &&data) {
  if (const char *wrong = place_tokens(data))
    return wrong;
  if (const char *wrong = check_bytes(data))
    return wrong;
  const std::vector<std::uint32_t> ids = in_order(data);
  unlisted_ = &ids; // most vocabularies need no whole tokens here
  vocabulary_.in_order_ = order_ranks(ids);
  if (!vocabulary_.in_order_)
    pairs_from_ranks(ids);
  return nullptr;
}

const char *Vocabulary::Builder::build(VocabularyData &&data) {
  if (const char *wrong = place_tokens(data))
    return wrong;
  if (const char *wrong = check_bytes(data))
    return wrong;
  if (const char *wrong = data.from_ranks ? nullptr : check_merges(data.merges))
    return wrong;
  const std::vector<std::uint32_t> ids = in_order(data);
  const bool has_whole_tokens = data.from_ranks || data.ignore_merges;
  const std::uint8_t *const limit = vocabulary_.bytes_.data() + vocabulary_.bytes_.size();
  vocabulary_.whole_tokens_.assign(has_whole_tokens ? ids : std::vector<std::uint32_t>(),
                                   limit);
  if (data.for_short_texts && !data.from_ranks) {
    vocabulary_.unreachable_tokens_.assign({}, limit);
    pairs_from_merges(data.merges);
    return nullptr;
  }
  vocabulary_.in_order_ = data.from_ranks ? order_likely(ids, data.merges) || order_ranks(ids)
                                          : order_merges(data.merges);
  if (!vocabulary_.in_order_) {
    if (data.from_ranks)
      pairs_from_ranks(ids);
    else
      pairs_from_merges(data.merges);
  }
  vocabulary_.has_merge_table_ = vocabulary_.in_order_ || table_from_pairs();
  const auto token_of = [this](std::uint32_t symbol) -> const TokenView & {
    return vocabulary_.tokens_[vocabulary_.merges_.id(symbol)];
  };
  if (vocabulary_.has_merge_table_)
    vocabulary_.barriers_.build(
        vocabulary_.merges_, data.first_step, token_of,
        [token_of](std::uint32_t symbol) { prefetch(&token_of(symbol)); });
  else
    vocabulary_.merges_ = OrderedMerges();
  find_reachable(data.from_ranks);
  std::vector<std::uint32_t> unreachable;
  if (!has_whole_tokens) {
    // Every pre-token must become the ids that merging gives. The table of whole tokens only
    // saves time. It may hold a token only if merging the bytes of the token makes this token.
    std::vector<std::uint32_t> reachable;
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(reachable),
                 [&](std::uint32_t id) { return id < data.first_step && is_reachable(id); });
    vocabulary_.whole_tokens_.assign(reachable, limit);
  } else if (vocabulary_.has_merge_table_) {
    // Find the unreachable tokens: only they need a look-up of the whole pre-token
    // (Vocabulary::unreachable_tokens). If several tokens have equal bytes, the look-up returns
    // the one in whole_tokens_, so leave out the others.
    const auto is_unreachable = [&](std::uint32_t id) {
      const TokenView token = vocabulary_.tokens_[id];
      return !is_reachable(id) &&
             vocabulary_.whole_tokens_.find(token.bytes, token.size, limit) == id;
    };
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(unreachable), is_unreachable);
  }
  vocabulary_.unreachable_tokens_.assign(unreachable, limit);
  return nullptr;
}

const char *Vocabulary::Builder::build(VocabularyData &&data,
                                       std::unique_ptr<CharacterMerging> characters) {
  if (const char *wrong = place_tokens(data))
    return wrong;
  vocabulary_.whole_tokens_.assign({}, nullptr);
  vocabulary_.unreachable_tokens_.assign({}, nullptr);
  vocabulary_.pairs_.reset(data.merges.size());
  std::uint32_t rank = 0;
  for (const Merge &merge : data.merges) {
    for (const std::uint32_t id : {merge.left, merge.right, merge.id})
      if (vocabulary_.token(id).bytes == nullptr)
        return "a merge has the id of no token";
    vocabulary_.pairs_.insert(merge.left, merge.right, Merged{rank++, merge.id});
  }
  characters->use(vocabulary_.pairs_);
  vocabulary_.characters_ = std::move(characters);
  return nullptr;
}

const char *Vocabulary::Builder::place_tokens(VocabularyData &data) {
  vocabulary_.bytes_ = std::move(data.bytes);
  vocabulary_.first_step_ = data.first_step;
  if (data.ids.size() != data.lengths.size() || data.mergeable > data.ids.size())
    return "expected as many ids as lengths, and no more mergeable tokens";
  std::size_t start = 0;
  vocabulary_.byte_ids_.fill(NO_ID);
  const auto largest = std::max_element(data.ids.begin(), data.ids.end());
  if (largest != data.ids.end() && *largest >= ID_LIMIT)
    return "expected ids below 16777216";
  vocabulary_.tokens_.assign(largest == data.ids.end() ? 0 : std::size_t{*largest} + 1,
                             TokenView{});
  for (std::size_t i = 0; i < data.ids.size(); ++i) {
    const std::uint32_t id = data.ids[i];
    const std::uint32_t size = data.lengths[i];
    if (size == 0 || size > vocabulary_.bytes_.size() - start)
      return "a token is empty, or longer than the bytes left";
    if (vocabulary_.tokens_[id].bytes != nullptr)
      return "two tokens have the same id";
    vocabulary_.tokens_[id] = {vocabulary_.bytes_.data() + start, size};
    if (size == 1 && i < data.mergeable)
      vocabulary_.byte_ids_[vocabulary_.bytes_[start]] =
          std::min(vocabulary_.byte_ids_[vocabulary_.bytes_[start]], id);
    start += size;
  }
  return nullptr;
}

// Checks the tokens of bytes, and the steps. Merging starts with the tokens of bytes.
const char *Vocabulary::Builder::check_bytes(const VocabularyData &data) const {
  // A step is a symbol that only merging needs: a part of the bytes of a character
  // (VocabularyData::first_step).
  const bool has_steps = data.first_step != NO_ID;
  if (has_steps && (data.from_ranks || data.ignore_merges))
    return "steps need a list of merges, without ignore_merges";
  for (std::size_t byte = 0; byte < vocabulary_.byte_ids_.size(); ++byte) {
    const std::uint32_t id = vocabulary_.byte_ids_[byte];
    if (id == NO_ID && (data.from_ranks || has_steps || !is_rare_byte(byte)))
      return "a byte has no token";
    if (id != NO_ID && id >= data.first_step)
      return "the token of a byte is a step";
  }
  return nullptr;
}

// Sets is_made_ for tokens that are surely reachable: merging their own bytes makes them. These
// are tokens of one byte, and tokens whose merges pass the test below. is_reachable need not
// merge the bytes of these tokens.
void Vocabulary::Builder::find_reachable(bool from_ranks) {
  const OrderedMerges &merges = vocabulary_.merges_;
  is_made_.assign(vocabulary_.tokens_.size(), false);
  if (!vocabulary_.has_merge_table_)
    return;
  // By symbol: true if merging the bytes of the symbol surely makes it. If the merges are
  // ordered, or follow from ranks, this is true for every symbol. In any other list of merges,
  // it is true for the first kept_ merges, and for a symbol that passes three tests:
  //   - it ranks after its two parts;
  //   - merging the bytes of each part surely makes this part;
  //   - merging the bytes of both parts makes both of them before a merge crosses the boundary
  //     between them (OrderedMerges::stay_apart).
  std::vector<char> is_ordered(merges.size(), 1);
  for (std::uint32_t symbol = 0; symbol < merges.size(); ++symbol) {
    if (symbol >= OrderedMerges::BYTES + kept_ && !vocabulary_.in_order_ && !from_ranks) {
      const auto [left, right] = merges.parts(symbol);
      is_ordered[symbol] = std::max(left, right) < symbol && is_ordered[left] &&
                           is_ordered[right] && merges.stay_apart(left, right);
    }
    if (is_ordered[symbol] && merges.id(symbol) != NO_ID)
      is_made_[merges.id(symbol)] = true;
  }
}

// Returns whether merging the bytes of a token makes this token.
bool Vocabulary::Builder::is_reachable(std::uint32_t id) {
  const TokenView token = vocabulary_.tokens_[id];
  if (is_made_[id])
    return true;
  merged_.resize(token.size);
  return vocabulary_.merge(token.bytes, token.size, merged_.data()) == 1 && merged_[0] == id;
}

// Returns the id of the mergeable token with these bytes, or NO_ID. Fills whole_tokens_ at the
// first call after find_merges.
std::uint32_t Vocabulary::Builder::find_token(const std::uint8_t *bytes, std::size_t size) {
  if (unlisted_ != nullptr)
    vocabulary_.whole_tokens_.assign(*unlisted_,
                                     vocabulary_.bytes_.data() + vocabulary_.bytes_.size());
  unlisted_ = nullptr;
  return vocabulary_.whole_tokens_.find(bytes, size, bytes + size);
}

const char *Vocabulary::Builder::check_merges(const std::vector<Merge> &merges) const {
  for (const Merge &merge : merges) {
    const TokenView left = vocabulary_.token(merge.left);
    const TokenView right = vocabulary_.token(merge.right);
    const TokenView result = vocabulary_.token(merge.id);
    if (left.bytes == nullptr || right.bytes == nullptr || result.bytes == nullptr ||
        std::uint64_t{left.size} + right.size != result.size ||
        !std::equal(left.bytes, left.bytes + left.size, result.bytes) ||
        !std::equal(right.bytes, right.bytes + right.size, result.bytes + left.size))
      return "the tokens of a merge do not concatenate to its result";
  }
  return nullptr;
}

} // namespace pretok
