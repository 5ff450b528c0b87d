// A text that changes, and its ids. A change encodes only the text near it.
// bpe/sessions/kept_text.py has the same results in Python.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/base/id_buffer.hpp"
#include "core/base/spliced_array.hpp"
#include "core/encode/tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pretok {

// Says how a change has changed the ids: the first `keep` and the last `tail` ids stay, and the
// `count` ids at `ids` come between them. `keep` is the largest possible number, and then
// `tail` is. `ids` are those of the Session, until its next change.
struct Patch {
  std::size_t keep = 0;
  std::size_t tail = 0;
  std::size_t count = 0;
  const std::uint32_t *ids = nullptr;
};

// A Session divides its text into pieces between safe cuts (find_cut.hpp). The ids of the text
// are those of all pieces, each encoded by itself. Each piece notes how many bytes around its
// end prove the cut. A change keeps each cut whose bytes it does not touch:
//
//   text     The quick brown| fox jumps over| the lazy dog
//   change                        ^^^^^ leaps
//   encoded                 | fox leaps over|
//
// Proof. Let c be such a cut before the change. It is a safe cut of the old text and of the new
// one, so both have the ids of the same bytes before c. The same is true for a cut after the
// change and the bytes after it. So only the bytes between the two cuts need encoding.
//
// The last bytes that prove the cuts of a row of pieces ascend. So if a change touches no byte
// of one cut before it, it touches none of all earlier cuts.
//
// The first bytes need not ascend: a change keeps all cuts after the first cut A that it keeps.
// Let B be a later cut whose first bytes the change touches. A divides the old text and the new
// text, and both have the same bytes after A. So B, which divides the old text, divides the new
// one. The bytes around B still prove it: they include the bytes that prove A, since those
// begin later and end earlier. So the same is true for any later change that keeps the bytes of
// B.
//
// Ids that a model has made are given. They keep their place in the text, as pieces of their
// own, and are never encoded. Nothing crosses them: no pre-token, and no added token with its
// white space. The text after them continues a text, so it gets no prefix, unless the last id
// is that of an added token after which the model puts a prefix.
//
// Each part of the text has a policy, the added tokens to search in it. Neighboring parts with
// the same policy are one part. A match of an added token does not cross the end of a part.
//
// If a call fails or throws, the Session stays as it was. Not safe to share between threads.
class Session {
public:
  using Policy = std::shared_ptr<const AddedTokenPhases>;

  // `all` has all added tokens of the tokenizer, which must outlive the Session. `first` says
  // whether the text continues another text (LATER).
  Session(const Tokenizer &tokenizer, Policy all, Encoder::Part first)
      : tokenizer_(&tokenizer), all_(std::move(all)), first_part_(first) {}

  // Replaces the bytes from `start` to `end`, excluded, by `size` bytes of `text`. Given ids
  // with a replaced byte become text. Returns the first refused special token, with its
  // position in the new text; then nothing changes. The time depends on the change and the
  // pieces around it, but for moving the ids after it.
  Refusal replace(std::size_t start, std::size_t end, const std::uint8_t *text,
                  std::size_t size, const Policy &policy, PreTokenCache &cache, Patch &patch);
  // Replaces what differs between the text and the new text: all but the longest common start
  // and the longest common end.
  Refusal update(const std::uint8_t *text, std::size_t size, const Policy &policy,
                 PreTokenCache &cache, Patch &patch);
  // Like `replace` at the end of the text, but changes nothing. The ids of `patch` are in
  // `ids`.
  Refusal peek(const std::uint8_t *text, std::size_t size, const Policy &policy,
               PreTokenCache &cache, IdBuffer &ids, Patch &patch) const;
  // Appends given ids. `text` has the bytes of all ids, and sizes[i] is the number of bytes of
  // ids[i]. `policy` is for bytes that later become text.
  void extend(const std::uint32_t *ids, const std::uint32_t *sizes, std::size_t count,
              const std::uint8_t *text, const Policy &policy, Patch &patch);

  // Drops the text that no append changes, but for a few pieces, now and after each later call.
  // Afterwards only `append`, that is `replace` at the end, `peek` and `extend` are possible.
  // Positions, and characters(), still count the whole text; text() has the rest.
  void drop_text();
  bool drops_text() const { return drops_text_; }
  // Returns the number of bytes that were dropped.
  std::size_t dropped() const { return dropped_; }

  // Appends the spans in bytes of the ids from `first` to `last`, excluded. Encodes the pieces
  // that have them. Not possible after drop_text.
  void spans(std::size_t first, std::size_t last, PreTokenCache &cache, Spans &spans) const;

