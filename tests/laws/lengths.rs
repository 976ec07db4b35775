//! How long reports are, and how soon they say what to do: measured for a law and for a page.

use std::path::Path;

use kubectl_fleet_stage::exit::Exit;
use kubectl_fleet_stage::render::invocation::Invocation;
use kubectl_fleet_stage::render::style::TextPaint;
use kubectl_fleet_stage::render::{self, RenderLook};
use kubectl_fleet_stage::report::{Report, Verdict};

use super::situations::{expectations, report};

/// A report on a terminal of 80 columns.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    pub verdict: Verdict,
    pub lines: usize,
    /// The line of the first command that a step gives, where one does.
    pub command: Option<usize>,
}

impl Length {
    pub fn of(report: &Report) -> Self {
        let look = RenderLook {
            width: 80,
            paint: TextPaint::new(false),
            invocation: Invocation::new("kubectl fleet-stage", "", &[]),
            verbose: false,
        };
        let text = render::text::report(report, &look);
        let steps = report.findings.iter().flat_map(|finding| &finding.remedies);
        let commands = steps.filter_map(|step| step.command.as_ref());
        let commands: Vec<_> = commands.map(|it| look.invocation.command(it)).collect();
        let is_command = |line: &str| commands.iter().any(|it| it == line.trim());
        Self {
            verdict: report.verdict,
            lines: text.lines().count(),
            command: text.lines().position(is_command).map(|at| at + 1),
        }
    }

    /// Whether somebody has to act.
    pub fn needs_a_person(&self) -> bool {
        Exit::from(self.verdict) != Exit::Done
    }
}

/// The lengths of all situations of bundles.
pub fn lengths(bundles: &[impl AsRef<Path>]) -> Vec<Length> {
    let mut lengths = Vec::new();
    for path in bundles {
        let text = std::fs::read_to_string(path).expect("a file");
        for situation in expectations(&text) {
            lengths.push(Length::of(&report(path.as_ref(), &situation.args)));
        }
    }
    lengths
}

/// The middle of numbers; of an even number of them the greater.
pub fn median(numbers: impl IntoIterator<Item = usize>) -> Option<usize> {
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}
