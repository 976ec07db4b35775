//! Every step that is a command of ours is played: the run continues, or what it fails for is named
//! before the step; clusters get the content that the step names, and no other; and a step that is all
//! that its finding wants mends it, without a new error.

use std::collections::BTreeSet;
use std::sync::Arc;

use kubectl_fleet_stage::bundle::Bundle;
use kubectl_fleet_stage::controller::State;
use kubectl_fleet_stage::controller::{
    AwaitedEvent, Intervention, PlayEnd, PlayObstacle, PlayedRun,
};
use kubectl_fleet_stage::diagnose::diagnose;
use kubectl_fleet_stage::diagnose::subjects::tried::{interventions, tried};
use kubectl_fleet_stage::inventory::source::{
    HubFacts, HubQuery, ObjectSource, Outcome, QueryAnswer,
};
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::Concept;
use kubectl_fleet_stage::kubefleet::binding::Binding;
use kubectl_fleet_stage::kubefleet::object::{Object, ObjectBody};
use kubectl_fleet_stage::kubefleet::run::UpdateRun;
use kubectl_fleet_stage::query::QuerySelection;
use kubectl_fleet_stage::report::{Effect, Finding, Remedy, Report, Severity};
use kubectl_fleet_stage::rollout::{ClusterState, GateOpening, Rollout, StageView, opening};
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
    result: Result<PlayedRun, PlayObstacle>,
) -> Option<String> {
    let played = match result {
        Ok(played) => played,
        // What could not be read decides nothing.
        Err(PlayObstacle::Unknown(_)) => return None,
        Err(PlayObstacle::Refused(why)) => return Some(format!("is refused: {why}")),
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
    let own = (!used.is_empty()).then_some(used.as_str()).or(run.pinned());
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

/// The objects of a bundle as they stand after a step was played.
struct Played<'p> {
    before: &'p mut dyn ObjectSource,
    state: &'p State,
    /// The run that was deleted.
    deleted: Option<&'p str>,
}

impl Played<'_> {
    /// What the step, or the controller, may have made.
    fn made(&self, concept: Concept) -> Vec<ObjectBody> {
        let state = self.state;
        match concept {
            Concept::UpdateRun => vec![ObjectBody::Run(Arc::new(state.run.clone()))],
            Concept::ApprovalRequest => {
                let requests = state.approvals.items.iter();
                requests.cloned().map(ObjectBody::Approval).collect()
            }
            _ => Vec::new(),
        }
    }

    fn body(&self, object: &Object) -> Option<ObjectBody> {
        let state = self.state;
        let name = &object.body.meta().name;
        Some(match &object.body {
            ObjectBody::Run(_) if self.deleted == Some(name) => return None,
            ObjectBody::Run(_) if *name == state.run.meta.name => {
                ObjectBody::Run(Arc::new(state.run.clone()))
            }
            ObjectBody::Binding(_) => {
                let mut bindings = state.bindings.items.iter();
                ObjectBody::Binding(Arc::clone(bindings.find(|it| it.meta.name == *name)?))
            }
            ObjectBody::Approval(it) => {
                let mut requests = state.approvals.items.iter();
                let now = requests.find(|it| it.meta.name == *name);
                ObjectBody::Approval(Arc::clone(now.unwrap_or(it)))
            }
            other => other.clone(),
        })
    }
}

impl ObjectSource for Played<'_> {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        let answers = self.before.answer(queries);
        let answers = queries.iter().zip(answers).map(|(query, answer)| {
            let played = answer.objects.iter().filter_map(|object| {
                let body = self.body(object)?;
                Some(Object {
                    kind: object.kind,
                    body,
                })
            });
            let mut objects: Vec<_> = played.collect();
            let made = self.made(query.kind.concept());
            let made = made.into_iter().filter(|body| {
                let name = &body.meta().name;
                let is_meant = match &query.which {
                    QuerySelection::Named { name: asked, .. } => asked == name,
                    QuerySelection::All { .. } => true,
                };
                is_meant && !objects.iter().any(|it| it.body.meta().name == *name)
            });
            let made: Vec<_> = made.collect();
            let outcome = if made.is_empty() {
                answer.outcome
            } else {
                Outcome::Listed
            };
            let kind = query.kind;
            objects.extend(made.into_iter().map(|body| Object { kind, body }));
            QueryAnswer {
                objects: objects.into(),
                outcome,
            }
        });
        answers.collect()
    }
}

/// How the sentence of a step begins that is nothing but its command; others name what a person does
/// first, or what does not mend.
const ALONE: [&str; 6] = ["Approve", "Delete", "Resume", "Roll", "Start", "Try"];

/// What time alone brings where nobody plays the member clusters: silence, and what a finalizer holds;
/// and that a stop waits for what is in flight there.
const OF_MEMBERS: [&str; 4] = ["FS515", "FS516", "FS521", "FS603"];

