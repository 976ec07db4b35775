//! A report for people: readable at 80 columns, with and without color.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::escape;
use super::look::Look;
use super::tree;
use super::wrap::{hanging, list};
use crate::kubefleet::messages::essence;
use crate::report::{
    CausedBy, Effect, Evidence, Finding, NotChecked, Remedy, Report, Severity, Verdict,
};
use crate::words::{CommandLine, brief, count};

/// Clusters of a finding, before the rest is only counted.
const CLUSTERS: usize = 12;
/// Values of a finding, before the rest is only counted.
const EVIDENCE: usize = 3;
/// Characters of a value.
const VALUE: usize = 160;
/// Letters of words that count as quoted where they stand in the summary too.
const QUOTED: usize = 24;
/// Characters of a sentence, which may quote a controller.
const SENTENCE: usize = 480;

/// Writes a report.
pub fn report(report: &Report, look: &Look) -> String {
    let mut page = TextPage::new(look);
    page.head(report);
    if let Some(progress) = &report.progress {
        let mut shown = Cow::Borrowed(progress);
        if report.verdict == Verdict::InitializationFailed && !look.verbose {
            // None of its stages was begun.
            page.cut |= !progress.stages.is_empty();
            shown.to_mut().stages.clear();
        }
        page.cut |= tree::draw(&mut page.out, &shown, None, look);
    }
    page.findings(report);
    page.not_checked(&report.not_checked);
    page.foot(report);
    page.out
}

/// What is written so far.
pub(super) struct TextPage<'l> {
    pub out: String,
    pub look: &'l Look,
    /// Whether something was left out that `-v` shows.
    pub cut: bool,
    /// Whether the command stands there that explains a finding: once shows the way.
    explained: bool,
}

impl<'l> TextPage<'l> {
    /// An empty page.
    pub fn new(look: &'l Look) -> Self {
        Self {
            out: String::new(),
            look,
            cut: false,
            explained: false,
        }
    }
}

