//! What is chosen at a terminal when a command line leaves it out, and what becomes of the terminal.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use test_hub::terminal::{CONTROL_C, Terminal, has_terminals};

/// Three runs on one placement: the newest waits, the others have succeeded.
const RUNS: &str = "tests/lists/payments.yaml";
const DOWN: &str = "\u{1b}[B";
const UP: &str = "\u{1b}[A";
const ESCAPE: &str = "\u{1b}";
const ENTER: &str = "\r";
/// What makes the cursor visible again.
const CURSOR: &str = "\u{1b}[?25h";

fn program(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
    command
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .env("NO_COLOR", "1");
    command
}

/// A list that was shown, of so many columns.
fn list(words: &[&str], columns: u16) -> Terminal {
    let terminal = Terminal::start(&program(words), columns);
    terminal.until("Choose ");
    terminal.until("> ");
    terminal
}

/// Checks how a command ended, and that it left the terminal as it was.
fn ended(terminal: Terminal, code: i32, says: &str) -> String {
    let (found, shown) = terminal.end();
    assert_eq!(found, code, "{shown}");
    assert!(shown.contains(says), "no {says:?}:\n{shown}");
    assert!(shown.contains(CURSOR), "{shown}");
    assert!(!shown.contains("panicked"), "{shown}");
    shown
}

#[test]
fn a_run_is_chosen_with_the_arrows_or_by_typing() {
    if !has_terminals() {
        return;
    }
    let status = ["status", "-f", RUNS];
    for (keys, chosen) in [
        (&[ENTER][..], "payments-3"),
        (&[DOWN, ENTER], "payments-2"),
        (&[DOWN, DOWN, ENTER], "payments-1"),
        (&[UP, ENTER], "payments-1"),
        (&["t", "s", "-", "1", ENTER], "payments-1"),
        (&["w", "a", "i", "t", ENTER], "payments-3"),
        // What is taken back is no part of the filter.
        (&["1", "\u{7f}", DOWN, ENTER], "payments-2"),
    ] {
        let mut terminal = list(&status, 80);
        terminal.press(keys);
        let said = format!("kubectl-fleet-stage status {chosen} -f {RUNS}\r\n");
        let code = if chosen == "payments-3" { 4 } else { 0 };
        let shown = ended(terminal, code, &said);
        assert!(shown.contains(&format!("Run {chosen}\r\n")), "{shown}");
    }
}

#[test]
fn other_commands_choose_too() {
    if !has_terminals() {
        return;
    }
    for (verb, chosen, code) in [
        ("diagnose", "payments-3", 4),
        ("history", "payments", 0),
        ("snapshots", "payments", 0),
    ] {
        let mut terminal = list(&[verb, "-f", RUNS], 80);
        terminal.press(&[ENTER]);
        let said = format!("kubectl-fleet-stage {verb} {chosen} -f {RUNS}\r\n");
        ended(terminal, code, &said);
    }
}

/// What a name is needed for beside runs: placements, strategies, and member clusters.
#[test]
fn what_a_command_is_about_is_chosen() {
    if !has_terminals() {
        return;
    }
    let bundle = "examples/cluster/succeeded.yaml";
    let plan = "plan --placement example-placement --strategy example-strategy";
    for (words, lists, said, code) in [
        ("plan", 2, plan, 0),
        ("plan --placement example-placement", 1, plan, 0),
        (
            "plan --strategy example-strategy",
            1,
            "--strategy example-strategy",
            0,
        ),
        ("strategies show", 1, "strategies show example-strategy", 0),
        ("snapshots show", 1, "snapshots show example-placement", 0),
        (
            "trace deployment/none",
            1,
            "trace deployment/none --member member1",
            6,
        ),
    ] {
        let mut words: Vec<_> = words.split(' ').collect();
        words.extend(["-f", bundle]);
        let mut terminal = list(&words, 80);
        for _ in 1..lists {
            terminal.press(&[ENTER]);
            terminal.until("Choose a strategy");
        }
        terminal.press(&[ENTER]);
        let (found, shown) = terminal.end();
        assert!(shown.contains(said), "{words:?}: no {said:?}:\n{shown}");
        assert!([code, 7].contains(&found), "{words:?}: {found}:\n{shown}");
    }
}

