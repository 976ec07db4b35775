//! A command that is under way behind a proxy, while something happens on the hub.

use std::path::PathBuf;
use std::process::Command;

use http::Method;
use test_hub::terminal::Terminal;
use test_hub::{Fault, FaultProxy, Rule, Seen, waiting};

use super::Did;
use crate::scene::Scene;

/// A scene, and a proxy of its own in front of its hub.
pub struct Desk<'s> {
    pub scene: &'s Scene,
    pub proxy: FaultProxy,
}

/// A command that is under way.
pub struct Running {
    command: String,
    running: test_hub::Running,
}

impl<'s> Desk<'s> {
    /// With a proxy that changes nothing yet.
    pub fn at(scene: &'s Scene) -> Self {
        let proxy = scene.proxy();
        Self { scene, proxy }
    }

    /// The program and its arguments.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
        self.complete(&mut command, words);
        command
    }

    /// Starts a command in a terminal of its own.
    pub fn terminal(&self, words: &[&str]) -> Terminal {
        Terminal::start(&self.command(words), 80)
    }

    /// Adds the arguments and the environment.
    fn complete(&self, command: &mut Command, words: &[&str]) {
        let kubeconfig: PathBuf = self.proxy.kubeconfig();
        command.args(words).arg("--kubeconfig").arg(kubeconfig);
        if self.scene.namespaced {
            command.args(["-n", &self.scene.namespace]);
        }
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    }

    /// Starts a command, where nobody can be asked.
    pub fn start(&self, words: &[&str]) -> Running {
        Running {
            command: words.join(" "),
            running: test_hub::Running::of(&mut self.command(words)),
        }
    }

    /// Runs a command to its end.
    pub fn does(&self, words: &[&str]) -> Did {
        self.start(words).end()
    }

    /// Runs a command of which one request is held, does something meanwhile, and lets it go on.
    pub fn does_while(&self, words: &[&str], held: Rule, meanwhile: impl FnOnce()) -> Did {
        self.proxy.clear().unwrap();
        self.proxy.rules(vec![held]);
        let running = self.start(words);
        self.until_held();
        meanwhile();
        self.proxy.release();
        running.end()
    }

    /// Waits until a request is held.
    pub fn until_held(&self) {
        self.until("a request is held", |seen| seen.held);
    }

    /// Waits until such a request came by.
    pub fn until(&self, what: &str, is: impl Fn(&Seen) -> bool) {
        let seen = || self.proxy.requests().iter().any(&is);
        waiting::until_so(|| what.to_owned(), seen);
    }

    /// The writes that came by, whatever became of them.
    pub fn writes(&self) -> Vec<Seen> {
        let mut writes = self.proxy.requests();
        writes.retain(is_write);
        writes
    }

    /// The writes of which the server heard.
    pub fn arrived(&self) -> Vec<Seen> {
        let mut writes = self.writes();
        writes.retain(|seen| {
            matches!(
                seen.fault,
                None | Some(
                    Fault::ResetAfter
                        | Fault::Hold
                        | Fault::HoldAnswer
                        | Fault::Delay(_)
                        | Fault::Cut { .. }
                )
            )
        });
        writes
    }
}

/// Whether a request changes something. A question about permissions is a POST.
pub fn is_write(seen: &Seen) -> bool {
    let question = seen.target.contains("/selfsubject");
    seen.method != Method::GET && !question
}

impl Running {
    /// Its process.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Waits until it has done all that it can do by itself.
    pub fn until_idle(&self) {
        self.running.until_idle();
    }

    /// How it ends.
    pub fn end(self) -> Did {
        Did {
            command: self.command,
            ran: self.running.end(),
        }
    }
}

/// Interrupts a process, as Ctrl-C does.
pub fn interrupt(process: u32) {
    signal(process, rustix::process::Signal::INT);
}

/// Sends a signal to a process.
pub fn signal(process: u32, signal: rustix::process::Signal) {
    let process = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(process.unwrap(), signal).unwrap();
}
