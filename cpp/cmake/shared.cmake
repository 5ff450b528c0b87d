# Give the shared library its version, and export only the symbols of pretok.h.
file(STRINGS capi/pretok.h line REGEX "^#define PRETOK_ABI_VERSION [0-9]+$")
string(REGEX MATCH "[0-9]+$" abi_version "${line}")
if(NOT abi_version)
  message(FATAL_ERROR "capi/pretok.h does not define PRETOK_ABI_VERSION as a number")
endif()
set_target_properties(pretok PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${abi_version})
target_compile_definitions(pretok PUBLIC PRETOK_SHARED)

# -fvisibility=hidden does not hide templates of the standard library, so tell the linker which
# symbols to export.
if(APPLE)
  target_link_options(pretok PRIVATE -Wl,-dead_strip -Wl,-exported_symbol,_pretok_*)
elseif(UNIX)
  target_link_options(pretok PRIVATE -Wl,--gc-sections -Wl,--no-undefined
    -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/pretok.map)
  set_target_properties(pretok PROPERTIES
    LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/pretok.map)
endif()

# Link-time optimization makes the library an eighth smaller. It takes a minute, so tests and
# examples are linked without it, from machine code that their objects have too.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT PRETOK_FUZZ)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT has_ipo LANGUAGES CXX)
  if(has_ipo)
    foreach(name pretok_split pretok_encode pretok_formats pretok)
      set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
      if(PRETOK_TESTS OR PRETOK_EXAMPLES)
        target_compile_options(${name} PRIVATE -ffat-lto-objects)
      endif()
    endforeach()
    # Without this option, the linker's plugin optimizes the code of these objects in each program.
    add_link_options(-fno-lto)
  endif()
endif()
