//! Starting a run that exists: what it begins with is shown, and what a person could regret is asked.

use super::preparing::{INITIALIZED, delete_untouched, left, prepare, still_there};
use super::shown::{self, AgreedPlan};
use super::wanted::{LaunchPreparation, RunLaunch};
use crate::change::guard::{self, AcceptedRisks, Guard};
use crate::change::neighbours::{arrived_words, neighbours};
use crate::change::preview::Preview;
use crate::change::states::{RequestedState, StateStep, step};
use crate::commands::gather::manifests::told_by_works;
use crate::commands::gather::plan_inputs::{self, PlannedRun, StrategyChoice};
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::approve::stage_lines;
use crate::commands::operate::changed_objects::{self, ContentRisks};
use crate::commands::operate::operation::{Operation, ThisRun, WriteProposal};
use crate::commands::operate::safeguards::{self, UnhelpfulContent};
use crate::commands::operate::steering::{self, rollout_of};
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::run::{RunState, UpdateRun};
use crate::problems::{name_reused_by, steps};
use crate::rollout::content::{
    content_since, emptied, goes_back_from_here, newer_snapshot, old_content, would_go_back,
};
use crate::rollout::rollback::TakenBack;
use crate::rollout::sent::sent_index;
use crate::rollout::{ClusterState, Rollout};
use crate::words::{CommandLine, Hint, capital, count, enumerate};

