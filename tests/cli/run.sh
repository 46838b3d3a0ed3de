#!/usr/bin/env bash
# Runs the cases of a tests/cli/*.test file.
#
#   run.sh BUILD FILE.test…      the command under test is BUILD/tacit
#   run.sh --self-test           sees that wrong expectations are caught
#
# A case:
#
#   $ tacit ARGUMENTS            run by bash in a fresh directory; pipes and redirections allowed
#   a line of stdout             exactly
#   ~ REGEX                      an extended regular expression that matches a whole line
#   ...                          any number of lines
#   2> a line of stderr          likewise `2>~ REGEX` and `2>...`; none at all means silence
#   = STATUS                     ends the case
#
# A line `? COMMAND` before the first case: if the command fails, this machine lacks what the file needs, and all
# of it is skipped (exit status 77). Between cases: blank lines, and comments that begin with #. Blank lines inside
# a case are expected output. $TACIT_TESTS names the tests directory.
set -euo pipefail
export LC_ALL=C

# matches EXPECTED_INDEX ACTUAL_INDEX over the arrays `want` and `got`.
matches() {
    local i=$1 j=$2 pattern
    while [ "$i" -lt "${#want[@]}" ]; do
        if [ "${want[i]}" = ... ]; then
            while [ "$j" -le "${#got[@]}" ]; do
                matches $((i + 1)) "$j" && return 0
                j=$((j + 1))
            done
            return 1
        fi
        [ "$j" -lt "${#got[@]}" ] || return 1
        if [[ ${want[i]} == '~'* ]]; then
            pattern=${want[i]#\~}
            pattern=${pattern# }
            [[ ${got[j]} =~ ^($pattern)$ ]] || return 1
        elif [ "${want[i]}" != "${got[j]}" ]; then
            return 1
        fi
        i=$((i + 1))
        j=$((j + 1))
    done
    [ "$j" -eq "${#got[@]}" ]
}

same_text() { # NAME EXPECTED_FILE ACTUAL_FILE
    local want got
    mapfile -t want <"$2"
    mapfile -t got <"$3"
    matches 0 0 && return 0
    diff -u --label "expected $1" --label "actual $1" "$2" "$3" || true
    return 1
}

run_case() { # FILE LINE COMMAND EXPECTED_STATUS; expectations in $box/want.{out,err}
    local status=0 bad=no
    n=$((n + 1))
    rm -rf "$box/cwd"
    mkdir "$box/cwd"
    (cd "$box/cwd" && exec env -u NO_COLOR HOME="$box/cwd" TERM=dumb bash -c "$3") \
        >"$box/out" 2>"$box/err" </dev/null || status=$?
    same_text stdout "$box/want.out" "$box/out" || bad=yes
    same_text stderr "$box/want.err" "$box/err" || bad=yes
    if [ "$status" -ne "$4" ]; then
        echo "expected exit status $4, got $status"
        bad=yes
    fi
    if [ "$bad" = yes ]; then
        echo "$1:$2: FAILED: $3"
        failed=$((failed + 1))
    fi
}

run_file() { # FILE
    local file=$1 line number=0 start=0 command=''
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        if [ -z "$command" ]; then
            case "$line" in
            '' | '#'*) ;;
            '? '*)
                bash -c "${line#'? '}" >/dev/null 2>&1 </dev/null || {
                    echo "$file:$number: skipped, this fails here: ${line#'? '}"
                    exit 77
                }
                ;;
            '$ '*)
                command=${line#'$ '}
                start=$number
                : >"$box/want.out"
                : >"$box/want.err"
                ;;
            *)
                echo "$file:$number: expected a line that begins with '\$ ', got: $line"
                exit 2
                ;;
            esac
            continue
        fi
        case "$line" in
        '= '*)
            run_case "$file" "$start" "$command" "${line#= }"
            command=''
            ;;
        '$ '*)
            echo "$file:$start: the case has no '= STATUS' line"
            exit 2
            ;;
        '2>'*)
            line=${line#2>}
            printf '%s\n' "${line# }" >>"$box/want.err"
            ;;
        *) printf '%s\n' "$line" >>"$box/want.out" ;;
        esac
    done <"$file"
    if [ -n "$command" ]; then
        echo "$file:$start: the case has no '= STATUS' line"
        exit 2
    fi
}

self_test() {
    expect() { # EXPECTED_EXIT CASE
        local status=0
        printf '%b' "$2" >"$box/self.test"
        ("$0" "$box" "$box/self.test" >"$box/self.log" 2>&1) || status=$?
        if [ "$status" -ne "$1" ]; then
            printf 'self-test: expected exit %s, got %s for:\n%b\n' "$1" "$status" "$2"
            cat "$box/self.log"
            exit 1
        fi
    }
    expect 0 '$ echo a; echo b >&2; exit 3\na\n2> b\n= 3\n'
    expect 0 '# note\n\n$ printf "a\\n\\nb\\n"\na\n\nb\n= 0\n\n$ true\n= 0\n'
    expect 0 '$ seq 5\n1\n...\n5\n= 0\n'
    expect 0 '$ seq 5\n...\n3\n...\n= 0\n'
    expect 0 '$ echo x12\n~ x[0-9]{2}\n= 0\n'
    expect 0 '$ echo oops 7 >&2\n2>~ oops [0-9]+|never\n= 0\n'
    expect 0 '$ ls | wc -l\n0\n= 0\n'
    expect 0 '? true\n$ true\n= 0\n'
    expect 77 '? false\n$ true\n= 0\n'
    expect 1 '$ echo a\nb\n= 0\n'
    expect 1 '$ echo a\n= 0\n'
    expect 1 '$ true\na\n= 0\n'
    expect 1 '$ echo a >&2\n= 0\n'
    expect 1 '$ true\n2> a\n= 0\n'
    expect 1 '$ false\n= 0\n'
    expect 1 '$ echo x123\n~ x[0-9]{2}\n= 0\n'
    expect 1 '$ seq 5\n1\n...\n6\n= 0\n'
    expect 2 '$ true\n'
    expect 2 'true\n= 0\n'
    expect 2 '# no case at all\n'
    echo 'every wrong expectation was caught'
}

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
if [ "${1-}" = --self-test ]; then
    self_test
    exit 0
fi

build=$(cd "${1:?usage: run.sh BUILD FILE.test…}" && pwd)
shift
TACIT_TESTS=$(cd "$(dirname "$0")/.." && pwd)
export TACIT_TESTS PATH="$build:$PATH"
n=0
failed=0
for file in "$@"; do
    run_file "$file"
done
[ "$n" -gt 0 ] || { echo 'no cases'; exit 2; }
echo "$n cases, $failed failed"
[ "$failed" -eq 0 ]
