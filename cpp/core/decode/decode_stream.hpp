// Decodes ids that come in parts.
#pragma once

#include "core/decode/decoder.hpp"
#include "core/unicode/whole_utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pretok {

// Decodes a stream of ids to UTF-8. A copy is independent.
class DecodeStream {
public:
  // Decoder::decode explains `keeps_invalid`. If `continuation`, the ids follow other text, so
  // that the first space stays.
  DecodeStream(const Decoder &decoder, bool skip_special, bool keeps_invalid = false,
               bool continuation = false);

  // Appends the text that the ids complete. Each id must have a token.
  void feed(const std::uint32_t *ids, std::size_t count, std::string &text);
  // Appends the text that is held back. An incomplete sequence of UTF-8 becomes one U+FFFD, or
  // one per byte for SentencePiece.
  void finish(std::string &text);

  // Returns whether the state is that of a new stream with `continuation`.
  bool is_idle() const { return is_idle_; }

private:
  bool has_no_state() const {
    return flows_ ? flows_->is_idle() : start_ == 0 && spaces_ == 0 && held_.empty();
  }
  // Appends the text that the token completes, by rules_.
  void join(std::uint32_t id, std::string &text);
  // Appends `more`, bytes that need not be UTF-8, but for an incomplete character at the end.
  void add_bytes(std::string_view more, std::string &text);
  // Appends `more`, of a token that is SPACED or not, without the spaces to strip.
  void add_stripped(std::string_view more, bool is_spaced, std::string &text);
  // Appends the incomplete character or the run of fallback bytes that is held back.
  void release(std::string &text);

  const Decoder *decoder_;
  const JoinRules *rules_; // nullptr: flows_ decode
  bool skip_special_;
  bool is_idle_ = false;
  Invalid invalid_;
  std::size_t start_ = 0;  // the number of spaces that may still be stripped at the start
  std::size_t spaces_ = 0; // the number of spaces held back, which are stripped at the end
  // An incomplete character. If JoinRules::has_runs, a run of fallback bytes.
  std::string held_;
  std::optional<DecoderFlows> flows_; // set if there are no rules_
};

} // namespace pretok
