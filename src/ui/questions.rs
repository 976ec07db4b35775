//! Questions at the terminal: one that is answered with yes or no, and lists to choose from.
//!
//! console reads the keys. Keys that were typed before a question are no answer, a signal ends it, and
//! nothing is drawn on a terminal that cannot be drawn over.

use std::io::{self, BufRead};

use console::{Key, Term};

use super::choices::ChoiceList;
use super::{Ui, err_size};
use crate::render::{escape, wrap};

/// The least rows of a terminal in which a list can be drawn.
const LEAST_ROWS: usize = 6;

/// What stands before a candidate: a mark, and a box where several can be chosen.
const MARGIN: usize = 8;

const LONGEST: usize = 8;

/// What stands behind a question.
const CHOICE: &str = " [y/N] ";

/// Who minds the signals while a question is open.
pub trait QuestionSignals: Sized {
    type Error;

    /// Runs something that blocks; a signal ends the waiting.
    fn unless_interrupted<T: Send + 'static>(
        self,
        ask: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Self::Error>;

    /// That a signal came.
    fn interruption() -> Self::Error;
}

impl Ui {
    /// Why nobody can be asked, if so.
    pub const fn why_not_asked(&self) -> Option<&'static str> {
        if !self.environment.in_is_terminal {
            Some("stdin is not a terminal")
        } else if !self.environment.err_is_terminal {
            Some("stderr is not a terminal")
        } else {
            None
        }
    }

    /// Whether someone can choose from a list: at a terminal that can be drawn over, unless
    /// `--quiet`.
    pub fn offers_choices(&self) -> bool {
        self.why_not_asked().is_none() && self.can_draw_questions() && !self.quiet
    }

    /// The columns that a candidate may fill.
    pub fn candidate_width(&self) -> usize {
        let columns = err_size().map_or(80, |(columns, _)| columns);
        let columns = self.environment.columns.unwrap_or(columns).min(columns);
        columns.saturating_sub(MARGIN)
    }

    /// Asks for yes or no; the answer is no unless it is yes. Keys that were typed before are no
    /// answer.
    pub fn confirm<A: QuestionSignals>(
        &mut self,
        question: &str,
        attendant: A,
    ) -> Result<bool, A::Error> {
        self.clear();
        let paint = self.paint_err();
        let question = escape::line(question);
        if !self.can_draw_questions() {
            self.note(&format!("{}{CHOICE}", paint.bold(&question)));
            let line = while_open(attendant, false, || Ok(Some(read_line()?)))?;
            let line = line.unwrap_or_default();
            if !line.ends_with('\n') {
                self.note("\n");
            }
            return Ok(says_yes(&line));
        }
        // What is drawn over is one line.
        let width = (self.candidate_width() + MARGIN).saturating_sub(CHOICE.len());
        let mut lines = String::new();
        wrap::hanging(&mut lines, "", "", &question, width.max(1));
        let lines = lines.trim_end();
        let (before, last) = lines.rsplit_once('\n').unwrap_or(("", lines));
        for line in before.lines() {
            self.note(&format!("{}\n", paint.bold(line)));
        }
        let last = paint.bold(last);
        let answer = while_open(attendant, true, move || ask_yes(&last).map(Some));
        if answer.is_err() {
            self.note("\n");
        }
        Ok(answer? == Some(true))
    }

    /// Lets someone choose of a list; nothing where nothing is chosen.
    pub fn choose<A: QuestionSignals>(
        &self,
        list: ChoiceList,
        attendant: A,
    ) -> Result<Vec<usize>, A::Error> {
        self.clear();
        let paint = self.paint_err();
        let chosen = while_open(attendant, true, move || list.ask(paint).map(Some))?;
        Ok(chosen.unwrap_or_default())
    }

    fn can_draw_questions(&self) -> bool {
        let environment = &self.environment;
        let rows = err_size().map_or(LEAST_ROWS, |(_, rows)| rows);
        !environment.plain && !environment.dumb && rows >= LEAST_ROWS
    }
}

/// Puts a question, in a thread of its own, and leaves the terminal as it was; `draws` says whether
/// the question is drawn, without a cursor.
fn while_open<T: Send + 'static, A: QuestionSignals>(
    attendant: A,
    draws: bool,
    ask: impl FnOnce() -> io::Result<Option<T>> + Send + 'static,
) -> Result<Option<T>, A::Error> {
    let before = TerminalState::of_terminal();
    forget_typed();
    let answer = attendant.unless_interrupted(ask);
    before.restore();
    if draws {
        // Nobody is left to tell when standard error is gone too.
        let _ = Term::stderr().show_cursor();
    }
    match answer? {
        Ok(answer) => Ok(answer),
        // Ctrl-C is read as a key, and raises the signal, which may be noticed later.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(A::interruption()),
        // What cannot be read is no answer: the terminal is gone, say.
        Err(_) => Ok(None),
    }
}

