//! An override that matches the content cannot be used.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps::see_override;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::rollout::overrides::origin;
use crate::words::Command;

/// The controller does not say which override it is; the snapshots of those in force do.
/// Source: utils/overrider/overrider.go:IsClusterMatched, updaterun/initialization.go:recordOverrideSnapshots.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS118",
    name: "override-invalid",
    severity: Severity::Error,
    reads: &[Concept::ClusterOverrideSnapshot, Concept::OverrideSnapshot],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::OverridePolicyNil => Some(invalid(
                case,
                rule,
                |snapshot| snapshot.spec.content.policy.is_none(),
                "has no `spec.policy`",
                "Give each override a `spec.policy` with its rules",
            )),
            Cause::OverrideSelectorInvalid { selector, error } => Some(invalid(
                case,
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
        })
        .collect()
}

/// Whether the controller took the override as it is now for the run's placement, as far as its
/// own reference says.
fn was_in_force(case: &Case<'_>, snapshot: &OverrideSnapshot) -> bool {
    let failed = case.failure.as_ref();
    let failed = failed.and_then(|failure| failure.condition.since);
    let for_others = snapshot.spec.content.placement.as_deref();
    let for_others = for_others.is_some_and(|only| only.name != case.inventory.placement_name);
    let before = failed
        .zip(snapshot.meta.created)
        .is_none_or(|(failed, created)| created <= failed);
    snapshot.is_latest() && before && !for_others
}

fn invalid(
    case: &Case<'_>,
    rule: &Rule,
    is_at_fault: impl Fn(&OverrideSnapshot) -> bool,
    what: &str,
    repair: &str,
) -> Finding {
    let at_fault: Vec<_> = case
        .inventory
        .overrides
        .iter()
        .filter(|snapshot| was_in_force(case, snapshot) && is_at_fault(snapshot))
        .collect();
    if let ([snapshot], true) = (at_fault.as_slice(), case.inventory.overrides.is_complete()) {
        return known(case, rule, snapshot, what, repair);
    }
    let run = case.run_object();
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
        case,
        rule,
        case.placement_object(),
        format!(
            "An override that applies to the content of {} {what}. The controller found this {}.",
            case.placement_object(),
            failing::when(case)
        ),
    )
    .look(
        "Find the override: the controller does not name it.",
        Some(list.flag("-o", "yaml")),
    )
    .fix(format!("{repair}."), None);
    failing::then_new_run(case, finding)
}

/// The same where the snapshots leave no doubt about which override it is.
fn known(
    case: &Case<'_>,
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
        case.placement_object(),
        failing::when(case)
    );
    let mut finding = failing::finding(case, rule, subject, message);
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
        .look("Inspect the override.", Some(see_override(snapshot)))
        .fix(format!("{repair}."), None);
    failing::then_new_run(case, finding)
}
