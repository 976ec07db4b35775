//! A stage sorts its clusters by a label that is not a whole number on one of them.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::finding::enumerate;
use crate::diagnose::placing::Placing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps;
use crate::kubefleet::Concept;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::Cause;
use crate::rollout::placing::sorting_number;

/// The controller names the first such cluster only; a missing label prints as an empty value.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS112",
    name: "sorting-label-invalid",
    severity: Severity::Error,
    reads: &[Concept::Strategy, Concept::MemberCluster, Concept::Binding],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::SortingLabelInvalid {
                key,
                value,
                cluster,
                ..
            } => Some(invalid(case, rule, key, value.as_deref(), cluster)),
            _ => None,
        })
        .collect()
}

/// Whether the controller can sort by the label.
fn sorts(member: &MemberCluster, key: &str) -> bool {
    sorting_number(member, key).is_some()
}

/// A label that may be meant: its key is nearly the one that is looked for, and its value a number.
fn near(member: &MemberCluster, key: &str) -> Option<String> {
    let numbers = member.meta.labels.keys().filter(|key| sorts(member, key));
    let near = failing::similar(key, numbers.map(String::as_str))?;
    let value = member.meta.label(near)?;
    Some(format!(", but has {near}={value}"))
}

fn invalid(case: &Case<'_>, rule: &Rule, key: &str, value: Option<&str>, cluster: &str) -> Finding {
    let recorded = Placing::recorded(case);
    // The stage that the text speaks of: it sorts by the label and selects the cluster.
    let stage = recorded.as_ref().and_then(|placing| {
        let mut stages = placing
            .strategy
            .stages
            .iter()
            .filter(|stage| stage.sorting_label == key);
        let of_cluster = stages.clone().find(|stage| {
            placing
                .of_stage(&stage.name)
                .any(|placed| placed.name == cluster)
        });
        of_cluster.or_else(|| match (stages.next(), stages.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        })
    });
    let mut all: Vec<&MemberCluster> = recorded
        .iter()
        .zip(stage)
        .flat_map(|(placing, stage)| placing.of_stage(&stage.name))
        .filter_map(|placed| placed.member)
        .filter(|member| !sorts(member, key))
        .collect();
    let own = case.inventory.member(cluster);
    if let Some(own) = own
        && !sorts(own, key)
        && !all.iter().any(|member| member.meta.name == cluster)
    {
        all.push(own);
    }
    let when = failing::when(case);
    let mended = all.is_empty() && own.is_some_and(|own| sorts(own, key));
    let others: Vec<&str> = all
        .iter()
        .map(|member| member.meta.name.as_str())
        .filter(|name| *name != cluster)
        .collect();
    let others_have = all.iter().filter(|member| member.meta.name != cluster);
    let others_have = others_have.map(|member| match member.meta.label(key) {
        Some(value) => format!("{} ({key}={value})", member.meta.name),
        None => format!("{} (no {key})", member.meta.name),
    });
    let by = stage.map_or_else(String::new, |stage| {
        format!(" (stage {} sorts by it)", stage.name)
    });
    let what = match value {
        None => format!(
            "MemberCluster {cluster} lacked the label {key}{by}{}",
            own.and_then(|own| near(own, key)).unwrap_or_default()
        ),
        Some(value) => format!(
            "MemberCluster {cluster} had the label {key}={value}, which is not a whole number{by}"
        ),
    };
    let tail = if mended {
        ", but it has a whole number now".to_owned()
    } else if others.is_empty() {
        String::new()
    } else {
        format!("; {} cannot be sorted by it either", enumerate(others_have))
    };
    let message = format!("{what} {when}{tail}.");
    let object = if others.is_empty() {
        case.object(Concept::MemberCluster, cluster)
    } else {
        let strategy = case.run().map_or("", |run| run.spec.strategy.as_str());
        case.object(Concept::Strategy, strategy)
    };
    let mut finding = failing::finding(case, rule, &object, message)
        .clusters(others.iter().copied().chain(std::iter::once(cluster)));
    if let Some(stage) = stage {
        finding = finding.stage(&stage.name);
    }
    for member in own.into_iter().chain(
        all.iter()
            .copied()
            .filter(|member| member.meta.name != cluster),
    ) {
        if finding.evidence.len() > 8 {
            break;
        }
        finding = finding.evidence(
            member.object(),
            format!("metadata.labels[{key}]"),
            member.meta.label(key).unwrap_or("absent").to_owned(),
        );
    }
    if mended {
        return failing::just_new_run(case, finding);
    }
    finding = finding.fix(
        format!(
            "Set the label of {} to a whole number. Or remove `sortingLabelKey` from the stage, \
             which then sorts by name.",
            if others.is_empty() {
                cluster.to_owned()
            } else {
                "each of these clusters".to_owned()
            }
        ),
        Some(steps::label("NAME", format!("{key}=NUMBER")).switch("--overwrite")),
    );
    failing::then_new_run(case, finding)
}
