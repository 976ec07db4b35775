//! Looking comes before what cannot be undone.

use crate::diagnose::subjects::context::{DiagnosisContext, WHICH_RUN};
use crate::diagnose::subjects::tried;
use crate::inventory::choose;
use crate::kubefleet::run::UpdateRun;
use crate::report::{Effect, Finding, Remedy, Verdict};
use crate::words::{CommandLine, capital, enumerate};

/// Puts a look before a first step that deletes, replaces or rolls back, and says of a step that it
/// replaces a run.
pub fn steps(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    superseded(cx, findings);
    going(cx, findings);
    leaving(findings);
    for finding in findings {
        for remedy in &mut finding.remedies {
            let Some(command) = &remedy.command else {
                continue;
            };
            if let Some(what) = replacing(command) {
                remedy.action = format!("{} `{what}` deletes this run first.", remedy.action);
            }
            if let Some(dropped) = tried::dropped_gate(cx.inventory, command) {
                remedy.action = format!("{} But {dropped}.", remedy.action);
            }
        }
        let look = finding
            .remedies
            .first()
            .filter(|first| first.effect == Effect::Disruptive)
            .and_then(|first| look_before(cx, first.command.as_ref()?));
        if let Some(look) = look {
            finding.remedies.insert(0, look);
        }
        without_needless_or(&mut finding.remedies);
    }
}

/// `Or` leads to another way of changing something: after a look alone there is nothing else to do.
fn without_needless_or(remedies: &mut [Remedy]) {
    for remedy in remedies {
        if remedy.effect == Effect::ReadOnly {
            continue;
        }
        if let Some(rest) = remedy.action.strip_prefix("Or ") {
            remedy.action = capital(rest);
        }
        return;
    }
}

/// Of a run that is over while a later one is on the placement: a new run of it would take clusters
/// from that one, and what it lacked is no longer needed. Where the later one has succeeded, it is to be
/// looked at before anything is rolled out again.
fn superseded(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    // Also where it is being deleted.
    let rollout = cx.rollout.as_ref();
    let Some(rollout) = rollout.filter(|rollout| choose::is_finished(rollout.run)) else {
        return;
    };
    let own = choose::age_key(rollout.run);
    let is_later = |run: &&UpdateRun| choose::age_key(run) > own;
    let succeeded = |run: &&UpdateRun| run.has_succeeded();
    let under_way = cx.inventory.runs_under_way().filter(is_later).last();
    let done = || {
        let later = cx.inventory.other_runs().filter(is_later).filter(succeeded);
        later.max_by_key(|run| choose::age_key(run))
    };
    let Some(later) = under_way.or_else(done) else {
        return;
    };
    let how = match under_way {
        Some(_) => "instead: it is later, and has started",
        None => "first: it is later, and has succeeded",
    };
    let action = format!("Check {} {how} on the same placement.", later.meta.name);
    let follow = Remedy::look(action, Some(cx.command("diagnose").arg(&later.meta.name)));
    for finding in findings {
        if under_way.is_none() {
            let first = finding.remedies.first();
            if first.is_some_and(|it| it.effect != Effect::ReadOnly) {
                finding.remedies.insert(0, follow.clone());
            }
            continue;
        }
        let before = finding.remedies.len();
        finding.remedies.retain(|it| it.effect == Effect::ReadOnly);
        if finding.remedies.len() < before {
            finding.remedies.retain(|it| it.command != follow.command);
            finding.remedies.insert(0, follow.clone());
        }
    }
}

/// A run that is being deleted is soon no source of a new one.
fn going(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    let Some(run) = cx.run().filter(|_| cx.verdict == Verdict::Deleting) else {
        return;
    };
    let name = run.meta.name.as_str();
    let is_source = |it: &Remedy| {
        let command = it.command.as_ref().filter(|it| it.is_ours());
        command.is_some_and(|it| {
            it.value_of("--from").as_deref() == Some(name)
                || it.verb() == "retry" && it.operand(0) == Some(name)
        })
    };
    for finding in findings {
        if !finding.remedies.iter().all(is_source) {
            finding.remedies.retain(|it| !is_source(it));
        }
    }
}

/// A cluster that the placement is to leave is not repaired: the run ends before that helps.
fn leaving(findings: &mut [Finding]) {
    let left = findings.iter().filter(|it| it.code == "FS205");
    let left: Vec<_> = left.flat_map(|it| it.clusters.clone()).collect();
    // That it left the fleet is why the placement is to be removed.
    let is_cause = |code: &str| code == "FS518";
    let on_member =
        |code: &str| (code.starts_with("FS5") || code.starts_with("FS9")) && !is_cause(code);
    for finding in findings.iter_mut().filter(|it| on_member(&it.code)) {
        let clusters = &finding.clusters;
        if clusters.is_empty() || !clusters.iter().all(|cluster| left.contains(cluster)) {
            continue;
        }
        // Nor does anything follow a repair.
        finding
            .remedies
            .retain(|it| it.effect == Effect::ReadOnly && !it.continues());
        let action = format!(
            "Resolve FS205 first: the placement is to be removed from {}.",
            enumerate(clusters)
        );
        let first = Remedy::look(action, None);
        finding.remedies.insert(0, first);
    }
}

/// What of a command deletes a run before it makes another.
fn replacing(command: &CommandLine) -> Option<&'static str> {
    if command.has_flag("--replace") {
        return Some("--replace");
    }
    (command.is_ours() && command.verb() == "retry").then_some("retry")
}

/// What shows beforehand what a command of ours would do.
fn look_before(cx: &DiagnosisContext<'_>, command: &CommandLine) -> Option<Remedy> {
    let (action, command) = match command.verb() {
        _ if !command.is_ours() => return None,
        "run" | "retry" => {
            let plan = tried::plan_of(cx.inventory, command, cx.plan_command()?);
            ("Check what a new run would do now.".to_owned(), plan)
        }
        "delete" => {
            let name = command.operand(0)?;
            let status = cx.command("status").arg(name);
            (format!("Check the progress of {name}."), status)
        }
        "rollback" | "resume" => {
            return Some(Remedy::look(WHICH_RUN, Some(cx.history_command())));
        }
        _ => return None,
    };
    Some(Remedy::look(action, Some(command)))
}
