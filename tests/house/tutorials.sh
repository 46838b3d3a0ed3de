#!/usr/bin/env bash
# Runs the tutorials as a reader would: every ```sh block of docs/tutorials/*.md, in order, in one shell, in a
# fresh copy of what a clone has.
#
#   tutorials.sh ROOT BUILD [NAME…]       without names: all
#
# Fixed ports (8470 to 8479) become free ones. A block that begins with `# with NAME` runs only where the program NAME is there.
set -euo pipefail
root=$(cd "${1:?usage: tutorials.sh ROOT BUILD [NAME…]}" && pwd)
build=$(cd "${2:?usage: tutorials.sh ROOT BUILD [NAME…]}" && pwd)
shift 2
[ $# -gt 0 ] || set -- $(cd "$root/docs/tutorials" && ls ./*.md | sed 's/^\.\///; s/\.md$//')
command -v curl >/dev/null || { # they say that they need it
    echo 'SKIPPED: curl is not installed here (scripts/setup installs it)'
    exit 77
}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
failed=0
for name; do
    mkdir "$box/$name"
    ln -s "$root/examples" "$root/include" "$root/scripts" "$root/docs" "$box/$name/"
    ln -s "$build" "$box/$name/build"
    awk '
        /^```/ && inside { inside = 0; if (guarded) print "fi"; guarded = 0; next }
        /^```sh *$/ { inside = 1; first = 1; next }
        inside && first && /^# with / { print "if command -v " $3 " >/dev/null; then"; guarded = 1 }
        inside { print; first = 0 }
    ' "$root/docs/tutorials/$name.md" >"$box/$name.sh"
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    sed -i "s/127\.0\.0\.1:847[0-9]/127.0.0.1:$port/g" "$box/$name.sh"
    # What was started in the background ends with the shell, and before the box is removed.
    if (cd "$box/$name" && timeout 240 bash -euo pipefail -c 'trap "kill \$(jobs -p) 2>/dev/null || true; wait" EXIT
        source "$1"' - "$box/$name.sh") >"$box/$name.log" 2>&1 </dev/null; then
        echo "$name: $(wc -l <"$box/$name.sh") lines"
    else
        echo "$name: FAILED after:"
        tail -25 "$box/$name.log"
        failed=1
    fi
done
exit "$failed"
