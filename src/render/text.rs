//! A report for people: readable at 80 columns, with and without color.

use std::borrow::Cow;
use std::fmt::Write as _;

use jiff::Timestamp;

use super::escape;
use super::look::RenderLook;
use super::tree::{self, TreePart};
use super::wrap::{gap_line, hanging, joined, list, titled};
use crate::report::{
    EvidenceValue, EvidenceValues, NotChecked, OutlinedFinding, Remedy, Report, ReportDetail,
    ReportOutline, RunFacts, Subject, Verdict,
};
use crate::words::{CommandLine, capital};

/// That something was left out.
const MORE: &str = "use -v to show everything";

/// Ends a page: whether something was left out, and the moment for which it is true.
pub(super) fn page_end(out: &mut String, is_cut: bool, as_of: Timestamp, look: &RenderLook) {
    let more = is_cut.then(|| MORE.to_owned());
    let parts = more.into_iter().chain([format!("as of {as_of}")]);
    joined(out, parts.map(|part| look.paint.dim(&part)), look.width);
}

/// Writes a report: its state, what explains it with what to do, where the rollout is, and notes.
pub fn report(report: &Report, look: &RenderLook) -> String {
    let mut page = TextPage::new(look);
    let outline = ReportOutline::by_cause(report, page.detail());
    page.head(report, &outline.summary);
    let is_note = |one: &&OutlinedFinding<'_>| one.is_short && one.role.is_empty();
    let (notes, open): (Vec<_>, Vec<_>) = outline.findings.iter().partition(is_note);
    page.findings(&open);
    if let Some(progress) = &report.run {
        page.progress(report.verdict, progress, !open.is_empty());
    }
    page.findings(&notes);
    page.cut |= not_checked(&mut page.out, &report.not_checked, look);
    page.foot(&outline);
    page.out
}

/// What is written so far.
pub(super) struct TextPage<'l> {
    pub out: String,
    pub look: &'l RenderLook,
    /// Whether something was left out that `-v` shows.
    pub cut: bool,
    /// The moment for which the page is true, until it is written.
    as_of: Option<String>,
}

impl<'l> TextPage<'l> {
    pub fn new(look: &'l RenderLook) -> Self {
        Self {
            out: String::new(),
            look,
            cut: false,
            as_of: None,
        }
    }
}

impl TextPage<'_> {
    fn head(&mut self, report: &Report, summary: &str) {
        let verdict = self.look.paint.verdict(report.verdict);
        let target = escape::line(&report.about());
        let target = self.look.paint.bold(&target);
        let used = titled(&mut self.out, &verdict, &target, self.look.width);
        let as_of = report.as_of.map(|as_of| format!("as of {as_of}"));
        match as_of {
            Some(as_of) if used + 2 + as_of.len() <= self.look.width => {
                let _ = write!(self.out, "  {}", self.look.paint.dim(&as_of));
            }
            as_of => self.as_of = as_of,
        }
        self.out.push('\n');
        self.cut |= self.detail().is_cut(&report.summary);
        below_title(&mut self.out, &report.target, summary, self.look.width);
    }

    /// What is told by its sentence follows what it belongs to.
    fn findings(&mut self, findings: &[&OutlinedFinding<'_>]) {
        for (at, finding) in findings.iter().enumerate() {
            // The first of those that explain the state follows it.
            let is_apart = if at == 0 {
                finding.is_short
            } else {
                !finding.is_short
            };
            if is_apart {
                self.out.push('\n');
            }
            self.finding(finding);
        }
    }

    fn finding(&mut self, finding: &OutlinedFinding<'_>) {
        let paint = self.look.paint;
        let mut head = vec![
            paint.severity(finding.severity),
            paint.bold(&escape::line(&finding.code)),
        ];
        if self.look.verbose {
            head.push(paint.bold(&escape::line(&finding.name)));
        }
        if !finding.role.is_empty() {
            head.push(paint.dim(&format!("({})", escape::line(&finding.role))));
        }
        let head = format!("{}: ", head.join(" "));
        self.cut |= finding.cut;
        self.hang(&head, "  ", &finding.message);
        let stage = finding.stage.as_deref();
        self.clusters(finding.clusters, stage);
        if finding.is_short {
            return;
        }
        self.remedies(finding.steps.iter().copied());
        self.evidence(&finding.evidence);
    }

    /// Where the rollout is: in few words where something else is to be read first.
    fn progress(&mut self, verdict: Verdict, progress: &RunFacts, is_told: bool) {
        if verdict == Verdict::InitializationFailed && !self.look.verbose {
            // Nothing was begun.
            self.cut = true;
            return;
        }
        let scope = match (self.look.verbose, is_told) {
            (true, _) => TreePart::Whole,
            (false, true) => TreePart::Front,
            (false, false) => TreePart::Stages,
        };
        self.cut |= tree::draw(&mut self.out, progress, scope, self.look);
    }

    pub fn hang(&mut self, first: &str, rest: &str, text: &str) {
        hanging(&mut self.out, first, rest, text, self.look.width);
    }

    pub fn clusters(&mut self, clusters: &[String], stage: Option<&str>) {
        if clusters.is_empty() {
            return;
        }
        let most = self.detail().clusters;
        self.cut |= clusters.len() > most;
        let mut text = list(clusters, most);
        if clusters.len() > ReportDetail::TERMINAL.clusters {
            text = format!("{}: {text}", clusters.len());
        }
        if let Some(stage) = stage {
            text = format!("{text} (stage {stage})");
        }
        let label = format!("  {} ", self.look.paint.bold("clusters:"));
        self.hang(&label, "    ", &text);
    }

    /// Values, below the object in which they stand.
    pub fn evidence(&mut self, evidence: &EvidenceValues<'_>) {
        self.cut |= evidence.is_cut();
        let label = if evidence.left() > 0 {
            format!("evidence ({} of {}):", evidence.shown.len(), evidence.all)
        } else {
            "evidence:".to_owned()
        };
        let mut lead = format!("  {} ", self.look.paint.bold(&label));
        for same in evidence.by_place() {
            let values = same.iter().map(|one| match one.reading() {
                empty if one.value.is_empty() => format!("{empty}\"\""),
                reading => reading,
            });
            let values: Vec<_> = values.collect();
            let Some(EvidenceValue { place, .. }) = same.first() else {
                continue;
            };
            if let [value] = values.as_slice() {
                let text = format!("{place} {value}");
                self.hang(&lead, "      ", &text);
                "    ".clone_into(&mut lead);
                continue;
            }
            self.hang(&lead, "      ", place);
            "    ".clone_into(&mut lead);
            for value in &values {
                self.hang("      ", "        ", value);
            }
        }
    }

    pub fn remedies<'r>(&mut self, remedies: impl IntoIterator<Item = &'r Remedy>) {
        for (at, remedy) in remedies.into_iter().enumerate() {
            self.hang(&format!("  {}. ", at + 1), "     ", &remedy.sentence());
            if let Some(command) = &remedy.command {
                let command = self.look.invocation.command(command);
                let _ = writeln!(self.out, "       {}", self.look.paint.command(&command));
            }
        }
    }

    fn foot(&mut self, outline: &ReportOutline<'_>) {
        let paint = self.look.paint;
        let mut notes: Vec<_> = outline.left_out.iter().cloned().collect();
        notes.extend(self.cut.then(|| MORE.to_owned()));
        let notes = notes.join("; ");
        let as_of = self.as_of.take().map(|it| paint.dim(&it));
        // Once shows the way.
        let first = outline.findings.iter().find(|one| !one.is_short);
        let see = first.map(|first| {
            let see = CommandLine::fleet("explain").arg(&first.code);
            let see = paint.command(&self.look.invocation.command(&see));
            format!("{} {see}", paint.bold("see:"))
        });
        let notes = Some(paint.dim(&notes)).filter(|_| !notes.is_empty());
        let parts = as_of.into_iter().chain(notes).chain(see);
        joined(&mut self.out, parts, self.look.width);
    }

    pub const fn detail(&self) -> ReportDetail {
        if self.look.verbose {
            ReportDetail::WHOLE
        } else {
            ReportDetail::TERMINAL
        }
    }
}

