//! Text that takes the place of what stood there before, without flicker.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// The part of a terminal that is drawn again and again.
#[derive(Debug, Default)]
pub struct Screen {
    /// Rows that are taken.
    rows: usize,
    /// The terminal's columns when they were drawn.
    columns: usize,
}

/// Goes to the top, with nothing on the screen.
const HOME: &str = "\u{1b}[H\u{1b}[2J";
/// Clears to the end of the line.
const CLEAR_LINE: &str = "\u{1b}[K";
/// Clears to the end of the screen.
const CLEAR_REST: &str = "\u{1b}[J";

/// A line, as a terminal lays it out.
struct Laid {
    text: String,
    rows: usize,
    /// Whether its last row is filled: there is nothing behind it to clear.
    full: bool,
}

impl Screen {
    /// What to write, in one go, so that `text` stands in place of the last one. It is cut to the
    /// terminal: a row that scrolled away could not be taken back.
    pub fn redraw(&mut self, text: &str, columns: usize, rows: usize) -> String {
        let mut lines = lay_out(text, columns);
        // The last row is the cursor's.
        let room = rows.saturating_sub(1).max(1);
        if taken(&lines) > room {
            let all = lines.len();
            while lines.len() > 1 && taken(&lines) + 1 > room {
                lines.pop();
            }
            let left = format!("… {} more lines", all - lines.len());
            lines.push(lay(&left, columns));
        }
        self.draw(&lines, columns)
    }

    /// The same for the last time: all of it, and it stays.
    pub fn finish(&mut self, text: &str, columns: usize) -> String {
        let out = self.draw(&lay_out(text, columns), columns);
        *self = Self::default();
        out
    }

    fn draw(&mut self, lines: &[Laid], columns: usize) -> String {
        let mut out = String::new();
        if self.rows > 0 && columns < self.columns {
            // A narrower terminal has wrapped what stood there: nobody knows how far up it begins.
            out.push_str(HOME);
        } else if self.rows > 0 {
            let _ = write!(out, "\r\u{1b}[{}A", self.rows);
        } else {
            out.push('\r');
        }
        for line in lines {
            out.push_str(&line.text);
            if !line.full {
                out.push_str(CLEAR_LINE);
            }
            out.push('\n');
        }
        out.push_str(CLEAR_REST);
        self.rows = taken(lines);
        self.columns = columns;
        out
    }
}

fn taken(lines: &[Laid]) -> usize {
    lines.iter().map(|line| line.rows).sum()
}

fn lay_out(text: &str, columns: usize) -> Vec<Laid> {
    text.lines().map(|line| lay(line, columns)).collect()
}

