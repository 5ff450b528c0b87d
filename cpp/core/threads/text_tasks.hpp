// Divides texts into tasks for several threads. One task has many short texts, or part of a
// long text. The parts of a long text meet at safe cuts (safe_cut.hpp), so the ids of all
// parts, joined, are the ids of the text.
//
//   texts   [short][short][short][ long ................................ ][short]
//   tasks   [0                  ][1          |2            |3            ][4    ]
//
// A Task for part of a long text stores only approximate ends of the part, multiples of the
// task size. `run` replaces each approximate end by a safe cut before this end (cut_at). Two
// neighboring tasks compute the same cut between them.
#pragma once

#include "core/base/scratch.hpp"
#include "core/encode/safe_cut_between.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// A View is a text in some encoding. Positions are in code units. Its members are:
//   size()                    the number of code units;
//   part(start, end)          a View of part of the text;
//   with_utf8(scratch, use)   calls use(data, size) with the text as UTF-8;
//   utf8_size()               the size in UTF-8;
//   units_in(bytes)           the number of code units in the first `bytes` bytes of UTF-8;
//   whole(at)                 the start of the character that code unit `at` belongs to.
template <typename View> class TextTasks {
public:
  // Makes tasks of about `size` code units each, or a single task if `size` is 0. `encoder`
  // encodes the tasks; nullptr if they are only split into pre-tokens. may_cut(text) returns
  // whether a long text may be cut. All arguments must outlive this object.
  template <typename MayCut>
  TextTasks(const std::vector<View> &texts, std::size_t size, const PreTokenizer &pre_tokenizer,
            const Encoder *encoder, const AddedTokens &added, const MayCut &may_cut)
      : texts_(texts), size_(size), pre_tokenizer_(pre_tokenizer), encoder_(encoder),
        added_(added) {
    if (size == 0) {
      tasks_.push_back({0, texts.size(), 0, END_OF_TEXT});
      return;
    }
    std::size_t task_units = size; // code units in the last task, which is full at `size`
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::size_t parts = texts[i].size() / size;
      if (parts > 1 && added.longest() <= LONGEST_ADDED && may_cut(texts[i])) {
        for (std::size_t part = 0; part < parts; ++part)
          tasks_.push_back(
              {i, i + 1, part * size, part + 1 < parts ? (part + 1) * size : END_OF_TEXT});
        task_units = size;
        continue;
      }
      if (task_units >= size) {
        tasks_.push_back({i, i, 0, END_OF_TEXT});
        task_units = 0;
      }
      tasks_.back().last = i + 1;
      // The fixed cost of a text is about that of 16 code units.
      task_units += texts[i].size() + 16;
    }
  }

  std::size_t count() const { return tasks_.size(); }

  // Calls use(text, start, data, size, is_last) for each text of a task, or for the part of a
  // long text that the task has. `text` is the index of the text. `start` is the start of the
  // part in the text, in code units. `data` and `size` are the part in UTF-8. `is_last` is true
  // for a whole text and for the last part of a text. Stops if `use` returns false.
  template <typename Use> void run(std::size_t index, Scratch &scratch, Use use) const {
    const Task task = tasks_[index];
    if (!is_part(task)) {
      for (std::size_t i = task.first; i < task.last; ++i)
        if (!texts_[i].with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
              return use(i, std::size_t{0}, data, size, /*is_last=*/true);
            }))
          return;
      return;
    }
    const View &text = texts_[task.first];
    const std::size_t start = task.from == 0 ? 0 : cut_at(text, task.from, scratch);
    if (task.from != 0 && start == 0)
      return; // cut_at found no cut, so the previous task encodes this part too
    std::size_t end = 0;
    for (std::size_t at = index; end == 0; ++at)
      end = tasks_[at].to == END_OF_TEXT ? text.size() : cut_at(text, tasks_[at].to, scratch);
    text.part(start, end).with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
      use(task.first, start, data, size, end == text.size());
    });
  }

private:
  // If an added token is longer than this, long texts are not cut, since finding a cut costs
  // too much.
  static constexpr std::size_t LONGEST_ADDED = 4096;
  static constexpr std::size_t END_OF_TEXT = static_cast<std::size_t>(-1);

  // The texts with indices in [first, last), or part of the long text with index `first`: about
  // the code units in [from, to).
  struct Task {
    std::size_t first;
    std::size_t last;
    std::size_t from;
    std::size_t to;
  };

  static bool is_part(const Task &task) { return task.from != 0 || task.to != END_OF_TEXT; }

  // Returns a safe cut before `to`, or 0 if it finds none. Searches the last 256 code units
  // before `to`, then the last 2048, then the last 16384, but never more than size_ (the size
  // of a task).
  std::size_t cut_at(const View &text, std::size_t to, Scratch &scratch) const {
    // safe_cut_between needs added_.longest() bytes before `from`.
    const std::size_t margin = added_.longest() + 4;
    for (const std::size_t distance :
         {std::size_t{256}, std::size_t{2048}, std::size_t{16384}}) {
      const std::size_t from = text.whole(to - std::min(distance, size_));
      const std::size_t first = text.whole(from - std::min(from, margin));
      const View around = text.part(first, std::min(text.size(), to + 4));
      const std::size_t before = around.part(0, from - first).utf8_size();
      const std::size_t within = text.part(from, text.whole(to)).utf8_size();
      const std::size_t cut =
          around.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
            // The Encoder replaces marks by spaces before it splits. So near a mark, a cut that
            // is safe in `data` may not be safe for the Encoder: find none.
            const bool has_marks = encoder_ != nullptr && encoder_->spaces().are_marks;
            return has_marks && TextSpaces::has_mark(data, size)
                       ? std::size_t{0}
                       : safe_cut_between(pre_tokenizer_, encoder_, added_, data, before,
                                          before + within);
          });
      if (cut != 0)
        return first + around.units_in(cut);
      if (distance >= size_)
        break;
    }
    return 0;
  }

  const std::vector<View> &texts_;
  const std::size_t size_;
  const PreTokenizer &pre_tokenizer_;
  const Encoder *const encoder_;
  const AddedTokens &added_;
  std::vector<Task> tasks_;
};

} // namespace pretok
