//! A stage has other clusters, or the same in another order, than when the run began.

use std::collections::BTreeSet;

use crate::diagnose::case::Case;
use crate::diagnose::finding::{count, enumerate};
use crate::diagnose::membership::{self, StageDifference, compare, recorded_stage};
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::diagnose::failed;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind};

/// The stages are computed again at every look, from the recorded strategy and the members as they
/// are, and must come out the same. Source: updaterun/validation.go:validateUpdateStagesStatus.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS204",
    name: "stage-clusters-changed",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::MemberCluster],
    caused_by: &["FS205"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(run) = case.run() else {
        return Vec::new();
    };
    case.causes()
        .filter_map(|cause| match cause {
            Cause::StageClusterCountChanged {
                stage_index,
                new,
                existing,
            } => {
                let text = match (existing, new) {
                    (Some(existing), Some(new)) => format!(
                        "had {} when the run began and {new} when it was checked",
                        count(usize::try_from(*existing).unwrap_or(usize::MAX), "cluster")
                    ),
                    _ => "has another number of clusters than when the run began".to_owned(),
                };
                Some(finding(case, rule, run, *stage_index, &text, None))
            }
            Cause::StageClusterChanged {
                stage_index,
                new,
                existing,
                ..
            } => {
                let text = format!("had {existing} where {new} stood when it was checked");
                Some(finding(case, rule, run, *stage_index, &text, Some((new, existing))))
            }
            _ => None,
        })
        .collect()
}

fn finding(
    case: &Case<'_>,
    rule: &Rule,
    run: &UpdateRun,
    index: Option<u64>,
    text: &str,
    pair: Option<(&String, &String)>,
) -> Finding {
    let at = index.and_then(|index| membership::stage_at(run, index));
    let stage = at.map(|(status, _)| status.name.as_str());
    let difference =
        at.and_then(|(status, spec)| compare(case.inventory, status, spec?));
    let mut clusters: BTreeSet<&str> = BTreeSet::new();
    if let Some(difference) = &difference {
        clusters.extend(difference.came.iter().chain(&difference.left));
    }
    if clusters.is_empty()
        && let Some((new, existing)) = pair
    {
        clusters.extend([new.as_str(), existing.as_str()]);
    }
    let known = difference
        .as_ref()
        .map(|difference| describe(case, difference));
    let message = format!(
        "Stage {} {text}{}, which ends a run.",
        stage.map_or_else(
            || index.map_or_else(|| "of the run".to_owned(), |index| format!("number {index}")),
            str::to_owned
        ),
        known.as_deref().unwrap_or_default(),
    );
    let subject = match clusters.iter().collect::<Vec<_>>().as_slice() {
        [one] => Subject::new(Kind::MemberCluster.name(), "", **one),
        _ => Subject::from(run.object()),
    };
    let mut finding = failed::finding(case, rule, subject, message).clusters(clusters.iter().copied());
    finding.stage = stage.map(str::to_owned);
    if let (Some(index), Some((status, spec))) = (index, at) {
        let names: Vec<_> = status.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
        finding = finding.evidence(
            run.object(),
            format!("status.stagesStatus[{index}].clusters"),
            names.join(", "),
        );
        if let Some(selector) = spec.and_then(|spec| spec.selector.as_deref()) {
            finding = finding.evidence(
                run.object(),
                format!("status.stagedUpdateStrategySnapshot.stages[{index}].labelSelector"),
                selector.describe(),
            );
        }
    }
    finding = members(case, finding, &clusters);
    if known.is_none() {
        finding = finding.look(
            format!(
                "Compare the members with the stage's selector: `kubectl get membercluster \
                 --show-labels` and `kubectl get {}{} -l kubernetes-fleet.io/parent-CRP={}`.",
                case.inventory.scope.kind(Concept::Binding).name().to_lowercase(),
                case.flag(),
                case.inventory.placement_name
            ),
            None,
        );
    }
    failed::new_run(
        case,
        finding,
        "Make a new run: it computes its stages from the clusters as they are now; let labels and \
         membership rest until it has ended.",
    )
}

/// Which clusters came and left, as part of a sentence.
fn describe(case: &Case<'_>, difference: &StageDifference<'_>) -> String {
    if difference.is_empty() {
        return "; by now its clusters are the recorded ones again, which does not revive a failed \
                run"
        .to_owned();
    }
    if difference.reordered {
        return "; its clusters are the same and their order is another".to_owned();
    }
    let part = |names: &[&str], verb: &str| {
        (!names.is_empty()).then(|| format!("{} {verb}", enumerate(names)))
    };
    let from = |name: &&str| match recorded_stage(case, name) {
        Some(stage) => format!("{name} of stage {stage}"),
        None => (*name).to_owned(),
    };
    let came: Vec<_> = difference.came.iter().map(from).collect();
    let came: Vec<_> = came.iter().map(String::as_str).collect();
    let parts: Vec<_> = [part(&came, "came"), part(&difference.left, "left")]
    .into_iter()
        .flatten()
        .collect();
    format!(" ({})", parts.join("; "))
}

/// What became of each cluster: its labels now, or that it left.
fn members(case: &Case<'_>, mut finding: Finding, clusters: &BTreeSet<&str>) -> Finding {
    for cluster in clusters.iter().take(3) {
        let stage = recorded_stage(case, cluster).unwrap_or("none");
        finding = finding.evidence(
            case.run_object(),
            format!("stage recorded for {cluster}"),
            stage,
        );
        let Some(member) = case.inventory.member(cluster) else {
            continue;
        };
        let labels: Vec<_> = member
            .meta
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        finding = finding.evidence(member.object(), "metadata.labels", labels.join(","));
    }
    finding
}
