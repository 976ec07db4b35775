
use builtin;
use str;

set edit:completion:arg-completer[kubectl-fleet-stage] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'kubectl-fleet-stage'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'kubectl-fleet-stage'= {
            cand -n 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --namespace 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --context 'The kubeconfig context of the hub, repeated in the commands that a report suggests'
            cand --kubeconfig 'The kubeconfig file, repeated in the commands that a report suggests'
            cand --as 'The user to impersonate, repeated in the commands that a report suggests'
            cand --color 'When to use colour'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Show everything: all clusters, values and consequences'
            cand --verbose 'Show everything: all clusters, values and consequences'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand diagnose 'Say what state a rollout is in, why, and what to do next'
            cand explain 'Explain a finding at length, offline'
            cand schema 'Print the JSON schema of a machine-readable output'
            cand version 'Print the version'
            cand completion 'Print a shell''s completion script'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'kubectl-fleet-stage;diagnose'= {
            cand -f 'Read objects from a file, a directory, or standard input (-); may be repeated'
            cand --filename 'Read objects from a file, a directory, or standard input (-); may be repeated'
            cand --now 'The moment to judge for, as RFC 3339 [default: when the objects were collected, else the newest time in them]'
            cand -o 'The format of the report'
            cand --output 'The format of the report'
            cand --min-severity 'Show only findings of at least this severity: info, warning or error'
            cand --suppress 'Leave out a finding by code or name, everywhere or about one object; may be repeated'
            cand --fail-on 'Exit with 3 instead of 0 when a finding of at least this severity is shown'
            cand -n 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --namespace 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --context 'The kubeconfig context of the hub, repeated in the commands that a report suggests'
            cand --kubeconfig 'The kubeconfig file, repeated in the commands that a report suggests'
            cand --as 'The user to impersonate, repeated in the commands that a report suggests'
            cand --color 'When to use colour'
            cand --all 'Diagnose every update run of the scope'
            cand -A 'With --all: of both scopes and all namespaces'
            cand --all-namespaces 'With --all: of both scopes and all namespaces'
            cand --active 'With --all: only runs that are not over'
            cand --exit-zero 'Exit with 0 whatever the verdict'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Show everything: all clusters, values and consequences'
            cand --verbose 'Show everything: all clusters, values and consequences'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-fleet-stage;explain'= {
            cand -o 'The format'
            cand --output 'The format'
            cand -n 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --namespace 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --context 'The kubeconfig context of the hub, repeated in the commands that a report suggests'
            cand --kubeconfig 'The kubeconfig file, repeated in the commands that a report suggests'
            cand --as 'The user to impersonate, repeated in the commands that a report suggests'
            cand --color 'When to use colour'
            cand --list 'List all findings'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Show everything: all clusters, values and consequences'
            cand --verbose 'Show everything: all clusters, values and consequences'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-fleet-stage;schema'= {
            cand -n 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --namespace 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --context 'The kubeconfig context of the hub, repeated in the commands that a report suggests'
            cand --kubeconfig 'The kubeconfig file, repeated in the commands that a report suggests'
            cand --as 'The user to impersonate, repeated in the commands that a report suggests'
            cand --color 'When to use colour'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Show everything: all clusters, values and consequences'
            cand --verbose 'Show everything: all clusters, values and consequences'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-fleet-stage;version'= {
            cand -o 'The format'
            cand --output 'The format'
            cand -n 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --namespace 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --context 'The kubeconfig context of the hub, repeated in the commands that a report suggests'
            cand --kubeconfig 'The kubeconfig file, repeated in the commands that a report suggests'
            cand --as 'The user to impersonate, repeated in the commands that a report suggests'
            cand --color 'When to use colour'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Show everything: all clusters, values and consequences'
            cand --verbose 'Show everything: all clusters, values and consequences'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-fleet-stage;completion'= {
            cand -n 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --namespace 'Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without it, at the cluster-scoped kinds'
            cand --context 'The kubeconfig context of the hub, repeated in the commands that a report suggests'
            cand --kubeconfig 'The kubeconfig file, repeated in the commands that a report suggests'
            cand --as 'The user to impersonate, repeated in the commands that a report suggests'
            cand --color 'When to use colour'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Show everything: all clusters, values and consequences'
            cand --verbose 'Show everything: all clusters, values and consequences'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-fleet-stage;help'= {
            cand diagnose 'Say what state a rollout is in, why, and what to do next'
            cand explain 'Explain a finding at length, offline'
            cand schema 'Print the JSON schema of a machine-readable output'
            cand version 'Print the version'
            cand completion 'Print a shell''s completion script'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'kubectl-fleet-stage;help;diagnose'= {
        }
        &'kubectl-fleet-stage;help;explain'= {
        }
        &'kubectl-fleet-stage;help;schema'= {
        }
        &'kubectl-fleet-stage;help;version'= {
        }
        &'kubectl-fleet-stage;help;completion'= {
        }
        &'kubectl-fleet-stage;help;help'= {
        }
    ]
    $completions[$command]
}
