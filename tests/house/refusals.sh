#!/usr/bin/env bash
# Every error that the service answers is a row of tacit__errors in src/serve/http/shapes.c, with the same status, and so is in the
# reference and in OpenAPI; and every code that a route names is such a row.
#
#   refusals.sh ROOT
set -euo pipefail
root=$(cd "${1:?usage: refusals.sh ROOT}" && pwd)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

sed -n '/^const tacit__error_row tacit__errors/,/^};/s/^    {\([0-9]*\), "\([a-z_]*\)".*/\1 \2/p' "$root/src/serve/http/shapes.c" |
    sort >"$box/rows"
[ -s "$box/rows" ] || { echo 'refusals.sh: no rows in src/serve/http/shapes.c'; exit 1; }
find "$root/src/serve" -name '*.c' -exec cat {} + | tr '\n' ' ' | grep -oE 'tacit__refuse\( *[a-z>-]+, *[0-9]{3}, *"[a-z_]+"' |
    sed -E 's/.*([0-9]{3}), *"([a-z_]+)"/\1 \2/' | sort -u >"$box/answered"
[ "$(wc -l <"$box/answered")" -gt 20 ] || { echo 'refusals.sh: the calls of tacit__refuse were not found'; exit 1; }
tr '\n' ' ' <"$root/src/serve/http/routes.c" | sed 's/"  *"//g' | grep -oE '\.errors = "[a-z_ ]+"' | sed 's/.*"\(.*\)"/\1/' |
    tr ' ' '\n' | sed '/^$/d' | sort -u >"$box/named"
wrong=0
while read -r line; do
    echo "src/serve answers $line, which tacit__errors does not have"
    wrong=1
done < <(comm -13 "$box/rows" "$box/answered")
while read -r code; do
    echo "a route names the error $code, which tacit__errors does not have"
    wrong=1
done < <(comm -13 <(sed 's/.* //' "$box/rows" | sort -u) "$box/named")
[ "$wrong" -eq 0 ] && echo 'all errors are written down'
exit "$wrong"
