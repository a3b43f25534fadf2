#!/bin/bash
# Installs what tools/packages.txt names and this Debian 12 machine lacks: as root, or with sudo. Where neither is
# possible it prints the one command to run and exits with 1. With --nightly also what only tools/nightly.sh needs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

nightly=0
[[ "${1:-}" == --nightly ]] && nightly=1
wanted=$(awk -v nightly="$nightly" '/^\[nightly\]/ { if (!nightly) exit; next } /^[^#]/ { print $1 }' "$here/packages.txt")

if ! command -v dpkg-query > /dev/null; then
  echo "setup: not a Debian system; what is needed is listed in $here/packages.txt" >&2
  exit 0
fi
missing=()
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [[ "$state" == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

install="apt-get install -y --no-install-recommends ${missing[*]}"
echo "setup: installing ${missing[*]}" >&2
if [[ $(id -u) -eq 0 ]]; then
  prefix=()
elif command -v sudo > /dev/null && { sudo -n true 2> /dev/null || [[ -t 0 ]]; }; then
  prefix=(sudo)
else
  echo "setup: neither root nor sudo here; run this once as root:" >&2
  echo "apt-get update && $install" >&2
  exit 1
fi
"${prefix[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
# shellcheck disable=SC2086 # the command's words are meant to be split
"${prefix[@]}" env DEBIAN_FRONTEND=noninteractive $install
