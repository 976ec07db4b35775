//! Looking comes before what cannot be undone.

use super::context::Context;
use crate::report::{Effect, Finding, Remedy};
use crate::words::CommandLine;

/// Puts a look before a first step that deletes, replaces or rolls back, and says of a step that it
/// replaces a run.
pub(super) fn steps(cx: &Context<'_>, findings: &mut [Finding]) {
    for finding in findings {
        for remedy in &mut finding.remedies {
            let what = remedy.command.as_ref().and_then(replacing);
            if let Some(what) = what {
                let action = &mut remedy.action;
                action.push_str(&format!(" `{what}` deletes this run first."));
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
fn look_before(cx: &Context<'_>, command: &CommandLine) -> Option<Remedy> {
    let (action, command) = match command.verb() {
        _ if !command.is_ours() => return None,
        "run" | "retry" => {
            let plan = cx.plan_command()?;
            ("Check what a new run would do now.".to_owned(), plan)
        }
        "delete" => {
            let name = command.operand(0)?;
            let status = cx.command("status").arg(name);
            (format!("Check the progress of {name}."), status)
        }
        "rollback" => {
            let placement = &cx.inventory.placement_name;
            let history = cx.command("history").arg(placement);
            (
                "Check which run rolled out which version.".to_owned(),
                history,
            )
        }
        _ => return None,
    };
    Some(Remedy {
        action,
        command: Some(command),
        effect: Effect::ReadOnly,
    })
}
