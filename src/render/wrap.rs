//! Lines that fit: text from anywhere is made harmless and broken where it may be.

use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter};
use unicode_width::UnicodeWidthChar;

use super::escape;
use crate::report::NotChecked;
pub use crate::words::list;

/// Appends a paragraph. The beginnings of its lines are ours and may be painted; the text is from
/// anywhere. A word that is wider than the line stays whole, so that it can be copied.
pub fn hanging(out: &mut String, first: &str, rest: &str, text: &str, width: usize) {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(WordSeparator::Custom(words))
        .word_splitter(WordSplitter::NoHyphenation);
    let text = escape::line(text);
    if text.is_empty() {
        out.push_str(first.trim_end());
        out.push('\n');
        return;
    }
    let begins = words(&text).next().map_or("", |word| word.word);
    if begins_a_line(first, rest, begins, width) {
        out.push_str(first.trim_end());
        out.push('\n');
        return hanging(out, rest, rest, &text, width);
    }
    for line in textwrap::wrap(&text, options) {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Whether the first word fits only on a line of its own.
fn begins_a_line(first: &str, rest: &str, word: &str, width: usize) -> bool {
    let ends = |lead: &str| display_width(lead).saturating_add(display_width(word));
    ends(first) > width && ends(rest) <= width && !first.trim().is_empty()
}

/// Appends parts that are joined by semicolons, as many on a line as fit.
pub fn joined(out: &mut String, parts: impl IntoIterator<Item = String>, width: usize) {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if display_width(line) + 2 + display_width(&part) <= width => {
                *line = format!("{line}; {part}");
            }
            _ => lines.push(part),
        }
    }
    for line in lines {
        out.push_str(&line);
        out.push('\n');
    }
}

/// Appends a verdict and what it is about, on one line if they fit. Returns the columns that are used
/// on the last line.
pub fn titled(out: &mut String, verdict: &str, about: &str, width: usize) -> usize {
    let apart = display_width(verdict) + 2 + display_width(about) > width;
    let gap = if apart { "\n  " } else { "  " };
    let head = format!("{verdict}{gap}{about}");
    out.push_str(&head);
    head.lines().last().map_or(0, display_width)
}

/// What no text may begin a line with: whoever reads the line, a person or a pipeline, would take it
/// for ours.
const LABELS: [&str; 10] = [
    "hint:", "error:", "warning:", "note:", "next:", "see:", "kubectl ", "kubectl-", "::", "##[",
];

/// Breaks at spaces, and between characters of scripts that are written without them. Names, paths
/// and commands stay whole, unlike with the rules of Unicode.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut start = 0;
    let mut previous = None;
    let mut breaks = Vec::new();
    for (at, c) in line.char_indices() {
        let begins = || LABELS.iter().any(|label| line[at..].starts_with(label));
        if previous.is_some_and(|previous| may_break(previous, c)) && !begins() {
            breaks.push(at);
        }
        previous = Some(c);
    }
    breaks.push(line.len());
    Box::new(breaks.into_iter().filter_map(move |end| {
        let word = line.get(start..end).filter(|word| !word.is_empty());
        start = end;
        word.map(Word::from)
    }))
}

fn may_break(before: char, after: char) -> bool {
    if before == ' ' || after == ' ' {
        return before == ' ' && after != ' ';
    }
    let is_wide = |c: char| c.width() == Some(2);
    (is_wide(before) || is_wide(after)) && !opens(before) && !continues(after)
}

/// What must not stand at the end of a line.
const fn opens(c: char) -> bool {
    matches!(
        c,
        '(' | '[' | '{' | '"' | '\'' | '`' | '（' | '［' | '｛' | '「' | '『' | '【' | '〈' | '《'
    )
}

