//! What is shown before a run is made: what the controller would compute, what speaks against it, and
//! what is asked.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::existing::{self, ExistingRun};
use super::wanted::{LaunchPreparation, RunLaunch};
use crate::change::neighbours::{NeighborRun, neighbours};
use crate::change::preview::Preview;
use crate::change::{RunWish, guard};
use crate::commands::gather::manifests::{RenderMaterial, WorkQuery};
use crate::commands::gather::placement_objects::PlacementObjects;
use crate::commands::gather::plan_inputs::{self, PlanWithInputs, PlannedRun, StrategyChoice};
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::changed_objects::{ContentRisks, deleted_objects, first_sentence};
use crate::commands::operate::operation::{ThisRun, WriteProposal};
use crate::commands::operate::safeguards::{self, UnhelpfulContent};
use crate::commands::show::plan::diff;
use crate::contents::{self, ManifestKey};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::duration;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::run::UpdateRun;
use crate::manifests::texts_of;
use crate::plan::{
    ObjectChanges, Plan, PlanOutcome, PlannedCluster, PlannedStage, RefusalKind, Warning,
    WarningKind,
};
use crate::problems::members::all_silent_since;
use crate::render::style::TextPaint;
use crate::render::{self, RenderLook};
use crate::report::Subject;
use crate::rollout::rollback::{self, overrides_then};
use crate::rollout::versions::Version;
use crate::rollout::{GateFacts, Rollout, TaskTime, binding_trouble};
use crate::words::{Hint, by_number, capital, count, enumerate};

/// A run that is to be made, as it was shown.
pub(super) enum LaunchOffer {
    Same(RunLaunch, ThisRun),
    New {
        launch: RunLaunch,
        /// What it says of itself; `None` where it was refused.
        wish: Option<Box<RunWish>>,
        agreed: AgreedPlan,
    },
}

/// What was shown of a run before it was made.
pub(in crate::commands) struct AgreedPlan {
    pub(super) beside: Vec<NeighborRun>,
    /// The index of the snapshot whose changes were shown; `None` for one that was still to be made.
    pub(super) snapshot: Option<String>,
    /// The objects of a run's snapshot that nobody named; none where they are not known.
    content: Vec<Value>,
    /// The stages; none where they were unknown.
    stages: Vec<AgreedStage>,
    pub(super) risks: ContentRisks,
    /// Whether the run begins by itself once it is made.
    pub(super) begins: bool,
}

struct AgreedStage {
    name: String,
    gates: Vec<AgreedGate>,
    /// In their order; `None` where they were unknown.
    clusters: Option<Vec<String>>,
    /// How many are updated at once; `None` where that was unknown.
    at_once: Option<usize>,
}

/// When it is asked or waited, of which type the task is, and how long a wait is.
type AgreedGate = (TaskTime, String, Option<SignedDuration>);

impl AgreedPlan {
    fn new(launch: &RunLaunch, plan: Plan, content: Vec<Value>, beside: Vec<NeighborRun>) -> Self {
        let seen = plan.sees_clusters() && plan.unplaced.is_empty();
        let is_next = plan.content.is_next();
        let stage = |stage: PlannedStage| {
            let gates = stage.definition.gates.into_iter();
            let wait = |it: &GateFacts| duration::parse(it.wait.as_deref()?);
            let gates = gates.filter_map(|it| Some((it.when?, it.kind.clone(), wait(&it))));
            let clusters = stage.clusters.into_iter().map(|it| it.name);
            AgreedStage {
                name: stage.definition.name,
                gates: gates.collect(),
                clusters: seen.then(|| clusters.collect()),
                at_once: stage.concurrency.filter(|_| seen),
            }
        };
        Self {
            beside,
            begins: launch.begins_by_itself() || plan.starts_at_once(),
            risks: content_risks(launch, &plan),
            content,
            snapshot: plan.content.snapshot.filter(|_| !is_next),
            stages: plan.stages.into_iter().map(stage).collect(),
        }
    }

    /// What the first stage of a run is that is another one than was shown. What the controller was
    /// given may have changed since, or it may not have seen the last change.
    pub(super) fn differs(&self, rollout: &Rollout<'_>) -> Option<String> {
        let stages = rollout.stages.iter().filter(|stage| !stage.deletes);
        let mut stages = stages.filter(|_| !self.stages.is_empty()).enumerate();
        stages.find_map(|(at, stage)| {
            let (name, at_once) = (&stage.status.name, stage.concurrency);
            let Some(shown) = self.stages.get(at) else {
                return Some(format!("one more stage {name}"));
            };
            if shown.name != *name {
                return Some(format!("stage {name} instead of {}", shown.name));
            }
            let gates = stage.gates.iter();
            let gates = gates.map(|it| (it.time, it.task.kind.clone(), it.wait()));
            if !gates.eq(shown.gates.iter().cloned()) {
                return Some(format!("other gates in stage {name}"));
            }
            let clusters: Vec<_> = stage.clusters.iter().map(|it| it.name).collect();
            if shown.clusters.as_ref().is_some_and(|it| clusters != *it) {
                return Some(match clusters.as_slice() {
                    [] => format!("no clusters in stage {name}"),
                    clusters => format!("{} in stage {name}", enumerate(clusters)),
                });
            }
            let is_other = shown.at_once.is_some_and(|it| it != at_once);
            is_other.then(|| format!("{at_once} at a time in stage {name}"))
        })
    }
}

