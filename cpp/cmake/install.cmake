# Installs the headers, the library, and the files for find_package(pretok) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pretok)
install(TARGETS pretok EXPORT pretokTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES capi/pretok.h capi/pretok.hpp compat/llama_vocab.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT pretokTargets NAMESPACE pretok:: DESTINATION ${package_folder})

configure_package_config_file(cmake/pretokConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/pretokConfig.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0, a minor version may be incompatible with the previous minor version.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/pretokConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pretokConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/pretokConfigVersion.cmake DESTINATION ${package_folder})

# A program that links the static library must also link the libraries that pretok needs. The shared
# library loads them itself.
set(public_libraries "")
set(public_flags "")
if(PRETOK_BUILD_SHARED)
  set(public_flags " -DPRETOK_SHARED")
else()
  foreach(library IN LISTS cxx_libraries)
    string(APPEND public_libraries " -l${library}")
  endforeach()
  string(APPEND public_libraries " ${CMAKE_THREAD_LIBS_INIT}")
endif()
set(pc_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_to_prefix "/${pc_folder}" "/")
configure_file(cmake/pretok.pc.in ${CMAKE_CURRENT_BINARY_DIR}/pretok.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pretok.pc DESTINATION ${pc_folder})
