//! Reports and states as one HTML page: no script, nothing from elsewhere, readable offline and on
//! paper, in a light and in a dark surrounding.

mod findings;
mod placed;
mod stages;
mod timeline;
mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::escape;
use super::invocation::{CANONICAL, Invocation};
use crate::diagnose::status::Status;
use crate::kubefleet::{duration, qualified_name};
use crate::report::{NotChecked, Report, RunFacts, Subject, Verdict};
use crate::words::count;
use jiff::Timestamp;
use words::{ColorTone, HeadingLevel, time};

/// The style sheet: the only thing that the page lets a browser apply.
const STYLE: &str = include_str!("style.css");

/// What a browser may do with the page. The hash is the style sheet's; a test compares it.
const POLICY: &str = "default-src 'none'; style-src 'sha256-GsEvlveNrPzZfeYxmTjZiQpvo/6zkdBUjrFTQx5A34Y='; \
    base-uri 'none'; form-action 'none'";

pub fn report(report: &Report, invocation: &Invocation) -> String {
    let title = format!("{}: {}", report.verdict.as_str(), report.target);
    let frame = PageFrame {
        title: &title,
        about: "diagnosis",
        as_of: report.as_of,
    };
    frame.around(&html! {
        (hero_of(report, HeadingLevel::TOP))
        (contents(report))
        (body(report, ChainPlace::alone(), invocation))
    })
}

/// Several diagnoses, below a table of them.
pub fn reports(headline: &str, reports: &[Report], invocation: &Invocation) -> String {
    let title = format!("Diagnosis of {headline}");
    let frame = PageFrame {
        title: &title,
        about: "diagnosis",
        as_of: reports.iter().filter_map(|report| report.as_of).max(),
    };
    frame.around(&html! {
        header.hero.(ColorTone::of_worst(reports).class()) {
            h1 { "Update runs" }
            p.summary { (headline) }
        }
        @if !reports.is_empty() { (index(reports)) }
        @for (at, report) in reports.iter().enumerate() {
            @let tone = ColorTone::of(report.verdict);
            details.run.(tone.class()) id=(format!("run-{at}")) open[tone.wants_a_look()] {
                summary {
                    (words::badge(report.verdict))
                    h2 id=(format!("run-{at}-name")) { (report.about()) }
                }
                (hero_of(report, HeadingLevel::BELOW))
                (body(report, ChainPlace::below(at), invocation))
            }
        }
    })
}

pub fn status(status: &Status, invocation: &Invocation) -> String {
    let title = format!("{}: {}", status.verdict.as_str(), status.target);
    let frame = PageFrame {
        title: &title,
        about: "status",
        as_of: Some(status.as_of),
    };
    let place = ChainPlace::alone();
    let run = run_facts(status.run.as_ref(), Some(status.as_of));
    frame.around(&html! {
        (hero(status.verdict, &status.target, &status.summary, &run, HeadingLevel::TOP))
        @if let Some(next) = &status.next {
            section aria-labelledby="next" {
                h2 #next { "Next" }
                (words::command(next, invocation))
            }
        }
        @if let Some(clusters) = &status.clusters { (placed::section(clusters)) }
        (of_progress(status.run.as_ref(), Some(status.as_of), place))
        (not_checked(&status.not_checked, place))
    })
}

/// Where on the page something stands.
#[derive(Clone, Copy)]
struct ChainPlace {
    level: HeadingLevel,
    /// The number of the report, where there are several.
    at: Option<usize>,
}

impl ChainPlace {
    const fn alone() -> Self {
        Self {
            level: HeadingLevel::SECTION,
            at: None,
        }
    }

    const fn below(at: usize) -> Self {
        Self {
            level: HeadingLevel::SECTION.deeper(),
            at: Some(at),
        }
    }

    fn id(self, name: &str) -> String {
        match self.at {
            Some(at) => format!("run-{at}-{name}"),
            None => name.to_owned(),
        }
    }

    /// What names a section: its heading, behind the run's where there are several.
    fn labelled(self, heading: &str) -> String {
        match self.at {
            Some(_) => format!("{} {}", self.id("name"), self.id(heading)),
            None => self.id(heading),
        }
    }

    fn heading(self, id: &str, text: &str) -> Markup {
        let content = html! { (text) };
        self.level.heading(Some(&self.id(id)), &content)
    }
}

struct PageFrame<'f> {
    title: &'f str,
    about: &'f str,
    as_of: Option<Timestamp>,
}

impl PageFrame<'_> {
    fn around(&self, main: &Markup) -> String {
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#report" { "Skip to the report" }
                    header.bar {
                        p { strong { (CANONICAL) } " " (self.about) }
                        @if let Some(as_of) = self.as_of { p { "as of " (time(as_of)) } }
                    }
                    main #report tabindex="-1" { (main) }
                    footer {
                        p { "All times are in UTC." }
                        @if let Some(as_of) = self.as_of {
                            p { "The report was true at " (time(as_of)) "; the page does not \
                                refresh itself." }
                        }
                    }
                }
            }
        };
        sink(&document.into_string())
    }
}

/// The one sink of this format: markup is escaped where it is put in; here what hides, reorders or
/// joins text becomes visible.
fn sink(document: &str) -> String {
    let mut page = escape::lines(document);
    page.push('\n');
    page
}