#[test]
fn the_columns_have_titles_and_escape_leaves_nothing_of_the_question() {
    if !has_terminals() {
        return;
    }
    let mut terminal = list(&["status", "-f", RUNS], 80);
    let shown = terminal.shown();
    let titles = "  NAME        VERDICT             DONE  AGE  STAGE   PLACEMENT\r\n";
    assert!(shown.contains(titles), "{shown}");
    terminal.press(&[ESCAPE]);
    let shown = ended(terminal, 1, "nothing chosen");
    // Five lines were drawn: all of them are erased.
    let erased = "\r\u{1b}[5A\u{1b}[J";
    let (_, left) = shown.rsplit_once(erased).expect("the list is erased");
    assert!(
        !left.contains("payments") && !left.contains("Choose"),
        "{left:?}"
    );
}

#[test]
fn nothing_is_chosen_with_escape() {
    if !has_terminals() {
        return;
    }
    for keys in [&[ESCAPE][..], &["zzz", ENTER, ESCAPE]] {
        let mut terminal = list(&["diagnose", "-f", RUNS], 80);
        terminal.press(keys);
        let shown = ended(terminal, 1, "error: nothing chosen\r\n");
        assert!(!shown.contains("diagnose payments"), "{shown}");
    }
}

#[test]
fn an_interrupt_leaves_the_terminal_as_it_was() {
    if !has_terminals() {
        return;
    }
    for signal in [
        None,
        Some(Signal::INT),
        Some(Signal::TERM),
        Some(Signal::HUP),
    ] {
        let mut terminal = list(&["status", "-f", RUNS], 80);
        assert!(!terminal.reads_lines());
        match signal {
            None => terminal.types(CONTROL_C),
            Some(signal) => {
                let process = i32::try_from(terminal.id()).ok().and_then(Pid::from_raw);
                kill_process(process.unwrap(), signal).unwrap();
            }
        }
        terminal.until_ended();
        assert!(terminal.reads_lines(), "{signal:?}");
        ended(terminal, 130, "error: interrupted: nothing chosen\r\n");
    }
}

#[test]
fn every_row_fits_into_a_narrow_terminal() {
    if !has_terminals() {
        return;
    }
    for columns in [60, 40] {
        let mut terminal = list(&["status", "-f", RUNS], columns);
        terminal.press(&[ESCAPE]);
        let shown = ended(terminal, 1, "nothing chosen");
        let rows: Vec<_> = shown
            .split("\r\n")
            .filter(|line| line.contains("payments") || line.contains("Choose"))
            .collect();
        assert_eq!(rows.len(), 4, "{shown}");
        for row in rows {
            let row = row.rsplit("\u{1b}[?25l").next().unwrap();
            assert!(row.chars().count() <= usize::from(columns), "{row:?}");
        }
    }
}

#[test]
fn where_nothing_can_be_drawn_or_nobody_asked_the_name_is_required() {
    if !has_terminals() {
        return;
    }
    let required = "the following required arguments were not provided";
    for (variable, value) in [("TERM", "dumb"), ("FLEET_STAGE_PLAIN", "1")] {
        for (verb, says) in [
            (
                "status",
                "status needs the name of an update run or placement",
            ),
            ("history", required),
        ] {
            let mut command = program(&[verb, "-f", RUNS]);
            command.env(variable, value);
            let (code, shown) = Terminal::start(&command, 80).end();
            assert_eq!(code, 2, "{shown}");
            assert!(shown.contains(says), "{shown}");
            assert!(!shown.contains('\u{1b}'), "{shown}");
        }
    }
    let quiet = Terminal::start(&program(&["history", "-q", "-f", RUNS]), 80);
    assert_eq!(quiet.end().0, 2);
    for verb in [
        "approve", "delete", "history", "resume", "retry", "rollback", "stop",
    ] {
        let output = program(&[verb]).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{verb}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(required), "{verb}: {said}");
    }
}

#[test]
fn what_else_is_missing_is_still_said() {
    if !has_terminals() {
        return;
    }
    // No list has what to wait for.
    for words in [&["wait"][..], &["stop", "--all"]] {
        let (code, shown) = Terminal::start(&program(words), 80).end();
        assert_eq!(code, 2, "{shown}");
        let required = "required arguments were not provided";
        assert!(shown.contains(required), "{words:?}: {shown}");
    }
}