/// Whether a step is all that a finding wants done.
fn is_whole(finding: &Finding, at: usize) -> bool {
    let looks = |it: &Remedy| it.effect == Effect::ReadOnly && !it.action.starts_with("Resolve ");
    let first = finding.remedies[at].action.split(' ').next();
    finding.severity > Severity::Info
        && first.is_some_and(|word| ALONE.contains(&word))
        && finding.remedies[..at].iter().all(looks)
}

/// What is as it was, or worse, after a step that is to mend a finding.
fn left(finding: &Finding, before: &Report, after: &Report) -> Option<String> {
    let errors = after
        .findings
        .iter()
        .filter(|it| it.severity == Severity::Error);
    let known =
        |code: &str| OF_MEMBERS.contains(&code) || before.findings.iter().any(|it| it.code == code);
    let new = errors.map(|it| it.code.as_str()).find(|code| !known(code));
    if let Some(code) = new {
        return Some(format!("leads to {code}"));
    }
    let mut still = after
        .findings
        .iter()
        .filter(|it| it.severity > Severity::Info);
    still
        .any(|it| it.code == finding.code && it.subject == finding.subject)
        .then(|| "leaves the finding".to_owned())
}

/// Why a step that was played does not mend its finding.
fn unmended(
    (finding, before): (&Finding, &Report),
    inventory: &Inventory,
    command: &CommandLine,
    played: &PlayedRun,
    (bundle, hub): (&mut dyn ObjectSource, &HubFacts),
) -> Option<String> {
    let (run, acts) = interventions(inventory, command)?;
    let deletes = acts.iter().any(|act| matches!(act, Intervention::Delete));
    let state = &played.state;
    let mut source = Played {
        before: bundle,
        state,
        deleted: deletes.then_some(run.meta.name.as_str()),
    };
    let after = diagnose(&mut source, hub, &state.run.object(), state.now);
    left(finding, before, &after)
}

/// Calls for each report of each fixture: with its place, the bundle, and what is around its target.
fn each_report(mut look: impl FnMut(&str, &mut Bundle, &Inventory, &Report)) {
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut bundle = read(&text).unwrap();
        let Some(now) = bundle.collected_at.or(bundle.newest_timestamp()) else {
            continue;
        };
        for (target, report) in reports(&text) {
            let mut walk = Walk::new(target.clone());
            walk.drive(&mut bundle);
            let inventory = Inventory::new(walk, now, bundle.hub.clone());
            let place = format!("{}: {target}", path.display());
            look(&place, &mut bundle, &inventory, &report);
        }
    }
}

#[test]
fn every_step_leads_on() {
    let mut broken = Vec::new();
    let (mut count, mut decided, mut mends) = (0, 0, 0);
    each_report(|place, bundle, inventory, report| {
        let hub = bundle.hub.clone();
        let codes = report.findings.iter().map(|it| it.code.as_str()).collect();
        for finding in &report.findings {
            for (at, remedy) in finding.remedies.iter().enumerate() {
                let Some(command) = &remedy.command else {
                    continue;
                };
                let Some(result) = tried(inventory, command) else {
                    continue;
                };
                count += 1;
                decided += usize::from(!matches!(result, Err(PlayObstacle::Unknown(_))));
                let ends_well = |played: &&PlayedRun| {
                    !matches!(played.end, PlayEnd::Deleted | PlayEnd::Failed(_))
                };
                // The model's new run keeps the strategy, and no snapshot is made for it.
                let is_played =
                    !command.has_flag("--strategy") && inventory.latest_snapshot().is_some();
                let is_all = is_whole(finding, at) && is_played;
                let played = result.as_ref().ok().filter(ends_well).filter(|_| is_all);
                mends += usize::from(played.is_some());
                let unmended = played.and_then(|played| {
                    let around = (&mut *bundle as &mut dyn ObjectSource, &hub);
                    unmended((finding, report), inventory, command, played, around)
                });
                let steps = (&codes, &finding.remedies[..at]);
                let wrong = wrong(inventory, steps, command, result);
                for why in unmended.into_iter().chain(wrong) {
                    broken.push(format!("{place}: {}: {command} {why}", finding.code));
                }
            }
        }
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count > 1_000, "only {count} steps were played");
    assert!(mends > 100, "only {mends} are all that their finding wants");
    assert!(
        decided * 100 > count * 98,
        "{decided} of {count} are decided"
    );
}

/// What an approval starts, as the model plays it: the clusters of each stage up to what the run waits
/// for next.
fn starts(played: &PlayedRun) -> Vec<(&str, BTreeSet<&str>)> {
    let mut stages: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    let conditions = played.writes.iter().flat_map(|write| &write.conditions);
    for condition in conditions.filter(|it| it.kind == "Started" && it.status == "True") {
        let place = condition.on.strip_prefix("stage/").unwrap_or(&condition.on);
        let Some((stage, cluster)) = place.split_once("/cluster/") else {
            continue;
        };
        match stages.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, clusters)) => _ = clusters.insert(cluster),
            None => stages.push((stage, BTreeSet::from([cluster]))),
        }
    }
    stages
}

