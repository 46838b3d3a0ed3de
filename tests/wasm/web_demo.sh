#!/bin/sh
# scripts/web-demo prints an address, at which the page is, and leaves nothing behind: web_demo.sh ROOT BUILD
#
# Skipped (77) if the command was built before `make wasm`, and without curl. wasm.demo uses the page itself.
set -eu
command -v curl >/dev/null || { echo 'skipped: there is no curl'; exit 77; }
box=$(mktemp -d)
demo=
trap '[ -z "$demo" ] || { kill "$demo" && wait "$demo"; } 2>/dev/null || true; rm -rf "$box"' EXIT
mkdir "$box/tmp"
: >"$box/said"
TMPDIR=$box/tmp "$1/scripts/web-demo" "$2" 127.0.0.1:0 >"$box/said" 2>&1 &
demo=$!
for _ in $(seq 300); do
    address=$(sed -n 's/^open //p' "$box/said")
    if [ -n "$address" ] || ! kill -0 "$demo" 2>/dev/null; then break; fi
    sleep 0.1
done
cat "$box/said"
if [ -z "$address" ]; then
    ! grep -q 'built without' "$box/said" || exit 77
    exit 1
fi
curl -sS --fail --max-time 20 "${address%%#*}" | grep -q '<title>'
curl -sS --fail --max-time 20 -H "Authorization: Bearer ${address##*token=}" "${address%%/demo*}/v1/guarantee?learner=cafe" >/dev/null
kill "$demo"
wait "$demo" || [ $? -eq 143 ]
demo=
[ -z "$(ls "$box/tmp")" ] || { echo "it leaves something behind:" "$box/tmp"/*; exit 1; }
