#!/usr/bin/env bash
# The completion scripts of bash, zsh and fish offer what `tacit __complete` knows.
#
#   completion.sh ROOT BUILD
#
# bash and fish are asked as a person would by pressing the tab key; for zsh only the syntax is checked. zsh
# and fish are left out where they are not installed.
set -euo pipefail
root=$(cd "${1:?usage: completion.sh ROOT BUILD}" && pwd)
build=$(cd "${2:?usage: completion.sh ROOT BUILD}" && pwd)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
export PATH=$build:$PATH
cd "$box"
mkdir results
cp "$root/examples/riverswim.yaml" .
failed=0

# One row for each line: the words so far, then `=` and what must be among the answers, or `!` and what must not.
rows() {
    cat <<'ROWS'
tacit ru=run
tacit agents lin=lin-ucb
tacit agents lin!gp-ucb
tacit worlds deep=deep-sea
tacit help au=audit
tacit run --res=--resume
tacit run river=riverswim.yaml
tacit report re=results
tacit report river!riverswim.yaml
tacit store ba=backup
tacit store mo=move
tacit store in=init
tacit comp=compare
tacit li=list
tacit fore=forecast
tacit serve --ch=--check
tacit report --fig=--figure
tacit report --tab=--table
tacit token cr=create
tacit account scale --mechanism l=laplace
tacit account gu=guarantee
ROWS
}
check() { # SHELL ROW ANSWERS
    local kind='=' words wanted
    [[ $2 == *!* ]] && kind='!'
    words=${2%%"$kind"*}
    wanted=${2#*"$kind"}
    if grep -qxF -e "$wanted" -e "$wanted/" <<<"$3"; then
        [ "$kind" = '=' ] && return
    else
        [ "$kind" = '!' ] && return
    fi
    echo "$1: '$words' + tab: expected $kind $wanted, got:"
    echo "$3"
    failed=1
}

in_bash() { # WORDS
    bash -c '
        source "$1"
        compopt() { :; }
        read -ra COMP_WORDS <<<"$2"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _tacit
        printf "%s\n" "${COMPREPLY[@]}"' - "$root/completions/tacit.bash" "$1"
}
in_fish() { # WORDS
    HOME=$box fish --no-config -c "source '$root/completions/tacit.fish'; complete -C '$1'" | cut -f 1
}

n=0
while IFS= read -r row; do
    words=${row%%[=!]*}
    check bash "$row" "$(in_bash "$words")"
    if command -v fish >/dev/null; then
        check fish "$row" "$(in_fish "$words")"
    fi
    n=$((n + 1))
done < <(rows)

# Labels have blanks, which the shell must find quoted.
answers=$(in_bash 'tacit explain riverswim.yaml --agent jo')
[ "$answers" = 'joint\ eps\ 1' ] || { echo "bash: labels: $answers"; failed=1; }
if command -v zsh >/dev/null; then
    zsh -n "$root/completions/_tacit" || failed=1
fi
[ "$failed" -eq 0 ] && echo "$n rows"
exit "$failed"
