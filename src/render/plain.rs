//! Markdown of our own, shown on a terminal.

use std::fmt::Write as _;

use super::style::Paint;

/// Shows an explanation: headings stand out, code is indented, text is wrapped.
pub fn markdown(source: &str, width: usize, paint: Paint) -> String {
    let mut out = String::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    for line in source.lines() {
        if line.starts_with("```") {
            flush(&mut out, &mut paragraph, width);
            in_code = !in_code;
            continue;
        }
        if in_code {
            let _ = writeln!(out, "    {}", paint.command(line));
        } else if let Some(heading) = line.strip_prefix('#') {
            flush(&mut out, &mut paragraph, width);
            let _ = writeln!(
                out,
                "{}",
                paint.bold(heading.trim_start_matches('#').trim())
            );
        } else if line.trim().is_empty() {
            flush(&mut out, &mut paragraph, width);
            if !out.ends_with("\n\n") {
                out.push('\n');
            }
        } else {
            let starts_item = line.trim_start().starts_with("- ")
                || line
                    .split_once(". ")
                    .is_some_and(|(n, _)| n.parse::<u8>().is_ok());
            if starts_item {
                flush(&mut out, &mut paragraph, width);
            }
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    flush(&mut out, &mut paragraph, width);
    out
}

fn flush(out: &mut String, paragraph: &mut String, width: usize) {
    if paragraph.is_empty() {
        return;
    }
    let text = paragraph.replace("**", "");
    let indent = if text.starts_with("- ") {
        "  "
    } else if text.starts_with(|c: char| c.is_ascii_digit()) {
        "   "
    } else {
        ""
    };
    let options = textwrap::Options::new(width.min(100))
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(&text, options) {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    paragraph.clear();
}