/// Works out what is shown of a run that is to be made. What is `asked` is whether a script runs it, and whether it is
/// a dry run.
pub(super) fn offer(
    mut launch: RunLaunch,
    asked: (bool, bool),
    look: &RenderLook,
    reading: &mut SourceReading,
) -> Result<WriteProposal<LaunchOffer>, Error> {
    if let ExistingRun::Same {
        this,
        content,
        is_unstarted,
    } = existing::look(&launch, reading)?
    {
        let mut preview = Preview::default();
        if !is_unstarted || !launch.start {
            let left = launch.first.iter().map(|it| it.object().name.as_str());
            if !is_unstarted && !launch.first.is_empty() {
                preview.warning(&format!(
                    "{} stays as it is, because {} has already begun",
                    enumerate(left),
                    this.object.name
                ));
            }
            launch.first.clear();
        }
        let is_first = !launch.first.is_empty();
        if is_first {
            preview.append(std::mem::take(&mut launch.preview));
        }
        preview.status(&format!(
            "{} already exists with the same spec: continuing with it{content}",
            this.object
        ));
        return Ok(WriteProposal {
            preview,
            question: Ok(launch.question.clone().filter(|_| is_first)),
            what: LaunchOffer::Same(launch, this),
        });
    }
    let (unattended, _) = asked;
    let inputs = plan(&launch, launch.snapshot.clone(), reading)?;
    let mut preview = std::mem::take(&mut launch.preview);
    let (plan, around) = show(&launch, inputs, look, (&mut preview, reading))?;
    let beside = neighbours(&around.inventory, &launch.run.name);
    let index = launch.snapshot.as_deref();
    if let Some(then) = index.and_then(|index| overrides_then(&around.inventory, index)) {
        preview.warning(&format!(
            "overrides are not rolled back: {then}; a run uses the overrides as they are"
        ));
    }
    let removed = plan.removed.iter().filter(|it| it.snapshot.is_some());
    let removed = removed.map(|it| it.name.clone());
    let removed = removed.filter(|it| loses_content(&around.inventory, it));
    let removed: Vec<_> = removed.collect();
    if !removed.is_empty() && index.is_some() {
        preview.warning(&format!(
            "the placement's policy is as it is now: the run also removes everything from {}",
            enumerate(&removed)
        ));
    }
    preview.neighbours(&beside);
    let next = plan.content.snapshot.as_deref();
    let content = objects(&around, next.filter(|_| launch.snapshot.is_none()));
    let mut print = DefaultHasher::new();
    content.hash(&mut print);
    let what = format!("the content of {}", launch.placement);
    preview.fact(what, "as the hub has it", &print.finish().to_string());
    let wish = guard(&launch, &plan, &around, reading)
        .and_then(|()| keeps_gates(&launch, &plan, unattended, reading))
        .and_then(|()| empties(&launch, (&plan, removed.as_slice()), asked, reading))
        .and_then(|()| stalls(&launch, &plan, asked, reading))
        .and_then(|()| takes_back_only(&launch, &plan, &around.inventory, unattended, reading))
        .and_then(|()| unheard(&launch, &around.inventory, unattended, reading))
        .and_then(|()| run_wish(&launch, &plan, reading));
    let (question, wish) = match wish {
        Ok(wish) => (Ok(question(&launch, &plan, &removed)), Some(Box::new(wish))),
        Err(error) => (Err(error), None),
    };
    Ok(WriteProposal {
        preview,
        question,
        what: LaunchOffer::New {
            agreed: AgreedPlan::new(&launch, plan, content, beside),
            launch,
            wish,
        },
    })
}

/// Refuses to let a script start a run without a gate that the run had which it is made of.
fn keeps_gates(
    launch: &RunLaunch,
    plan: &Plan,
    unattended: bool,
    reading: &SourceReading,
) -> Result<(), Error> {
    let mut dropped = plan.warnings_of(WarningKind::GateDropped);
    let dropped = dropped.find(|it| it.is_of_source());
    let Some(dropped) = dropped.filter(|_| unattended && launch.start) else {
        return Ok(());
    };
    let mut meant = launch.run.fleet("run");
    if let Some(from) = &launch.from {
        meant = meant
            .flag("--from", from)
            .flag("--strategy", &launch.strategy);
    }
    meant = meant.flag_of("--snapshot", launch.snapshot.as_ref());
    meant = meant.switch_if(!launch.first.is_empty(), "--replace");
    let hint = Hint::new("if that is meant, name the strategy:").command(meant);
    let why = dropped.message.trim_end_matches('.');
    Err(reading.refused(why).hint(hint))
}

/// Shows what a run does that was made, and got another snapshot than was shown before; `None` where that has
/// the same objects.
pub(super) fn show_again(
    launch: &RunLaunch,
    agreed: &AgreedPlan,
    index: &str,
    look: &RenderLook,
    (preview, reading): (&mut Preview, &mut SourceReading),
) -> Result<Option<ContentRisks>, Error> {
    let inputs = plan(launch, Some(index.to_owned()), reading)?;
    let content = objects(&inputs.around, Some(index));
    if agreed.snapshot.is_none() && !agreed.content.is_empty() && agreed.content == content {
        return Ok(None);
    }
    let (plan, _) = show(launch, inputs, look, (preview, reading))?;
    let got: BTreeSet<_> = content.iter().map(ManifestKey::of).collect();
    let mut shown = agreed.content.iter().map(ManifestKey::of);
    let lacking = shown.find(|it| !got.contains(it) && !got.is_empty());
    Ok(Some(ContentRisks {
        lacking: lacking.map(|it| {
            format!(
                "its snapshot {index} lacks {}, which the plan showed",
                it.describe()
            )
        }),
        ..content_risks(launch, &plan)
    }))
}

