//! A plan for people: the stages that the controller would compute, and what speaks against them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::escape;
use super::look::RenderLook;
use super::style::TextPaint;
use super::text::{TextPage, not_checked, page_end};
use super::wrap::list;
use crate::contents::what_goes_with;
use crate::kubefleet::{ObjectRef, duration};
use crate::manifests::ChangeCounts;
use crate::plan::{
    ClusterChange, ObjectChanges, Plan, PlanOutcome, PlanPoint, PlannedCluster, PlannedSnapshot,
    PlannedStage, RefusalKind,
};
use crate::report::{EvidenceValues, Subject, unnamed};
use crate::rollout::{GateFacts, StageEnd, TaskTime};
use crate::words::{count, enumerate, together};

/// Clusters of a stage, before the rest is only counted.
const NAMED: usize = 12;

pub fn plan(plan: &Plan, look: &RenderLook) -> String {
    let mut page = TextPage::new(look);
    let paint = look.paint;
    let _ = writeln!(
        page.out,
        "{}  {}",
        outcome(plan.outcome, paint),
        paint.bold(&escape::line(&plan.placement.to_string()))
    );
    page.hang("", "", &plan.summary);
    page.out.push('\n');
    tree(&mut page, plan);
    objects(&mut page, plan);
    for it in &plan.refusals {
        point(&mut page, &paint.error("refused"), it.kind.as_str(), it);
    }
    for it in &plan.warnings {
        point(&mut page, &paint.warning("warning"), it.kind.as_str(), it);
    }
    page.cut |= not_checked(&mut page.out, &plan.not_checked, look);
    page.out.push('\n');
    page_end(&mut page.out, page.cut, plan.as_of, look);
    page.out
}

/// Writes what a command is about to do: the stages, and how many objects change.
pub fn brief(plan: &Plan, look: &RenderLook) -> String {
    let mut page = TextPage::new(look);
    tree(&mut page, plan);
    objects(&mut page, plan);
    page.out
}

/// Its warnings, each a sentence alone. Those about the `settled` objects are left out: the command deals with them
/// itself.
pub fn brief_warnings(plan: &Plan, settled: &[ObjectRef]) -> Vec<String> {
    let settled: Vec<_> = settled.iter().map(Subject::from).collect();
    let warnings = plan.warnings.iter();
    let warnings = warnings.filter(|it| !settled.contains(&it.subject));
    let gaps = plan.not_checked.iter();
    let gaps = gaps.map(|gap| format!("{} could not be checked: {}", gap.what, gap.why));
    warnings.map(|it| it.message.clone()).chain(gaps).collect()
}

/// The content, and the stages with their clusters.
fn tree(page: &mut TextPage<'_>, plan: &Plan) {
    let paint = page.look.paint;
    page.hang("", "  ", &head(plan));
    let removal = usize::from(!plan.removed.is_empty());
    let (nowhere, unclear) = unplaced(plan);
    let seen = plan.sees_clusters() && unclear.is_empty();
    let lost = [("in no stage", nowhere), ("in an unknown stage", unclear)];
    let lost: Vec<_> = lost
        .iter()
        .filter(|(_, clusters)| !clusters.is_empty())
        .collect();
    let branches = plan.stages.len() + removal + lost.len();
    let turn = |at: usize| paint.branch(at + 1 == branches);
    for (at, stage) in plan.stages.iter().enumerate() {
        self::stage(page, stage, seen, turn(at));
    }
    if !plan.removed.is_empty() {
        let (branch, trunk) = turn(plan.stages.len());
        let text = format!("deletion stage: {}", count(plan.removed.len(), "cluster"));
        page.hang(branch, trunk, &text);
        several(page, &plan.removed.iter().collect::<Vec<_>>(), trunk);
    }
    for (at, (what, clusters)) in lost.iter().enumerate() {
        let (branch, trunk) = turn(plan.stages.len() + removal + at);
        let text = format!("{what}: {}", count(clusters.len(), "cluster"));
        let _ = writeln!(page.out, "{branch}{}", paint.bad(&text));
        several(page, clusters, trunk);
    }
    if branches == 0 {
        page.out.push_str("the stages are unknown\n");
    }
}

