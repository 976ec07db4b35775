//! What can be seen on a terminal after a program has drawn on it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail
#![allow(clippy::missing_panics_doc)]

use unicode_width::UnicodeWidthChar;

/// A terminal that understands what is written here, and no more.
pub struct Screen {
    rows: Vec<Vec<char>>,
    columns: usize,
    row: usize,
    column: usize,
}

impl Screen {
    /// An empty one of so many columns; it has as many rows as are written.
    pub fn new(columns: usize) -> Self {
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

    /// Does what a text says.
    pub fn write(&mut self, text: &str) {
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
                            ';' => number.clear(),
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
            ('B', number) => {
                self.row += number.unwrap_or(1);
                assert!(self.row < self.rows.len());
            }
            ('J', None) => {
                // A terminal takes what is cleared from its first row on into its history.
                assert!(self.row > 0 || self.column > 0 || self.rows.len() == 1);
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

    /// The rows that can be seen.
    pub fn text(&self) -> Vec<String> {
        let row = |row: &Vec<char>| {
            let text: String = row.iter().filter(|c| **c != '\0').collect();
            text.trim_end().to_owned()
        };
        let mut rows: Vec<_> = self.rows.iter().map(row).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}
