# Completes kubectl-fleet-stage. It needs nothing but bash.
_kubectl_fleet_stage() {
    local rest=${COMP_LINE:0:COMP_POINT} typed=() apart word at
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
    local current=${typed[${#typed[@]} - 1]} candidate
    local kept=${current%"$2"}
    COMPREPLY=()
    while IFS= read -r candidate; do
        candidate=${candidate#"$kept"}
        if [[ $current != *[\"\']* && $candidate == *[!a-zA-Z0-9_./:=,@%+-]* ]]; then
            printf -v candidate %q "$candidate"
        fi
        COMPREPLY+=("$candidate")
    done < <(FLEET_STAGE_COMPLETE=bash kubectl-fleet-stage -- "${typed[@]//[\"\'\\]/}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
if ! complete -o bashdefault -o nosort -F _kubectl_fleet_stage kubectl-fleet-stage 2>/dev/null; then
    complete -o bashdefault -F _kubectl_fleet_stage kubectl-fleet-stage
fi
