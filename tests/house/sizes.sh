#!/bin/sh
# Sizes that a reader can hold: functions, files, and lines of prose.
#
#   sizes.sh ROOT            exit 1 and one line for each violation
#   sizes.sh --self-test     plants violations in a small tree and sees that each is caught
#
# A file has at most 600 lines, in tests and in Python too. C of src, include and python begins with a comment that says what it is;
# a function (from its opening brace in the first column to its closing one) has at most 70 lines; a line has at most 110 columns,
# and a formula that is displayed in a comment (indented by three or more) at most 135. All are stated choices.
set -eu

check() { # ROOT
    (cd "$1" && find src include tests bench examples python -type f \( -name '*.[ch]' -o -name '*.py' \) | sort) | awk -v root="$1" '
    function complain(what) {
        print file ":" number ": " what
        n_bad++
    }
    # Columns, not bytes: what continues a character of UTF-8 has no width.
    function width(line) {
        gsub(/[\200-\277]/, "", line)
        return length(line)
    }
    {
        file = $0
        number = 0
        began = 0
        n_files++
        of_library = file ~ /^(src|include|python)\/.*[.][ch]$/
        while ((getline line < (root "/" file)) > 0) {
            number++
            if (of_library && number == 1 && line !~ /^\/\*/)
                complain("no comment at its head")
            if (of_library && width(line) > (line ~ /^ *\*    ?[^ ]|^ *\*     / ? 135 : 110))
                complain("a line of " width(line) " columns")
            if (line == "{")
                began = number
            if (line == "}" && began > 0) {
                if (of_library && number - began + 1 > 70)
                    complain("a function of " number - began + 1 " lines")
                began = 0
            }
        }
        if (number > 600)
            complain("a file of " number " lines")
        close(root "/" file)
    }
    END {
        printf "%d files, %d violations\n", n_files, n_bad
        exit n_bad > 0
    }'
}

expect() { # WHAT SENTENCE
    if check "$box" >"$box/said" || ! grep -qF -- "$2" "$box/said"; then
        echo "not caught: $1"
        cat "$box/said"
        exit 1
    fi
}

self_test() {
    box=$(mktemp -d)
    trap 'rm -rf "$box"' EXIT
    mkdir -p "$box/src/base" "$box/include" "$box/tests" "$box/bench" "$box/examples" "$box/python/tacit"
    page=$box/src/base/page.c
    printf '/* A page. */\nint f(void)\n{\n    return 0;\n}\n' >"$page"
    check "$box" || { echo 'a sound tree is refused'; exit 1; }
    printf 'int x;\n' >"$page"
    expect 'a file without a head' 'no comment at its head'
    printf '/* A page. */\n/* %0120d */\n' 0 >"$page"
    expect 'a wide line' 'a line of 126 columns'
    { printf '/* A page. */\nint f(void)\n{\n'; seq -f '    g(%g);' 80; printf '}\n'; } >"$page"
    expect 'a long function' 'a function of 82 lines'
    { echo '/* A page. */'; seq -f 'int x%g;' 700; } >"$page"
    expect 'a long file' 'a file of 701 lines'
    mv "$page" "$box/tests/test_page.c"
    expect 'a long test' 'tests/test_page.c:701: a file of 701 lines'
    rm "$box/tests/test_page.c"
    seq -f 'x = %g' 601 >"$box/python/tacit/page.py"
    expect 'a long module' 'python/tacit/page.py:601: a file of 601 lines'
    echo 'every planted violation was caught'
}

if [ "${1-}" = --self-test ]; then
    self_test
else
    check "${1:?usage: sizes.sh ROOT | --self-test}"
fi
