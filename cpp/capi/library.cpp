// The version of the library and the list of built-in presets.
#include "capi/pretok.h"

#include "core/split/presets.hpp"

using namespace pretok;

uint32_t pretok_abi_version(void) noexcept { return PRETOK_ABI_VERSION; }

const char *pretok_version(void) noexcept { return PRETOK_VERSION; }

size_t pretok_preset_count(void) noexcept { return preset_count(); }

const char *pretok_preset_name(size_t index) noexcept {
  return index < preset_count() ? preset_at(index).name : nullptr;
}
