#!/usr/bin/env bash
# The unit is one that systemd takes without a word, and leaves the service few ways out: exposure at most 1.5 of 10.
#
#   systemd.sh UNIT      exit status 77, with a sentence, where systemd-analyze is missing
set -euo pipefail
unit=${1:?usage: systemd.sh UNIT}

if ! command -v systemd-analyze >/dev/null; then
    echo 'skipped: systemd-analyze is not installed'
    exit 77
fi

# The manual page is installed with the unit, not here.
said=$(systemd-analyze verify --man=no "$unit" 2>&1) || {
    echo "systemd-analyze verify failed: $said"
    exit 1
}
if [ -n "$said" ]; then
    echo "systemd-analyze verify says: $said"
    exit 1
fi

# --offline came with systemd 250.
if ! systemd-analyze security --help 2>/dev/null | grep -q -- --offline; then
    echo 'skipped: this systemd-analyze cannot look at the security of a unit that is not installed'
    exit 77
fi
table=$(systemd-analyze --no-pager security --offline=true --threshold=15 "$unit" 2>&1) || {
    echo "$table" | grep -v '^.*✓'
    exit 1
}
echo "$table" | tail -1
