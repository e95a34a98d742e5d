# Completion of `weft` for bash: commands, options, words of options, files. All of it comes from the
# help texts of the program, so that it knows what that knows.

# _weft_help COMMAND: the help text, asked for once for each command of a shell.
_weft_help() {
    local -n text=_weft_help_of_${1//-/_}
    if [[ -z ${text-} ]]; then
        declare -g "_weft_help_of_${1//-/_}=$(weft ${1:+"$1"} --help${1:+-all} 2>/dev/null)"
    fi
    printf '%s\n' "$text"
}

_weft() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command="" word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ $word != -* ]]; then
            command=$word
            break
        fi
    done
    COMPREPLY=()
    if [[ $previous == --* ]]; then
        # "  --mode vector|task ..." or "  --method METHOD:{auto,cg}".
        local line words
        line=$(_weft_help "$command" | grep -m 1 -E "^  (-[a-zA-Z],)?$previous( |=|\$)")
        words=$(sed -nE 's/^ *[^ ]+ ([a-z][a-z0-9-]*(\|[A-Za-z0-9-]+)+).*/\1/p;s/.*\{([^}]*)\}.*/\1/p' \
            <<<"$line")
        if [[ -n $words ]]; then
            mapfile -t COMPREPLY < <(compgen -W "${words//[|,]/ }" -- "$current")
            return
        fi
        if [[ $line == *FILE* ]]; then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
        fi
    fi
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_weft_help "$command" |
            grep -oE '^  (-[a-zA-Z],)?--[a-z][a-z-]*' | sed 's/.*--/--/')" -- "$current")
    elif [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_weft_help "" |
            sed -n '/^[Ss]ubcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')" -- "$current")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

complete -F _weft weft
