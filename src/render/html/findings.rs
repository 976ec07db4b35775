//! What was found: root causes first, with what to do.

use maud::{Markup, html};

use super::ChainPlace;
use super::words::{self, ColorTone};
use crate::render::invocation::Invocation;
use crate::report::{Effect, OutlinedFinding, Remedy, Report, ReportDetail, ReportOutline};
use crate::words::{CommandLine, count};

pub(super) fn section(report: &Report, place: ChainPlace, invocation: &Invocation) -> Markup {
    let outline = ReportOutline::new(report, ReportDetail::WHOLE);
    html! {
        section aria-labelledby=(place.labelled("findings")) {
            (place.heading("findings", "Findings"))
            @if outline.findings.is_empty() {
                p.note {
                    "Nothing was found"
                    @if report.not_checked.is_empty() { "." } @else {
                        " in what could be checked."
                    }
                }
            }
            @for finding in &outline.findings { (self::finding(finding, place, invocation)) }
            @if let Some(left_out) = &outline.left_out { p.note { (left_out) "." } }
        }
    }
}

fn finding(finding: &OutlinedFinding<'_>, place: ChainPlace, invocation: &Invocation) -> Markup {
    let tone = ColorTone::of_severity(finding.severity);
    let heading = html! {
        (words::tag(tone, finding.severity.as_str(), false)) " "
        a href=(finding.docs) rel="noreferrer" { (finding.code) } " "
        span.name { (finding.name) }
        @if !finding.role.is_empty() { " " span.role { (finding.role) } }
    };
    html! {
        article.finding.(tone.class()) {
            (place.level.deeper().heading(None, &heading))
            p.message { (finding.message) }
            @if finding.clusters.len() > 1 || finding.stage.is_some() {
                p.where {
                    @if let Some(stage) = &finding.stage { "Stage " strong { (stage) } }
                    @if finding.clusters.len() > 1 {
                        @if finding.stage.is_some() { ", " }
                        (count(finding.clusters.len(), "cluster")) ":"
                    }
                }
                @if finding.clusters.len() > 1 { (words::names(finding.clusters)) }
            }
            @if !finding.remedies.is_empty() {
                (place.level.deeper().deeper().heading(None, &html! { "What to do" }))
                ol.remedies {
                    @for remedy in &finding.remedies { (self::remedy(remedy, invocation)) }
                }
            }
            @if finding.evidence.all > 0 { (evidence(finding)) }
            p.see {
                "The long explanation: "
                code { (invocation.command(&CommandLine::fleet("explain").arg(&finding.code))) }
            }
        }
    }
}

fn remedy(remedy: &Remedy, invocation: &Invocation) -> Markup {
    let tone = match remedy.effect {
        Effect::ReadOnly => ColorTone::Quiet,
        Effect::Changes => ColorTone::Waiting,
        Effect::Disruptive => ColorTone::Bad,
    };
    let effect = remedy.effect.as_str();
    html! {
        li {
            p {
                (words::prose(&remedy.action))
                @if remedy.effect != Effect::ReadOnly {
                    " " span.tag.(tone.class()) { (effect) }
                }
            }
            @if let Some(command) = &remedy.command { (words::command(command, invocation)) }
        }
    }
}

/// What was read, below the objects in which it stands.
fn evidence(finding: &OutlinedFinding<'_>) -> Markup {
    html! {
        details.evidence open[finding.root_cause] {
            summary { "Evidence (" (count(finding.evidence.all, "value")) ")" }
            @for same in finding.evidence.by_place() {
                @if let Some(first) = same.first() { p.object { (first.place) } }
                dl.values {
                    @for one in same {
                        dt {
                            @if one.evidence.computed { "computed from " }
                            code { (one.evidence.path) }
                        }
                        dd {
                            @if one.value.is_empty() { em { "empty" } } @else { code { (one.value) } }
                        }
                    }
                }
            }
        }
    }
}
