//! A run in time: drawn, and as tables that say the same.

mod scale;

use std::borrow::Cow;

use maud::{Markup, html};

use super::ChainPlace;
use super::stages::{state_of, tone_of};
use super::words::{self, ColorTone, short_time, time};
use crate::kubefleet::duration;
use crate::render::wrap::list;
use crate::rollout::timeline::{
    AwaitedTask, StageLine, StagePart, TimeSpan, Timeline, TimelineStep, TimelineWait,
    TimelineWaiter,
};
use crate::rollout::{ClusterProgress, ClusterState, StageProgress, TaskTime};
use crate::words::count;
use scale::TimeScale;

/// Clusters of a stage that have a row of their own, before the rest share one.
const ROWS: usize = 16;
/// Rows of waits, before the rest is only counted.
const WAITS: usize = 40;
/// Names in a cell, before the rest is only counted.
const NAMES: usize = 6;

/// The timeline, the waits and the times.
pub(super) fn section(timeline: &Timeline<'_>, place: ChainPlace) -> Markup {
    html! {
        section aria-labelledby=(place.labelled("timeline")) {
            (place.heading("timeline", "Timeline"))
            (chart(timeline, place))
            (waits(timeline, place))
            (table(timeline, place))
        }
    }
}

struct TimelineRow<'r> {
    label: Cow<'r, str>,
    class: &'static str,
    /// What it says in words, beside the bar.
    words: String,
    tone: ColorTone,
    /// Waiting for a slot.
    slot: Option<TimeSpan>,
    span: Option<TimeSpan>,
    is_wait: bool,
}

impl<'r> TimelineRow<'r> {
    /// A row below a stage's own: a state, and how long it took or takes.
    fn new(
        label: impl Into<Cow<'r, str>>,
        state: &str,
        tone: ColorTone,
        span: Option<TimeSpan>,
    ) -> Self {
        Self {
            label: label.into(),
            class: "of-part",
            words: match span {
                Some(span) if span.open => {
                    format!("{state}, {} so far", duration::describe(span.lasts()))
                }
                Some(span) => format!("{state}, {}", duration::describe(span.lasts())),
                None => state.to_owned(),
            },
            tone,
            slot: None,
            span,
            is_wait: false,
        }
    }
}

fn chart(timeline: &Timeline<'_>, place: ChainPlace) -> Markup {
    let scale = TimeScale::new(timeline.from, timeline.until);
    let hatch = place.id("hatch");
    html! {
        figure.chart {
            figcaption {
                "From " (time(timeline.from)) " to " (time(timeline.until))
                @if !timeline.is_over { " (ongoing)" }
                ": " strong { (duration::describe(timeline.lasts())) } "."
                span.unseen { " The tables below have the same information." }
            }
            div aria-hidden="true" {
                svg.defs width="0" height="0" {
                    defs {
                        pattern #(hatch) width="6" height="6" patternUnits="userSpaceOnUse"
                            patternTransform="rotate(45)" {
                            rect.hatch-paper width="6" height="6" {}
                            rect.hatch-line width="3" height="6" {}
                        }
                    }
                }
                div.row.axis {
                    span.label { "UTC" }
                    (scale.axis())
                    span.words {}
                }
                @for line in &timeline.stages {
                    @for row in rows(line) { (draw(&row, &scale, &hatch)) }
                }
            }
            ul.legend aria-hidden="true" {
                li { span.key.k-update {} "update" }
                li { span.key.k-wait {} "wait for an approval or a timer" }
                li { span.key.k-slot {} "wait for a slot" }
            }
        }
    }
}

fn draw(row: &TimelineRow<'_>, scale: &TimeScale, hatch: &str) -> Markup {
    html! {
        div.row.(row.class).(row.tone.class()) {
            span.label { (row.label) }
            svg.track width="100%" height="20" {
                (scale.grid())
                @if let Some(slot) = &row.slot {
                    @let (x, width) = scale.place(slot);
                    rect.slot x=(x) y="9" width=(width) height="2" {}
                }
                @if let Some(span) = &row.span {
                    @let (x, width) = scale.place(span);
                    @if row.is_wait {
                        rect x=(x) y="4" width=(width) height="12" rx="2"
                            fill=(format!("url(#{hatch})")) {}
                    } @else {
                        rect.solid x=(x) y="4" width=(width) height="12" rx="2" {}
                    }
                }
            }
            span.words { (row.words) }
        }
    }
}

