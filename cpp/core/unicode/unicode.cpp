#include "core/unicode/unicode.hpp"

namespace pretok {
namespace {

constexpr std::uint32_t UNICODE_15_0[] = {
#include "core/unicode/generated/unicode_15_0.inc"
};
constexpr std::uint32_t UNICODE_15_1[] = {
#include "core/unicode/generated/unicode_15_1.inc"
};
constexpr std::uint32_t UNICODE_16_0[] = {
#include "core/unicode/generated/unicode_16_0.inc"
};
constexpr std::uint32_t UNICODE_17_0[] = {
#include "core/unicode/generated/unicode_17_0.inc"
};
constexpr std::uint32_t UNICODE_18_0[] = {
#include "core/unicode/generated/unicode_18_0.inc"
};

// Returns whether PRETOK_UNICODE, such as "16.0 15.0", lists the version. If PRETOK_UNICODE is
// not defined, all versions are built in.
constexpr bool is_built_in([[maybe_unused]] std::string_view version) {
#ifdef PRETOK_UNICODE
  return std::string_view(PRETOK_UNICODE).find(version) != std::string_view::npos;
#else
  return true;
#endif
}

struct Version {
  template <std::size_t size>
  constexpr Version(std::string_view number, const std::uint32_t (&runs)[size])
      : name(number),
        table(is_built_in(number) ? UnicodeTable{runs, size} : UnicodeTable{nullptr, 0}) {}

  std::string_view name;
  UnicodeTable table;
};

constexpr Version VERSIONS[] = {
    {"15.0", UNICODE_15_0}, {"15.1", UNICODE_15_1}, {"16.0", UNICODE_16_0},
    {"17.0", UNICODE_17_0}, {"18.0", UNICODE_18_0},
};

} // namespace

UnicodeTable unicode_table(std::string_view version) {
  for (const Version &built_in : VERSIONS)
    if (built_in.name == version)
      return built_in.table;
  return {nullptr, 0};
}

std::string_view unicode_version(UnicodeTable table) {
  for (const Version &built_in : VERSIONS)
    if (table.size != 0 && built_in.table.runs == table.runs)
      return built_in.name;
  return {};
}

} // namespace pretok
