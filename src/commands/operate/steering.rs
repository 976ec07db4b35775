//! Changing what a run is to do: what `run`, `stop` and `resume` have in common.

use std::time::Duration;

use crate::change::guard::{self, AcceptedRisks, Guard};
use crate::change::neighbours::neighbours;
use crate::change::preview::Preview;
use crate::change::record::ToldChange;
use crate::change::states::{RequestedState, StateStep, step};
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::operation::{
    ChangeOutcome, Operation, ThisRun, WriteEffect, interrupted,
};
use crate::commands::operate::refusal;
use crate::commands::show::wait::is_borne;
use crate::diagnose::{self, status::Status};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::{Concept, ObjectRef};
use crate::problems::{members, put_there};
use crate::report::{Finding, Verdict};
use crate::rollout::content::{
    GoesBack, MissingContent, emptied, leaving_ahead, lost_content, missing_content, overtaken,
};
use crate::rollout::{ClusterState, Phase, Rollout};
use crate::words::{Hint, enumerate};

/// A run that is steered.
pub(in crate::commands) struct SteeredRun {
    pub run: ThisRun,
    /// Whether something was written.
    pub written: bool,
    /// What was so already, where nothing was written.
    pub already: Option<String>,
}

/// The run of an inventory, understood. One that could not be read is not touched.
pub(in crate::commands) fn rollout_of<'i>(
    inventory: &'i Inventory,
    run: &ObjectRef,
) -> Result<Rollout<'i>, Error> {
    Rollout::new(inventory).ok_or_else(|| {
        let gap = inventory.gaps.get(&run.kind);
        let why = gap.map_or_else(|| "it does not exist".to_owned(), Clone::clone);
        Error::new(
            if gap.is_some() {
                Exit::Incomplete
            } else {
                Exit::NotFound
            },
            format!("{run} cannot be read: {why}"),
        )
        .hint(
            Hint::new("a run is changed only after it was read; check your permission:")
                .command(run.can_i("get")),
        )
    })
}

/// That the run that was read is the one that was meant, and no other of its name.
pub(in crate::commands) fn is_this(rollout: &Rollout<'_>, this: &ThisRun) -> Result<(), Error> {
    if this.uid.is_empty() || rollout.run.meta.uid == this.uid {
        return Ok(());
    }
    let run = &this.object;
    Err(Error::failed(format!(
        "{run} was replaced by another run with the same name in the meantime; nothing was sent to \
         the new one"
    ))
    .hint(Hint::new("check it, then decide again:").command(run.fleet("status"))))
}

/// Asks a run for another state, where that is to be written.
pub(in crate::commands) fn steer(
    inventory: &Inventory,
    run: &ObjectRef,
    wish: RequestedState,
    op: &mut Operation<'_>,
) -> Result<SteeredRun, Error> {
    let rollout = rollout_of(inventory, run)?;
    let mut steered = SteeredRun {
        run: ThisRun::of(rollout.run),
        written: false,
        already: None,
    };
    match step(&rollout, wish) {
        StateStep::Refused { why, hint } => return Err(Error::failed(why).hint(hint)),
        StateStep::Already(what) => steered.already = Some(what),
        StateStep::Write(change) => {
            steered.written = matches!(op.send(&change)?, ChangeOutcome::Written { .. });
        }
    }
    Ok(steered)
}

/// Refuses where these guards could not see what they need, unless that is accepted.
pub(in crate::commands) fn seen(
    guards: &[Guard],
    accepted: AcceptedRisks,
    inventory: &Inventory,
    reading: &SourceReading,
) -> Result<(), Error> {
    let unseen = guard::unseen(guards, accepted, &inventory.scope, &inventory.outcomes);
    if unseen.is_empty() {
        return Ok(());
    }
    Err(refusal::unseen(&unseen, &inventory.scope, reading))
}