/// Starts a run. `made_as` is how it was made and what was agreed to then, `None` where nothing was shown
/// yet; `first` is what is done as soon as nothing speaks against the start. `is_named` is whether
/// somebody named the run as it is, or its snapshot.
pub(in crate::commands) fn start(
    this: &ThisRun,
    accepted: AcceptedRisks,
    (made_as, first): (Option<(&RunLaunch, &AgreedPlan)>, &[LaunchPreparation]),
    is_named: bool,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let run = &this.object;
    let plan = made_as.map(|(_, plan)| plan);
    if plan.is_some() {
        // It was waited since.
        op.reading.forget();
    }
    let unattended = op.args.yes;
    let look = op.look();
    let (mut unfit, mut made) = (None, None);
    let agreed = op.agree(&mut |reading| {
        let mut proposal = preview_start(this, accepted, plan, (unattended, is_named), reading)?;
        let inventory = &proposal.what;
        let agreed = plan.filter(|_| is_shown(plan, inventory));
        if proposal.question.is_err() {
            unfit = if is_empty(inventory) {
                Some(UnfitRun::Deletes)
            } else {
                let held = diagnose::held_ahead(inventory);
                (!held.is_empty()).then_some(UnfitRun::Recorded)
            };
        } else if is_untouched(inventory, run) || agreed.is_some() {
            let seen = (&mut proposal.preview, &mut *reading);
            let own = inventory.run.present();
            let (agreed, risks) = match (agreed, made_as) {
                (None, Some((launch, plan))) => {
                    let index = own.map_or("", |it| &it.status.snapshot_index);
                    let again = shown::show_again(launch, plan, index, &look, seen)?;
                    (again.is_none().then_some(plan), again)
                }
                (None, None) => {
                    let mut shown = changed_objects::show(run, None, &look, seen);
                    if let Err(error) = shown.refuse_unseen((unattended, accepted), reading) {
                        proposal.question = Err(error);
                        return Ok(proposal);
                    }
                    (None, Some(shown.risks))
                }
                (agreed, _) => (agreed, None),
            };
            let risks = risks.unwrap_or_else(|| match agreed {
                // What a person was shown is agreed to, and what somebody named.
                Some(plan) if !is_named && unattended => plan.risks.clone(),
                _ => ContentRisks::default(),
            });
            let is_meant = unattended && own.is_some_and(|it| it.pinned().is_some());
            let lost = risks.lost.as_ref().filter(|_| is_meant);
            proposal.preview.warnings(lost);
            // Whoever saw the plan was asked about it.
            let judged = own.filter(|_| unattended || plan.is_none());
            let unhelpful =
                judged.and_then(|it| Some((it, unhelpful_run(inventory, it, reading)?)));
            if let Some((own, (content, why))) = unhelpful {
                proposal.question = if unattended {
                    unfit = Some(UnfitRun::Unhelpful(content));
                    let named = steps::run_in_place(own, &own.status.snapshot_index);
                    Err(safeguards::unhelpful(
                        &run.name,
                        (content, &why),
                        named,
                        reading,
                    ))
                } else {
                    proposal.preview.warning(&why);
                    Ok(Some(content.asked(&run.name)))
                };
            } else if let Some((kind, error, question)) = obstacle(&risks, run, is_meant, reading) {
                unfit = Some(kind);
                proposal.question = if unattended {
                    Err(error)
                } else {
                    Ok(Some(question))
                };
            } else if plan.is_some() && agreed.is_none() && matches!(proposal.question, Ok(None)) {
                if unattended {
                    let other = format!(
                        "{} starts with content that its plan did not show",
                        run.name
                    );
                    proposal.preview.warning(&other);
                }
                proposal.question = Ok(ask_of_unplanned(&run.name, risks.deleted, unattended));
            }
        }
        made = proposal.what.run.present().cloned();
        Ok(proposal)
    });
    unfit = unfit.filter(|_| made.as_ref().is_some_and(|it| it.pinned().is_none()));
    if let (Ok(inventory), Some(_)) = (&agreed, plan)
        && rollout_of(inventory, run).is_ok_and(|rollout| rollout.is_finished())
    {
        // It was made to start by itself, and was done before anybody looked again.
        return op.follow(this);
    }
    // The run that was to be replaced goes on: what was made for its place goes, unless somebody has started it.
    let rests = |made: &UpdateRun| made.spec.wants() == RunState::Initialize;
    let refused = made.filter(|made| agreed.is_err() && unfit.is_some() && rests(made));
    let index = refused
        .as_ref()
        .map(|made| made.status.snapshot_index.clone());
    if let (Err(error), Some((launch, _)), Some(made), Some(kind)) =
        (&agreed, made_as, &refused, unfit)
        && (matches!(kind, UnfitRun::Unhelpful(_))
            || kind == UnfitRun::Recorded && unattended && first.is_empty())
        && delete_untouched(this, made, op).is_ok()
    {
        // The next try gets the content as it is then.
        let again = launch.command();
        let hint = match kind {
            UnfitRun::Unhelpful(content) => {
                content.way_out(again.flag("--snapshot", &made.status.snapshot_index))
            }
            _ => Hint::new("once that is corrected, try again:").command(again),
        };
        return Err(Error::new(error.exit, &error.message).hint(hint));
    }
    let kept = first.first().zip(refused);
    let taken_back = kept.filter(|(_, made)| delete_untouched(this, made, op).is_ok());
    let steered = agreed.and_then(|mut inventory| {
        let changes = !first.is_empty() && !op.args.is_dry();
        if changes {
            let start = step(&rollout_of(&inventory, run)?, RequestedState::Start);
            // What is deleted first cannot be brought back where the server refuses the start then.
            if let StateStep::Write(start) = start {
                op.rehearse(&start, false, accepted)?;
            }
        }
        prepare(first, op)?;
        if let Some(plan) = plan.filter(|_| changes) {
            op.reading.forget();
            inventory = op.reading.inventory(run)?;
            unshown(&rollout_of(&inventory, run)?, plan, true, op.reading)?;
        }
        steering::steer(&inventory, run, RequestedState::Start, op)
    });
    let steered = steered.map_err(|mut error| {
        let stays = taken_back.as_ref().map(|(kept, _)| kept.object());
        // Who looks for the reason finds it at the run that stays.
        if let Some(stays) = stays.filter(|_| unfit == Some(UnfitRun::Recorded)) {
            let diagnose = stays.fleet("diagnose");
            error.hint = Some(Hint::new("what is wrong there:").command(diagnose));
        }
        let deleting = index.filter(|_| unfit == Some(UnfitRun::Deletes));
        let anew = made_anew(run, stays, deleting);
        if plan.is_none() && first.is_empty() {
            return if unfit.is_some() {
                error.also(anew)
            } else {
                error
            };
        }
        let message = op.reading.record.complete(&error.message, error.told);
        let message = format!("{message}; {run} was not started");
        let is_ended = error.exit == Exit::Interrupted;
        let error = Error { message, ..error }.telling(crate::change::record::ToldChange::All);
        let left = left(first, &op.reading.record);
        if is_ended && !left.is_empty() {
            return still_there(error, &left, (INITIALIZED, start_command(run, accepted)));
        }
        error.also(if unfit.is_some() {
            anew
        } else {
            Hint::new(if is_ended {
                "start it, or delete it:"
            } else {
                "once that is resolved, start it; or delete it, and make a new one:"
            })
            .command(start_command(run, accepted))
            .command(run.fleet("delete"))
        })
    })?;
    steering::finish(&steered, RequestedState::Start, op)
}

