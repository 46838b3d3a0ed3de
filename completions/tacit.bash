# bash completion for tacit
_tacit() {
    local current=${COMP_WORDS[COMP_CWORD]}
    local previous=${COMP_WORDS[COMP_CWORD - 1]}
    local words=

    case "$previous" in
    --epsilon | --delta | --l1 | --l2 | --count) return ;; # a number follows
    --mechanism)
        mapfile -t COMPREPLY < <(compgen -W 'gaussian laplace' -- "$current")
        return
        ;;
    -j | --jobs | --runs | --episodes | --agent | --trials | --confidence | --seed | --audits | --seconds | --worlds) return ;;
    --token-file)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    --scopes)
        mapfile -t COMPREPLY < <(compgen -W 'decide observe report read admin' -- "$current")
        return
        ;;
    --name | --learner | --world | --set | --users | --clients | --seed) return ;;
    -o | --output)
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return
        ;;
    esac

    if [ "$COMP_CWORD" -eq 1 ]; then
        words='account run report compare list explain forecast audit serve token store simulate-users worlds agents --help --version'
    else
        case "${COMP_WORDS[1]}" in
        account)
            if [ "$COMP_CWORD" -eq 2 ]; then
                words='scale guarantee --help'
            else
                case "${COMP_WORDS[2]}" in
                scale) words='--epsilon --delta --l1 --l2 --count --mechanism --json --help' ;;
                guarantee)
                    words='--epsilon --delta --json --help gaussian:l2= laplace:l1= dp:epsilon= zcdp:rho='
                    # A release goes on after its `=`.
                    compopt -o nospace 2>/dev/null
                    ;;
                esac
            fi
            ;;
        run)
            words='--output --jobs --runs --episodes --resume --force --yes --quiet --json --help'
            [[ $current == -* ]] || words=$(compgen -f -- "$current")
            ;;
        report)
            words='--output --static --figure --table --agents --world --width --height --font --font-size --title --scale --interval --facets --dpi --help'
            [[ $current == -* ]] || words=$(compgen -d -- "$current")
            ;;
        compare)
            words='--output --to --json --help'
            [[ $current == -* ]] || words=$(compgen -d -- "$current")
            ;;
        list)
            words='--agents --json --help'
            [[ $current == -* ]] || words=$(compgen -d -- "$current")
            ;;
        explain)
            words='--runs --episodes --agent --json --help'
            [[ $current == -* ]] || words=$(compgen -f -- "$current")
            ;;
        forecast)
            words='--agent --episodes --seconds --worlds --jobs --show --quiet --json --help'
            [[ $current == -* ]] || words=$(compgen -f -- "$current")
            ;;
        audit)
            words='--agent --trials --confidence --episodes --seed --jobs --quiet --json --self-test --audits --help'
            [[ $current == -* ]] || words=$(compgen -f -- "$current")
            ;;
        serve)
            words='--reference --openapi --help'
            [[ $current == -* ]] || words=$(compgen -f -- "$current")
            ;;
        token | store)
            if [ "$COMP_CWORD" -eq 2 ]; then
                words='check backup export events adopt migrate rekey --help'
                [ "${COMP_WORDS[1]}" = store ] || words='create list revoke --help'
            else
                words='--decisions --json --original-is-gone --new-key --help'
                [ "${COMP_WORDS[1]}" = store ] || words='--name --scopes --learner --users-per-day --expires --help'
                [[ $current == -* ]] || words=$(compgen -f -- "$current")
            fi
            ;;
        simulate-users) words='--token-file --learner --world --set --users --clients --seed --json --help' ;;
        worlds | agents)
            # The names are the lines that are not indented.
            words="--json --help $(tacit "${COMP_WORDS[1]}" 2>/dev/null | sed -n '/^[a-z]/p')"
            ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _tacit tacit
