#!/bin/sh
# The shared library exports the committed list, the list is what the public headers declare with
# TACIT_API, and nothing else.
#
#   symbols.sh LIBRARY             compare
#   symbols.sh --update LIBRARY    write the list anew (`make symbols`)
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
list=$here/exported_symbols.txt

exported() { # LIBRARY
    nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' | sort -u
}

declared() {
    cat "$here"/../../include/tacit/*.h | awk '
        # Comments and preprocessor lines out, then one declaration per semicolon.
        { text = text " " ($0 ~ /^[ \t]*#/ ? "" : $0) }
        END {
            while (match(text, /\/\*([^*]|\*+[^*\/])*\*+\//))
                text = substr(text, 1, RSTART - 1) " " substr(text, RSTART + RLENGTH)
            n = split(text, part, ";")
            for (i = 1; i <= n; i++)
                if (part[i] ~ /TACIT_API/ && match(part[i], /tacit_[a-z0-9_]+[ ]*\(/)) {
                    name = substr(part[i], RSTART, RLENGTH - 1)
                    gsub(/ /, "", name)
                    print name
                }
        }' | sort -u
}

if [ "${1-}" = --update ]; then
    exported "${2:?usage: symbols.sh --update LIBRARY}" >"$list"
    echo "$(wc -l <"$list") symbols in tests/house/exported_symbols.txt"
    exit 0
fi

library=${1:?usage: symbols.sh [--update] LIBRARY}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
exported "$library" >"$box/exported"
declared >"$box/declared"
status=0
diff -u --label 'declared with TACIT_API' --label "exported by the library" \
    "$box/declared" "$box/exported" || status=1
if ! diff -u --label tests/house/exported_symbols.txt --label 'exported by the library' \
    "$list" "$box/exported"; then
    echo 'If the change is meant: make symbols, and a line in CHANGELOG.md.'
    status=1
fi
exit $status
