//! An override was changed, or added, after a run had recorded those of its clusters.

use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::overrides::compared;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::{ObjectRef, names, reasons};
use crate::rollout::overrides::{origin, successor, unrecorded};
use crate::rollout::{ClusterState, Rollout};

/// A run records the override snapshots of each cluster when it is initialized, and brings those.
/// Source: updaterun/initialization.go:recordOverrideSnapshots.
pub const RULE: Rule = Rule::warning("FS710", "override-changed-during-run", Run(check))
    .reads(&[Concept::ClusterOverrideSnapshot, Concept::OverrideSnapshot]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let is_over = cx.verdict == Verdict::Succeeded;
    if !is_over && !rollout.is_live() {
        return Vec::new();
    }
    let run = rollout.run;
    // What cannot be applied says itself that it was changed.
    let fails = |name: &str| {
        let mut troubles = cx.troubles.iter();
        troubles.any(|it| it.cluster == name && it.trouble.condition.kind == reasons::OVERRIDDEN)
    };
    let gets_it = |name: &str| {
        let mut clusters = rollout.updated_clusters();
        !fails(name)
            && clusters.any(|it| it.name == name && (is_over || it.state != ClusterState::Done))
    };
    let latest = &cx.inventory.overrides.items;
    let mut changed: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for cluster in run.updated_clusters() {
        for kept in cluster.override_names() {
            let is_there = !cx.inventory.gone_overrides.contains(&kept)
                && successor(latest, &kept.namespace, &kept.name).is_some();
            if is_there && gets_it(&cluster.name) {
                changed.entry(kept).or_default().push(&cluster.name);
            }
        }
    }
    let finding = |(kept, clusters): (_, Vec<&str>)| {
        let kept: ObjectRef = kept;
        let now = successor(latest, &kept.namespace, &kept.name)?;
        if is_later(rollout, now)? {
            return None;
        }
        let verb = match (is_over, clusters.len()) {
            (false, 1) => "gets",
            (false, _) => "get",
            (true, 1) => "has",
            (true, _) => "have",
        };
        let message = format!(
            "The override {} was changed after {} recorded it: {} {verb} {}, not {}.",
            names::override_of(&kept.name),
            run.meta.name,
            enumerate(&clusters),
            kept.name,
            now.meta.name
        );
        let finding = rule.finding(now.object(), message).clusters(clusters);
        Some(compared(finding, now, &kept.name))
    };
    let changed = changed.into_iter().filter_map(finding);
    let lacking = unrecorded(cx.inventory, run).into_iter();
    let lacking = lacking.filter_map(|(now, mut clusters)| {
        clusters.retain(|name| gets_it(name));
        added(rule, rollout, now, clusters)
    });
    let anew = |finding: Finding| {
        let plan = cx.plan_command();
        let finding = finding.look_with("Check what a new run would do with it.", plan);
        let action = "Start a new run, if the clusters should get the override as it is now.";
        finding.fix_with(action, cx.new_run_command())
    };
    changed.chain(lacking).map(anew).collect()
}

/// Whether an override was changed after a run that is over: that is for the next one.
fn is_later(rollout: &Rollout<'_>, now: &OverrideSnapshot) -> Option<bool> {
    Some(!rollout.is_live() && now.meta.created? > rollout.ended()?)
}

/// An override of which the run recorded no version for clusters that a new run takes it for.
fn added(
    rule: &Rule,
    rollout: &Rollout<'_>,
    now: &OverrideSnapshot,
    clusters: Vec<&str>,
) -> Option<Finding> {
    let run = rollout.run;
    let initialized = run.condition(reasons::INITIALIZED)?;
    let is_newer = now.meta.created? > initialized.since?;
    if clusters.is_empty() || !is_newer || is_later(rollout, now)? {
        return None;
    }
    let verb = match (rollout.is_live(), clusters.len()) {
        (true, 1) => "gets its",
        (true, _) => "get their",
        (false, 1) => "has its",
        (false, _) => "have their",
    };
    let object = now.object();
    let names = enumerate(&clusters);
    let message = format!(
        "The override {} was added or changed after {} recorded its overrides: {names} {verb} \
         content without it.",
        origin(now),
        run.meta.name,
    );
    let finding = rule.finding(&object, message);
    let finding = finding
        .clusters(clusters)
        .created(&object, now.meta.created);
    let read = object.kubectl("get").flag("-o", "yaml");
    Some(finding.look_with("Check what the override changes there.", read))
}