/// Gaps; those with the same reason stand together. Returns whether something was left out.
pub(super) fn not_checked(out: &mut String, gaps: &[NotChecked], look: &RenderLook) -> bool {
    if gaps.is_empty() {
        return false;
    }
    let label = look.paint.bold("not checked:");
    let most = look.most(ReportDetail::TERMINAL.clusters);
    let mut cut = false;
    let mut written: Vec<(&str, &[String])> = Vec::new();
    let mut texts = Vec::new();
    for gap in gaps {
        let key = (gap.why.as_str(), gap.clusters.as_slice());
        if written.contains(&key) {
            continue;
        }
        written.push(key);
        let same = |other: &&NotChecked| other.why == key.0 && other.clusters == key.1;
        let mut what: Vec<_> = gaps.iter().filter(same).map(NotChecked::name).collect();
        what.dedup();
        cut |= what.len() > most || gap.clusters.len() > most;
        texts.push(gap_line(&list(&what, most), gap, most));
    }
    out.push('\n');
    if let [text] = texts.as_slice() {
        hanging(out, &format!("{label} "), "  ", text, look.width);
        return cut;
    }
    let _ = writeln!(out, "{label}");
    for text in &texts {
        hanging(out, "  - ", "    ", text, look.width);
    }
    cut
}

/// Writes what a summary says beyond the verdict and what it is about, which stand above it.
pub(super) fn below_title(out: &mut String, target: &Subject, summary: &str, width: usize) {
    let target = format!("{target} ");
    let shown = match summary.strip_prefix(&target).map(without_state) {
        Some(rest) if rest.is_empty() => return,
        Some(rest) => capital(&rest),
        None => summary.to_owned(),
    };
    hanging(out, "", "", &shown, width);
}

/// The words for states that say no more than the verdict.
const SAID: [&str; 4] = [
    "could not be initialized",
    "has failed",
    "has succeeded",
    "is stopped",
];

/// A state without the words for it, which the verdict says: how far it has come, and why.
fn without_state(rest: &str) -> Cow<'_, str> {
    if let Some((run, rest)) = rest.strip_prefix('(').and_then(|it| it.split_once(") ")) {
        return match without_state(rest) {
            rest if rest.is_empty() => rest,
            rest => Cow::Owned(format!("{run}: {rest}")),
        };
    }
    let end = rest.find([':', ';', '.']).unwrap_or(rest.len());
    let (state, why) = rest.split_at(end);
    match state.split_once(" (") {
        Some((_, far)) => Cow::Owned(format!("{}{why}", far.trim_end_matches(')'))),
        None if let (true, Some(why)) = (SAID.contains(&state), why.strip_prefix(": ")) => {
            Cow::Borrowed(why)
        }
        // There is no more to it.
        None if why == "." && state.split(' ').count() < 5 => Cow::Borrowed(""),
        None => Cow::Borrowed(rest.strip_prefix("is ").unwrap_or(rest)),
    }
}