/// The objects of a snapshot, by kind and name.
fn objects(around: &PlacementObjects, index: Option<&str>) -> Vec<Value> {
    let version = index.map(|index| Version::of_index(&around.inventory, index));
    let parts = version.and_then(|it| texts_of(&it, &around.texts));
    let objects = parts.map_or_else(Vec::new, contents::manifests);
    objects.into_iter().map(|it| it.value).collect()
}

/// For what of its content a run would be stuck, as a clause. Content with which clusters fail already
/// counts where a run goes for it that continues by itself as soon as they do not.
fn stuck_for(launch: &RunLaunch, plan: &Plan) -> Option<String> {
    let failing = launch.deletes_what_goes_on();
    let failing = failing.then_some(WarningKind::ClusterFailing);
    let mut kinds = WarningKind::CONTENT_REFUSED.into_iter().chain(failing);
    let why = kinds.find_map(|kind| clause(plan, kind))?;
    Some(first_sentence(&why))
}

fn content_risks(launch: &RunLaunch, plan: &Plan) -> ContentRisks {
    ContentRisks {
        deleted: deleted_objects(&plan.changes),
        refused: stuck_for(launch, plan),
        lost: clause(plan, WarningKind::CascadingDeletion),
        ..ContentRisks::default()
    }
}

pub(super) fn plan(
    launch: &RunLaunch,
    snapshot: Option<String>,
    reading: &mut SourceReading,
) -> Result<PlanWithInputs, Error> {
    let first = launch.first.iter();
    let wish = PlannedRun {
        placement: launch.placement.clone(),
        strategy: StrategyChoice::Named(launch.strategy.clone()),
        snapshot,
        run: Some(launch.run.name.clone()),
        made_of: launch.from.clone(),
        in_place_of: first.map(|it| it.object().name.clone()).collect(),
    };
    plan_inputs::read(reading, &wish)
}

fn show(
    launch: &RunLaunch,
    PlanWithInputs {
        plan,
        around,
        overrides,
    }: PlanWithInputs,
    look: &RenderLook,
    (preview, reading): (&mut Preview, &mut SourceReading),
) -> Result<(Plan, PlacementObjects), Error> {
    let settled: Vec<_> = launch
        .first
        .iter()
        .map(LaunchPreparation::object)
        .cloned()
        .collect();
    let plain = look.plain();
    preview.picture(
        render::plan::brief(&plan, look),
        &render::plan::brief(&plan, &plain),
    );
    preview.warnings(render::plan::brief_warnings(&plan, &settled));
    if plan.compares_only {
        let applied = around.inventory.placement.present();
        let owns = applied.is_some_and(|it| it.apply_strategy().takes_over());
        let owns = if owns {
            ", but KubeFleet becomes an owner of what exists there, and deletes it when the placement leaves \
             the cluster (not with whenToTakeOver: Never)"
        } else {
            ""
        };
        preview.status(&format!(
            "{} only compares (ReportDiff): nothing is applied to any cluster{owns}",
            launch.placement
        ));
    }
    let stages = plan.stages.iter().filter(|it| !it.clusters.is_empty());
    let tasks = stages.flat_map(|it| &it.definition.gates);
    let gates = tasks.filter(|gate| gate.request.is_some()).count();
    if launch.takes_back && gates > 0 {
        preview.warning(&format!(
            "the rollback waits for approvals as any run does ({gates} in strategy {}); to use \
             another strategy, pass --strategy",
            launch.strategy
        ));
    }
    for cluster in plan.clusters() {
        preview.cluster(&cluster.name, cluster.snapshot.as_deref());
    }
    let placement = launch.placement.clone();
    let mut material = RenderMaterial::new(placement, around, overrides, false);
    if launch.diff {
        material.read_works(reading, WorkQuery::Of(&[]));
        reading.no_hub()?;
        differences(&plan, &material, look.paint, preview);
    }
    Ok((plan, material.around))
}

fn differences(plan: &Plan, material: &RenderMaterial, paint: TextPaint, preview: &mut Preview) {
    let changes = diff::changes(plan, material, false);
    let text = |paint| changes.iter().map(|it| it.text(paint)).collect::<String>();
    if plan.stages.is_empty() {
        preview.status("how the objects change is unknown, because the stages are");
    } else if plan.changes.is_empty() {
        preview.status("how the objects change is unknown");
    } else if changes.is_empty() {
        preview.status("no cluster's objects change");
    } else {
        preview.picture(text(paint), &text(TextPaint::new(false)));
    }
}

/// How many reasons an error line names of those for which the controller would refuse.
const REASONS: usize = 3;

