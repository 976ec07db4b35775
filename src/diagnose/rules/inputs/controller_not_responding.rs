//! The controller owes the run a write for longer than its pace explains.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::outlook::ControllerSilence;
use crate::diagnose::subjects::size;
use crate::diagnose::subjects::state::initialization_overdue;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{duration, names};
use crate::problems::members::all_silent_since;
use crate::problems::steps::restart_hub_agent;
use crate::rollout::{Phase, Rollout};
use crate::words::CommandLine;
use jiff::{SignedDuration, Timestamp};

/// Source: updaterun/controller.go:Reconcile, SetupWithManagerForClusterStagedUpdateRun;
/// cmd/hubagent/workload/setup.go.
pub const RULE: Rule = Rule::error("FS122", "controller-not-responding", One(check))
    .reads(&[Concept::UpdateRun, Concept::ApprovalRequest])
    .caused_by(&["FS125"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    if rollout.phase == Phase::Initializing {
        return untouched(cx, rule);
    }
    match (&cx.outlook.silence, &cx.outlook.delay) {
        (Some(silence), _) => Some(overdue_write(cx, rule, rollout, silence)),
        (None, Some(delay)) => Some(late_write(cx, rule, rollout, delay)),
        (None, None) => None,
    }
}

/// What it had to write, and has not.
fn owed(cx: &DiagnosisContext<'_>, silence: &ControllerSilence) -> String {
    format!(
        "The update run controller had to {} by {}, and has written nothing on {} in the {} since.",
        silence.deed,
        silence.by,
        cx.run_object().name,
        duration::describe(cx.now().duration_since(silence.by)),
    )
}

/// What refuses the controller's writes does not stand in the run's status: it tries again after pauses that
/// double. Source: updaterun/controller.go:Reconcile.
fn late_write(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    rollout: &Rollout<'_>,
    delay: &ControllerSilence,
) -> Finding {
    let run = cx.run_object();
    let message = format!(
        "{} Its writes may be refused: then it tries again after ever longer pauses.",
        owed(cx, delay)
    );
    let finding = rule
        .finding(&run, message)
        .root()
        .severity(Severity::Warning);
    evidence(cx, rollout, delay, finding).look_with(
        "Read the hub agent's log, which says why: an admission policy, a quota, or a permission.",
        cx.agent_log(),
    )
}

/// The first thing that the controller does is to add its finalizer.
fn untouched(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let age = initialization_overdue(cx).filter(|_| !cx.run().is_some_and(UpdateRun::is_seen))?;
    let run = cx.run_object();
    let message = format!(
        "No controller has processed {run} in the {} since its creation: it has no \
         finalizer and no status.",
        duration::describe(age)
    );
    Some(
        rule.finding(&run, message)
            .root()
            .evidence(
                &run,
                format!("metadata.finalizers[{}]", names::RUN_FINALIZER),
                ABSENT,
            )
            .evidence(&run, "status.conditions", ABSENT)
            .look_with(
                "Check whether the hub agent runs and serves update runs.",
                CommandLine::fleet("doctor"),
            )
            .fix(format!(
                "Start the hub agent with {}: it then picks up this run by itself.",
                flags(cx)
            )),
    )
}

fn flags(cx: &DiagnosisContext<'_>) -> &'static str {
    if cx.run_object().namespace.is_empty() {
        "`--enable-staged-update-run-apis`"
    } else {
        "`--enable-staged-update-run-apis` and `--enable-resource-placement`"
    }
}

fn overdue_write(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    rollout: &Rollout<'_>,
    silence: &ControllerSilence,
) -> Finding {
    let run = cx.run_object();
    let elsewhere = elsewhere(cx).filter(|(at, _)| *at > silence.by);
    let meanwhile = match &elsewhere {
        Some((at, other)) => format!(
            " It wrote to {} {} ago, so it runs.",
            other.object(),
            duration::describe(cx.now().duration_since(*at))
        ),
        None => String::new(),
    };
    let finding = rule.finding(&run, owed(cx, silence) + &meanwhile).root();
    let finding = evidence(cx, rollout, silence, finding);
    let finding = match elsewhere {
        Some((at, other)) => finding.last_noted(other.object(), at).look_with(
            "Read what the controller logs about this run: it processes others.",
            cx.agent_log(),
        ),
        None => finding.look_with(
            "Check whether the hub agent runs and serves update runs.",
            CommandLine::fleet("doctor"),
        ),
    };
    let restart = ", if it runs but does not respond: it then continues this run by itself.";
    let restart = restart_hub_agent(restart) + unscheduled(cx);
    size::explain(cx, finding).fix(restart)
}

/// What comes of agents that were not heard for long: a scheduler that starts anew takes none of their
/// clusters, and a run whose placement is not scheduled is aborted.
/// Source: scheduler/clustereligibilitychecker/checker.go:IsEligible.
fn unscheduled(cx: &DiagnosisContext<'_>) -> &'static str {
    const TOO_LONG: SignedDuration = SignedDuration::from_mins(4);
    let heard = all_silent_since(cx.inventory.members.iter(), cx.now());
    if heard.is_none_or(|heard| cx.now().duration_since(heard) < TOO_LONG) {
        return "";
    }
    " Agents that were not heard for 5 minutes do not count at first: KubeFleet may find no cluster for \
     the placement then, and abort its runs, also stopped ones."
}

/// What was due, since when, and what the controller wrote last.
fn evidence(
    cx: &DiagnosisContext<'_>,
    rollout: &Rollout<'_>,
    silence: &ControllerSilence,
    mut finding: Finding,
) -> Finding {
    let run = cx.run_object();
    if !rollout.is_current() {
        finding = finding
            .evidence(&run, "metadata.generation", rollout.run.meta.generation)
            .evidence(&run, "spec.state", rollout.run.spec.state.as_ref())
            .condition(&run, rollout.progressing());
    }
    for request in rollout.open_approvals().filter_map(|it| it.own_request()) {
        finding = finding.condition(&request.object(), request.untaken());
    }
    if let Some(last) = silence.last {
        finding = finding.last_noted(&run, last);
    }
    finding.computed(
        &run,
        &["status"],
        format!(
            "the controller could {} since {}",
            silence.deed, silence.since
        ),
    )
}

/// The newest write of the same controller on another run.
fn elsewhere<'i>(cx: &DiagnosisContext<'i>) -> Option<(Timestamp, &'i UpdateRun)> {
    let others = cx.inventory.other_runs();
    others
        .filter_map(|run| Some((run.last_write()?, run)))
        .max_by_key(|(at, run)| (*at, &run.meta.name))
}
