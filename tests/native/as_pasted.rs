//! What the README and the tour show, pasted word by word on the playground.

use std::path::Path;
use std::process::Command;

use test_hub::Ran;
use test_hub::playground::TO_TRY;
use test_hub::terminal::{Terminal, has_terminals};

use crate::setting::{BINARY, ROOT, Setting, path};

const PAGES: [&str; 2] = ["README.md", "docs/tour.md"];
/// Lines that get there: whoever reads this has been there.
const BEFORE: [&str; 4] = ["git clone ", "cd ", "cargo xtask playground", "make "];
/// Builds the plugin and runs it.
const BUILT: &str = "cargo run --locked --release -- ";
/// What a reader fills in.
const PLACEHOLDER: &str = "=CONTEXT";
/// The codes of a command that was understood and did what it says: the states of a rollout.
const FINE: [i32; 5] = [0, 3, 4, 5, 8];

/// The lines of a page's blocks for a shell.
fn lines(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(ROOT).join(page)).unwrap();
    let blocks = text.split("```sh\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    let lines = blocks.flat_map(|block| block.lines().map(str::to_owned));
    let is_tried = |line: &String| {
        !BEFORE.iter().any(|it| line.starts_with(it)) && !line.contains(PLACEHOLDER)
    };
    lines.filter(is_tried).collect()
}

/// Pastes a line into a terminal and says yes to what is asked.
fn paste(setting: &Setting, line: &str) -> (i32, String) {
    let mut command = Command::new("bash");
    setting.equip(&mut command);
    let line = line.replace(BUILT, &format!("{BINARY} "));
    command.args(["--noprofile", "--norc", "-c", &format!("{line}; exit $?")]);
    // Bundles are written where the reader is, examples are read where the clone is.
    if line.contains(" examples/") {
        command.current_dir(ROOT);
    }
    let mut terminal = Terminal::start(&command, 100);
    if line.starts_with("kubectl fleet-stage approve ") && !line.contains("--yes") {
        terminal.until("[y/N] ");
        terminal.types("y\r");
    }
    terminal.end()
}

fn assert_fine(line: &str, (code, shown): &(i32, String)) {
    let fine = FINE.contains(code) && !shown.contains("error: ");
    assert!(fine, "{line} => {code}:\n{shown}");
}

/// One after the other: they are about the same runs.
#[test]
fn what_the_pages_show_works() {
    let Some(setting) = Setting::own() else {
        return;
    };
    if !has_terminals() {
        return;
    }
    let mut tried = 0;
    for page in PAGES {
        let mut approved = false;
        for line in lines(page) {
            // The README opens the same gate as the tour.
            let opens = line == "kubectl fleet-stage approve checkout-2";
            if opens && page == PAGES[0] {
                continue;
            }
            approved |= opens;
            let pasted = paste(&setting, &line);
            assert_fine(&line, &pasted);
            let (code, shown) = pasted;
            if line.contains(" stop ") || line.contains(" resume ") {
                assert!(approved && code == 0, "{line} => {code}:\n{shown}");
            }
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}

/// What the playground prints, in the environment that it prints.
#[test]
fn what_the_playground_suggests_works() {
    let Some(setting) = Setting::own() else {
        return;
    };
    if !has_terminals() {
        return;
    }
    for (line, _) in TO_TRY {
        let pasted = paste(&setting, line);
        // A run may be through before it is stopped: the machine is slow.
        assert_fine(line, &pasted);
    }
}

/// kubectl and every name are in the folder that goes into the `PATH`.
#[test]
fn the_path_has_all_names() {
    let Some(setting) = Setting::get() else {
        return;
    };
    for name in test_hub::playground::NAMES {
        assert!(setting.bin.join(name).exists(), "{name}");
    }
    let mut command = Command::new("kubectl");
    command
        .env_clear()
        .env("PATH", path(&setting.bin))
        .env("HOME", "/nonexistent")
        .args(["fleet-stage", "version"]);
    let ran = Ran::of(&mut command);
    assert!(ran.out.starts_with("kubectl-fleet-stage "), "{ran:?}");
}
