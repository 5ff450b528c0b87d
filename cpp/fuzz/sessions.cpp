// Fuzzes sessions of the C interface. After each change, a session must have the ids of its
// text, as pretok_encode_segments gives them, and the patch must lead from the old ids to the
// new ones. A change that fails must leave the session as it was.
#include "core/session/session.hpp"
#include "fuzz/small_texts.hpp"
#include "fuzz/small_tokenizers.hpp"

#include <algorithm>

namespace {

using namespace pretok;

using Ids = std::vector<std::uint32_t>;

// A text with its policy, or a given id with its bytes.
struct Item {
  std::string text;
  pretok_special special;
  bool is_given;
  std::uint32_t id;
};

class Model {
public:
  std::string text() const {
    std::string result;
    for (const Item &item : items)
      result += item.text;
    return result;
  }

  // Replaces the bytes from `start` to `end`.
  void replace(std::size_t start, std::size_t end, const std::string &text,
               pretok_special special) {
    std::vector<Item> left;
    std::vector<Item> right;
    std::size_t at = 0;
    for (const Item &item : items) {
      const std::size_t first = at;
      at += item.text.size();
      if (item.is_given && (at <= start || first >= end)) {
        (at <= start ? left : right).push_back(item);
        continue;
      }
      if (first < start)
        left.push_back({item.text.substr(0, start - first), item.special, false, 0});
      if (at > end)
        right.push_back(
            {item.text.substr(end > first ? end - first : 0), item.special, false, 0});
    }
    items.clear();
    for (const Item &item : left)
      add(item);
    add({text, special, false, 0});
    for (const Item &item : right)
      add(item);
  }

  void add(const Item &item) {
    if (!item.is_given && item.text.empty())
      return;
    const bool joins = !items.empty() && !item.is_given && !items.back().is_given &&
                       items.back().special == item.special;
    if (joins)
      items.back().text += item.text;
    else
      items.push_back(item);
  }

  // Sets `ids` to those of the items. Returns the status of encoding.
  pretok_status encode(const pretok_tokenizer *tokenizer, Ids &ids) const {
    std::vector<pretok_segment> segments;
    for (const Item &item : items) {
      pretok_segment segment{};
      segment.special = item.special;
      segment.text = item.is_given ? "" : item.text.data();
      segment.size = item.is_given ? 0 : item.text.size();
      segment.ids = item.is_given ? &item.id : nullptr;
      segment.id_count = item.is_given ? 1 : 0;
      segments.push_back(segment);
    }
    ids.resize(text().size() + items.size() + 16);
    std::vector<std::size_t> ends(segments.size() + 1);
    std::size_t count = 0;
    const pretok_status status =
        pretok_encode_segments(tokenizer, segments.data(), segments.size(), true, ids.data(),
                               nullptr, ids.size(), &count, ends.data(), nullptr, nullptr);
    ids.resize(status == PRETOK_OK ? count : 0);
    return status;
  }

