// Fuzzes pretok_encode_segments. Ids, spans and ends must equal those of a naive
// implementation: it finds the added tokens of each segment by itself, and encodes the text
// between them at once.
#include "fuzz/small_tokenizers.hpp"

#include <algorithm>

namespace {

using namespace pretok;

struct Part {
  std::string text;
  pretok_special special;
  std::vector<std::uint32_t> ids;
};

struct Result {
  std::vector<std::uint32_t> ids;
  std::vector<pretok_segment_span> spans;
  std::vector<std::size_t> ends;
  pretok_status status = PRETOK_OK;
  std::size_t failed = 0; // the segment and the position of an error
  std::size_t position = 0;
};

const char *const TEXTS[] = {"a",  "the", " the", " ",    "  ",   "\n",   "\r\n",    "'s",
                             "12", "!",   "<x>",  "<",    "x",    ">",    "<x>y",    "y",
                             "é",  "中",  "\xE4", "\xB8", "\xAD", "word", "<x><x>y", ">y"};

std::vector<Part> parts_of(Input &input) {
  constexpr std::size_t COUNT = sizeof TEXTS / sizeof *TEXTS;
  std::vector<Part> parts(input.below(12));
  for (Part &part : parts) {
    part.special = static_cast<pretok_special>(input.below(PRETOK_SPECIAL_CONTENT + 1));
    for (std::size_t left = input.below(5); left > 0; --left)
      part.text += TEXTS[input.below(COUNT)];
    if (input.below(6) == 0)
      for (std::size_t left = input.below(4); left > 0; --left)
        part.ids.push_back(input.byte());
  }
  return parts;
}

// Builds the expected result.
class Naive {
public:
  Naive(const pretok_tokenizer *tokenizer, const std::vector<Part> &parts)
      : tokenizer_(tokenizer), parts_(parts) {
    for (const Part &part : parts) {
      firsts_.push_back(size_);
      size_ += part.text.size();
    }
  }

  Result encode() {
    for (std::size_t at = 0; at < parts_.size(); ++at)
      if (!add(at))
        return result_;
    flush();
    for (std::size_t at = 0; at < parts_.size(); ++at)
      result_.ends.push_back(static_cast<std::size_t>(
          std::find_if(result_.spans.begin(), result_.spans.end(),
                       [&](const pretok_segment_span &span) { return span.segment > at; }) -
          result_.spans.begin()));
    return result_;
  }

private:
  // Adds a segment. Returns false if its policy refuses a token.
  bool add(std::size_t at) {
    const Part &part = parts_[at];
    const bool is_searched =
        part.special == PRETOK_SPECIAL_ALLOW || part.special == PRETOK_SPECIAL_RAISE;
    for (std::size_t i = 0; i < part.text.size();) {
      const bool is_x = is_searched && part.text.compare(i, 3, "<x>") == 0;
      if (!is_x) {
        text_ += part.text[i++];
        continue;
      }
      if (part.special == PRETOK_SPECIAL_RAISE) {
        result_ = {};
        result_.status = PRETOK_SPECIAL_TOKEN;
        result_.failed = at;
        result_.position = i;
        return false;
      }
      const bool is_y = part.text.compare(i, 4, "<x>y") == 0;
      flush();
      add_token(is_y ? Y : X, is_y ? 4 : 3);
      i += is_y ? 4 : 3;
    }
    if (part.ids.empty())
      return true;
    flush();
    for (std::size_t i = 0; i < part.ids.size(); ++i) {
      result_.ids.push_back(part.ids[i]);
      result_.spans.push_back({at, i, at, i + 1});
    }
    return true;
  }

  // Encodes the text since the last added token.
  void flush() {
    pretok_encode_options options{};
    options.struct_size = sizeof options;
    options.special = PRETOK_SPECIAL_PLAIN;
    std::vector<std::uint32_t> ids(pretok_encode_bound(tokenizer_, text_.size()));
    std::size_t count = 0;
    check(pretok_encode(tokenizer_, text_.data(), text_.size(), &options, ids.data(),
                        ids.size(), &count, nullptr) == PRETOK_OK,
          "plain text encodes");
    text_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const char *bytes = nullptr;
      std::size_t size = 0;
      check(ids[i] < X, "plain text has no special token");
      check(pretok_rendered_bytes(tokenizer_, ids[i], &bytes, &size, nullptr) == PRETOK_OK,
            "an id has bytes");
      add_token(ids[i], size);
    }
  }

