#include "core/split/pre_tokenizer.hpp"

#include "core/split/shared_alphabet.hpp"

#include <memory>

namespace pretok {

PreTokenizer::PreTokenizer(std::vector<StageProgram> stages, UnicodeTable table) {
  const bool is_shared = stages.size() == 1 || share_alphabet(stages, table);
  std::shared_ptr<const ClassTable> classes;
  int rules_before = 0;
  stages_.reserve(stages.size());
  for (const StageProgram &stage : stages) {
    if (classes == nullptr || !is_shared)
      classes = std::make_shared<ClassTable>(stage.program.alphabet, table);
    stages_.push_back({Machine(stage.program.rules, classes),
                       stage.behavior,
                       stage.invert,
                       rules_before,
                       {}});
    rules_before += static_cast<int>(stage.program.rules.size());
    removes_ |= stage.behavior == Behavior::REMOVED;
    spaces_ |= stages_.back().machine.spaces();
  }
  // The ISOLATED stages before the first stage with another behavior.
  std::vector<const Machine *> leading;
  for (const Stage &stage : stages_) {
    if (stage.behavior != Behavior::ISOLATED || (!is_shared && !leading.empty()))
      break;
    leading.push_back(&stage.machine);
  }
  if (!leading.empty())
    neighbors_.emplace(leading);
  has_fast_path_ = leading.size() == stages_.size();
  if (!has_fast_path_)
    for (Stage &stage : stages_)
      if (stage.behavior == Behavior::ISOLATED)
        stage.neighbors.emplace(std::vector<const Machine *>{&stage.machine});
}

} // namespace pretok
