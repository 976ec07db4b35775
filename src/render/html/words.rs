//! The small parts of a page.

use jiff::Timestamp;
use maud::{Markup, html};

use crate::render::invocation::Invocation;
pub(super) use crate::render::tone::ColorTone;
use crate::report::{Report, Severity, Verdict};
use crate::words::CommandLine;

/// Names in a list, before it is folded.
const NAMES: usize = 24;

/// How deep a heading stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeadingLevel(u8);

impl HeadingLevel {
    /// The page's own heading.
    pub const TOP: Self = Self(1);
    pub const BELOW: Self = Self(2);
    /// A section of a page with one report.
    pub const SECTION: Self = Self(2);

    #[must_use]
    pub const fn deeper(self) -> Self {
        Self(self.0 + 1)
    }

    pub fn heading(self, id: Option<&str>, content: &Markup) -> Markup {
        match self.0 {
            1 => html! { h1 id=[id] { (content) } },
            2 => html! { h2 id=[id] { (content) } },
            3 => html! { h3 id=[id] { (content) } },
            4 => html! { h4 id=[id] { (content) } },
            _ => html! { h5 id=[id] { (content) } },
        }
    }
}

impl ColorTone {
    pub fn of_worst(reports: &[Report]) -> Self {
        let tones = reports.iter().map(|report| Self::of(report.verdict));
        tones.max().unwrap_or(Self::Quiet)
    }

    pub const fn of_severity(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Bad,
            Severity::Warning => Self::Waiting,
            Severity::Info => Self::Moving,
        }
    }

    /// Whether someone should look.
    pub const fn wants_a_look(self) -> bool {
        matches!(self, Self::Waiting | Self::Bad)
    }

    /// The class in the style sheet.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Good => "good",
            Self::Moving => "moving",
            Self::Waiting => "waiting",
            Self::Bad => "bad",
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::Quiet => "○",
            Self::Good => "✓",
            Self::Moving => "▸",
            Self::Waiting => "‖",
            Self::Bad => "!",
        }
    }
}

pub(super) fn badge(verdict: Verdict) -> Markup {
    tag(ColorTone::of(verdict), verdict.as_str(), true)
}

/// A word that stands out.
pub(super) fn tag(tone: ColorTone, word: &str, large: bool) -> Markup {
    let size = if large { "badge" } else { "tag" };
    html! {
        span.(size).(tone.class()) { span.sign aria-hidden="true" { (tone.sign()) } (word) }
    }
}

pub(super) fn time(at: Timestamp) -> Markup {
    html! { time datetime=(at) { (at.strftime("%Y-%m-%d %H:%M:%S")) " UTC" } }
}

/// A moment, in UTC, in a table whose head names the zone.
pub(super) fn short_time(at: Timestamp) -> Markup {
    html! { time datetime=(at) { (at.strftime("%Y-%m-%d %H:%M:%S")) } }
}

pub(super) fn command(command: &CommandLine, invocation: &Invocation) -> Markup {
    html! { pre.command { code { (invocation.command(command)) } } }
}

pub(super) fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd number of backquotes does not pair: then none of them means code.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// Names, folded where they are many.
pub(super) fn names(names: &[impl AsRef<str>]) -> Markup {
    let list = html! {
        ul.names { @for name in names { li { (name.as_ref()) } } }
    };
    html! {
        @if names.len() > NAMES {
            details { summary { "All " (names.len()) " clusters" } (list) }
        } @else { (list) }
    }
}

/// A table with these titles; those of numbers begin with `#`.
pub(super) fn table(caption: &str, titles: &[&str], rows: &Markup) -> Markup {
    html! {
        table {
            caption.unseen { (caption) }
            thead {
                tr {
                    @for title in titles {
                        @if let Some(title) = title.strip_prefix('#') {
                            th.number scope="col" { (title) }
                        } @else { th scope="col" { (title) } }
                    }
                }
            }
            tbody { (rows) }
        }
    }
}

/// A share of a whole.
pub(super) fn percent(part: usize, whole: usize) -> String {
    let share = (part * 1000).checked_div(whole).unwrap_or(0);
    format!("{}.{}%", share / 10, share % 10)
}
