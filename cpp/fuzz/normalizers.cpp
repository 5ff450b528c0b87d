// Fuzzes the normalizers that apply a charsmap. With a valid charsmap, the results equal those
// of a naive implementation. A damaged charsmap may give any result.
#include "core/normalize/precompiled.hpp"
#include "core/normalize/sentencepiece_normalizer.hpp"
#include "core/unicode/utf8.hpp"
#include "fuzz/input.hpp"

#include <map>
#include <set>
#include <utility>

namespace {

using namespace pretok;
using Bytes = std::vector<std::uint8_t>;
using Rules = std::map<std::string, std::string>;

const std::string SPACE_MARK = "\xE2\x96\x81";

// Returns up to `limit` characters, some of which are spaces.
std::string characters(Input &input, std::size_t limit) {
  static const std::string CHARACTERS[] = {
      "a", "b", "c", " ", " ", "\n", "\xCC\x81", "\xC3\xA9", SPACE_MARK, "\xE2\x96\x80"};
  std::string text;
  for (std::size_t count = input.below(limit + 1); count != 0; --count)
    text += CHARACTERS[input.below(sizeof CHARACTERS / sizeof *CHARACTERS)];
  return text;
}

void put_word(std::uint32_t word, Bytes &to) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    to.push_back(static_cast<std::uint8_t>(word >> shift));
}

// Returns the charsmap of `rules`. Each node of the trie has its own block of 256 units.
Bytes charsmap_of(const Rules &rules) {
  constexpr std::uint32_t VALUE = std::uint32_t{1} << 31;
  constexpr std::uint32_t HAS_RULE = 1 << 8;
  std::set<std::string> starts = {""};
  for (const auto &[rule, replacement] : rules)
    for (std::size_t size = 1; size <= rule.size(); ++size)
      starts.insert(rule.substr(0, size));
  Bytes pool;
  std::vector<std::uint32_t> units(256);
  std::map<std::string, std::uint32_t> places = {{"", 0}};
  for (const std::string &start : starts) {
    const std::uint32_t place = places[start];
    const auto children = static_cast<std::uint32_t>(units.size());
    units.resize(units.size() + 256);
    units[place] |= (place ^ children) << 10;
    units[children] = 1; // the wrong label, 1, says that byte 0 has no unit
    const auto rule = rules.find(start);
    if (rule != rules.end()) {
      units[place] |= HAS_RULE;
      units[children] = VALUE | static_cast<std::uint32_t>(pool.size());
      pool.insert(pool.end(), rule->second.begin(), rule->second.end());
      pool.push_back(0);
    }
    for (const std::string &next : starts) {
      if (next.size() != start.size() + 1 || next.compare(0, start.size(), start) != 0)
        continue;
      const auto byte = static_cast<std::uint8_t>(next.back());
      places[next] = children + byte;
      units[children + byte] = byte;
    }
  }
  Bytes blob;
  put_word(static_cast<std::uint32_t>(4 * units.size()), blob);
  for (const std::uint32_t unit : units)
    put_word(unit, blob);
  blob.insert(blob.end(), pool.begin(), pool.end());
  return blob;
}

struct Character {
  std::string text;
  std::int64_t origin;
};

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(text.data()) + at;
    const std::size_t width = decode_utf8(bytes, text.size() - at).width;
    all.push_back(text.substr(at, width));
    at += width;
  }
  return all;
}

// Does the same as SentencePieceNormalizer, by its definition in Python.
struct Naive {
  SentencePieceNormalizer::Options options;
  Rules rules;
  std::vector<std::string> symbols;
  std::vector<Character> result = {};
  std::int64_t consumed = 0;

  // Returns the replacement of the start of `text`, and the size of this start.
  std::pair<std::string, std::size_t> step(const std::string &text) const {
    std::string longest;
    for (const std::string &symbol : symbols)
      if (symbol.size() > longest.size() && text.compare(0, symbol.size(), symbol) == 0)
        longest = symbol;
    if (!longest.empty())
      return {longest, longest.size()};
    const Rules::value_type *found = nullptr;
    for (const auto &rule : rules)
      if (text.compare(0, rule.first.size(), rule.first) == 0 &&
          (found == nullptr || rule.first.size() > found->first.size()))
        found = &rule;
    if (found != nullptr)
      return {found->second, found->first.size()};
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(text.data());
    const Decoded decoded = decode_utf8(bytes, text.size());
    if (decoded.code_point - 0xDC00 < 0x100)
      return {"\xEF\xBF\xBD", 1};
    return {text.substr(0, decoded.width), decoded.width};
  }

