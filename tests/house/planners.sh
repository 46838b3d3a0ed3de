#!/bin/sh
# A planner on counts is a file and a row: nothing else of the source names it.
#
#   planners.sh ROOT         the files that each planner consists of; exit 1 and one line for each that needs more, or lacks something
#   planners.sh --self-test  plants violations in a small tree and sees that each is caught
#
# For every `const tacit__planner tacit__NAME` under src/plan it looks for: its own source and header, which nothing else includes; rows
# in one file of src/agents, each of which names it once, with a kind; a unit test; a paper in the head of the file that is in
# docs/references.md; the kind in CHANGELOG.md.
set -eu

complain() { # WHAT…
    echo "$*"
    bad=1
}

# The kinds of the rows that name a planner: the last kind before each `.planner = &NAME`.
kinds_of() { # FILE NAME
    awk -v name="$2" '
        match($0, /\.kind *= *\{ *"[^"]*"|^ *\{"[a-z0-9-]*"/) { split(substr($0, RSTART), part, "\""); kind = part[2] }
        $0 ~ "\\.planner = &" name "[,}]" { print kind }' "$1"
}

check_one() { # NAME FILE: in the root
    name=$1 file=$2
    header=${file%.c}.h
    users=$(grep -rlw "$name" src | grep -v "^${file%.c}\.[ch]$" || true)
    case $users in
    src/agents/*) ;;
    *) complain "$name: named in '$users', expected one file of src/agents"; return ;;
    esac
    [ "$(echo "$users" | wc -l)" -eq 1 ] || complain "$name: named in more than one file:" $users
    for user in $users; do
        [ "$(grep -cw "$name" "$user")" -eq "$(grep -c "\.planner = &$name[,}]" "$user")" ] ||
            complain "$name: $user names it outside of a row"
    done
    others=$(grep -rl "\"${header#src/}\"" src | grep -vx "$file" | grep -vx "$users" || true)
    [ -z "$others" ] || complain "$name: ${header#src/} is included by" $others
    tests=$(grep -rlw -e "$name" -e "${header#src/}" tests/unit || true)
    [ -n "$tests" ] || complain "$name: no file of tests/unit names it"
    cited=no
    for key in $(sed -n '1,40s/.*\[\([A-Z][A-Za-z]*[0-9][0-9]\).*/\1/p' "$file" "$header" | sort -u); do
        if grep -q "$key" docs/references.md; then cited=$key; fi
    done
    [ $cited != no ] || complain "$name: its head cites no key of docs/references.md"
    kinds=$(for user in $users; do kinds_of "$user" "$name"; done)
    [ -n "$kinds" ] || complain "$name: no row has a kind"
    for kind in $kinds; do
        grep -q -e "$kind" CHANGELOG.md || complain "$name: CHANGELOG.md does not name $kind"
    done
    echo "$name:" "$file" "$header," "the row" $kinds "of $users," $tests, "[$cited]"
}

check() { # ROOT
    (
        cd "$1"
        bad=0
        grep -ro 'const tacit__planner tacit__[a-z_0-9]* = {' src/plan --include='*.c' | sort > "$list"
        [ -s "$list" ] || complain "no planner under src/plan"
        while IFS=: read -r file found; do
            name=${found#const tacit__planner }
            check_one "${name% = \{}" "$file"
        done < "$list"
        exit $bad
    )
}

plant() { # DIRECTORY: a tree with one planner
    mkdir -p "$1/src/plan/papers" "$1/src/agents" "$1/tests/unit" "$1/docs"
    printf '/* [%s] */\nconst tacit__planner tacit__one = {\n};\n' AB20 > "$1/src/plan/papers/one.c"
    printf 'extern const tacit__planner tacit__one;\n' > "$1/src/plan/papers/one.h"
    printf '#include "plan/papers/one.h"\nrows = {\n    {.kind = {"one-vi", "x"},\n     .planner = &tacit__one}};\n' > "$1/src/agents/rows.c"
    echo '#include "plan/papers/one.h"' > "$1/tests/unit/test_one.c"
    echo '**AB20** A paper' > "$1/docs/references.md"
    echo '- one-vi' > "$1/CHANGELOG.md"
}

catches() { # WHAT COMMAND…: the violation that the command plants is found
    what=$1
    shift
    rm -rf "$box/tree"
    plant "$box/tree"
    check "$box/tree" > /dev/null || { echo "self-test: the plain tree is refused"; exit 1; }
    (cd "$box/tree" && "$@")
    if check "$box/tree" > /dev/null; then
        echo "self-test: not caught: $what"
        exit 1
    fi
}

box=$(mktemp -d)
list=$box/list
trap 'rm -rf "$box"' EXIT
if [ "${1-}" = --self-test ]; then
    catches "a second file names it" cp src/agents/rows.c src/agents/more.c
    catches "a switch names it" sh -c 'echo "if (p == &tacit__one)" >> src/agents/rows.c'
    catches "another planner includes it" sh -c 'echo "#include \"plan/papers/one.h\"" > src/plan/papers/two.c'
    catches "no test" rm tests/unit/test_one.c
    catches "no paper" sh -c ': > docs/references.md'
    catches "no line in the changelog" sh -c ': > CHANGELOG.md'
    catches "no row" sh -c ': > src/agents/rows.c'
    echo "self-test: all violations are caught"
else
    check "${1:?usage: planners.sh ROOT}"
fi
