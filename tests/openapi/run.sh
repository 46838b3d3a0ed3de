#!/usr/bin/env bash
# What `tacit serve --openapi` prints is OpenAPI 3.1, and a running service is what it says: a client made from the document asks
# every operation, rightly and wrongly, and simulated users are listened to.
#
#   run.sh BUILD      exit status 77, with a sentence, where there is nothing to check with
set -euo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

skip() {
    echo "skipped: $1"
    exit 77
}
command -v node >/dev/null || skip 'node is not installed'
[ -d "$here/../../web/node_modules/@seriousme/openapi-schema-validator" ] ||
    skip 'the validator of OpenAPI is not there (scripts/setup fetches it)'

box=$(mktemp -d)
server=
trap 'kill "$server" 2>/dev/null || true; rm -rf "$box"' EXIT
cat >"$box/service.yaml" <<'YAML'
listen: 127.0.0.1:0
store: service.db
limits: {body: 100000}
learners:
  - {name: walk, space: {states: 6, actions: 2, horizon: 4, stationary: yes}, users: 1000,
     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 1}}
  - {name: offers, space: {states: 3, actions: 4, horizon: 1}, users: 1000,
     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}, outside: clip}}
  - {name: banner, space: {features: 5, actions: 3, bound: 1}, users: 1000,
     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 1}}
  - {name: doses, space: {context: 'age 17..90, country {DE | FR}', actions: [low, medium, high]}, users: 1000,
     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}
  - {name: phone, space: {states: 6, actions: 2, horizon: 4, stationary: yes}, users: 1000,
     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0}}, monitor: {epsilon: 1, delta: 0}}
  - {name: exact, space: {states: 3, actions: 2, horizon: 1}, users: 2,
     agent: {kind: dp-ucbvi, privacy: {model: none}}}
YAML
cd "$box"
for scope in decide observe report read admin; do
    "$build/tacit" token create service.yaml --name "$scope" --scopes "$scope" >"$scope"
done
"$build/tacit" serve --openapi >openapi.json
"$build/tacit" serve service.yaml >out 2>err &
server=$!
while [ ! -s out ] && kill -0 "$server"; do
    sleep 0.02
done
node "$here/check.mjs" "$build/tacit" "$box" "$(sed -n 's/^serving on //p' out)"
kill -TERM "$server"
wait "$server"
