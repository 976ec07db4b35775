//! The placement's scheduling policy snapshot is not as its controller writes it.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::names;
use crate::kubefleet::snapshot::PolicySnapshot;

/// Several latest ones, no index, or with PickN no count of clusters: only a hand or a broken
/// write does that. Source: updaterun/initialization.go:determinePolicySnapshot,
/// utils/controller/policy_snapshot_resolver.go:LookupLatestPolicySnapshot.
pub const RULE: Rule = Rule::error("FS104", "policy-snapshot-inconsistent", Check::Cause(check))
    .reads(&[Concept::PolicySnapshot]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::PolicySnapshotMultiple { count, .. } => Some(several(cx, rule, *count)),
        Cause::PolicySnapshotNoIndex { snapshot } => Some(without(
            cx,
            rule,
            &snapshot.name,
            "no index label",
            &format!("metadata.labels[{}]", names::POLICY_INDEX),
            |policy| policy.meta.label(names::POLICY_INDEX),
        )),
        Cause::PolicySnapshotBadClusterCount { snapshot, .. } => Some(without(
            cx,
            rule,
            &snapshot.name,
            "no valid cluster count in its annotation",
            &format!("metadata.annotations[{}]", names::NUMBER_OF_CLUSTERS),
            |policy| policy.meta.annotation(names::NUMBER_OF_CLUSTERS),
        )),
        _ => None,
    }
}

fn several(cx: &Context<'_>, rule: &Rule, count: Option<u32>) -> Finding {
    let object = cx.placement_object();
    let mut latest: Vec<&PolicySnapshot> = cx.inventory.latest_policies().collect();
    latest.sort_by_key(|policy| {
        policy
            .index()
            .and_then(|index| index.parse::<u64>().ok())
            .unwrap_or(0)
    });
    let number = count.map_or_else(|| "Several".to_owned(), |count| count.to_string());
    let lead = format!(
        "{number} scheduling policy snapshots of {object} were marked as the latest {}",
        failing::when(cx)
    );
    let mended = latest.len() == 1 && cx.inventory.policies.is_complete();
    let tail = if latest.len() > 1 {
        let names = enumerate(latest.iter().map(|policy| policy.meta.name.as_str()));
        format!(" ({names} are now)")
    } else if mended {
        ", but only one is now".to_owned()
    } else {
        String::new()
    };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}."));
    for policy in latest.iter().take(6) {
        finding = finding.evidence(
            policy.object(),
            format!("metadata.labels[{}]", names::IS_LATEST),
            "true",
        );
    }
    if mended {
        return failing::just_new_run(cx, finding);
    }
    // The newest stays.
    latest.pop();
    let which = if latest.is_empty() {
        "all but the one with the highest index".to_owned()
    } else {
        enumerate(latest.iter().map(|policy| policy.meta.name.as_str()))
    };
    let name = match latest.as_slice() {
        [only] => only.meta.name.as_str(),
        _ => "NAME",
    };
    finding = finding.fix_with(
        format!("Remove the label from {which}: nothing fixes it automatically."),
        cx.object(Concept::PolicySnapshot, name)
            .kubectl("label")
            .arg(format!("{}=false", names::IS_LATEST))
            .switch("--overwrite"),
    );
    failing::then_new_run(cx, finding)
}

fn without(
    cx: &Context<'_>,
    rule: &Rule,
    name: &str,
    what: &str,
    path: &str,
    value: fn(&PolicySnapshot) -> Option<&str>,
) -> Finding {
    let object = cx.object(Concept::PolicySnapshot, name);
    let now = cx
        .inventory
        .policies
        .iter()
        .find(|policy| policy.meta.name == name);
    let valid = now
        .and_then(value)
        .is_some_and(|value| value.parse::<i64>().is_ok_and(|number| number >= 0));
    let lead = format!("{object} had {what} {}", failing::when(cx));
    let tail = if valid { ", but it has one now" } else { "" };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}."));
    if let Some(now) = now {
        finding = finding.evidence(&object, path, value(now).unwrap_or("absent").to_owned());
    }
    if valid {
        return failing::just_new_run(cx, finding);
    }
    let (verb, entry) = if path.starts_with("metadata.labels") {
        let index = name.rsplit_once('-').map_or("INDEX", |(_, index)| index);
        ("label", format!("{}={index}", names::POLICY_INDEX))
    } else {
        let count = cx
            .inventory
            .placement
            .present()
            .and_then(|placement| placement.spec.policy.as_deref()?.count)
            .map_or_else(|| "COUNT".to_owned(), |count| count.to_string());
        ("annotate", format!("{}={count}", names::NUMBER_OF_CLUSTERS))
    };
    finding = finding.fix_with(
        "Write it again, as the placement controller does.",
        object.kubectl(verb).arg(entry).switch("--overwrite"),
    );
    failing::then_new_run(cx, finding)
}
