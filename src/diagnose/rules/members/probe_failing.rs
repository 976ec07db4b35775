//! A container runs and does not pass a probe.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, pods_in, status_field};
use crate::member::{PodState, Probe};

/// A container of the newest template with a probe runs and is not ready, or the kubelet ends it
/// while its liveness or startup probe fails. Source: kubernetes, pkg/kubelet/prober/prober.go.
pub const RULE: Rule = Rule::on_member("FS906", "probe-failing", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::Probe { probe, event } => (probe, event));
    found.describe(|group, mut finding| {
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
        let why = format!("its {} {which}, in {}", group.containers(), group.pods());
        finding = group.says(finding, &why);
        for (cluster, (trouble, (_, event))) in group.shown() {
            finding = status_field(finding, cluster, trouble, "ready", "false");
            if let Some(event) = event {
                finding = member_findings::event(finding, cluster, event);
            }
        }
        finding
            .look_with("Check the result of the probe.", group.describe_pod())
            .look_with("Read the program's log.", group.logs())
            .repair_there_or_on_hub(
                group,
                "Fix what the program waits for on the member, such as a database or another \
                 service.",
                "Or fix the probe in {} on the hub and start a new run, if it uses a wrong \
                 port or path or starts too early.",
            )
    })
}
