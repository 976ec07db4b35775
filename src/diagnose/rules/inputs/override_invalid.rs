//! An override that matches the content cannot be used.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::messages::Cause;
use crate::words::Command;

/// The controller does not say which override it is, and overrides themselves are not read.
/// Source: utils/overrider/overrider.go:IsClusterMatched, updaterun/initialization.go:recordOverrideSnapshots.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS118",
    name: "override-invalid",
    severity: Severity::Error,
    reads: &[],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::OverridePolicyNil => Some(invalid(
                case,
                rule,
                "has no `spec.policy`",
                "Give each override a `spec.policy` with its rules",
            )),
            Cause::OverrideSelectorInvalid { selector, error } => Some(invalid(
                case,
                rule,
                &format!("has the cluster selector {selector}, which is not valid ({error})"),
                "Mend the `clusterSelector` of the override's rules: In and NotIn take at least one \
                 value, Exists and DoesNotExist none",
            )),
            _ => None,
        })
        .collect()
}

fn invalid(case: &Case<'_>, rule: &Rule, what: &str, repair: &str) -> Finding {
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
            "An override that applies to the content of {} {what}, as the controller found {}.",
            case.placement_object(),
            failing::when(case)
        ),
    )
    .look(
        "Find the override, which the controller does not name.",
        Some(list.flag("-o", "yaml")),
    )
    .fix(format!("{repair}."), None);
    failing::then_new_run(case, finding)
}
