// Encodes the part of a text that a change of a Session touches; for session_plan.cpp.
#pragma once

#include "core/base/sizes.hpp"
#include "core/encode/find_cut.hpp"
#include "core/session/session.hpp"
#include "core/unicode/code_point_counts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace pretok {

// Encodes the new text between two places.
class Session::Planner {
public:
  Planner(const Session &session, const Edit &edit, PreTokenCache &cache, Plan &plan)
      : session_(session), edit_(edit), cache_(cache), plan_(plan) {}

  Refusal make() {
    read_text();
    const Refusal refusal = visit_given();
    return refusal.token != nullptr ? refusal : add_text(end(), true);
  }

private:
  // The number of bytes before a piece in which a cut within the piece is searched.
  static constexpr std::size_t CONTEXT = 512;

  // Copies the new text from the context of the left place to the right place.
  void read_text() {
    const Place &left = plan_.left;
    const bool follows_text =
        left.piece != 0 && session_.pieces_[left.piece - 1].given == nullptr;
    const std::size_t context =
        follows_text ? std::min(CONTEXT, session_.pieces_[left.piece - 1].size) : 0;
    from_ = text_from_ = left.byte - context;
    done_ = left.byte;
    if (follows_text)
      proof_end_ = left.byte + session_.pieces_[left.piece - 1].after;
    const std::size_t before = edit_.start - from_;
    const std::size_t after = plan_.right.byte - edit_.end;
    size_ = before + edit_.size + after;
    data_ = edit_.text;
    if (size_ == edit_.size)
      return;
    if (size_ > near_.size())
      far_.resize(size_);
    std::uint8_t *const data = size_ > near_.size() ? far_.data() : near_.data();
    const std::uint8_t *const old = session_.text_.data();
    std::copy(edit_.text, edit_.text + edit_.size,
              std::copy(old + from_, old + edit_.start, data));
    std::copy(old + edit_.end, old + edit_.end + after, data + size_ - after);
    data_ = data;
  }

  // Returns the end of the new text, in bytes of the whole new text.
  std::size_t end() const { return from_ + size_; }

  // Adds the text before each row of given ids that the edit keeps, and these ids.
  Refusal visit_given() {
    Place place = plan_.left;
    for (; place.piece < plan_.right.piece; session_.go_right(place)) {
      const Piece &piece = session_.pieces_[place.piece];
      if (piece.given == nullptr)
        continue;
      std::size_t byte = place.byte;
      for (std::size_t i = 0; i < piece.given->size(); ++i) {
        const std::size_t begin = byte;
        byte += (*piece.given)[i];
        const bool stays_left = byte <= edit_.start;
        if (!stays_left && begin < edit_.end)
          continue;
        const std::size_t moved =
            stays_left ? begin : begin - edit_.end + edit_.start + edit_.size;
        const Refusal refusal = add_text(moved, false);
        if (refusal.token != nullptr)
          return refusal;
        add_given(session_.ids_[place.id + i], byte - begin);
      }
    }
    return {};
  }

  void add_given(std::uint32_t id, std::size_t size) {
    if (!last_is_given_) {
      given_ = std::make_shared<std::vector<std::uint32_t>>();
      plan_.pieces.push_back({0, 0, 0, NEVER, NEVER, given_});
    }
    last_is_given_ = true;
    given_->push_back(static_cast<std::uint32_t>(size));
    Piece &piece = plan_.pieces.back();
    piece.size += size;
    piece.characters += count_code_points(at(done_), size);
    ++piece.ids;
    *plan_.ids.room(1) = id;
    plan_.ids.add(1);
    done_ += size;
    text_from_ = done_;
  }

  // Adds pieces of text up to byte `end`.
  Refusal add_text(std::size_t end, bool is_last) {
    if (done_ == end)
      return {};
    const bool is_tail = is_last && plan_.right.piece == session_.pieces_.size();
    Encoder::Part part = plan_.pieces.empty()
                             ? session_.part_at(plan_.left)
                             : session_.part_after(plan_.pieces.back(), last_id());
    while (done_ < end) {
      End next = next_end(end, is_tail);
      if (next.at == end && is_last && !is_tail && !ends_at_given())
        next = old_end(end);
      const Refusal refusal = add_piece(next, part);
      if (refusal.token != nullptr)
        return refusal;
      part = Encoder::Part::LATER;
    }
    last_is_given_ = false;
    return {};
  }

