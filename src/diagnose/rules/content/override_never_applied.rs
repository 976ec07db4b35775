//! An override names the placement in a way that no update run finds.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps::see_override;
use crate::kubefleet::Concept;
use crate::rollout::overrides::{is_lost, origin};

/// The run says nothing of it: it succeeds, and the clusters have the content without the override.
/// Source: updaterun/initialization.go:recordOverrideSnapshots passes the placement's bare name,
/// utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot compares NAMESPACE/NAME.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS707",
    name: "override-never-applied",
    severity: Severity::Warning,
    reads: &[Concept::OverrideSnapshot],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let placement = case.placement_object();
    let staged = case.rollout.is_some()
        || case
            .inventory
            .placement
            .present()
            .is_some_and(crate::kubefleet::placement::Placement::is_external);
    if !staged {
        return Vec::new();
    }
    let overrides = case.inventory.overrides.iter();
    overrides
        .filter(|snapshot| snapshot.is_latest() && is_lost(snapshot, &placement))
        .map(|snapshot| {
            let (namespace, name) = (&snapshot.meta.namespace, origin(snapshot));
            let finding = rule
                .finding(
                    Subject::new("ResourceOverride", namespace, name),
                    format!(
                        "ResourceOverride {name} never applies to update runs of {}: runs do not \
                         find an override whose placement reference has `scope: Namespaced`.",
                        placement.name
                    ),
                )
                .evidence(
                    snapshot.object(),
                    "spec.overrideSpec.placement.scope",
                    "Namespaced",
                )
                .look("Inspect the override.", Some(see_override(snapshot)))
                .fix(
                    "Delete the override and create it again without `spec.placement`, which is \
                     immutable. It then applies to every placement with the objects that it \
                     selects.",
                    None,
                );
            match case.new_run_command() {
                Some(command) => finding.fix(
                    "Then start a new run: a run takes overrides only when it is initialized.",
                    Some(command),
                ),
                None => finding,
            }
        })
        .collect()
}
