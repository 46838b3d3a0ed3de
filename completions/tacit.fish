# fish completion for tacit. The words come from the command itself: `tacit __complete` (src/cli/complete.h).
function __tacit_words
    set -l before (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l command $before[1]
    set -e before[1]
    for line in ($command __complete $before "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':directories'
                __fish_complete_directories "$current" ''
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c tacit -f -a '(__tacit_words)'
