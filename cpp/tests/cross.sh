#!/usr/bin/env bash
# Builds the library in one file for another processor, and runs its tests and examples there:
#
#     bash cpp/tests/cross.sh i686 s390x aarch64 riscv64 wasm plain
#
# s390x is big-endian, i686 and wasm have 32 bits; plain is this processor with the kernels that
# need no vector instructions. Needs, from Debian: g++-NAME-linux-gnu and qemu-user for a
# processor; emscripten and nodejs for wasm.
set -euo pipefail
cpp=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
examples=$cpp/examples
flags=(-O1 -Wall -Wextra -Werror "-I$cpp/capi" "-I$cpp/core" "-I$cpp/formats")

python3 "$cpp/amalgamate.py" "$work"
for target in "${@:-plain}"; do
  run=("qemu-$target")
  suffix=
  cc=("$target-linux-gnu-gcc" -static "${flags[@]}")
  cxx=("$target-linux-gnu-g++" -static -pthread "${flags[@]}")
  case $target in
  i686) run=(qemu-i386) ;;
  plain) run=(env) cc=(cc "${flags[@]}") cxx=(c++ -pthread -DPRETOK_PLAIN_KERNELS "${flags[@]}") ;;
  wasm)
    run=(node)
    suffix=.js
    # The vocabulary is a file of the machine's, which node's file system gives.
    wasm=("${flags[@]}" -sALLOW_MEMORY_GROWTH -sNODERAWFS -fexceptions)
    cc=(emcc "${wasm[@]}") cxx=(em++ "${wasm[@]}")
    ;;
  esac
  echo "== $target"
  "${cxx[@]}" -std=c++17 -c "$work/pretok.cpp" -o "$work/pretok.o"
  for source in tests/capi.c tests/capi_cpp.cpp tests/caches.cpp tests/encoding.cpp \
    tests/formats.cpp tests/nfc.cpp examples/ids.c examples/chat.cpp; do
    name=$(basename "${source%.*}")
    if [[ $source == *.c ]]; then
      "${cc[@]}" -std=c99 -c "$cpp/$source" -o "$work/$name.o"
    else
      "${cxx[@]}" -std=c++17 -c "$cpp/$source" -o "$work/$name.o"
    fi
    "${cxx[@]}" "$work/$name.o" "$work/pretok.o" -o "$work/$name$suffix"
  done
  for name in capi capi_cpp caches encoding formats nfc; do
    "${run[@]}" "$work/$name$suffix" && echo "$name passed"
  done
  vocabulary=("$examples/tiny.tiktoken" cl100k)
  "${run[@]}" "$work/ids$suffix" "${vocabulary[@]}" <"$examples/hello.txt" | cmp - "$examples/hello.ids"
  "${run[@]}" "$work/chat$suffix" "${vocabulary[@]}" <"$examples/messages.txt" 2>"$work/said" |
    cmp - "$examples/answers.txt"
  echo "examples passed"
done