/// What is asked of content that the plan did not show; of a script only where it deletes something.
fn ask_of_unplanned(name: &str, deleted: usize, unattended: bool) -> Option<String> {
    match deleted {
        0 if unattended => None,
        0 => Some(format!(
            "Start {name} with this content, which the plan did not show?"
        )),
        deleted => Some(format!(
            "Start {name}? It deletes {}, which the plan did not show.",
            count(deleted, "object")
        )),
    }
}

/// How another run is made in place of one that was not started: of the run that stays, where there is one.
/// `deleting` is the index of a snapshot that deletes objects.
fn made_anew(run: &ObjectRef, stays: Option<&ObjectRef>, deleting: Option<String>) -> Hint {
    let how = match stays {
        Some(_) => "try again",
        None => "make a run in its place: this one keeps its content",
    };
    let old = &stays.unwrap_or(run).name;
    let again = run.scope().fleet("run").flag("--from", old);
    let again = again.switch("--replace");
    let anew = Hint::new(format!("once that is corrected, {how}:")).command(again.clone());
    match deleting {
        Some(index) => anew
            .text("or, if all of that is to be deleted:")
            .command(again.flag("--snapshot", index)),
        None => anew,
    }
}

/// The command that starts a run that exists, at the risks that were accepted.
pub(super) fn start_command(run: &ObjectRef, accepted: AcceptedRisks) -> CommandLine {
    run.fleet("run").switch_if(accepted.older, "--allow-older")
}

/// Why a run is better not started as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnfitRun {
    /// What is wrong is what the run has recorded, and another would not.
    Recorded,
    Deletes,
    Unhelpful(UnhelpfulContent),
}

/// What speaks against the content of a run: why a script does not start it, and what a person is asked.
/// `is_meant` is whether what it deletes is what somebody asked for.
fn obstacle(
    risks: &ContentRisks,
    run: &ObjectRef,
    is_meant: bool,
    reading: &SourceReading,
) -> Option<(UnfitRun, Error, String)> {
    let name = &run.name;
    if let Some(why) = &risks.refused {
        let error = safeguards::would_be_stuck(name, why, reading);
        let question = format!("Start {name}, which would be stuck?");
        return Some((UnfitRun::Recorded, error, question));
    }
    if let Some(lacking) = &risks.lacking {
        let error = reading.refused(format!(
            "{name} is not what was shown: {lacking}; KubeFleet may not know its kind yet"
        ));
        return Some((
            UnfitRun::Recorded,
            error,
            format!("Start {name}? {}.", capital(lacking)),
        ));
    }
    let lost = risks.lost.as_ref().filter(|_| !is_meant)?;
    let error = safeguards::would_delete(name, lost, reading);
    let question = format!("Start {name}? {}.", capital(lost));
    Some((UnfitRun::Deletes, error, question))
}

/// Why a run helps nobody: nobody named its snapshot, which was rolled back; or it reaches nobody.
fn unhelpful_run(
    inventory: &Inventory,
    run: &UpdateRun,
    reading: &mut SourceReading,
) -> Option<(UnhelpfulContent, String)> {
    let unnamed = run.pinned().is_none();
    let back = TakenBack::of(inventory, &run.status.snapshot_index).filter(|_| unnamed);
    if let Some(back) = back {
        return Some((UnhelpfulContent::RolledBack, back.to_string()));
    }
    let is_rollback = run.rolled_back().is_some();
    let reused = name_reused_by(inventory, run).filter(|_| !is_rollback)?;
    let as_asked = told_by_works(reading, &run.placement(), &reused.clusters).as_asked;
    if reused.clusters.iter().all(|it| as_asked.contains(it)) {
        return None;
    }
    let why = reused.message.trim_end_matches('.').to_owned();
    Some((UnhelpfulContent::NameReused, why))
}

/// Whether the hub has other content than a run got that waits for its start.
fn has_changed_since(rollout: &Rollout<'_>, reading: &mut SourceReading) -> bool {
    if content_since(rollout).is_none() {
        return false;
    }
    let run = rollout.run;
    let next = PlannedRun {
        placement: run.placement(),
        strategy: StrategyChoice::Named(run.spec.strategy.clone()),
        snapshot: None,
        run: None,
        made_of: None,
        in_place_of: Vec::new(),
    };
    plan_inputs::read(reading, &next).is_ok_and(|it| it.plan.content.is_next())
}