impl TextPage<'_> {
    fn head(&mut self, report: &Report) {
        let verdict = self.look.paint.verdict(report.verdict);
        let target = escape::line(&report.target.to_string());
        let target = self.look.paint.bold(&target);
        let _ = writeln!(self.out, "{verdict}  {target}");
        let target = format!("{} ", report.target);
        let summary = match report.summary.strip_prefix(&target) {
            Some(rest) => &first_upper(rest.strip_prefix("is ").unwrap_or(rest)),
            None => &report.summary,
        };
        self.sentence("", summary);
    }

    /// Findings, and below each those that it explains.
    fn findings(&mut self, report: &Report) {
        let findings = &report.findings;
        let mut written = vec![false; findings.len()];
        for (at, finding) in findings.iter().enumerate() {
            let explained = |cause: &CausedBy| findings.iter().any(|other| is(other, cause));
            if !finding.caused_by.iter().any(explained) {
                self.with_consequences(report, at, &mut written);
            }
        }
        // Findings that explain each other have no beginning; none of them may get lost.
        for at in 0..findings.len() {
            if !written[at] {
                self.with_consequences(report, at, &mut written);
            }
        }
    }

    fn with_consequences(&mut self, report: &Report, at: usize, written: &mut [bool]) {
        let findings = &report.findings;
        let (Some(finding), Some(done)) = (findings.get(at), written.get_mut(at)) else {
            return;
        };
        if std::mem::replace(done, true) {
            return;
        }
        // What is told by its sentence follows what it belongs to.
        if !self.is_short(finding, findings) || written.iter().filter(|it| **it).count() == 1 {
            self.out.push('\n');
        }
        self.finding(finding, report);
        for (next, consequence) in findings.iter().enumerate() {
            let is_explained = |cause: &CausedBy| is(finding, cause);
            if consequence.caused_by.iter().any(is_explained) {
                self.with_consequences(report, next, written);
            }
        }
    }

    fn finding(&mut self, finding: &Finding, report: &Report) {
        let (all, summary) = (&report.findings, &report.summary);
        let verbose = self.look.verbose;
        let paint = self.look.paint;
        let mut codes: Vec<_> = finding.caused_by.iter().map(|c| c.code.as_str()).collect();
        codes.dedup();
        let role = match (finding.root_cause, codes.is_empty()) {
            (true, _) => "  (root cause)".to_owned(),
            (false, true) => String::new(),
            (false, false) => format!("  (because of {})", escape::line(&codes.join(", "))),
        };
        let head = format!(
            "{} {} {}{}",
            paint.severity(finding.severity),
            paint.bold(&escape::line(&finding.code)),
            paint.bold(&escape::line(&finding.name)),
            paint.dim(&role)
        );
        if self.is_short(finding, all) {
            self.cut |= !finding.evidence.is_empty() || !finding.remedies.is_empty();
            let message = brief(&finding.message, SENTENCE);
            let head = format!("{head}: ");
            hanging(&mut self.out, &head, "  ", &message, self.look.width);
        } else {
            let _ = writeln!(self.out, "{head}");
            self.sentence("  ", &finding.message);
        }
        self.clusters(
            &finding.clusters,
            finding.stage.as_deref(),
            &finding.message,
        );
        if self.is_short(finding, all) {
            return;
        }
        // A controller's words that the summary quotes stand there.
        let is_said = |one: &&Evidence| {
            let words = essence(&one.value);
            !verbose && words.len() > QUOTED && summary.contains(words)
        };
        let (said, new): (Vec<_>, Vec<_>) = finding.evidence.iter().partition(is_said);
        self.cut |= !said.is_empty();
        self.evidence(new);
        self.remedies(&finding.remedies);
        if self.look.verbose || !self.explained {
            self.explained = true;
            let see = CommandLine::fleet("explain").arg(&finding.code);
            let see = paint.command(&self.look.invocation.command(&see));
            let _ = writeln!(self.out, "  {} {see}", paint.bold("see:"));
        }
    }

    fn sentence(&mut self, indent: &str, text: &str) {
        let shown = brief(text, self.most(SENTENCE));
        self.cut |= shown != text;
        hanging(&mut self.out, indent, indent, &shown, self.look.width);
    }

    /// Whether a finding is told by its sentence: whoever fixes its cause fixes it too, or it is a
    /// note.
    fn is_short(&self, finding: &Finding, all: &[Finding]) -> bool {
        let cause_is_shown = |cause: &CausedBy| all.iter().any(|other| is(other, cause));
        let follows = finding.caused_by.iter().any(cause_is_shown);
        let looks = |remedy: &Remedy| remedy.effect == Effect::ReadOnly;
        let is_note = match finding.severity {
            Severity::Info => true,
            Severity::Warning => finding.remedies.len() <= 1 && finding.remedies.iter().all(looks),
            Severity::Error => false,
        };
        !self.look.verbose && !finding.root_cause && (follows || is_note)
    }

    /// The clusters of a finding, unless it has one that its message names.
    pub fn clusters(&mut self, clusters: &[String], stage: Option<&str>, message: &str) {
        if let [] | [_] = clusters {
            let named = |name: &String| message.contains(name.as_str());
            if clusters.iter().all(named) {
                return;
            }
        }
        let most = self.most(CLUSTERS);
        self.cut |= clusters.len() > most;
        let mut text = list(clusters, most);
        if clusters.len() > CLUSTERS {
            text = format!("{}: {text}", clusters.len());
        }
        if let Some(stage) = stage {
            text = format!("{text} (stage {stage})");
        }
        let label = format!("  {} ", self.look.paint.bold("clusters:"));
        hanging(&mut self.out, &label, "    ", &text, self.look.width);
    }

    /// Values, below the object in which they stand.
    pub fn evidence<'e>(&mut self, evidence: impl IntoIterator<Item = &'e Evidence>) {
        let evidence: Vec<_> = evidence.into_iter().collect();
        if evidence.is_empty() {
            return;
        }
        let (paint, width) = (self.look.paint, self.look.width);
        let most = self.most(EVIDENCE);
        let label = if evidence.len() > most {
            self.cut = true;
            format!("evidence ({most} of {}):", evidence.len())
        } else {
            "evidence:".to_owned()
        };
        let mut lead = format!("  {} ", paint.bold(&label));
        let shown: Vec<_> = evidence.iter().take(most).collect();
        for same in shown.chunk_by(|a, b| (&a.object, &a.cluster) == (&b.object, &b.cluster)) {
            let values = same.iter().map(|one| {
                let value = brief(&one.value, self.most(VALUE));
                self.cut |= value != one.value;
                let value = if value.is_empty() { "\"\"" } else { &value };
                format!("{} {value}", one.label())
            });
            let values: Vec<_> = values.collect();
            let Some(first) = same.first() else { continue };
            let object = match &first.cluster {
                Some(cluster) => format!("{} on {cluster}", first.object),
                None => first.object.to_string(),
            };
            if let [value] = values.as_slice() {
                let text = format!("{object} {value}");
                hanging(&mut self.out, &lead, "      ", &text, width);
                "    ".clone_into(&mut lead);
                continue;
            }
            hanging(&mut self.out, &lead, "      ", &object, width);
            "    ".clone_into(&mut lead);
            for value in &values {
                hanging(&mut self.out, "      ", "        ", value, width);
            }
        }
    }

    pub fn remedies(&mut self, remedies: &[Remedy]) {
        if remedies.is_empty() {
            return;
        }
        let paint = self.look.paint;
        let _ = writeln!(self.out, "  {}", paint.bold("next:"));
        for (at, remedy) in remedies.iter().enumerate() {
            let effect = match remedy.effect {
                Effect::ReadOnly => String::new(),
                effect => format!(" [{}]", effect.as_str()),
            };
            let first = format!("    {}. ", at + 1);
            let text = format!("{}{effect}", remedy.action);
            hanging(&mut self.out, &first, "       ", &text, self.look.width);
            if let Some(command) = &remedy.command {
                let command = self.look.invocation.command(command);
                let _ = writeln!(self.out, "         {}", paint.command(&command));
            }
        }
    }

    fn not_checked(&mut self, gaps: &[NotChecked]) {
        self.cut |= not_checked(&mut self.out, gaps, self.look);
    }

    fn foot(&mut self, report: &Report) {
        let mut notes = Vec::new();
        if let Some(left_out) = report.left_out {
            notes.push(format!(
                "{} left out by --min-severity or --suppress",
                count(left_out, "finding")
            ));
        }
        if self.cut {
            notes.push("use -v to show everything".to_owned());
        }
        if let Some(as_of) = report.as_of {
            notes.push(format!("as of {as_of}"));
        }
        if !notes.is_empty() {
            let _ = writeln!(self.out, "{}", self.look.paint.dim(&notes.join("; ")));
        }
    }

    /// How many of something are shown.
    const fn most(&self, most: usize) -> usize {
        if self.look.verbose { usize::MAX } else { most }
    }
}

