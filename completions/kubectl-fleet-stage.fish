# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_fleet_stage_global_optspecs
    string join \n n/namespace= context= kubeconfig= as= color= q/quiet v/verbose h/help V/version
end

function __fish_kubectl_fleet_stage_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_fleet_stage_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_fleet_stage_using_subcommand
    set -l cmd (__fish_kubectl_fleet_stage_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l context -d 'The kubeconfig context of the hub, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l kubeconfig -d 'The kubeconfig file, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l as -d 'The user to impersonate, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "diagnose" -d 'Say what state a rollout is in, why, and what to do next'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "explain" -d 'Explain a finding at length, offline'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "schema" -d 'Print the JSON schema of a machine-readable output'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "version" -d 'Print the version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "completion" -d 'Print a shell\'s completion script'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-); may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l now -d 'The moment to judge for, as RFC 3339 [default: when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s o -l output -d 'The format of the report' -r -f -a "text\t''
json\t''
yaml\t''
markdown\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l min-severity -d 'Show only findings of at least this severity: info, warning or error' -r -f -a "info\t'An expected state, or a harmless oddity'
warning\t'Something that will or may go wrong'
error\t'Something that is wrong'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l suppress -d 'Leave out a finding by code or name, everywhere or about one object; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l fail-on -d 'Exit with 3 instead of 0 when a finding of at least this severity is shown' -r -f -a "warning\t''
error\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l context -d 'The kubeconfig context of the hub, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l kubeconfig -d 'The kubeconfig file, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l as -d 'The user to impersonate, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l all -d 'Diagnose every update run of the scope'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s A -l all-namespaces -d 'With --all: of both scopes and all namespaces'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l active -d 'With --all: only runs that are not over'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l exit-zero -d 'Exit with 0 whatever the verdict'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s o -l output -d 'The format' -r -f -a "text\t''
markdown\t''
json\t''
yaml\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l context -d 'The kubeconfig context of the hub, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l kubeconfig -d 'The kubeconfig file, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l as -d 'The user to impersonate, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l list -d 'List all findings'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l context -d 'The kubeconfig context of the hub, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l kubeconfig -d 'The kubeconfig file, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l as -d 'The user to impersonate, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s o -l output -d 'The format' -r -f -a "text\t''
json\t''
yaml\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l context -d 'The kubeconfig context of the hub, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l kubeconfig -d 'The kubeconfig file, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l as -d 'The user to impersonate, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l context -d 'The kubeconfig context of the hub, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l kubeconfig -d 'The kubeconfig file, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l as -d 'The user to impersonate, repeated in the commands that a report suggests' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from diagnose explain schema version completion help" -f -a "diagnose" -d 'Say what state a rollout is in, why, and what to do next'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from diagnose explain schema version completion help" -f -a "explain" -d 'Explain a finding at length, offline'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from diagnose explain schema version completion help" -f -a "schema" -d 'Print the JSON schema of a machine-readable output'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from diagnose explain schema version completion help" -f -a "version" -d 'Print the version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from diagnose explain schema version completion help" -f -a "completion" -d 'Print a shell\'s completion script'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from diagnose explain schema version completion help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
