//! A report for people: readable at 80 columns, with and without color.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::escape;
use super::look::Look;
use super::tree;
use super::wrap::{hanging, list};
use crate::report::{
    Detail, NotChecked, Outline, OutlinedFinding, Remedy, Report, Verdict, Witness, Witnesses,
};
use crate::words::{CommandLine, brief};

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
    let outline = Outline::by_cause(report, page.detail());
    for (at, finding) in outline.findings.iter().enumerate() {
        // What is told by its sentence follows what it belongs to.
        if !finding.is_short || at == 0 {
            page.out.push('\n');
        }
        page.finding(finding);
    }
    page.cut |= not_checked(&mut page.out, &report.not_checked, look);
    page.foot(report, outline.left_out);
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
        let target = escape::line(&report.about());
        let target = self.look.paint.bold(&target);
        let _ = writeln!(self.out, "{verdict}  {target}");
        let target = format!("{} ", report.target);
        let summary = match report.summary.strip_prefix(&target) {
            Some(rest) => &first_upper(rest.strip_prefix("is ").unwrap_or(rest)),
            None => &report.summary,
        };
        let shown = brief(summary, self.detail().sentence);
        self.cut |= shown != *summary;
        hanging(&mut self.out, "", "", &shown, self.look.width);
    }

    fn finding(&mut self, finding: &OutlinedFinding<'_>) {
        let paint = self.look.paint;
        let role = match finding.role.as_str() {
            "" => String::new(),
            role => format!("  ({})", escape::line(role)),
        };
        let head = format!(
            "{} {} {}{}",
            paint.severity(finding.severity),
            paint.bold(&escape::line(&finding.code)),
            paint.bold(&escape::line(&finding.name)),
            paint.dim(&role)
        );
        self.cut |= finding.cut;
        let width = self.look.width;
        if finding.is_short {
            let head = format!("{head}: ");
            hanging(&mut self.out, &head, "  ", &finding.message, width);
        } else {
            let _ = writeln!(self.out, "{head}");
            hanging(&mut self.out, "  ", "  ", &finding.message, width);
        }
        let stage = finding.stage.as_deref();
        // The sentence as it was: its cut form may lack the cluster.
        let message = &(**finding).message;
        self.clusters(&finding.clusters, stage, message);
        if finding.is_short {
            return;
        }
        self.evidence(&finding.evidence);
        self.remedies(&finding.remedies);
        if self.look.verbose || !self.explained {
            self.explained = true;
            let see = CommandLine::fleet("explain").arg(&finding.code);
            let see = paint.command(&self.look.invocation.command(&see));
            let _ = writeln!(self.out, "  {} {see}", paint.bold("see:"));
        }
    }

    /// The clusters of a finding, unless it has one that its message names.
    pub fn clusters(&mut self, clusters: &[String], stage: Option<&str>, message: &str) {
        if let [] | [_] = clusters {
            let named = |name: &String| message.contains(name.as_str());
            if clusters.iter().all(named) {
                return;
            }
        }
        let most = self.detail().clusters;
        self.cut |= clusters.len() > most;
        let mut text = list(clusters, most);
        if clusters.len() > Detail::TERMINAL.clusters {
            text = format!("{}: {text}", clusters.len());
        }
        if let Some(stage) = stage {
            text = format!("{text} (stage {stage})");
        }
        let label = format!("  {} ", self.look.paint.bold("clusters:"));
        hanging(&mut self.out, &label, "    ", &text, self.look.width);
    }

    /// Values, below the object in which they stand.
    pub fn evidence(&mut self, evidence: &Witnesses<'_>) {
        let (paint, width) = (self.look.paint, self.look.width);
        self.cut |= evidence.is_cut();
        let label = if evidence.left() > 0 {
            format!("evidence ({} of {}):", evidence.shown.len(), evidence.all)
        } else {
            "evidence:".to_owned()
        };
        let mut lead = format!("  {} ", paint.bold(&label));
        for same in evidence.by_place() {
            let values = same.iter().map(|one| match one.reading() {
                empty if one.value.is_empty() => format!("{empty}\"\""),
                reading => reading,
            });
            let values: Vec<_> = values.collect();
            let Some(Witness { place, .. }) = same.first() else {
                continue;
            };
            if let [value] = values.as_slice() {
                let text = format!("{place} {value}");
                hanging(&mut self.out, &lead, "      ", &text, width);
                "    ".clone_into(&mut lead);
                continue;
            }
            hanging(&mut self.out, &lead, "      ", place, width);
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
            let (first, text) = (format!("    {}. ", at + 1), remedy.sentence());
            hanging(&mut self.out, &first, "       ", &text, self.look.width);
            if let Some(command) = &remedy.command {
                let command = self.look.invocation.command(command);
                let _ = writeln!(self.out, "         {}", paint.command(&command));
            }
        }
    }

    fn foot(&mut self, report: &Report, left_out: Option<String>) {
        let more = self.cut.then(|| "use -v to show everything".to_owned());
        let as_of = report.as_of.map(|as_of| format!("as of {as_of}"));
        let notes: Vec<_> = [left_out, more, as_of].into_iter().flatten().collect();
        if !notes.is_empty() {
            let _ = writeln!(self.out, "{}", self.look.paint.dim(&notes.join("; ")));
        }
    }

    /// How much is shown.
    pub const fn detail(&self) -> Detail {
        if self.look.verbose {
            Detail::WHOLE
        } else {
            Detail::TERMINAL
        }
    }
}

/// Gaps; those with the same reason stand together. Returns whether something was left out.
pub(super) fn not_checked(out: &mut String, gaps: &[NotChecked], look: &Look) -> bool {
    if gaps.is_empty() {
        return false;
    }
    let _ = writeln!(out, "\n{}", look.paint.bold("not checked:"));
    let most = if look.verbose {
        usize::MAX
    } else {
        Detail::TERMINAL.clusters
    };
    let mut cut = false;
    let mut written: Vec<(&str, &[String])> = Vec::new();
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
