//! A container is killed because it runs out of memory.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, pods_in};
use crate::member::PodState;

/// A container of the newest template ended as `OOMKilled`.
pub const RULE: Rule = Rule::on_member("FS903", "container-out-of-memory", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::OutOfMemory(ended) => ended);
    found.describe(|group, mut finding| {
        let limits: BTreeSet<_> = group
            .found()
            .filter_map(|(_, (trouble, _))| trouble.container?.spec)
            .filter_map(|container| container.resources.limits.get("memory"))
            .collect();
        let limit = if limits.is_empty() {
            String::new()
        } else {
            format!(" (limit {})", enumerate(&limits))
        };
        let why = format!(
            "its {} is killed because it runs out of memory{limit}, in {}",
            group.containers(),
            group.pods()
        );
        finding = group.says(finding, &why);
        for (cluster, (trouble, ended)) in group.shown() {
            finding = member_findings::container_end(finding, cluster, trouble, ended);
            finding = member_findings::restarts(finding, cluster, trouble);
        }
        let action = "Read the log from before it was killed.";
        finding = finding.look_with(action, group.previous_logs());
        if limits.is_empty() {
            return finding.repair_there_or_on_hub(
                group,
                "Add memory to the nodes, or move other pods away: the container has no \
                 limit of its own, so its node ran out of memory.",
                "Or reduce the memory use of {} on the hub, and start a new run.",
            );
        }
        finding.repair_on_hub(
            group,
            "Raise the memory limit in {} on the hub, or with an override for these clusters, \
             or reduce the program's memory use. Then start a new run.",
        )
    })
}
