#!/usr/bin/env bash
# scripts/setup with a made-up system: what it asks apt for, what it says, when it keeps still.
#
#   setup.sh ROOT
set -euo pipefail
root=$(cd "${1:?usage: setup.sh ROOT}" && pwd)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkdir "$box/bin"

# Only these programs exist; dpkg-query, apt-get, id and sudo are ours.
for tool in bash env sh sed grep cat mktemp rm dirname sort tee; do
    ln -s "$(command -v "$tool")" "$box/bin/$tool"
done
fake() { # NAME SCRIPT
    printf '#!/bin/bash\n%s\n' "$2" >"$box/bin/$1"
    chmod +x "$box/bin/$1"
}
pretend() { # UID INSTALLED…
    local uid=$1
    shift
    printf 'installed %s\n' "$@" >"$box/installed"
    echo 'deinstall gone' >>"$box/installed"
    : >"$box/calls"
    fake id "echo $uid"
    fake dpkg-query "while read -r line; do echo \"\$line\"; done <$box/installed"
    fake apt-get "echo \"apt-get \$*\" >>$box/calls"
    fake sudo "echo sudo >>$box/calls; exec \"\$@\""
}
# In a copy, so that what it fetches is not really there.
mkdir -p "$box/root/scripts" "$box/root/web"
cp "$root/scripts/setup" "$box/root/scripts/setup"
cp "$root/web/package-lock.json" "$box/root/web/"
run() { # EXPECTED_STATUS [ARGUMENT]
    local want=$1 status=0
    shift
    PATH=$box/bin "$box/root/scripts/setup" "$@" >"$box/said" 2>&1 || status=$?
    [ "$status" -eq "$want" ] || fail "exit status $status, expected $want"
}
fail() {
    echo "setup.sh: $1; it said:"
    cat "$box/said"
    echo '--- and called:'
    cat "$box/calls"
    exit 1
}
called() { grep -qxF -- "$1" "$box/calls" || fail "expected the call '$1'"; }
said() { grep -qF -- "$1" "$box/said" || fail "expected it to say '$1'"; }

mapfile -t all < <("$root/scripts/setup" --list | sed 's/|.*//')
mapfile -t build < <("$root/scripts/setup" --list | sed -n 's/|build|.*//p')
without() { printf '%s\n' "${all[@]}" | grep -vxF -e "$1" -e "${2:-$1}"; }
mapfile -t most < <(without cmake libmpfr-dev)

pretend 0 "${all[@]}"
run 0
[ ! -s "$box/said" ] || fail 'expected silence when nothing is missing'
[ ! -s "$box/calls" ] || fail 'expected no call of apt-get when nothing is missing'

pretend 0 "${most[@]}"
run 0
said 'cmake is missing: the build'
said 'libmpfr-dev is missing: '
called 'apt-get update'
called 'apt-get install -y --no-install-recommends -o APT::Status-Fd=3 -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 cmake libmpfr-dev'
! grep -q sudo "$box/calls" || fail 'root needs no sudo'

pretend 1000 "${most[@]}"
run 0
called sudo
called 'apt-get install -y --no-install-recommends -o APT::Status-Fd=3 -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 cmake libmpfr-dev'

pretend 0 "${most[@]}"
run 1 --check
[ ! -s "$box/calls" ] || fail '--check must not install'

# the demo needs one group, another purpose that one and its own
pretend 0 "${build[@]}"
run 0 --for demo
[ ! -s "$box/said" ] || fail 'expected the build group to be enough for the demo'
run 1 --check --for mpi
said 'libopenmpi-dev is missing: '
! grep -q 'chromium' "$box/said" || fail 'MPI needs no browser'
run 1 --check
said 'chromium is missing: '
run 2 --for nothing
said 'demo or one of: arm build check '
run 2 --for

# what apt reports becomes progress
pretend 0 "${most[@]}"
fake apt-get 'printf "dlstatus:1:12.5:Retrieving\npmstatus:cmake:50:Unpacking\npmstatus:cmake:51:More\n" 2>/dev/null >&3 || true; echo Reading lists'
run 0
said 'setup: 12 % fetching'
said 'setup: 50 % installing cmake'
! grep -qE '51 %|Reading' "$box/said" || fail 'expected a line for every tenth'

pretend 1000 "${most[@]}"
rm "$box/bin/sudo"
run 3
said 'neither root nor sudo'
said 'cmake libmpfr-dev'

pretend 0 "${most[@]}"
fake apt-get 'echo "E: no network"; exit 100'
run 3
said 'E: no network'

pretend 0 "${most[@]}"
rm "$box/bin/dpkg-query"
run 3
said 'not Debian'
said 'libsodium-dev: '

# node and npm from elsewhere will do
mapfile -t most < <(without nodejs npm)
pretend 0 "${most[@]}"
fake node ''
fake npm "echo \"npm \$*\" >>$box/calls; echo E404; exit 1"
run 0
said 'E404'
said 'a test will be skipped'
! grep -q apt-get "$box/calls" || fail 'nothing was missing'

# fetched once, and again when the list changes
fake npm "echo \"npm \$*\" >>$box/calls; [ -d node_modules ] || PATH=$PATH mkdir node_modules"
: >"$box/calls"
run 1 --check
said 'web/node_modules is missing'
run 0
called 'npm ci --include=dev --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 30000'
: >"$box/calls"
run 0
[ ! -s "$box/said" ] || fail 'expected silence when nothing is missing'
[ ! -s "$box/calls" ] || fail 'expected no network when nothing is missing'
echo '{}' >"$box/root/web/package-lock.json"
run 0
said 'fetching web/node_modules'
rm "$box/bin/node" "$box/bin/npm"

pretend 0 "${all[@]}"
run 2 --nonsense
echo 'scripts/setup behaves'
