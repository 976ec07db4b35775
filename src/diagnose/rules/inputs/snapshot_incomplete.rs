//! Parts of the resource snapshot are missing, or its first part is not as it should be.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::names;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::problems::{ONE_OBJECT, number_of_parts, see_complete};
use crate::rollout::versions::versions;

/// A version may be spread over several objects; the first carries the hash and the count.
/// Source: updaterun/initialization.go:recordOverrideSnapshots,
/// utils/controller/resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster.
pub const RULE: Rule = Rule::error("FS117", "snapshot-incomplete", NamedCause(check))
    .reads(&[Concept::ResourceSnapshot])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::NoMasterSnapshot => Some(headless(cx, rule)),
        Cause::SnapshotGroupIncomplete {
            snapshot,
            expected,
            existing,
        } => Some(partial(cx, rule, snapshot, *expected, *existing)),
        Cause::SnapshotCountInvalid { snapshot } => Some(uncounted(cx, rule, snapshot)),
        _ => None,
    }
}

/// The index of the version that the run was to roll out.
fn wanted<'i>(cx: &DiagnosisContext<'i>) -> Option<&'i str> {
    let run = cx.run()?;
    [&run.status.snapshot_index, &run.spec.snapshot_index]
        .into_iter()
        .map(String::as_str)
        .find(|index| !index.is_empty())
}

fn parts<'c>(
    cx: &'c DiagnosisContext<'_>,
    index: &'c str,
) -> impl Iterator<Item = &'c ResourceSnapshot> {
    let snapshots = cx.inventory.snapshots.iter();
    snapshots.filter(move |snapshot| snapshot.index() == Some(index))
}

fn headless(cx: &DiagnosisContext<'_>, rule: &Rule) -> Finding {
    let object = cx.placement_object();
    let when = &cx.when;
    let index = wanted(cx);
    let which = index.map_or_else(
        || "The resource snapshot".to_owned(),
        |index| format!("Resource snapshot {index}"),
    );
    let mended = index.is_some_and(|index| parts(cx, index).any(ResourceSnapshot::is_master));
    let tail = if mended { ", but it has one now" } else { "" };
    let message =
        format!("{which} of {object} had no first part with the version's hash {when}{tail}.");
    let mut finding = run_failure::finding(cx, rule, &object, message);
    for part in index.into_iter().flat_map(|index| parts(cx, index)).take(5) {
        let value = if part.is_master() {
            "present"
        } else {
            "absent"
        };
        let path = format!("metadata.annotations[{}]", names::RESOURCE_HASH);
        finding = finding.evidence(part.object(), path, value);
    }
    if mended {
        return run_failure::just_new_run(cx, finding);
    }
    other_version(cx, finding)
}

fn partial(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    master: &str,
    expected: Option<u32>,
    existing: Option<u32>,
) -> Finding {
    let object = cx.object(Concept::ResourceSnapshot, master);
    let when = &cx.when;
    let number = |value: Option<u32>| value.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let index = names::snapshot_index(master);
    let now = index.map_or(0, |index| parts(cx, index).count());
    let whole =
        expected.is_some_and(|expected| usize::try_from(expected).is_ok_and(|it| now >= it));
    let tail = if whole { ", but all exist now" } else { "" };
    let message = format!(
        "Only {} of {} parts of {object} were seen {when}{tail}.",
        number(existing),
        number(expected)
    );
    let finding = run_failure::finding(cx, rule, &object, message);
    let finding = evidence(cx, finding, master);
    // In a namespace the controller looks for the parts without it, and never finds them.
    // Source: utils/controller/resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster.
    if whole && !object.namespace.is_empty() {
        return finding
            .fix(ONE_OBJECT)
            .fix_with("Then start a new run.", cx.new_run_command());
    }
    if whole {
        return run_failure::just_new_run(cx, finding);
    }
    other_version(cx, finding)
}

fn uncounted(cx: &DiagnosisContext<'_>, rule: &Rule, master: &str) -> Finding {
    let object = cx.object(Concept::ResourceSnapshot, master);
    let when = &cx.when;
    let mut snapshots = cx.inventory.snapshots.iter();
    let now = snapshots.find(|snapshot| snapshot.meta.name == master);
    let mended = now.is_some_and(|snapshot| snapshot.parts().is_some_and(|parts| parts > 0));
    let tail = if mended { ", but it does now" } else { "" };
    let message = format!("{object} did not say how many parts it has {when}{tail}.");
    let finding = run_failure::finding(cx, rule, &object, message);
    let finding = evidence(cx, finding, master);
    if mended {
        return run_failure::just_new_run(cx, finding);
    }
    let count = names::snapshot_index(master).map_or(0, |index| parts(cx, index).count());
    let finding = finding.fix_with(
        format!("Write the count again (parts now: {count})."),
        object
            .kubectl("annotate")
            .arg(format!("{}=COUNT", names::NUMBER_OF_SNAPSHOTS))
            .switch("--overwrite"),
    );
    other_version(cx, finding)
}

/// The count that the first part carries, and the parts that are there.
fn evidence(cx: &DiagnosisContext<'_>, mut finding: Finding, master: &str) -> Finding {
    let inventory = cx.inventory;
    let mut snapshots = inventory.snapshots.iter();
    let found = snapshots.find(|snapshot| snapshot.meta.name == master);
    if let Some(found) = found {
        finding = number_of_parts(finding, found);
    }
    if let Some(index) = names::snapshot_index(master) {
        for part in parts(cx, index).take(5) {
            finding = finding.index_of(part);
        }
    }
    finding
}

fn other_version(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let mut finding = see_complete(finding, &cx.placement_object());
    let over = format!("{} has failed for good", cx.run_object().name);
    let versions = versions(cx.inventory);
    let whole = versions.iter().rev().find(|version| version.is_complete());
    if let Some(whole) = whole {
        let action = format!(
            "Start a new run with snapshot {}, if it is the one to roll out: {over}.",
            whole.index
        );
        finding = finding.fix_with(action, cx.fresh_run_command(Some(&whole.index)));
    }
    finding
        .fix(
            "Change the content on the hub to roll out the current one: since KubeFleet 0.3.0 the \
             next run then creates a new snapshot.",
        )
        .fix_with(
            format!("Then start a new run with the current content: {over}."),
            cx.fresh_run_command(None),
        )
}
