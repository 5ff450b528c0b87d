#include "formats/make_tokenizer.hpp"

#include "core/base/ids.hpp"
#include "core/split/program.hpp"
#include "formats/character_model.hpp"
#include "formats/character_spec.hpp"
#include "formats/decoder_spec.hpp"
#include "formats/find_split.hpp"
#include "formats/piece_merge.hpp"
#include "formats/read_spec.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace pretok {
namespace {

// A table in which all code points have the same class. It is enough for splits that depend on
// no Unicode version.
constexpr std::uint32_t ONE_CLASS[] = {0};

NamedPreTokenizer split_of_stages(std::vector<StageProgram> stages) {
  return {"", PreTokenizer(std::move(stages), UnicodeTable{ONE_CLASS, 1})};
}

// Makes the parts of a Tokenizer.
class Maker {
public:
  Maker(TokenizerSpec &spec, TokenizerOptions &options)
      : spec_(spec), options_(options), is_text_(spec.text) {}

  LoadError make(std::unique_ptr<Tokenizer> &result) {
    const std::size_t listed = spec_.vocabulary.ids.size();
    if (LoadError error = make_settings())
      return error;
    std::unique_ptr<const Decoder> decoder;
    if (options_.decodes) {
      decoder = make_decoder(spec_, listed, chain_.get());
    } else {
      spec_.before.clear();
      spec_.after.clear();
    }
    const std::vector<std::uint32_t> &ids = spec_.vocabulary.ids;
    const std::size_t id_limit = *std::max_element(ids.begin(), ids.end()) + std::size_t{1};
    const std::array<bool, 256> no_token = missing_bytes();
    const std::uint32_t unknown = is_text_ ? spec_.text->unknown_id : NO_ID;
    if (is_text_ && options_.decodes && spec_.scores.empty() && spec_.facts.scores.empty())
      spec_.facts.scores = scores_of_ranks(spec_.vocabulary.merges, id_limit);
    auto vocabulary = std::make_unique<Vocabulary>();
    const char *const problem = is_text_ ? build_text(*vocabulary) : build_bytes(*vocabulary);
    if (problem != nullptr)
      return malformed("the vocabulary of the file is damaged: ", problem);
    const bool has_normalizer = chain_ != nullptr || sentencepiece_;
    result = std::make_unique<Tokenizer>(
        TokenizerParts{!has_normalizer && (spec_.nfc || options_.nfc),
                       std::move(sentencepiece_),
                       std::move(chain_),
                       std::move(spec_.added),
                       std::move(*split_),
                       spaces(),
                       is_whole_,
                       options_.cache_limit,
                       std::move(vocabulary),
                       {std::move(spec_.before), std::move(spec_.after)},
                       std::move(decoder),
                       id_limit,
                       no_token,
                       std::move(spec_.facts),
                       unknown,
                       is_text_});
    return {};
  }

  // Makes all parts that do not depend on the tokens.
  LoadError make_settings() {
    for (const auto step : {&Maker::choose_split, &Maker::join_special_tokens,
                            &Maker::place_added, &Maker::make_normalizers})
      if (LoadError error = (this->*step)())
        return error;
    return {};
  }

private:
  // Sets split_ to the split of the options, or else to the split of the file. Leaves split_
  // empty for spec_.characters without a split in the options; build_text then sets it.
  LoadError choose_split() {
    if (options_.split && spec_.characters && !options_.takes_normalized_text)
      return invalid_argument("the file says how to split and normalize text for this model");
    split_ = std::move(options_.split);
    if (!split_ && !spec_.characters)
      if (LoadError error = find_split())
        return error;
    // The ids of a model whose tokens are text need not decode to the encoded text, so its
    // split may drop text.
    if (split_ && split_->pre_tokenizer.removes() && !is_text_)
      return load_error(
          LoadError::REMOVES_TEXT,
          {"preset \"", split_->name,
           "\" drops some text, but ids must decode to the whole text; choose a preset "
           "that keeps all text"});
    return {};
  }

  LoadError find_split() {
    const char *const unicode = spec_.unicode.c_str();
    if (!spec_.stages.empty()) {
      splits_nothing_ = keeps_whole(spec_.stages);
      const UnicodeTable table =
          *unicode == '\0' ? UnicodeTable{ONE_CLASS, 1} : unicode_table(unicode);
      if (table.size == 0)
        return load_error(LoadError::UNKNOWN_NAME, {"the library lacks the tables of Unicode ",
                                                    unicode, ", which the file needs"});
      split_.emplace(
          NamedPreTokenizer{"", PreTokenizer(std::move(spec_.stages), table), table});
      return {};
    }
    if (!spec_.program.empty())
      return read_split(spec_.program.data(), spec_.program.size(), unicode, split_);
    if (!spec_.preset.empty())
      return find_preset_split(spec_.preset.c_str(), *unicode == '\0' ? nullptr : unicode,
                               split_);
    return {LoadError::NO_SPLIT, spec_.why_no_preset};
  }