  // The end of a piece, and the first and last bytes that prove it as a cut. `first` is 0 if
  // the cut depends on the start of a piece. `last` is NEVER if the end is no cut.
  struct End {
    std::size_t at;
    std::size_t first;
    std::size_t last;
  };

  // Returns the end of the next piece of a text that ends at `end`. `is_tail` says whether the
  // whole text ends there.
  End next_end(std::size_t end, bool is_tail) const {
    for (std::size_t size = piece_size;; size = saturating_multiply<std::size_t>(size, 4)) {
      const bool is_rest = end - done_ <= size;
      if (is_rest && !is_tail)
        break;
      const End found = end_before(is_rest ? end : done_ + size);
      if (found.at != done_)
        return found;
      if (is_rest)
        break;
    }
    return {end, 0, NEVER};
  }

  // Returns the last safe cut of the text before byte `known`; done_ if there is none.
  End end_before(std::size_t known) const {
    const Cut near = cut_from(std::max(text_from_, done_ - std::min(done_, CONTEXT)), known);
    if (near.position > done_ && near.first != 0)
      return {near.position, near.first, known};
    // The text before the context is not known, but a piece begins at done_. The cut depends on
    // this place.
    return {cut_from(done_, known).position, 0, known};
  }

  // Returns the last safe cut in the text from `start` to `known`, in bytes of the whole new
  // text, or `start`; `first` is 0 if the cut depends on where this text begins.
  Cut cut_from(std::size_t start, std::size_t known) const {
    const Tokenizer &tokenizer = *session_.tokenizer_;
    const Cut cut = find_cut(tokenizer.encoder(), *session_.all_, tokenizer.normalizer(),
                             at(start), known - start);
    return {start + cut.position, cut.first == 0 ? 0 : start + cut.first};
  }

  bool ends_at_given() const { return session_.pieces_[plan_.right.piece].given != nullptr; }

  // Returns the right place, with the bytes that proved it before the edit. All of them stay.
  End old_end(std::size_t end) const {
    const Piece &before = session_.pieces_[plan_.right.piece - 1];
    return {end, end - before.before, end + before.after};
  }

  Refusal add_piece(const End &next, Encoder::Part part) {
    Piece piece;
    piece.size = next.at - done_;
    const std::size_t before = plan_.ids.size();
    Refusal refusal =
        with_policies(plan_.ranges.ranges, plan_.ranges.start, done_, done_ + piece.size,
                      [&](const AddedTokenPhases &added) {
                        return session_.tokenizer_->encode(at(done_), piece.size, added, cache_,
                                                           plan_.ids, part);
                      });
    if (refusal.token != nullptr) {
      refusal.position += done_;
      return refusal;
    }
    piece.ids = plan_.ids.size() - before;
    piece.characters = count_code_points(at(done_), piece.size);
    done_ = next.at;
    if (next.last != NEVER) {
      proof_end_ = std::max(proof_end_, next.last);
      piece.after = proof_end_ - done_;
      if (next.first != 0)
        piece.before = done_ - next.first;
    }
    plan_.pieces.push_back(std::move(piece));
    return {};
  }

  std::uint32_t last_id() const { return plan_.ids.data()[plan_.ids.size() - 1]; }
  const std::uint8_t *at(std::size_t byte) const { return data_ + (byte - from_); }

  const Session &session_;
  const Edit &edit_;
  PreTokenCache &cache_;
  Plan &plan_;
  // The new text from byte from_ on: the text of the edit, or a copy in near_ or far_.
  const std::uint8_t *data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t from_ = 0;
  std::size_t text_from_ = 0; // the end of the last given ids in it, or from_
  std::array<std::uint8_t, 4096> near_;
  std::vector<std::uint8_t> far_;
  std::size_t done_ = 0;      // the end of the pieces so far
  std::size_t proof_end_ = 0; // the last byte that proves a cut before done_
  bool last_is_given_ = false;
  std::shared_ptr<std::vector<std::uint32_t>> given_; // of the last piece
};

} // namespace pretok
