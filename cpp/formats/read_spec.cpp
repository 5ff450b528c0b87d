#include "formats/read_spec.hpp"

#include "core/base/ids.hpp"
#include "core/unicode/byte_level.hpp"
#include "formats/character_spec.hpp"
#include "formats/gguf.hpp"
#include "formats/pretok_file.hpp"
#include "formats/sentencepiece.hpp"
#include "formats/tiktoken.hpp"
#include "formats/tokenizer_json.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace pretok {
namespace {

constexpr std::size_t MAX_FILE_BYTES = std::size_t{1} << 29;

// Files that users load by mistake. The message is "this is DESCRIPTION".
struct ForeignFormat {
  std::string_view start; // the first bytes of the file
  const char *description;
};
// bpe/formats/foreign.py has the same list.
constexpr ForeignFormat FOREIGN_FORMATS[] = {
    {"PK\x03\x04", "a zip archive, such as a checkpoint of a model"},
    {"\x1f\x8b", "compressed with gzip; unpack it first"},
    {"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"},
    {"version https://git-lfs",
     "only the pointer of Git LFS; get the file with `git lfs pull`"},
    {"<!DOCTYPE", "a web page; download the file itself"},
    {"<!doctype", "a web page; download the file itself"},
    {"<html", "a web page; download the file itself"},
    {"\x80\x02", "a pickle; pretok never runs code from a file"},
    {"\x80\x03", "a pickle; pretok never runs code from a file"},
    {"\x80\x04", "a pickle; pretok never runs code from a file"},
    {"\x80\x05", "a pickle; pretok never runs code from a file"},
};
constexpr char SAVE_AS_PRETOK[] =
    "; convert it in Python: bpe.load(path).save(\"name.pretok\")";

// Returns whether this build reads the format: PRETOK_FORMATS, such as "tiktoken json", lists
// it or is not defined. The linker omits the code of other readers.
constexpr bool reads([[maybe_unused]] std::string_view format) {
#ifdef PRETOK_FORMATS
  return std::string_view(PRETOK_FORMATS).find(format) != std::string_view::npos;
#else
  return true;
#endif
}

[[maybe_unused]] LoadError not_built(std::string_view file, std::string_view format) {
  return unsupported("this is ", file, ", which this build of pretok does not read; add ",
                     format, " to PRETOK_FORMATS");
}

LoadError read_gguf_file(ByteSource &file, TokenizerSpec &spec) {
  if constexpr (reads("gguf"))
    return read_gguf(file, spec);
  else
    return not_built("a GGUF file", "gguf");
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Returns whether `text` looks like a merges.txt. Looks at the first three lines that are not
// empty. None of them has a control character. The first line begins with "#version", or each
// of the three lines has exactly one space.
bool looks_like_merges(std::string_view text) {
  int seen = 0;
  bool is_header = false;
  while (!text.empty() && seen < 3) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    if (line.empty())
      continue;
    if (std::any_of(line.begin(), line.end(),
                    [](char byte) { return static_cast<unsigned char>(byte) < 0x20; }))
      return false;
    is_header = is_header || (seen == 0 && starts_with(line, "#version"));
    if (!is_header && std::count(line.begin(), line.end(), ' ') != 1)
      return false;
    ++seen;
  }
  return seen != 0;
}

LoadError too_large() {
  return malformed("the file has more than ", MAX_FILE_BYTES,
                   " bytes; expected a vocabulary file");
}

LoadError read_any(std::string_view data, TokenizerSpec &spec) {
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(data.data());
  if (is_gguf(bytes, data.size())) {
    MemorySource file(bytes, data.size());
    return read_gguf_file(file, spec);
  }
  if (data.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos)
    return malformed("the file is empty; expected a vocabulary");
  if (data.size() > MAX_FILE_BYTES)
    return too_large();
  if (is_pretok_file(bytes, data.size())) {
    if constexpr (reads("pretok"))
      return read_pretok_file(bytes, data.size(), spec);
    else
      return not_built("a .pretok file", "pretok");
  }
  for (const ForeignFormat &format : FOREIGN_FORMATS)
    if (starts_with(data, format.start))
      return unsupported("this is ", format.description);
  if (is_sentencepiece(data)) {
    if constexpr (reads("sentencepiece"))
      return read_sentencepiece(data, spec);
    else
      return not_built("a .model of SentencePiece", "sentencepiece");
  }
  const std::string_view text = data.substr(starts_with(data, "\xef\xbb\xbf") ? 3 : 0);
  const std::size_t first = text.find_first_not_of(" \t\n\v\f\r");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
    if constexpr (reads("json"))
      return read_tokenizer_json(data, spec);
    else
      return not_built("a JSON file", "json");
  }
  if (starts_with(text, "minbpe v"))
    return unsupported("this is a minbpe .model, which only Python reads", SAVE_AS_PRETOK);
  if (looks_like_ranks(reinterpret_cast<const std::uint8_t *>(text.data()), text.size())) {
    if constexpr (reads("tiktoken"))
      return read_tiktoken(bytes, data.size(), spec);
    else
      return not_built("a rank file of tiktoken", "tiktoken");
  }
  if (looks_like_merges(text))
    return unsupported("this is a merges.txt, which only Python reads", SAVE_AS_PRETOK);
  return malformed(
      "the file begins with ", quote(data.substr(0, 24)),
      ", not like a vocabulary that pretok reads; expected a rank file of tiktoken, a "
      "tokenizer.json, a .model of SentencePiece, a GGUF file or a .pretok file");
}

