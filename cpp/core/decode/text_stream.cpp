#include "core/decode/text_stream.hpp"

#include <algorithm>
#include <utility>

namespace pretok {

TextStream::TextStream(const Decoder &decoder, TextStreamOptions options)
    : decoder_(&decoder), whole_(decoder.whole_texts()), options_(std::move(options)),
      stream_(decoder, options_.skip_special, false, options_.continuation) {}

DecodeStream TextStream::new_decoder(bool is_later) const {
  return {*decoder_, options_.skip_special, false, is_later || options_.continuation};
}

void TextStream::feed(const std::uint32_t *ids, std::size_t count, std::string &text) {
  if (is_torn_)
    rewind(0);
  if (ids_.capacity() - ids_.size() < count)
    ids_.reserve(std::max(ids_.size() + count, 2 * ids_.size()));
  Progress now{tail_, 0, ids_.size(), last_checkpoint(), {}};
  is_torn_ = true;
  advance(stream_, now, ids, count, text);
  checkpoints_.reserve(checkpoints_.size() + now.checkpoints.size());
  is_torn_ = false;
  ids_.insert(ids_.end(), ids, ids + now.used);
  tail_ = now.tail;
  checkpoints_.insert(checkpoints_.end(), now.checkpoints.begin(), now.checkpoints.end());
}

bool TextStream::feed_whole(const std::uint32_t *ids, std::size_t count, std::string &text,
                            std::string_view &result) {
  const bool is_plain = !options_.clean_up && options_.stop == nullptr;
  if (!is_plain || is_torn_ || !stream_.is_idle() || ids_.capacity() - ids_.size() < count ||
      ids_.size() + count - last_checkpoint() >= INTERVAL)
    return false;
  result = text;
  for (std::size_t i = 0; i < count; ++i)
    if (!find_whole(ids[i], result))
      return false;
  if (count > 1) {
    for (std::size_t i = 0; i < count; ++i) {
      find_whole(ids[i], result);
      text.append(result);
    }
    result = text;
  }
  tail_.size += result.size();
  for (std::size_t i = 0; i < count; ++i)
    ids_.push_back(ids[i]);
  return true;
}

void TextStream::take(Progress &now, bool is_idle) {
  ++now.used;
  const std::size_t count = now.start + now.used;
  if (count - now.last < INTERVAL || !is_idle || !tail_is_open(now))
    return;
  now.checkpoints.push_back({count, now.tail});
  now.last = count;
}

void TextStream::advance(DecodeStream &decoder, Progress &now, const std::uint32_t *ids,
                         std::size_t count, std::string &text) const {
  std::string more;
  while (now.used < count && tail_is_open(now)) {
    std::string_view whole;
    if (decoder.is_idle() && find_whole(ids[now.used], whole)) {
      pass(whole, now.tail, text);
    } else {
      more.clear();
      decoder.feed(ids + now.used, 1, more);
      pass(more, now.tail, text);
    }
    take(now, decoder.is_idle());
  }
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
  tail.size += text.size() - before;
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
  Progress now{kept == 0 ? Tail() : checkpoints_[kept - 1].tail, 0, start, start, {}};
  DecodeStream decoder = new_decoder(start != 0);
  std::string text;
  advance(decoder, now, ids_.data() + start, target - start, text);
  const std::uint64_t removed = tail_.size - now.tail.size;
  stream_ = std::move(decoder);
  is_torn_ = false;
  tail_ = now.tail;
  ids_.resize(target);
  checkpoints_.resize(kept);
  return removed;
}

} // namespace pretok