/// Refuses what the controller would refuse, what could not be checked, and what would take clusters
/// back without a word.
pub(super) fn guard(
    launch: &RunLaunch,
    plan: &Plan,
    around: &PlacementObjects,
    reading: &SourceReading,
) -> Result<(), Error> {
    if plan.outcome == PlanOutcome::Refused {
        let mut reasons: Vec<_> = plan.refusals.iter().map(|it| it.message.clone()).collect();
        let others = reasons.len().saturating_sub(REASONS);
        if others > 1 {
            reasons.truncate(REASONS);
            reasons.push(format!("There are {others} other reasons."));
        }
        let first = plan.refusals.first();
        let lacks_strategy = first.is_some_and(|it| it.kind == RefusalKind::StrategyNotFound);
        let plan = launch.run.scope().fleet("plan");
        let plan = plan.flag("--placement", &launch.placement.name);
        let plan = plan.flag("--strategy", &launch.strategy);
        return Err(Error::new(
            Exit::Failed,
            format!(
                "KubeFleet would refuse {}: {} {}.",
                launch.run,
                reasons.join(" "),
                capital(&reading.record.nothing("sent"))
            ),
        )
        .hint(if lacks_strategy {
            another_strategy(launch, reading)
        } else {
            let plan = plan.flag_of("--snapshot", launch.snapshot.as_ref());
            Hint::new("see the remedies:").command(plan)
        }));
    }
    let hidden = clause(plan, WarningKind::StrategyUnreadable);
    safeguards::sees_strategy(hidden, launch.accepted, reading)?;
    let guards = if launch.start {
        guard::LAUNCH
    } else {
        guard::INIT
    };
    safeguards::seen(guards, launch.accepted, &around.inventory, reading)?;
    if plan.outcome == PlanOutcome::Unknown && !launch.accepted.unseen {
        let missing: Vec<_> = plan
            .not_checked
            .iter()
            .map(|gap| format!("{}: {}", gap.what, gap.why))
            .collect();
        let refused = reading.refused(format!(
            "what KubeFleet would do with {} is unknown ({})",
            launch.run,
            enumerate(missing)
        ));
        return Err(Error {
            exit: Exit::Incomplete,
            ..refused.hint("or accept the risk with --allow-unseen")
        });
    }
    let back: Vec<_> = plan
        .going_back()
        .map(|cluster| cluster.name.as_str())
        .collect();
    if launch.start && !launch.accepted.older && !back.is_empty() {
        return Err(reading
            .refused(format!(
                "{} would get an older snapshot ({})",
                enumerate(back),
                plan.content.snapshot.as_deref().unwrap_or("unknown")
            ))
            .hint(
                Hint::new("to do that, use --allow-older, or roll back:").command({
                    let rollback = launch.run.scope().fleet("rollback");
                    let rollback = rollback.arg(launch.placement.word());
                    rollback.flag_of("--to", plan.content.snapshot.as_ref())
                }),
            ));
    }
    Ok(())
}

fn run_wish(launch: &RunLaunch, plan: &Plan, reading: &SourceReading) -> Result<RunWish, Error> {
    let old = plan.starts_at_once();
    if old && !launch.start {
        return Err(reading.refused(format!(
            "{} cannot be initialized without starting it: KubeFleet on this hub ignores spec.state \
             and starts every run immediately",
            launch.run
        ))
        .hint(
            Hint::new("preview it with plan, then start it:").command(
                launch
                    .run
                    .fleet("run")
                    .flag("--placement", &launch.placement.name)
                    .flag("--strategy", &launch.strategy),
            ),
        ));
    }
    let latest = launch.snapshot.as_deref() == Some("latest");
    let mut snapshot = match &launch.snapshot {
        Some(_) if latest => plan.content.snapshot.clone(),
        Some(index) => Some(index.clone()),
        None => None,
    };
    let is_current = old && snapshot.is_none();
    if is_current {
        // It begins before anyone can look which content it got.
        let content = &plan.content;
        let lacks_last = content.is_next() && content.latest_snapshot.is_some();
        let lacks_last = lacks_last.then(|| "the last change".to_owned());
        let detected = content.change_detected;
        let detected = detected.map(|at| format!("a change detected at {at}"));
        if let Some(change) = detected.or(lacks_last) {
            return Err(reading.refused(format!(
                "the latest snapshot of {} lacks {change}; KubeFleet on this hub would immediately \
                 start with the old content",
                launch.placement
            ))
            .hint("try again in 30s; --snapshot latest rolls out the old content"));
        }
        snapshot.clone_from(&plan.content.latest_snapshot);
    }
    Ok(RunWish {
        placement: launch.placement.name.clone(),
        strategy: launch.strategy.clone(),
        snapshot,
        is_current,
        // What is made of a rollback is one, unless it goes elsewhere.
        rolled_back: launch.rolled_back.clone().filter(|index| {
            let to = launch.snapshot.as_deref();
            to.is_some_and(|to| rollback::is_newer(index, to))
        }),
        state: match (old, launch.begins_by_itself()) {
            (true, _) => None,
            (false, true) => Some("Run"),
            (false, false) => Some("Initialize"),
        },
        unknown: launch.unknown.clone(),
    })
}

