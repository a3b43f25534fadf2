#!/bin/bash
# What is too long for every change: the build and tests with Clang 14, 100,000 random shaders at every subgroup size and vector
# width (interpreter against machine code), the seeded faults, and clang-tidy over the driver (its findings are for
# reading). Stops with non-zero at the first failure.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
tools/setup.sh --nightly

echo "==== clang build"
cmake --preset release -B build/clang -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 > /dev/null
ninja -C build/clang
ctest --test-dir build/clang -j "$(nproc)" --output-on-failure --no-tests=error

echo "==== 100,000 random shaders"
cmake --preset release > /dev/null
ninja -C build/release pumice-random
# Each program has a subgroup size by its seed and runs at every vector width, with a gang width, tier and passes or not
# by its seed (all 48 settings of each program would take days). Half of them take transcendental functions in.
# Seeds of today's own, so that the nights add up; a failure prints its seed and a shrunk module.
shaders=100000
day=$(($(date +%s) / 86400))
first=$((day * shaders))
chunk=500
# Three chunks of four are of small programs, which take half as long and find nearly as much.
seq 0 $((shaders / chunk - 1)) | xargs -P "$(nproc)" -I{} bash -c '
  options=(); [ $(({} % 4)) = 0 ] || options+=(--statements 24); [ $(({} % 8)) -lt 4 ] || options+=(--math)
  exec "$1" --seed $(($2 + {} * $3)) --count "$3" --settings 3 "${options[@]}"' \
  pumice-random build/release/shaders/random/differential/pumice-random "$first" "$chunk"

echo "==== seeded faults"
tools/seeded_faults.sh

echo "==== clang-tidy"
git ls-files 'backend/*.cpp' 'icd/*.cpp' 'shaders/*.cpp' | grep -v _test.cpp |
  xargs -r -P "$(nproc)" -n 4 clang-tidy -p build/clang --quiet
