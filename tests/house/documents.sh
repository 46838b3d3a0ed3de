#!/usr/bin/env bash
# Compiles every ```c block in README.md, CONTRIBUTING.md and docs/, and runs those that are whole
# programs.
#
#   documents.sh ROOT BUILD
#
# A block with main() is a program: built against the shared library and run; it must exit with 0.
# A block with an #include or with a brace in the first column is a file: compiled. Anything else is
# a fragment: compiled as the body of a function that sees all public headers. The programs of
# README.md and docs/how-to/c.md compile as C++ too (CXX names the compiler; without one this is skipped). A
# fragment in README.md is the body of main() of a program.
set -euo pipefail
root=$(cd "${1:?usage: documents.sh ROOT BUILD}" && pwd)
build=$(cd "${2:?usage: documents.sh ROOT BUILD}" && pwd)
cc=${CC:-cc}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

mapfile -t pages < <(cd "$root" && find README.md CONTRIBUTING.md docs -name '*.md' | sort)
n=0
failed=0
for page in "${pages[@]}"; do
    rm -f "$box"/block.*
    awk -v out="$box/block" '
        /^ *```/ && inside { inside = 0; close(name); next }
        /^ *```c *$/ { inside = 1; name = sprintf("%s.%05d.c", out, NR + 1); printf "" > name; next }
        inside { print > name }
    ' "$root/$page"
    for block in "$box"/block.*.c; do
        [ -e "$block" ] || continue
        line=$(basename "$block" .c)
        line=$((10#${line#block.}))
        n=$((n + 1))
        unit=$box/unit.c
        flags=(-std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -I "$root/include")
        kind='fragment'
        if grep -qE '\bmain *\(' "$block"; then
            kind='program'
        elif grep -qE '^(#include|[{}])' "$block"; then
            kind='file'
        fi
        if [ "$kind" = fragment ]; then
            {
                printf '#include <%s>\n' math.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h
                (cd "$root/include" && printf '#include <%s>\n' tacit/*.h)
                [ "$page" = README.md ] && kind=program && echo 'int main(void)' ||
                    printf 'void fragment(void);\nvoid fragment(void)\n'
                echo '{'
                printf '#line %d "%s"\n' "$line" "$page"
                cat "$block"
                echo '}'
            } >"$unit"
            flags+=(-Wno-unused-variable -Wno-unused-but-set-variable)
        else
            { printf '#line %d "%s"\n' "$line" "$page" && cat "$block"; } >"$unit"
        fi
        if [ "$kind" = program ]; then
            if ! "$cc" "${flags[@]}" "$unit" -o "$box/program" -L "$build" -Wl,-rpath,"$build" -ltacit -lm ||
                ! (cd "$box" && timeout 60 ./program >"$box/said" 2>&1 </dev/null); then
                echo "$page:$line: the program does not build and run"
                [ ! -s "$box/said" ] || cat "$box/said"
                failed=$((failed + 1))
            fi
            if [[ $page == README.md || $page == docs/how-to/c.md ]] && [ -n "${CXX:-}" ] &&
                ! "$CXX" -x c++ -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -Werror \
                    -I "$root/include" -fsyntax-only "$unit"; then
                echo "$page:$line: the program does not compile as C++"
                failed=$((failed + 1))
            fi
        elif ! "$cc" "${flags[@]}" -fsyntax-only "$unit"; then
            echo "$page:$line: the $kind does not compile"
            failed=$((failed + 1))
        fi
    done
done
# The Python on the front page, where the package is built.
if [ -e "$build/python/tacit/_tacit.abi3.so" ]; then
    awk '/^```/ && inside { exit } inside { print } /^```python/ { inside = 1 }' "$root/README.md" >"$box/front.py"
    n=$((n + 1))
    if [ ! -s "$box/front.py" ] ||
        ! PYTHONPATH=$build/python timeout 120 /usr/bin/python3 "$box/front.py" >"$box/said" 2>&1 </dev/null; then
        echo 'README.md: the Python does not run'
        cat "$box/said"
        failed=$((failed + 1))
    fi
fi
echo "$n blocks, $failed failed"
[ "$failed" -eq 0 ]