/// Refuses to let a run go on of which nobody knows yet what it will do, unless that is accepted.
pub(in crate::commands) fn is_initialized(
    rollout: &Rollout<'_>,
    accepted: AcceptedRisks,
    reading: &SourceReading,
) -> Result<(), Error> {
    if rollout.phase != Phase::Initializing || accepted.older {
        return Ok(());
    }
    let run = rollout.run.object();
    Err(Error::new(
        Exit::Incomplete,
        format!(
            "{run} is not initialized yet: which snapshot its clusters would get is unknown; {}",
            reading.record.nothing("sent")
        ),
    )
    .hint(
        Hint::new("wait for it:")
            .command(run.fleet("wait").joined("--for", "initialized"))
            .text("or accept the risk with --allow-older"),
    ))
}

/// What a preview of a run is based on: its state, and the other runs on the placement.
pub(in crate::commands) fn facts(
    rollout: &Rollout<'_>,
    inventory: &Inventory,
    preview: &mut Preview,
) {
    state(rollout, preview);
    preview.neighbours(&neighbours(inventory, &rollout.run.meta.name));
}

/// The state of a run, as a preview compares it.
pub(in crate::commands) fn state(rollout: &Rollout<'_>, preview: &mut Preview) {
    let run = rollout.run;
    let state = run.spec.state.as_deref().unwrap_or("not set");
    let how = if rollout.is_live() {
        format!("in state {state}")
    } else {
        "finished or being deleted".to_owned()
    };
    preview.fact(run.object().to_string(), how, &run.meta.uid);
}

/// Warns that the controller aborts the run, whatever the write.
pub(in crate::commands) fn aborts(inventory: &Inventory, preview: &mut Preview) -> bool {
    let aborts = diagnose::aborts(inventory);
    if let Some(why) = &aborts {
        preview.warning(why);
    }
    aborts.is_some()
}

/// Says what of the bindings and of the runs on the placement could not be read.
pub(in crate::commands) fn unseen(inventory: &Inventory, preview: &mut Preview) {
    if let Some(gap) = &inventory.bindings.gap {
        preview.warning(&format!(
            "which snapshot each cluster has is unknown: {} {gap}",
            inventory.scope.kind(Concept::Binding)
        ));
    }
    if let Some(gap) = &inventory.runs.gap {
        preview.warning(&format!(
            "other runs on the placement are unknown: {} {gap}",
            inventory.scope.kind(Concept::UpdateRun)
        ));
    }
}

/// Warns of clusters that count as done and do not have what the run brought there any more.
pub(in crate::commands) fn no_longer_there(rollout: &Rollout<'_>, preview: &mut Preview) {
    if let Some(why) = lost_words(rollout) {
        preview.warning(&why);
    }
    if let Some(why) = overtaken_words(rollout) {
        preview.warning(&why);
    }
    let emptied = emptied(rollout);
    if !emptied.is_empty() {
        preview.warning(&format!(
            "snapshot {} has no objects: {} deletes everything from {}",
            rollout.run.status.snapshot_index,
            rollout.run.meta.name,
            enumerate(emptied)
        ));
    }
}

/// That clusters which count as done have nothing of the run any more; `None` where all have.
fn lost_words(rollout: &Rollout<'_>) -> Option<String> {
    let lost: Vec<_> = lost_content(rollout).iter().map(|it| it.0.name).collect();
    (!lost.is_empty()).then(|| {
        let lost = enumerate(lost);
        format!("{lost} lost what the run had brought: their bindings were created again")
    })
}

/// That clusters which count as done have another run's snapshot; `None` where none has.
fn overtaken_words(rollout: &Rollout<'_>) -> Option<String> {
    let overtaken = overtaken(rollout);
    let (verb, has) = match overtaken.len() {
        0 => return None,
        1 => ("counts", "has"),
        _ => ("count", "have"),
    };
    Some(format!(
        "{} {verb} as done, but {has} {} of another run: the next clusters get snapshot {} all the \
         same",
        enumerate(overtaken.iter().map(|it| it.cluster)),
        put_there(overtaken.iter().map(|it| it.index), [""; 0]),
        rollout.run.status.snapshot_index
    ))
}

