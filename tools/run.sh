#!/bin/bash
# Runs a program on Pumice: sets the machine up, builds the driver in build/release and starts PROGRAM with the Vulkan
# loader pointed at it alone. Without PROGRAM: vkcube, 300 frames, one of which becomes a picture.
#
#   tools/run.sh                    vkcube (without a display in a virtual one); says where the picture is
#   tools/run.sh fft                FFTs through VkFFT, checked against FFTW, with a readable report
#   tools/run.sh vulkaninfo         any Vulkan program
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

"$root/tools/setup.sh"
build=$root/build/release
log=$(mktemp)
trap 'rm -f "$log"' EXIT
targets=(vulkan_pumice pumice_compiler)
[[ "${1:-}" == fft ]] && targets+=(pumice-fft)
[[ -e "$build/icd/libvulkan_pumice.so" ]] || echo "run: building the driver in $build; the first time takes some minutes" >&2
if ! { cd "$root" && cmake --preset release && ninja -C "$build" "${targets[@]}"; } > "$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi

manifest=$build/icd/pumice_icd.json
# The older and the newer name; loaders read one of them.
export VK_ICD_FILENAMES=$manifest VK_DRIVER_FILES=$manifest

cube() {
  local picture=$build/vkcube.png display=()
  # Without a display, a virtual one.
  [[ -n "${DISPLAY:-}" ]] || display=(xvfb-run -a -s "-screen 0 1280x1024x24")
  rm -f "$picture"
  local start=$EPOCHREALTIME
  PUMICE_SCREENSHOT=$picture PUMICE_SCREENSHOT_FRAME=200 "${display[@]}" vkcube --c 300 --suppress_popups
  if [[ ! -s "$picture" ]]; then
    echo "vkcube has shown no picture" >&2
    return 1
  fi
  awk -v from="$start" -v to="$EPOCHREALTIME" \
    'BEGIN { printf "vkcube: 300 frames in %.1f s, at the pace of the display\n", to - from }'
  echo "picture: $picture"
}

case "${1:-}" in
  "") cube ;;
  fft)
    peers=()
    for peer in /usr/share/vulkan/icd.d/lvp_icd.*.json; do
      [[ -e "$peer" ]] && peers+=(--peer "$peer")
    done
    "$build/tools/fft/pumice-fft" "${peers[@]}"
    ;;
  *)
    rm -f "$log"
    exec "$@"
    ;;
esac