/// Refuses to start a run with a snapshot that nobody named, and that has no objects, that lacks a namespace
/// or a definition of custom resources that clusters have, or that was rolled back, and one that removes the placement
/// from too many clusters.
fn empties(
    launch: &RunLaunch,
    (plan, removed): (&Plan, &[String]),
    (unattended, is_dry): (bool, bool),
    reading: &SourceReading,
) -> Result<(), Error> {
    let is_named = launch.snapshot.is_some() && launch.chosen.is_none();
    // What is still to be made can only be named once a run has it, which a dry run does not make.
    let is_known = is_dry || counts_before(launch, plan) || plan.content.snapshot_certain;
    if !unattended || !launch.start || !is_known {
        return Ok(());
    }
    let (name, index) = (&launch.run.name, plan.content.snapshot.as_deref());
    let index = index.unwrap_or_default();
    let updated = plan.stages.iter().flat_map(|it| &it.clusters);
    let too_many = removes_most(launch.takes_back, updated.count(), removed);
    // Which snapshot is named says nothing of the policy.
    if let Some(why) = too_many.as_ref().filter(|_| launch.takes_back) {
        let hint = "correct the placement's policy first, or roll back at a terminal";
        return Err(safeguards::too_far(name, why, reading).hint(hint));
    }
    let unhelpful = unhelpful_content(plan);
    // That is sent to nobody, whoever names it.
    if let Some((content @ UnhelpfulContent::NameReused, why)) = &unhelpful
        && !launch.takes_back
    {
        let content = (*content, why.as_str());
        return Err(safeguards::unhelpful(
            name,
            content,
            launch.command(),
            reading,
        ));
    }
    if is_named {
        return Ok(());
    }
    let refused = if let Some(lost) = clause(plan, WarningKind::ComparedObjectsDeleted) {
        let hint = "see plan; a script needs a run made with --snapshot";
        safeguards::too_far(name, &lost, reading).hint(hint)
    } else if let Some(lost) = clause(plan, WarningKind::CascadingDeletion) {
        safeguards::would_delete(name, &lost, reading)
    } else if let Some(why) = too_many {
        let hint = "check the placement's policy; a script needs a run made with --snapshot";
        safeguards::too_far(name, &why, reading).hint(hint)
    } else if let Some(empty) = plan.warnings_of(WarningKind::SnapshotEmpty).next() {
        safeguards::would_empty(name, index, &empty.clusters, reading)
    } else if let Some((content, why)) = unhelpful {
        let named = launch.command();
        let unnamed = launch.snapshot.is_none().then_some(index);
        let named = named.flag_of("--snapshot", unnamed);
        safeguards::unhelpful(name, (content, &why), named, reading)
    } else {
        return Ok(());
    };
    Err(match &launch.chosen {
        Some(named) => refused.hint(named.clone()),
        None => refused,
    })
}

/// Whether a cluster from which a run removes the placement loses what it has: what was never released to it, or leaves
/// the fleet, does not.
fn loses_content(inventory: &Inventory, cluster: &str) -> bool {
    let mut bindings = inventory.bindings_of(cluster);
    let leaves = inventory
        .member(cluster)
        .is_some_and(MemberCluster::is_leaving);
    let has_content = bindings.any(Binding::was_released);
    has_content && !leaves && !inventory.keeps_content(cluster)
}

/// That a run removes the placement from clusters, and updates none, or that a rollback removes it from at least as many
/// as it updates: the placement's policy may be what is wrong.
fn removes_most(takes_back: bool, updated: usize, removed: &[String]) -> Option<String> {
    let is_most = updated == 0 || takes_back && removed.len() >= updated;
    let updates = match updated {
        0 => "updates no cluster".to_owned(),
        _ => format!("updates {}", count(updated, "cluster")),
    };
    (is_most && !removed.is_empty()).then(|| {
        let removed = enumerate(removed);
        format!("it {updates}, and removes the placement from {removed}")
    })
}

fn unhelpful_content(plan: &Plan) -> Option<(UnhelpfulContent, String)> {
    if let Some(why) = clause(plan, WarningKind::SnapshotRolledBack) {
        return Some((UnhelpfulContent::RolledBack, why));
    }
    let why = clause(plan, WarningKind::SnapshotNameReused)?;
    Some((UnhelpfulContent::NameReused, why))
}

/// Refuses to start a run that would stall at an override, or fail at a binding. A rollback is started
/// all the same, for the clusters that it can reach; content that may have changed is looked at once
/// the run has it.
fn stalls(
    launch: &RunLaunch,
    plan: &Plan,
    (unattended, is_dry): (bool, bool),
    reading: &SourceReading,
) -> Result<(), Error> {
    if !unattended || !launch.start || launch.takes_back {
        return Ok(());
    }
    if let Some(fails) = fails(plan) {
        let why = fails.message.trim_end_matches('.');
        let gone = fails.remedies.iter().filter_map(|it| it.command.clone());
        return Err(reading
            .refused(why)
            .hint(Hint::new("wait until it is gone:").commands(gone)));
    }
    let name = &launch.run.name;
    let counts = is_dry || counts_before(launch, plan);
    if let Some(why) = stuck_for(launch, plan).filter(|_| counts) {
        let hint = "correct the content first, or start the run at a terminal";
        return Err(safeguards::would_be_stuck(name, &why, reading).hint(hint));
    }
    let mut warnings = plan.warnings_of(WarningKind::OverrideNotApplicable);
    let Some(stalls) = warnings.next().filter(|_| counts) else {
        return Ok(());
    };
    let clusters = enumerate(&stalls.clusters);
    Err(reading
        .refused(format!(
            "{name} would be stuck at {clusters}: {} does not fit",
            stalls.subject
        ))
        .hint("correct the override first, or start the run at a terminal"))
}

