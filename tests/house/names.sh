#!/bin/sh
# A name means one thing: no file name and no type name occurs twice in the tree, and base and text know nothing of learning.
#
#   names.sh ROOT            exit 1 and one line for each violation
#   names.sh --self-test     plants violations in a small tree and sees that each is caught
#
# A header and the source beside it are one thing, and so are a source and the public header that it implements.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/planted.sh"

check() { # ROOT
    (cd "$1" && find src include python -type f -name '*.[ch]' | sort) | awk -v root="$1" "$(cat "$here/code_of.awk")"'
    function complain(what) {
        print what
        n_bad++
    }

    function note_file(file,    parts, n, stem, room) {
        n = split(file, parts, "/")
        stem = parts[n]
        sub(/\.[ch]$/, "", stem)
        room = substr(file, 1, length(file) - length(parts[n]) - 1)
        if (stem == "main")
            return
        if (room == "include/tacit") {
            public[stem] = file
            return
        }
        if (stem in home && home[stem] != room)
            complain(file ": " home[stem] " has a " stem " as well")
        home[stem] = room
        if (file ~ /\.h$/)
            inner[stem] = file
    }

    function note_tags(file, line,    rest, tag) {
        rest = line
        while (match(rest, /(struct|union|enum) +tacit_[a-z0-9_]+ *\{/)) {
            tag = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH)
            sub(/^[a-z]+ +/, "", tag)
            sub(/ *\{$/, "", tag)
            if (tag in defined)
                complain(file ": the type " tag " is defined in " defined[tag] " as well")
            defined[tag] = file
        }
    }

    function note_learning(file, line,    i) {
        for (i = 1; i <= n_words; i++)
            if (tolower(line) ~ "(^|[^a-z])" word[i] "s?([^a-z]|$)")
                complain(file ": " (file ~ /^src\/text\// ? "text" : "base") " speaks of a" (word[i] ~ /^[aeiou]/ ? "n " : " ") word[i])
    }

    BEGIN { n_words = split("agent learner episode trajectory planner curator horizon billboard", word, " ") }
    {
        file = $0
        n_files++
        note_file(file)
        in_comment = 0
        while ((getline line < (root "/" file)) > 0) {
            line = code_of(line)
            note_tags(file, line)
            if (file ~ /^src\/(base|text)\//)
                note_learning(file, line)
        }
        close(root "/" file)
    }
    END {
        for (stem in public)
            if (stem in inner)
                complain(inner[stem] ": " public[stem] " is a header of the same name")
        printf "%d files, %d violations\n", n_files, n_bad
        exit n_bad > 0
    }'
}

self_test() {
    mkdir -p "$box/src/base" "$box/src/plan" "$box/include/tacit" "$box/python"
    sound() {
        rm -f "$box"/src/*/* "$box"/include/tacit/*
        echo '/* An agent in a comment. */ typedef struct tacit__one { int x; } tacit__one;' >"$box/src/base/one.h"
        echo 'int one; const char *word = "agent";' >"$box/src/base/one.c"
        echo 'typedef struct tacit_two { int x; } tacit_two;' >"$box/include/tacit/two.h"
        echo 'int two;' >"$box/src/plan/two.c"
    }
    sound
    expect clean 'a sound tree' "$box"
    echo 'int x;' >"$box/src/plan/one.c"
    expect 'src/base has a one as well' 'a file name in two rooms' "$box"
    sound
    echo 'int x;' >"$box/src/plan/two.h"
    expect 'include/tacit/two.h is a header of the same name' 'an internal header named like a public one' "$box"
    sound
    echo 'struct tacit__one { int y; };' >"$box/src/plan/three.c"
    expect 'the type tacit__one is defined in src/base/one.h as well' 'a type that is defined twice' "$box"
    sound
    echo 'int n_agents, horizon;' >"$box/src/base/one.c"
    expect 'base speaks of a horizon' 'base that speaks of learning' "$box"
}

check_or_self_test "$@"
