//! What a report tells, put in order and cut to measure once: every format for people draws this.

use std::borrow::Cow;
use std::ops::Deref;

use super::{Effect, Evidence, Finding, Remedy, Report, Severity, Verdict};
use crate::kubefleet::messages::essence;
use crate::words::{brief, count};

/// How much is told, before the rest is only counted.
#[derive(Debug, Clone, Copy)]
pub struct ReportDetail {
    /// Characters of a sentence, which may quote a controller.
    pub sentence: usize,
    pub clusters: usize,
    evidence: usize,
    value: usize,
    steps: usize,
    /// Consequences and notes are told by their sentence, and nothing is told twice.
    concise: bool,
}

const ALL: usize = usize::MAX;

impl ReportDetail {
    pub const WHOLE: Self = Self::of(ALL, ALL, ALL, ALL);
    pub const TERMINAL: Self = Self {
        steps: 3,
        concise: true,
        ..Self::of(480, 12, 3, 140)
    };
    pub const ISSUE: Self = Self::of(1000, 40, ALL, 600);
    /// GitHub cuts an annotation at 4 KB.
    pub const ANNOTATION: Self = Self::of(1000, 20, 8, 240);

    /// A value as it is told. What every failure begins with goes first.
    fn value<'v>(&self, value: &'v str) -> Cow<'v, str> {
        let words = essence(value);
        if self.concise && words.len() < value.len() && value.chars().count() > self.value {
            return Cow::Owned(brief(&format!("… {words}"), self.value).into_owned());
        }
        brief(value, self.value)
    }

    /// Whether a sentence is longer than what is told of it.
    pub fn is_cut(&self, sentence: &str) -> bool {
        sentence.chars().count() > self.sentence
    }

    const fn of(sentence: usize, clusters: usize, evidence: usize, value: usize) -> Self {
        Self {
            sentence,
            clusters,
            evidence,
            value,
            steps: ALL,
            concise: false,
        }
    }
}

/// Letters of words that count as quoted where they stand elsewhere too.
const QUOTED: usize = 24;
/// Values that are shown however short they are.
const FIRST: usize = 1;
/// Letters of a value that may say why, wherever it stands.
const TELLING: usize = 100;

#[derive(Debug)]
pub struct ReportOutline<'r> {
    pub summary: Cow<'r, str>,
    pub findings: Vec<OutlinedFinding<'r>>,
    /// What filters left out.
    pub left_out: Option<String>,
}

#[derive(Debug)]
pub struct OutlinedFinding<'r> {
    finding: &'r Finding,
    pub message: Cow<'r, str>,
    /// `root cause`, `because of FS501`, or nothing.
    pub role: String,
    /// The clusters that its sentence does not name.
    pub clusters: &'r [String],
    pub evidence: EvidenceValues<'r>,
    pub steps: Vec<&'r Remedy>,
    /// Its sentence tells it: whoever fixes its cause fixes it too, or it is a note.
    pub is_short: bool,
    pub cut: bool,
}

impl Deref for OutlinedFinding<'_> {
    type Target = Finding;

    fn deref(&self) -> &Finding {
        self.finding
    }
}

impl<'r> ReportOutline<'r> {
    /// With the findings in the report's order.
    pub fn new(report: &'r Report, detail: ReportDetail) -> Self {
        Self::of(report, detail, report.findings.iter())
    }

    /// With each finding below the one that explains it.
    pub fn by_cause(report: &'r Report, detail: ReportDetail) -> Self {
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
        detail: ReportDetail,
        order: impl IntoIterator<Item = &'r Finding>,
    ) -> Self {
        let left_out = report.left_out.map(|number| {
            let findings = count(number, "finding");
            format!("{findings} left out by --min-severity or --suppress")
        });
        let mut page = OutlinePage {
            report,
            detail,
            summary: headline(report, detail),
            shown: Vec::new(),
        };
        let findings = order.into_iter().map(|one| page.finding(one)).collect();
        Self {
            summary: page.summary,
            findings,
            left_out,
        }
    }
}

/// The summary without what the first finding says better, which follows it: its own name, the
/// controller's words for a failure, and how long an expected state lasts.
fn headline(report: &Report, detail: ReportDetail) -> Cow<'_, str> {
    let first = report.findings.first().filter(|_| detail.concise);
    match first.and_then(|first| state(report, first)) {
        Some(state) => Cow::Owned(brief(&format!("{state}."), detail.sentence).into_owned()),
        None => brief(&report.summary, detail.sentence),
    }
}