/// What to do where the strategy does not exist: `retry` takes no other.
fn another_strategy(launch: &RunLaunch, reading: &SourceReading) -> Hint {
    let strategies = launch.run.scope().fleet("strategies");
    let retried = launch
        .from
        .as_ref()
        .filter(|_| reading.command() == "retry");
    let Some(from) = retried else {
        return Hint::new("choose another strategy with --strategy; list them:")
            .command(strategies);
    };
    let run = launch.run.scope().fleet("run").flag("--from", from);
    let run = run.flag("--strategy", "STRATEGY").switch("--replace");
    let run = run.flag_of("--snapshot", launch.snapshot.as_ref());
    Hint::new("make it with another strategy:")
        .command(run)
        .text("list them:")
        .command(strategies)
}

/// Refuses to start a rollback that changes what clusters have which the run that is rolled back has not reached,
/// or that changes nothing where clusters fail: then what is wrong there is not the snapshot.
fn takes_back_only(
    launch: &RunLaunch,
    plan: &Plan,
    inventory: &Inventory,
    unattended: bool,
    reading: &SourceReading,
) -> Result<(), Error> {
    let Some(named) = launch
        .chosen
        .as_ref()
        .filter(|_| unattended && launch.takes_back)
    else {
        return Ok(());
    };
    // Another policy removes what no snapshot would bring back.
    let updated = || plan.stages.iter().flat_map(|stage| &stage.clusters);
    let current = rollback::current(inventory);
    let refused = |why: String| {
        let index = launch.snapshot.as_deref();
        let mut runs = inventory.runs.items.iter().rev();
        let then = runs.find(|it| Some(it.status.snapshot_index.as_str()) == index);
        let restore = current.zip(then);
        let restore = restore.and_then(|(now, then)| safeguards::restore_overrides(now, then));
        let first = restore.map_or_else(|| named.clone(), |restore| restore.and(named.clone()));
        Err(reading.refused(why).hint(first))
    };
    if let Some(now) = current {
        let moved = moved_ahead(launch, plan, &Rollout::of(inventory, now));
        if !moved.is_empty() {
            let mut all = moved.iter();
            let is_certain = all.all(|name| changes_objects(plan, name).is_some());
            let would = if is_certain { "would" } else { "may" };
            let (clusters, run) = (enumerate(moved), &now.meta.name);
            return refused(format!(
                "the rollback {would} change {clusters}, which {run} has not reached"
            ));
        }
    }
    let fails = |cluster: &&str| {
        let binding = inventory.binding(cluster);
        let trouble = binding.and_then(|it| binding_trouble(inventory, it));
        trouble.is_some_and(|it| it.refuses())
    };
    // What has the older snapshot already is not what is taken back.
    let clusters = updated().filter(|it| it.snapshot != launch.snapshot);
    let clusters = clusters.map(|it| it.name.as_str());
    let failing: Vec<_> = clusters.filter(fails).collect();
    let unfit: Vec<_> = plan
        .warnings_of(WarningKind::OverrideNotApplicable)
        .collect();
    let unfit_for = |cluster: &str| {
        let mut unfit = unfit.iter();
        unfit.find(|it| it.clusters.iter().any(|name| name == cluster))
    };
    // The run does not get past a stage of which no cluster gets anything.
    let mut stages = plan.stages.iter().filter(|it| !it.clusters.is_empty());
    if let Some(first) = stages.next()
        && let [unfit, ..] = unfit.as_slice()
        && first
            .clusters
            .iter()
            .all(|it| unfit_for(&it.name).is_some())
    {
        return refused(format!(
            "the rollback would be stuck at {}: {} does not fit",
            enumerate(first.clusters.iter().map(|it| &it.name)),
            unfit.subject
        ));
    }
    let gets = |cluster: &str| {
        unfit_for(cluster).is_none() && changes_objects(plan, cluster) != Some(false)
    };
    let objects = |index: &str| {
        let version = Version::of_index(inventory, index);
        version.sent().map(Subject::from).collect::<BTreeSet<_>>()
    };
    let Some(first) = failing.first() else {
        return Ok(());
    };
    let unfit = unfit_for(first);
    // What it changes on another cluster is worth it; or what fails may be an object that the other snapshot does
    // not have.
    let helps = if unfit.is_some() {
        updated().any(|it| gets(&it.name))
    } else {
        let both = current.zip(launch.snapshot.as_deref());
        both.is_some_and(|(now, to)| objects(&now.status.snapshot_index) != objects(to))
    };
    let unchanged: Vec<_> = plan.warnings_of(WarningKind::ClusterFailing).collect();
    let stalls = |cluster: &str| {
        let mut clusters = unchanged.iter().flat_map(|it| &it.clusters);
        clusters.any(|name| name == cluster)
    };
    if helps || failing.iter().any(|it| gets(it) && !stalls(it)) {
        return Ok(());
    }
    let (fail, get) = by_number(failing.len(), ("fails", "gets"), ("fail", "get"));
    let what = match unfit {
        Some(unfit) => format!("nothing new: {} does not fit", unfit.subject),
        None => "the same object again: an override or the cluster is at fault, not the snapshot"
            .to_owned(),
    };
    refused(format!("{} {fail}, and {get} {what}", enumerate(failing)))
}

