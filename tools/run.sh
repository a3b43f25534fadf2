#!/bin/bash
# Runs a program on Pumice: sets the machine up, builds the driver in build/release and starts PROGRAM with the Vulkan
# loader pointed at it alone. Without PROGRAM: the FFT program, with a readable report.
#
#   tools/run.sh                    FFTs through VkFFT, checked against FFTW
#   tools/run.sh vulkaninfo         any Vulkan program
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

"$root/tools/setup.sh"
build=$root/build/release
log=$(mktemp)
trap 'rm -f "$log"' EXIT
targets=(vulkan_pumice pumice_compiler)
[[ $# -eq 0 ]] && targets+=(pumice-fft)
if ! { cd "$root" && cmake --preset release && ninja -C "$build" "${targets[@]}"; } > "$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi

manifest=$build/icd/pumice_icd.json
# The older and the newer name; loaders read one of them.
export VK_ICD_FILENAMES=$manifest VK_DRIVER_FILES=$manifest
if [[ $# -gt 0 ]]; then
  rm -f "$log"
  exec "$@"
fi
peers=()
for peer in /usr/share/vulkan/icd.d/lvp_icd.*.json; do
  [[ -e "$peer" ]] && peers+=(--peer "$peer")
done
"$build/tools/fft/pumice-fft" "${peers[@]}"