/// What is wrong with the sentence about what an approval opens.
fn untrue(said: &str, run: &UpdateRun, played: &PlayedRun) -> Option<String> {
    let said = said.split(", once the timed wait").next().unwrap_or(said);
    let words: BTreeSet<_> = said
        .split([' ', ','])
        .map(|word| word.trim_end_matches('.'))
        .collect();
    let starts = starts(played);
    let first = starts.first();
    let wrong = |what: &str| Some(format!("says {said:?}, but {what}: {starts:?}"));
    if said == "the run finish" {
        return (played.end != PlayEnd::Succeeded || first.is_some())
            .then(|| wrong("it does not end"))?;
    }
    if said.ends_with("request its own approval") || said.contains("request an approval") {
        let asks = matches!(&played.end, PlayEnd::Waits(waits)
            if waits.iter().any(|it| matches!(it, AwaitedEvent::Approval { .. })));
        return (!asks || first.is_some()).then(|| wrong("it does not wait for one"))?;
    }
    let mut clusters = run.status.stages.iter().flat_map(|it| &it.clusters);
    if !clusters.any(|it| words.contains(it.name.as_str())) {
        return None;
    }
    let (stage, clusters) = first?;
    let missed = clusters.iter().find(|it| !words.contains(**it));
    if !words.contains(stage) || missed.is_some() {
        return wrong("others start");
    }
    None
}

#[test]
fn a_gate_opens_what_is_said() {
    let (mut broken, mut count) = (Vec::new(), 0);
    each_report(|place, _, inventory, report| {
        let said = report.summary.split_once("approving lets ");
        let Some(said) = said.and_then(|(_, said)| said.split(['.', ';']).next()) else {
            return;
        };
        let remedies = report.findings.iter().flat_map(|it| &it.remedies);
        let commands = remedies.filter_map(|it| it.command.as_ref());
        let mut approves = commands.filter(|it| it.is_ours() && it.verb() == "approve");
        let Some(Ok(played)) = approves.next().and_then(|it| tried(inventory, it)) else {
            return;
        };
        count += 1;
        let run = inventory.run.present().unwrap();
        if let Some(why) = untrue(said, run, &played) {
            broken.push(format!("{place}: {why}"));
        }
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(
        count > 50,
        "only {count} sentences were held against a play"
    );
}

/// How what an approval opens differs from what the model plays. A cluster that does not finish ends
/// the play earlier, and a timed wait that passes lets it go further.
fn unlike(
    rollout: &Rollout<'_>,
    opening: &GateOpening<'_, '_>,
    played: &PlayedRun,
) -> Option<String> {
    let name = |stage: &StageView<'_>| {
        if stage.deletes {
            "deletion".to_owned()
        } else {
            stage.status.name.clone()
        }
    };
    let is_left = |stage: &&StageView<'_>| {
        let mut clusters = stage.clusters.iter();
        clusters.any(|it| it.state == ClusterState::NotReached)
    };
    let left: Vec<_> = rollout.stages.iter().filter(is_left).map(name).collect();
    let opened = opening.stages.iter().copied().filter(is_left);
    let said: Vec<_> = opened.map(name).collect();
    // A resume has what was started before noted again.
    let starts = starts(played)
        .into_iter()
        .map(|(stage, _)| stage.to_owned());
    let starts: Vec<_> = starts.filter(|stage| left.contains(stage)).collect();
    let alike = said
        .iter()
        .zip(&starts)
        .all(|(said, starts)| said == starts);
    let asked = match &played.end {
        PlayEnd::Succeeded => Some(None),
        PlayEnd::Waits(waits) => waits.iter().find_map(|it| match it {
            AwaitedEvent::Approval { request, .. } => Some(Some(request.as_str())),
            _ => None,
        }),
        _ => None,
    };
    let next = opening.next.map(|gate| gate.task);
    let is_whole = match (asked, next) {
        (None, _) => true,
        (Some(asked), Some(next)) if next.is_approval() => {
            asked == Some(next.approval_request.as_str()) && said == starts
        }
        (Some(_), Some(_)) => said.len() <= starts.len(),
        (Some(asked), None) => (asked.is_none() || !opening.held_by.is_empty()) && said == starts,
    };
    (!alike || !is_whole)
        .then(|| format!("opens {said:?} up to {next:?}, but {starts:?} start, then {asked:?}"))
}

#[test]
fn a_gate_opens_what_is_played() {
    let (mut broken, mut count) = (Vec::new(), 0);
    each_report(|place, _, inventory, _| {
        let Some(rollout) = Rollout::new(inventory) else {
            return;
        };
        for gate in rollout.open_approvals().filter(|gate| !gate.foreign) {
            let approve = CommandLine::fleet("approve").arg(&gate.task.approval_request);
            let Some(Ok(played)) = tried(inventory, &approve) else {
                continue;
            };
            if matches!(played.end, PlayEnd::Failed(_)) {
                continue;
            }
            count += 1;
            let opening = opening(&rollout, gate);
            if let Some(why) = unlike(&rollout, &opening, &played) {
                let request = &gate.task.approval_request;
                broken.push(format!("{place}: {request} {why}"));
            }
        }
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count > 100, "only {count} gates were held against a play");
}
