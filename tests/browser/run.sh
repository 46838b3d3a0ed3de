#!/usr/bin/env bash
# Plays a small experiment and looks at its report in the system's Chromium.
#
#   run.sh BUILD      exit status 77, with a sentence, where there is nothing to look with
set -euo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/browser.sh"

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
"$build/tacit" run -q "$here/report.yaml" -o "$box/out" >"$box/said"
"$build/tacit" report "$box/out" --static -o "$box/static.html" >"$box/said"
node "$here/report.mjs" "$browser" "$box/out/report.html" "$box/static.html"
