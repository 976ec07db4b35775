//! The stages of a run, their gates, and their clusters by state.

use maud::{Markup, html};

use super::ChainPlace;
use super::words::{self, ColorTone};
use crate::render::tree::groups;
use crate::report::RunFacts;
use crate::rollout::{GateFacts, GateState, StageProgress, TaskTime};
use crate::words::count;

pub(super) fn section(progress: &RunFacts, place: ChainPlace) -> Markup {
    html! {
        section aria-labelledby=(place.labelled("stages")) {
            (place.heading("stages", "Stages"))
            ol.stages {
                @for stage in &progress.stages { (self::stage(stage, place)) }
            }
        }
    }
}

fn stage(stage: &StageProgress, place: ChainPlace) -> Markup {
    let tone = ColorTone::of_stage(stage.state);
    let heading = html! { (stage.label()) " " (words::tag(tone, stage.state.describe(), false)) };
    let (done, total) = (stage.done(), stage.clusters.len());
    html! {
        li.stage.(tone.class()) {
            (place.level.deeper().heading(None, &heading))
            p.note {
                (done) " of " (count(total, "cluster")) " done"
                @if !stage.deletes && total > 0 { ", " (stage.concurrency) " at once" }
            }
            ul.parts {
                (gates(stage, TaskTime::Before))
                @for (state, members) in groups(stage) {
                    li {
                        (words::tag(ColorTone::of_cluster(state), state.describe(), false))
                        " " (count(members.len(), "cluster"))
                        @let members: Vec<_> = members.iter().map(|one| one.name.as_str()).collect();
                        (words::names(&members))
                    }
                }
                (gates(stage, TaskTime::After))
            }
        }
    }
}

fn gates(stage: &StageProgress, time: TaskTime) -> Markup {
    html! {
        @for task in stage.gates(time) {
            li {
                (words::tag(tone_of(task, stage), state_of(task, stage), false))
                " " (time.as_str()) ": " (task.kind)
                @if let Some(request) = task.request.as_ref()
                    .filter(|_| task.state != GateState::NotReached) { " " strong { (request) } }
                @if let Some(until) = task.until { " until " (words::time(until)) }
            }
        }
    }
}

/// What has become of a gate, in a word.
pub(super) fn state_of(task: &GateFacts, stage: &StageProgress) -> &'static str {
    let is_over = stage.state.is_over();
    match task.state {
        GateState::NotReached => "not reached",
        _ if task.is_passed() => "done",
        _ if is_over && task.is_approved() => "approved, but the run ended first",
        _ if is_over => "not passed",
        _ if task.is_approved() => "approved, not accepted yet",
        _ => "pending",
    }
}

pub(super) fn tone_of(task: &GateFacts, stage: &StageProgress) -> ColorTone {
    match task.state {
        GateState::NotReached => ColorTone::Quiet,
        _ if task.is_passed() => ColorTone::Good,
        _ if stage.state.is_over() => ColorTone::Bad,
        _ if task.is_approved() => ColorTone::Moving,
        _ => ColorTone::Waiting,
    }
}
