//! A container that runs before the others does not come to an end.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{pods_in, status_field};
use crate::kubefleet::duration;
use crate::member::PodState;

/// An init container of the newest template, and no sidecar, has run for a minute.
pub const RULE: Rule = Rule::on_member("FS907", "init-container-running", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::InitRuns(runs) => runs);
    found.describe(|group, mut finding| {
        let longest = group.found().filter_map(|(_, (_, runs))| *runs).max();
        let long = duration::lasting(longest);
        let why = format!(
            "its {} has run{long} in {} and has not finished, so the other containers wait",
            group.containers(),
            group.pods()
        );
        finding = group.says(finding, &why);
        for (cluster, (trouble, _)) in group.shown() {
            let since = trouble
                .container
                .and_then(|place| place.status.state.running.as_deref()?.since);
            finding = status_field(finding, cluster, trouble, "state.running.startedAt", since);
        }
        finding
            .look_with("Read its log to see what it waits for.", group.logs())
            .repair_there_or_on_hub(
                group,
                "Provide on the member what it waits for: a database, another service, or a \
                 migration.",
                "Or fix {} on the hub and start a new run, if it should not wait.",
            )
    })
}
