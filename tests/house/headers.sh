#!/bin/sh
# Every public header compiles alone, as strict C17 and as C++17, and twice in one file; tacit/tacit.h has all of them.
#
#   headers.sh INCLUDE_DIRECTORY        CC and CXX name the compilers
set -eu
include=${1:?usage: headers.sh INCLUDE_DIRECTORY}
status=0
n=0
for header in "$include"/tacit/*.h; do
    name=tacit/$(basename "$header")
    unit=$(printf '#include <%s>\n#include <%s>\n' "$name" "$name")
    printf '%s\nextern int tacit_header_stands_alone;\n' "$unit" |
        ${CC:-cc} -x c -std=c17 -Wall -Wextra -Wpedantic -Wstrict-prototypes -Wundef -Werror \
            -I "$include" -fsyntax-only - || { echo "$name: not alone as C17"; status=1; }
    if [ -n "${CXX:-}" ]; then
        printf '%s\nextern int tacit_header_stands_alone;\n' "$unit" |
            $CXX -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Wundef -Werror \
                -I "$include" -fsyntax-only - || { echo "$name: not alone as C++17"; status=1; }
    fi
    [ "$name" = tacit/tacit.h ] || grep -qxF "#include <$name>" "$include/tacit/tacit.h" ||
        { echo "$name: tacit/tacit.h does not include it"; status=1; }
    n=$((n + 1))
done
[ "$n" -gt 0 ] || { echo "no headers under $include"; exit 2; }
echo "$n headers"
exit $status
