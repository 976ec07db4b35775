//! A placement whose rollout is none of an update run's business.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::reasons;
use crate::problems::steps::{self, EXTERNAL_STAYS};
use crate::rollout::Rollout;
use crate::rollout::sent::sent_without_run;

/// How many bindings are shown.
const SHOWN: usize = 3;

/// Update runs apply to placements with strategy External only.
pub const RULE: Rule = Rule::info("FS802", "placement-rolls-out-itself", One(check))
    .reads(&[Concept::Placement])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    if let Some(rollout) = &cx.rollout {
        return ahead_of_run(cx, rule, rollout);
    }
    if cx.run().is_some() || cx.target().kind.concept() != Concept::Placement {
        return None;
    }
    let placement = cx.inventory.placement.present();
    let placement = placement.filter(|p| !p.is_external())?;
    let object = placement.object();
    let kind = placement.rollout_type();
    let message = format!(
        "{} has strategy {kind}: KubeFleet rolls it out by itself, and update runs do not \
         apply to it.",
        object.name
    );
    let strategy = placement.spec.strategy.as_deref();
    let kind = strategy.map(|strategy| &strategy.kind);
    let finding = rule.finding(&object, message).root();
    let finding = finding.evidence(&object, "spec.strategy.type", kind);
    Some(finding.fix(format!(
        "Set `spec.strategy.type: External`, if it is to be rolled out in stages. {EXTERNAL_STAYS}"
    )))
}

/// What it rolled out by itself before it was External again: that passed no gate.
fn ahead_of_run(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Option<Finding> {
    let placement = cx.inventory.placement.present()?;
    let sent = sent_without_run(rollout).filter(|_| placement.is_external())?;
    let run = &rollout.run.meta.name;
    let object = placement.object();
    let message = format!(
        "{} while {} was not External: it passed no stage and no gate of {run}.",
        sent.describe(),
        object.name
    );
    let mut finding = rule
        .finding(&object, message)
        .severity(Severity::Warning)
        .clusters(sent.clusters.iter().map(|it| it.name));
    for binding in sent.clusters.iter().filter_map(|it| it.binding).take(SHOWN) {
        let started = binding.condition(reasons::ROLLOUT_STARTED);
        finding = finding.condition(&binding.object(), started);
    }
    let action =
        "Check these clusters before you decide about the run: they have its content already.";
    Some(finding.look_with(action, steps::clusters(&object)))
}
