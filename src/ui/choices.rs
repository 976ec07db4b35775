//! A list on a terminal, of which someone chooses one line or several.

use std::collections::BTreeSet;
use std::io;

use console::{Key, Term};

use crate::render::style::TextPaint;
use crate::render::table::cut_middle;

/// How many lines are seen at once.
const ROWS: usize = 15;
/// The question, the titles, and where the cursor is.
const OTHER_ROWS: usize = 3;

#[derive(Debug, Default)]
pub struct ChoiceList {
    pub prompt: String,
    /// What stands above the lines.
    pub titles: String,
    pub lines: Vec<String>,
    /// The line under the cursor at first.
    pub first: usize,
    pub takes_several: bool,
}

/// A list, and what was typed so far.
struct OpenList {
    list: ChoiceList,
    filter: String,
    /// The place of the cursor among the lines that match.
    at: usize,
    marked: BTreeSet<usize>,
}

impl ChoiceList {
    /// Reads keys until something is chosen, or Escape. Nothing stays on the terminal.
    pub(super) fn ask(self, paint: TextPaint) -> io::Result<Vec<usize>> {
        let term = Term::stderr();
        let mut open = OpenList::new(self);
        let mut drawn = 0;
        term.hide_cursor()?;
        loop {
            let (rows, columns) = term.size();
            let lines = open.drawn(rows.into(), columns.into(), paint);
            term.write_str(&(erased(drawn) + &lines.join("\n") + "\n"))?;
            drawn = lines.len();
            if let Some(chosen) = open.press(&term.read_key()?) {
                term.write_str(&erased(drawn))?;
                return Ok(chosen);
            }
        }
    }
}

/// Goes back to the first of so many lines, and erases what is there.
fn erased(lines: usize) -> String {
    match lines {
        0 => String::new(),
        lines => format!("\r\u{1b}[{lines}A\u{1b}[J"),
    }
}

impl OpenList {
    fn new(list: ChoiceList) -> Self {
        Self {
            at: list.first,
            list,
            filter: String::new(),
            marked: BTreeSet::new(),
        }
    }

    /// The lines that match what was typed: every word of it, in any case.
    fn matching(&self) -> Vec<usize> {
        let filter = self.filter.to_lowercase();
        let lines = self.list.lines.iter().enumerate();
        let matching = lines.filter(|(_, line)| {
            let line = line.to_lowercase();
            filter.split_whitespace().all(|word| line.contains(word))
        });
        matching.map(|(at, _)| at).collect()
    }

    /// Takes in a key: what is chosen with it, where it ends the question; with Escape nothing.
    fn press(&mut self, key: &Key) -> Option<Vec<usize>> {
        let matching = self.matching();
        let under = matching.get(self.at).copied();
        let count = matching.len().max(1);
        match key {
            Key::Escape => return Some(Vec::new()),
            Key::Enter if !self.marked.is_empty() => {
                return Some(self.marked.iter().copied().collect());
            }
            Key::Enter => return under.map(|line| vec![line]),
            Key::ArrowUp => self.at = (self.at + count - 1) % count,
            Key::ArrowDown => self.at = (self.at + 1) % count,
            Key::Char(' ') if self.list.takes_several => {
                if let Some(line) = under.filter(|line| !self.marked.remove(line)) {
                    self.marked.insert(line);
                }
            }
            Key::Char('*') if self.list.takes_several => self.marked.extend(matching),
            Key::Char(c) if !c.is_control() => {
                self.filter.push(*c);
                self.at = 0;
            }
            Key::Backspace => {
                self.filter.pop();
                self.at = 0;
            }
            _ => {}
        }
        None
    }