/// What changes in the clusters, where something does.
fn objects(page: &mut TextPage<'_>, plan: &Plan) {
    // What a new snapshot would hold is not known.
    let with = match &plan.content.snapshot {
        Some(index) if !plan.content.snapshot_certain && !plan.content.is_next() => {
            format!(" with snapshot {index}")
        }
        _ => String::new(),
    };
    let told: usize = plan.changes.iter().map(|it| it.clusters.len()).sum();
    let is_all = told == plan.clusters().count();
    objects_with(page, &with, &plan.changes, (plan.compares_only, is_all));
}

/// Writes what changes with some content. Where it is only compared, nothing is applied, but a removal deletes.
fn objects_with(
    page: &mut TextPage<'_>,
    with: &str,
    changes: &[ObjectChanges],
    (compares_only, is_all): (bool, bool),
) {
    let lead = format!("objects per cluster{with}");
    if !compares_only {
        return objects_below(page, &format!("{lead}: "), changes, is_all);
    }
    let changes = changes.iter().cloned();
    let (updates, removals): (Vec<_>, Vec<_>) = changes.partition(|it| it.to.is_some());
    let applied = format!("{lead}, if it were applied: ");
    objects_below(page, &applied, &updates, is_all);
    objects_below(
        page,
        "objects per cluster that exist there: ",
        &removals,
        false,
    );
}

/// What a run that exists changes in its clusters.
pub fn objects_of(changes: &[ObjectChanges], compares_only: bool, look: &RenderLook) -> String {
    let mut page = TextPage::new(look);
    objects_with(&mut page, "", changes, (compares_only, true));
    page.out
}

/// Writes what changes, in all clusters or in some.
fn objects_below(page: &mut TextPage<'_>, lead: &str, changes: &[ObjectChanges], is_all: bool) {
    let paint = page.look.paint;
    let most = page.look.most(NAMED);
    if changes.is_empty() {
        return;
    }
    if is_all && changes.iter().all(ObjectChanges::is_none) {
        return page.hang(lead, "  ", "nothing changes");
    }
    let _ = writeln!(page.out, "{}", lead.trim_end());
    for change in changes {
        let longest = change.clusters.len().max(change.deleted.len());
        page.cut |= longest.max(change.overwritten.len()) > most;
        let clusters = list(&change.clusters, most);
        let text = match change.apply_strategy.as_slice() {
            [] => format!("{} ({clusters})", counts(change.counts)),
            apply => {
                let what = if change.counts.is_none() {
                    "the same objects".to_owned()
                } else {
                    counts(change.counts)
                };
                format!("{what}, applied with {} ({clusters})", enumerate(apply))
            }
        };
        page.hang("  ", "    ", &text);
        let overwritten: Vec<_> = change.overwritten.iter().map(Subject::to_string).collect();
        if !overwritten.is_empty() {
            let text = format!("what exists there: {}", list(&overwritten, most));
            let lead = format!("    {} ", paint.bad("overwrites"));
            page.hang(&lead, "      ", &text);
        }
        // Removing a placement deletes all of it: what goes with a namespace is not its own.
        let told = |object: &&Subject| {
            change.to.is_some() || what_goes_with((&object.kind, &object.namespace)).is_some()
        };
        let deleted = change.deleted.iter().filter(told);
        let deleted: Vec<_> = deleted.map(Subject::with_what_goes).collect();
        if !deleted.is_empty() {
            let lead = format!("    {} ", paint.bad("deletes"));
            page.hang(&lead, "      ", &list(&deleted, most));
        }
    }
}

