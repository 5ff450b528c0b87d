#include "core/decode/decode_stream.hpp"

#include "core/unicode/utf8.hpp"

#include <algorithm>

namespace pretok {

DecodeStream::DecodeStream(const Decoder &decoder, bool skip_special, bool keeps_invalid,
                           bool continuation)
    : decoder_(&decoder), rules_(decoder.join_rules()), skip_special_(skip_special),
      invalid_(keeps_invalid                ? Invalid::KEEP
               : decoder.is_sentencepiece() ? Invalid::MARK_PER_BYTE
                                            : Invalid::ONE_MARK) {
  if (rules_ != nullptr)
    start_ = continuation ? 0 : rules_->start;
  else
    flows_.emplace(decoder.rules_, keeps_invalid);
  if (flows_ && continuation)
    flows_->skip_start();
  is_idle_ = has_no_state();
}

void DecodeStream::feed(const std::uint32_t *ids, std::size_t count, std::string &text) {
  for (std::size_t i = 0; i < count; ++i) {
    if (skip_special_ && decoder_->has(ids[i], IdFlag::SKIPPED))
      continue;
    if (flows_)
      flows_->feed(decoder_->own_.texts.text(ids[i]), text);
    else
      join(ids[i], text);
  }
  is_idle_ = has_no_state();
}

void DecodeStream::finish(std::string &text) {
  if (flows_)
    flows_->finish(text);
  else
    release(text);
}

void DecodeStream::join(std::uint32_t id, std::string &text) {
  const std::string_view more = rules_->texts.text(id);
  const std::uint8_t flags = rules_->flags[id];
  const bool is_run = (flags & IdFlag::RUN) != 0;
  if (is_run && rules_->has_runs) {
    held_ += more;
  } else if (is_run || rules_->are_bytes) {
    start_ = 0;
    add_bytes(more, text);
  } else {
    release(text);
    add_stripped(more, (flags & IdFlag::SPACED) != 0, text);
  }
}

void DecodeStream::add_bytes(std::string_view more, std::string &text) {
  const bool has_held = !held_.empty();
  if (has_held)
    more = held_ += more;
  const std::size_t whole = append_whole_utf8(more, invalid_, text);
  if (whole == more.size())
    held_.clear();
  else if (has_held)
    held_.erase(0, whole);
  else
    held_ = more.substr(whole);
}

void DecodeStream::add_stripped(std::string_view more, bool is_spaced, std::string &text) {
  if (rules_->only_spaced && start_ != 0 && !more.empty()) {
    more.remove_prefix(is_spaced ? 1 : 0);
    start_ = is_spaced && more.empty() && rules_->strips_again ? 1 : 0;
  }
  for (; start_ != 0 && !more.empty(); --start_) {
    if (more[0] != ' ') {
      start_ = 0;
      break;
    }
    more.remove_prefix(1);
  }
  std::size_t last = 0; // the number of spaces at the end of `more` that may be stripped
  while (last < rules_->stop && last < more.size() && more[more.size() - 1 - last] == ' ')
    ++last;
  if (last == more.size()) {
    const std::size_t held = std::min(last, rules_->stop - spaces_);
    text.append(last - held, ' ');
    spaces_ += held;
  } else {
    text.append(spaces_, ' ').append(more, 0, more.size() - last);
    spaces_ = last;
  }
}

void DecodeStream::release(std::string &text) {
  if (held_.empty())
    return;
  if (rules_->has_runs) {
    std::string marks;
    if (invalid_ != Invalid::KEEP && !is_utf8(held_))
      append_replacements(held_.size(), marks);
    add_stripped(marks.empty() ? held_ : marks, false, text);
  } else if (invalid_ == Invalid::KEEP) {
    text += held_;
  } else {
    append_replacements(invalid_ == Invalid::MARK_PER_BYTE ? held_.size() : 1, text);
  }
  held_.clear();
}

} // namespace pretok
