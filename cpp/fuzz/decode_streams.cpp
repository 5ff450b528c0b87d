// Fuzzes decode streams of the C interface. After any calls of feed, rewind, clone and reset,
// and after refused calls, the text of a stream must be that of a new stream with the ids that
// remain; stop strings and clean-up must have the results of naive implementations.
#include "capi/pretok.h"
#include "fuzz/input.hpp"
#include "fuzz/rank_lines.hpp"
#include "fuzz/text_model.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pretok;

using Ids = std::vector<std::uint32_t>;

struct Free {
  void operator()(pretok_tokenizer *object) const { pretok_tokenizer_free(object); }
  void operator()(pretok_decode_stream *object) const { pretok_decode_stream_free(object); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;

std::string model(std::size_t number) {
  const std::string replace = "{\"type\": \"Replace\", \"pattern\": {\"String\": \"\u2581\"}, "
                              "\"content\": \" \"}";
  const std::string fallback = replace + ", {\"type\": \"ByteFallback\"}";
  const auto sequence = [](const std::string &decoders) {
    return "{\"type\": \"Sequence\", \"decoders\": [" + decoders + "]}";
  };
  const auto strip = [](int start, int stop) {
    return std::string(", {\"type\": \"Fuse\"}, {\"type\": \"Strip\", \"content\": \" \", "
                       "\"start\": ") +
           std::to_string(start) + ", \"stop\": " + std::to_string(stop) + "}";
  };
  switch (number) {
  case 0: {
    std::string file;
    std::uint32_t rank = 0;
    for (int byte = 0; byte < 256; ++byte)
      file += rank_line(std::string(1, static_cast<char>(byte)), rank++);
    for (const char *token : {" .", "n't", " the", "\xE6\x97", "\xE6\x97\xA5", "a\xE6"})
      file += rank_line(token, rank++);
    return file;
  }
  case 1:
    return text_model(sequence(fallback + strip(1, 0)));
  case 2:
    return text_model(sequence(fallback + strip(0, 2)));
  case 3:
    return text_model(sequence(fallback));
  case 4:
    return text_model("{\"type\": \"Metaspace\", \"replacement\": \"\u2581\", "
                      "\"prepend_scheme\": \"always\", \"split\": false}");
  case 5:
    return text_model("{\"type\": \"WordPiece\", \"prefix\": \"a\", \"cleanup\": true}");
  case 6:
    return text_model("{\"type\": \"BPEDecoder\", \"suffix\": \"a\"}");
  default:
    return text_model("{\"type\": \"CTC\", \"pad_token\": \"a\", \"word_delimiter_token\": "
                      "\"s\", \"cleanup\": true}");
  }
}
constexpr std::size_t MODELS = 8;

const pretok_tokenizer *tokenizer_of(std::size_t number) {
  static std::array<Owned<pretok_tokenizer>, MODELS> cache;
  Owned<pretok_tokenizer> &tokenizer = cache[number];
  if (tokenizer == nullptr) {
    const std::string file = model(number);
    pretok_load_options options{};
    options.struct_size = sizeof options;
    options.preset = number == 0 ? "gpt2" : nullptr;
    pretok_tokenizer *loaded = nullptr;
    pretok_error error{};
    const pretok_status status =
        pretok_tokenizer_from_memory(file.data(), file.size(), &options, &loaded, &error);
    check(status == PRETOK_OK, error.message);
    tokenizer.reset(loaded);
  }
  return tokenizer.get();
}

// Returns the ids of all tokens.
const Ids &ids_of(std::size_t number) {
  static std::array<Ids, MODELS> cache;
  Ids &known = cache[number];
  const pretok_tokenizer *const tokenizer = tokenizer_of(number);
  const char *bytes = nullptr;
  std::size_t size = 0;
  if (known.empty())
    for (std::uint32_t id = 0; id < pretok_vocab_size(tokenizer); ++id)
      if (pretok_token_bytes(tokenizer, id, &bytes, &size, nullptr) == PRETOK_OK)
        known.push_back(id);
  return known;
}

// A stream, its ids, and the text that it has returned.
struct Stream {
  Owned<pretok_decode_stream> handle;
  Ids ids;
  std::string text;
  bool is_stopped = false;
};

struct Case {
  const pretok_tokenizer *tokenizer;
  pretok_decode_options options;
};

Stream open_stream(const Case &one) {
  pretok_decode_stream *made = nullptr;
  check(pretok_decode_stream_with(one.tokenizer, &one.options, &made, nullptr) == PRETOK_OK,
        "creating a stream succeeds");
  return {Owned<pretok_decode_stream>(made), {}, {}, false};
}

void feed(Stream &stream, const Ids &ids) {
  const char *text = nullptr;
  std::size_t size = 0;
  const pretok_status status = pretok_decode_stream_feed(stream.handle.get(), ids.data(),
                                                         ids.size(), &text, &size, nullptr);
  check(status == (stream.is_stopped ? PRETOK_FINISHED : PRETOK_OK),
        "only a stopped stream refuses ids");
  if (stream.is_stopped)
    return;
  stream.text.append(text, size);
  stream.ids.insert(stream.ids.end(), ids.begin(), ids.end());
  stream.is_stopped = pretok_decode_stream_stopped(stream.handle.get()) != PRETOK_NO_STOP;
  const std::size_t count = pretok_decode_stream_size(stream.handle.get());
  check(count == stream.ids.size() || (stream.is_stopped && count < stream.ids.size()),
        "only a stop string ends the ids");
  stream.ids.resize(count);
}

// Checks that a call with an unknown id, or that rewinds too many ids, fails. Later checks show
// that the stream stays unchanged.
void check_refusals(const Stream &stream, std::size_t vocab_size) {
  const char *text = nullptr;
  std::size_t size = 0;
  pretok_error error{};
  const std::uint32_t ids[] = {3, static_cast<std::uint32_t>(vocab_size)};
  const pretok_status status =
      pretok_decode_stream_feed(stream.handle.get(), ids, 2, &text, &size, &error);
  check(status == (stream.is_stopped ? PRETOK_FINISHED : PRETOK_UNKNOWN_ID) && text == nullptr,
        "an unknown id is refused");
  check(stream.is_stopped || error.position == 1, "the error has the index of the id");
  check(pretok_decode_stream_rewind(stream.handle.get(), stream.ids.size() + 1, &size,
                                    nullptr) == PRETOK_INVALID_ARGUMENT,
        "only ids that a stream got can be removed");
}

void rewind_by(Stream &stream, std::size_t count) {
  std::size_t removed = 0;
  check(pretok_decode_stream_rewind(stream.handle.get(), count, &removed, nullptr) ==
                PRETOK_OK &&
            removed <= stream.text.size(),
        "rewinding succeeds, and removes text that was returned");
  stream.ids.resize(stream.ids.size() - count);
  stream.text.resize(stream.text.size() - removed);
  stream.is_stopped = pretok_decode_stream_stopped(stream.handle.get()) != PRETOK_NO_STOP;
}

Stream clone(const Stream &stream) {
  pretok_decode_stream *made = nullptr;
  check(pretok_decode_stream_clone(stream.handle.get(), &made, nullptr) == PRETOK_OK,
        "copying succeeds");
  return {Owned<pretok_decode_stream>(made), stream.ids, stream.text, stream.is_stopped};
}

// Finishes a stream, and returns all its text.
std::string finish(const Stream &stream) {
  const char *text = nullptr;
  std::size_t size = 0;
  check(pretok_decode_stream_finish(stream.handle.get(), &text, &size, nullptr) == PRETOK_OK,
        "finishing succeeds");
  return stream.text + std::string(text, size);
}

// A finished stream, and its copies, accept only pretok_decode_stream_reset.
void check_finished(const Stream &stream) {
  const char *text = nullptr;
  std::size_t size = 0;
  const Stream copy = clone(stream);
  for (pretok_decode_stream *const each : {stream.handle.get(), copy.handle.get()}) {
    check(pretok_decode_stream_finish(each, &text, &size, nullptr) == PRETOK_FINISHED &&
              pretok_decode_stream_feed(each, nullptr, 0, &text, &size, nullptr) ==
                  PRETOK_FINISHED &&
              pretok_decode_stream_rewind(each, 0, &size, nullptr) == PRETOK_FINISHED,
          "a finished stream accepts no ids");
    check(pretok_decode_stream_reset(each, nullptr) == PRETOK_OK &&
              pretok_decode_stream_size(each) == 0 &&
              pretok_decode_stream_feed(each, nullptr, 0, &text, &size, nullptr) == PRETOK_OK,
          "a stream that was reset accepts ids");
  }
}

std::string decoded(const Case &one, const Ids &ids) {
  Stream stream = open_stream(one);
  feed(stream, ids);
  return finish(stream);
}

void replace_all(std::string &text, const std::string &old, const std::string &content) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += content.size())
    text.replace(at, old.size(), content);
}

