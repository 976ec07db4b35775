
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'kubectl-fleet-stage' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'kubectl-fleet-stage'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'kubectl-fleet-stage' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Show what a run would do, and every reason for which it would be refused')
            [CompletionResult]::new('diagnose', 'diagnose', [CompletionResultType]::ParameterValue, 'Say what state a rollout is in, why, and what to do next')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show how far a rollout has come: stages, clusters, gates and timers')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until an update run has got somewhere, or cannot get there')
            [CompletionResult]::new('collect', 'collect', [CompletionResultType]::ParameterValue, 'Save everything that a diagnosis reads in one file')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Check the hub, your permissions, the controller and the member agents')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the update runs and how they are')
            [CompletionResult]::new('approvals', 'approvals', [CompletionResultType]::ParameterValue, 'List the approvals that runs wait for, and those that were given')
            [CompletionResult]::new('strategies', 'strategies', [CompletionResultType]::ParameterValue, 'List the update strategies, and which runs use them')
            [CompletionResult]::new('history', 'history', [CompletionResultType]::ParameterValue, 'Show which runs rolled out which version of a placement, and what of it still holds')
            [CompletionResult]::new('snapshots', 'snapshots', [CompletionResultType]::ParameterValue, 'List the versions of a placement''s content, show one, or compare two')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a finding at length, offline')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON schema of a machine-readable output')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-fleet-stage;plan' {
            [CompletionResult]::new('--placement', '--placement', [CompletionResultType]::ParameterName, 'The placement to roll out: a name, crp/NAME, or with -n rp/NAME')
            [CompletionResult]::new('--strategy', '--strategy', [CompletionResultType]::ParameterName, 'The update strategy: a name, csus/NAME, or with -n sus/NAME')
            [CompletionResult]::new('--strategy-file', '--strategy-file', [CompletionResultType]::ParameterName, 'Take the strategy from this file, or standard input (-), and say which rules of the API it breaks; --strategy says which of several')
            [CompletionResult]::new('--snapshot', '--snapshot', [CompletionResultType]::ParameterName, 'The snapshot: its index, or latest [default: the content as it is when the run is made]')
            [CompletionResult]::new('--run', '--run', [CompletionResultType]::ParameterName, 'The name that the run is to have: approval requests are named after it')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--diff', '--diff', [CompletionResultType]::ParameterName, 'Show what of the content changes for the clusters')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'With --diff: show secrets as they are')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;diagnose' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('--member-context', '--member-context', [CompletionResultType]::ParameterName, 'Look into a member cluster too, with a context of the kubeconfig, at what does not become available there; may be repeated')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format of the report')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format of the report')
            [CompletionResult]::new('--min-severity', '--min-severity', [CompletionResultType]::ParameterName, 'Show only findings of at least this severity: info, warning or error')
            [CompletionResult]::new('--suppress', '--suppress', [CompletionResultType]::ParameterName, 'Leave out a finding by code or name, everywhere or about one object; may be repeated')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 3 instead of 0 when a finding of at least this severity is shown')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Diagnose every update run of the scope')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'With --all: of both scopes and all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'With --all: of both scopes and all namespaces')
            [CompletionResult]::new('--active', '--active', [CompletionResultType]::ParameterName, 'With --all: only runs that are not over')
            [CompletionResult]::new('--member-contexts-from-kubeconfig', '--member-contexts-from-kubeconfig', [CompletionResultType]::ParameterName, 'Look into every member cluster in trouble that has a context of its name, or of the name fleet-member-CLUSTER')
            [CompletionResult]::new('--exit-zero', '--exit-zero', [CompletionResultType]::ParameterName, 'Exit with 0 whatever the verdict')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;status' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format; with --watch json prints one document a line, yaml one after each ---')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format; with --watch json prints one document a line, yaml one after each ---')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Follow the rollout until its run ends: on a terminal the tree is drawn again, elsewhere each change is a line')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Follow the rollout until its run ends: on a terminal the tree is drawn again, elsewhere each change is a line')
            [CompletionResult]::new('--exit-zero', '--exit-zero', [CompletionResultType]::ParameterName, 'Exit with 0 whatever the verdict')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;wait' {
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'What to wait for: the first of these that is met')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait at most, such as 90s or 30m; 0 only looks [default: no limit]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How the last state is printed')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How the last state is printed')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--keep-waiting', '--keep-waiting', [CompletionResultType]::ParameterName, 'Go on waiting while a person has to act: end only when the run is over, or after --timeout')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;collect' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The file to write, compressed when its name ends in .gz [default: standard output]')
            [CompletionResult]::new('--output-file', '--output-file', [CompletionResultType]::ParameterName, 'The file to write, compressed when its name ends in .gz [default: standard output]')
            [CompletionResult]::new('--member-context', '--member-context', [CompletionResultType]::ParameterName, 'Look into a member cluster too, with a context of the kubeconfig, at what does not become available there; may be repeated')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Leave Secrets and credentials as they are')
            [CompletionResult]::new('--member-contexts-from-kubeconfig', '--member-contexts-from-kubeconfig', [CompletionResultType]::ParameterName, 'Look into every member cluster in trouble that has a context of its name, or of the name fleet-member-CLUSTER')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;doctor' {
            [CompletionResult]::new('--rbac', '--rbac', [CompletionResultType]::ParameterName, 'Print the manifest of a role instead: reader may do everything that only reads')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;list' {
            [CompletionResult]::new('--placement', '--placement', [CompletionResultType]::ParameterName, 'Only runs on this placement: a name, crp/NAME, or with -n rp/NAME')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Look in both scopes and all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Look in both scopes and all namespaces')
            [CompletionResult]::new('--active', '--active', [CompletionResultType]::ParameterName, 'Only runs that are not over')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the titles of the columns')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;approvals' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Look in both scopes and all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Look in both scopes and all namespaces')
            [CompletionResult]::new('--pending', '--pending', [CompletionResultType]::ParameterName, 'Only those that a person has to answer: pending, ignored, withheld')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the titles of the columns')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;strategies' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Look in both scopes and all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Look in both scopes and all namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the titles of the columns')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one strategy: its stages, gates and runs')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-fleet-stage;strategies;show' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the titles of the columns')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;strategies;help' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one strategy: its stages, gates and runs')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-fleet-stage;strategies;help;show' {
            break
        }
        'kubectl-fleet-stage;strategies;help;help' {
            break
        }
        'kubectl-fleet-stage;history' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the titles of the columns')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;snapshots' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the titles of the columns')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the resources in one version')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two versions, resource by resource')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-fleet-stage;snapshots;show' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Show secrets as they are')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the titles of the columns')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;snapshots;diff' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-) instead of the hub; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: now; with -f when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format [default: table]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Show secrets as they are')
            [CompletionResult]::new('--exit-code', '--exit-code', [CompletionResultType]::ParameterName, 'Exit with 3 when the two differ')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the titles of the columns')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;snapshots;help' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the resources in one version')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two versions, resource by resource')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-fleet-stage;snapshots;help;show' {
            break
        }
        'kubectl-fleet-stage;snapshots;help;diff' {
            break
        }
        'kubectl-fleet-stage;snapshots;help;help' {
            break
        }
        'kubectl-fleet-stage;explain' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List all findings')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;schema' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;version' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;completion' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file [default: those of KUBECONFIG, else ~/.kube/config]')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the hub''s API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the server''s certificate must have')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The uid to impersonate')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request to the hub may take, such as 10s or 1m; 0 means for ever')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anyone may listen and answer')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;help' {
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Show what a run would do, and every reason for which it would be refused')
            [CompletionResult]::new('diagnose', 'diagnose', [CompletionResultType]::ParameterValue, 'Say what state a rollout is in, why, and what to do next')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show how far a rollout has come: stages, clusters, gates and timers')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until an update run has got somewhere, or cannot get there')
            [CompletionResult]::new('collect', 'collect', [CompletionResultType]::ParameterValue, 'Save everything that a diagnosis reads in one file')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Check the hub, your permissions, the controller and the member agents')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the update runs and how they are')
            [CompletionResult]::new('approvals', 'approvals', [CompletionResultType]::ParameterValue, 'List the approvals that runs wait for, and those that were given')
            [CompletionResult]::new('strategies', 'strategies', [CompletionResultType]::ParameterValue, 'List the update strategies, and which runs use them')
            [CompletionResult]::new('history', 'history', [CompletionResultType]::ParameterValue, 'Show which runs rolled out which version of a placement, and what of it still holds')
            [CompletionResult]::new('snapshots', 'snapshots', [CompletionResultType]::ParameterValue, 'List the versions of a placement''s content, show one, or compare two')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a finding at length, offline')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON schema of a machine-readable output')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-fleet-stage;help;plan' {
            break
        }
        'kubectl-fleet-stage;help;diagnose' {
            break
        }
        'kubectl-fleet-stage;help;status' {
            break
        }
        'kubectl-fleet-stage;help;wait' {
            break
        }
        'kubectl-fleet-stage;help;collect' {
            break
        }
        'kubectl-fleet-stage;help;doctor' {
            break
        }
        'kubectl-fleet-stage;help;list' {
            break
        }
        'kubectl-fleet-stage;help;approvals' {
            break
        }
        'kubectl-fleet-stage;help;strategies' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one strategy: its stages, gates and runs')
            break
        }
        'kubectl-fleet-stage;help;strategies;show' {
            break
        }
        'kubectl-fleet-stage;help;history' {
            break
        }
        'kubectl-fleet-stage;help;snapshots' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the resources in one version')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two versions, resource by resource')
            break
        }
        'kubectl-fleet-stage;help;snapshots;show' {
            break
        }
        'kubectl-fleet-stage;help;snapshots;diff' {
            break
        }
        'kubectl-fleet-stage;help;explain' {
            break
        }
        'kubectl-fleet-stage;help;schema' {
            break
        }
        'kubectl-fleet-stage;help;version' {
            break
        }
        'kubectl-fleet-stage;help;completion' {
            break
        }
        'kubectl-fleet-stage;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
