#!/bin/bash
# Tests the tests: builds the driver with its seeded faults (backend/trace/seeded_fault.h), switches them on one by one
# and demands that the suite fails each time. Prints the tests that caught each fault; exit code 1 when one got through,
# or when the suite fails without a fault. With names of faults only these, and no run without.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
build=build/faults

# A fault may hang a shader: two minutes are enough for a test that does not.
cmake --preset release -B "$build" -DPUMICE_SEEDED_FAULTS=ON -DPUMICE_BUILD_BENCH=OFF -DPUMICE_TEST_TIMEOUT=120 > /dev/null
ninja -C "$build"

# run FAULT [CTEST OPTIONS]: up to the first failure.
run() {
  local fault=$1
  shift
  PUMICE_SEEDED_FAULT=$fault ctest --test-dir "$build" -j "$(nproc)" --stop-on-failure --no-tests=error "$@" 2>&1
}

# survives FAULT: the whole suite passes. The tests nearest to the fault come first: most are caught within seconds.
survives() {
  local place label
  place=$(git grep -lF "PUMICE_SEEDED_FAULT(\"$1\")" -- '*.cpp')
  case $place in
    backend/*) label=unit.backend ;;
    icd/*) label=api ;;
    *) label=unit.shaders ;;
  esac
  run "$1" -L "$label" && run "$1" -LE "$label"
}

faults=("$@")
if [[ $# -eq 0 ]]; then
  if ! output=$(run ""); then
    echo "$output" | tail -20
    echo "seeded faults: the suite fails without any fault" >&2
    exit 1
  fi
  mapfile -t faults < <(git grep -hoE 'PUMICE_SEEDED_FAULT\("[a-z0-9-]+"\)' -- 'backend/*.cpp' 'icd/*.cpp' 'shaders/*.cpp' |
    grep -oE '"[^"]+"' | tr -d '"' | sort -u)
fi
escaped=0
for fault in "${faults[@]}"; do
  caught=
  output=$(survives "$fault") ||
    caught=$(grep -oE '^[[:space:]]+[0-9]+ - .* \((Failed|Timeout|SEGFAULT|Subprocess aborted|ILLEGAL|BUS_FAULT|SIGTRAP)\)' <<< "$output" |
      sed -E 's/^[[:space:]]+[0-9]+ - (.*) \(.*/\1/; s/ +# GetParam.*//' | paste -sd, | sed 's/,/, /g') || true
  if [[ -n "$caught" ]]; then
    echo "$fault: caught by $caught"
  else
    echo "$fault: NOT CAUGHT"
    tail -5 <<< "$output"
    escaped=1
  fi
done
echo "${#faults[@]} seeded faults"
exit $escaped