// Returns the text of `ids` with the naive clean-up and stop strings.
std::string naive_text(const Case &one, const std::vector<std::string> &stop, const Ids &ids) {
  Case plain = one;
  plain.options.clean_up = false;
  plain.options.stop_count = 0;
  std::string text = decoded(plain, ids);
  if (one.options.clean_up)
    for (const auto &[old, content] :
         std::initializer_list<std::pair<const char *, const char *>>{{" .", "."},
                                                                      {" ?", "?"},
                                                                      {" !", "!"},
                                                                      {" ,", ","},
                                                                      {" ' ", "'"},
                                                                      {" n't", "n't"},
                                                                      {" 'm", "'m"},
                                                                      {" 's", "'s"},
                                                                      {" 've", "'ve"},
                                                                      {" 're", "'re"}})
      replace_all(text, old, content);
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string &string : stop)
      if (string.size() <= end &&
          text.compare(end - string.size(), string.size(), string) == 0 &&
          string.size() > longest)
        longest = string.size();
    if (longest != 0)
      return text.substr(0, end - longest);
  }
  return text;
}

void check_stream(const Case &one, const std::vector<std::string> &stop, const Stream &stream) {
  Stream fresh = open_stream(one);
  feed(fresh, stream.ids);
  check(fresh.text == stream.text && fresh.ids == stream.ids &&
            fresh.is_stopped == stream.is_stopped,
        "a stream has the state of a new one with its ids");
  const Stream copy = clone(stream);
  const std::string text = finish(copy);
  check(text == finish(fresh), "a stream ends like a new one with its ids");
  check_finished(copy);
  check(text == naive_text(one, stop, stream.ids),
        "a naive implementation gives the same text");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::size_t number = input.below(MODELS);
  Case one{tokenizer_of(number), {}};
  const std::uint8_t choices = input.byte();
  static const std::vector<std::string> STRINGS = {"a",  ".",   " the", "\xE6\x97\xA5",
                                                   "aa", "a.a", "n't",  "\xEF\xBF\xBD"};
  std::vector<std::string> stop;
  for (std::uint8_t bits = (choices & 8) != 0 ? input.byte() : 0, i = 0; i < 8; ++i)
    if ((bits >> i & 1) != 0)
      stop.push_back(STRINGS[i]);
  std::vector<const char *> texts;
  std::vector<std::size_t> sizes;
  for (const std::string &string : stop) {
    texts.push_back(string.data());
    sizes.push_back(string.size());
  }
  one.options.struct_size = sizeof one.options;
  one.options.skip_special = (choices & 1) != 0;
  one.options.continuation = (choices & 2) != 0;
  one.options.clean_up = (choices & 4) != 0;
  one.options.stop = texts.data();
  one.options.stop_sizes = sizes.data();
  one.options.stop_count = stop.size();
  const Ids &known = ids_of(number);
  std::vector<Stream> streams;
  streams.push_back(open_stream(one));
  for (int step = 0; step < 24 && input.left() != 0; ++step) {
    Stream &stream = streams[input.below(streams.size())];
    const std::uint8_t action = input.byte();
    if (action % 8 < 5) {
      Ids ids;
      for (std::size_t left = action / 8 % 4; left != 0; --left) {
        // Some ids of a text model, and the ids of some bytes, are more likely.
        const std::uint8_t byte = input.byte();
        ids.push_back(known[(byte < 128 ? byte % 12 : byte * std::size_t{3}) % known.size()]);
      }
      // Repeat some ids until the stream has checkpoints, from which it rewinds.
      const Ids few = ids;
      for (int left = action >= 0xF8 && input.is_one_in(8) ? 40 : 0; left != 0; --left)
        ids.insert(ids.end(), few.begin(), few.end());
      feed(stream, ids);
    } else if (action % 8 == 5) {
      rewind_by(stream, stream.ids.empty() ? 0 : input.below(stream.ids.size() + 1));
    } else if (action % 8 == 6 && streams.size() < 4) {
      streams.push_back(clone(stream));
    } else if (action % 64 == 15) {
      check_refusals(stream, pretok_vocab_size(one.tokenizer));
    } else if (action % 64 == 7) {
      check(pretok_decode_stream_reset(stream.handle.get(), nullptr) == PRETOK_OK,
            "resetting succeeds");
      stream.ids.clear();
      stream.text.clear();
      stream.is_stopped = false;
    }
  }
  for (const Stream &stream : streams)
    check_stream(one, stop, stream);
  return 0;
}
