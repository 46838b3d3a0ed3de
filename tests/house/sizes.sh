#!/bin/sh
# Sizes that a reader can hold: functions, files, and lines of prose.
#
#   sizes.sh ROOT            exit 1 and one line for each violation
#   sizes.sh --self-test     plants violations in a small tree and sees that each is caught
#
# A file has at most 600 lines, in tests and in Python too. C of src, include and python begins with a comment that says what it is;
# a function (from its opening brace in the first column to its closing one) has at most 70 lines; a line has at most 110 columns,
# and a formula that is displayed in a comment (indented by three or more) at most 135; no declaration is broken after its type.
# All are stated choices.
set -eu
. "$(dirname "$0")/planted.sh"

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
        type_alone = 0
        n_files++
        of_library = file ~ /^(src|include|python)\/.*[.][ch]$/
        while ((getline line < (root "/" file)) > 0) {
            number++
            if (of_library && number == 1 && line !~ /^\/\*/)
                complain("no comment at its head")
            if (of_library && width(line) > (line ~ /^ *\*    ?[^ ]|^ *\*     / ? 135 : 110))
                complain("a line of " width(line) " columns")
            # As clang-format leaves it where a long comment follows; the comment belongs above it.
            if (of_library && type_alone && line ~ /^ +[*]*[A-Za-z_][A-Za-z_0-9]*(;|\[)/)
                complain("a declaration that is broken after its type")
            type_alone = line ~ /^ *[A-Za-z_][A-Za-z_0-9]*( +[A-Za-z_0-9]+)* *[*]*$/ && line !~ /(else|do|return)$/
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

self_test() {
    mkdir -p "$box/src/base" "$box/include" "$box/tests" "$box/bench" "$box/examples" "$box/python/tacit"
    page=$box/src/base/page.c
    printf '/* A page. */\nint f(void)\n{\n    return 0;\n}\n' >"$page"
    expect clean 'a sound tree' "$box"
    printf 'int x;\n' >"$page"
    expect 'no comment at its head' 'a file without a head' "$box"
    printf '/* A page. */\n/* %0120d */\n' 0 >"$page"
    expect 'a line of 126 columns' 'a wide line' "$box"
    printf '/* A page. */\nstruct x {\n    const char\n        *word; /* Long. */\n};\n' >"$page"
    expect 'page.c:4: a declaration that is broken after its type' 'a type alone' "$box"
    printf '/* A page. */\nint f(int x)\n{\n    if (x)\n        g();\n    else\n        x = 1;\n}\n' >"$page"
    expect clean 'else alone' "$box"
    { printf '/* A page. */\nint f(void)\n{\n'; seq -f '    g(%g);' 80; printf '}\n'; } >"$page"
    expect 'a function of 82 lines' 'a long function' "$box"
    { echo '/* A page. */'; seq -f 'int x%g;' 700; } >"$page"
    expect 'a file of 701 lines' 'a long file' "$box"
    mv "$page" "$box/tests/test_page.c"
    expect 'tests/test_page.c:701: a file of 701 lines' 'a long test' "$box"
    rm "$box/tests/test_page.c"
    seq -f 'x = %g' 601 >"$box/python/tacit/page.py"
    expect 'python/tacit/page.py:601: a file of 601 lines' 'a long module' "$box"
}

check_or_self_test "$@"
