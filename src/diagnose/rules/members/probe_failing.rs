//! A container runs and does not pass a probe.

use crate::diagnose::case::Case;
use crate::diagnose::looks::{self, per_pod};
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::member::{Probe, State};

/// A container of the newest template with a probe runs and is not ready, or the kubelet ends it
/// while its liveness or startup probe fails. Source: kubernetes, pkg/kubelet/prober/prober.go.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS906",
    name: "probe-failing",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::Work],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    per_pod(
        case,
        rule,
        |trouble| match trouble.state {
            State::Probe { probe, event } => Some((probe, event)),
            _ => None,
        },
        |group, mut finding| {
            let probes: std::collections::BTreeSet<_> =
                group.found().map(|(_, (_, (probe, _)))| *probe).collect();
            let which = if probes.len() == 1 {
                match probes.first() {
                    Some(Probe::Startup) => "does not pass its startup probe",
                    Some(Probe::Liveness) => "restarts repeatedly because its liveness probe fails",
                    _ => "runs but does not pass its readiness probe",
                }
            } else {
                "does not pass its probes"
            };
            finding = group.says(
                finding,
                &format!("its {} {which}, in {}", group.containers(), group.pods()),
            );
            for (cluster, (trouble, (_, event))) in group.shown() {
                finding = finding.evidence_in(
                    cluster,
                    looks::pod(trouble),
                    looks::path(trouble, "ready"),
                    "false",
                );
                if let Some(event) = event {
                    finding = looks::event(finding, cluster, event);
                }
            }
            let (pod, container) = (group.pod(), group.container());
            finding = finding.look(
                "Check the result of the probe.",
                Some(group.kubectl("describe").arg("pod").arg(pod)),
            );
            finding = finding.look(
                "Read the program's log.",
                Some(group.kubectl("logs").arg(pod).flag("-c", container)),
            );
            finding = finding.fix(
                "Fix what the program waits for on the member, such as a database or another \
                 service.",
                None,
            );
            finding = group.goes_on(finding);
            group.new_run(
                finding,
                format!(
                    "Or fix the probe in {} on the hub and start a new run, if it uses a wrong \
                     port or path or starts too early.",
                    group.on_hub()
                ),
            )
        },
    )
}