  std::vector<Item> items;
};

Ids ids_of(const pretok_session *session) {
  std::size_t count = 0;
  const std::uint32_t *const ids = pretok_session_ids(session, &count);
  return Ids(ids, ids + count);
}

void check_patch(const Ids &before, const Ids &after, const pretok_patch &patch) {
  check(patch.keep + patch.tail <= std::min(before.size(), after.size()),
        "a patch keeps ids of both");
  Ids patched(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(patch.keep));
  patched.insert(patched.end(), patch.ids, patch.ids + patch.count);
  patched.insert(patched.end(), before.end() - static_cast<std::ptrdiff_t>(patch.tail),
                 before.end());
  check(patched == after, "a patch leads to the new ids");
}

void check_spans(const pretok_session *session, std::size_t count, std::size_t size) {
  std::vector<pretok_span> spans(count + 1);
  check(pretok_session_spans(session, 0, count, spans.data(), nullptr) == PRETOK_OK,
        "the spans of all ids can be had");
  for (std::size_t i = 0; i < count; ++i)
    check(spans[i].start <= spans[i].end && spans[i].end <= size, "a span is in the text");
}

// Makes one change of `session` and `model`.
void make_step(const pretok_tokenizer *tokenizer, Owned<pretok_session> &session, Model &model,
               Input &input) {
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = static_cast<pretok_special>(input.below(PRETOK_SPECIAL_CONTENT + 1));
  const std::string old = model.text();
  const Ids before = ids_of(session.get());
  pretok_patch patch{};
  Model changed = model;
  pretok_status status = PRETOK_OK;
  const std::size_t kind = input.below(6);
  std::string text = text_of(input);
  if (kind == 5) {
    Ids ids;
    for (std::size_t left = input.below(4); left > 0; --left) {
      const std::size_t other = X + input.below(3);
      const auto id = static_cast<std::uint32_t>(input.coin() ? other : input.below(256));
      const char *bytes = "";
      std::size_t size = 0;
      pretok_rendered_bytes(tokenizer, id, &bytes, &size, nullptr);
      changed.add({std::string(bytes, size), PRETOK_SPECIAL_RAISE, true, id});
      ids.push_back(id);
    }
    status = pretok_session_extend(session.get(), ids.data(), ids.size(), &patch, nullptr);
  } else {
    std::size_t start = kind < 2 ? old.size() : input.word() % (old.size() + 1);
    std::size_t end = kind < 2 ? old.size() : start + input.below(9);
    end = std::min(end, old.size());
    if (kind == 1)
      status = pretok_session_peek(session.get(), text.data(), text.size(), &options, &patch,
                                   nullptr);
    else if (kind == 0)
      status = pretok_session_append(session.get(), text.data(), text.size(), &options, &patch,
                                     nullptr);
    else if (kind == 2) {
      std::string whole = old.substr(0, start) + text + old.substr(end);
      start = static_cast<std::size_t>(
          std::mismatch(old.begin(),
                        old.begin() +
                            static_cast<std::ptrdiff_t>(std::min(old.size(), whole.size())),
                        whole.begin())
              .first -
          old.begin());
      std::size_t tail = 0;
      while (tail < std::min(old.size(), whole.size()) - start &&
             old[old.size() - tail - 1] == whole[whole.size() - tail - 1])
        ++tail;
      end = old.size() - tail;
      status = pretok_session_update(session.get(), whole.data(), whole.size(), &options,
                                     &patch, nullptr);
      text = whole.substr(start, whole.size() - tail - start);
    } else {
      status = pretok_session_replace(session.get(), start, end, text.data(), text.size(),
                                      &options, &patch, nullptr);
    }
    changed.replace(start, end, text, options.special);
  }
  Ids expected;
  check(changed.encode(tokenizer, expected) == status, "both calls have the same status");
  const Ids after = ids_of(session.get());
  if (status != PRETOK_OK || kind == 1) {
    check(after == before, "the session stays as it was");
    if (status == PRETOK_OK)
      check_patch(before, expected, patch);
    return;
  }
  check(after == expected, "the ids are those of the text");
  check_patch(before, after, patch);
  model = std::move(changed);
  std::size_t size = 0;
  const char *const kept = pretok_session_text(session.get(), &size);
  check(std::string(kept, size) == model.text(), "the text is the changed text");
  check(pretok_session_stable(session.get()) <= after.size(), "stable ids are ids");
  if (input.below(4) == 0)
    check_spans(session.get(), after.size(), size);
  if (input.below(8) == 0) {
    pretok_session *copy = nullptr;
    check(pretok_session_fork(session.get(), &copy, nullptr) == PRETOK_OK, "a fork is made");
    session.reset(copy);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const pretok_tokenizer *const tokenizer = tokenizer_of(input.byte());
  Session::set_piece_size(std::size_t{8} << input.below(8));
  pretok_session *made = nullptr;
  check(pretok_session_new(tokenizer, nullptr, &made, nullptr) == PRETOK_OK,
        "a session is made");
  Owned<pretok_session> session(made);
  Model model;
  for (std::size_t steps = 0; steps < 40 && input.left() != 0; ++steps)
    make_step(tokenizer, session, model, input);
  return 0;
}
