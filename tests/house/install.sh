#!/bin/sh
# Installs into a fresh prefix and builds a stranger's program against it: by pkg-config with the
# shared and with the static library, and by find_package; then runs each. The same with a device's
# program (examples/device.c) and the client's library.
#
#   install.sh BUILD            CC and CMAKE name the compiler and cmake
set -eu
build=$(cd "${1:?usage: install.sh BUILD}" && pwd)
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
cmake=${CMAKE:-cmake}
cc=${CC:-cc}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
prefix=$box/prefix

unset DESTDIR
"$cmake" --install "$build" --prefix "$prefix" >"$box/install.log" || { cat "$box/install.log"; exit 1; }

for file in include/tacit/status.h share/bash-completion/completions/tacit \
    share/zsh/site-functions/_tacit share/fish/vendor_completions.d/tacit.fish \
    share/doc/tacit/docs/start.md share/doc/tacit/examples/own_agent.c; do
    [ -f "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
page=$prefix/share/doc/tacit/docs/reference/c.md
[ ! -f "$build/docs/reference/c.md" ] || grep -q '^TACIT_API .* tacit_sum_create(' "$page" ||
    { echo 'docs/reference/c.md is installed without the functions'; exit 1; }
if [ -x "$build/tacit" ]; then
    "$prefix/bin/tacit" --version
fi

pc=$(find "$prefix" -name tacit.pc)
lib=$(cd "$(dirname "$pc")/.." && pwd)
export PKG_CONFIG_PATH="$lib/pkgconfig"
version=$(pkg-config --modversion tacit)
for name in tacit tacit_client; do
    said=$(pkg-config --cflags "$name")
    [ "$(echo "$said" | wc -w)" -eq 1 ] || { echo "pkg-config --cflags $name says more than its own path: $said"; exit 1; }
done
flags='-std=c17 -Wall -Wextra -Wpedantic -Werror'

say() { # HOW PROGRAM
    printf '%s: ' "$1"
    said=$("$2")
    echo "$said"
    case "$said" in
    *"$version"*) ;;
    *)
        echo "expected the version $version in that"
        exit 1
        ;;
    esac
}

# shellcheck disable=SC2046,SC2086 # flags are meant to be split
$cc $flags "$consumer/main.c" -o "$box/shared" $(pkg-config --cflags --libs tacit)
LD_LIBRARY_PATH=$lib say 'pkg-config, shared' "$box/shared"

# shellcheck disable=SC2046,SC2086
$cc $flags -static "$consumer/main.c" -o "$box/static" $(pkg-config --static --cflags --libs tacit)
say 'pkg-config, static' "$box/static"

"$cmake" -S "$consumer" -B "$box/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    >"$box/cmake.log" 2>&1 || { cat "$box/cmake.log"; exit 1; }
"$cmake" --build "$box/consumer" >"$box/cmake.log" 2>&1 || { cat "$box/cmake.log"; exit 1; }
say 'find_package, shared' "$box/consumer/consumer_shared"
say 'find_package, static' "$box/consumer/consumer_static"

# A device: one episode by a billboard from a file gives a report.
report() { # HOW PROGRAM
    said=$("$2" "$consumer/billboard.json" "$box/key" 2>"$box/steps") || { cat "$box/steps"; exit 1; }
    case "$said" in
    '{"learner":"ours","report":"'*'"}') echo "device, $1: a report of ${#said} bytes" ;;
    *)
        echo "device, $1: expected a report, got: $said"
        exit 1
        ;;
    esac
    [ "$(wc -c <"$box/key")" -eq 33 ] || { echo 'expected a key of 32 characters'; exit 1; }
    ! readelf -d "$2" | grep 'NEEDED.*libtacit\.' || { echo "$2 needs more than the client's library"; exit 1; }
}
device=$consumer/../../../examples/device.c
# shellcheck disable=SC2046,SC2086
$cc $flags "$device" -o "$box/device_shared" $(pkg-config --cflags --libs tacit_client)
LD_LIBRARY_PATH=$lib report 'pkg-config, shared' "$box/device_shared"
# shellcheck disable=SC2046,SC2086
$cc $flags -static "$device" -o "$box/device_static" $(pkg-config --static --cflags --libs tacit_client)
report 'pkg-config, static' "$box/device_static"
report 'find_package, shared' "$box/consumer/device_shared"
report 'find_package, static' "$box/consumer/device_static"
