//! Every step that is a command of ours is played: the run continues, or what it fails for is named
//! before the step; and clusters get the content that the step names, and no other.

use std::collections::BTreeSet;

use kubectl_fleet_stage::controller::{AwaitedEvent, Intervention, Obstacle, PlayEnd, PlayedRun};
use kubectl_fleet_stage::diagnose::tried::{interventions, tried};
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::binding::Binding;
use kubectl_fleet_stage::kubefleet::run::UpdateRun;
use kubectl_fleet_stage::report::Remedy;
use kubectl_fleet_stage::words::CommandLine;

use super::{fixtures, read, reports};

/// Findings that tell of a placement that goes, or is gone, or was and exists again.
const GOES: [&str; 2] = ["FS101", "FS206"];

/// What a run fails for while the scheduler is not done.
const PLACED_LATER: [&str; 2] = ["FS105", "FS107"];

/// What is wrong with what comes of a step.
fn wrong(
    inventory: &Inventory,
    (codes, earlier): (&BTreeSet<&str>, &[Remedy]),
    command: &CommandLine,
    result: Result<PlayedRun, Obstacle>,
) -> Option<String> {
    let played = match result {
        Ok(played) => played,
        // What could not be read decides nothing.
        Err(Obstacle::Unknown(_)) => return None,
        Err(Obstacle::Refused(why)) => return Some(format!("is refused: {why}")),
    };
    let (run, acts) = interventions(inventory, command)?;
    let end = &played.end;
    if let PlayEnd::Failed(why) = end {
        let Some(why) = why else {
            return Some("does nothing for a run that is over".to_owned());
        };
        let said = |text: &str| earlier.iter().any(|it| it.action.contains(text));
        // What ends a run that continues is told under codes of its own.
        let makes = acts
            .iter()
            .any(|act| matches!(act, Intervention::NewRun { .. }));
        let told = |code: &str| codes.contains(code) || said(&format!("({code})"));
        let named = if makes {
            let waits = PLACED_LATER.contains(&why.code) && said("scheduler has placed");
            waits || told(why.code) || GOES.iter().any(|code| told(code))
        } else {
            said("Resolve FS2")
        };
        if !named {
            return Some(format!("fails: {} {}", why.code, why.message));
        }
    }
    for act in &acts {
        let missed = match act {
            Intervention::Delete => acts.len() == 1 && *end != PlayEnd::Deleted,
            Intervention::Approve { request } => {
                matches!(end, PlayEnd::Waits(waits) if waits.iter()
                .any(|it| matches!(it, AwaitedEvent::Approval { request: it, .. } if it == request)))
            }
            _ => *end == PlayEnd::Continues,
        };
        if missed {
            return Some(format!("ends with {end:?}"));
        }
    }
    moved(inventory, (run, &acts), &played)
}

/// A cluster that gets content that the step does not name.
fn moved(
    inventory: &Inventory,
    (run, acts): (&UpdateRun, &[Intervention]),
    played: &PlayedRun,
) -> Option<String> {
    let used = &run.status.snapshot_index;
    let own = (!used.is_empty())
        .then_some(used.as_str())
        .or(run.spec.pinned());
    let latest = inventory.latest_snapshot().and_then(|it| it.index());
    let named = acts.iter().find_map(|act| match act {
        Intervention::NewRun { snapshot, .. } => Some(snapshot.as_deref().or(latest)),
        _ => None,
    });
    let named = named.unwrap_or(own.or(latest));
    for binding in played.state.bindings.iter() {
        let before = inventory.binding(&binding.spec.cluster);
        let before = before.and_then(Binding::snapshot_index);
        let now = binding.snapshot_index();
        let first = named.is_none() && now == Some("0");
        if now != before && now != named && !first {
            return Some(format!(
                "{} gets {now:?} in place of {before:?}, and {named:?} was named",
                binding.spec.cluster
            ));
        }
    }
    None
}

#[test]
fn every_step_leads_on() {
    let mut broken = Vec::new();
    let (mut count, mut decided) = (0, 0);
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut bundle = read(&text).unwrap();
        let Some(now) = bundle.collected_at.or(bundle.newest_timestamp()) else {
            continue;
        };
        let hub = bundle.hub.clone();
        for (target, report) in reports(&text) {
            let mut walk = Walk::new(target.clone());
            walk.drive(&mut bundle);
            let inventory = Inventory::new(walk, now, hub.clone());
            let codes = report.findings.iter().map(|it| it.code.as_str()).collect();
            for finding in &report.findings {
                for (at, remedy) in finding.remedies.iter().enumerate() {
                    let Some(command) = &remedy.command else {
                        continue;
                    };
                    let Some(result) = tried(&inventory, command) else {
                        continue;
                    };
                    count += 1;
                    decided += usize::from(!matches!(result, Err(Obstacle::Unknown(_))));
                    let steps = (&codes, &finding.remedies[..at]);
                    if let Some(why) = wrong(&inventory, steps, command, result) {
                        let path = path.display();
                        broken.push(format!(
                            "{path}: {target}: {}: {command} {why}",
                            finding.code
                        ));
                    }
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count > 1_000, "only {count} steps were played");
    assert!(
        decided * 100 > count * 98,
        "{decided} of {count} are decided"
    );
}
