#!/usr/bin/env bash
# Runs tests with tools that find memory errors, undefined behaviour and data races:
#   sanitize.sh asan       all C and C++ tests, with AddressSanitizer and
#                          UndefinedBehaviorSanitizer and each installed compiler
#   sanitize.sh tsan       the C and C++ tests with threads, with ThreadSanitizer
#   sanitize.sh valgrind   the fast C and C++ tests, with Memcheck
#   sanitize.sh python [ARGUMENTS OF PYTEST]   the Python tests of the C++ core, with the
#                          sanitizers of asan
# SANITIZE_BUILD is the folder of the builds; the default is a temporary folder. PYTHON is a
# Python with the packages of `pip install '.[test]'`.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
what=${1:-}
shift || true
if [ -z "${SANITIZE_BUILD:-}" ]; then
  SANITIZE_BUILD=$(mktemp -d)
  trap 'rm -rf "$SANITIZE_BUILD"' EXIT
fi
export UBSAN_OPTIONS=print_stacktrace=1
targets= # the cmake targets to build; empty: all
# The library has no RTTI, so the check of vptr would report every virtual call from a test.
address="-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all"

# build NAME CC CXX FLAGS [OPTIONS OF CMAKE]
build() {
  local folder=$SANITIZE_BUILD/$1 cc=$2 cxx=$3 flags="-g1 -O1 -fno-omit-frame-pointer $4"
  shift 4
  cmake -S "$root/cpp" -B "$folder" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" "$@" >/dev/null
  # shellcheck disable=SC2086
  cmake --build "$folder" -j "$(nproc)" ${targets:+--target $targets}
}

case $what in
asan)
  for compiler in clang:clang++ gcc:g++; do
    if command -v "${compiler#*:}" >/dev/null; then
      build "asan-${compiler%:*}" "${compiler%:*}" "${compiler#*:}" "$address"
      ctest --test-dir "$SANITIZE_BUILD/asan-${compiler%:*}" --output-on-failure
    fi
  done
  ;;
tsan)
  targets="threads capi_threads prompt_cache"
  build tsan clang clang++ -fsanitize=thread
  ctest --test-dir "$SANITIZE_BUILD/tsan" --output-on-failure -R "threads|prompt_cache"
  ;;
valgrind)
  build valgrind gcc g++ ""
  # The corpora of the fuzz targets; random tests take too long.
  ctest --test-dir "$SANITIZE_BUILD/valgrind" -N -V -R 'fuzz|capi|caches' |
    sed -n 's/^.*Test command: //p' | tr -d '"' | while read -r command; do
    echo "$command"
    # shellcheck disable=SC2086
    valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite \
      $command </dev/null
  done
  ;;
python)
  python=${PYTHON:-python3}
  build python gcc g++ "$address" -DSKBUILD=ON -DPython_EXECUTABLE="$(command -v "$python")" \
    -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)"
  # The tests import the packages of this build, with its extension module.
  packages=$SANITIZE_BUILD/packages
  rm -rf "$packages"
  mkdir "$packages"
  cp -r "$root/pretok" "$root/bpe" "$packages"
  rm -f "$packages"/pretok/_core*.so
  find "$SANITIZE_BUILD/python" -name '_core*.so' -exec cp {} "$packages/pretok" \;
  # AddressSanitizer intercepts C++ exceptions only if libstdc++ is preloaded. It ignores
  # leaks, since Python frees nothing at exit.
  preload="$(gcc -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so.6)"
  tests=(
    bpe/encoding/test_{added_tokens,decode,fast_calls,normalize,special_tokens}.py
    bpe/test_{load,merge,threads,tokenizer,tokenizer_construction,tokenizer_hostile,vocabulary}.py
    bpe/training/test_{corpus,train,train_like_peers,train_process,trainer}.py
    differential/test_{golden,kernels,presets,random_presets,tokenizer_golden}.py
    formats/test_tiktoken.py
    packaging/test_twins.py
    pretok/machine/test_{program,stream}.py
    pretok/test_{hostile_texts,pre_tokenizer}.py
  )
  if [ $# -eq 0 ]; then
    set -- "${tests[@]/#/$root/tests/}" -k \
      'not python and not linear and not lets_other and not million and not memory_beyond'
  fi
  cd "$packages" # `python -m` imports from the current folder first
  LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 PRETOK_REQUIRE_NATIVE=1 \
    PYTHONPATH=$packages PYTHONMALLOC=malloc \
    "$python" -X faulthandler -m pytest -q -p no:cacheprovider -c "$root/pyproject.toml" \
    --rootdir "$root" "$@"
  ;;
*)
  sed -n '2,/^set/{/^#/s/^# \?//p}' "$0"
  exit 2
  ;;
esac
