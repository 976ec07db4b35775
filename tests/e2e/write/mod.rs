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

use serde_json::{Value, json};
use test_hub::terminal::Terminal;

use crate::harness::{MEMBERS, Ran};
use crate::scene::{Scene, both, three_stages};

const ALL: [&str; 3] = [MEMBERS[0].0, MEMBERS[1].0, MEMBERS[2].0];

/// Three stages with an approval at these places.
fn gated(gates: &[(usize, &str)]) -> Vec<Value> {
    let mut stages = three_stages();
    for (place, key) in gates {
        stages[*place][*key] = json!([{"type": "Approval"}]);
    }
    stages
}

const BEFORE: &str = "beforeStageTasks";
const AFTER: &str = "afterStageTasks";

/// Plays a scene in both scopes at once: most of the time is spent with waiting.
fn play(name: &str, scene: impl Fn(&Scene) + Sync) {
    let scenes = both(name);
    std::thread::scope(|scope| {
        for one in &scenes {
            scope.spawn(|| scene(one));
        }
    });
}

/// A command of the plugin on an object of the scene, and how it ended.
struct Did {
    command: String,
    ran: Ran,
}

impl Scene {
    /// Runs a command in the scene's scope: the first word is the command, the rest are its
    /// arguments.
    fn does(&self, words: &[&str]) -> Did {
        let mut arguments = words.to_vec();
        if self.namespaced {
            arguments.extend(["-n", &self.namespace]);
        }
        Did {
            command: arguments.join(" "),
            ran: self.hub.plugin(&arguments),
        }
    }

    /// The flags that name the scene's placement and strategy.
    fn of(&self) -> [&str; 4] {
        ["--placement", &self.name, "--strategy", &self.name]
    }

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
        self.set(&gated(&[(1, BEFORE)]), &ALL);
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

    /// Waits until a run waits for an approval.
    fn until_waiting(&self, name: &str) -> Value {
        self.until_run(name, "Progressing", "False", "UpdateRunWaiting")
    }
}

impl Did {
    /// Checks the exit code.
    fn ends(&self, code: i32) -> &Self {
        let said = format!("{}{}", self.ran.out, self.ran.err);
        assert_eq!(self.ran.code, code, "{}:\n{said}", self.command);
        assert!(!said.contains("panicked"), "{}:\n{said}", self.command);
        self
    }

    /// Checks what the answer says.
    fn answers(&self, words: &str) -> &Self {
        let out = &self.ran.out;
        assert!(
            out.contains(words),
            "{} does not answer {words:?}:\n{out}{}",
            self.command,
            self.ran.err
        );
        self
    }

    /// Checks what is said beside it.
    fn says(&self, words: &str) -> &Self {
        let err = &self.ran.err;
        assert!(
            err.contains(words),
            "{} does not say {words:?}:\n{err}{}",
            self.command,
            self.ran.out
        );
        self
    }

    /// Checks what is not said at all.
    fn is_silent_of(&self, words: &str) -> &Self {
        let said = format!("{}{}", self.ran.out, self.ran.err);
        assert!(!said.contains(words), "{}:\n{said}", self.command);
        self
    }
}

/// Waits until a command has asked so many times.
fn until_asked(terminal: &Terminal, times: usize) {
    terminal.until_shown("[y/N] ", times);
}

/// What a terminal showed, without the line ends that its width made.
fn flat(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The condition of a type.
fn condition<'v>(object: &'v Value, kind: &str) -> &'v Value {
    object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == kind)
        .unwrap_or(&Value::Null)
}
