#!/usr/bin/env bash
# The documentation renders as a site without a warning, every page of it is in the navigation, and a link that
# leads nowhere is caught.
#
#   site.sh ROOT          exits with 77 where mkdocs is not installed
set -euo pipefail
root=$(cd "${1:?usage: site.sh ROOT}" && pwd)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
command -v mkdocs >/dev/null || { echo 'mkdocs is not here (scripts/setup --for site)'; exit 77; }

missing=0
while IFS= read -r page; do
    grep -qE -- "(- |: )$page\$" "$root/packaging/site/mkdocs.yml" || {
        echo "$page is not in the navigation: packaging/site/mkdocs.yml"
        missing=1
    }
done < <(cd "$root" && find docs -name '*.md' | sort)
[ "$missing" -eq 0 ]

"$root/scripts/site" "$box/site"
grep -q '"location":"docs/start.html"' "$box/site/search/search_index.json" || {
    echo 'the tour cannot be found by searching'
    exit 1
}

# In a copy with a broken link.
mkdir -p "$box/copy/scripts" "$box/copy/packaging"
cp "$root"/scripts/{site,c-reference} "$box/copy/scripts/"
cp -r "$root/packaging/site" "$box/copy/packaging/"
cp -r "$root"/{README.md,CONTRIBUTING.md,CHANGELOG.md,CITATION.cff,LICENSE,docs,examples,include} "$box/copy/"
echo '[nowhere](reference/nowhere.md)' >>"$box/copy/docs/start.md"
if "$box/copy/scripts/site" "$box/other" >"$box/said" 2>&1; then
    echo 'a broken link was not caught'
    exit 1
fi
grep -q 'nowhere.md' "$box/said" || { cat "$box/said"; exit 1; }