fn preview_start(
    this: &ThisRun,
    accepted: AcceptedRisks,
    plan: Option<&AgreedPlan>,
    (unattended, is_named): (bool, bool),
    reading: &mut SourceReading,
) -> Result<WriteProposal<Inventory>, Error> {
    let run = &this.object;
    let mut inventory = reading.inventory(run)?;
    let shown = is_shown(plan, &inventory);
    // What overrides do to a snapshot that was named was asked before.
    let held = if shown && is_named {
        Vec::new()
    } else {
        reading.read_content_ahead(&mut inventory);
        diagnose::held_ahead(&inventory)
    };
    let rollout = rollout_of(&inventory, run)?;
    steering::is_this(&rollout, this)?;
    let mut preview = Preview::default();
    let mut question = Ok(None);
    steering::facts(&rollout, &mut preview);
    steering::keeper(rollout.run, &mut preview);
    if matches!(step(&rollout, RequestedState::Start), StateStep::Write(_)) {
        if plan.is_none() {
            preview.lines(opens(&rollout));
            safeguards::warn_of_members(&rollout, None, &mut preview);
        }
        for cluster in rollout.updated_clusters() {
            let binding = cluster.binding;
            let index = binding.and_then(|it| sent_index(&inventory, it));
            preview.cluster(cluster.name, index);
        }
        steering::unseen(&inventory, &mut preview);
        if !shown {
            safeguards::warn_of_lost(&rollout, &mut preview);
        }
        if plan.is_none() {
            steering::others(&rollout, &mut preview);
        }
        preview.warnings(diagnose::strategy_differs(&inventory).filter(|_| plan.is_none()));
        safeguards::warn_of_ahead(&rollout, &held, &mut preview);
        let aborts = steering::aborts(&inventory, &mut preview);
        if let Some(old) = old_content(&inventory, rollout.run) {
            preview.warning(&format!(
                "{} has snapshot {}, which lacks a change detected at {}",
                run.name,
                old.snapshot.index().unwrap_or_default(),
                old.detected
            ));
        } else if let Some(latest) = newer_snapshot(&rollout).filter(|_| plan.is_none()) {
            preview.warning(&format!(
                "{} has snapshot {}, and snapshot {latest} is newer",
                run.name, rollout.run.status.snapshot_index
            ));
        } else if plan.is_none() && has_changed_since(&rollout, reading) {
            preview.warning(&format!(
                "the content has changed since {} got snapshot {}: the change is not part of it",
                run.name, rollout.run.status.snapshot_index
            ));
        }
        question = safeguards::seen(&guards(&rollout), accepted, &inventory, reading)
            .and_then(|()| safeguards::is_initialized(&rollout, accepted, reading))
            .and_then(|()| {
                let hidden = diagnose::hidden_strategy(&inventory);
                safeguards::sees_strategy(hidden, accepted, reading)
            })
            .and_then(|()| safeguards::reached(&rollout, &held, (None, "starting"), reading))
            .and_then(|()| match plan {
                None if unattended && !accepted.older => safeguards::outdated(&rollout, reading),
                _ => Ok(()),
            })
            .and_then(|()| {
                let names_it = match plan {
                    Some(_) => is_named && shown,
                    None => rollout.run.pinned().is_some(),
                };
                if unattended && !names_it {
                    safeguards::empty(&rollout, &emptied(&rollout), reading)?;
                }
                Ok(())
            })
            .and_then(|()| {
                let back = match plan {
                    Some(_) => would_go_back(&rollout),
                    None => goes_back_from_here(&rollout),
                };
                safeguards::going_back(&back, &rollout, "starting", accepted, reading)
            })
            .and_then(|()| match (plan, aborts) {
                (_, Some(why)) if unattended => Err(safeguards::would_abort(run, &why, reading)),
                (None, Some(_)) => Ok(Some(format!(
                    "Start {}, which KubeFleet will then abort?",
                    run.name
                ))),
                (None, None) => Ok(ask(&rollout)),
                (Some(plan), _) => unshown(&rollout, plan, unattended, reading),
            });
    }
    drop(rollout);
    Ok(WriteProposal {
        preview,
        question,
        what: inventory,
    })
}

