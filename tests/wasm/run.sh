#!/bin/sh
# The npm package, in node or in Chromium, against a running service.
#
#   run.sh node|browser|packed|demo BUILD tests
#   run.sh bench BUILD                    how long opening and a report take in Chromium
#
# Skipped (77) where `make wasm` has not been run, or where node or Chromium is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$2" && pwd)
skip() {
    echo "skipped: $1"
    exit 77
}
command -v node >/dev/null || skip 'there is no node'
[ -f "$build/wasm32/build.ninja" ] || skip 'the package is not built; make wasm does'
cmake --build "$build/wasm32" >/dev/null || exit 1 # what is tested is what the sources say now
case "$1" in
node) exec node "$here/node.mjs" "$build" ;;
browser | packed | demo | bench)
    chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip 'there is no Chromium'
    exec node "$here/$1.mjs" "$build" "$chromium"
    ;;
esac
echo "usage: run.sh node|browser|packed|demo|bench BUILD" >&2
exit 2
