#include "core/split/split_ways.hpp"

#include "core/simd/kernels.hpp"

#include <algorithm>

namespace pretok {
namespace {

constexpr std::size_t MAX_FOLLOWING = 2;
constexpr std::size_t MAX_COUNTED = 5;

using Ends = std::vector<std::size_t>;

// A text after the token that is still to be tried.
struct Following {
  std::string text;
  std::size_t size; // in characters
  int first;        // the class of the first character, or NO_TEXT
  bool is_counted;  // whether a rule counts the last character
  Ends before;      // the boundaries up to the end of the token without the last character
};

// Returns whether one of the last `count` characters of `text` is an apostrophe.
bool has_apostrophe(const std::string &text, std::size_t count) {
  for (std::size_t at = text.size(); at-- > 0 && count != 0;) {
    if (text[at] == '\'')
      return true;
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80)
      --count;
  }
  return false;
}

} // namespace

class SplitFinder::Search {
public:
  Search(const SplitFinder &finder, const std::string &before)
      : finder_(finder), before_(before),
        reach_(std::max<std::size_t>(finder.suffix_size_, 1)) {
    std::size_t chars = 0;
    for (const char byte : before) {
      chars_.push_back(chars);
      chars += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
    }
  }

  void add(std::size_t index, const std::string &token) {
    const std::string text = before_ + token;
    std::vector<Following> pending{{"", 0, SplitRow::NO_TEXT, false, {text.size() + 1}}};
    while (!pending.empty()) {
      const Following after = std::move(pending.back());
      pending.pop_back();
      const std::string whole = text + after.text;
      const Ends decided = decided_ends(whole);
      if (has_inside(decided, text.size()))
        continue;
      const std::size_t end = decided.empty() ? 0 : decided.back();
      const Ends places = end >= text.size() ? decided : ends(whole);
      if (!has_inside(places, text.size())) {
        if (std::find(places.begin(), places.end(), text.size()) == places.end())
          put(index, places, after.first);
        else {
          put(index, places, SplitRow::CLOSED);
          // No text after the token gives another way.
          if (after.size == 0 && end >= before_.size())
            break;
        }
      }
      Ends shape(places.begin(), std::lower_bound(places.begin(), places.end(), text.size()));
      if (end >= text.size() || !is_open(after, shape != after.before))
        continue;
      const bool all = finder_.has_texts_ || has_apostrophe(whole, reach_);
      for (const ClassExample &each : finder_.examples_)
        if (all || each.is_plain)
          pending.push_back({after.text + each.utf8, after.size + 1,
                             after.size == 0 ? each.class_ : after.first, each.is_counted,
                             shape});
    }
  }

  SplitWays found;

private:
  bool has_inside(const Ends &places, std::size_t end) const {
    return std::any_of(places.begin(), places.end(), [&](std::size_t place) {
      return before_.size() < place && place < end;
    });
  }

  bool is_open(const Following &after, bool is_new) const {
    if (after.size == 0)
      return true;
    if (after.is_counted || finder_.has_texts_ || has_apostrophe(after.text, reach_))
      return after.size < MAX_COUNTED;
    return is_new && after.size < MAX_FOLLOWING;
  }

  void put(std::size_t index, const Ends &places, int first) {
    SplitWay way{{}, before_.empty()};
    for (const std::size_t place : places) {
      if (place < before_.size())
        way.places.push_back(chars_[place]);
      way.begins |= place == before_.size();
    }
    const auto known = std::find(found.ways.begin(), found.ways.end(), way);
    const auto number = static_cast<std::size_t>(known - found.ways.begin());
    if (known == found.ways.end())
      found.ways.push_back(std::move(way));
    found.rows.push_back({index, number, first});
  }

  Utf8 source(const std::string &text) const {
    return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size(),
            finder_.pre_tokenizer_.classes()};
  }
  Ends ends(const std::string &text) const {
    Ends found_ends;
    const auto add_end = [&](std::size_t, std::size_t end, int) { found_ends.push_back(end); };
    finder_.pre_tokenizer_.spans_by_stage(source(text), kernels(), add_end);
    return found_ends;
  }
  Ends decided_ends(const std::string &text) const {
    Ends found_ends;
    const auto add_end = [&](std::size_t end) { found_ends.push_back(end); };
    finder_.pre_tokenizer_.decided(source(text), add_end);
    return found_ends;
  }

  const SplitFinder &finder_;
  const std::string &before_;
  const std::size_t reach_;
  std::vector<std::size_t> chars_; // the number of code points before each byte of `before`
};

SplitWays SplitFinder::find(const std::string &before,
                            const std::vector<std::string> &tokens) const {
  Search search(*this, before);
  for (std::size_t index = 0; index < tokens.size(); ++index)
    search.add(index, tokens[index]);
  return std::move(search.found);
}

} // namespace pretok