  const SplicedArray<std::uint8_t> &text() const { return text_; }
  const SplicedArray<std::uint32_t> &ids() const { return ids_; }
  // A part of the text with a policy.
  struct Part {
    std::size_t size;
    Policy policy;
    bool is_given; // whether its ids are given
  };
  // Returns the parts of the text; neighboring parts differ.
  std::vector<Part> parts() const;
  // Returns the number of code points of the text, if it is valid UTF-8.
  std::size_t characters() const { return characters_; }
  // Returns the byte at which a code point begins; the size of the text for characters().
  std::size_t byte_of(std::size_t character) const;
  // Returns the number of code points that begin before a byte.
  std::size_t character_of(std::size_t byte) const;
  // Returns the number of ids that stay whatever text is appended.
  std::size_t stable() const { return place_before(text_.size()).id; }
  // Returns the bytes of memory of the Session.
  std::size_t memory() const;

  // For tests: sets the number of bytes of a piece in a long text, so that short texts have
  // many pieces.
  static void set_piece_size(std::size_t size) { piece_size = size == 0 ? 1 : size; }

private:
  // The number of bytes of each given id.
  using Given = std::shared_ptr<const std::vector<std::uint32_t>>;

  static std::size_t piece_size;
  static constexpr std::size_t NEVER = static_cast<std::size_t>(-1);

  // A part of the text between two cuts, with its numbers of bytes, code points and ids. Its
  // end is a safe cut of each text that has the same `before` bytes before the end, or all of
  // them if the text begins later, and the same `after` bytes after it. If `before` is NEVER,
  // the cut depends on the start of the text, of the piece, or on given ids before the piece.
  // If `after` is NEVER, the end is none.
  struct Piece {
    std::size_t size = 0;
    std::size_t characters = 0;
    std::size_t ids = 0;
    std::size_t before = NEVER;
    std::size_t after = NEVER;
    Given given; // nullptr for text
  };
  // A part of the text with a policy.
  struct Range {
    std::size_t size;
    Policy policy;
  };
  // A place between two pieces: before pieces_[piece], byte `byte` and id `id`.
  struct Place {
    std::size_t piece;
    std::size_t byte;
    std::size_t id;
  };
  // New ranges in place of those from ranges_[first] on, which begin at byte `start`.
  struct NewRanges {
    std::size_t first = 0;
    std::size_t start = 0;
    std::vector<Range> ranges;
  };
  // The new content between two places.
  struct Plan {
    Place left{};
    Place right{};
    NewRanges ranges{};
    std::vector<Piece> pieces{};
    IdBuffer ids{};
  };
  // Replaces the bytes from `start` to `end` by `size` bytes of `text`.
  struct Edit {
    std::size_t start;
    std::size_t end;
    const std::uint8_t *text;
    std::size_t size;
  };
  class Planner;

  void go_left(Place &place) const;
  void go_right(Place &place) const;
  // Return the last place before `start`, and the first place after an edit, that the edit
  // keeps.
  Place place_before(std::size_t start) const;
  Place place_after(Place left, std::size_t start, std::size_t end) const;
  // Returns the ranges of the text around a plan after an edit.
  NewRanges changed_ranges(const Edit &edit, const Policy &policy, const Plan &plan) const;
  Refusal plan(const Edit &edit, const Policy &policy, PreTokenCache &cache, Plan &plan) const;
  // Returns the Patch of a plan, without its ids.
  Patch patch_of(const Plan &plan) const;
  void carry_out(const Edit &edit, Plan &&plan, Patch &patch);
  // Returns how the text after a piece is encoded; `last` is the last id of the piece.
  Encoder::Part part_after(const Piece &piece, std::uint32_t last) const {
    return piece.given == nullptr ? Encoder::Part::LATER : part_after_given(last);
  }
  // Encodes a text to find out whether a prefix comes after an added token.
  Encoder::Part part_after_given(std::uint32_t id) const;
  Encoder::Part find_part_after(const AddedToken &token) const;
  Encoder::Part part_at(const Place &place) const;
  // Calls encode(added) with the added tokens of the bytes from `start` to `end` of a text with
  // these ranges, of which the first begins at byte `range_start`.
  static Refusal with_policies(const std::vector<Range> &ranges, std::size_t range_start,
                               std::size_t start, std::size_t end,
                               FunctionRef<Refusal(const AddedTokenPhases &)> encode);

  const Tokenizer *tokenizer_;
  Policy all_;
  Encoder::Part first_part_;
  SplicedArray<std::uint8_t> text_;
  SplicedArray<std::uint32_t> ids_;
  std::vector<Piece> pieces_;
  std::vector<Range> ranges_;
  std::size_t characters_ = 0;
  bool drops_text_ = false;
  std::size_t dropped_ = 0;
  mutable std::vector<std::pair<std::uint32_t, Encoder::Part>> parts_after_; // found so far
};

} // namespace pretok
