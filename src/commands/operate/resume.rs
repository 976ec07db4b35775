//! `resume`: a stopped run goes on.

use clap::Args;

use crate::change::guard::{self, AcceptedRisks};
use crate::change::preview::Preview;
use crate::change::states::{RequestedState, StateStep, step};
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::eligible;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::operate::approve::{moves, removal_lines};
use crate::commands::operate::operation::{Operation, WriteProposal, operate};
use crate::commands::operate::steering::{self, finish, rollout_of};
use crate::commands::operate::writing::WriteFlags;
use crate::commands::operate::{changed_objects, safeguards};
use crate::diagnose;
use crate::diagnose::subjects::gate::stopped_waits;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::render::RenderLook;
use crate::report::Severity;
use crate::rollout::content::goes_back_from_here;
use crate::rollout::{ClusterState, Rollout};
use crate::words::count;

/// Resume a stopped update run
///
/// Shows what the run still has to do and what changed since it stopped. KubeFleet aborts the run
/// if the placement policy, the apply strategy, or the set of clusters changed; with --yes, such a
/// run is not resumed. Approvals given while the run was stopped take effect now. A timed wait kept
/// counting while the run was stopped, and may be over. A finished run cannot be resumed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage resume example-run\n  \
    kubectl fleet-stage resume example-run -n my-app-namespace --wait --timeout 30m\n\n\
    Exit codes:\n  \
    0  resumed; with --wait, succeeded\n  \
    1  cannot be resumed, or not confirmed\n  \
    3  the run failed\n  \
    4  with --wait: a person must approve\n  \
    5  stuck\n  \
    6  no such run\n  \
    7  forbidden, or a check could not read what it needs\n  \
    8  with --wait: the run was stopped\n  \
    9  --timeout was reached")]
pub struct ResumeArgs {
    /// Update runs: NAME, csur/NAME, or with -n sur/NAME [default: at a terminal, chosen from a
    /// list]
    #[arg(value_name = "RUN", required = true)]
    #[arg(add = ArgumentKind::Runs(&eligible::RESUMABLE), add = ChosenAtTerminal)]
    runs: Vec<String>,
    /// Resume even if clusters would, or might, get an older snapshot, were taken over by another run, or lose a
    /// namespace
    #[arg(long)]
    allow_older: bool,
    /// Resume even if a check cannot read what it needs
    #[arg(long)]
    allow_unseen: bool,
    #[command(flatten)]
    writing: WriteFlags,
}

pub fn run(args: &ResumeArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    operate("resume", &args.writing, session, |op| {
        let runs = op
            .reading
            .runs_or_chosen(&args.runs, &eligible::RESUMABLE, op.ui)?;
        op.each(&runs, |run| run, |run, op| resume_run(run, args, op))
    })
}

fn resume_run(run: &ObjectRef, args: &ResumeArgs, op: &mut Operation<'_>) -> Result<Exit, Error> {
    let accepted = AcceptedRisks {
        older: args.allow_older,
        unseen: args.allow_unseen,
    };
    let look = op.look();
    let is_script = args.writing.yes;
    let inventory =
        op.agree(&mut |reading| preview_resume(run, accepted, (is_script, &look), reading))?;
    let steered = steering::steer(&inventory, run, RequestedState::Resume, op)?;
    finish(&steered, RequestedState::Resume, op)
}

