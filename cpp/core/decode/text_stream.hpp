// Decodes a stream of ids for a server: DecodeStream with options, a history of its ids, and
// copies. bpe/decoders/text_stream.py does the same in Python.
#pragma once

#include "core/decode/clean_up.hpp"
#include "core/decode/decode_stream.hpp"
#include "core/decode/stop_strings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

struct TextStreamOptions {
  bool skip_special = false;
  bool continuation = false; // decode ids that follow other text: keep the first space
  bool clean_up = false;     // see CleanUp
  std::shared_ptr<const StopStrings> stop = nullptr;
  bool counts_code_points = false; // for rewind()
};

// After any calls, the text that the stream has appended is that of a new stream which gets the
// ids of this stream. One thread at a time may use a TextStream.
class TextStream {
public:
  TextStream(const Decoder &decoder, TextStreamOptions options);
  TextStream(TextStream &&) = default;
  TextStream &operator=(TextStream &&) = default;

  // Returns an independent copy, which another thread may use. Copies all ids.
  TextStream clone() const { return *this; }

  // Appends the text that the ids complete. Each id must have a token. A stop string ends the
  // text; the stream then takes no more ids. If there is no memory, the stream is unchanged.
  void feed(const std::uint32_t *ids, std::size_t count, std::string &text);
  // Does the same for the most frequent calls; returns false, without a change, for all others,
  // also if the id has no token. `text` must be empty. Sets `result` to the text, which may be
  // in `text`.
  bool feed_one(std::uint32_t id, std::string &text, std::string_view &result);
  // Appends the text that is held back. After that, only reset() may be called.
  void finish(std::string &text);
  // Removes all ids.
  void reset();
  // Removes the last `count` ids, of at most size(). Returns how many bytes, or code points, at
  // the end of all text so far are no longer part of it. Takes time for some INTERVAL ids, or
  // for more if they hold text back.
  std::uint64_t rewind(std::size_t count);

  // Returns the ids, and their number.
  const std::vector<std::uint32_t> &ids() const { return ids_; }
  std::size_t size() const { return ids_.size(); }
  // Returns the index of the stop string that has ended the text, or StopStrings::NONE.
  std::size_t stopped() const { return tail_.stopped; }

private:
  static constexpr std::size_t INTERVAL = 64;

  // The steps after the decoder. A copy is independent.
  struct Tail {
    CleanUp clean;
    std::uint32_t node = 0; // of the stop strings
    std::size_t stopped = StopStrings::NONE;
    std::uint64_t size = 0; // of all text so far (size_of)
  };
  // The state after the first `count` ids, if the decoder held no text.
  struct Checkpoint {
    std::size_t count;
    Tail tail;
  };

  TextStream(const TextStream &) = default;

  DecodeStream new_decoder(bool is_later) const;
  // Makes room for more ids and their checkpoints.
  void reserve(std::size_t count);
  // Adds a checkpoint after `count` ids if it is time for one, and there is room.
  void add_checkpoint(std::size_t count, const Tail &tail);
  // Finds the text that an idle DecodeStream appends for `id`. Returns false if the stream may
  // append another text, or may not stay idle.
  bool find_whole(std::uint32_t id, std::string_view &text) const {
    if (whole_ == nullptr)
      return false;
    if (id >= whole_->texts.size)
      return false;
    const TokenView token = whole_->texts[id];
    const bool is_skipped = options_.skip_special && whole_->is_skipped[id] != 0;
    text = {reinterpret_cast<const char *>(token.bytes), is_skipped ? 0 : token.size};
    return is_skipped || whole_->is_whole[id] != 0;
  }
  // Feeds one id.
  void step(DecodeStream &decoder, Tail &tail, std::uint32_t id, std::string &text) const;
  // Returns the number of bytes or code points.
  std::uint64_t size_of(std::string_view text) const;
  void pass(std::string_view more, Tail &tail, std::string &text) const;
  void pass_to_stop(std::string_view more, Tail &tail, std::string &text) const;

  const Decoder *decoder_;
  const Decoder::WholeTexts *whole_;
  TextStreamOptions options_;
  DecodeStream stream_;
  // True if a call ran out of memory while it changed stream_. The next call then feeds the ids
  // again. So no call needs a copy of stream_.
  bool is_torn_ = false;
  Tail tail_;
  std::vector<std::uint32_t> ids_;
  std::vector<Checkpoint> checkpoints_;
};

} // namespace pretok
