//! An override that matches the content cannot be used.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::problems::steps::see_override;
use crate::rollout::overrides::origin;
use crate::words::Command;

/// The controller does not say which override it is; the snapshots of those in force do.
/// Source: utils/overrider/overrider.go:IsClusterMatched, updaterun/initialization.go:recordOverrideSnapshots.
pub const RULE: Rule = Rule::error("FS118", "override-invalid", Check::Cause(check))
    .reads(&[Concept::ClusterOverrideSnapshot, Concept::OverrideSnapshot]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::OverridePolicyNil => Some(invalid(
            cx,
            rule,
            |snapshot| snapshot.spec.content.policy.is_none(),
            "has no `spec.policy`",
            "Give each override a `spec.policy` with its rules",
        )),
        Cause::OverrideSelectorInvalid { selector, error } => Some(invalid(
            cx,
            rule,
            |snapshot| {
                let mut labels = snapshot.cluster_labels();
                labels.any(|labels| labels.problem().is_some())
            },
            &format!("has the cluster selector {selector}, which is not valid ({error})"),
            "Fix the `clusterSelector` of the override's rules: In and NotIn take at least \
                 one value, Exists and DoesNotExist none",
        )),
        _ => None,
    }
}

/// Whether the controller took the override as it is now for the run's placement, as far as its
/// own reference says.
fn was_in_force(cx: &Context<'_>, snapshot: &OverrideSnapshot) -> bool {
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
    cx: &Context<'_>,
    rule: &Rule,
    is_at_fault: impl Fn(&OverrideSnapshot) -> bool,
    what: &str,
    repair: &str,
) -> Finding {
    let at_fault: Vec<_> = cx
        .inventory
        .overrides
        .iter()
        .filter(|snapshot| was_in_force(cx, snapshot) && is_at_fault(snapshot))
        .collect();
    if let ([snapshot], true) = (at_fault.as_slice(), cx.inventory.overrides.is_complete()) {
        return known(cx, rule, snapshot, what, repair);
    }
    let run = cx.run_object();
    let get = Command::kubectl("get");
    let list = if run.namespace.is_empty() {
        get.arg(
            "clusterresourceoverrides.placement.kubernetes-fleet.io,\
             resourceoverrides.placement.kubernetes-fleet.io",
        )
        .switch("-A")
    } else {
        get.arg("resourceoverrides.placement.kubernetes-fleet.io")
            .namespace(&run.namespace)
    };
    let finding = failing::finding(
        cx,
        rule,
        cx.placement_object(),
        format!(
            "An override that applies to the content of {} {what}. The controller found this {}.",
            cx.placement_object(),
            failing::when(cx)
        ),
    )
    .look_with(
        "Find the override: the controller does not name it.",
        list.flag("-o", "yaml"),
    )
    .fix(format!("{repair}."));
    failing::then_new_run(cx, finding)
}

/// The same where the snapshots leave no doubt about which override it is.
fn known(
    cx: &Context<'_>,
    rule: &Rule,
    snapshot: &OverrideSnapshot,
    what: &str,
    repair: &str,
) -> Finding {
    let object = snapshot.object();
    let name = origin(snapshot);
    let subject = Subject::new(object.kind.origin_kind(), &object.namespace, name);
    let message = format!(
        "{subject} applies to the content of {} and {what}. The controller found this {}.",
        cx.placement_object(),
        failing::when(cx)
    );
    let mut finding = failing::finding(cx, rule, subject, message);
    if snapshot.spec.content.policy.is_none() {
        finding = finding.evidence(&object, "spec.overrideSpec.policy", "absent");
    } else {
        let problems: Vec<_> = snapshot
            .cluster_labels()
            .filter_map(crate::kubefleet::selector::LabelSelector::problem)
            .collect();
        finding = finding.computed(
            &object,
            &["spec.overrideSpec.policy.overrideRules[].clusterSelector"],
            problems.join("; "),
        );
    }
    let finding = finding
        .look_with("Inspect the override.", see_override(snapshot))
        .fix(format!("{repair}."));
    failing::then_new_run(cx, finding)
}