    fn drawn(&self, rows: usize, columns: usize, paint: TextPaint) -> Vec<String> {
        let width = columns.saturating_sub(1);
        let prompt = cut_middle(&self.list.prompt, width);
        let mut drawn = vec![format!("{} {}|", paint.bold(&prompt), self.filter)];
        let unmarked = if self.list.takes_several { "[ ] " } else { "" };
        let room = width.saturating_sub(unmarked.len() + 2);
        let titles = cut_middle(&self.list.titles, room);
        drawn.push(paint.dim(&format!("  {}{titles}", " ".repeat(unmarked.len()))));
        let visible = rows.saturating_sub(OTHER_ROWS).clamp(1, ROWS);
        let matching = self.matching();
        let page = self.at / visible * visible;
        let shown = matching.iter().enumerate().skip(page).take(visible);
        drawn.extend(shown.map(|(at, line)| {
            let cursor = if at == self.at { "> " } else { "  " };
            let mark = if self.marked.contains(line) {
                "[x] "
            } else {
                unmarked
            };
            let text = self.list.lines.get(*line).map_or("", String::as_str);
            format!("{cursor}{mark}{}", cut_middle(text, room))
        }));
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::{ChoiceList, Key, OpenList};
    use crate::render::style::TextPaint;

    fn open(takes_several: bool) -> OpenList {
        OpenList::new(ChoiceList {
            prompt: "Choose:".to_owned(),
            titles: "NAME     VERDICT".to_owned(),
            lines: ["web-1    Stuck", "web-2    Stopped", "pay-1    Stuck"]
                .map(str::to_owned)
                .into(),
            takes_several,
            ..ChoiceList::default()
        })
    }

    fn chosen(open: &mut OpenList, keys: &[Key]) -> Option<Vec<usize>> {
        keys.iter().find_map(|key| open.press(key))
    }

    fn typed(text: &str) -> Vec<Key> {
        text.chars().map(Key::Char).collect()
    }

    #[test]
    fn enter_takes_the_line_under_the_cursor() {
        for takes_several in [false, true] {
            let mut list = open(takes_several);
            let keys = [Key::ArrowDown, Key::Enter];
            assert_eq!(chosen(&mut list, &keys), Some(vec![1]));
            let keys = [Key::ArrowUp, Key::Enter];
            assert_eq!(chosen(&mut open(takes_several), &keys), Some(vec![2]));
        }
    }

    #[test]
    fn marks_are_kept_while_the_filter_changes() {
        let mut list = open(true);
        let keys = [typed("pay "), vec![Key::Backspace; 3], typed("  *")].concat();
        assert_eq!(chosen(&mut list, &keys), None);
        // The second space took the mark away again, and the star set all.
        assert_eq!(chosen(&mut list, &[Key::Enter]), Some(vec![0, 1, 2]));
        let mut list = open(true);
        let keys = [typed("pay "), vec![Key::Backspace; 3], vec![Key::Enter]].concat();
        assert_eq!(chosen(&mut list, &keys), Some(vec![2]));
    }

    #[test]
    fn letters_filter_everywhere() {
        for takes_several in [false, true] {
            let keys = [typed("a"), vec![Key::Enter]].concat();
            let pay = chosen(&mut open(takes_several), &keys);
            assert_eq!(pay, Some(vec![2]));
            let keys = [typed("STOP"), vec![Key::Enter]].concat();
            let stopped = chosen(&mut open(takes_several), &keys);
            assert_eq!(stopped, Some(vec![1]));
            let keys = [typed("zzz"), vec![Key::Enter, Key::Escape]].concat();
            assert_eq!(chosen(&mut open(takes_several), &keys), Some(Vec::new()));
        }
    }

    #[test]
    fn a_list_fits() {
        let mut list = open(true);
        chosen(&mut list, &[Key::ArrowDown, Key::Char(' ')]);
        assert_eq!(
            list.drawn(24, 80, TextPaint::new(false)),
            [
                "Choose: |",
                "      NAME     VERDICT",
                "  [ ] web-1    Stuck",
                "> [x] web-2    Stopped",
                "  [ ] pay-1    Stuck",
            ]
        );
        let narrow = list.drawn(4, 16, TextPaint::new(false));
        assert_eq!(narrow, ["Choose: |", "      NAME …ICT", "> [x] web-2…ped"]);
    }
}
