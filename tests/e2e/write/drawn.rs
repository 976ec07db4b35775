//! What is drawn on a terminal while a command reads and waits is gone when it ends.

use std::time::Duration;

use http::Method;
use test_hub::screen::Screen;
use test_hub::terminal::{CONTROL_C, Terminal, has_terminals};
use test_hub::{Fault, Rule};

use super::desk::Desk;
use super::play;

/// How a command ended, and what is left on its terminal.
fn left(terminal: Terminal) -> (i32, String) {
    let (code, shown) = terminal.end();
    assert!(!shown.contains("\u{1b}[?25"), "the cursor stays: {shown:?}");
    // The terminal may echo an interrupt only after the command has cleared its lines.
    (code, seen(&shown).replace("^C", ""))
}

/// What is seen of what a terminal was told.
fn seen(shown: &str) -> String {
    let mut screen = Screen::new(80);
    screen.write(shown);
    screen.text().join("\n")
}

#[test]
fn what_is_drawn_goes_away() {
    if !has_terminals() {
        return;
    }
    play("drawn", |scene| {
        let desk = Desk::at(scene);
        let name = &scene.name;
        let request = scene.at_gate();
        let words = ["wait", name, "--for=succeeded", "--keep-waiting"];
        let gate = format!("waits for approval {request}");

        let mut terminal = desk.terminal(&words);
        terminal.until(&gate);
        terminal.types(CONTROL_C);
        let (code, text) = left(terminal);
        assert_eq!(code, 130, "{text}");
        assert!(text.contains("WaitingForApproval: "), "{text}");
        assert!(text.ends_with("continues without this command"), "{text}");
        assert!(!text.contains(&gate), "{text}");

        // What is read is said when it takes a while.
        let slow = Fault::Delay(Duration::from_secs(2));
        desk.proxy
            .rules(vec![Rule::new("bindings", slow).method(Method::GET)]);
        let terminal = desk.terminal(&["status", &scene.own_run()]);
        terminal.until(" reading ");
        let (code, text) = left(terminal);
        assert_eq!(code, 4, "{text}");
        assert!(text.starts_with("WaitingForApproval"), "{text}");
        let mut terminal = desk.terminal(&["status", &scene.own_run()]);
        terminal.until("reading ");
        terminal.types(CONTROL_C);
        let (code, text) = left(terminal);
        // The signal itself ends it.
        assert_eq!((code, text.as_str()), (-1, ""));
        desk.proxy.clear().unwrap();

        let terminal = desk.terminal(&words);
        let piped = desk.start(&words);
        terminal.until(&gate);
        let drawn = seen(&terminal.shown());
        let bar = "\nstaging  [====================]  1/1  done after ";
        assert!(drawn.contains(bar), "{drawn}");
        scene.approve(&request, "True", true);
        let (code, text) = left(terminal);
        assert_eq!(code, 0, "{text}");
        assert!(
            !text.contains(" done after ") && !text.contains("[="),
            "{text}"
        );
        assert_eq!(text.matches("Succeeded: ").count(), 1, "{text}");
        assert!(text.ends_with("condition met: succeeded"), "{text}");
        let did = piped.end();
        did.ends(0).is_silent_of("\u{1b}").is_silent_of("\r");
        did.says("stage canary: done after ");
    });
}
