//! The commands that write, on a hub: what they do, what they refuse, and what they say of it.

mod answers;
mod approve;
mod budget;
mod choose;
mod content;
mod desk;
mod drawn;
mod faults;
mod guards;
mod interrupt;
mod launch;
mod life;
mod races;
mod rollback;
mod steer;

pub use desk::interrupt;

use serde_json::Value;
use test_hub::terminal::Terminal;

use crate::harness::{Did, flat};
use crate::scene::{AFTER, ALL, BEFORE, Scene, condition, gated, one_gate, play};

impl Scene {
    /// A run as it is on the hub.
    fn seen_run(&self, name: &str) -> Option<Value> {
        self.hub.read(&self.run_path(name))
    }

    /// A request as it is on the hub.
    fn seen_request(&self, name: &str) -> Option<Value> {
        self.hub.read(&self.request_path(name))
    }

    /// A request as it is once it exists.
    fn asked(&self, name: &str) -> Value {
        self.until(&self.request_path(name), "there", |_| true)
    }

    /// A run that waits before its second stage, and has no other gate; its request.
    fn at_gate(&self) -> String {
        self.set(&one_gate(), &ALL);
        self.run(&self.name, "Run");
        self.until_gate()
    }

    /// Waits until the run waits before its second stage; its request.
    fn until_gate(&self) -> String {
        self.until_waiting(&self.name);
        let request = format!("{}-before-canary", self.name);
        self.asked(&request);
        request
    }
}

/// Waits until a command has asked so many times.
fn until_asked(terminal: &Terminal, times: usize) {
    terminal.until_shown("[y/N] ", times);
}
