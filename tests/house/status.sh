#!/bin/sh
# docs/reference/status.md shows TACIT_STATUS_LIST, in order.
#
#   status.sh ROOT             compare
#   status.sh --update ROOT    rewrite the table in the page
set -eu
update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
root=${1:?usage: status.sh [--update] ROOT}
page=$root/docs/reference/status.md
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

# X(NAME, "message") -> | number | `TACIT_NAME` | message |
awk '
    /#define TACIT_STATUS_LIST/ { inside = 1; next }
    inside && match($0, /X\([A-Z_0-9]+, *".*"\)/) {
        item = substr($0, RSTART + 2, RLENGTH - 3)
        name = item
        sub(/,.*/, "", name)
        message = item
        sub(/^[^"]*"/, "", message)
        sub(/"$/, "", message)
        gsub(/[|]/, "\\|", message)
        printf "| %d | `TACIT_%s` | %s |\n", n++, name, message
    }
    inside && !/\\$/ { inside = 0 }
' "$root/include/tacit/status.h" >"$box/list"
[ -s "$box/list" ] || { echo 'no TACIT_STATUS_LIST in status.h'; exit 2; }

if [ "$update" = yes ]; then
    awk -v list="$box/list" '
        /^\| [0-9]+ \|/ { next }
        { print }
        /^\|---/ { while ((getline line < list) > 0) print line }
    ' "$page" >"$box/page"
    cat "$box/page" >"$page"
fi
grep -E '^\| [0-9]+ \|' "$page" >"$box/page_rows" || true
if ! diff -u --label TACIT_STATUS_LIST --label docs/reference/status.md "$box/list" "$box/page_rows"; then
    echo 'Remedy: tests/house/status.sh --update .'
    exit 1
fi
echo "$(wc -l <"$box/list") status codes"