pub fn counts(counts: ChangeCounts) -> String {
    if counts.is_none() {
        return "nothing changes".to_owned();
    }
    let parts = [
        (counts.created, "created"),
        (counts.changed, "changed"),
        (counts.deleted, "deleted"),
        (counts.refused, "refused by Kubernetes"),
        (counts.moved, "moved to another Work"),
        (counts.recreated, "deleted and created again"),
        (counts.overwritten, "overwritten"),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<_> = parts
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    parts.join(", ")
}

fn outcome(outcome: PlanOutcome, paint: TextPaint) -> String {
    let word = outcome.as_str();
    match outcome {
        PlanOutcome::Ready => paint.good(word),
        PlanOutcome::Refused => paint.error(word),
        PlanOutcome::Unknown => paint.warning(word),
    }
}

/// The content, and by which strategy it goes where.
fn head(plan: &Plan) -> String {
    let strategy = &plan.strategy.name;
    let strategy = match &plan.strategy_file {
        Some(file) => format!("strategy {strategy} from {file}"),
        None => format!("strategy {strategy}"),
    };
    let run = plan.run.as_ref().map(|run| format!("run {}", run.name));
    let parts: Vec<_> = run
        .into_iter()
        .chain([strategy, snapshot(&plan.content)])
        .collect();
    parts.join(", ")
}

fn snapshot(snapshot: &PlannedSnapshot) -> String {
    let asked = snapshot.requested_snapshot.as_deref();
    let Some(index) = &snapshot.snapshot else {
        return match asked {
            Some(asked) if asked != "latest" => format!("snapshot {asked}, which is unknown"),
            _ => "the snapshot is unknown".to_owned(),
        };
    };
    if snapshot.is_next() {
        return match &snapshot.latest_snapshot {
            None => format!("snapshot {index}, created for the run"),
            Some(latest) => format!(
                "snapshot {index}, which does not exist yet: the content has changed since snapshot {latest}"
            ),
        };
    }
    if snapshot.snapshot_certain {
        return if snapshot.latest_snapshot.as_ref() == Some(index) {
            format!("snapshot {index} (the latest)")
        } else {
            format!("snapshot {index}")
        };
    }
    format!("snapshot {index}, or a new one if the content has changed since")
}

fn stage(page: &mut TextPage<'_>, stage: &PlannedStage, seen: bool, (branch, trunk): (&str, &str)) {
    let look = page.look;
    let number = stage.clusters.len();
    let clusters = if number == 0 && !seen {
        "the clusters are unknown".to_owned()
    } else {
        count(number, "cluster")
    };
    let mut text = format!("stage {}: {clusters}", stage.definition.name);
    if let (Some(at_once), true) = (stage.concurrency, number > 1) {
        text = format!("{text}, {at_once} at a time");
        if stage.definition.max_concurrency.ends_with('%') {
            text = format!("{text} ({})", stage.definition.max_concurrency);
        }
    }
    if let (Some(label), true) = (&stage.definition.ordered_by, number > 1) {
        text = format!("{text}, by label {label}");
    }
    // What is the same for all of them needs to be said once.
    let common = common(&stage.clusters);
    if let Some(changes) = common.clone().or_else(|| changes(&stage.clusters)) {
        text = format!("{text}; {changes}");
    }
    look.twig(&mut page.out, branch, trunk, &text);
    for task in stage.definition.gates(TaskTime::Before) {
        self::task(page, "before", task, trunk);
    }
    let most = look.most(NAMED);
    page.cut |= number > most;
    let shown: Vec<_> = stage.clusters.iter().take(most).collect();
    for turn in shown.chunk_by(|a, b| a.turn == b.turn) {
        // Neighbors with the same fate have it told once.
        let groups = turn.chunk_by(|a, b| common.is_some() || change(a) == change(b));
        let groups: Vec<_> = groups
            .map(|group| {
                let names: Vec<_> = group.iter().map(|it| it.name.as_str()).collect();
                let names = names.join(", ");
                match group.first().filter(|_| common.is_none()) {
                    Some(first) => format!("{names} ({})", change(first)),
                    None => names,
                }
            })
            .collect();
        let number = turn.first().and_then(|cluster| cluster.turn);
        let label = number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
        let first = format!("{trunk}{label}");
        let rest = format!("{trunk}{}", " ".repeat(label.len()));
        page.hang(&first, &rest, &groups.join("; "));
    }
    if number > most {
        let _ = writeln!(page.out, "{trunk}and {} more", number - most);
    }
    for task in stage.definition.gates(TaskTime::After) {
        self::task(page, "after", task, trunk);
    }
    if let Some(ends) = stage.ends.as_ref().and_then(StageEnd::describe) {
        look.twig(&mut page.out, trunk, trunk, &ends);
    }
}

/// The clusters that are in no stage, and those of which nobody can say in which.
fn unplaced(plan: &Plan) -> (Vec<&PlannedCluster>, Vec<&PlannedCluster>) {
    let refused = plan
        .refusals
        .iter()
        .filter(|refusal| refusal.kind == RefusalKind::ClusterInNoStage)
        .flat_map(|refusal| &refusal.clusters);
    let nowhere: BTreeSet<&String> = refused.collect();
    plan.unplaced
        .iter()
        .partition(|cluster| nowhere.contains(&cluster.name))
}

/// What happens to all clusters of a stage alike.
fn common(clusters: &[PlannedCluster]) -> Option<String> {
    let first = change(clusters.first()?);
    clusters
        .iter()
        .all(|cluster| change(cluster) == first)
        .then_some(first)
}

/// What a cluster gets whose snapshot stays.
const REWRITTEN: &str = "with other overrides or apply strategy";

/// How many clusters of a stage have which fate; `None` without clusters.
fn changes(clusters: &[PlannedCluster]) -> Option<String> {
    let mut numbers: BTreeMap<_, usize> = BTreeMap::new();
    for cluster in clusters {
        let key = (cluster.change, cluster.rewritten);
        *numbers.entry(key).or_default() += 1;
    }
    let part = |((change, rewritten), number): (&(ClusterChange, bool), &usize)| {
        let how = match change {
            _ if *rewritten => REWRITTEN,
            // What takes something back is loud.
            ClusterChange::Back => "BACK",
            change => change.as_str(),
        };
        format!("{number} {how}")
    };
    let parts: Vec<_> = numbers.iter().map(part).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What happens to a cluster: `snapshot 0 -> 1`.
fn change(cluster: &PlannedCluster) -> String {
    let now = cluster.snapshot.as_deref();
    let then = cluster.new_snapshot.as_deref();
    match (cluster.change, now, then) {
        (ClusterChange::Unchanged, Some(now), _) if cluster.rewritten => {
            format!("snapshot {now}, {REWRITTEN}")
        }
        (ClusterChange::Unchanged, Some(now), _) => format!("unchanged at snapshot {now}"),
        (ClusterChange::New, _, Some(then)) => format!("new, snapshot {then}"),
        (ClusterChange::Back, Some(now), Some(then)) => {
            let by = cluster.written_by.as_deref();
            let by = by.map_or_else(String::new, |run| format!(", which {run} rolled out"));
            format!("BACK to snapshot {then} from {now}{by}")
        }
        (_, Some(now), Some(then)) => format!("snapshot {now} -> {then}"),
        (_, Some(now), None) => format!("has snapshot {now}"),
        (_, None, _) => "has no content".to_owned(),
    }
}

fn task(page: &mut TextPage<'_>, when: &str, task: &GateFacts, trunk: &str) {
    let first = format!("{trunk}{when}: ");
    let text = match (&task.request, &task.wait) {
        (Some(request), _) => format!("{} {request}", task.kind),
        (None, Some(wait)) => {
            let known = duration::parse(wait).map(duration::describe);
            format!("{} of {}", task.kind, known.as_ref().unwrap_or(wait))
        }
        (None, None) => task.kind.clone(),
    };
    page.look.twig(&mut page.out, &first, trunk, &text);
}

/// Clusters without turns, those with the same fate together.
fn several(page: &mut TextPage<'_>, clusters: &[&PlannedCluster], trunk: &str) {
    let fates = clusters.iter().map(|it| (change(it), it.name.as_str()));
    let groups = together(fates);
    let most = page.look.most(NAMED);
    for (fate, members) in groups {
        page.cut |= members.len() > most;
        let text = format!("{} ({fate})", list(&members, most));
        page.look.twig(&mut page.out, trunk, trunk, &text);
    }
}

fn point<K>(page: &mut TextPage<'_>, label: &str, kind: &str, point: &PlanPoint<K>) {
    let paint = page.look.paint;
    let code = point.code.as_deref().unwrap_or_default();
    let code = if code.is_empty() {
        String::new()
    } else {
        format!(" {}", paint.bold(&escape::line(code)))
    };
    let _ = writeln!(page.out, "\n{label}{code} {}", paint.bold(kind));
    page.hang("  ", "  ", &point.message);
    let clusters = unnamed(&point.clusters, &point.message);
    page.clusters(clusters, point.stage.as_deref());
    page.remedies(&point.remedies);
    page.evidence(&EvidenceValues::new(&point.evidence, page.detail()));
}
