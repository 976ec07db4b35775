use std::cell::Cell;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use test_hub::screen::Screen;

use super::{ProgressBars, TerminalSize};

/// A stream that can be read afterwards.
#[derive(Clone, Default)]
struct TestStream(Arc<Mutex<Vec<u8>>>);

impl TestStream {
    /// What was written since the last time.
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock().unwrap())).unwrap()
    }
}

impl Write for TestStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

thread_local! {
    static SIZE: Cell<Option<TerminalSize>> = const { Cell::new(None) };
}

fn on(columns: usize, rows: usize) -> (ProgressBars, TestStream) {
    SIZE.set(Some((columns, rows)));
    let stream = TestStream::default();
    (
        ProgressBars::on(Box::new(stream.clone()), || SIZE.get(), &Arc::default()),
        stream,
    )
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn each_drawing_takes_the_place_of_the_last() {
    let (progress, stream) = on(10, 9);
    let mut terminal = Screen::new(10);
    terminal.write("before\r\n");
    for (text, seen) in [
        ("one\ntwo\nthree", &["one", "two", "three"][..]),
        ("1", &["1"]),
        ("0123456789\nx", &["0123456789", "x"]),
        ("0123456789abc\ny", &["0123456789", "abc", "y"]),
        ("012345678日本\nz", &["012345678", "日本", "z"]),
        ("\u{1b}[1mbold\u{1b}[0m\n\nend", &["bold", "", "end"]),
        ("", &[]),
        ("again", &["again"]),
    ] {
        progress.draw(&lines(text));
        terminal.write(&stream.take());
        assert_eq!(terminal.text(), [&["before"], seen].concat());
    }
    progress.clear();
    terminal.write(&stream.take());
    terminal.write("after\r\n");
    assert_eq!(terminal.text(), ["before", "after"]);
    progress.clear();
    assert_eq!(stream.take(), "");
}

/// The terminal echoes it where the cursor stands.
#[test]
fn what_control_c_echoes_goes_too() {
    let (progress, stream) = on(20, 9);
    let (columns, _) = progress.size().unwrap();
    let mut terminal = Screen::new(20);
    for draw in [
        &(|| progress.draw(&["x".repeat(columns), "y".repeat(columns)])) as &dyn Fn(),
        &|| progress.say(&"reading ".repeat(9)),
    ] {
        draw();
        terminal.write(&stream.take());
        terminal.write("^C");
        progress.clear();
        terminal.write(&stream.take());
        assert_eq!(terminal.text(), [""; 0]);
    }
}

#[test]
fn what_is_read_is_said_unless_lines_are_drawn() {
    let (progress, stream) = on(40, 9);
    let mut terminal = Screen::new(40);
    let mut text = || {
        terminal.write(&stream.take());
        terminal.text()
    };
    progress.say("reading bindings\u{1b}[2J");
    let first = text();
    let end = " reading bindings\\u{1b}[2J";
    assert!(first[0].ends_with(end), "{first:?}");
    progress.say("reading bindings\u{1b}[2J");
    assert_ne!(text(), first, "it moves");
    progress.hush();
    assert_eq!(text(), [""; 0]);
    progress.draw(&lines("canary\nprod"));
    progress.say("reading bindings");
    progress.hush();
    assert_eq!(text(), ["canary", "prod"]);
}

#[test]
fn a_narrower_terminal_has_wrapped_what_stands_there() {
    let (progress, stream) = on(20, 9);
    progress.draw(&lines("0123456789abcdef\nshort\n0123456789ab"));
    stream.take();
    SIZE.set(Some((10, 9)));
    progress.draw(&lines("new"));
    let mut terminal = Screen::new(10);
    terminal.write("before\r\n0123456789abcdef\r\nshort\r\n0123456789ab");
    terminal.write(&stream.take());
    assert_eq!(terminal.text(), ["before", "new"]);
}

#[test]
fn nothing_is_drawn_where_it_could_not_be_taken_away() {
    let hidden = ProgressBars::hidden();
    assert!(!hidden.is_visible() && hidden.size().is_none());
    hidden.say("x");
    hidden.draw(&lines("x"));
    let (progress, stream) = on(5, 1);
    assert_eq!(progress.size(), None);
    progress.say("x");
    assert_eq!(stream.take(), "");
    for columns in [1, 2, 3] {
        SIZE.set(Some((columns, 1)));
        progress.draw(&lines("日本\nx"));
        progress.clear();
    }
}

proptest! {
    /// Whatever stood there, only the new text does.
    #[test]
    fn nothing_is_left_over(
        texts in prop::collection::vec("([a-z日本🚀 ]{0,40}\n){1,5}", 1..5),
        columns in 2usize..30,
    ) {
        let (progress, stream) = on(columns, 1000);
        let mut terminal = Screen::new(columns);
        for text in &texts {
            progress.draw(&lines(text));
            terminal.write(&stream.take());
        }
        let (fresh, stream) = on(columns, 1000);
        fresh.draw(&lines(texts.last().unwrap()));
        let mut other = Screen::new(columns);
        other.write(&stream.take());
        prop_assert_eq!(terminal.text(), other.text());
        progress.clear();
        fresh.clear();
    }
}
