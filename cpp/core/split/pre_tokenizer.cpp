#include "core/split/pre_tokenizer.hpp"

namespace pretok {

PreTokenizer::PreTokenizer(const std::vector<StageProgram> &stages, UnicodeTable table) {
  int rules_before = 0;
  stages_.reserve(stages.size());
  for (const StageProgram &stage : stages) {
    stages_.push_back(
        {Machine(stage.program, table), stage.behavior, stage.invert, rules_before});
    rules_before += static_cast<int>(stage.program.rules.size());
    removes_ |= stage.behavior == Behavior::REMOVED;
  }
}

} // namespace pretok
