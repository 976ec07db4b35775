//! The stages of a run, their gates, and their clusters by state.

use maud::{Markup, html};

use super::ChainPlace;
use super::words::{self, ColorTone};
use crate::render::tree::groups;
use crate::rollout::{Progress, StageProgress, TaskProgress, TaskState, TaskTime};
use crate::words::count;

/// The tree.
pub(super) fn section(progress: &Progress, place: ChainPlace) -> Markup {
    html! {
        section aria-labelledby=(place.labelled("stages")) {
            (place.heading("stages", "Stages"))
            ol.stages {
                @for stage in &progress.stages { (self::stage(stage, place)) }
            }
        }
    }
}

/// What a stage is called.
pub(super) fn name(stage: &StageProgress) -> &str {
    if stage.deletes {
        "removal"
    } else {
        &stage.name
    }
}

fn stage(stage: &StageProgress, place: ChainPlace) -> Markup {
    let tone = ColorTone::of_stage(stage.state);
    let heading = html! { (name(stage)) " " (words::tag(tone, stage.state.describe(), false)) };
    let (done, total) = (stage.done(), stage.clusters.len());
    html! {
        li.stage.(tone.class()) {
            (place.level.deeper().heading(None, &heading))
            p.note {
                (done) " of " (count(total, "cluster")) " done"
                @if !stage.deletes && total > 0 { ", " (stage.max_concurrency) " at once" }
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
        @for task in stage.tasks.iter().filter(|task| task.when == time) {
            li {
                (words::tag(tone_of(task, stage), state_of(task, stage), false))
                " " (time.as_str()) ": " (task.kind)
                @if let Some(request) = task.approval_request.as_ref()
                    .filter(|_| task.state != TaskState::Pending) { " " strong { (request) } }
                @if let Some(until) = task.until { " until " (words::time(until)) }
            }
        }
    }
}

/// What has become of a gate, in a word.
pub(super) const fn state_of(task: &TaskProgress, stage: &StageProgress) -> &'static str {
    match task.state {
        TaskState::Open if stage.state.is_over() => "not passed",
        TaskState::Approved if stage.state.is_over() => "approved, but the run ended first",
        TaskState::Open => "waiting",
        TaskState::Approved => "approved, not accepted yet",
        TaskState::Done => "done",
        TaskState::Pending => "not reached",
    }
}

/// The tone of a gate.
pub(super) const fn tone_of(task: &TaskProgress, stage: &StageProgress) -> ColorTone {
    match task.state {
        TaskState::Open | TaskState::Approved if stage.state.is_over() => ColorTone::Bad,
        TaskState::Open => ColorTone::Waiting,
        TaskState::Approved => ColorTone::Moving,
        TaskState::Done => ColorTone::Good,
        TaskState::Pending => ColorTone::Quiet,
    }
}