fn state<'r>(report: &'r Report, first: &Finding) -> Option<&'r str> {
    let summary = report.summary.as_str();
    if first.root_cause && first.severity == Severity::Info {
        let (state, why) = summary.split_once(": ")?;
        let mut times = numbers(why).peekable();
        times.peek()?;
        return times
            .all(|time| numbers(&first.message).any(|said| said == time))
            .then_some(state);
    }
    // The clusters are listed below it.
    let subject = &first.subject;
    if *subject != report.target && !first.message.contains(&subject.name) {
        return None;
    }
    let name = format!(": {} ({})", first.name, first.code);
    let (state, _) = summary.rsplit_once(&name)?;
    let (state, _) = state.rsplit_once("; ")?;
    let is_over = matches!(
        report.verdict,
        Verdict::Failed | Verdict::InitializationFailed
    );
    let short = state.split_once(": ").filter(|_| is_over);
    Some(short.map_or(state, |(state, _)| state))
}

/// The words of a sentence that have a digit.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let words = text
        .split(' ')
        .map(|word| word.trim_end_matches(['.', ',', ';']));
    words.filter(|word| word.contains(|c: char| c.is_ascii_digit()))
}

/// What is told so far.
struct OutlinePage<'r> {
    report: &'r Report,
    detail: ReportDetail,
    summary: Cow<'r, str>,
    shown: Vec<&'r Evidence>,
}

impl<'r> OutlinePage<'r> {
    fn finding(&mut self, finding: &'r Finding) -> OutlinedFinding<'r> {
        let detail = self.detail;
        let message = brief(&finding.message, detail.sentence);
        let is_short = self.is_short(finding);
        let evidence = EvidenceValues::new(self.evidence(finding), detail);
        let steps = choice(&finding.remedies, detail.steps);
        let cut = if is_short {
            !finding.evidence.is_empty() || !finding.remedies.is_empty()
        } else {
            message != finding.message
                || evidence.is_cut()
                || evidence.all < finding.evidence.len()
                || steps.len() < finding.remedies.len()
        };
        let clusters = if detail.concise {
            unnamed(&finding.clusters, &finding.message)
        } else {
            finding.clusters.as_slice()
        };
        OutlinedFinding {
            finding,
            message,
            role: self.role(finding),
            clusters,
            evidence,
            steps,
            is_short,
            cut,
        }
    }

    /// What a finding is to the others. A state that is expected needs no cause, and where nothing
    /// else is wrong nothing else is the cause.
    fn role(&self, finding: &Finding) -> String {
        let codes = finding.codes_of_causes();
        let is_wrong = |one: &&Finding| one.severity > Severity::Info;
        let mut wrong = self.report.findings.iter().filter(is_wrong);
        let is_alone = self.detail.concise && wrong.nth(1).is_none();
        match (finding.root_cause, codes.is_empty()) {
            (true, _) if is_wrong(&finding) && !is_alone => "root cause".to_owned(),
            (true, _) | (false, true) => String::new(),
            (false, false) => format!("because of {codes}"),
        }
    }

    fn is_short(&self, finding: &Finding) -> bool {
        let only_looks = |remedy: &Remedy| remedy.effect == Effect::ReadOnly;
        let is_note = match finding.severity {
            Severity::Info => true,
            Severity::Warning => {
                finding.remedies.len() <= 1 && finding.remedies.iter().all(only_looks)
            }
            Severity::Error => false,
        };
        let mut others = self.report.findings.iter();
        self.detail.concise
            && !finding.root_cause
            && (is_note || others.any(|other| other.explains(finding)))
    }

    /// What a finding rests on. To be concise: each value once, for however many clusters, none that
    /// a sentence quotes, and of the rest what may say why.
    fn evidence(&mut self, finding: &'r Finding) -> Vec<&'r Evidence> {
        if !self.detail.concise {
            return finding.evidence.iter().collect();
        }
        let mut told: Vec<&'r Evidence> = Vec::new();
        for one in &finding.evidence {
            let words = essence(&one.value);
            let said = |text: &str| words.len() > QUOTED && text.contains(words);
            let same = |other: &&Evidence| {
                other.object.kind == one.object.kind
                    && other.path == one.path
                    && other.value == one.value
            };
            if !said(&self.summary)
                && !said(&finding.message)
                && !self.shown.iter().chain(&told).any(same)
            {
                told.push(one);
            }
        }
        let of_state = finding.severity == Severity::Info;
        let mut at = 0;
        told.retain(|one| {
            at += 1;
            one.value.len() > TELLING || at <= FIRST && !of_state
        });
        told.truncate(self.detail.evidence);
        self.shown.extend(&told);
        told
    }
}

pub fn unnamed<'c>(clusters: &'c [String], sentence: &str) -> &'c [String] {
    if clusters.iter().all(|name| names(sentence, name)) {
        &[]
    } else {
        clusters
    }
}

