#include "core/normalize/growth.hpp"

namespace pretok {

std::uint64_t Growth::bytes() const {
  // A Chinese character has at least three bytes.
  const std::uint64_t spaced = saturating_multiply(spelled_, 3 + 2 * chinese_);
  const std::uint64_t all = saturating_multiply(base_, spaced);
  return saturating_add(all / 3 + (all % 3 != 0 ? 1 : 0), added_);
}

void Growth::multiply(std::uint64_t factor, bool is_stable) {
  if (!is_stable)
    write_any();
  base_ = saturating_multiply(base_, factor);
  added_ = saturating_multiply(added_, factor);
}

void Growth::add(std::uint64_t size, bool is_stable) {
  added_ = saturating_add(added_, size);
  if (!is_stable)
    write_any();
}

void Growth::write_any() {
  base_ = bytes();
  added_ = 0;
  spelled_ = 1;
  chinese_ = 0;
}

std::uint64_t replace_factor(const Replacement &replacement) {
  // A match of a regex has at least one byte.
  const std::uint64_t matched = replacement.regex ? 1 : replacement.pattern.size();
  const std::uint64_t size = replacement.content.size();
  return std::max<std::uint64_t>(1, size / matched + (size % matched != 0 ? 1 : 0));
}

std::string problem_of_growth(const Growth &growth, std::uint64_t read, const char *unit) {
  const auto of_one_byte = [unit](const std::string &bytes) {
    return bytes + " one byte of a " + unit;
  };
  if (growth.bytes() > MAX_GROWTH)
    return of_one_byte("make up to " + std::to_string(growth.bytes()) + " bytes of");
  if (read > MAX_GROWTH)
    return of_one_byte("read up to " + std::to_string(read) + " bytes with regexes for");
  return "";
}

} // namespace pretok