/// Asks until Enter or Escape, and leaves the question with its answer.
fn ask_yes(question: &str) -> io::Result<bool> {
    let term = Term::stderr();
    term.write_str(&format!("{question}{CHOICE}"))?;
    let mut typed = String::new();
    let answer = loop {
        let shown = typed.len();
        match after(typed, &term.read_key()?) {
            TypedKey::Goes(on) => typed = on,
            TypedKey::Ends(typed) => break typed.is_some_and(|typed| says_yes(&typed)),
        }
        let more = typed.get(shown..).unwrap_or_default();
        let less = shown.saturating_sub(typed.len());
        term.write_str(&format!("{}{more}", "\u{8} \u{8}".repeat(less)))?;
    };
    let said = if answer { "yes" } else { "no" };
    term.write_str(&format!("\r\u{1b}[K{question} {said}\n"))?;
    Ok(answer)
}

#[derive(Debug, PartialEq, Eq)]
enum TypedKey {
    Goes(String),
    Ends(Option<String>),
}

/// Only letters are added, and only Backspace takes one back: whoever presses anything else has to
/// say it anew.
fn after(mut typed: String, key: &Key) -> TypedKey {
    match key {
        Key::Enter => TypedKey::Ends(Some(typed)),
        Key::Escape => TypedKey::Ends(None),
        Key::Backspace => {
            typed.pop();
            TypedKey::Goes(typed)
        }
        Key::Char(c) if c.is_ascii_graphic() && typed.len() < LONGEST => {
            typed.push(*c);
            TypedKey::Goes(typed)
        }
        _ => TypedKey::Goes(String::new()),
    }
}

fn read_line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

fn says_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.trim().to_lowercase().as_str())
}

/// Drops what was typed and not read yet. Where that fails, standard input is no terminal.
fn forget_typed() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
    // A Windows console has no such call that is safe.
}

/// A terminal as it was before a question. A signal may come while a key is waited for: the terminal
/// gives single keys then, and shows neither them nor the cursor.
struct TerminalState {
    #[cfg(unix)]
    modes: Option<rustix::termios::Termios>,
}

impl TerminalState {
    fn of_terminal() -> Self {
        Self {
            #[cfg(unix)]
            modes: rustix::termios::tcgetattr(io::stdin()).ok(),
        }
    }

    fn restore(self) {
        #[cfg(unix)]
        if let Some(modes) = self.modes {
            use rustix::termios::{OptionalActions, tcsetattr};
            // The terminal may be gone.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
    }
}

#[cfg(test)]
mod tests {
    use console::Key;

    use super::{TypedKey, after, says_yes};

    #[test]
    fn only_yes_is_yes() {
        for line in ["y\n", "Y\n", "yes\n", " YES \n", "y"] {
            assert!(says_yes(line), "{line:?}");
        }
        for line in ["", "\n", "n\n", "yeah\n", "y es\n", "ja\n"] {
            assert!(!says_yes(line), "{line:?}");
        }
    }

    #[test]
    fn what_was_taken_back_is_no_answer() {
        let back = Key::Backspace;
        let control = |c: char| Key::Char(char::from(c as u8 - b'a' + 1));
        let letter = Key::Char;
        let yes = |keys: &[Key]| {
            let mut typed = String::new();
            for key in keys.iter().chain([&Key::Enter]) {
                match after(typed, key) {
                    TypedKey::Goes(on) => typed = on,
                    TypedKey::Ends(end) => return end.is_some_and(|typed| says_yes(&typed)),
                }
            }
            false
        };
        assert!(yes(&[letter('y')]));
        assert!(yes(&[letter('y'), letter('e'), letter('s')]));
        assert!(yes(&[letter('n'), back.clone(), letter('Y')]));
        for key in [
            back.clone(),
            Key::Del,
            control('h'),
            control('u'),
            control('w'),
            control('d'),
            Key::ArrowLeft,
            Key::Home,
            Key::Unknown,
            Key::Escape,
            letter('n'),
            letter('\u{9b}'),
            letter('\u{301}'),
        ] {
            assert!(!yes(&[letter('y'), key.clone()]), "{key:?}");
        }
        assert!(!yes(&[]));
        assert!(!yes(&[letter('n'), letter('y')]));
        assert!(!yes(&vec![letter('y'); 20]));
    }
}