/// The rows of a stage: itself, its gates, and its clusters or what they share.
fn rows<'r>(line: &'r StageLine<'_>) -> Vec<TimelineRow<'r>> {
    let stage = line.stage;
    let (state, tone) = (stage.state.describe(), ColorTone::of_stage(stage.state));
    let mut rows = vec![TimelineRow {
        class: "of-stage",
        ..TimelineRow::new(stage.label(), state, tone, line.span)
    }];
    let clusters = stage.clusters.len();
    let mut shown = 0;
    let mut rest = NotDrawn::default();
    for step in &line.steps {
        match step.what {
            StagePart::Gate(task) => {
                if task.when == Some(TaskTime::After) {
                    rows.extend(rest.take());
                }
                if step.span.is_some() {
                    let (state, tone) = (state_of(task, stage), tone_of(task, stage));
                    rows.push(TimelineRow {
                        is_wait: true,
                        ..TimelineRow::new(task.kind.as_str(), state, tone, step.span)
                    });
                }
            }
            StagePart::Cluster(cluster) => {
                let tone = ColorTone::of_cluster(cluster.state);
                let few = clusters <= ROWS;
                if few || (tone == ColorTone::Bad && shown < ROWS) {
                    shown += 1;
                    let (name, state) = (cluster.name.as_str(), cluster.state.describe());
                    rows.push(TimelineRow {
                        slot: step.slot,
                        ..TimelineRow::new(name, state, tone, step.span)
                    });
                } else {
                    rest.add(cluster, step);
                }
            }
        }
    }
    rows.extend(rest.take());
    rows
}

/// The clusters of a stage that share rows, one for each state.
#[derive(Default)]
struct NotDrawn {
    groups: Vec<(ClusterState, usize, Option<TimeSpan>)>,
}

impl NotDrawn {
    fn add(&mut self, cluster: &ClusterProgress, step: &TimelineStep<'_>) {
        let at = self
            .groups
            .iter()
            .position(|(state, ..)| *state == cluster.state);
        let Some((_, number, span)) = at.and_then(|at| self.groups.get_mut(at)) else {
            self.groups.push((cluster.state, 1, step.span));
            return;
        };
        *number += 1;
        *span = match (*span, step.span) {
            (Some(a), Some(b)) => Some(TimeSpan {
                from: a.from.min(b.from),
                until: a.until.max(b.until),
                open: a.open || b.open,
            }),
            (a, b) => a.or(b),
        };
    }

    fn take(&mut self) -> Vec<TimelineRow<'static>> {
        let groups = std::mem::take(&mut self.groups).into_iter();
        let row = |(state, number, span): (ClusterState, usize, Option<TimeSpan>)| {
            let tone = ColorTone::of_cluster(state);
            TimelineRow::new(count(number, "cluster"), state.describe(), tone, span)
        };
        groups.map(row).collect()
    }
}

fn waits(timeline: &Timeline<'_>, place: ChainPlace) -> Markup {
    let id = place.id("waits");
    let caption = "Who waits for whom and how long, current waits first";
    let titles = ["Who", "Waits for", "State", "#For", "Since (UTC)"];
    let rows = html! {
        @for wait in timeline.waits.iter().take(WAITS) { (self::wait(wait)) }
    };
    html! {
        @if !timeline.waits.is_empty() {
            (place.level.deeper().heading(Some(&id), &html! { "Who waits for whom" }))
            div.scroll role="region" aria-labelledby=(place.labelled("waits")) tabindex="0" {
                (words::table(caption, &titles, &rows))
            }
            @if timeline.waits.len() > WAITS {
                p.note {
                    "And " (count(timeline.waits.len() - WAITS, "more wait"))
                    ", in the table of all times."
                }
            }
        }
    }
}

