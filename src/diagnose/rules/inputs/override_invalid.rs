//! An override that matches the content cannot be used.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::problems::{Problem, override_invalid, override_repair};
use crate::words::CommandLine;

/// The controller does not say which override it is; the snapshots of those in force do.
/// Source: utils/overrider/overrider.go:IsClusterMatched, updaterun/initialization.go:recordOverrideSnapshots.
pub const RULE: Rule = Rule::refusal("FS118", "override-invalid", check)
    .reads(&[Concept::ClusterOverrideSnapshot, Concept::OverrideSnapshot])
    .content();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let problem = match cause {
        Cause::OverridePolicyNil => invalid(
            cx,
            |snapshot| snapshot.spec.content.policy.is_none(),
            "has no `spec.policy`",
            true,
        ),
        Cause::OverrideSelectorInvalid { selector, error } => invalid(
            cx,
            |snapshot| {
                let mut labels = snapshot.cluster_labels();
                labels.any(|labels| labels.problem().is_some())
            },
            &format!("has the cluster selector {selector}, which is not valid ({error})"),
            false,
        ),
        _ => return None,
    };
    Some((problem, false))
}

/// Whether the controller took the override as it is now for the run's placement, as far as its
/// own reference says.
fn was_in_force(cx: &DiagnosisContext<'_>, snapshot: &OverrideSnapshot) -> bool {
    let failed = cx.failure.as_ref();
    let failed = failed.and_then(|failure| failure.condition.since);
    let for_others = snapshot.spec.content.placement.as_deref();
    let for_others = for_others.is_some_and(|only| only.name != cx.inventory.placement_name);
    let before = failed
        .zip(snapshot.meta.created)
        .is_none_or(|(failed, created)| created <= failed);
    snapshot.is_latest() && before && !for_others
}

fn invalid(
    cx: &DiagnosisContext<'_>,
    is_at_fault: impl Fn(&OverrideSnapshot) -> bool,
    what: &str,
    without_rules: bool,
) -> Problem {
    let overrides = &cx.inventory.overrides;
    let placement = cx.placement_object();
    let at_fault: Vec<_> = overrides
        .iter()
        .filter(|snapshot| was_in_force(cx, snapshot) && is_at_fault(snapshot))
        .collect();
    if let ([snapshot], true) = (at_fault.as_slice(), overrides.is_complete()) {
        return override_invalid(snapshot, &placement, what, cx.past(""));
    }
    let get = CommandLine::kubectl("get");
    let list = if placement.namespace.is_empty() {
        get.arg(
            "clusterresourceoverrides.placement.kubernetes-fleet.io,resourceoverrides.placement.kubernetes-fleet.io",
        )
        .switch("-A")
    } else {
        get.arg("resourceoverrides.placement.kubernetes-fleet.io")
            .namespace(&placement.namespace)
    };
    let message = format!(
        "An override that applies to the content of {placement} {what}. The controller found this \
         {}.",
        cx.when
    );
    Problem::new(placement, message)
        .look_with(
            "Find the override: the controller does not name it.",
            list.flag("-o", "yaml"),
        )
        .fix(override_repair(without_rules))
}
