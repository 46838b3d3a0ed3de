#!/usr/bin/env bash
# `tacit help COMMAND` is `tacit COMMAND --help`, and the manual pages name the same commands and options.
#
#   manuals.sh ROOT BUILD
set -euo pipefail
root=$(cd "${1:?usage: manuals.sh ROOT BUILD}" && pwd)
build=$(cd "${2:?usage: manuals.sh ROOT BUILD}" && pwd)
export PATH=$build:$PATH
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
failed=0
complain() {
    echo "$1"
    failed=1
}

# Long options of a text, one in a line. \- is a dash in a manual page.
options() { sed 's/\\-/-/g' | grep -oE -- '(^|[^-[:alnum:]])--[a-z][a-z0-9-]*' | sed 's/^[^-]*//' | sort -u; }

mapfile -t commands < <(tacit --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
[ "${#commands[@]}" -gt 10 ] || complain "tacit --help lists ${#commands[@]} commands"
for command in "${commands[@]}"; do
    tacit help "$command" >"$box/help"
    tacit "$command" --help >"$box/own"
    cmp -s "$box/help" "$box/own" || complain "tacit help $command is not tacit $command --help"
    # commands with words of their own, whose help is apart
    awk '/^(commands|what):/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' "$box/own" >"$box/words"
    while read -r word; do
        tacit "$command" "$word" --help >>"$box/own" 2>/dev/null || true
    done <"$box/words"
    page=$root/man/tacit-$command.1
    [ -e "$page" ] || { complain "there is no $page"; continue; }
    if other=$(sed -n '1s/^\.so man1\///p' "$page") && [ -n "$other" ]; then # a page about two commands
        page=$root/man/$other
        command=${other#tacit-}
        command=${command%.1}
    fi
    grep -qE "^\.TH TACIT-$(tr "[:lower:]" "[:upper:]" <<<"$command") 1 " "$page" || complain "$page has another title"
    sed 's/\\-/-/g' "$root/man/tacit.1" | grep -qE "tacit-$command *\(1|BR tacit-$command \(1|^\.B(R)? $command\b" ||
        complain "man/tacit.1 does not name $command"
    options <"$box/own" | grep -vx -e --help >"$box/in_help" || true
    options <"$page" | grep -vx -e --help >"$box/in_page" || true
    while read -r option; do
        complain "man/tacit-$command.1 lacks $option, which tacit $command --help has"
    done < <(comm -23 "$box/in_help" "$box/in_page")
    while read -r option; do
        # a page may speak of options of other commands
        grep -rqE -- "\"${option#--}\"" "$root/src/cli" || complain "man/tacit-$command.1 has $option, which no command has"
    done < <(comm -13 "$box/in_help" "$box/in_page")
done
for page in "$root"/man/*.1; do
    command=$(basename "$page" .1)
    command=${command#tacit-}
    [ "$command" = tacit ] || [[ " ${commands[*]} " == *" $command "* ]] || complain "$page is about no command"
    if command -v man >/dev/null && ! grep -q '^\.so ' "$page"; then
        warned=$(MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        [ -z "$warned" ] || complain "$page: $warned"
    fi
done
echo "${#commands[@]} commands"
exit "$failed"