/// Refuses what a script does not let a run do to the clusters that it would reach, `None` meaning all:
/// go on after another run took over those that are done, and delete everything for a snapshot without
/// objects that nobody named. Returns whether a person is asked.
pub(in crate::commands) fn guard_script(
    rollout: &Rollout<'_>,
    clusters: Option<&[&str]>,
    (is_script, accepted): (bool, AcceptedRisks),
    reading: &SourceReading,
) -> Result<bool, Error> {
    if clusters.is_some_and(<[_]>::is_empty) {
        return Ok(false);
    }
    let overtaken = lost_words(rollout).or_else(|| overtaken_words(rollout));
    let overtaken = overtaken.filter(|_| !accepted.older);
    if let Some(why) = overtaken.as_ref().filter(|_| is_script) {
        let nothing = reading.record.nothing("sent");
        let diagnose = rollout.run.object().fleet("diagnose");
        return Err(Error::failed(format!("{why}; {nothing}")).hint(
            Hint::new("to send it all the same, use --allow-older; to see which run to continue:")
                .command(diagnose),
        ));
    }
    let is_named = !rollout.run.spec.snapshot_index.trim().is_empty();
    let mut emptied = emptied(rollout);
    emptied.retain(|it| !is_named && clusters.is_none_or(|clusters| clusters.contains(it)));
    if is_script {
        guard_empty(rollout, &emptied, reading)?;
    }
    Ok(overtaken.is_some() || !emptied.is_empty())
}

/// Warns of clusters that leave the fleet, or whose agents are silent, of those that the run is to reach
/// next; `None` means all.
pub(in crate::commands) fn members_ahead(
    rollout: &Rollout<'_>,
    clusters: Option<&[&str]>,
    preview: &mut Preview,
) {
    let is_next = |name: &str| clusters.is_none_or(|all| all.contains(&name));
    let ahead = rollout.updated_clusters();
    let ahead = ahead.filter(|it| it.state == ClusterState::NotReached && is_next(it.name));
    let members: Vec<_> = ahead.filter_map(|it| it.member).collect();
    let (leaving, staying): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| member.is_leaving());
    let leaving = (!leaving.is_empty()).then(|| members::leaving_words(&leaving));
    let (silent, heard): (Vec<_>, Vec<_>) = staying
        .into_iter()
        .partition(|it| it.silent_for(rollout.now).is_some());
    let heard: Vec<_> = heard
        .into_iter()
        .filter(|it| it.unhealthy().is_some())
        .collect();
    let silent = members::silence_words(&members::silent(&silent, rollout.now));
    let unhealthy = members::unhealthy_words(&heard);
    for why in leaving.into_iter().chain(silent).chain(unhealthy) {
        preview.warning(why.trim_end_matches('.'));
    }
}

/// Warns of other runs on the placement.
pub(in crate::commands) fn others(
    rollout: &Rollout<'_>,
    inventory: &Inventory,
    preview: &mut Preview,
) {
    let others = neighbours(inventory, &rollout.run.meta.name);
    if !others.is_empty() {
        preview.warning(&format!(
            "other unfinished runs on {}: {}; on each cluster, the last run to write wins",
            rollout.run.spec.placement,
            enumerate(others.iter().map(|other| &other.name))
        ));
    }
}