fn changes_objects(plan: &Plan, cluster: &str) -> Option<bool> {
    let mut groups = plan.changes.iter();
    let is_in = |it: &&ObjectChanges| it.clusters.iter().any(|name| name == cluster);
    groups.find(is_in).map(|group| !group.is_none())
}

/// The clusters that a rollback changes, or may change, although the run that is rolled back has not reached them.
fn moved_ahead<'i>(launch: &RunLaunch, plan: &Plan, now: &Rollout<'i>) -> Vec<&'i str> {
    // What a rollback to the same snapshot has left is what is to be taken back.
    let index = &now.run.status.snapshot_index;
    let goes_on = index == launch.snapshot.as_deref().unwrap_or_default();
    let is_left = |it: &PlannedCluster| goes_on && it.snapshot == launch.rolled_back;
    let updated = plan.stages.iter().flat_map(|stage| &stage.clusters);
    let held = updated.filter(|it| it.snapshot.is_some() && !is_left(it));
    let held: BTreeSet<_> = held.map(|it| it.name.as_str()).collect();
    let moved = |name: &&str| held.contains(name) && changes_objects(plan, name) != Some(false);
    let ahead = now.still_to_reach().map(|it| it.name);
    ahead.filter(moved).collect()
}

/// For how long no member agent is heard, where a run that can still continue is deleted before the next
/// one is initialized: the controller may not be there.
fn unheard_for(launch: &RunLaunch, inventory: &Inventory) -> Option<SignedDuration> {
    /// Where nobody has reported for longer, reports are not what shows that a hub agent runs.
    const USUAL: SignedDuration = SignedDuration::from_hours(24);
    let is_at_stake = launch.replaces_what_continues();
    let unheard = all_silent_since(inventory.members.iter(), inventory.now);
    let since = unheard.filter(|since| is_at_stake && !has_written_after(*since, inventory))?;
    let lasting = inventory.now.duration_since(since);
    (lasting < USUAL).then_some(lasting)
}

/// Whether the controller wrote to a run so long after the last report that it ran without others.
fn has_written_after(report: Timestamp, inventory: &Inventory) -> bool {
    const SOON: SignedDuration = SignedDuration::from_mins(2);
    let noted = inventory.runs.iter().flat_map(UpdateRun::all_conditions);
    let mut noted = noted.filter_map(|it| it.since);
    noted.any(|at| at.duration_since(report) > SOON)
}

/// Refuses to let a script delete such a run.
fn unheard(
    launch: &RunLaunch,
    inventory: &Inventory,
    unattended: bool,
    reading: &SourceReading,
) -> Result<(), Error> {
    let unheard = unheard_for(launch, inventory);
    let Some(unheard) = unheard.filter(|_| unattended) else {
        return Ok(());
    };
    Err(reading
        .refused(format!(
            "the hub agent may be down, because no member agent has reported for {}: nobody would \
         initialize {} in place of the run that it deletes",
            duration::describe(unheard),
            launch.run.name
        ))
        .hint(
            Hint::new("find out whether the hub agent runs:")
                .command(launch.run.scope().fleet("doctor")),
        ))
}

/// What ends a run within seconds, and passes: a binding or a cluster of it is being deleted.
fn fails(plan: &Plan) -> Option<&Warning> {
    let kinds = [
        WarningKind::BindingDeleted,
        WarningKind::MemberClusterLeaving,
    ];
    let mut fails = kinds.into_iter().flat_map(|kind| plan.warnings_of(kind));
    fails.find(|it| it.passes())
}

/// Whether what is wrong with the content counts before the run exists. Elsewhere the run has to show
/// which snapshot it gets, because that of an object that was put right may not exist yet.
fn counts_before(launch: &RunLaunch, plan: &Plan) -> bool {
    launch.snapshot.is_some() || plan.starts_at_once() || launch.replaces_what_continues()
}

/// What the first warning of a kind says, as a clause.
fn clause(plan: &Plan, kind: WarningKind) -> Option<String> {
    let warning = plan.warnings_of(kind).next()?;
    Some(warning.message.trim_end_matches('.').to_owned())
}