// Checks the condition on bytes that read_spec documents.
LoadError check_bytes(const VocabularyData &data) {
  std::array<bool, 256> has{};
  std::size_t start = 0;
  for (const std::uint32_t length : data.lengths) {
    if (length == 1)
      has[data.bytes[start]] = true;
    start += length;
  }
  std::size_t missing = 0;
  std::size_t first = 0;
  for (std::size_t byte = 256; byte-- > 0;) {
    if (has[byte] || (!data.from_ranks && is_rare_byte(byte)))
      continue;
    ++missing;
    first = byte;
  }
  if (missing == 0)
    return {};
  return malformed("the vocabulary has no token for ", missing,
                   " of the 256 bytes (first: ", first,
                   "); expected a byte-level vocabulary, with a token for each byte");
}

// Checks the conditions on added tokens that read_spec documents. make_tokenizer checks the
// added tokens of its options.
LoadError check_added(const TokenizerSpec &spec) {
  struct Entry {
    std::string_view content;
    std::uint32_t id;
    bool operator<(const Entry &other) const { return content < other.content; }
  };
  std::vector<Entry> entries;
  for (const AddedToken &token : spec.added)
    entries.push_back({token.content, token.id});
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].content.empty() || !is_utf8(entries[i].content))
      return malformed("added token ", entries[i].id, " is ", quote(entries[i].content),
                       "; expected UTF-8 that is not empty");
    if (entries[i].id >= ID_LIMIT)
      return malformed("added token ", quote(entries[i].content), " has id ", entries[i].id,
                       "; expected a number from 0 to ", ID_LIMIT - 1);
    if (i != 0 && entries[i].content == entries[i - 1].content)
      return malformed("added token ", quote(entries[i].content), " is listed twice");
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.id < b.id; });
  std::vector<bool> is_added(entries.empty() ? 0 : std::size_t{entries.back().id} + 1); // by id
  for (const Entry &entry : entries)
    is_added[entry.id] = true;
  std::size_t start = 0;
  const auto *bytes = reinterpret_cast<const char *>(spec.vocabulary.bytes.data());
  for (std::size_t i = 0; i < spec.vocabulary.ids.size(); ++i) {
    const std::uint32_t id = spec.vocabulary.ids[i];
    const std::string_view token(bytes + start, spec.vocabulary.lengths[i]);
    start += token.size();
    if (id >= is_added.size() || !is_added[id])
      continue;
    const auto first = std::lower_bound(
        entries.begin(), entries.end(), id,
        [](const Entry &entry, std::uint32_t limit) { return entry.id < limit; });
    for (auto entry = first; entry != entries.end() && entry->id == id; ++entry)
      if (!names_token(entry->content, token, spec))
        return malformed("added token ", quote(entry->content), " has id ", id, ", the id of ",
                         quote(token), "; ids must be unique");
  }
  return {};
}

// SentencePiece decodes special tokens, but for the unknown token, to no text.
void list_invisible(TokenizerSpec &spec) {
  std::vector<bool> is_listed(first_step(spec));
  for (const std::uint32_t id : spec.vocabulary.ids)
    is_listed[id] = id != spec.text->unknown_id;
  for (const AddedToken &token : spec.added)
    if (token.special && is_listed[token.id])
      spec.decoding->invisible.push_back(token.id);
}

LoadError finish_spec(TokenizerSpec &spec) {
  LoadError error = spec.text ? LoadError() : check_bytes(spec.vocabulary);
  if (!error)
    error = check_added(spec);
  if (!error && spec.decoding)
    list_invisible(spec);
  return error;
}

} // namespace

bool names_token(std::string_view content, std::string_view token, const TokenizerSpec &spec) {
  return content == token || (!spec.text && content == byte_characters(token));
}

LoadError read_spec(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec) {
  LoadError error = read_any({reinterpret_cast<const char *>(data), size}, spec);
  return error ? std::move(error) : finish_spec(spec);
}

LoadError read_spec(ByteSource &file, TokenizerSpec &spec) {
  std::vector<std::uint8_t> data(4);
  data.resize(file.read(0, data.data(), data.size()));
  if (is_gguf(data.data(), data.size())) {
    LoadError error = read_gguf_file(file, spec);
    return error ? std::move(error) : finish_spec(spec);
  }
  if (file.size() > MAX_FILE_BYTES)
    return too_large();
  // Request one byte more than the expected size. If a read returns fewer bytes than requested,
  // the file has ended.
  std::size_t wanted =
      std::max(static_cast<std::size_t>(file.size()) + 1, std::size_t{1} << 16);
  for (bool is_end = false; !is_end;) {
    const std::size_t had = data.size();
    if (had > MAX_FILE_BYTES)
      return too_large();
    data.resize(wanted);
    const std::size_t got = file.read(had, data.data() + had, wanted - had);
    data.resize(had + got);
    is_end = data.size() < wanted;
    wanted = std::min(2 * wanted, MAX_FILE_BYTES + 1);
  }
  return read_spec(data.data(), data.size(), spec);
}

} // namespace pretok
