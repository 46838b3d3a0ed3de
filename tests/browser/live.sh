#!/usr/bin/env bash
# Starts a service with a few users and looks at its live page in the system's Chromium.
#
#   live.sh BUILD      exit status 77, with a sentence, where there is nothing to look with
set -euo pipefail
build=$(cd "${1:?usage: live.sh BUILD}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/browser.sh"

box=$(mktemp -d)
children=()
trap 'kill "${children[@]}" 2>/dev/null || true; rm -rf "$box"' EXIT
cat >"$box/service.yaml" <<'YAML'
listen: 127.0.0.1:0
store: service.db
learners:
  - {name: clinic, space: {states: 6, actions: 2, horizon: 4, stationary: yes}, users: 60,
     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 4}}
  - {name: phone, space: {states: 6, actions: 2, horizon: 4, stationary: yes}, users: 500,
     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0}}, monitor: {epsilon: 2, delta: 0}}
  - {name: quiet, space: {states: 3, actions: 2, horizon: 1}, users: 1000,
     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 2}}}
YAML
cd "$box"
"$build/tacit" token create service.yaml --name reader --scopes read >reader
"$build/tacit" token create service.yaml --name user --scopes decide,observe,report >user
"$build/tacit" serve service.yaml >out 2>err &
server=$!
children+=("$server")
while [ ! -s out ] && kill -0 "$server"; do
    sleep 0.02
done
url=$(sed -n 's/^serving on //p' out)
# Rewards around one half: noise hardly ever (below 1e-9) takes a whole curve out of [0, 1], where it is drawn flat.
play() {
    "$build/tacit" simulate-users "$url" --token-file user --learner "$1" --world random-tabular --set states=6 \
        --set actions=2 --set horizon=4 --users "$2" --seed "$3" >said
}
play clinic 30 1
play phone 200 1
mkfifo more
(read -r _ <more && play clinic 40 2) & # the page is watched while these come
children+=("$!")
TACIT_MORE="$box/more" node "$here/live.mjs" "$browser" "$url" "$(cat reader)" "$(cat user)"
kill -TERM "$server"
wait "$server"
