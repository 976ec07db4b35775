//! Text that takes the place of what stood there before, without flicker.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// The part of a terminal that is drawn again and again.
#[derive(Debug, Default)]
pub struct Screen {
    /// Lines that stand there.
    lines: usize,
    /// The terminal's columns when they were drawn.
    columns: usize,
}

/// Goes to the beginning of the first line, which nothing wraps above.
const HOME: &str = "\u{1b}[H\u{1b}[2J";
/// Clears to the end of the line.
const CLEAR_LINE: &str = "\u{1b}[K";
/// Clears to the end of the screen.
const CLEAR_REST: &str = "\u{1b}[J";

impl Screen {
    /// What to write, in one go, so that `text` stands in place of the last one. It is cut to the
    /// terminal: a line that scrolled away could not be taken back.
    pub fn redraw(&mut self, text: &str, columns: usize, rows: usize) -> String {
        let lines: Vec<_> = text.lines().collect();
        // The last row is the cursor's.
        let room = rows.saturating_sub(1).max(1);
        if lines.len() <= room {
            return self.draw(&lines, columns);
        }
        let kept = room.saturating_sub(1);
        let left = format!("… {} more lines", lines.len() - kept);
        let mut shown = lines[..kept].to_vec();
        shown.push(&left);
        self.draw(&shown, columns)
    }

    /// The same for the last time: all of it, and it stays.
    pub fn finish(&mut self, text: &str, columns: usize) -> String {
        let out = self.draw(&text.lines().collect::<Vec<_>>(), columns);
        *self = Self::default();
        out
    }

    fn draw(&mut self, lines: &[&str], columns: usize) -> String {
        let mut out = String::new();
        if self.lines > 0 && columns < self.columns {
            // A narrower terminal has wrapped what stood there: nobody knows how far up it begins.
            out.push_str(HOME);
        } else if self.lines > 0 {
            let _ = write!(out, "\r\u{1b}[{}A", self.lines);
        } else {
            out.push('\r');
        }
        for line in lines {
            out.push_str(&clip(line, columns));
            out.push_str(CLEAR_LINE);
            out.push('\n');
        }
        out.push_str(CLEAR_REST);
        self.lines = lines.len();
        self.columns = columns;
        out
    }
}

/// The part of a line that fits, with an ellipsis when there is more. Colours have no width, and
/// are switched off again where the line is cut.
fn clip(line: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut width = 0;
    let mut fits = 0;
    let mut painted = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            painted = true;
            out.push(c);
            for c in chars.by_ref() {
                out.push(c);
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
            if width < columns {
                fits = out.len();
            }
            continue;
        }
        width += c.width().unwrap_or(0);
        if width > columns {
            out.truncate(fits);
            out.push('…');
            if painted {
                out.push_str("\u{1b}[0m");
            }
            return out;
        }
        out.push(c);
        if width < columns {
            fits = out.len();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::{Screen, clip};

    /// A terminal that understands what is written here, and no more.
    struct Terminal {
        rows: Vec<String>,
        at: usize,
    }

    impl Terminal {
        fn new() -> Self {
            Self {
                rows: vec![String::new()],
                at: 0,
            }
        }

        fn write(&mut self, text: &str) {
            let mut rest = text;
            while let Some(c) = rest.chars().next() {
                let mut taken = c.len_utf8();
                match c {
                    '\r' => {}
                    '\n' => {
                        self.at += 1;
                        if self.at == self.rows.len() {
                            self.rows.push(String::new());
                        }
                    }
                    '\u{1b}' => {
                        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                        let number = rest[2..end].parse().unwrap_or(1);
                        match &rest[end..=end] {
                            "A" => self.at = self.at.checked_sub(number).unwrap(),
                            "H" => self.at = 0,
                            "J" if number == 2 => self.rows = vec![String::new()],
                            "J" => self.rows.truncate(self.at + 1),
                            // Everything behind the cursor, which follows the text.
                            "K" => {
                                let kept = self.rows[self.at].find('\u{0}').unwrap_or(0);
                                let line = self.rows[self.at].split_off(kept);
                                self.rows[self.at] = line.trim_start_matches('\u{0}').to_owned();
                            }
                            _ => {}
                        }
                        taken = end + 1;
                    }
                    c => {
                        // A mark stands between what was there and what is written over it.
                        let row = &mut self.rows[self.at];
                        if !row.contains('\u{0}') {
                            row.push('\u{0}');
                        }
                        row.push(c);
                    }
                }
                rest = &rest[taken..];
            }
        }

        fn text(&self) -> String {
            self.rows.join("\n")
        }
    }

    #[test]
    fn each_text_takes_the_place_of_the_last() {
        let mut terminal = Terminal::new();
        let mut screen = Screen::default();
        for (text, seen) in [
            ("one\ntwo\nthree\n", "one\ntwo\nthree\n"),
            ("1\n", "1\n"),
            ("a\nb\nc\nd\ne\nf\n", "a\nb\nc\n… 3 more lines\n"),
            ("x\n\nz\n", "x\n\nz\n"),
        ] {
            terminal.write(&screen.redraw(text, 40, 5));
            assert_eq!(terminal.text(), seen);
        }
        terminal.write(&screen.finish("a\nb\nc\nd\ne\nf\n", 40));
        assert_eq!(terminal.text(), "a\nb\nc\nd\ne\nf\n");
    }

    #[test]
    fn a_narrower_terminal_begins_at_its_top() {
        let mut screen = Screen::default();
        assert!(!screen.redraw("one\n", 80, 24).contains("\u{1b}[2J"));
        assert!(screen.redraw("one\n", 60, 24).contains("\u{1b}[2J"));
        assert!(!screen.redraw("one\n", 80, 24).contains("\u{1b}[2J"));
    }

    #[test]
    fn lines_are_cut_where_the_terminal_ends() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(clip("日本語", 6), "日本語");
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(clip("日本語", 4), "日…");
        assert_eq!(
            clip("\u{1b}[1mabcdef\u{1b}[0m", 6),
            "\u{1b}[1mabcdef\u{1b}[0m"
        );
        assert_eq!(
            clip("\u{1b}[1mabcdef\u{1b}[0mg", 4),
            "\u{1b}[1mabc…\u{1b}[0m"
        );
        assert_eq!(clip("", 4), "");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(text in "[a-z日本🚀 ]{0,60}", columns in 1usize..50) {
            let cut = clip(&text, columns);
            prop_assert!(cut.width() <= columns, "{cut:?}");
            prop_assert!(text.width() > columns || cut == text);
        }
    }
}
