// Tests NFC with examples from Unicode, and checks properties that hold for every text.
// tests/bpe/encoding/test_native_nfc.py compares NFC in C++ and in Python.
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace pretok;

using Codes = std::vector<std::uint32_t>;

std::mt19937 source(20261122);

std::size_t below(std::size_t limit) { return source() % limit; }

const std::uint8_t *bytes_of(const std::string &text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// Returns code points as UTF-8. U+DC80 to U+DCFF stand for single bytes.
std::string utf8(const Codes &codes) {
  std::string text;
  const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  for (const std::uint32_t code : codes) {
    if (code >= 0xDC80 && code <= 0xDCFF) {
      put(code - 0xDC00);
      continue;
    }
    const int tails = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    put(tails == 0 ? code : (0xFF00U >> (tails + 1) & 0xFF) | code >> (6 * tails));
    for (int tail = tails - 1; tail >= 0; --tail)
      put(0x80 | (code >> (6 * tail) & 0x3F));
  }
  return text;
}

std::string nfc(const std::string &text) {
  std::vector<std::uint8_t> to = {'<'};
  to_nfc(bytes_of(text), text.size(), to);
  return std::string(to.begin() + 1, to.end());
}

bool normal(const std::string &text) { return is_nfc(bytes_of(text), text.size()); }

// A text and its NFC.
struct Fact {
  Codes given;
  Codes wanted;
};

const Fact FACTS[] = {
    {{}, {}},
    {{'e', 0x301}, {0xE9}},
    {{'a', 0x323, 0x302}, {0x1EAD}},
    {{'a', 0x302, 0x323}, {0x1EAD}},
    {{0xE2, 0x323}, {0x1EAD}},
    {{0x1EA1, 0x302}, {0x1EAD}},
    {{'a', 0x325, 0x302}, {0x1E01, 0x302}},
    {{'a', 0x302, 0x302}, {0xE2, 0x302}},
    {{'a', 0x305, 0x302}, {'a', 0x305, 0x302}}, // a mark of the same class blocks composition
    {{'q', 0x307, 0x323}, {'q', 0x323, 0x307}},
    {{'a', ' ', 0x302}, {'a', ' ', 0x302}},
    {{0x301, 'e', 0x301}, {0x301, 0xE9}},
    {{0x212B}, {0xC5}},
    {{0x212B, 0x301}, {0x1FA}},
    {{0x2126}, {0x3A9}},
    {{0x1F82}, {0x1F82}},
    {{0x3B1, 0x345, 0x300, 0x313}, {0x1FB2, 0x313}},
    {{0x3B1, 0x313, 0x300, 0x345}, {0x1F82}},
    {{0x344}, {0x308, 0x301}},
    {{0x3C5, 0x344}, {0x3B0}},
    {{0x340, 0x341, 0x343}, {0x300, 0x301, 0x313}},
    {{0xF73}, {0xF71, 0xF72}},
    {{'x', 0xF73, 0xF71}, {'x', 0xF71, 0xF71, 0xF72}},
    {{0x958}, {0x915, 0x93C}}, // excluded from composition
    {{0x915, 0x93C}, {0x915, 0x93C}},
    {{0x2ADC}, {0x2ADD, 0x338}},
    {{0x9C7, 0x9BE}, {0x9CB}},
    {{0x995, 0x9BE}, {0x995, 0x9BE}},
    {{0xDD9, 0xDCF, 0xDCA}, {0xDDD}},
    {{0xDDC, 0xDCA}, {0xDDD}},
    {{0x1100, 0x1161}, {0xAC00}},
    {{0x1100, 0x1161, 0x11A8}, {0xAC01}},
    {{0xAC00, 0x11A8}, {0xAC01}},
    {{0xAC00, 0x11A7}, {0xAC00, 0x11A7}},
    {{0xAC01, 0x11A8}, {0xAC01, 0x11A8}},
    {{0x1100, 0x302, 0x1161}, {0x1100, 0x302, 0x1161}},
    {{0x1161, 0x11A8}, {0x1161, 0x11A8}},
    {{0xF900}, {0x8C48}},
    {{0xFA6C}, {0x242EE}},
    {{0x2F800}, {0x4E3D}},
    {{0x2FA1D, 0x301}, {0x2A600, 0x301}},
    {{0x1D160}, {0x1D158, 0x1D165, 0x1D16E}},
    {{0x11099, 0x110BA}, {0x1109A}},
    // U+1DF6 is newer than Unicode 9, so it stays unchanged, and no mark moves past it.
    {{0x1DF6, 0x301, 0x1DF6}, {0x1DF6, 0x301, 0x1DF6}},
    {{'q', 0x301, 0x1DF6, 0x323}, {'q', 0x301, 0x1DF6, 0x323}},
    {{0x11935, 0x11930}, {0x11935, 0x11930}},
    {{0xDCFF, 'e', 0x301, 0xDCCC, 0x301}, {0xDCFF, 0xE9, 0xDCCC, 0x301}},
    {{'e', 0xDCCC, 0xDCE9, 0x301}, {'e', 0xDCCC, 0xDCE9, 0x301}},
    {{0x10FFFF, 0xFFFD, 0xFFFF, 0}, {0x10FFFF, 0xFFFD, 0xFFFF, 0}},
};

std::size_t wrong_facts() {
  std::size_t wrong = 0;
  for (const Fact &fact : FACTS) {
    const std::string given = utf8(fact.given);
    const std::string wanted = utf8(fact.wanted);
    if (nfc(given) != wanted || normal(given) != (given == wanted) || !normal(wanted)) {
      std::printf("wrong: the NFC of the example that begins with U+%04X\n",
                  fact.given.empty() ? 0 : fact.given[0]);
      ++wrong;
    }
  }
  return wrong;
}

// Letters, marks of several classes, characters that stay decomposed, starters that compose
// with the previous one, Hangul, characters newer than Unicode 9, and bytes that are not UTF-8.
const Codes PARTS = {
    'a',     'q',     ' ',     0xE9,   0xE5,   0x1EAD, 0x212B, 0x301,   0x302,   0x323,
    0x307,   0x308,   0x31B,   0x327,  0x338,  0x345,  0x344,  0x340,   0x5B0,   0x64B,
    0x651,   0x915,   0x958,   0x93C,  0x94D,  0x9C7,  0x9BE,  0x995,   0xDD9,   0xDCF,
    0xDCA,   0xDDC,   0xE48,   0xF71,  0xF73,  0xF72,  0x1100, 0x1161,  0x11A8,  0xAC00,
    0xAC01,  0x304B,  0x3099,  0x3042, 0x4E00, 0xF900, 0x1DF6, 0x11935, 0x11930, 0x1D160,
    0x11099, 0x110BA, 0x1F600, 0xDC80, 0xDCCC, 0xDCE2, 0xDCF0};

std::string random_text(std::size_t most) {
  Codes codes(below(most + 1));
  for (std::uint32_t &code : codes)
    code = PARTS[below(PARTS.size())];
  std::string text = utf8(codes);
  if (!text.empty() && below(4) == 0)
    text.resize(below(text.size())); // may end within a UTF-8 sequence
  return text;
}

std::vector<std::size_t> starts_of(const std::string &text) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size();
       at += decode_utf8(bytes_of(text) + at, text.size() - at).width)
    starts.push_back(at);
  return starts;
}

