#!/usr/bin/env bash
# Builds the two-file library for another processor, and runs its tests and examples there:
#
#     bash cpp/tests/cross.sh i686 s390x aarch64 riscv64 wasm plain
#
# s390x is big-endian, i686 and wasm have 32 bits; plain is this processor with the kernels that
# need no vector instructions. Needs, from Debian: g++-NAME-linux-gnu and qemu-user for a
# processor; emscripten and nodejs for wasm. FULL=1 adds tests that take minutes in an emulator.
set -euo pipefail
cpp=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
examples=$cpp/examples
programs=(tests/capi tests/capi_cpp.cpp tests/nfc.cpp)
programs+=(tests/gguf_file.cpp tests/pretok_file.cpp tests/text_files.cpp)
[[ ${FULL:-} != 1 ]] || programs+=(tests/caches.cpp tests/encoding.cpp tests/merging.cpp)
programs+=(examples/ids.c examples/chat.cpp)
flags=(-O1 -Wall -Wextra "-I$cpp" "-I$cpp/capi")

python3 "$cpp/amalgamate.py" "$work"
for target in "${@:-plain}"; do
  cc=("$target-linux-gnu-gcc" "${flags[@]}")
  cxx=("$target-linux-gnu-g++" -pthread "${flags[@]}")
  link=("${cxx[@]}" -static)
  run=("qemu-$target")
  suffix=
  case $target in
  i686) run=(qemu-i386) ;;
  plain)
    cc=(cc "${flags[@]}")
    cxx=(c++ -pthread -DPRETOK_PLAIN_KERNELS "${flags[@]}")
    link=("${cxx[@]}")
    run=(env)
    ;;
  wasm)
    cc=(emcc -fexceptions "${flags[@]}")
    cxx=(em++ -fexceptions "${flags[@]}")
    # The examples read files of the host.
    link=("${cxx[@]}" -sALLOW_MEMORY_GROWTH -sNODERAWFS -sEXIT_RUNTIME)
    # Code from emscripten 3.1 mistakes node's fetch for that of a browser.
    run=(node --no-experimental-fetch)
    suffix=.js
    ;;
  esac
  echo "== $target"
  "${cxx[@]}" -std=c++17 -Werror -c "$work/pretok.cpp" -o "$work/pretok.o"
  for source in "${programs[@]}"; do
    name=$(basename "${source%.*}")
    parts=("$cpp/$source")
    [[ ! -d $cpp/$source ]] || parts=("$cpp/$source"/*.c)
    objects=()
    for part in "${parts[@]}"; do
      object=$work/$name.$(basename "${part%.*}").o
      if [[ $part == *.c ]]; then
        "${cc[@]}" -std=c99 -c "$part" -o "$object"
      else
        "${cxx[@]}" -std=c++17 -c "$part" -o "$object"
      fi
      objects+=("$object")
    done
    "${link[@]}" "${objects[@]}" "$work/pretok.o" -o "$work/$name$suffix"
    if [[ $source == tests/* ]]; then
      "${run[@]}" "$work/$name$suffix"
      echo "$name passed"
    fi
  done
  vocabulary=("$examples/tiny.tiktoken" cl100k)
  "${run[@]}" "$work/ids$suffix" "${vocabulary[@]}" <"$examples/hello.txt" |
    cmp - "$examples/hello.ids"
  "${run[@]}" "$work/chat$suffix" "${vocabulary[@]}" <"$examples/messages.txt" \
    2>"$work/refused" | cmp - "$examples/answers.txt"
  echo "examples passed"
done
