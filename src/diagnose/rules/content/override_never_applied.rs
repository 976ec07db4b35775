//! An override names the placement in a way that no update run finds.

use crate::diagnose::rules::prelude::*;
use crate::problems::override_never_applied;
use crate::rollout::overrides::is_lost;

/// The run says nothing of it: it succeeds, and the clusters have the content without the override.
/// Source: updaterun/initialization.go:recordOverrideSnapshots passes the placement's bare name,
/// utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot compares NAMESPACE/NAME.
pub const RULE: Rule = Rule::warning("FS707", "override-never-applied", Whole(check))
    .reads(&[Concept::OverrideSnapshot]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let placement = cx.placement_object();
    let staged = cx.rollout.is_some()
        || cx
            .inventory
            .placement
            .present()
            .is_some_and(crate::kubefleet::placement::Placement::is_external);
    if !staged {
        return Vec::new();
    }
    let overrides = cx.inventory.overrides.iter();
    overrides
        .filter(|snapshot| snapshot.is_latest() && is_lost(snapshot, &placement))
        .map(|snapshot| {
            let finding = rule.told(override_never_applied(snapshot, &placement));
            match cx.new_run_command() {
                Some(command) => finding.fix_with(
                    "Then start a new run: a run takes overrides only when it is initialized.",
                    command,
                ),
                None => finding,
            }
        })
        .collect()
}
