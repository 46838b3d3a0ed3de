# For checks of the tree, which source this file. Such a check has a function `check ROOT`, which prints one line for each violation
# and fails if there is one, and a function `self_test`, which plants violations below $box and sees that each is caught.

# What `check` says of a tree contains WANTED; "clean": nothing is wrong with it.
expect() { # WANTED WHAT ROOT [ARGUMENT...]
    wanted=$1
    what=$2
    shift 2
    if said=$(check "$@"); then
        got=clean
    else
        got=$said
    fi
    case "$got" in
    *"$wanted"*) ;;
    *)
        echo "self-test: $what: expected '$wanted', got: $got"
        failures=$((failures + 1))
        ;;
    esac
}

# The last line of a check: with its arguments, the root or --self-test.
check_or_self_test() {
    if [ "${1-}" != --self-test ]; then
        check "${1:?usage: ROOT | --self-test}"
        return
    fi
    box=$(mktemp -d)
    trap 'rm -rf "$box"' EXIT
    failures=0
    self_test
    [ "$failures" -eq 0 ] || exit 1
    echo 'every planted violation was caught'
}
