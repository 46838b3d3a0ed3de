# For tests that look at pages, which source this file: `skip` says why there is nothing to look with, and $browser is the system's
# Chromium.
skip() {
    echo "skipped: $1"
    exit 77
}
command -v node >/dev/null || skip 'node is not installed'
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip 'Chromium is not installed'
