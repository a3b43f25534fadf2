#!/bin/bash
# What is too long for every change: the build and tests with Clang 14 and clang-tidy over the
# driver. Stops with non-zero at the first failure.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
tools/setup.sh --nightly

echo "==== clang build"
cmake --preset release -B build/clang -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 > /dev/null
ninja -C build/clang
ctest --test-dir build/clang -j "$(nproc)" --output-on-failure --no-tests=error

echo "==== clang-tidy"
git ls-files 'backend/*.cpp' 'icd/*.cpp' 'shaders/*.cpp' | grep -v _test.cpp |
  xargs -r -P "$(nproc)" -n 4 clang-tidy -p build/clang --quiet --warnings-as-errors='bugprone-*,clang-analyzer-*'