/// Refuses what would take clusters back to an older snapshot, unless that is wanted. `doing` begins
/// the sentence, `instead` is the command that a person may want instead.
pub(in crate::commands) fn guard(
    back: &[GoesBack<'_>],
    rollout: &Rollout<'_>,
    (doing, instead): (&str, &'static str),
    accepted: AcceptedRisks,
    reading: &SourceReading,
) -> Result<(), Error> {
    let Some(first) = back.first().filter(|_| !accepted.older) else {
        return Ok(());
    };
    let run = rollout.run.object();
    Err(Error::failed(format!(
        "{doing} would roll {} back from snapshot {} to {}, because another run rolled out the \
         newer one; {}",
        enumerate(back.iter().map(|back| back.cluster)),
        first.holds,
        rollout.run.status.snapshot_index,
        reading.record.nothing("sent")
    ))
    .hint(
        Hint::new(format!(
            "{instead} the run, or use --allow-older if that is what you want:"
        ))
        .command(run.fleet(instead)),
    ))
}

/// Refuses to let a run continue whose content is gone, or another one by now. `clusters` are those
/// that it would reach; `None` means all, if no gate is before them.
pub(in crate::commands) fn guard_content(
    rollout: &Rollout<'_>,
    clusters: Option<&[&str]>,
    doing: &str,
    reading: &SourceReading,
) -> Result<(), Error> {
    let missing = missing_content(rollout);
    let waits = || rollout.open_approvals().next().is_some();
    let reached = |it: &MissingContent<'_>| match clusters {
        Some(clusters) => it.clusters.iter().any(|it| clusters.contains(it)),
        None => !waits(),
    };
    let Some(missing) = missing.filter(reached) else {
        return Ok(());
    };
    let (run, object) = (rollout.run.object(), &missing.object);
    let (names, nothing) = (enumerate(&missing.clusters), reading.record.nothing("sent"));
    let why = if missing.is_another {
        format!(
            "{doing} would bring content to {names} that {} was not made for: {} is another snapshot than the one \
             that it recorded; {nothing}",
            run.name, object.name
        )
    } else {
        format!("{doing} would block {names}: {object} no longer exists; {nothing}")
    };
    Err(Error::failed(why).hint(Hint::new("what to do instead:").command(run.fleet("diagnose"))))
}

/// Refuses to let a run reach clusters for which one of its overrides does not fit its content; `None`
/// means those that it reaches before somebody has to approve.
pub(in crate::commands) fn guard_overrides(
    rollout: &Rollout<'_>,
    held: &[Finding],
    (clusters, doing): (Option<&[&str]>, &str),
    reading: &SourceReading,
) -> Result<(), Error> {
    if held.is_empty() {
        return Ok(());
    }
    let next = rollout.reached_next();
    let clusters = clusters.unwrap_or(&next);
    let is_reached = |it: &&Finding| it.clusters.iter().any(|it| clusters.contains(&it.as_str()));
    let Some(held) = held.iter().find(is_reached) else {
        return Ok(());
    };
    let (names, nothing) = (enumerate(&held.clusters), reading.record.nothing("sent"));
    let why = format!(
        "{doing} would block {names}: {} does not fit; {nothing}",
        held.subject
    );
    let diagnose = rollout.run.object().fleet("diagnose");
    Err(Error::failed(why).hint(Hint::new("what to do instead:").command(diagnose)))
}

/// Refuses to let a run reach clusters of which a binding is being deleted; `None` means those that it
/// reaches before somebody has to approve.
pub(in crate::commands) fn guard_leaving(
    rollout: &Rollout<'_>,
    (clusters, doing): (Option<&[&str]>, &str),
    reading: &SourceReading,
) -> Result<(), Error> {
    let next = rollout.reached_next();
    let clusters = clusters.unwrap_or(&next);
    let mut leaving = leaving_ahead(rollout);
    leaving.retain(|(cluster, _)| clusters.contains(cluster));
    let Some((cluster, binding)) = leaving.first() else {
        return Ok(());
    };
    let binding = binding.object();
    let nothing = reading.record.nothing("sent");
    let why = format!(
        "{doing} may end {}: KubeFleet may write {binding} of {cluster}, which is being deleted; \
         {nothing}",
        rollout.run.meta.name
    );
    let gone = binding.kubectl("wait").switch("--for=delete");
    Err(Error::failed(why).hint(Hint::new("wait until it is gone:").command(gone)))
}

/// Refuses to let a run begin with clusters from which it deletes everything, because its snapshot has
/// no objects.
pub(in crate::commands) fn guard_empty(
    rollout: &Rollout<'_>,
    emptied: &[&str],
    reading: &SourceReading,
) -> Result<(), Error> {
    if emptied.is_empty() {
        return Ok(());
    }
    let run = rollout.run;
    let index = &run.status.snapshot_index;
    Err(would_empty(&run.meta.name, index, emptied, reading))
}

/// What a script does not do, unless somebody named the snapshot.
pub(in crate::commands) fn would_empty<C: AsRef<str>>(
    run: &str,
    index: &str,
    clusters: &[C],
    reading: &SourceReading,
) -> Error {
    let clusters = enumerate(clusters.iter().map(AsRef::as_ref));
    let nothing = reading.record.nothing("sent");
    Error::failed(format!(
        "snapshot {index} has no objects: {run} would delete everything from {clusters}; {nothing}"
    ))
    .hint("check what the placement selects; a script has to name such a snapshot with --snapshot")
}

/// What a wish looks like once it is fulfilled: `false` when it will not be any more.
pub(in crate::commands) fn is_fulfilled(
    wish: RequestedState,
    status: &Status,
    patience: Option<Duration>,
) -> Option<bool> {
    if status.is_over() {
        // A run that was asked to start has started, whatever came of it.
        return Some(wish != RequestedState::Stop && status.verdict == Verdict::Succeeded);
    }
    let run = status.run.as_ref()?;
    match wish {
        RequestedState::Stop => match status.verdict {
            Verdict::Stopped => Some(true),
            Verdict::Stuck if is_borne(status, patience) => None,
            Verdict::Stuck => Some(false),
            _ => None,
        },
        RequestedState::Start | RequestedState::Resume => (run.observed
            && run.begun
            && !matches!(
                status.verdict,
                Verdict::Stopped | Verdict::Stopping | Verdict::NotStarted
            ))
        .then_some(true),
    }
}

/// Waits until a run does what was asked, and prints where it is then.
pub(in crate::commands) fn finish(
    steered: &SteeredRun,
    wish: RequestedState,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let run = &steered.run.object;
    let (wanted, asked) = match wish {
        RequestedState::Start => ("the run to start", "started"),
        RequestedState::Stop => ("the run to stop", "asked to stop"),
        RequestedState::Resume => ("the run to resume", "resumed"),
    };
    if op.args.is_dry() {
        return Ok(Exit::Done);
    }
    if steered.written && op.reading.is_interrupted() {
        return Err(interrupted(&format!("{run} was {asked}")));
    }
    if let Some(already) = &steered.already {
        op.ui.status(already);
    }
    if op.args.returns_at_once() {
        let line = match &steered.already {
            Some(already) => already.clone(),
            None => format!("{run} was {asked}"),
        };
        op.result(run, &line)?;
        return Ok(Exit::Done);
    }
    if op.args.follows() && wish != RequestedState::Stop {
        return op.follow(&steered.run);
    }
    let patience = op.args.patience;
    let mut seen = |status: &Status| is_fulfilled(wish, status, patience);
    match op.effect(&steered.run, wanted, &mut seen)? {
        WriteEffect::Seen(status) => {
            op.conclude(run, &status, Exit::Done)?;
            Ok(Exit::Done)
        }
        WriteEffect::Never(status) => {
            let stops = wish == RequestedState::Stop;
            let held = status.why_no_stop().filter(|_| stops);
            let is_over = stops && status.verdict == Verdict::Succeeded;
            let exit = match &held {
                Some(_) => Exit::Stuck,
                None if is_over => Exit::Error,
                None => Exit::from(status.verdict),
            };
            op.conclude(run, &status, exit)?;
            if let Some(why) = held {
                op.ui.hint(Hint::new(why));
            } else if is_over {
                op.ui
                    .warning(&format!("{run} finished before it could stop"));
            }
            Ok(exit)
        }
        WriteEffect::Late(status) => {
            let is_stopping = status.is_some_and(|it| it.verdict == Verdict::Stopping);
            let what = if is_stopping {
                format!("{run} is still stopping")
            } else {
                format!("{run} was {asked}, but its status does not show it")
            };
            let why = Hint::new("find out why:").command(run.fleet("diagnose"));
            Err(op.late(&what).hint(why))
        }
        WriteEffect::Gone => Err(Error::not_found(format!(
            "{run} was {asked} but was deleted in the meantime"
        ))
        .telling(ToldChange::Last)),
        WriteEffect::Interrupted => Err(interrupted(&format!(
            "{run} was {asked}; stopped waiting for the effect"
        ))),
    }
}
