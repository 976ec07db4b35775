//! Parts of the resource snapshot are missing, or its first part is not as it should be.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::{Concept, names};
use crate::rollout::versions::versions;

/// A version may be spread over several objects; the first carries the hash and the count.
/// Source: updaterun/initialization.go:recordOverrideSnapshots,
/// utils/controller/resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS117",
    name: "snapshot-incomplete",
    severity: Severity::Error,
    reads: &[Concept::ResourceSnapshot],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::NoMasterSnapshot { .. } => Some(headless(case, rule)),
            Cause::SnapshotGroupIncomplete {
                snapshot,
                expected,
                existing,
                ..
            } => Some(partial(case, rule, snapshot, *expected, *existing)),
            Cause::SnapshotCountInvalid { snapshot, .. } => Some(uncounted(case, rule, snapshot)),
            _ => None,
        })
        .collect()
}

/// The index of the version that the run was to roll out.
fn wanted<'i>(case: &Case<'i>) -> Option<&'i str> {
    let run = case.run()?;
    [&run.status.snapshot_index, &run.spec.snapshot_index]
        .into_iter()
        .map(String::as_str)
        .find(|index| !index.is_empty())
}

fn parts<'c>(case: &'c Case<'_>, index: &'c str) -> impl Iterator<Item = &'c ResourceSnapshot> {
    case.inventory
        .snapshots
        .iter()
        .filter(move |snapshot| snapshot.index() == Some(index))
}

fn headless(case: &Case<'_>, rule: &Rule) -> Finding {
    let object = case.placement_object();
    let when = failing::when(case);
    let index = wanted(case);
    let which = index.map_or_else(
        || "The resource snapshot".to_owned(),
        |index| format!("Resource snapshot {index}"),
    );
    let mended = index.is_some_and(|index| parts(case, index).any(ResourceSnapshot::is_master));
    let tail = if mended { ", but it has one now" } else { "" };
    let mut finding = failing::finding(
        case,
        rule,
        &object,
        format!("{which} of {object} had no first part with the version's hash {when}{tail}."),
    );
    for part in index
        .into_iter()
        .flat_map(|index| parts(case, index))
        .take(5)
    {
        let value = if part.is_master() {
            "present"
        } else {
            "absent"
        };
        finding = finding.evidence(
            part.object(),
            format!("metadata.annotations[{}]", names::RESOURCE_HASH),
            value,
        );
    }
    if mended {
        return failing::just_new_run(case, finding);
    }
    other_version(case, finding)
}

fn partial(
    case: &Case<'_>,
    rule: &Rule,
    master: &str,
    expected: Option<u32>,
    existing: Option<u32>,
) -> Finding {
    let object = case.object(Concept::ResourceSnapshot, master);
    let when = failing::when(case);
    let number = |value: Option<u32>| value.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let index = names::snapshot_index(master);
    let now = index.map_or(0, |index| parts(case, index).count());
    let whole =
        expected.is_some_and(|expected| usize::try_from(expected).is_ok_and(|it| now >= it));
    let tail = if whole { ", but all exist now" } else { "" };
    let finding = failing::finding(
        case,
        rule,
        &object,
        format!(
            "Only {} of {} parts of {object} were seen {when}{tail}.",
            number(existing),
            number(expected)
        ),
    );
    let finding = evidence(case, finding, master);
    // In a namespace the controller looks for the parts without it, and never finds them.
    // Source: utils/controller/resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster.
    if whole && !object.namespace.is_empty() {
        return finding
            .fix(
                "Make the content small enough for one snapshot object, or remove the overrides: \
                 with overrides, the controller searches for the other parts outside the \
                 namespace and always fails.",
                None,
            )
            .fix("Then start a new run.", case.new_run_command());
    }
    if whole {
        return failing::just_new_run(case, finding);
    }
    other_version(case, finding)
}

fn uncounted(case: &Case<'_>, rule: &Rule, master: &str) -> Finding {
    let object = case.object(Concept::ResourceSnapshot, master);
    let when = failing::when(case);
    let now = case
        .inventory
        .snapshots
        .iter()
        .find(|snapshot| snapshot.meta.name == master);
    let mended = now.is_some_and(|snapshot| snapshot.parts().is_some_and(|parts| parts > 0));
    let tail = if mended { ", but it does now" } else { "" };
    let finding = failing::finding(
        case,
        rule,
        &object,
        format!("{object} did not say how many parts it has {when}{tail}."),
    );
    let finding = evidence(case, finding, master);
    if mended {
        return failing::just_new_run(case, finding);
    }
    let count = names::snapshot_index(master).map_or(0, |index| parts(case, index).count());
    let finding = finding.fix(
        format!("Write the count again (parts now: {count})."),
        Some(
            object
                .kubectl("annotate")
                .arg(format!("{}=COUNT", names::NUMBER_OF_SNAPSHOTS))
                .switch("--overwrite"),
        ),
    );
    other_version(case, finding)
}

/// The count that the first part carries, and the parts that are there.
fn evidence(case: &Case<'_>, mut finding: Finding, master: &str) -> Finding {
    let inventory = case.inventory;
    let found = inventory
        .snapshots
        .iter()
        .find(|snapshot| snapshot.meta.name == master);
    if let Some(found) = found {
        finding = finding.evidence(
            found.object(),
            format!("metadata.annotations[{}]", names::NUMBER_OF_SNAPSHOTS),
            found
                .meta
                .annotation(names::NUMBER_OF_SNAPSHOTS)
                .unwrap_or("absent")
                .to_owned(),
        );
    }
    if let Some(index) = names::snapshot_index(master) {
        for part in parts(case, index).take(5) {
            finding = finding.evidence(
                Subject::from(part.object()),
                format!("metadata.labels[{}]", names::RESOURCE_INDEX),
                index,
            );
        }
    }
    finding
}

fn other_version(case: &Case<'_>, finding: Finding) -> Finding {
    let mut finding = finding.look(
        "Check which snapshots are complete.",
        Some(
            case.command("snapshots")
                .arg(&case.inventory.placement_name),
        ),
    );
    let over = format!("{} has failed for good", case.run_object().name);
    let versions = versions(case.inventory);
    let whole = versions.iter().rev().find(|version| version.is_complete());
    let new_run = case.new_run_command();
    if let (Some(whole), Some(command)) = (whole, &new_run) {
        finding = finding.fix(
            format!(
                "Start a new run with snapshot {}, if it is the one to roll out: {over}.",
                whole.index
            ),
            Some(command.clone().flag("--snapshot", &whole.index)),
        );
    }
    finding
        .fix(
            "Change the content on the hub to roll out the current one: since KubeFleet 0.3.0 the \
             next run then creates a new snapshot.",
            None,
        )
        .fix(format!("Then start a new run: {over}."), new_run)
}
