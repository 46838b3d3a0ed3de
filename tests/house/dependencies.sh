#!/bin/sh
# The table of packages in docs/install.md is the table in scripts/setup: package, group and reason.
#
#   dependencies.sh ROOT
set -eu
root=${1:?usage: dependencies.sh ROOT}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

"$root/scripts/setup" --list | sort >"$box/setup"
# Rows of the form: | `package` | group | reason |   under the heading "Packages".
awk -F' *[|] *' '
    /^## / { inside = ($0 ~ /^## Packages/) }
    inside && $2 ~ /^`.*`$/ { gsub(/^`|`$/, "", $2); print $2 "|" $3 "|" $4 }
' "$root/docs/install.md" | sort >"$box/page"
diff -u --label 'scripts/setup --list' --label 'docs/install.md, Packages' "$box/setup" "$box/page"
echo "$(wc -l <"$box/setup") packages"