// Checks four properties:
//   - normal() says whether a text is in NFC;
//   - normalizing twice equals normalizing once;
//   - NFC is at most three times as long as the text;
//   - normalizing both sides of a cut at an NFC boundary equals normalizing the whole text.
bool holds(const std::string &text) {
  const std::string whole = nfc(text);
  if (normal(text) != (text == whole) || !normal(whole) || nfc(whole) != whole ||
      whole.size() > 3 * text.size())
    return false;
  for (const std::size_t at : starts_of(text)) {
    const std::uint32_t code = decode_utf8(bytes_of(text) + at, text.size() - at).code_point;
    if (has_nfc_boundary_before(code) &&
        nfc(text.substr(0, at)) + nfc(text.substr(at)) != whole)
      return false;
  }
  return true;
}

// Checks the cut that last_nfc_cut finds in `text`, from a random offset on. Normalizing the
// two sides of the cut must equal normalizing the whole, even if `more` follows. After the cut
// there must be no other possible cut: no complete code point with an NFC boundary before it.
bool cut_holds(const std::string &text, const std::string &more) {
  const std::size_t from = below(text.size() + 1);
  const std::size_t cut = last_nfc_cut(bytes_of(text), text.size(), from);
  if (cut != 0 && (cut < from || cut >= text.size()))
    return false;
  const std::string whole = text + more;
  if (nfc(whole.substr(0, cut)) + nfc(whole.substr(cut)) != nfc(whole))
    return false;
  for (const std::size_t at : starts_of(text)) {
    const Decoded decoded = decode_utf8(bytes_of(text) + at, text.size() - at);
    const bool is_whole = decoded.code_point < 0xDC80 || decoded.code_point > 0xDCFF;
    if (at >= from && at > cut && is_whole && has_nfc_boundary_before(decoded.code_point))
      return false;
  }
  return true;
}

