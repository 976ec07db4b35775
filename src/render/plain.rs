//! Markdown of our own, shown on a terminal.

use super::invocation::Invocation;
use super::style::TextPaint;
use super::wrap::hanging;

/// Lines of running text are not longer, however wide the terminal is.
const WIDEST: usize = 100;

/// Shows an explanation: headings stand out, code is indented, text is wrapped, and links of the
/// repository are the names that they stand for.
pub fn markdown(source: &str, width: usize, paint: TextPaint, invocation: &Invocation) -> String {
    let mut page = PlainPage {
        out: String::new(),
        block: String::new(),
        width: width.min(WIDEST),
        paint,
    };
    let mut in_code = false;
    let mut under = false;
    for line in invocation.prose(source).lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            page.flush();
            in_code = !in_code;
        } else if in_code {
            let line = page.paint.command(line);
            page.line(&format!("    {line}"));
        } else if let Some(heading) = line.strip_prefix('#') {
            page.flush();
            under = heading.starts_with('#');
            let heading = inline(heading.trim_start_matches('#').trim());
            let heading = page.paint.bold(&heading);
            page.line(&heading);
        } else if trimmed.is_empty() {
            page.flush();
            // What is under a heading follows it at once; the title stands alone.
            if !std::mem::take(&mut under) {
                page.gap();
            }
        } else {
            if marker(trimmed).is_some() {
                page.flush();
                // An item in an item keeps its indent.
                let indent = line.len() - line.trim_start().len();
                page.block.push_str(&line[..indent]);
            } else if !page.block.is_empty() {
                page.block.push(' ');
            }
            page.block.push_str(trimmed);
        }
    }
    page.flush();
    page.out
}

struct PlainPage {
    out: String,
    /// A paragraph or an item of a list, on one line.
    block: String,
    width: usize,
    paint: TextPaint,
}

impl PlainPage {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn flush(&mut self) {
        if self.block.is_empty() {
            return;
        }
        let text = self.block.trim_start();
        let indent = " ".repeat(self.block.len() - text.len());
        let (marker, text) = match marker(text) {
            Some(at) => text.split_at(at),
            None => ("", text),
        };
        let first = format!("{indent}{marker}");
        let rest = " ".repeat(first.len());
        hanging(&mut self.out, &first, &rest, &inline(text), self.width);
        self.block.clear();
    }
}

/// The length of the mark with which an item of a list begins.
fn marker(text: &str) -> Option<usize> {
    if text.starts_with("- ") || text.starts_with("* ") {
        return Some(2);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_item = (1..=2).contains(&digits) && text[digits..].starts_with(". ");
    is_item.then_some(digits + 2)
}

/// The finding to whose page a link leads: `explain` shows it.
fn finding(target: &str) -> Option<&str> {
    let (code, _) = target.split_once(".md")?;
    (code.starts_with("FS") && !code.contains('/')).then_some(code)
}

/// Without what stands for bold and for links.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, link) = rest.split_at(start);
        let parts = link[1..].split_once("](").and_then(|(words, target)| {
            let (target, after) = target.split_once(')')?;
            // A `[` of another kind does not reach over the next one, nor into code.
            let is_link = !words.contains(['[', '`', '\n']);
            is_link.then_some((words, target, after))
        });
        out.push_str(before);
        if let Some((words, target, after)) = parts {
            out.push_str(words);
            if target.contains("://") {
                out.push_str(" (");
                out.push_str(target);
                out.push(')');
            } else if let Some(code) = finding(target).filter(|code| *code != words) {
                out.push_str(" (");
                out.push_str(code);
                out.push(')');
            }
            rest = after;
        } else {
            out.push('[');
            rest = &link[1..];
        }
    }
    out.push_str(rest);
    out.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::{inline, markdown};
    use crate::render::invocation::Invocation;
    use crate::render::style::TextPaint;

    #[test]
    fn an_explanation_reads_well() {
        let source = "# FS1: x\n\n**One sentence that is long enough to be wrapped.**\n\n## How\n\n\
            - first, with a\n  second line of some length\n  - inner one\n- `a[0]` of it\n\n\
            1. run\n   ```sh\n   kubectl fleet-stage x\n   ```\n2. see [FS2](FS2.md)\n   or [more](FS3.md#a) and [docs](https://x.test/y)\n";
        let invocation = Invocation::new("kubectl-fleet-stage", "", &[]);
        assert_eq!(
            markdown(source, 40, TextPaint::new(false), &invocation),
            "FS1: x\n\nOne sentence that is long enough to be\nwrapped.\n\nHow\n\
             - first, with a second line of some\n  length\n  - inner one\n- `a[0]` of it\n\n\
             1. run\n       kubectl-fleet-stage x\n2. see FS2 or more (FS3) and docs\n   (https://x.test/y)\n"
        );
    }

    #[test]
    fn brackets_that_are_no_links_stay() {
        for text in [
            "conditions[type=Available] (see above)",
            "a [b",
            "[x] (y)",
            "`a[0]` and [b",
        ] {
            assert_eq!(inline(text), text);
        }
        assert_eq!(inline("stages[0] of [FS2](FS2.md)."), "stages[0] of FS2.");
    }
}