/// How a terminal wraps a line that does not fit: it stays one line for whoever copies it. Colours
/// have no width.
fn lay(line: &str, columns: usize) -> Laid {
    let mut text = String::with_capacity(line.len());
    let (mut rows, mut column) = (1, 0);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            text.push(c);
            for c in chars.by_ref() {
                text.push(c);
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
            continue;
        }
        let width = c.width().unwrap_or(0);
        if column + width > columns {
            // A wide character leaves the last column, in which something may stand.
            text.extend(std::iter::repeat_n(' ', columns.saturating_sub(column)));
            rows += 1;
            column = 0;
        }
        column += width;
        text.push(c);
    }
    Laid {
        text,
        rows,
        full: column >= columns,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Screen;

    /// A terminal that understands what is written here, and no more.
    struct Terminal {
        rows: Vec<Vec<char>>,
        columns: usize,
        row: usize,
        column: usize,
    }

    impl Terminal {
        fn new(columns: usize) -> Self {
            Self {
                rows: vec![vec![' '; columns]],
                columns,
                row: 0,
                column: 0,
            }
        }

        fn next_row(&mut self) {
            self.row += 1;
            self.column = 0;
            if self.row == self.rows.len() {
                self.rows.push(vec![' '; self.columns]);
            }
        }

        fn write(&mut self, text: &str) {
            let mut chars = text.chars();
            while let Some(c) = chars.next() {
                match c {
                    '\r' => self.column = 0,
                    '\n' => self.next_row(),
                    '\u{1b}' => {
                        assert_eq!(chars.next(), Some('['));
                        let mut number = String::new();
                        let command = loop {
                            match chars.next().unwrap() {
                                c if c.is_ascii_digit() => number.push(c),
                                c => break c,
                            }
                        };
                        self.command(command, number.parse().ok());
                    }
                    c => self.put(c),
                }
            }
        }

        /// Like most terminals: the cursor stays on the last column until something follows.
        fn put(&mut self, c: char) {
            use unicode_width::UnicodeWidthChar;

            let width = c.width().unwrap_or(0);
            if self.column + width > self.columns {
                self.next_row();
            }
            self.rows[self.row][self.column] = c;
            if width == 2 {
                self.rows[self.row][self.column + 1] = '\0';
            }
            self.column += width;
        }

        fn command(&mut self, command: char, number: Option<usize>) {
            match (command, number) {
                ('A', number) => {
                    self.row = self.row.checked_sub(number.unwrap_or(1)).unwrap();
                }
                ('H', None) => (self.row, self.column) = (0, 0),
                ('J', Some(2)) => {
                    for row in &mut self.rows {
                        row.fill(' ');
                    }
                }
                ('J', None) => {
                    self.rows[self.row][self.column..].fill(' ');
                    self.rows.truncate(self.row + 1);
                }
                ('K', None) => {
                    // On a full row it would take the last character away.
                    let from = self.column.min(self.columns - 1);
                    self.rows[self.row][from..].fill(' ');
                }
                ('m', _) => {}
                other => panic!("{other:?}"),
            }
        }

        fn text(&self) -> Vec<String> {
            let row = |row: &Vec<char>| {
                let text: String = row.iter().filter(|c| **c != '\0').collect();
                text.trim_end().to_owned()
            };
            let mut rows: Vec<_> = self.rows.iter().map(row).collect();
            assert_eq!(rows.pop().unwrap(), "", "the cursor's row");
            rows
        }
    }

    #[test]
    fn each_text_takes_the_place_of_the_last() {
        let mut terminal = Terminal::new(10);
        let mut screen = Screen::default();
        let cases: [(&str, &[&str]); 6] = [
            ("one\ntwo\nthree\n", &["one", "two", "three"]),
            ("1\n", &["1"]),
            ("0123456789\nx\n", &["0123456789", "x"]),
            ("0123456789abc\ny\n", &["0123456789", "abc", "y"]),
            ("012345678日本\nz\n", &["012345678", "日本", "z"]),
            ("\n\u{1b}[1mbold\u{1b}[0m\n", &["", "bold"]),
        ];
        for (text, seen) in cases {
            terminal.write(&screen.redraw(text, 10, 6));
            assert_eq!(terminal.text(), seen);
        }
        terminal.write(&screen.finish("a\nb\nc\nd\ne\nf\ng\n", 10));
        assert_eq!(terminal.text(), ["a", "b", "c", "d", "e", "f", "g"]);
    }

    #[test]
    fn a_text_that_is_too_long_says_so() {
        let mut screen = Screen::default();
        let mut terminal = Terminal::new(20);
        terminal.write(&screen.redraw("a\nb\nc\nd\ne\nf\n", 20, 5));
        assert_eq!(terminal.text(), ["a", "b", "c", "… 3 more lines"]);
        terminal.write(&screen.redraw("a\nb\nc\nd\n", 20, 5));
        assert_eq!(terminal.text(), ["a", "b", "c", "d"]);
        let long = "x".repeat(50);
        terminal.write(&screen.redraw(&format!("a\n{long}\nb\n"), 20, 5));
        assert_eq!(terminal.text(), ["a", "… 2 more lines"]);
    }

    #[test]
    fn a_narrower_terminal_begins_at_its_top() {
        let mut screen = Screen::default();
        assert!(!screen.redraw("one\n", 80, 24).contains("\u{1b}[2J"));
        assert!(screen.redraw("one\n", 60, 24).contains("\u{1b}[2J"));
        assert!(!screen.redraw("one\n", 80, 24).contains("\u{1b}[2J"));
    }

    proptest! {
        /// Whatever stood there, only the new text does.
        #[test]
        fn nothing_is_left_over(
            texts in prop::collection::vec("([a-z日本🚀 ]{0,40}\n){1,5}", 1..5),
            columns in 2usize..30,
        ) {
            let mut terminal = Terminal::new(columns);
            let mut screen = Screen::default();
            for text in &texts {
                terminal.write(&screen.redraw(text, columns, 1000));
            }
            let mut fresh = Terminal::new(columns);
            fresh.write(&Screen::default().redraw(texts.last().unwrap(), columns, 1000));
            prop_assert_eq!(terminal.text(), fresh.text());
        }
    }
}
