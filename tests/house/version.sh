#!/bin/sh
# The version is the same wherever it stands: CMakeLists.txt, CITATION.cff, and the newest heading of CHANGELOG.md,
# so that a tag can be made at any time.
#
#   version.sh ROOT
set -eu
root=${1:?usage: version.sh ROOT}
built=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' "$root/CMakeLists.txt")
cited=$(sed -n 's/^version: //p' "$root/CITATION.cff")
changed=$(sed -n 's/^## \[\([0-9.]*\)\] - .*$/\1/p' "$root/CHANGELOG.md" | head -n 1)
for found in "$cited" "$changed"; do
    [ "$found" = "$built" ] || {
        echo "CMakeLists.txt says '$built', CITATION.cff '$cited', CHANGELOG.md '$changed'"
        exit 1
    }
done
sed -n '/^## \[/{p;q}' "$root/CHANGELOG.md" | grep -qE -- '- (unreleased|[0-9]{4}-[0-9]{2}-[0-9]{2})$' || {
    echo 'CHANGELOG.md: the newest version has neither a date nor the word unreleased'
    exit 1
}
echo "$built"
