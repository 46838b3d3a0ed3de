# bash completion for tacit. The words come from the command itself: `tacit __complete` (src/cli/complete.h).
_tacit() {
    local IFS=$'\n' line word cur=${COMP_WORDS[COMP_CWORD]} also=none
    local -a words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    [[ $cur == [\"\']* ]] && words[COMP_CWORD - 1]=${cur:1}
    while read -r line; do
        case "$line" in
        :*) also=${line#:} ;;
        *)
            word=${line%%$'\t'*}
            if [[ $cur == [\"\']* ]]; then
                COMPREPLY+=("$word")
            else
                COMPREPLY+=("$(printf '%q' "$word")")
            fi
            ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
    if [ ${#COMPREPLY[@]} -gt 0 ]; then
        [[ ${#COMPREPLY[@]} -gt 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
        return
    fi
    case "$also" in
    files) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    directories) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *) return ;;
    esac
    compopt -o filenames 2>/dev/null
}
complete -F _tacit tacit