  std::string space() const { return options.escape_whitespaces ? SPACE_MARK : " "; }

  void append(const std::string &text) {
    for (const std::string &character : split(text))
      result.push_back({character == " " ? space() : character, consumed});
  }

  void run(const std::string &text) {
    const bool trims = options.remove_extra_whitespaces;
    const std::string dummy = options.add_dummy_prefix ? " " : "";
    bool has_begun = false;
    bool is_after_space = trims;
    for (std::size_t at = 0; at < text.size();) {
      auto [replacement, size] = step(text.substr(at));
      const auto count = static_cast<std::int64_t>(split(text.substr(at, size)).size());
      at += size;
      if (!has_begun && !(trims && replacement == " ")) {
        has_begun = true;
        if (!options.treat_whitespace_as_suffix)
          append(dummy);
      }
      if (has_begun) {
        if (is_after_space)
          replacement.erase(0, replacement.find_first_not_of(' '));
        append(replacement);
        if (!replacement.empty())
          is_after_space = trims && replacement.back() == ' ';
      }
      consumed += count;
    }
    while (trims && !result.empty() && result.back().text == space()) {
      consumed = result.back().origin;
      result.pop_back();
    }
    if (has_begun && options.treat_whitespace_as_suffix)
      append(dummy);
    if (has_begun)
      result.push_back({"", consumed});
  }
};

// Returns the text in which each character is replaced by the rule that equals it.
std::string replaced_by_character(const Rules &rules, const std::string &text) {
  std::string result;
  for (const std::string &character : split(text)) {
    const auto rule = rules.find(character);
    result += rule == rules.end() ? character : rule->second;
  }
  return result;
}

std::string as_string(const Bytes &bytes) { return {bytes.begin(), bytes.end()}; }

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const bool is_damaged = input.coin();
  const SentencePieceNormalizer::Options options{input.coin(), input.coin(), input.coin(),
                                                 input.coin()};
  Rules rules;
  for (std::size_t count = input.below(6); count != 0; --count) {
    const std::string rule = characters(input, 3);
    if (!rule.empty())
      rules[rule] = characters(input, 3);
  }
  std::vector<std::string> symbols;
  for (std::size_t count = input.below(4); count != 0; --count)
    symbols.push_back(characters(input, 3));
  Bytes blob = charsmap_of(rules);
  if (is_damaged) {
    for (std::size_t count = input.below(8); count != 0; --count)
      blob[input.word() % blob.size()] = input.byte();
    if (input.coin())
      blob.resize(input.word() % blob.size());
  }
  Bytes text;
  while (input.left() != 0) {
    const std::uint8_t invalid = input.byte();
    if (invalid < 32)
      text.push_back(static_cast<std::uint8_t>(0xE0 + invalid));
    for (const char byte : characters(input, 8))
      text.push_back(static_cast<std::uint8_t>(byte));
  }
  text.shrink_to_fit();

  const Charsmap charsmap(blob.data(), blob.size());
  const SentencePieceNormalizer normalizer(options, charsmap, Symbols(symbols));
  Bytes normal;
  Bytes aligned;
  std::vector<std::int64_t> origins;
  normalizer.normalize(text.data(), text.size(), normal);
  normalizer.align(text.data(), text.size(), aligned, origins);
  check(aligned == normal, "the text does not depend on the origins");

  const Precompiled precompiled(charsmap);
  Bytes by_cluster;
  PassResult result{by_cluster, nullptr};
  precompiled.run(text.data(), text.size(), result);
  Bytes by_part;
  Origins places;
  PassResult aligned_result{by_part, &places};
  precompiled.run(text.data(), text.size(), aligned_result);
  check(by_part == by_cluster, "the text does not depend on the origins");
  check(places.size() == by_part.size(), "each byte has an origin");
  for (const std::int64_t place : places)
    check(place >= NO_ORIGIN && place < static_cast<std::int64_t>(text.size()),
          "each origin is within the text");
  if (is_damaged)
    return 0;

  Naive naive{options, rules, symbols};
  naive.run(as_string(text));
  std::string joined;
  std::vector<std::int64_t> naive_origins;
  for (const Character &character : naive.result) {
    joined += character.text;
    naive_origins.push_back(character.origin);
  }
  check(as_string(normal) == joined, "the text equals that of a naive implementation");
  check(origins == naive_origins, "the origins equal those of a naive implementation");
  std::string marked = as_string(text);
  if (marked.find("\xCC\x81") == std::string::npos && marked.find('\r') == std::string::npos)
    check(as_string(by_cluster) == replaced_by_character(rules, marked),
          "a cluster of one character is replaced by the rule of this character");
  return 0;
}