/// Whether the run brings a snapshot without objects.
fn is_empty(inventory: &Inventory) -> bool {
    Rollout::new(inventory).is_some_and(|rollout| !emptied(&rollout).is_empty())
}

fn is_untouched(inventory: &Inventory, run: &ObjectRef) -> bool {
    rollout_of(inventory, run).is_ok_and(|rollout| {
        matches!(step(&rollout, RequestedState::Start), StateStep::Write(_)) && !rollout.has_begun()
    })
}

/// Whether the changes that a run makes were shown when it was made.
fn is_shown(plan: Option<&AgreedPlan>, inventory: &Inventory) -> bool {
    let run = inventory.run.present();
    plan.zip(run)
        .is_some_and(|(plan, run)| plan.snapshot.as_ref() == Some(&run.status.snapshot_index))
}

/// What must have been seen. The content of a run that names its snapshot is what it asked for.
fn guards(rollout: &Rollout<'_>) -> Vec<Guard> {
    let chosen = rollout.run.pinned().is_some();
    let guards = guard::START.iter().copied();
    guards
        .filter(|guard| !(chosen && *guard == Guard::Content))
        .collect()
}

fn opens(rollout: &Rollout<'_>) -> Vec<String> {
    let run = rollout.run;
    let index = &run.status.snapshot_index;
    let mut lines = vec![format!(
        "{}: snapshot {} of {}, strategy {}",
        run.object(),
        if index.is_empty() {
            "not known yet"
        } else {
            index
        },
        run.spec.placement,
        run.spec.strategy
    )];
    for stage in &rollout.stages {
        // Of a run that has begun, what it is done with is over.
        let left = stage.clusters.iter();
        let clusters: Vec<_> = left.filter(|it| it.state != ClusterState::Done).collect();
        if clusters.is_empty() {
            continue;
        }
        lines.extend(stage_lines(rollout, stage, &clusters, "stage"));
    }
    if let Some(since) = content_since(rollout) {
        lines.push(format!(
            "  its content is that of {since}: what was changed on the hub since is not in it"
        ));
    }
    lines
}

/// What is asked before a run is started that a person could regret.
fn ask(rollout: &Rollout<'_>) -> Option<String> {
    let name = &rollout.run.meta.name;
    if old_content(rollout.inventory, rollout.run).is_some() {
        return Some(format!("Start {name} with the old content?"));
    }
    let emptied = emptied(rollout);
    if !emptied.is_empty() {
        return Some(safeguards::asked_of_emptying(name, &emptied));
    }
    if let Some(removes) = safeguards::removes(rollout, "Start") {
        return Some(removes);
    }
    let others: Vec<_> = rollout
        .inventory
        .other_runs()
        .filter(|run| {
            let other = Rollout::of(rollout.inventory, run);
            other.is_live() && other.has_begun()
        })
        .map(|run| run.meta.name.as_str())
        .collect();
    (!others.is_empty()).then(|| format!("Start {name} while {} is unfinished?", enumerate(others)))
}

/// What is asked about runs that came since the plan was agreed to, and about content without objects
/// that was not shown. Nobody can have agreed to those.
fn unshown(
    rollout: &Rollout<'_>,
    plan: &AgreedPlan,
    unattended: bool,
    reading: &SourceReading,
) -> Result<Option<String>, Error> {
    let name = &rollout.run.meta.name;
    let emptied = emptied(rollout);
    if !emptied.is_empty() && !is_shown(Some(plan), rollout.inventory) {
        let (index, clusters) = (&rollout.run.status.snapshot_index, enumerate(emptied));
        return Ok(Some(format!(
            "Start {name} with snapshot {index}, which deletes everything from {clusters}?"
        )));
    }
    if let Some(other) = plan.differs(rollout) {
        let why = format!("{name} was initialized with {other}, which is not what was shown");
        if unattended {
            return Err(reading.refused(why));
        }
        return Ok(Some(format!("Start it all the same? {why}.")));
    }
    let now = neighbours(rollout.inventory, name);
    let Some(arrived) = arrived_words(&plan.beside, &now) else {
        return Ok(None);
    };
    if unattended {
        return Err(safeguards::not_alone(
            &rollout.run.spec.placement,
            &arrived,
            reading,
        ));
    }
    Ok(Some(format!(
        "Start {name} while {arrived}, which is new, is unfinished?"
    )))
}
