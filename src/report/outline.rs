//! What a report tells, put in order and cut to measure once: every format for people draws this.

use std::borrow::Cow;
use std::ops::Deref;

use super::{Effect, Evidence, Finding, Remedy, Report, Severity};
use crate::kubefleet::messages::essence;
use crate::words::{brief, count};

/// How much is told, before the rest is only counted.
#[derive(Debug, Clone, Copy)]
pub struct Detail {
    /// Characters of a sentence, which may quote a controller.
    pub sentence: usize,
    /// Clusters of a finding.
    pub clusters: usize,
    /// Values of a finding.
    evidence: usize,
    /// Characters of a value.
    value: usize,
    /// Consequences and notes are told by their sentence, and no words of a controller twice.
    concise: bool,
}

/// No limit.
const ALL: usize = usize::MAX;

impl Detail {
    pub const WHOLE: Self = Self::of(ALL, ALL, ALL, ALL);
    pub const TERMINAL: Self = Self {
        concise: true,
        ..Self::of(480, 12, 3, 160)
    };
    pub const ISSUE: Self = Self::of(1000, 40, ALL, 600);
    /// GitHub cuts an annotation at 4 KB.
    pub const ANNOTATION: Self = Self::of(1000, 20, 8, 240);

    const fn of(sentence: usize, clusters: usize, evidence: usize, value: usize) -> Self {
        Self {
            sentence,
            clusters,
            evidence,
            value,
            concise: false,
        }
    }
}

/// Letters of words that count as quoted where they stand in the summary too.
const QUOTED: usize = 24;

/// A report as it is told.
#[derive(Debug)]
pub struct Outline<'r> {
    pub summary: Cow<'r, str>,
    pub findings: Vec<OutlinedFinding<'r>>,
    /// What filters left out.
    pub left_out: Option<String>,
}

/// A finding as it is told.
#[derive(Debug)]
pub struct OutlinedFinding<'r> {
    finding: &'r Finding,
    pub message: Cow<'r, str>,
    /// `root cause`, `because of FS501`, or nothing.
    pub role: String,
    pub evidence: Witnesses<'r>,
    /// Its sentence tells it: whoever fixes its cause fixes it too, or it is a note.
    pub is_short: bool,
    /// Whether something was left out.
    pub cut: bool,
}

impl Deref for OutlinedFinding<'_> {
    type Target = Finding;

    fn deref(&self) -> &Finding {
        self.finding
    }
}

impl<'r> Outline<'r> {
    /// With the findings in the report's order.
    pub fn new(report: &'r Report, detail: Detail) -> Self {
        Self::of(report, detail, report.findings.iter())
    }

    /// With each finding below the one that explains it.
    pub fn by_cause(report: &'r Report, detail: Detail) -> Self {
        let findings = &report.findings;
        let is_explained = |one: &&Finding| findings.iter().any(|other| other.explains(one));
        // Findings that explain each other have no beginning; none of them may get lost.
        let (later, first): (Vec<_>, Vec<_>) = findings.iter().partition(is_explained);
        let mut open: Vec<&Finding> = first.into_iter().chain(later).rev().collect();
        let mut order: Vec<&Finding> = Vec::new();
        while let Some(one) = open.pop() {
            if !order.iter().any(|known| std::ptr::eq(*known, one)) {
                order.push(one);
                let consequences = findings.iter().rev();
                open.extend(consequences.filter(|other| one.explains(other)));
            }
        }
        Self::of(report, detail, order)
    }

    fn of(
        report: &'r Report,
        detail: Detail,
        order: impl IntoIterator<Item = &'r Finding>,
    ) -> Self {
        let left_out = report.left_out.map(|number| {
            let findings = count(number, "finding");
            format!("{findings} left out by --min-severity or --suppress")
        });
        let findings = order.into_iter();
        Self {
            summary: brief(&report.summary, detail.sentence),
            findings: findings.map(|one| outlined(one, report, detail)).collect(),
            left_out,
        }
    }
}

fn outlined<'r>(finding: &'r Finding, report: &Report, detail: Detail) -> OutlinedFinding<'r> {
    let message = brief(&finding.message, detail.sentence);
    let codes = finding.codes_of_causes();
    let role = match (finding.root_cause, codes.is_empty()) {
        (true, _) => "root cause".to_owned(),
        (false, true) => String::new(),
        (false, false) => format!("because of {codes}"),
    };
    let only_looks = |remedy: &Remedy| remedy.effect == Effect::ReadOnly;
    let is_note = match finding.severity {
        Severity::Info => true,
        Severity::Warning => finding.remedies.len() <= 1 && finding.remedies.iter().all(only_looks),
        Severity::Error => false,
    };
    let mut others = report.findings.iter();
    let is_short = detail.concise
        && !finding.root_cause
        && (is_note || others.any(|other| other.explains(finding)));
    // A controller's words that the summary quotes stand there.
    let is_new = |one: &&Evidence| {
        let words = essence(&one.value);
        !detail.concise || words.len() <= QUOTED || !report.summary.contains(words)
    };
    let evidence = Witnesses::new(finding.evidence.iter().filter(is_new), detail);
    let cut = if is_short {
        !finding.evidence.is_empty() || !finding.remedies.is_empty()
    } else {
        message != finding.message || evidence.is_cut() || evidence.all < finding.evidence.len()
    };
    OutlinedFinding {
        finding,
        message,
        role,
        evidence,
        is_short,
        cut,
    }
}

/// Values that were read, each with its place.
#[derive(Debug)]
pub struct Witnesses<'r> {
    pub shown: Vec<Witness<'r>>,
    /// How many there are.
    pub all: usize,
}

/// A value that was read, and the object in which it stands.
#[derive(Debug)]
pub struct Witness<'r> {
    pub place: String,
    pub evidence: &'r Evidence,
    pub value: Cow<'r, str>,
}

impl<'r> Witnesses<'r> {
    pub fn new(evidence: impl IntoIterator<Item = &'r Evidence>, detail: Detail) -> Self {
        let mut shown: Vec<_> = evidence.into_iter().collect();
        let all = shown.len();
        shown.truncate(detail.evidence);
        let witness = |evidence: &'r Evidence| Witness {
            place: match &evidence.cluster {
                Some(cluster) => format!("{} on {cluster}", evidence.object),
                None => evidence.object.to_string(),
            },
            evidence,
            value: brief(&evidence.value, detail.value),
        };
        Self {
            shown: shown.into_iter().map(witness).collect(),
            all,
        }
    }

    /// How many are not shown.
    pub const fn left(&self) -> usize {
        self.all - self.shown.len()
    }

    pub fn is_cut(&self) -> bool {
        let is_cut = |one: &Witness<'_>| one.value != one.evidence.value;
        self.left() > 0 || self.shown.iter().any(is_cut)
    }

    /// The values below the objects in which they stand.
    pub fn by_place(&self) -> impl Iterator<Item = &[Witness<'r>]> {
        self.shown.chunk_by(|a, b| a.place == b.place)
    }
}

impl Witness<'_> {
    /// The value as people read it below its object.
    pub fn reading(&self) -> String {
        format!("{} {}", self.evidence.label(), self.value)
    }

    /// The same with its object.
    pub fn line(&self) -> String {
        format!("{} {}", self.place, self.reading())
    }
}
