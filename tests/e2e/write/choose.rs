//! What is left out of a command line that writes: it is chosen from a list, and then shown and asked
//! about like a name that was typed.

use test_hub::terminal::{CONTROL_C, Terminal, has_terminals};

use super::desk::Desk;
use super::{ALL, BEFORE, condition, flat, gated, play};

const ENTER: &str = "\r";
const DOWN: &str = "\u{1b}[B";

fn choosing(desk: &Desk<'_>, words: &[&str], prompt: &str) -> Terminal {
    desk.proxy.clear().unwrap();
    let terminal = desk.terminal(words);
    terminal.until(prompt);
    terminal.until("> ");
    terminal
}

#[test]
fn gates_and_runs_are_chosen() {
    if !has_terminals() {
        return;
    }
    play("choose", |scene| {
        // The other scope has what other scenes have there.
        if !scene.namespaced {
            return;
        }
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE), (2, BEFORE)]), &ALL);
        let name = &scene.name;
        scene.run(name, "Run");
        let request = scene.until_gate();

        // One gate is shown, and not chosen silently.
        let mut terminal = choosing(&desk, &["approve"], "Choose what to approve");
        terminal.until(&request);
        terminal.press(&[CONTROL_C]);
        let (code, shown) = terminal.end();
        assert_eq!(code, 130, "{shown}");
        assert!(shown.contains("interrupted: nothing chosen"), "{shown}");
        assert!(desk.writes().is_empty());

        let mut terminal = choosing(&desk, &["approve"], "Choose what to approve");
        terminal.press(&[ENTER]);
        terminal.until("[y/N] ");
        terminal.types("n\n");
        let (code, shown) = terminal.end();
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains("not confirmed: nothing was sent"), "{shown}");
        let said = format!("approve {request}");
        assert!(flat(&shown).contains(&said), "{shown}");

        // After a choice, an interrupt ends a command that reads as it ends one that was named.
        let typed = format!("sur/{name}");
        let ends = [&["status", "--watch", &typed][..], &["status", "--watch"]].map(|words| {
            let mut terminal = desk.terminal(words);
            if words.len() == 2 {
                terminal.until("Choose an update run");
                terminal.until("> ");
                terminal.press(&[ENTER]);
            }
            terminal.until(&request);
            terminal.press(&[CONTROL_C]);
            terminal.until_ended();
            assert!(terminal.reads_lines());
            terminal.end().0
        });
        assert_eq!(ends[0], ends[1]);

        // Several gates: those that are marked.
        let other = format!("{name}-two");
        scene.run_to_gate(&other);
        let second = format!("{other}-before-canary");
        scene.asked(&second);
        let mut terminal = choosing(&desk, &["approve"], "Choose what to approve");
        terminal.press(&["\u{1b}"]);
        let (code, shown) = terminal.end();
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains("nothing chosen"), "{shown}");
        // So are the runs that are waited for.
        let mut terminal = choosing(&desk, &["wait", "--for=approval"], "Choose update runs");
        terminal.press(&["*", ENTER]);
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        let said = format!("wait {other} sur/{name} --for=approval -n ");
        assert!(flat(&shown).contains(&said), "{shown}");
        assert_eq!(
            shown.matches(": condition met: approval").count(),
            2,
            "{shown}"
        );

        let words = ["approve", "--yes", "--allow-older", "--wait=false"];
        let mut terminal = choosing(&desk, &words, "Choose what to approve");
        terminal.press(&[DOWN, " ", ENTER]);
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        assert!(!condition(&scene.asked(&second), "Approved").is_null());

        // A run that can be stopped.
        let words = ["stop", "--wait=false"];
        let mut terminal = choosing(&desk, &words, "Choose an update run");
        terminal.press(&["t", "w", "o", ENTER]);
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        assert!(flat(&shown).contains(&format!("stop {other}")), "{shown}");
        assert_eq!(desk.arrived().len(), 1);
        assert_eq!(scene.seen_run(&other).unwrap()["spec"]["state"], "Stop");

        // What happens while the list is open is seen.
        let words = ["resume", "--wait=false"];
        let mut terminal = choosing(&desk, &words, "Choose an update run");
        let path = scene.run_path(&other);
        let uid = scene.seen_run(&other).unwrap()["metadata"]["uid"].clone();
        scene.hub.delete(&path);
        scene.until_gone(&path, &uid);
        terminal.press(&[ENTER]);
        let (code, shown) = terminal.end();
        assert_ne!(code, 0, "{shown}");
        assert!(flat(&shown).contains("does not exist"), "{shown}");
        assert!(desk.writes().is_empty());
    });
}

#[test]
fn a_placement_a_strategy_and_a_snapshot_are_chosen() {
    if !has_terminals() {
        return;
    }
    play("choose-new", |scene| {
        if !scene.namespaced {
            return;
        }
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let new = format!("{}-new", scene.name);
        let words = ["init", &new, "--wait=false"];
        let mut terminal = choosing(&desk, &words, "Choose a placement");
        terminal.press(&[ENTER]);
        terminal.until("Choose a strategy");
        terminal.press(&[ENTER]);
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        let said = flat(&shown);
        assert!(said.contains(&format!("init {new}")), "{shown}");
        assert!(said.contains("--placement "), "{shown}");
        assert!(said.contains("--strategy "), "{shown}");
        // Its snapshot comes while it is initialized.
        scene.until_run(&new, "Initialized", "True", "");

        let mut terminal = choosing(&desk, &["rollback"], "Choose a placement");
        terminal.press(&[ENTER]);
        terminal.until("Choose the snapshot to roll back to");
        terminal.until("SNAPSHOT");
        terminal.press(&["\u{1b}"]);
        let (code, shown) = terminal.end();
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains("nothing chosen"), "{shown}");
        assert!(desk.writes().is_empty());
    });
}
