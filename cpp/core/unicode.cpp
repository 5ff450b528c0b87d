#include "unicode.hpp"

namespace pretok {
namespace {

constexpr std::uint32_t UNICODE_15_0[] = {
#include "generated/unicode_15_0.inc"
};
constexpr std::uint32_t UNICODE_15_1[] = {
#include "generated/unicode_15_1.inc"
};
constexpr std::uint32_t UNICODE_16_0[] = {
#include "generated/unicode_16_0.inc"
};
constexpr std::uint32_t UNICODE_17_0[] = {
#include "generated/unicode_17_0.inc"
};
constexpr std::uint32_t UNICODE_18_0[] = {
#include "generated/unicode_18_0.inc"
};

template <std::size_t size> constexpr UnicodeTable whole(const std::uint32_t (&runs)[size]) {
  return {runs, size};
}

} // namespace

UnicodeTable unicode_table(std::string_view version) {
  if (version == "15.0")
    return whole(UNICODE_15_0);
  if (version == "15.1")
    return whole(UNICODE_15_1);
  if (version == "16.0")
    return whole(UNICODE_16_0);
  if (version == "17.0")
    return whole(UNICODE_17_0);
  if (version == "18.0")
    return whole(UNICODE_18_0);
  return {nullptr, 0};
}

} // namespace pretok
