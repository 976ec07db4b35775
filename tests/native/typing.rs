//! A shell in a terminal, and someone who types and completes there.

use std::fmt::Write as _;
use std::process::Command;

use test_hub::terminal::Terminal;

use crate::setting::{ODD, Setting};

/// So wide that no shell breaks its lines.
const COLUMNS: u16 = 1000;
/// Goes to the beginning of the line, and to its end.
const HOME: &str = "\u{1}";
const END: &str = "\u{5}";

/// Someone at an interactive shell.
pub struct Typist {
    terminal: Terminal,
    /// What puts all candidates in the place of the word.
    all: &'static str,
    lines: usize,
}

impl Typist {
    /// Starts a shell and prepares it with these lines.
    pub fn start(shell: &[&str], setup: &str, all: &'static str) -> Option<Self> {
        let setting = Setting::get()?;
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]);
        setting.equip(&mut command);
        let mut this = Self {
            terminal: Terminal::start(&command, COLUMNS),
            all,
            lines: 0,
        };
        for line in setup.lines() {
            this.terminal.types(&format!("{}\n", line.trim()));
        }
        this.finish("true");
        Some(this)
    }

    /// The words of a line when all candidates stand in the place of its last.
    pub fn all(&mut self, line: &str) -> Vec<String> {
        let key = self.all;
        self.words(&format!("{line}{key}"))
    }

    /// What the candidates of a line are: its words that were not typed.
    pub fn candidates(&mut self, line: &str) -> Vec<String> {
        let whole = line.ends_with(' ');
        let typed = line.split_whitespace().count() - usize::from(!whole);
        self.all(line).split_off(typed)
    }

    /// Checks what is offered to the hub's user in a form of the command; `setup` is what the shell
    /// was told before.
    pub fn completes_live(&mut self, setup: &str, form: &str) {
        for (line, wanted, complete) in LIVE {
            let line = format!("{form} {line}");
            let found = self.candidates(&line);
            assert_candidates(&format!("{setup}: {line}"), &found, wanted, complete);
        }
    }

    /// Checks what becomes of the last word of each line behind a form of the command.
    pub fn completes(&mut self, lines: &[(&str, &str)], form: &str) {
        for (line, wanted) in lines {
            let words = self.tab(&format!("{form} {line}"));
            assert_eq!(words.last().unwrap(), wanted, "{form} {line}: {words:?}");
        }
    }

    /// The words of a line after TAB.
    pub fn tab(&mut self, line: &str) -> Vec<String> {
        self.words(&format!("{line}\t"))
    }

    /// Waits until TAB lists this: candidates with what they mean.
    pub fn lists(&mut self, line: &str, wanted: &str) {
        // The first may only go on to where the candidates differ.
        self.terminal.types(&format!("{line}\t\t\t"));
        self.terminal.until(wanted);
        // Takes the line away, wherever the cursor is.
        self.terminal.types("\u{15}\u{b}");
        self.finish("true");
    }

    /// Types a line and lets the shell take it apart.
    fn words(&mut self, line: &str) -> Vec<String> {
        let mut command = line.to_owned();
        let _ = write!(command, "{HOME}printf 'word:%s;\\n' {END}");
        let shown = self.finish(&command);
        shown
            .lines()
            .filter_map(|line| line.trim_end().strip_prefix("word:")?.strip_suffix(';'))
            .filter(|word| !word.contains('%'))
            .map(str::to_owned)
            .collect()
    }

    /// Types a line and waits until it is done; what was shown meanwhile.
    fn finish(&mut self, line: &str) -> String {
        let before = self.terminal.shown().len();
        self.lines += 1;
        let number = self.lines;
        self.terminal
            .types(&format!("{line}\necho end-$(({number}))-\n"));
        self.terminal.until(&format!("end-{number}-"));
        self.terminal.shown()[before..].to_owned()
    }

    /// Leaves the shell.
    pub fn leave(mut self) {
        self.terminal.types("exit\n");
        self.terminal.end();
    }
}

/// What is typed after the program's name, and what the hub's candidates are; of some, not all.
pub const LIVE: [(&str, &[&str], bool); 12] = [
    (
        "approve ",
        &[
            "checkout-2-before-canary",
            "search-1-before-canary",
            "checkout-2",
            "search-1",
        ],
        true,
    ),
    (
        "approve checkout",
        &["checkout-2-before-canary", "checkout-2"],
        true,
    ),
    ("rollback crp/checkout --to ", &["1", "0"], true),
    (
        "render crp/checkout --snapshot ",
        &["1", "0", "latest", "live"],
        true,
    ),
    ("trace name", &["namespace/checkout"], false),
    (
        "wait checkout-2 --for ",
        &[
            "succeeded",
            "initialized",
            "started",
            "stopped",
            "approval",
            "stage=staging",
            "stage=canary",
            "stage=prod",
            "approval=canary",
        ],
        true,
    ),
    ("approve checkout-2 --stage ", &["canary"], true),
    ("stop -n team-a ", &["web-1"], true),
    ("resume ", &["gateway-1"], true),
    ("explain FS40", &["FS401", "FS402", "FS408"], false),
    ("list --context ", &["hub", "away"], true),
    (
        "diagnose -o ",
        &[
            "text", "json", "yaml", "markdown", "junit", "github", "html",
        ],
        true,
    ),
];

/// The beginning of a request's name, and what becomes of it.
pub const APPROVAL: (&str, &str) = ("approve checkout-2-b", "checkout-2-before-canary");

/// A flag and the beginning of its value in one word, and what becomes of it.
pub const EQUALS: [(&str, &str); 4] = [
    ("diagnose --output=js", "--output=json"),
    ("diagnose -o=js", "-o=json"),
    ("list --context=aw", "--context=away"),
    ("wait checkout-2 --for=stage=can", "--for=stage=canary"),
];

/// Words that are typed in quotes, and what they become.
pub const QUOTED: [(&str, &str); 9] = [
    ("list --context od", ODD),
    ("list --context 'od", ODD),
    ("list --context \"od", ODD),
    ("list --context it", "it's"),
    ("list --context 'it", "it's"),
    ("list --context \"it", "it's"),
    ("list --context 'the o", "the other"),
    ("list --context \"the o", "the other"),
    ("list --context the\\ o", "the other"),
];

/// Whether the candidates are those that are wanted: all of them, in any order, or at least these.
pub fn assert_candidates(what: &str, found: &[String], wanted: &[&str], complete: bool) {
    let missing: Vec<_> = wanted
        .iter()
        .filter(|word| !found.iter().any(|found| found == *word))
        .collect();
    assert!(missing.is_empty(), "{what}: no {missing:?} in {found:?}");
    if complete {
        assert_eq!(found.len(), wanted.len(), "{what}: {found:?}");
    }
}
