#!/bin/sh
# libtacit_client is for devices: it needs libsodium and the C library, shows what client.h and status.h declare, and is small.
#
#   client.sh LIBRARY
set -eu
library=${1:?usage: client.sh LIBRARY}
here=$(cd "$(dirname "$0")" && pwd)
# Without debugging symbols. Measured are 878 KiB (gcc 12, -O3, as shipped; clang 14: 890), 80 of them the
# sampler's tables; the limit is a stated choice.
most=$((920 * 1024))
status=0

"$here/symbols.sh" "$library" || status=1

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
[ -n "$needed" ] || { echo "$library: readelf finds nothing that it needs"; exit 2; }
for name in $needed; do
    case "$name" in
    libsodium.so.* | libc.so.* | libm.so.* | libpthread.so.* | ld-linux*.so.* | ld-musl*.so.*) ;;
    *)
        echo "$library needs $name; a device has libsodium and the C library"
        status=1
        ;;
    esac
done
case "$needed" in
*libsodium.so.*) ;;
*)
    echo "$library does not need libsodium: where does its randomness come from?"
    status=1
    ;;
esac

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
strip -o "$box/stripped" "$library"
size=$(wc -c <"$box/stripped")
if [ "$size" -gt "$most" ]; then
    echo "$library has $size bytes without symbols; at most $most are allowed"
    status=1
fi
echo "$size bytes; needs" $needed
exit $status
