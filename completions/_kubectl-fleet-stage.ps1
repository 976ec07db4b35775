
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
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub, repeated in the commands that a report suggests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file, repeated in the commands that a report suggests')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate, repeated in the commands that a report suggests')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('diagnose', 'diagnose', [CompletionResultType]::ParameterValue, 'Say what state a rollout is in, why, and what to do next')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a finding at length, offline')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON schema of a machine-readable output')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-fleet-stage;diagnose' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-); may be repeated')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Read objects from a file, a directory, or standard input (-); may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment to judge for, as RFC 3339 [default: when the objects were collected, else the newest time in them]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format of the report')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format of the report')
            [CompletionResult]::new('--min-severity', '--min-severity', [CompletionResultType]::ParameterName, 'Show only findings of at least this severity: info, warning or error')
            [CompletionResult]::new('--suppress', '--suppress', [CompletionResultType]::ParameterName, 'Leave out a finding by code or name, everywhere or about one object; may be repeated')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 3 instead of 0 when a finding of at least this severity is shown')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub, repeated in the commands that a report suggests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file, repeated in the commands that a report suggests')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate, repeated in the commands that a report suggests')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Diagnose every update run of the scope')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'With --all: of both scopes and all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'With --all: of both scopes and all namespaces')
            [CompletionResult]::new('--active', '--active', [CompletionResultType]::ParameterName, 'With --all: only runs that are not over')
            [CompletionResult]::new('--exit-zero', '--exit-zero', [CompletionResultType]::ParameterName, 'Exit with 0 whatever the verdict')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;explain' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub, repeated in the commands that a report suggests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file, repeated in the commands that a report suggests')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate, repeated in the commands that a report suggests')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List all findings')
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
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub, repeated in the commands that a report suggests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file, repeated in the commands that a report suggests')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate, repeated in the commands that a report suggests')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
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
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub, repeated in the commands that a report suggests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file, repeated in the commands that a report suggests')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate, repeated in the commands that a report suggests')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
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
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig context of the hub, repeated in the commands that a report suggests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file, repeated in the commands that a report suggests')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user to impersonate, repeated in the commands that a report suggests')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show everything: all clusters, values and consequences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-fleet-stage;help' {
            [CompletionResult]::new('diagnose', 'diagnose', [CompletionResultType]::ParameterValue, 'Say what state a rollout is in, why, and what to do next')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a finding at length, offline')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON schema of a machine-readable output')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-fleet-stage;help;diagnose' {
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
