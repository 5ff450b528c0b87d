# Toolchain file: compiles for 64-bit ARM, and runs the tests in qemu. Needs, from Debian:
# g++-aarch64-linux-gnu, and qemu-user or qemu-user-static.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
find_program(PRETOK_QEMU NAMES qemu-aarch64 qemu-aarch64-static REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${PRETOK_QEMU} -L /usr/aarch64-linux-gnu)
