# Completes kubectl-fleet-stage. It needs nothing but bash.
# What a word means without its quotes, and which of them is still open.
_kubectl_fleet_stage_read() {
    local at char
    plain= open=
    for ((at = 0; at < ${#1}; at++)); do
        char=${1:at:1}
        case $open$char in
            [\'\"] | \\) open=$char ;;
            \'\' | \"\") open= ;;
            \\*) plain+=$char open= ;;
            \"\\)
                if [[ ${1:at+1:1} == [\"\\\$\`] ]]; then
                    ((at++))
                    char=${1:at:1}
                fi
                plain+=$char
                ;;
            *) plain+=$char ;;
        esac
    done
}
# A candidate as it stands behind an open quote, or behind none.
_kubectl_fleet_stage_write() {
    local at char out=
    case $open in
        \')
            for ((at = 0; at < ${#1}; at++)); do
                char=${1:at:1}
                [[ $char == \' ]] && char="'\\''"
                out+=$char
            done
            ;;
        \")
            for ((at = 0; at < ${#1}; at++)); do
                char=${1:at:1}
                case $char in
                    [\"\\\$\`]) char="\\$char" ;;
                    # No backslash keeps bash from looking for a line of its history.
                    !) char="\"'!'\"" ;;
                esac
                out+=$char
            done
            ;;
        *)
            out=$1
            [[ $out == *[!a-zA-Z0-9_./:=,@%+-]* ]] && printf -v out %q "$out"
            ;;
    esac
    COMPREPLY+=("$out")
}
_kubectl_fleet_stage() {
    local rest=${COMP_LINE:0:COMP_POINT} typed=() apart word at plain open
    for ((at = 0; at <= COMP_CWORD; at++)); do
        # What bash takes apart at colons and equals signs is one word.
        apart=no
        [[ $at -eq 0 || $rest == [[:space:]]* ]] && apart=yes
        rest=${rest#"${rest%%[![:space:]]*}"}
        word=${COMP_WORDS[at]}
        [[ $at -eq $COMP_CWORD ]] && word=$rest
        rest=${rest#"$word"}
        if [[ $apart == yes ]]; then
            typed+=("$word")
        else
            typed[${#typed[@]} - 1]+=$word
        fi
    done
    local current=${typed[${#typed[@]} - 1]} candidate kept words=()
    for word in "${typed[@]}"; do
        _kubectl_fleet_stage_read "$word"
        words+=("$plain")
    done
    _kubectl_fleet_stage_read "${current%"$2"}"
    kept=$plain
    _kubectl_fleet_stage_read "$current"
    COMPREPLY=()
    while IFS= read -r candidate; do
        _kubectl_fleet_stage_write "${candidate#"$kept"}"
    done < <(FLEET_STAGE_COMPLETE=bash kubectl-fleet-stage -- "${words[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
if ! complete -o bashdefault -o nosort -F _kubectl_fleet_stage kubectl-fleet-stage 2>/dev/null; then
    complete -o bashdefault -F _kubectl_fleet_stage kubectl-fleet-stage
fi
