//! A stage sorts its clusters by a label that is not a whole number on one of them.

use crate::diagnose::failing;
use crate::diagnose::placing::Placing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::member::MemberCluster;
use crate::problems::steps;
use crate::rollout::placing::sorting_number;
use crate::words::closest;

/// The controller names the first such cluster only; a missing label prints as an empty value.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule = Rule::error("FS112", "sorting-label-invalid", Check::Cause(check)).reads(&[
    Concept::Strategy,
    Concept::MemberCluster,
    Concept::Binding,
]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::SortingLabelInvalid {
            key,
            value,
            cluster,
            ..
        } => Some(invalid(cx, rule, key, value.as_deref(), cluster)),
        _ => None,
    }
}

/// Whether the controller can sort by the label.
fn sorts(member: &MemberCluster, key: &str) -> bool {
    sorting_number(member, key).is_some()
}

/// A label that may be meant: its key is nearly the one that is looked for, and its value a number.
fn near(member: &MemberCluster, key: &str) -> Option<String> {
    let numbers = member.meta.labels.keys().filter(|key| sorts(member, key));
    let near = closest(key, numbers.map(String::as_str))?;
    let value = member.meta.label(near)?;
    Some(format!(", but has {near}={value}"))
}

fn invalid(
    cx: &Context<'_>,
    rule: &Rule,
    key: &str,
    value: Option<&str>,
    cluster: &str,
) -> Finding {
    let recorded = Placing::recorded(cx);
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
    let own = cx.inventory.member(cluster);
    if let Some(own) = own
        && !sorts(own, key)
        && !all.iter().any(|member| member.meta.name == cluster)
    {
        all.push(own);
    }
    let when = failing::when(cx);
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
        cx.object(Concept::MemberCluster, cluster)
    } else {
        let strategy = cx.run().map_or("", |run| run.spec.strategy.as_str());
        cx.object(Concept::Strategy, strategy)
    };
    let mut finding = failing::finding(cx, rule, &object, message)
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
        return failing::just_new_run(cx, finding);
    }
    finding = finding.fix_with(
        format!(
            "Set the label of {} to a whole number. Or remove `sortingLabelKey` from the stage, \
             which then sorts by name.",
            if others.is_empty() {
                cluster.to_owned()
            } else {
                "each of these clusters".to_owned()
            }
        ),
        steps::label("NAME", format!("{key}=NUMBER")).switch("--overwrite"),
    );
    failing::then_new_run(cx, finding)
}
