//! A call of the program in this process, with streams that remember.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::rc::Rc;

use jiff::Timestamp;
use kubectl_fleet_stage::ui::{Ui, UiEnvironment};

#[derive(Clone, Default)]
struct Stream(Rc<RefCell<Vec<u8>>>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

/// Calls the program with these words, of which the first is its name: exit code, answer, messages.
pub fn call(
    words: impl IntoIterator<Item = OsString>,
    input: Option<&str>,
    environment: UiEnvironment,
    clock: fn() -> Timestamp,
) -> (u8, String, String) {
    let (out, err) = (Stream::default(), Stream::default());
    let input = input.map(|text| Box::new(io::Cursor::new(text.as_bytes().to_vec())) as Box<_>);
    let mut ui = Ui::new(
        Box::new(out.clone()),
        Box::new(err.clone()),
        input,
        environment,
    );
    let exit = kubectl_fleet_stage::run(words, &mut ui, clock);
    (exit.code(), out.text(), err.text())
}