/// What is asked before a run is made that a person could regret: what a script may not start, what removes the
/// placement from clusters, and what starts beside another run.
fn question(launch: &RunLaunch, plan: &Plan, removed: &[String]) -> Option<String> {
    if launch.question.is_some() || !launch.start {
        return launch.question.clone();
    }
    let name = &launch.run.name;
    if let Some(empty) = plan.warnings_of(WarningKind::SnapshotEmpty).next() {
        return Some(safeguards::asked_of_emptying(name, &empty.clusters));
    }
    if let Some(lost) = clause(plan, WarningKind::CascadingDeletion) {
        return Some(format!("Start {name}? {lost}."));
    }
    // What was shown is asked about once, also where the run may get other content.
    if let Some((content, _)) = unhelpful_content(plan) {
        return Some(content.asked(name));
    }
    if stuck_for(launch, plan).is_some() {
        return Some(format!("Start {name}, which would be stuck?"));
    }
    if let Some(stalls) = plan.warnings_of(WarningKind::OverrideNotApplicable).next() {
        let clusters = enumerate(&stalls.clusters);
        return Some(format!("Start {name}, which would be stuck at {clusters}?"));
    }
    if let Some(fails) = fails(plan) {
        let clusters = enumerate(&fails.clusters);
        let what = match fails.kind {
            WarningKind::BindingDeleted => "whose binding is being deleted",
            _ => "because it leaves the fleet",
        };
        return Some(format!(
            "Start {name}, which may fail at {clusters}, {what}?"
        ));
    }
    if !removed.is_empty() {
        return Some(safeguards::asked_of_removal(("Start", name), removed));
    }
    let settled = |name: &str| launch.first.iter().any(|first| first.object().name == name);
    let beside = plan
        .warnings_of(WarningKind::OtherRunActive)
        .find(|beside| !settled(&beside.subject.name))?;
    Some(format!(
        "Start {name} while {} is unfinished?",
        beside.subject.name
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::change::guard::AcceptedRisks;
    use crate::commands::operate::launching::wanted::tests::launch;
    use crate::inventory::source::ObjectTexts;
    use crate::plan::{self, PlanContents};
    use crate::rollout::life::tests::{OWN, SINCE, inventory, member, placement, run, snapshot};

    #[test]
    fn failing_clusters_count_where_a_run_that_continues_is_deleted() {
        let refused = |state: &str, replace: bool| {
            // A cluster is stuck.
            let mut old = run("old", "0", [Some(100), Some(101), Some(200), None]);
            old["spec"]["state"] = json!(state);
            let objects = [placement(), snapshot("0", OWN, Some(SINCE)), old];
            let inventory = inventory(&objects);
            let old = Rollout::of(&inventory, inventory.run_on("old").unwrap());
            let new = launch("", None, true, AcceptedRisks::default()).run;
            let launch = RunLaunch::again(&old, &new, replace, AcceptedRisks::default());
            let wish = PlannedRun {
                placement: launch.placement.clone(),
                strategy: StrategyChoice::Named(launch.strategy.clone()),
                snapshot: None,
                run: None,
                made_of: None,
                in_place_of: Vec::new(),
            };
            let texts = ObjectTexts::default();
            let contents = PlanContents::new(&texts, &[]);
            let mut plan = plan::compute(&inventory, &wish, &contents);
            plan.warnings.push(Warning::new(
                WarningKind::ClusterFailing,
                &launch.placement,
                "member-1 has snapshot 0 already, and it fails there.",
            ));
            content_risks(&launch, &plan).refused
        };
        let why = Some("member-1 has snapshot 0 already, and it fails there".to_owned());
        assert_eq!(refused("Run", true), why);
        assert_eq!(refused("Run", false), None);
        // What never started has nothing to continue, and one that is to stop does not.
        assert_eq!(refused("Initialize", true), None);
        assert_eq!(refused("Stop", true), None);
    }

    #[test]
    fn only_a_run_that_removes_more_than_it_updates_goes_too_far() {
        let said = |takes_back: bool, updated: usize, removed: &[&str]| {
            let removed: Vec<_> = removed.iter().map(|&it| it.to_owned()).collect();
            removes_most(takes_back, updated, &removed).unwrap_or_default()
        };
        let none = "it updates no cluster, and removes the placement from member-1";
        assert_eq!(said(false, 0, &["member-1"]), none);
        assert_eq!(said(true, 0, &["member-1"]), none);
        assert_eq!(said(false, 0, &[]), "");
        let as_many = "it updates 2 clusters, and removes the placement from member-1 and member-2";
        assert_eq!(said(true, 2, &["member-1", "member-2"]), as_many);
        // A rollback may leave out fewer clusters; what a new run leaves out is meant.
        assert_eq!(said(true, 2, &["member-1"]), "");
        assert_eq!(said(false, 1, &["member-1", "member-2"]), "");
    }

    #[test]
    fn no_run_that_can_continue_is_deleted_while_nobody_may_initialize_the_next() {
        let unheard = |old: Value, heard: i64, snapshot_of_new: Option<&str>, replaces: bool| {
            let objects = [
                placement(),
                snapshot("0", OWN, Some(SINCE)),
                old,
                member("member-1", 0),
                member("member-2", heard),
            ];
            let inventory = inventory(&objects);
            let old = Rollout::of(&inventory, inventory.run_on("old").unwrap());
            let new = launch("", snapshot_of_new, true, AcceptedRisks::default());
            let name = if replaces { old.run.object() } else { new.run };
            let mut new = RunLaunch::again(&old, &name, true, AcceptedRisks::default());
            new.snapshot = snapshot_of_new.map(str::to_owned);
            unheard_for(&new, &inventory).map(|it| it.as_secs())
        };
        let started = run("old", "0", [Some(8_600), Some(8_601), Some(8_810), None]);
        let (silent, heard) = (8_700, 8_950);
        // Only a run of the same name is not judged before.
        for snapshot in [None, Some("0")] {
            assert_eq!(unheard(started.clone(), silent, snapshot, true), Some(300));
            assert_eq!(unheard(started.clone(), silent, snapshot, false), None);
        }
        assert_eq!(unheard(started, heard, None, true), None);
        // The controller wrote long after the last report.
        let late = run("old", "0", [Some(8_600), Some(8_601), Some(8_830), None]);
        assert_eq!(unheard(late, silent, None, true), None);
        let mut idle = run("old", "0", [Some(8_600), Some(8_601), None, None]);
        idle["spec"]["state"] = json!("Initialize");
        assert_eq!(unheard(idle, silent, None, true), None);
    }
}
