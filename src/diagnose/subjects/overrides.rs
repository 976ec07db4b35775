//! Why overrides cannot be applied, as rendering the content shows it.

use crate::diagnose::subjects::changes_ahead::stuck_ahead;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::rendered::{NamedContent, rendered};
use crate::inventory::Inventory;
use crate::kubefleet::messages::BindingProblem;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::{Concept, names};
use crate::manifests::{FailingOperation, FaultCause, RenderFault, WorkGenerator};
use crate::report::{ComposeText, Finding, Subject};
use crate::rollout::versions::versions;

/// Whether no snapshot of the override is left from which one was made.
pub fn is_deleted(inventory: &Inventory, snapshot: &Subject) -> bool {
    let overrides = &inventory.overrides;
    let name = names::override_of(&snapshot.name);
    let is_its = |it: &OverrideSnapshot| {
        it.meta.namespace == snapshot.namespace && names::override_of(&it.meta.name) == name
    };
    overrides.is_complete()
        && inventory.has_asked_for(Concept::ClusterOverrideSnapshot)
        && !overrides.iter().any(is_its)
}

/// Whether an override fails on a cluster, and which generator says so: up to KubeFleet 0.3.1, the
/// text names no override.
pub fn refusing(failing: &FailingCluster<'_>) -> Option<WorkGenerator> {
    match failing.trouble.problem.as_ref()? {
        BindingProblem::OverrideFailed { snapshot, .. } => Some(match snapshot {
            Some(_) => WorkGenerator::Newest,
            None => WorkGenerator::Envelopes,
        }),
        _ => None,
    }
}

/// What cannot be applied on the clusters on which an override fails, as far as the texts tell.
pub fn faults(cx: &DiagnosisContext<'_>) -> Vec<RenderFault> {
    let failing = cx.troubles.iter();
    let refusing = failing.filter_map(|it| Some((NamedContent::of(it)?, refusing(it)?)));
    faults_of(cx, refusing.collect())
}

/// The same of clusters that a live run has still to reach.
pub fn faults_ahead<'c>(cx: &'c DiagnosisContext<'_>) -> &'c [RenderFault] {
    cx.faults_ahead.get_or_init(|| {
        let Some(run) = cx.run() else {
            return Vec::new();
        };
        let of = |generator| {
            let contents = ahead(cx).into_iter();
            faults_of(cx, contents.map(|it| (it, generator)).collect())
        };
        let generator = WorkGenerator::of_agent(cx.inventory, run);
        let mut faults = of(generator.unwrap_or_default());
        if generator.is_some() || !cx.inventory.has_envelopes(&run.status.snapshot_index) {
            return faults;
        }
        // Where the version is unknown, what fails with each counts: older ones let overrides change the
        // envelope, newer ones what is in it.
        let others = of(WorkGenerator::Envelopes);
        faults.retain_mut(|fault| {
            let same = |it: &&RenderFault| it.cause == fault.cause && it.objects == fault.objects;
            let same: Vec<_> = others.iter().filter(same).collect();
            let fails = |name: &String| same.iter().any(|it| it.clusters.contains(name));
            fault.clusters.retain(fails);
            !fault.clusters.is_empty()
        });
        faults
    })
}

/// What will hold a run which rests on clusters that it has still to reach.
pub fn holds_ahead<'c>(cx: &'c DiagnosisContext<'_>) -> Option<&'c RenderFault> {
    let holds =
        |cause: &FaultCause| matches!(cause, FaultCause::Operation(_) | FaultCause::Envelope(_));
    let mut faults = faults_ahead(cx).iter();
    faults.find(|fault| cx.verdict.waits_for_person() && holds(&fault.cause))
}

/// What comes of a fault on the clusters that the run has still to reach.
pub fn describe_ahead(cx: &DiagnosisContext<'_>, fault: &RenderFault) -> String {
    stuck_ahead(cx, &fault.describe(), &fault.clusters)
}

fn faults_of<'i>(
    cx: &DiagnosisContext<'i>,
    contents: Vec<(NamedContent<'i>, WorkGenerator)>,
) -> Vec<RenderFault> {
    let mut found = Vec::new();
    if !contents.is_empty() {
        let all = versions(cx.inventory);
        let contents = contents
            .into_iter()
            .map(|(it, generator)| ((), it, generator));
        rendered(cx.inventory, &all, contents, |rendering, _| {
            found.extend(rendering.faults.iter().cloned());
        });
    }
    found
}

/// What a live run brings to the clusters that it has still to reach, where that is more than its snapshot.
pub fn ahead<'i>(cx: &DiagnosisContext<'i>) -> Vec<NamedContent<'i>> {
    let Some(rollout) = cx.rollout.as_ref().filter(|it| it.is_live()) else {
        return Vec::new();
    };
    let index = &rollout.run.status.snapshot_index;
    let is_wrapped = cx.inventory.has_envelopes(index);
    let ahead = rollout
        .still_to_reach()
        .filter(|it| is_wrapped || it.recorded.override_names().next().is_some());
    ahead
        .map(|cluster| NamedContent {
            member: cluster.member,
            index,
            cluster_overrides: &cluster.recorded.cluster_overrides,
            overrides: &cluster.recorded.overrides,
        })
        .collect()
}

/// Adds how an override differs from the snapshot of it that a run kept.
pub fn compared(finding: Finding, now: &OverrideSnapshot, kept: &str) -> Finding {
    let object = now.object();
    finding.created(&object, now.meta.created).look_with(
        "Compare both snapshots to see what was changed.",
        object.kubectl("get").arg(kept).flag("-o", "yaml"),
    )
}

/// What the controller says of an operation that failed.
pub struct SaidOfOperation<'s> {
    /// The override snapshot; `None` where that is unknown.
    pub over: Option<&'s Subject>,
    /// The object, in the reader's short form.
    pub object: Option<&'s str>,
    pub error: &'s str,
}

/// The operation of an override that cannot be applied for a cluster, and the objects to which it
/// cannot, where the faults tell.
pub fn operation<'f>(
    faults: &'f [RenderFault],
    cluster: &str,
    said: &SaidOfOperation<'_>,
) -> Option<(&'f FailingOperation, Vec<&'f str>)> {
    let mut found: Option<(&FailingOperation, Vec<&str>)> = None;
    for fault in faults {
        let FaultCause::Operation(failing) = &fault.cause else {
            continue;
        };
        let is_here = fault.clusters.iter().any(|it| it == cluster);
        if !(is_here && said.fits(failing, &fault.objects)) {
            continue;
        }
        let objects = fault.objects.iter().map(String::as_str);
        match &mut found {
            None => found = Some((failing, objects.collect())),
            Some((same, all)) if *same == failing => all.extend(objects),
            Some((same, _)) => {
                let of = |it: &FailingOperation| (it.over.clone(), it.rule, it.operation);
                // Which of two it was, the text does not say.
                if of(same) != of(failing) {
                    return None;
                }
            }
        }
    }
    found
}

impl SaidOfOperation<'_> {
    fn fits(&self, failing: &FailingOperation, objects: &[String]) -> bool {
        let is_over = |over: &Subject| Subject::from(&failing.over) == *over;
        // Where no object is named, the path is all that tells.
        let mut words = self.error.split(|c: char| c.is_whitespace() || c == '"');
        let is_object = match self.object {
            Some(object) => objects.iter().any(|it| it == object),
            None => words.any(|word| word.trim_end_matches(':') == failing.path),
        };
        self.over.is_none_or(is_over) && is_object
    }
}
