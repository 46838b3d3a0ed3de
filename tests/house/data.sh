#!/usr/bin/env bash
# scripts/get-adult refuses what is not the data set, and says what to do where the network does not reach.
#
#   data.sh ROOT
set -euo pipefail
root=$(cd "${1:?usage: data.sh ROOT}" && pwd)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkdir -p "$box/scripts"
cp "$root/scripts/get-adult" "$box/scripts/"

expect() { # STATUS TEXT ARGUMENTS…
    local status=0 wanted=$1 text=$2
    shift 2
    "$box/scripts/get-adult" "$@" >"$box/said" 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -qF -- "$text" "$box/said"; then
        echo "get-adult $*: status $status, expected $wanted and '$text':"
        cat "$box/said"
        exit 1
    fi
}

printf '39, State-gov\n' >"$box/short"
expect 1 'has 14 bytes, expected 3974305' "$box/short"
head -c 3974305 /dev/zero >"$box/zeros"
expect 1 'its contents were changed' "$box/zeros"
expect 2 'no such file' "$box/nowhere"
expect 2 "unknown option '--al'" --al
! command -v curl >/dev/null || expect 3 'cannot be reached from here; get adult.data from' --url http://127.0.0.1:1/adult.data
[ ! -e "$box/examples" ] || { echo 'get-adult left something behind'; exit 1; }
# the columns are those that the examples use
for column in age education_years hours_per_week capital_gain capital_loss marital_status occupation workclass relationship sex income; do
    grep -q "^columns.*[=,]$column\b" "$root/scripts/get-adult" || { echo "get-adult has no column $column"; exit 1; }
done
