#include "core/decode/text_stream.hpp"

#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <utility>

namespace pretok {

TextStream::TextStream(const Decoder &decoder, TextStreamOptions options)
    : decoder_(&decoder), whole_(decoder.whole_texts()), options_(std::move(options)),
      stream_(decoder, options_.skip_special, false, options_.continuation) {}

DecodeStream TextStream::new_decoder(bool is_later) const {
  return {*decoder_, options_.skip_special, false, is_later || options_.continuation};
}

void TextStream::reserve(std::size_t count) {
  if (ids_.capacity() - ids_.size() >= count)
    return;
  const std::size_t size = std::max({ids_.size() + count, 2 * ids_.size(), INTERVAL});
  checkpoints_.reserve(size / INTERVAL);
  ids_.reserve(size);
}

void TextStream::add_checkpoint(std::size_t count, const Tail &tail) {
  const std::size_t last = checkpoints_.empty() ? 0 : checkpoints_.back().count;
  if (count - last >= INTERVAL && stream_.is_idle() && tail.stopped == StopStrings::NONE &&
      checkpoints_.size() < checkpoints_.capacity())
    checkpoints_.push_back({count, tail});
}

void TextStream::feed(const std::uint32_t *ids, std::size_t count, std::string &text) {
  if (is_torn_)
    rewind(0);
  reserve(count);
  Tail tail = tail_;
  std::size_t used = 0;
  is_torn_ = true;
  while (used < count && tail.stopped == StopStrings::NONE) {
    step(stream_, tail, ids[used], text);
    ++used;
    add_checkpoint(ids_.size() + used, tail);
  }
  is_torn_ = false;
  ids_.insert(ids_.end(), ids, ids + used);
  tail_ = tail;
}

bool TextStream::feed_one(std::uint32_t id, std::string &text, std::string_view &result) {
  if (options_.clean_up || options_.stop != nullptr || is_torn_ ||
      ids_.size() == ids_.capacity())
    return false;
  if (!stream_.is_idle() || !find_whole(id, result)) {
    if (decoder_->token(id).bytes == nullptr)
      return false;
    is_torn_ = true;
    stream_.feed(&id, 1, text);
    is_torn_ = false;
    result = text;
  }
  tail_.size += size_of(result);
  ids_.push_back(id);
  add_checkpoint(ids_.size(), tail_);
  return true;
}

void TextStream::step(DecodeStream &decoder, Tail &tail, std::uint32_t id,
                      std::string &text) const {
  std::string_view whole;
  if (decoder.is_idle() && find_whole(id, whole))
    return pass(whole, tail, text);
  std::string more;
  decoder.feed(&id, 1, more);
  pass(more, tail, text);
}

std::uint64_t TextStream::size_of(std::string_view text) const {
  if (!options_.counts_code_points)
    return text.size();
  return static_cast<std::uint64_t>(std::count_if(text.begin(), text.end(), [](char each) {
    return !is_tail(static_cast<std::uint8_t>(each));
  }));
}

void TextStream::pass(std::string_view more, Tail &tail, std::string &text) const {
  const std::size_t before = text.size();
  if (options_.clean_up) {
    std::string cleaned;
    tail.clean.feed(more, cleaned);
    pass_to_stop(cleaned, tail, text);
  } else {
    pass_to_stop(more, tail, text);
  }
  tail.size += size_of(std::string_view(text).substr(before));
}

void TextStream::pass_to_stop(std::string_view more, Tail &tail, std::string &text) const {
  if (options_.stop == nullptr)
    text.append(more);
  else if (tail.stopped == StopStrings::NONE)
    tail.stopped = options_.stop->feed(more, tail.node, text);
}

void TextStream::finish(std::string &text) {
  if (tail_.stopped != StopStrings::NONE)
    return;
  if (is_torn_)
    rewind(0);
  DecodeStream decoder(stream_);
  Tail tail = tail_;
  std::string more;
  decoder.finish(more);
  pass(more, tail, text);
  if (options_.clean_up) {
    more.clear();
    tail.clean.finish(more);
    pass_to_stop(more, tail, text);
  }
  if (options_.stop != nullptr && tail.stopped == StopStrings::NONE)
    text.append(options_.stop->held(tail.node));
  tail_ = tail;
}

void TextStream::reset() {
  stream_ = new_decoder(false);
  is_torn_ = false;
  tail_ = Tail();
  ids_.clear();
  checkpoints_.clear();
}

std::uint64_t TextStream::rewind(std::size_t count) {
  const std::size_t target = ids_.size() - count;
  std::size_t kept = checkpoints_.size();
  while (kept != 0 && checkpoints_[kept - 1].count > target)
    --kept;
  const std::size_t start = kept == 0 ? 0 : checkpoints_[kept - 1].count;
  Tail tail = kept == 0 ? Tail() : checkpoints_[kept - 1].tail;
  DecodeStream decoder = new_decoder(start != 0);
  std::string text;
  for (std::size_t i = start; i < target; ++i)
    step(decoder, tail, ids_[i], text);
  const std::uint64_t removed = tail_.size - tail.size;
  stream_ = std::move(decoder);
  is_torn_ = false;
  tail_ = tail;
  ids_.resize(target);
  checkpoints_.resize(kept);
  return removed;
}

} // namespace pretok
