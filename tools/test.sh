#!/bin/bash
# The whole test run, as CI does it: format, release build without a warning, all unit and API tests, the unit tests
# under AddressSanitizer and UBSan, backend/ under ThreadSanitizer. Stops with non-zero at the first failing stage, and
# prints the minutes of each stage and the test runners' closing lines at the end.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
jobs=$(nproc)
summary=()

# The failing stage's name and output stay visible: everything goes to the terminal, and to a log for the closing lines.
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

report() {
  echo
  echo "---- summary"
  printf '%s\n' "${summary[@]}"
}

# stage NAME COMMAND...: runs it, notes the minutes and the closing lines of ctest.
stage() {
  local name=$1 start=$SECONDS status=0 log
  shift
  log=$logs/${name// /_}
  echo
  echo "==== $name"
  set +e
  ( set -e; "$@" ) 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  set -e
  summary+=("$(printf '%-28s %5.1f min  %s' "$name" "$(awk "BEGIN { print ($SECONDS - $start) / 60 }")" \
    "$([[ $status -eq 0 ]] && echo ok || echo FAILED)")")
  local closing
  closing=$(grep -E '^[0-9]+% tests passed|^Total Test time|^No tests were found' "$log" || true)
  [[ -n "$closing" ]] && summary+=("${closing//$'\n'/$'\n'}")
  if [[ $status -ne 0 ]]; then
    report
    exit 1
  fi
}

check_format() {
  git ls-files '*.cpp' '*.h' | xargs -r clang-format --dry-run --Werror
}

# build PRESET [CMAKE OPTIONS]: warnings are errors in every preset.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" "$@" > /dev/null
  ninja -C "build/$preset" -j "$jobs"
}

# run_tests PRESET: what the test preset of that name selects; no tests at all is a failure.
run_tests() {
  ctest --preset "$1" -j "$jobs" --no-tests=error
}

stage "setup" tools/setup.sh
stage "format" check_format
stage "release build" build release
stage "release tests" run_tests release
stage "coverage table" tools/coverage_table.py --check
# LLVM itself is not instrumented; the shader compiler around it is.
stage "asan build" build asan -DPUMICE_BUILD_BENCH=OFF -DPUMICE_BUILD_COMPILER=ON
stage "asan tests" run_tests asan
stage "tsan build" build tsan
stage "tsan tests" run_tests tsan
report
