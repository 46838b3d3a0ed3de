#!/bin/sh
# Reads every #include and call under src/, include/, examples/ and python/ and says who reaches too far.
#
#   layering.sh ROOT            exit 1 and one line per violation of layering.txt
#   layering.sh --self-test     plants violations in a copy and sees that each is caught
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/planted.sh"

check() { # ROOT
    (
        cd "$1"
        for top in src include examples python; do
            [ ! -d "$top" ] || find "$top" -type f -name '*.[ch]'
        done | sort
    ) | awk -v root="$1" -v table="$here/layering.txt" "$(cat "$here/code_of.awk")"'
    function complain(what) {
        printf "%s:%d: %s\n", file, line_number, what
        n_bad++
    }

    # Is this file one of the places (rooms, or ROOM/file.c) in the list?
    function is_among(list, places, n, i) {
        n = split(list, places, " ")
        for (i = 1; i <= n; i++)
            if (places[i] == room || "src/" places[i] == file)
                return 1
        return 0
    }

    function may_use(other) {
        return other == room || index(" " uses[room] " ", " " other " ") > 0
    }

    function read_table(    line, kind, name, rest) {
        while ((getline line < table) > 0) {
            sub(/#.*/, "", line)
            if (line !~ /[^ \t]/)
                continue
            if (!match(line, /^[a-z]+ +[^ :]+:/)) {
                printf "%s: cannot read: %s\n", table, line
                exit 2
            }
            rest = substr(line, RLENGTH + 1)
            gsub(/^ +| +$/, "", rest)
            gsub(/ +/, " ", rest)
            split(substr(line, 1, RLENGTH - 1), part, / +/)
            kind = part[1]
            name = part[2]
            if (kind == "room") { uses[name] = rest; is_room[name] = 1 }
            else if (kind == "public") owner[name] = rest
            else if (kind == "system") only_in[name] = rest
            else if (kind == "call") callers[name] = rest
            else if (kind == "shared") { shared[name] = rest; has_shared[name] = 1 }
            else { printf "%s: unknown kind %s\n", table, kind; exit 2 }
        }
        close(table)
    }

    function check_public(header) {
        sub(/^tacit\//, "", header)
        if (!(header in owner)) {
            complain("<tacit/" header "> has no room yet; give it one in layering.txt")
            return
        }
        if (room == "public" || room == "examples" || may_use("public"))
            return
        if (!may_use(owner[header]))
            complain("src/" room " may not use <tacit/" header ">, which belongs to " owner[header])
    }

    function check_quoted(header,    parts, n, other, own) {
        if (room == "public" || room == "examples") {
            complain("\"" header "\" is not a public header")
            return
        }
        n = split(header, parts, "/")
        other = n == 1 ? room : parts[1]
        if (!(other in is_room)) {
            complain("\"" header "\": there is no room " other " in layering.txt")
            return
        }
        if (!may_use(other)) {
            complain("src/" room " may not use \"" header "\"; allowed: " room " " uses[room])
            return
        }
        if (other == room && n > 2 && (room in has_shared)) {
            own = file
            sub(/^.*\//, "", own)
            sub(/\.[ch]$/, ".h", own)
            if (parts[n] != own && index(" " shared[room] " ", " " parts[n] " ") == 0)
                complain("src/" room ": no algorithm knows a sibling, but includes \"" header "\"")
        }
    }

    function check_line(raw,    code, header, name) {
        if (!in_comment && raw ~ /^[ \t]*#[ \t]*include/) {
            header = raw
            sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header)
            if (header ~ /^"/) {
                sub(/^"/, "", header)
                sub(/".*$/, "", header)
                if (header ~ /^tacit\//) check_public(header)
                else check_quoted(header)
            } else if (header ~ /^</) {
                sub(/^</, "", header)
                sub(/>.*$/, "", header)
                if (header ~ /^tacit\//) check_public(header)
                else if ((header in only_in) && !is_among(only_in[header]))
                    complain("<" header "> is for " only_in[header] " only")
            } else
                complain("an include must name its header: " raw)
            code = code_of(raw)
            return
        }
        code = code_of(raw)
        while (match(code, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
            name = substr(code, RSTART, RLENGTH - 1)
            sub(/[ \t]+$/, "", name)
            if (room != "public" && (name in callers) && !is_among(callers[name]) &&
                !(room == "examples" && is_among_free(callers[name])))
                complain(name "() is for " callers[name] " only")
            code = substr(code, RSTART + RLENGTH)
        }
    }

    # Examples are programs: what the command may do they may do too.
    function is_among_free(list) { return index(" " list " ", " cli ") > 0 }

    BEGIN { read_table() }

    {
        file = $0
        n = split(file, path, "/")
        if (path[1] == "include") room = "public"
        else if (path[1] == "examples") room = "examples"
        else if (path[1] == "python") room = "python"
        else if (n < 3) { line_number = 1; complain("a source file belongs in a room"); next }
        else room = path[2]
        if (path[1] == "src" && !(room in is_room)) {
            line_number = 1
            complain("there is no room " room " in layering.txt")
            next
        }
        in_comment = 0
        line_number = 0
        while ((getline raw < (root "/" file)) > 0) {
            line_number++
            check_line(raw)
        }
        close(root "/" file)
        n_files++
    }

    END {
        if (n_files == 0) { print "layering: no source files under " root; exit 2 }
        printf "%d files, %d violations\n", n_files, n_bad
        exit n_bad > 0
    }'
}

# A small tree of its own, each time with one violation in it.
self_test() {
    plant() { # EXPECTED("clean" or a part of the complaint) FILE LINE…
        complaint=$1
        where=$2
        shift 2
        rm -rf "$box/tree"
        mkdir -p "$box/tree/src/base" "$box/tree/include/tacit" "$box/tree/$(dirname "$where")"
        echo '#include <stddef.h>' >"$box/tree/src/base/memory.h"
        printf '%s\n' "$@" >"$box/tree/$where"
        expect "$complaint" "$where: '$*'" "$box/tree"
    }

    plant clean src/sums/tree.c '#include "account/door.h"' '#include "noise/draw.h"' '#include <math.h>'
    plant clean src/noise/stream.c '#include <sodium.h>' 'randombytes_buf(key, 32);'
    plant clean src/base/note.c '/* rand() is not used;' '   nor is random() */' 'say("rand()"); operand(1);'
    plant clean src/plan/papers/ucbvi.c '#include "plan/papers/ucbvi.h"' '#include "plan/induct.h"' '#include "linalg/chol.h"'
    plant clean src/cli/main.c '#include <tacit/account.h>' '#include "cli/options.h"' 'printf("x");'
    plant clean src/cli/main.c '#include "base/memory.h"'
    plant clean examples/day.c '#include <tacit/sum.h>' 'int main(void) { printf("hello"); }'
    plant 'src/noise may not use "account/door.h"' src/noise/up.c '#include "account/door.h"'
    plant 'may not use "sums/tree.h"' src/account/up.c '  #  include "sums/tree.h"'
    plant 'may not use "linalg/chol.h"' src/noise/side.c '#include "linalg/chol.h"'
    plant 'may not use "release/counts.h"' src/plan/peek.c '#include "release/counts.h"'
    plant 'may not use "worlds/river.h"' src/agents/list.c '#include "worlds/river.h"'
    plant 'no algorithm knows a sibling' src/plan/papers/ucbvi.c '#include "plan/papers/pucb.h"'
    plant 'no algorithm knows a sibling' src/plan/induct.c '#include "plan/papers/pucb.h"'
    plant 'may not use "sums/tree.h"' src/cli/main.c '#include "sums/tree.h"'
    plant 'belongs to sums' src/noise/up.c '#include <tacit/sum.h>'
    plant 'has no room yet' src/cli/main.c '#include <tacit/nowhere.h>'
    plant 'no room attic' src/attic/a.c 'int x;'
    plant 'no room attic' src/base/a.c '#include "attic/a.h"'
    plant 'not a public header' include/tacit/leak.h '#include "sums/tree.h"'
    plant 'not a public header' examples/day.c '#include "sums/tree.h"'
    plant '<sodium.h> is for noise wasm/sodium_host.c only' src/sums/own.c '#include <sodium.h>'
    plant '<mpi.h> is for lab/runs/mpi.c only' src/lab/runs/workers.c '#include <mpi.h>'
    plant clean src/lab/runs/mpi.c '#include <mpi.h>'
    plant '<sqlite3.h> is for store only' src/lab/results.c '#include <sqlite3.h>'
    plant 'rand() is for noise only' src/sums/own.c 'int x = rand();'
    plant 'getrandom() is for noise only' src/base/own.c 'getrandom (p, n, 0);'
    plant 'drand48() is for noise only' examples/day.c 'double x = drand48();'
    plant clean python/module.c '#include "extension.h"' '#include <Python.h>' '#include <tacit/sum.h>' 'malloc(8);'
    plant 'may not use "base/memory.h"' python/module.c '#include "base/memory.h"'
    plant 'printf() is for cli' python/module.c 'printf("x");'
    plant '<Python.h> is for python only' src/lab/own.c '#include <Python.h>'
    plant 'malloc() is for base cli python only' src/sums/own.c 'double *x = malloc(8);'
    plant 'printf() is for cli' src/sums/own.c '/* said */ printf("x");'
    plant 'must name its header' src/base/own.c '#include HEADER'
}

check_or_self_test "$@"