bool every_code_point_holds() {
  for (std::uint32_t code = 0; code < 0x110000; ++code) {
    const std::string text = utf8({code});
    const std::string form = nfc(text);
    if (normal(text) != (text == form) || !normal(form) || nfc(form) != form)
      return false;
  }
  return true;
}

// Checks that is_surely_nfc is true only for texts in NFC, and that it is true for most single
// code points.
bool quick_check_holds() {
  std::size_t sure = 0;
  // '!' composes with no code point.
  std::vector<std::uint32_t> all(32, '!');
  std::vector<std::uint16_t> units(32, '!');
  for (std::uint32_t code = 0; code < 0x110000; ++code) {
    const auto unit = static_cast<std::uint16_t>(code);
    const bool is_surrogate = (code & 0xFFFFF800) == 0xD800;
    const bool is_sure = is_surely_nfc(&code, 1);
    if (is_sure && (is_surrogate || !normal(utf8({code}))))
      return false;
    if (code < 0x10000 && is_surely_nfc(&unit, 1) != is_sure)
      return false;
    // is_surely_nfc tests 32 code points together.
    all[code % 32] = code;
    units[code % 32] = unit;
    if (is_surely_nfc(all.data(), all.size()) != is_sure ||
        (code < 0x10000 && is_surely_nfc(units.data(), units.size()) != is_sure))
      return false;
    all[code % 32] = units[code % 32] = '!';
    sure += is_sure ? 1 : 0;
  }
  for (int round = 0; round < 40000; ++round) {
    Codes codes(1 + below(70), below(2) == 0 ? 0x4E00 : 'a');
    for (std::size_t times = below(round % 2 == 0 ? 4 : 40); times != 0; --times) {
      const std::uint32_t code = PARTS[below(PARTS.size())];
      codes[below(codes.size())] = code - 0xDC80 < 0x80 ? 'a' : code;
    }
    if (is_surely_nfc(codes.data(), codes.size()) && !normal(utf8(codes)))
      return false;
  }
  return sure > 0x100000;
}

bool hangul_composes() {
  for (std::uint32_t at = 0; at < 11172; ++at) {
    Codes parts = {0x1100 + at / 588, 0x1161 + at % 588 / 28};
    if (at % 28 != 0)
      parts.push_back(0x11A7 + at % 28);
    if (nfc(utf8(parts)) != utf8({0xAC00 + at}) || !normal(utf8({0xAC00 + at})))
      return false;
  }
  return true;
}

// Tests a long run of marks in the worst order: insertion sort would take minutes.
bool long_run_is_sorted() {
  std::string given = "q";
  std::string wanted = "q";
  constexpr int COUNT = 500000;
  for (int i = 0; i < COUNT; ++i)
    given += utf8({0x307, 0x323});
  for (int i = 0; i < COUNT; ++i)
    wanted += utf8({0x323});
  for (int i = 0; i < COUNT; ++i)
    wanted += utf8({0x307});
  return nfc(given) == wanted && !normal(given) && normal(wanted);
}

bool random_texts_hold() {
  for (int round = 0; round < 100000; ++round) {
    const std::string text = random_text(round % 10 == 0 ? 60 : 7);
    if (!holds(text) || !cut_holds(text, random_text(4)))
      return false;
  }
  return true;
}

} // namespace

int main() {
  std::size_t failed = wrong_facts();
  const auto check = [&failed](bool passed, const char *what) {
    if (!passed)
      std::printf("wrong: %s\n", what);
    failed += !passed;
  };
  check(every_code_point_holds(), "the NFC of a single code point");
  check(quick_check_holds(), "the result of is_surely_nfc");
  check(hangul_composes(), "the NFC of Hangul");
  check(long_run_is_sorted(), "the NFC of a long run of marks");
  check(random_texts_hold(), "the NFC, or a cut, of a random text");
  std::printf("%zu passed, %zu failed\n", std::size(FACTS) + 5 - failed, failed);
  return failed == 0 ? 0 : 1;
}
