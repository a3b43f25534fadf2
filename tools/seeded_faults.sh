#!/bin/bash
# Tests the tests: builds the driver with its seeded faults (backend/trace/seeded_fault.h), switches them on one by one
# and demands that the suite fails each time. Prints the tests that caught each fault; exit code 1 when one got through,
# or when the suite fails without a fault.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
build=build/faults

cmake --preset release -B "$build" -DPUMICE_SEEDED_FAULTS=ON -DPUMICE_BUILD_BENCH=OFF > /dev/null
ninja -C "$build"

# run FAULT: the whole suite up to the first failure; no single test may take longer than a minute.
run() {
  PUMICE_SEEDED_FAULT=$1 ctest --test-dir "$build" -j "$(nproc)" --timeout 60 --stop-on-failure --no-tests=error 2>&1
}

if ! output=$(run ""); then
  echo "$output" | tail -20
  echo "seeded faults: the suite fails without any fault" >&2
  exit 1
fi

mapfile -t faults < <(git grep -hoE 'PUMICE_SEEDED_FAULT\("[a-z0-9-]+"\)' -- 'backend/*.cpp' 'icd/*.cpp' 'shaders/*.cpp' |
  grep -oE '"[^"]+"' | tr -d '"' | sort -u)
escaped=0
for fault in "${faults[@]}"; do
  if output=$(run "$fault"); then
    echo "$fault: NOT CAUGHT"
    escaped=1
  else
    echo "$fault: caught by $(grep -oE '^[[:space:]]+[0-9]+ - .* \((Failed|Timeout|SEGFAULT|Subprocess aborted|ILLEGAL|BUS_FAULT|SIGTRAP)\)' <<< "$output" |
      sed -E 's/^[[:space:]]+[0-9]+ - (.*) \(.*/\1/' | paste -sd, | sed 's/,/, /g')"
  fi
done
echo "${#faults[@]} seeded faults"
exit $escaped
