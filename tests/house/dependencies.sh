#!/bin/sh
# The README's table of dependencies is the table in scripts/setup, package and reason.
#
#   dependencies.sh ROOT
set -eu
root=${1:?usage: dependencies.sh ROOT}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

"$root/scripts/setup" --list | sort >"$box/setup"
# Rows of the form: | `package` | reason |   under the heading "Dependencies".
awk -F' *[|] *' '
    /^## / { inside = ($0 ~ /^## Dependencies/) }
    inside && $2 ~ /^`.*`$/ { gsub(/^`|`$/, "", $2); print $2 "|" $3 }
' "$root/README.md" | sort >"$box/readme"
diff -u --label 'scripts/setup --list' --label 'README.md, Dependencies' "$box/setup" "$box/readme"
echo "$(wc -l <"$box/setup") packages"
