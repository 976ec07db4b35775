//! A terminal in which a program runs that asks, completes or draws.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test may fail
#![allow(clippy::missing_panics_doc)]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::waiting;

/// What Ctrl-C types.
pub const CONTROL_C: &str = "\u{3}";

/// The program that gives a process a session and a terminal of its own.
const SETSID: &str = "setsid";

/// A command that runs in a terminal of its own.
pub struct Terminal {
    /// Our end; a terminal is closed when nobody has it.
    end: Option<File>,
    reader: Option<JoinHandle<()>>,
    seen: Arc<Mutex<State>>,
    child: Child,
}

#[derive(Default)]
struct State {
    text: Vec<u8>,
    closing: bool,
}

/// Whether processes can be given terminals here.
pub fn has_terminals() -> bool {
    let has = Command::new(SETSID).arg("--version").output().is_ok();
    if !has {
        eprintln!("skipped: {SETSID} is not installed");
    }
    has
}

impl Terminal {
    /// Starts a command in a terminal of so many columns, with the variables that were set for it
    /// and no others.
    pub fn start(wanted: &Command, columns: u16) -> Self {
        let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&end).unwrap();
        unlockpt(&end).unwrap();
        let name = ptsname(&end, Vec::new()).unwrap();
        let name = std::ffi::OsStr::from_bytes(name.as_bytes());
        let size = Winsize {
            ws_row: 40,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&end, size).unwrap();
        let flags = fcntl_getfl(&end).unwrap();
        fcntl_setfl(&end, flags | OFlags::NONBLOCK).unwrap();
        let end = File::from(end);
        let mut command = Command::new(SETSID);
        command
            .arg("--ctty")
            .arg(wanted.get_program())
            .args(wanted.get_args())
            .env_clear()
            .env("TERM", "xterm")
            .envs(
                wanted
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
        if let Some(folder) = wanted.get_current_dir() {
            command.current_dir(folder);
        }
        let open = || {
            let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
            let mut options = OpenOptions::new();
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
            Stdio::from(options.read(true).write(true).open(name).unwrap())
        };
        let child = command
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        let seen = Arc::<Mutex<State>>::default();
        let reader = listen(end.try_clone().unwrap(), Arc::clone(&seen));
        Self {
            end: Some(end),
            reader: Some(reader),
            seen,
            child,
        }
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What was shown so far.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().text).into_owned()
    }

    /// Waits until this is shown.
    pub fn until(&self, words: &str) {
        self.until_shown(words, 1);
    }

    /// Waits until this is shown so many times.
    pub fn until_shown(&self, words: &str, times: usize) {
        waiting::until_so(
            || format!("{words:?} is not shown:\n{}", self.shown()),
            || self.shown().matches(words).count() >= times,
        );
    }

    /// Waits until everything that was typed has been acted upon.
    pub fn until_idle(&self) {
        waiting::until_idle(self.child.id());
    }

    /// Types something.
    pub fn types(&mut self, text: &str) {
        let end = self.end.as_mut().unwrap();
        end.write_all(text.as_bytes()).unwrap();
    }

    /// Types one key after the other, as a person does: each has the time to be read alone.
    pub fn press(&mut self, keys: &[&str]) {
        for key in keys {
            self.types(key);
            self.until_idle();
        }
    }

    /// Closes the terminal, as a connection does that breaks.
    pub fn close(&mut self) {
        self.seen.lock().unwrap().closing = true;
        self.reader.take().unwrap().join().unwrap();
        drop(self.end.take());
    }

    /// Whether whoever types there gives whole lines and sees them, as a shell left it.
    pub fn reads_lines(&self) -> bool {
        use rustix::termios::{LocalModes, tcgetattr};
        let modes = tcgetattr(self.end.as_ref().unwrap()).unwrap();
        modes
            .local_modes
            .contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Waits until the process has ended.
    pub fn until_ended(&mut self) {
        waiting::until_so(|| "it ends".to_owned(), || self.has_ended());
    }

    /// Whether the process has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// The exit code, and everything that was shown.
    pub fn end(mut self) -> (i32, String) {
        let seen = Arc::clone(&self.seen);
        let status = waiting::ended(&mut self.child, || {
            String::from_utf8_lossy(&seen.lock().unwrap().text).into_owned()
        });
        if let Some(reader) = self.reader.take() {
            // It ends when nobody has the other end any more.
            reader.join().unwrap();
        }
        (status.code().unwrap_or(-1), self.shown())
    }
}

fn listen(mut end: File, seen: Arc<Mutex<State>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            if seen.lock().unwrap().closing {
                return;
            }
            match end.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => seen.lock().unwrap().text.extend(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    waiting::pass(Duration::from_millis(10));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Nobody has the other end any more.
                Err(_) => return,
            }
        }
    })
}