/// Gaps; those with the same reason stand together. Returns whether something was left out.
pub(super) fn not_checked(out: &mut String, gaps: &[NotChecked], look: &Look) -> bool {
    if gaps.is_empty() {
        return false;
    }
    let _ = writeln!(out, "\n{}", look.paint.bold("not checked:"));
    let most = if look.verbose { usize::MAX } else { CLUSTERS };
    let mut cut = false;
    let mut written: Vec<(&str, &[String])> = Vec::new();
    for gap in gaps {
        let key = (gap.why.as_str(), gap.clusters.as_slice());
        if written.contains(&key) {
            continue;
        }
        written.push(key);
        let same = |other: &&NotChecked| other.why == key.0 && other.clusters == key.1;
        let mut what: Vec<_> = gaps.iter().filter(same).map(name_of).collect();
        what.dedup();
        cut |= what.len() > most || gap.clusters.len() > most;
        let mut text = format!("{}: {}", list(&what, most), gap.why);
        if !gap.clusters.is_empty() {
            text = format!("{text} ({})", list(&gap.clusters, most));
        }
        hanging(out, "  - ", "    ", &text, look.width);
    }
    cut
}

/// A sentence without its beginning.
fn first_upper(rest: &str) -> String {
    let mut letters = rest.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Whether this is the finding that explains.
fn is(finding: &Finding, cause: &CausedBy) -> bool {
    finding.code == cause.code && finding.subject == cause.subject
}

/// What was not checked: the object, when it is one.
fn name_of(gap: &NotChecked) -> String {
    match &gap.subject {
        Some(subject) if gap.what == subject.kind => subject.to_string(),
        Some(subject) => format!("{} ({subject})", gap.what),
        None => gap.what.clone(),
    }
}