/// What must not stand at the beginning of a line.
fn continues(c: char) -> bool {
    c.width() == Some(0)
        || matches!(
            c,
            ')' | ']' | '}' | '"' | '\'' | '`' | ',' | '.' | ':' | ';' | '!' | '?' | '…'
                | '）' | '］' | '｝' | '」' | '』' | '】' | '〉' | '》' | '、' | '。' | '，' | '．'
                | '：' | '；' | '！' | '？' | 'ー' | '々'
                // Skin tones and the halves of flags belong to the emoji before them.
                | '\u{1f3fb}'..='\u{1f3ff}' | '\u{1f1e6}'..='\u{1f1ff}'
        )
}

/// The lines that fit on a terminal, and how many do not. A line that is too wide stays one for
/// whoever copies it.
pub fn fit(text: &str, columns: usize, rows: usize) -> Vec<String> {
    let taken = |line: &String| display_width(line).div_ceil(columns.max(1)).max(1);
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let all = lines.len();
    if lines.iter().map(taken).sum::<usize>() <= rows {
        return lines;
    }
    // One row says how many there are.
    let mut used = 1;
    let fitting = lines.iter().take_while(|line| {
        used += taken(line);
        used <= rows
    });
    let fitting = fitting.count().max(1);
    lines.truncate(fitting);
    if fitting < all {
        lines.push(format!("… {} more lines", all - fitting));
    }
    lines
}

/// The same for several texts, which share the rows.
pub fn fit_all(texts: &[String], columns: usize, rows: usize) -> Vec<String> {
    let whole = texts.join("\n");
    let lines = fit(&whole, columns, rows);
    if texts.len() < 2 || lines.len() == whole.lines().count() {
        return lines;
    }
    let taken = |line: &str| display_width(line).div_ceil(columns.max(1)).max(1);
    let needs: Vec<_> = texts
        .iter()
        .map(|text| text.lines().map(taken).sum())
        .collect();
    let shared = texts.iter().zip(shares(&needs, rows));
    let lines = shared.flat_map(|(text, share)| match share {
        0 => Vec::new(),
        // There is no room to say how many lines there are.
        1 => text.lines().take(1).map(str::to_owned).collect(),
        share => fit(text, columns, share),
    });
    lines.collect()
}

/// How many rows each of several blocks gets that need so many: what one does not need is for the
/// others.
pub fn shares(needs: &[usize], rows: usize) -> Vec<usize> {
    let mut order: Vec<_> = needs.iter().copied().enumerate().collect();
    order.sort_by_key(|(_, need)| *need);
    let mut shares = vec![0; needs.len()];
    let (mut left, mut waiting) = (rows, needs.len());
    for (at, need) in order {
        // Where there are fewer rows than blocks, the first in their order get one.
        let even = if rows < needs.len() {
            usize::from(at < rows)
        } else {
            left / waiting.max(1)
        };
        let share = need.min(even);
        if let Some(place) = shares.get_mut(at) {
            *place = share;
        }
        left = left.saturating_sub(share);
        waiting = waiting.saturating_sub(1);
    }
    shares
}

