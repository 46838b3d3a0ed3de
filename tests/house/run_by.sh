#!/bin/sh
# Something runs every script and every target of the Makefile: a test, .ci/run, or `make check-all`. What nothing runs rots.
#
#   run_by.sh ROOT            exit 1 and one line for each that nothing runs
#   run_by.sh --list ROOT     what runs each of them
#   run_by.sh --self-test     plants violations in a small tree and sees that each is caught
#
# Begins with the tests and what the build says of them (tests, cmake, CMakeLists.txt), .ci/run and the target check-all, and goes on
# with the scripts and targets that these name as commands (`scripts/NAME`, `make NAME`, a prerequisite). Comments do not count, nor
# what is between back quotes, nor what follows echo, printf, message and the words by which scripts say something.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/planted.sh"

check() { # ROOT
    (
        cd "$1"
        ls scripts | sed 's|^|scripts/|'
        find .ci cmake tests CMakeLists.txt -type f ! -name '*.[ch]' ! -path 'tests/*/corpus/*' ! -path '*/run_by.sh' | sort
    ) | awk -v root="$1" -v list="${list-}" '
    # The words of a line that may be commands.
    function commands_of(line) {
        sub(/^[ \t]*#.*/, "", line)
        sub(/[ \t]# .*/, "", line)
        gsub(/`[^`]*`/, "", line)
        sub(/(^|[^a-z])(echo|printf|message\(|say|fail|cannot|skip)[ ("].*/, "", line)
        return line
    }
    # Whether the text of one node names another as a command.
    function names(text, node,    name) {
        name = node
        gsub(/[.+]/, "\\\\&", name)
        if (node ~ /^scripts\//)
            return text ~ "(^|[^A-Za-z0-9_.-])" name "($|[^A-Za-z0-9_.-])"
        return text ~ "(make|\\$\\(MAKE\\))( [^;&|\n]*)? " name "($|[^A-Za-z0-9_=.-])"
    }
    function reach(node, by) {
        if (node in runner)
            return
        runner[node] = by
        queue[++n_queue] = node
    }
    function read_makefile(    line, at, parts, i, n) {
        while ((getline line < (root "/Makefile")) > 0) {
            if (line ~ /^[a-z][a-z-]*:/) {
                at = line
                sub(/:.*/, "", at)
                nodes[++n_nodes] = at
                sub(/^[^:]*:/, "", line)
                n = split(line, parts, " ")
                for (i = 1; i <= n; i++)
                    text[at] = text[at] "make " parts[i] "\n"
            } else if (line ~ /^\t/)
                text[at] = text[at] commands_of(line) "\n"
        }
    }
    {
        file = $0
        while ((getline line < (root "/" file)) > 0)
            text[file] = text[file] commands_of(line) "\n"
        if (file ~ /^scripts\//)
            nodes[++n_nodes] = file
        else
            reach(file, "")
    }
    END {
        read_makefile()
        reach("check-all", "by hand")
        for (i = 1; i <= n_queue; i++)
            for (k = 1; k <= n_nodes; k++)
                if (names(text[queue[i]], nodes[k]))
                    reach(nodes[k], queue[i])
        for (k = 1; k <= n_nodes; k++)
            if (!(nodes[k] in runner)) {
                print (nodes[k] ~ /\// ? "" : "make ") nodes[k] ": nothing runs it: neither a test nor .ci/run nor make check-all"
                n_bad++
            } else if (list)
                printf "%-24s %s\n", nodes[k], runner[nodes[k]]
        if (n_nodes == 0) {
            print root ": no scripts and no targets"
            n_bad++
        }
        exit n_bad > 0
    }'
}

self_test() {
    mkdir -p "$box/scripts" "$box/tests" "$box/cmake" "$box/.ci"
    touch "$box/CMakeLists.txt"
    echo 'scripts/lint' >"$box/.ci/run"
    printf 'all: tools\n\ntools:\n\t@true\n\ncheck-all:\n\t@scripts/check-all\n\t@$(MAKE) -s all X=1\n' >"$box/Makefile"
    echo 'stage arm "make arm"; scripts/helper.py' >"$box/scripts/check-all"
    touch "$box/scripts/lint" "$box/scripts/helper.py"
    expect clean 'a tree in which all is run' "$box"
    echo 'true' >"$box/scripts/lonely"
    expect 'scripts/lonely: nothing runs it' 'a script that nothing runs' "$box"
    sed 's|IT|scripts/lonely|' >"$box/tests/a.sh" <<'END'
# IT is good
echo "run IT"
true # IT
a table, `IT`
IT2
END
    expect 'scripts/lonely: nothing runs it' 'a script that is only spoken of' "$box"
    echo '"$root/scripts/lonely" --check' >>"$box/tests/a.sh"
    expect clean 'a script that a test runs' "$box"
    printf '\narm:\n\t@scripts/lint\n\nalone: arm\n\t@true\n' >>"$box/Makefile"
    expect 'make alone: nothing runs it' 'a target that nothing runs' "$box"
    echo 'make test alone' >>"$box/tests/a.sh"
    expect clean 'a target that a test makes' "$box"
}

list=
if [ "${1-}" = --list ]; then
    list=1
    shift
fi
check_or_self_test "$@"