  void add_token(std::uint32_t id, std::size_t size) {
    const std::size_t first = segment_with(done_);
    const std::size_t last = segment_with(done_ + size - 1);
    result_.ids.push_back(id);
    result_.spans.push_back(
        {first, done_ - firsts_[first], last, done_ + size - firsts_[last]});
    done_ += size;
  }

  std::size_t segment_with(std::size_t byte) const {
    std::size_t at = 0;
    while (firsts_[at] + parts_[at].text.size() <= byte)
      ++at;
    return at;
  }

  const pretok_tokenizer *tokenizer_;
  const std::vector<Part> &parts_;
  std::vector<std::size_t> firsts_;
  std::size_t size_ = 0;
  std::size_t done_ = 0; // the end of the last token
  std::string text_;     // since the last added token
  Result result_;
};

std::vector<pretok_segment> segments_of(const std::vector<Part> &parts) {
  std::vector<pretok_segment> segments;
  for (const Part &part : parts)
    segments.push_back({part.text.data(), part.text.size(), part.ids.data(), part.ids.size(),
                        part.special, nullptr});
  return segments;
}

Result encode(const pretok_tokenizer *tokenizer, const std::vector<Part> &parts, bool joined) {
  const std::vector<pretok_segment> segments = segments_of(parts);
  Result result;
  pretok_error error{};
  std::size_t count = 0;
  result.ends.resize(parts.size());
  std::size_t capacity = 0; // each token has a byte
  for (const Part &part : parts)
    capacity += part.text.size() + part.ids.size();
  result.ids.resize(capacity);
  result.spans.resize(capacity);
  result.status =
      pretok_encode_segments(tokenizer, segments.data(), segments.size(), joined,
                             result.ids.data(), result.spans.data(), result.ids.size(), &count,
                             result.ends.data(), &result.failed, &error);
  if (result.status != PRETOK_OK) {
    result.position = error.position;
    count = 0;
    result.ends.clear();
  }
  result.ids.resize(count);
  result.spans.resize(count);
  return result;
}

void check_equal(const Result &found, const Result &expected) {
  check(found.status == expected.status, "the status is the expected one");
  check(found.failed == expected.failed && found.position == expected.position,
        "an error names the first refused token");
  check(found.ids == expected.ids, "the ids are the expected ones");
  check(found.ends == expected.ends, "the ends are the expected ones");
  for (std::size_t i = 0; i < found.spans.size(); ++i) {
    const pretok_segment_span &ours = found.spans[i];
    const pretok_segment_span &theirs = expected.spans[i];
    check(ours.segment == theirs.segment && ours.start == theirs.start &&
              ours.end_segment == theirs.end_segment && ours.end == theirs.end,
          "the spans are the expected ones");
  }
}

// Checks calls with other buffers.
void check_buffers(const pretok_tokenizer *tokenizer, const std::vector<Part> &parts,
                   const Result &expected) {
  const std::vector<pretok_segment> segments = segments_of(parts);
  std::vector<std::uint32_t> ids(expected.ids.size() + 1);
  std::size_t count = 0;
  check(pretok_encode_segments(tokenizer, segments.data(), segments.size(), true, ids.data(),
                               nullptr, ids.size(), &count, nullptr, nullptr,
                               nullptr) == PRETOK_OK,
        "spans and ends are optional");
  ids.resize(count);
  check(ids == expected.ids, "the ids do not depend on spans and ends");
  if (!ids.empty())
    check(pretok_encode_segments(tokenizer, segments.data(), segments.size(), true, ids.data(),
                                 nullptr, ids.size() - 1, &count, nullptr, nullptr,
                                 nullptr) == PRETOK_TOO_SMALL &&
              count == expected.ids.size(),
          "a small buffer gives the needed size");
}

Result encode_apart(const pretok_tokenizer *tokenizer, const std::vector<Part> &parts) {
  Result result;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const std::vector<Part> alone{parts[at]};
    Result part = Naive(tokenizer, alone).encode();
    if (part.status != PRETOK_OK) {
      part.failed = at;
      return part;
    }
    result.ids.insert(result.ids.end(), part.ids.begin(), part.ids.end());
    for (const pretok_segment_span &span : part.spans)
      result.spans.push_back({at, span.start, at, span.end});
    result.ends.push_back(result.ids.size());
  }
  return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const pretok_tokenizer *const tokenizer = tokenizer_of(input.byte());
  const std::vector<Part> parts = parts_of(input);
  const Result expected = Naive(tokenizer, parts).encode();
  check_equal(encode(tokenizer, parts, true), expected);
  check_equal(encode(tokenizer, parts, false), encode_apart(tokenizer, parts));
  if (expected.status == PRETOK_OK)
    check_buffers(tokenizer, parts, expected);
  return 0;
}