fn hero_of(report: &Report, level: HeadingLevel) -> Markup {
    let run = run_facts(report.run.as_ref(), report.as_of);
    hero(report.verdict, &report.target, &report.summary, &run, level)
}

fn hero(
    verdict: Verdict,
    target: &Subject,
    summary: &str,
    run: &Markup,
    level: HeadingLevel,
) -> Markup {
    html! {
        header.hero.(ColorTone::of(verdict).class()) {
            @if level == HeadingLevel::TOP {
                (words::badge(verdict))
                h1 { span.kind { (target.kind) " " } (name_of(target)) }
            }
            p.summary { (summary) }
            (run)
        }
    }
}

fn name_of(target: &Subject) -> String {
    qualified_name(&target.namespace, &target.name)
}

/// The run in numbers, where there is one.
fn run_facts(progress: Option<&RunFacts>, as_of: Option<Timestamp>) -> Markup {
    let Some(progress) = progress else {
        return PreEscaped(String::new());
    };
    let timeline = progress.timeline(as_of);
    let (done, total) = (progress.done, progress.total);
    let share = words::percent(done, total);
    html! {
        dl.facts {
            div { dt { "Placement" } dd { (progress.placement) } }
            div {
                dt { "Snapshot" }
                dd { @match &progress.snapshot { Some(index) => (index), None => "none yet" } }
            }
            @if !progress.strategy.is_empty() { div { dt { "Strategy" } dd { (progress.strategy) } } }
            @if let Some(timeline) = timeline {
                div {
                    dt { @if timeline.is_over { "Took" } @else { "Under way for" } }
                    dd { (duration::describe(timeline.lasts())) }
                }
            }
            div {
                dt { "Clusters" }
                dd {
                    (done) " of " (total) " done"
                    svg.meter width="100%" height="6" aria-hidden="true" {
                        rect.rail width="100%" height="6" rx="3" {}
                        rect.fill width=(share) height="6" rx="3" {}
                    }
                }
            }
        }
    }
}

fn contents(report: &Report) -> Markup {
    let progress = report.run.as_ref();
    let stages = progress.is_some_and(|progress| !progress.stages.is_empty());
    let timeline = progress.and_then(|run| run.timeline(report.as_of));
    html! {
        nav aria-label="Sections" {
            ul {
                li { a href="#findings" { "Findings (" (report.findings.len()) ")" } }
                @if timeline.is_some() { li { a href="#timeline" { "Timeline" } } }
                @if stages { li { a href="#stages" { "Stages" } } }
                @if !report.not_checked.is_empty() {
                    li { a href="#not-checked" { "Not checked (" (report.not_checked.len()) ")" } }
                }
            }
        }
    }
}

/// Everything below the summary of a report.
fn body(report: &Report, place: ChainPlace, invocation: &Invocation) -> Markup {
    html! {
        (findings::section(report, place, invocation))
        (of_progress(report.run.as_ref(), report.as_of, place))
        (not_checked(&report.not_checked, place))
    }
}

fn of_progress(progress: Option<&RunFacts>, as_of: Option<Timestamp>, place: ChainPlace) -> Markup {
    let timeline = progress.and_then(|run| run.timeline(as_of));
    html! {
        @if let Some(timeline) = &timeline { (timeline::section(timeline, place)) }
        @if let Some(progress) = progress.filter(|progress| !progress.stages.is_empty()) {
            (stages::section(progress, place))
        }
    }
}

/// What could not be judged.
fn not_checked(gaps: &[NotChecked], place: ChainPlace) -> Markup {
    html! {
        @if !gaps.is_empty() {
            section aria-labelledby=(place.labelled("not-checked")) {
                (place.heading("not-checked", "Not checked"))
                p.note {
                    "The report does not cover " (count(gaps.len(), "thing"))
                    " that could not be read or checked."
                }
                ul.gaps {
                    @for gap in gaps {
                        li {
                            strong { (gap.name()) } ": " (gap.why)
                            @if !gap.clusters.is_empty() { (words::names(&gap.clusters)) }
                        }
                    }
                }
            }
        }
    }
}

fn index(reports: &[Report]) -> Markup {
    let caption = "The update runs, their states, and how far each has come";
    let titles = ["Verdict", "Update run", "#Done", "#Findings", "Summary"];
    let rows = html! {
        @for (at, report) in reports.iter().enumerate() {
            tr {
                td { (words::badge(report.verdict)) }
                th scope="row" {
                    a href=(format!("#run-{at}")) {
                        @if let Some(hub) = &report.hub { (hub) ": " }
                        (name_of(&report.target))
                    }
                }
                td.number {
                    @if let Some(progress) = &report.run { (progress.done) "/" (progress.total) }
                }
                td.number { (report.findings.len()) }
                td.prose { (report.summary) }
            }
        }
    };
    html! {
        section aria-labelledby="runs" {
            h2 #runs { "Overview" }
            div.scroll role="region" aria-label="Table of the update runs" tabindex="0" {
                (words::table(caption, &titles, &rows))
            }
        }
    }
}

#[cfg(test)]
mod tests;
