//! The one sink for text from the cluster: whatever a terminal would act on becomes visible.

use crate::words::push_visible;

/// Makes text harmless and keeps it on one line: line breaks and runs of spaces become one space.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
        } else {
            push_visible(&mut out, c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Makes text harmless and keeps its lines and its spaces.
pub fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            c => push_visible(&mut out, c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{line, lines};

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        let cases = [
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\u{9b}31mb", "a\\u{9b}31mb"),
            ("a\u{202e}b\u{200b}", "a\\u{202e}b\\u{200b}"),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("pay\u{ad}load\u{3164}", "pay\\u{ad}load\\u{3164}"),
            ("x\u{e0041}", "x\\u{e0041}"),
            ("a\rb\u{85}c\u{2028}d", "a b c d"),
            ("  one\n\ttwo \r\n", "one two"),
            ("日本語 🚀 é ❤\u{fe0f}", "日本語 🚀 é ❤\u{fe0f}"),
            ("", ""),
        ];
        for (given, wanted) in cases {
            assert_eq!(line(given), wanted, "{given:?}");
        }
        assert_eq!(lines("one\n  two\t.\u{7}"), "one\n  two    .\\u{7}");
    }

    proptest! {
        #[test]
        fn a_line_is_one_line_without_control_characters(text in "\\PC*|[\\x00-\\u{ff}]*|.*") {
            let escaped = line(&text);
            prop_assert!(!escaped.chars().any(char::is_control));
            prop_assert_eq!(line(&escaped), escaped.clone());
            prop_assert!(!lines(&text).chars().any(|c| c != '\n' && c.is_control()));
        }
    }
}