  // Fails if the file has a special token of the options with another id.
  LoadError join_special_tokens() {
    std::map<std::string, std::uint32_t> listed;
    for (const AddedToken &token : spec_.added)
      listed.emplace(token.content, token.id);
    for (AddedToken &token : options_.special_tokens) {
      const auto [entry, is_new] = listed.emplace(token.content, token.id);
      if (entry->second != token.id)
        return invalid_argument("options.special_tokens has ", quote(token.content),
                                " with id ", token.id, ", but its id is already ",
                                entry->second, "; remove it, or correct the id");
      if (!is_new)
        continue;
      token.special = true;
      spec_.added.push_back(std::move(token));
    }
    return {};
  }

  // Adds each added token to the vocabulary, unless the vocabulary already has a token with its
  // id. Fails if this token has other bytes and is mergeable (a token of the model itself).
  LoadError place_added() {
    VocabularyData &data = spec_.vocabulary;
    constexpr std::size_t NOWHERE = static_cast<std::size_t>(-1);
    struct Place {
      std::size_t start = NOWHERE;
      std::size_t size = 0;
      bool mergeable = false;
    };
    std::vector<Place> places;
    const auto place_of = [&places](std::uint32_t id) -> Place & {
      if (id >= places.size())
        places.resize(std::size_t{id} + 1);
      return places[id];
    };
    std::size_t start = 0;
    for (std::size_t i = 0; i < data.ids.size(); ++i) {
      place_of(data.ids[i]) = {start, data.lengths[i], i < data.mergeable};
      start += data.lengths[i];
    }
    for (const AddedToken &token : spec_.added) {
      if (token.id >= ID_LIMIT)
        return invalid_argument("added token ", quote(token.content), " has id ", token.id,
                                "; expected at most ", ID_LIMIT - 1);
      Place &place = place_of(token.id);
      const auto *const bytes = reinterpret_cast<const char *>(data.bytes.data());
      if (place.start == NOWHERE) {
        place = {data.bytes.size(), token.content.size(), false};
        data.add(token.content, token.id);
      } else if (place.mergeable &&
                 !names_token(token.content, {bytes + place.start, place.size}, spec_)) {
        // A mergeable token and an added token may not share an id. Two added tokens may, as in
        // o200k_harmony; the id then decodes to the first of the two.
        return invalid_argument("added token ", quote(token.content), " has id ", token.id,
                                ", but another token has this id too; give each token its own "
                                "id");
      }
    }
    return {};
  }

  LoadError make_normalizers() {
    if (options_.takes_normalized_text) {
      spec_.nfc = options_.nfc = false;
      return {};
    }
    if (spec_.sentencepiece)
      sentencepiece_.emplace(make_normalizer(spec_));
    if (spec_.steps.empty() && !spec_.metaspace)
      return {};
    chain_ =
        std::make_unique<NormalizerChain>(std::move(spec_.steps), std::move(spec_.metaspace));
    std::vector<std::string> contents;
    for (const AddedToken &token : spec_.added)
      if (token.normalized)
        contents.push_back(token.content);
    const std::string problem = chain_->problem_of_contents(contents);
    if (!problem.empty())
      return unsupported(problem);
    for (const std::string &content : contents)
      if (chain_->normalized(content).empty())
        return malformed("the normalizer changes added token ", quote(content),
                         " to an empty text; set its flag `normalized` to false");
    return {};
  }

  // Returns TokenizerParts::no_token.
  std::array<bool, 256> missing_bytes() const {
    const VocabularyData &data = spec_.vocabulary;
    std::array<bool, 256> missing{};
    if (is_text_)
      return missing;
    missing.fill(true);
    std::size_t start = 0;
    for (std::size_t i = 0; i < data.mergeable; ++i) {
      if (data.lengths[i] == 1)
        missing[data.bytes[start]] = false;
      start += data.lengths[i];
    }
    return missing;
  }

  TextSpaces spaces() const {
    return options_.takes_normalized_text ? TextSpaces()
           : spec_.characters             ? spec_.characters->spaces
                                          : TextSpaces::of(spec_.add_prefix_space);
  }

