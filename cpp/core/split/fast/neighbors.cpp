#include "core/split/fast/neighbors.hpp"

#include "core/split/fast/stage_pairs.hpp"

#include <algorithm>
#include <deque>

namespace pretok {
namespace {

Mask bit(std::size_t class_) { return Mask{1} << class_; }

} // namespace

struct NeighborTable::Builder {
  using Labels = std::vector<int>; // the label in each stage

  NeighborTable &table;
  const Mask used; // classes that occur in texts
  std::deque<StagePairs> stages{};
  std::vector<Labels> labels{}; // labels[i]: the stage labels that label i stands for
  std::size_t white{};          // index of the stage of white space, or stages.size()
  const StagePairs *limiting{}; // the stage with LENGTH_LIMITED pairs
  int limiting_rule{};          // the rule that labels the LENGTH_LIMITED pairs
  Mask counted{};               // classes of LENGTH_LIMITED pairs
  bool is_limit_exact{};

  Pair &pair(std::size_t a, std::size_t b) const { return table.relations_(a, b); }
  // Returns the label of a pair with these relations, or -1 if the pair is not labeled.
  static int label_in(Pair pair) {
    constexpr Pair NOT_LABELED = pair_bit(BOUNDARY) | pair_bit(UNRESOLVED) |
                                 pair_bit(CONDITIONAL) | pair_bit(SPACE_PAIR);
    return (pair & NOT_LABELED) != 0 ? -1 : (pair & LABELS) >> LABEL;
  }

  // Calls visit(a, b) for each pair of classes that occur in texts.
  template <typename Visit> void for_pairs(Visit visit) const {
    for (std::uint8_t a = 0; a < END; ++a)
      for (std::uint8_t b = 0; b < END; ++b)
        if (has(used, a) && has(used, b))
          visit(a, b);
  }

  void build(const std::vector<const Machine *> &machines) {
    Followers live; // the pairs that no stage so far has cut
    live.fill(used);
    for (const Machine *machine : machines) {
      stages.emplace_back(*machine, live);
      for_pairs([&](std::uint8_t a, std::uint8_t b) {
        if (stages.back().has(a, b, BOUNDARY))
          live[a] &= ~bit(b);
      });
    }
    for (std::uint8_t a = 0; a <= END; ++a)
      for (std::uint8_t b = 0; b <= END; ++b)
        pair(a, b) = pair_bit(BOUNDARY);
    find_white_space();
    find_limit();
    for_pairs([&](std::uint8_t a, std::uint8_t b) {
      pair(a, b) = compose(a, b);
      if (std::all_of(stages.begin(), stages.end(),
                      [&](const StagePairs &stage) { return stage.is_joint(a, b); }))
        table.joints_[a] |= bit(b);
    });
    if (white != stages.size())
      mark_white_space();
    drop_rare_joined(machines.front()->classes());
    table.has_exact_limit_ = limiting != nullptr && is_limit_exact && has_one_label();
    while (labels.size() > std::size_t{1} << table.label_bits_)
      ++table.label_bits_;
  }

  // Composes the relations that all stages have for the pair (a, b).
  Pair compose(std::uint8_t a, std::uint8_t b) {
    Pair relations = 0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const StagePairs &stage = stages[i];
      if (stage.has(a, b, BOUNDARY) || stage.has(a, b, CONDITIONAL))
        return boundary(i, a, b);
      relations |= stage.relations(a, b);
    }
    const bool is_white = (relations & (pair_bit(SPACE_PAIR) | pair_bit(TAIL_PAIR))) != 0;
    if ((relations & pair_bit(UNRESOLVED)) != 0 || (is_white && white == stages.size()))
      return pair_bit(UNRESOLVED);
    if ((relations & pair_bit(SPACE_PAIR)) != 0)
      return pair_bit(SPACE_PAIR);
    // All stages label the pair. Compose their labels, and the other relations of the stages
    // that are not simple.
    relations = 0;
    Labels stage_labels;
    bool is_together = true;
    for (const StagePairs &stage : stages) {
      is_together &= stage.is_together(a, b);
      stage_labels.push_back(stage.is_simple() ? stage.gap() : stage.label(a, b));
      if (!stage.is_simple())
        relations |= stage.relations(a, b);
    }
    if ((relations & pair_bit(AMBIGUOUS)) != 0 && is_together)
      relations = static_cast<Pair>((relations & ~pair_bit(AMBIGUOUS)) | pair_bit(JOINED));
    auto label = std::find(labels.begin(), labels.end(), stage_labels);
    if (label == labels.end()) {
      if (labels.size() > LABELS >> LABEL)
        return pair_bit(UNRESOLVED);
      label = labels.insert(label, stage_labels);
    }
    return static_cast<Pair>(relations | (label - labels.begin()) << LABEL);
  }