/// Whether a sentence has a name, as a word of its own.
fn names(sentence: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-';
    sentence.match_indices(name).any(|(at, name)| {
        let after = &sentence[at + name.len()..];
        // A name may be followed by the end of a sentence, not by another part of a name.
        let mut after = after.chars();
        let ends = match after.next() {
            Some('.') => !after.next().is_some_and(is_part),
            Some(next) => !is_part(next),
            None => true,
        };
        ends && !sentence[..at].ends_with(is_part)
    })
}

/// At most so many steps: the first, and then those that change something before those that only
/// look. A step that continues another one stays with it, as does one with the step that says why it
/// would fail; the way back comes beside them.
fn choice(remedies: &[Remedy], most: usize) -> Vec<&Remedy> {
    let goes_back = |it: &Remedy| it.is_our(&["rollback"]);
    let most = most.saturating_add(remedies.iter().filter(|it| goes_back(it)).count());
    let mut order: Vec<usize> = (0..remedies.len()).collect();
    order.sort_by_key(|at| {
        let only_looks = remedies[*at].effect == Effect::ReadOnly;
        (*at > 0 && only_looks, !goes_back(&remedies[*at]))
    });
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        let mut needed = vec![at];
        let mut start = at;
        let is_vain = |at: usize| remedies[at - 1].next_needs_it;
        while start > 0 && (remedies[start].continues() || is_vain(start)) {
            start -= 1;
            needed.push(start);
        }
        needed.retain(|at| !kept.contains(at));
        if kept.len() + needed.len() <= most {
            kept.extend(needed);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|at| &remedies[at]).collect()
}

#[derive(Debug)]
pub struct EvidenceValues<'r> {
    pub shown: Vec<EvidenceValue<'r>>,
    pub all: usize,
}

/// A value that was read, and the object in which it stands.
#[derive(Debug)]
pub struct EvidenceValue<'r> {
    pub place: String,
    pub evidence: &'r Evidence,
    pub value: Cow<'r, str>,
}

impl<'r> EvidenceValues<'r> {
    pub fn new(evidence: impl IntoIterator<Item = &'r Evidence>, detail: ReportDetail) -> Self {
        let mut shown: Vec<_> = evidence.into_iter().collect();
        let all = shown.len();
        shown.truncate(detail.evidence);
        let witness = |evidence: &'r Evidence| EvidenceValue {
            place: match &evidence.cluster {
                Some(cluster) => format!("{} on {cluster}", evidence.object),
                None => evidence.object.to_string(),
            },
            evidence,
            value: detail.value(&evidence.value),
        };
        Self {
            shown: shown.into_iter().map(witness).collect(),
            all,
        }
    }

    pub const fn left(&self) -> usize {
        self.all - self.shown.len()
    }

    pub fn is_cut(&self) -> bool {
        let is_cut = |one: &EvidenceValue<'_>| one.value != one.evidence.value;
        self.left() > 0 || self.shown.iter().any(is_cut)
    }

    /// The values below the objects in which they stand.
    pub fn by_place(&self) -> impl Iterator<Item = &[EvidenceValue<'r>]> {
        self.shown.chunk_by(|a, b| a.place == b.place)
    }
}

impl EvidenceValue<'_> {
    /// The value as people read it below its object.
    pub fn reading(&self) -> String {
        format!("{} {}", self.evidence.label(), self.value)
    }

    /// The same with its object.
    pub fn line(&self) -> String {
        format!("{} {}", self.place, self.reading())
    }
}