  // Returns whether the vocabulary has its merges only as the file lists them.
  bool merges_simply() const { return options_.for_short_texts || options_.for_dropout; }

  // build_bytes and build_text return nullptr, or a message that says what is wrong.
  const char *build_bytes(Vocabulary &vocabulary) {
    VocabularyData &data = spec_.vocabulary;
    data.for_short_texts = merges_simply();
    if (!data.from_ranks || !options_.for_short_texts)
      return vocabulary.build(std::move(data));
    // `vocabulary` takes the bytes that the table views.
    std::vector<std::string_view> texts = texts_of(spec_);
    texts.resize(data.mergeable);
    const auto ids = data.ids.begin();
    auto pieces = std::make_shared<const PieceTable>(
        std::move(texts),
        std::vector<std::uint32_t>(ids, ids + static_cast<std::ptrdiff_t>(data.mergeable)));
    data.merges.clear();
    return vocabulary.build(std::move(data),
                            std::make_unique<PieceMerge>(std::move(pieces), PieceUnits::BYTES));
  }

  // Also sets is_whole_, and split_ if it is empty. Replaces a split_ that
  // keeps each text whole by cuts that do not change the ids of the model, if it has such cuts.
  const char *build_text(Vocabulary &vocabulary) {
    const bool has_spaces =
        spec_.characters && !spec_.sentencepiece && !options_.takes_normalized_text;
    CharacterModel model = model_of(spec_, has_spaces);
    const bool for_short_texts = merges_simply();
    const ScoredPieces scored = scored_pieces(spec_);
    // find_piece_merges fails if no list of merges gives the ids of the model, for example
    // because two pieces have equal scores.
    const bool uses_scores =
        !spec_.scores.empty() && (for_short_texts || find_piece_merges(scored, model.merges));
    if (uses_scores && !for_short_texts) // for allows_cuts, each piece is the result of a merge
      for (const std::uint32_t id : scored.ids)
        model.merges.push_back({id, id, id});
    const bool splits_at_marks = spec_.characters && spec_.characters->splits_at_marks;
    if (splits_nothing_ || (!split_ && !splits_at_marks)) {
      is_whole_ = !for_short_texts && !uses_scores && model.merges_bytes();
      split_.emplace(split_of_stages(!for_short_texts && model.allows_cuts()
                                         ? cut_at_marks(true, has_spaces)
                                         : cut_nowhere()));
    } else if (!split_) {
      split_.emplace(split_of_stages(cut_at_marks(false, has_spaces)));
    }
    VocabularyData tokens;
    if (!has_spaces)
      tokens = decoded_tokens(spec_);
    tokens.for_short_texts = for_short_texts;
    return uses_scores ? vocabulary.build(std::move(tokens), merge_by_scores(model, scored))
                       : build_characters(model, std::move(tokens), vocabulary);
  }

  // Takes the bytes of the tokens, which the result views.
  std::unique_ptr<CharacterMerging> merge_by_scores(const CharacterModel &model,
                                                    const ScoredPieces &scored) {
    struct Owned {
      std::vector<std::uint8_t> bytes;
      PieceTable table;
    };
    UnknownCharacters unknown;
    unknown.fallback.fill(NO_ID);
    std::copy(model.fallback.begin(), model.fallback.end(), unknown.fallback.begin());
    unknown.id = model.unknown;
    const auto owned = std::shared_ptr<Owned>(
        new Owned{std::move(spec_.vocabulary.bytes), PieceTable(scored, unknown)});
    owned->table.set_ranks(scored);
    return std::make_unique<PieceMerge>(std::shared_ptr<const PieceTable>(owned, &owned->table),
                                        model.has_spaces ? PieceUnits::MARKED
                                                         : PieceUnits::CHARACTERS);
  }

  TokenizerSpec &spec_;
  TokenizerOptions &options_;
  const bool is_text_; // whether tokens are text
  std::optional<NamedPreTokenizer> split_;
  bool splits_nothing_ = false; // whether split_ keeps each text whole
  bool is_whole_ = false;       // the argument of Encoder
  std::optional<SentencePieceNormalizer> sentencepiece_;
  std::unique_ptr<NormalizerChain> chain_;
};

} // namespace

LoadError check_settings(const TokenizerSettings &settings, TokenizerOptions options) {
  TokenizerSpec spec;
  static_cast<TokenizerSettings &>(spec) = settings;
  return Maker(spec, options).make_settings();
}

LoadError make_tokenizer(TokenizerSpec &&spec, TokenizerOptions options,
                         std::unique_ptr<Tokenizer> &result) {
  return Maker(spec, options).make(result);
}

} // namespace pretok