fn wait(wait: &TimelineWait<'_>) -> Markup {
    let (state, tone) = match (&wait.on, wait.open) {
        (AwaitedTask::Gate(task), _) => {
            let (TimelineWaiter::Stage(stage) | TimelineWaiter::Clusters(stage, _)) = &wait.who;
            (state_of(task, stage), tone_of(task, stage))
        }
        (AwaitedTask::Clusters(state, _), _) => (state.describe(), ColorTone::of_cluster(*state)),
        (_, true) => ("waiting", ColorTone::Waiting),
        (_, false) => ("over", ColorTone::Good),
    };
    html! {
        tr {
            th scope="row" {
                @match &wait.who {
                    TimelineWaiter::Stage(stage) => { (stage.title()) }
                    TimelineWaiter::Clusters(_, names) => { (clusters(names)) }
                }
            }
            td {
                @match &wait.on {
                    AwaitedTask::Gate(task) => {
                        @match &task.request {
                            Some(request) => { "approval " (request) }
                            None => { (task.kind) " " (task.side()) " its clusters" }
                        }
                        @if let Some(until) = task.until { ", until " (time(until)) }
                    }
                    AwaitedTask::Clusters(_, names) => { (clusters(names)) }
                    AwaitedTask::Slot(names) => { "a slot, held by " (list(names, NAMES)) }
                    AwaitedTask::Stage(stage) => { (stage.title()) }
                }
            }
            td { (words::tag(tone, state, false)) }
            td.number { @if let Some(span) = &wait.span { (duration::describe(span.lasts())) } }
            td { @if let Some(span) = &wait.span { (short_time(span.from)) } }
        }
    }
}

fn clusters(names: &[&str]) -> String {
    match names {
        [name] => format!("cluster {name}"),
        names => format!("{}: {}", count(names.len(), "cluster"), list(names, NAMES)),
    }
}

/// All times: what the drawing shows, for those who do not see it.
fn table(timeline: &Timeline<'_>, place: ChainPlace) -> Markup {
    let id = place.id("times");
    let rows: usize = timeline
        .stages
        .iter()
        .map(|line| 1 + line.steps.len())
        .sum();
    let caption = "When each stage, gate, and cluster started and ended";
    let times = html! {
        @for line in &timeline.stages {
            (times(line.stage, "stage", line.stage.state.describe(), line.span.as_ref(), None))
            @for step in &line.steps { (of_step(line.stage, step)) }
        }
    };
    html! {
        details.times {
            summary #(id) { "All times as a table (" (count(rows, "row")) ")" }
            div.scroll role="region" aria-labelledby=(place.labelled("times")) tabindex="0" {
                (words::table(caption, &["Stage", "What", "State", "From (UTC)", "Until (UTC)",
                    "#Took", "Waited for a slot"], &times))
            }
        }
    }
}

fn of_step(stage: &StageProgress, step: &TimelineStep<'_>) -> Markup {
    let (what, state) = match step.what {
        StagePart::Gate(task) => {
            let what = format!("{}: {}", task.side(), task.kind);
            (Cow::from(what), state_of(task, stage))
        }
        StagePart::Cluster(cluster) => (Cow::from(&cluster.name), cluster.state.describe()),
    };
    times(stage, &what, state, step.span.as_ref(), Some(step))
}

fn times(
    stage: &StageProgress,
    what: &str,
    state: &str,
    span: Option<&TimeSpan>,
    step: Option<&TimelineStep<'_>>,
) -> Markup {
    let slot = step.and_then(|step| Some((step.slot?, step.slot_of)));
    html! {
        tr {
            td { (stage.label()) }
            th scope="row" { (what) }
            td { (state) }
            @match span {
                Some(span) => {
                    td { (short_time(span.from)) }
                    td { @if span.open { "ongoing" } @else { (short_time(span.until)) } }
                    td.number { (duration::describe(span.lasts())) }
                }
                None => { td {} td {} td.number {} }
            }
            td {
                @if let Some((slot, of)) = slot {
                    (duration::describe(slot.lasts()))
                    @if let Some(of) = of { ", until " (of) " was done" }
                }
            }
        }
    }
}
