#!/bin/sh
# A shared library exports the committed list, the list is what the public headers declare with
# TACIT_API, and nothing else.
#
#   symbols.sh LIBRARY             compare
#   symbols.sh --update LIBRARY    write the list anew (`make symbols`)
#
# libtacit_client has a list of its own, client_symbols.txt, of what two of the headers declare.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
library=${1:?usage: symbols.sh [--update] LIBRARY}
case "$library" in
*libtacit_client.*)
    name=client_symbols.txt
    headers='client.h status.h'
    ;;
*)
    name=exported_symbols.txt
    headers=$(cd "$here/../../include/tacit" && echo *.h)
    ;;
esac
list=$here/$name

exported() { # LIBRARY
    nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' | sort -u
}

declared() {
    for header in $headers; do cat "$here/../../include/tacit/$header"; done | awk '
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

if [ "$update" = yes ]; then
    exported "$library" >"$list"
    echo "$(wc -l <"$list") symbols in tests/house/$name"
    exit 0
fi

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
exported "$library" >"$box/exported"
declared >"$box/declared"
status=0
diff -u --label 'declared with TACIT_API' --label "exported by the library" \
    "$box/declared" "$box/exported" || status=1
if ! diff -u --label "tests/house/$name" --label 'exported by the library' \
    "$list" "$box/exported"; then
    echo 'If the change is meant: make symbols, and a line in CHANGELOG.md.'
    status=1
fi
exit $status
