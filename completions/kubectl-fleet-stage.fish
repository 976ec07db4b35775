# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_fleet_stage_global_optspecs
    string join \n n/namespace= context= kubeconfig= cluster= user= s/server= token= tls-server-name= insecure-skip-tls-verify as= as-group= as-uid= request-timeout= color= q/quiet v/verbose h/help V/version
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
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "plan" -d 'Show what a run would do, and every reason for which it would be refused'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "diagnose" -d 'Say what state a rollout is in, why, and what to do next'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "status" -d 'Show how far a rollout has come: stages, clusters, gates and timers'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "wait" -d 'Wait until an update run has got somewhere, or cannot get there'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "collect" -d 'Save everything that a diagnosis reads in one file'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "doctor" -d 'Check the hub, your permissions, the controller and the member agents'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "list" -d 'List the update runs and how they are'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "approvals" -d 'List the approvals that runs wait for, and those that were given'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "strategies" -d 'List the update strategies, and which runs use them'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "history" -d 'Show which runs rolled out which version of a placement, and what of it still holds'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "snapshots" -d 'List the versions of a placement\'s content, show one, or compare two'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "explain" -d 'Explain a finding at length, offline'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "schema" -d 'Print the JSON schema of a machine-readable output'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "version" -d 'Print the version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "completion" -d 'Print a shell\'s completion script'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l placement -d 'The placement to roll out: a name, crp/NAME, or with -n rp/NAME' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l strategy -d 'The update strategy: a name, csus/NAME, or with -n sus/NAME' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l strategy-file -d 'Take the strategy from this file, or standard input (-), and say which rules of the API it breaks; --strategy says which of several' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l snapshot -d 'The snapshot: its index, or latest [default: the content as it is when the run is made]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l run -d 'The name that the run is to have: approval requests are named after it' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -s o -l output -d 'The format' -r -f -a "text\t''
json\t''
yaml\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l diff -d 'Show what of the content changes for the clusters'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l show-secrets -d 'With --diff: show secrets as they are'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l member-context -d 'Look into a member cluster too, with a context of the kubeconfig, at what does not become available there; may be repeated' -r
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
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l all -d 'Diagnose every update run of the scope'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s A -l all-namespaces -d 'With --all: of both scopes and all namespaces'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l active -d 'With --all: only runs that are not over'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l member-contexts-from-kubeconfig -d 'Look into every member cluster in trouble that has a context of its name, or of the name fleet-member-CLUSTER'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l exit-zero -d 'Exit with 0 whatever the verdict'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand diagnose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -s o -l output -d 'The format; with --watch json prints one document a line, yaml one after each ---' -r -f -a "text\t''
json\t''
yaml\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -s w -l watch -d 'Follow the rollout until its run ends: on a terminal the tree is drawn again, elsewhere each change is a line'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l exit-zero -d 'Exit with 0 whatever the verdict'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l for -d 'What to wait for: the first of these that is met' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l timeout -d 'How long to wait at most, such as 90s or 30m; 0 only looks [default: no limit]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -s o -l output -d 'How the last state is printed' -r -f -a "text\t''
json\t''
yaml\t''
name\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l keep-waiting -d 'Go on waiting while a person has to act: end only when the run is over, or after --timeout'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand wait" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -s o -l output-file -d 'The file to write, compressed when its name ends in .gz [default: standard output]' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l member-context -d 'Look into a member cluster too, with a context of the kubeconfig, at what does not become available there; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l show-secrets -d 'Leave Secrets and credentials as they are'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l member-contexts-from-kubeconfig -d 'Look into every member cluster in trouble that has a context of its name, or of the name fleet-member-CLUSTER'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand collect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l rbac -d 'Print the manifest of a role instead: reader may do everything that only reads' -r -f -a "reader\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -s o -l output -d 'The format' -r -f -a "text\t''
json\t''
yaml\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l placement -d 'Only runs on this placement: a name, crp/NAME, or with -n rp/NAME' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -s o -l output -d 'The format [default: table]' -r -f -a "table\t'A table'
wide\t'A table with more columns'
json\t'A JSON document'
yaml\t'A YAML document'
name\t'TYPE.GROUP/NAME, one a line'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -s A -l all-namespaces -d 'Look in both scopes and all namespaces'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l active -d 'Only runs that are not over'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l no-headers -d 'Leave out the titles of the columns'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -s o -l output -d 'The format [default: table]' -r -f -a "table\t'A table'
wide\t'A table with more columns'
json\t'A JSON document'
yaml\t'A YAML document'
name\t'TYPE.GROUP/NAME, one a line'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -s A -l all-namespaces -d 'Look in both scopes and all namespaces'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l pending -d 'Only those that a person has to answer: pending, ignored, withheld'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l no-headers -d 'Leave out the titles of the columns'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand approvals" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -s o -l output -d 'The format [default: table]' -r -f -a "table\t'A table'
wide\t'A table with more columns'
json\t'A JSON document'
yaml\t'A YAML document'
name\t'TYPE.GROUP/NAME, one a line'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -s A -l all-namespaces -d 'Look in both scopes and all namespaces'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l no-headers -d 'Leave out the titles of the columns'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -f -a "show" -d 'Show one strategy: its stages, gates and runs'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and not __fish_seen_subcommand_from show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -s o -l output -d 'The format [default: table]' -r -f -a "table\t'A table'
wide\t'A table with more columns'
json\t'A JSON document'
yaml\t'A YAML document'
name\t'TYPE.GROUP/NAME, one a line'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l no-headers -d 'Leave out the titles of the columns'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one strategy: its stages, gates and runs'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand strategies; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -s o -l output -d 'The format [default: table]' -r -f -a "table\t'A table'
wide\t'A table with more columns'
json\t'A JSON document'
yaml\t'A YAML document'
name\t'TYPE.GROUP/NAME, one a line'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l no-headers -d 'Leave out the titles of the columns'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -s o -l output -d 'The format [default: table]' -r -f -a "table\t'A table'
wide\t'A table with more columns'
json\t'A JSON document'
yaml\t'A YAML document'
name\t'TYPE.GROUP/NAME, one a line'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l no-headers -d 'Leave out the titles of the columns'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -a "show" -d 'Show the resources in one version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -a "diff" -d 'Compare two versions, resource by resource'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and not __fish_seen_subcommand_from show diff help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -s o -l output -d 'The format [default: table]' -r -f -a "table\t'A table'
wide\t'A table with more columns'
json\t'A JSON document'
yaml\t'A YAML document'
name\t'TYPE.GROUP/NAME, one a line'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l show-secrets -d 'Show secrets as they are'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l no-headers -d 'Leave out the titles of the columns'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -s f -l filename -d 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated' -r -F
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l now -d 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -s o -l output -d 'The format [default: table]' -r -f -a "table\t'A table'
wide\t'A table with more columns'
json\t'A JSON document'
yaml\t'A YAML document'
name\t'TYPE.GROUP/NAME, one a line'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l show-secrets -d 'Show secrets as they are'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l exit-code -d 'Exit with 3 when the two differ'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l no-headers -d 'Leave out the titles of the columns'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the resources in one version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Compare two versions, resource by resource'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand snapshots; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s o -l output -d 'The format' -r -f -a "text\t''
markdown\t''
json\t''
yaml\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l list -d 'List all findings'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s o -l output -d 'The format' -r -f -a "text\t''
json\t''
yaml\t''"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s n -l namespace -d 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l context -d 'The kubeconfig context of the hub' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l kubeconfig -d 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s s -l server -d 'The address of the hub\'s API server' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l tls-server-name -d 'The name that the server\'s certificate must have' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l as -d 'The user to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l as-uid -d 'The uid to impersonate' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l request-timeout -d 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever' -r
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Always'
never\t'Never'"
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anyone may listen and answer'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s v -l verbose -d 'Show everything: all clusters, values and consequences'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "plan" -d 'Show what a run would do, and every reason for which it would be refused'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "diagnose" -d 'Say what state a rollout is in, why, and what to do next'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "status" -d 'Show how far a rollout has come: stages, clusters, gates and timers'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "wait" -d 'Wait until an update run has got somewhere, or cannot get there'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "collect" -d 'Save everything that a diagnosis reads in one file'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "doctor" -d 'Check the hub, your permissions, the controller and the member agents'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "list" -d 'List the update runs and how they are'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "approvals" -d 'List the approvals that runs wait for, and those that were given'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "strategies" -d 'List the update strategies, and which runs use them'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "history" -d 'Show which runs rolled out which version of a placement, and what of it still holds'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "snapshots" -d 'List the versions of a placement\'s content, show one, or compare two'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "explain" -d 'Explain a finding at length, offline'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "schema" -d 'Print the JSON schema of a machine-readable output'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "version" -d 'Print the version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "completion" -d 'Print a shell\'s completion script'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and not __fish_seen_subcommand_from plan diagnose status wait collect doctor list approvals strategies history snapshots explain schema version completion help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and __fish_seen_subcommand_from strategies" -f -a "show" -d 'Show one strategy: its stages, gates and runs'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and __fish_seen_subcommand_from snapshots" -f -a "show" -d 'Show the resources in one version'
complete -c kubectl-fleet-stage -n "__fish_kubectl_fleet_stage_using_subcommand help; and __fish_seen_subcommand_from snapshots" -f -a "diff" -d 'Compare two versions, resource by resource'