/// What is shown before a run is resumed, and what is asked.
fn preview_resume(
    run: &ObjectRef,
    accepted: AcceptedRisks,
    (is_script, look): (bool, &RenderLook),
    reading: &mut SourceReading,
) -> Result<WriteProposal<Inventory>, Error> {
    let mut inventory = reading.inventory(run)?;
    reading.read_content_ahead(&mut inventory);
    let rollout = rollout_of(&inventory, run)?;
    let mut preview = Preview::default();
    let mut question = Ok(None);
    steering::facts(&rollout, &mut preview);
    steering::keeper(rollout.run, &mut preview);
    if matches!(step(&rollout, RequestedState::Resume), StateStep::Write(_)) {
        preview.lines(ahead(&rollout));
        steering::unseen(&inventory, &mut preview);
        safeguards::warn_of_lost(&rollout, &mut preview);
        safeguards::warn_of_members(&rollout, None, &mut preview);
        let held = diagnose::held_ahead(&inventory);
        safeguards::warn_of_ahead(&rollout, &held, &mut preview);
        steering::others(&rollout, &mut preview);
        let aborts = diagnose::aborts(&inventory);
        let mut changes = changes(&inventory);
        if changes.is_empty() {
            changes.extend(aborts.clone());
        }
        preview.warnings(&changes);
        question = safeguards::seen(guard::RESUME, accepted, &inventory, reading)
            .and_then(|()| safeguards::is_initialized(&rollout, accepted, reading))
            .and_then(|()| safeguards::reached(&rollout, &held, (None, "resuming"), reading))
            .and_then(|()| {
                let back = goes_back_from_here(&rollout);
                safeguards::going_back(&back, &rollout, "resuming", accepted, reading)
            })
            .and_then(|()| safeguards::unattended(&rollout, None, (is_script, accepted), reading))
            .and_then(|asks| match aborts {
                Some(why) if is_script => Err(safeguards::would_abort(run, &why, reading)),
                None if changes.is_empty() => {
                    let asked = asks.then(|| format!("Resume {} all the same?", run.name));
                    Ok(asked.or_else(|| safeguards::removes(&rollout, "Resume")))
                }
                _ => Ok(Some(format!(
                    "Resume {}, which KubeFleet will then abort?",
                    run.name
                ))),
            });
        if question.is_ok() {
            let left = rollout.clusters();
            let left = left.filter(|it| it.state == ClusterState::NotReached);
            let left: Vec<_> = left.map(|it| it.name.to_owned()).collect();
            let seen = (&mut preview, &mut *reading);
            let mut shown = changed_objects::show(run, Some(&left), look, seen);
            if let Err(error) = shown.go_too_far(rollout.run, (is_script, accepted), reading) {
                question = Err(error);
            }
        }
    }
    drop(rollout);
    Ok(WriteProposal {
        preview,
        question,
        what: inventory,
    })
}

fn ahead(rollout: &Rollout<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for stage in &rollout.stages {
        let is_over = stage.state.is_completed();
        let left = stage.clusters.iter();
        let left: Vec<_> = left.filter(|it| it.state != ClusterState::Done).collect();
        if is_over || stage.clusters.is_empty() || (stage.deletes && left.is_empty()) {
            continue;
        }
        lines.push(format!(
            "stage {}: {} of {} left, {} at a time",
            stage.name(),
            left.len(),
            count(stage.clusters.len(), "cluster"),
            stage.concurrency
        ));
        lines.extend(if stage.deletes {
            removal_lines(rollout, &left)
        } else {
            moves(rollout, &left)
        });
    }
    lines.extend(stopped_waits(rollout));
    lines
}

/// The findings about changes, which make KubeFleet give a run up as soon as it looks at it.
fn changes(inventory: &Inventory) -> Vec<String> {
    let findings = diagnose::explain(inventory).findings.into_iter();
    findings
        .filter(|finding| finding.code.starts_with("FS2") && finding.severity != Severity::Info)
        .map(|finding| format!("{} ({})", finding.message, finding.code))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::change::guard::Guard;
    use crate::diagnose::rules;
    use crate::kubefleet::Concept;

    #[test]
    fn the_guard_reads_what_the_findings_about_changes_read() {
        let reads = Guard::Aborts.reads();
        let changes = rules::ALL
            .iter()
            .filter(|rule| rule.code.starts_with("FS2"));
        for rule in changes {
            for concept in rule.reads {
                // The run itself is read in any case.
                let known = *concept == Concept::UpdateRun || reads.contains(concept);
                assert!(known, "{} reads {concept:?}", rule.code);
            }
        }
    }
}
