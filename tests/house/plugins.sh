#!/usr/bin/env bash
# The examples as plug-ins of the command: compiled by the line that the documents give, loaded, listed, played,
# explained, reported on, resumed; and what is no plug-in, or an old one, is refused with a remedy.
#
#   plugins.sh ROOT BUILD            CC names the compiler
set -euo pipefail
root=$(cd "${1:?usage: plugins.sh ROOT BUILD}" && pwd)
build=$(cd "${2:?usage: plugins.sh ROOT BUILD}" && pwd)
cc=${CC:-cc}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
cd "$box"
tacit=$build/tacit

fail() {
    echo "plugins.sh: $1; it said:"
    cat said
    exit 1
}
run() { # EXPECTED_STATUS ARGUMENTS…
    local want=$1 status=0
    shift
    "$tacit" "$@" >said 2>&1 || status=$?
    [ "$status" -eq "$want" ] || fail "tacit $*: exit status $status, expected $want"
}
said() { grep -qE -- "$1" said || fail "expected it to say '$1'"; }

for example in own_agent own_world; do
    "$cc" -shared -fPIC -Wall -Wextra -Werror "$root/examples/$example.c" -o "$example.so" -I "$root/include"
done
# Whoever links the library all the same gets the command's functions, not a second registry.
"$cc" -shared -fPIC "$root/examples/own_agent.c" -o linked.so -I "$root/include" -L "$build" -ltacit -Wl,-rpath,"$build"

cat >own.yaml <<'YAML'
title: Our own
world: {kind: queue, room: 4}
episodes: 2000
runs: 2
agents:
  - {label: myopic, kind: myopic, privacy: {model: joint, epsilon: 1}}
  - {kind: uniform}
YAML

run 2 run own.yaml
said "no agent is called 'myopic'"
run 0 run own.yaml --load own_agent.so --load own_world.so -o first -q
said 'myopic'
run 0 run own.yaml --load ./linked.so --load own_world.so -o second -q
cmp first/curves.csv second/curves.csv || fail 'linked.so plays another game'
run 0 run own.yaml --load own_agent.so --load own_world.so -o first --resume -q
run 0 explain own.yaml --load own_agent.so --load own_world.so --agent myopic
said 'epsilon'
run 0 report first --load own_agent.so --load own_world.so
run 0 agents myopic --load own_agent.so
said 'takes what pays best at once'
run 0 worlds --load own_world.so
said '^queue '

# Twice, wrong, old, not there.
run 2 run own.yaml --load own_agent.so --load linked.so
said "linked.so: .*'myopic'"
echo 'int nothing;' | "$cc" -shared -fPIC -x c - -o nothing.so
run 2 run own.yaml --load nothing.so
said 'nothing.so: not a plug-in: it does not contain TACIT_PLUGIN'
sed 's/^TACIT_PLUGIN(load)/const tacit_plugin tacit_plugin_entry = {.interface = 99, .load = load};/' \
    "$root/examples/own_agent.c" >old.c
"$cc" -shared -fPIC old.c -o old.so -I "$root/include"
run 2 run own.yaml --load old.so
said 'old.so: compiled for interface 99 .*compile it again'
run 2 run own.yaml --load absent.so
said 'absent.so: .*No such file'
run 2 run own.yaml --load own.yaml
said 'own.yaml: .*invalid ELF'
echo 'plug-ins work'