  // Replaces JOINED by AMBIGUOUS if no pair of ASCII classes is JOINED. JOINED costs time in
  // all texts, and saves time only in texts with many JOINED pairs.
  void drop_rare_joined(const ClassTable &classes) const {
    Mask ascii = 0;
    for (std::size_t i = 0; i < 0x80; ++i)
      ascii |= bit(classes.latin1()[i]);
    for_pairs([&](std::uint8_t a, std::uint8_t b) {
      table.has_joined_ |=
          has(ascii, a) && has(ascii, b) && (pair(a, b) & pair_bit(JOINED)) != 0;
    });
    if (!table.has_joined_)
      for_pairs([&](std::uint8_t a, std::uint8_t b) {
        if ((pair(a, b) & pair_bit(JOINED)) != 0)
          pair(a, b) = static_cast<Pair>(pair(a, b) ^ pair_bit(JOINED) ^ pair_bit(AMBIGUOUS));
      });
  }

  // Returns the relations of a pair for which stage `index` is the first with a boundary.
  Pair boundary(std::size_t index, std::uint8_t a, std::uint8_t b) const {
    const bool is_certain = stages[index].has(a, b, BOUNDARY);
    Pair relations = pair_bit(CONDITIONAL);
    bool is_cut = is_certain;
    for (std::size_t i = 0; i < index; ++i) {
      const StagePairs &stage = stages[i];
      is_cut &= ((bit(a) | bit(b)) & stage.held()) == 0;
      if (stage.has(a, b, LENGTH_LIMITED))
        relations |= pair_bit(LENGTH_LIMITED);
      if (!stage.is_simple() && !continues(stage, a, b))
        return pair_bit(UNRESOLVED);
    }
    return is_cut ? pair_bit(BOUNDARY) : relations;
  }

  // Returns whether `stage` labels the pair (a, b) without doubt, and no labeled pair (b, c)
  // has another label. So the label of `stage` does not change after b, whatever code point
  // follows.
  bool continues(const StagePairs &stage, std::uint8_t a, std::uint8_t b) const {
    constexpr Pair DOUBTFUL = pair_bit(UNRESOLVED) | pair_bit(CONDITIONAL) |
                              pair_bit(SPACE_PAIR) | pair_bit(TAIL_PAIR) | pair_bit(AMBIGUOUS);
    if ((stage.relations(a, b) & DOUBTFUL) != 0)
      return false;
    for (std::uint8_t c = 0; c < END; ++c)
      if (has(used, c) && stage.label(b, c) != StagePairs::NO_LABEL &&
          stage.label(b, c) != stage.label(a, b))
        return false;
    return true;
  }

  // Chooses the stage of white space: Boundaries::resolve splits runs of white space by the
  // rules of this stage. Every other stage must pass one of two tests: it surely keeps white
  // space together, or it comes earlier and surely cuts the white space. If no stage can be
  // chosen, `white` is stages.size().
  void find_white_space() {
    white = stages.size();
    for (std::size_t i = 0; i < stages.size(); ++i)
      if (stages[i].space() != 0) {
        if (white != stages.size() || !is_white_space_clear(i)) {
          white = stages.size();
          return;
        }
        white = i;
      }
  }