/// What was not checked and why, with so many of the affected clusters.
pub fn gap_line(what: &str, gap: &NotChecked, most: usize) -> String {
    let why = &gap.why;
    if gap.clusters.is_empty() {
        return format!("{what}: {why}");
    }
    format!("{what}: {why} ({})", list(&gap.clusters, most))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::{fit, fit_all, hanging, list, shares};

    fn wrapped(text: &str, width: usize) -> String {
        let mut out = String::new();
        hanging(&mut out, "- ", "  ", text, width);
        out
    }

    #[test]
    fn blocks_share_the_rows() {
        for (needs, rows, wanted) in [
            (&[2, 9, 9][..], 20, &[2, 9, 9][..]),
            (&[2, 9, 9], 12, &[2, 5, 5]),
            (&[9, 1, 9], 10, &[4, 1, 5]),
            (&[9, 9, 9], 3, &[1, 1, 1]),
            (&[9, 9, 9], 2, &[1, 1, 0]),
            (&[9, 9], 0, &[0, 0]),
            (&[], 5, &[]),
        ] {
            assert_eq!(shares(needs, rows), wanted, "{needs:?} in {rows}");
        }
        let texts = ["a\nb\nc\nd\n", "e\n"].map(str::to_owned);
        assert_eq!(fit_all(&texts, 9, 6), ["a", "b", "c", "d", "", "e"]);
        assert_eq!(fit_all(&texts, 9, 4), ["a", "b", "… 2 more lines", "e"]);
        assert_eq!(fit_all(&texts, 9, 2), ["a", "e"]);
        assert_eq!(fit_all(&texts[..1], 9, 3), ["a", "b", "… 2 more lines"]);
    }

    #[test]
    fn names_and_paths_stay_whole() {
        let text = "see status.conditions[type=Available] of member-1/web";
        let lines = "- see\n  status.conditions[type=Available]\n  of member-1/web\n";
        assert_eq!(wrapped(text, 24), lines);
    }

    #[test]
    fn scripts_without_spaces_are_broken_by_width() {
        for (text, width, lines) in [
            (
                "映像を取得できません。再試行します",
                14,
                "- 映像を取得で\n  きません。再\n  試行します\n",
            ),
            ("ok 🚀🚀🚀🚀", 10, "- ok 🚀🚀\n  🚀🚀\n"),
            (
                "👍\u{1f3fd}👍\u{1f3fd}",
                7,
                "- 👍\u{1f3fd}\n  👍\u{1f3fd}\n",
            ),
        ] {
            assert_eq!(wrapped(text, width), lines);
        }
    }

    #[test]
    fn no_text_begins_a_line_as_only_we_do() {
        let text = "as it says hint: run kubectl delete x ::error::y";
        let lines = "- as it\n  says hint:\n  run kubectl\n  delete\n  x ::error::y\n";
        assert_eq!(wrapped(text, 14), lines);
    }

    #[test]
    fn painted_beginnings_have_no_width() {
        let mut out = String::new();
        hanging(&mut out, "\u{1b}[1mx\u{1b}[0m ", "", "aaa bbb", 5);
        assert_eq!(out, "\u{1b}[1mx\u{1b}[0m aaa\nbbb\n");
    }

    #[test]
    fn long_lists_say_that_they_are_cut() {
        assert_eq!(list(&["a", "b"], 2), "a, b");
        assert_eq!(list(&["a", "b", "c", "d"], 2), "a, b and 2 more");
    }

    #[test]
    fn a_text_that_is_too_long_says_so() {
        let long = format!("a\n{}\nb\n", "x".repeat(50));
        for (text, rows, seen) in [
            ("a\nb\nc\n", 3, &["a", "b", "c"][..]),
            ("a\nb\nc\nd\n", 3, &["a", "b", "… 2 more lines"]),
            ("\u{1b}[1ma\u{1b}[0m\n", 1, &["\u{1b}[1ma\u{1b}[0m"]),
            (&long, 4, &["a", "… 2 more lines"]),
            ("a\nb\n", 0, &["a", "… 1 more lines"]),
            ("", 0, &[]),
        ] {
            assert_eq!(fit(text, 20, rows), seen);
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_unless_it_is_one_word(text in "[a-z日本🚀 \\-/.。]{0,120}", width in 20usize..60) {
            for line in wrapped(&text, width).lines() {
                prop_assert!(line.width() <= width || !line[2..].trim_end().contains(' '), "{line:?}");
            }
        }

        #[test]
        fn nothing_is_lost(text in "[a-z日本🚀 \\-/.。]{0,120}") {
            let all: String = wrapped(&text, 30).chars().filter(|c| !matches!(c, ' ' | '\n')).collect();
            let wanted: String = text.chars().filter(|c| *c != ' ').collect();
            prop_assert_eq!(all.strip_prefix('-').unwrap_or_default(), wanted);
        }
    }
}
