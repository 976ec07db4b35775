//! The one sink for text from the cluster: whatever a terminal would act on becomes visible.

/// Makes text harmless and keeps it on one line: line breaks and runs of spaces become one space.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
        } else {
            push(&mut out, c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Makes text harmless and keeps its lines.
pub fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' {
            out.push(c);
        } else {
            push(&mut out, c);
        }
    }
    out
}

fn push(out: &mut String, c: char) {
    if is_harmful(c) {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}

/// Control characters, and those that reorder or hide text.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{061c}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::{line, lines};

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        assert_eq!(line("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(line("a\u{202e}b\u{200b}"), "a\\u{202e}b\\u{200b}");
        assert_eq!(line("  one\n\ttwo \r\n"), "one two");
        assert_eq!(lines("one\ntwo\u{7}"), "one\ntwo\\u{7}");
        assert_eq!(line("日本語 🚀 é"), "日本語 🚀 é");
    }
}