  // Returns whether every stage but `index` passes one of the two tests of find_white_space. If
  // stage `index` has an END_OF_TEXT rule, also requires that no earlier stage ends a piece
  // right after white space.
  bool is_white_space_clear(std::size_t index) const {
    const Mask space = stages[index].space();
    bool is_clear = true;
    for_pairs([&](std::uint8_t a, std::uint8_t b) {
      for (std::size_t i = 0; i < stages.size(); ++i) {
        const StagePairs &stage = stages[i];
        if (!has(space, a) || i == index || !has(stage.live()[a], b))
          continue;
        if (i < index && !stage.is_together(a, b) && stages[index].has_end_of_text())
          is_clear = false;
        const bool is_kept =
            stage.is_together(a, b) && (stage.is_simple() || stage.label(a, b) == stage.gap());
        const bool is_cut = i < index && stage.has(a, b, BOUNDARY);
        if (has(space, b) && !is_kept && !is_cut)
          is_clear = false;
      }
    });
    return is_clear;
  }

  // Adds PIECE_END, NEWLINE_CLASS and TAIL_CLASS to the pairs.
  void mark_white_space() {
    const StagePairs &stage = stages[white];
    for_pairs([&](std::uint8_t a, std::uint8_t b) {
      if (!has(stage.space(), a))
        return;
      for (std::size_t i = 0; i < white; ++i) {
        if (!has(stages[i].live()[a], b) || stages[i].is_together(a, b))
          continue;
        // A stage before the stage of white space may end the run here.
        pair(a, b) |= pair_bit(PIECE_END);
        if (!stages[i].has(a, b, BOUNDARY))
          pair(a, b) = pair_bit(UNRESOLVED) | pair_bit(PIECE_END);
      }
    });
    for (std::uint8_t a = 0; a <= END; ++a)
      for (std::uint8_t b = 0; b < END; ++b) {
        if (has(stage.newline(), b))
          pair(a, b) |= pair_bit(NEWLINE_CLASS);
        if (has(stage.tail(), b))
          pair(a, b) |= pair_bit(TAIL_CLASS);
      }
  }

  // Finds the smallest limit of the LENGTH_LIMITED pairs. The limit is exact if a run always
  // has a boundary after that many code points ("Proof for limits" in neighbors.hpp).
  void find_limit() {
    is_limit_exact = true;
    for (const StagePairs &stage : stages)
      for_pairs([&](std::uint8_t a, std::uint8_t b) {
        if (!stage.has(a, b, LENGTH_LIMITED))
          return;
        const int rule = stage.label(a, b);
        if (limiting != nullptr && (limiting != &stage || limiting_rule != rule))
          is_limit_exact = false;
        limiting = &stage;
        limiting_rule = rule;
        counted |= bit(a) | bit(b);
        const Run &run = std::get<Run>(stage.rule(rule));
        table.length_limit_ = std::min(table.length_limit_, run.at_most);
        is_limit_exact &= (run.body & run.tail) == 0;
      });
    // For an exact limit, all labeled pairs that begin with a class of the body must have the
    // label of the limited Run.
    for_pairs([&](std::uint8_t a, std::uint8_t b) {
      if (limiting != nullptr && has(counted, a) &&
          limiting->label(a, b) != StagePairs::NO_LABEL &&
          limiting->label(a, b) != limiting_rule)
        is_limit_exact = false;
    });
  }

  // Returns whether all labeled pairs that begin with a counted class have the same label.
  bool has_one_label() const {
    int label = -1;
    bool has_one = true;
    for_pairs([&](std::uint8_t a, std::uint8_t b) {
      const int pair_label = has(counted, a) ? label_in(pair(a, b)) : -1;
      has_one &= pair_label < 0 || label < 0 || pair_label == label;
      label = pair_label < 0 ? label : pair_label;
    });
    return has_one;
  }
};

NeighborTable::NeighborTable(const std::vector<const Machine *> &stages) {
  const Mask used = stages.front()->classes().used();
  Builder{*this, used}.build(stages);
  relations_.cover_by_rectangles(used);
}

} // namespace pretok
