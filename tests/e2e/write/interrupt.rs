//! Questions, answers and interrupts: what was not confirmed is not sent, and whoever interrupts
//! learns what was done.

use http::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use test_hub::terminal::{CONTROL_C, has_terminals};
use test_hub::{Fault, Rule};

use super::desk::{Desk, Running, signal};
use super::{condition, play};
use crate::scene::Scene;

const ESCAPE: &str = "\u{1b}";
/// While single keys are read, the end of the input is a key that says nothing.
const END_OF_INPUT_ENTER: &str = "\u{4}\n";

const SIGNALS: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::HUP];

/// A desk with a run that waits before its second stage; its request.
fn waiting(scene: &Scene) -> (Desk<'_>, String) {
    let desk = Desk::at(scene);
    let request = scene.at_gate();
    (desk, request)
}

fn is_approved(scene: &Scene, request: &str) -> bool {
    !condition(&scene.asked(request), "Approved").is_null()
}

/// How a command ends at its question.
enum Answer {
    Types(&'static str),
    Gets(Signal),
    Loses,
}

#[test]
fn only_yes_is_yes() {
    if !has_terminals() {
        return;
    }
    play("prompt", |scene| {
        let (desk, request) = waiting(scene);
        let name = &scene.name;
        let placement = scene.placement_word();
        let [new, back] = ["new", "back"].map(|word| format!("{name}-{word}"));
        let make = [&["run", &new], &scene.of()[..]].concat();
        // Every command that asks, in the words of its question.
        let commands: [(&[&str], &str); 4] = [
            (&["approve", &request], "Approve "),
            (&["delete", name], "Delete "),
            (&make, "Start "),
            (
                &["rollback", &placement, "--to", "0", "--name", &back],
                "then roll ",
            ),
        ];
        let check = |words: &[&str], question: &str, answer: Answer, codes: &[i32], said: &str| {
            desk.proxy.clear().unwrap();
            let mut terminal = desk.terminal(words);
            terminal.until("[y/N] ");
            assert!(desk.writes().is_empty());
            let mut closed = false;
            match answer {
                Answer::Types(text) => terminal.types(text),
                Answer::Gets(which) => signal(terminal.id(), which),
                Answer::Loses => {
                    terminal.close();
                    closed = true;
                }
            }
            if !closed {
                terminal.until_ended();
                assert!(terminal.reads_lines(), "{words:?}");
            }
            let (code, shown) = terminal.end();
            assert!(
                closed || shown.contains("\u{1b}[?25h"),
                "{words:?}: {shown}"
            );
            assert!(shown.contains(question), "{words:?}: {shown}");
            assert!(codes.contains(&code), "{words:?} ends with {code}: {shown}");
            assert!(closed || shown.contains(said), "{words:?}: {shown}");
            assert!(!shown.contains("panicked"), "{shown}");
            assert!(desk.writes().is_empty(), "{:?}", desk.writes());
        };
        let not_confirmed = "not confirmed: nothing was sent";
        let interrupted = "interrupted: nothing was sent";
        for (words, question) in commands {
            check(words, question, Answer::Types("n\n"), &[1], not_confirmed);
        }
        let (words, question) = commands[0];
        // The last of y and n counts, once Enter confirms it. Escape ends the question.
        for text in [
            "\n",
            "x\n",
            "yn\n",
            "yes no\n",
            ESCAPE,
            "q\n",
            END_OF_INPUT_ENTER,
        ] {
            check(words, question, Answer::Types(text), &[1], not_confirmed);
        }
        check(
            words,
            question,
            Answer::Types(CONTROL_C),
            &[130],
            interrupted,
        );
        for which in SIGNALS {
            check(words, question, Answer::Gets(which), &[130], interrupted);
        }
        // The end of the input and the signal come at once.
        check(words, question, Answer::Loses, &[1, 130], "");
        assert!(!is_approved(scene, &request));
        // What was typed before the question is no answer to it.
        desk.proxy.clear().unwrap();
        let rule = Rule::new("", Fault::Hold).times(1);
        desk.proxy.rules(vec![rule]);
        let mut terminal = desk.terminal(words);
        desk.until_held();
        terminal.types("y\ny\n");
        desk.proxy.release();
        terminal.until("[y/N] ");
        terminal.types("\n");
        let (code, shown) = terminal.end();
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains(not_confirmed), "{shown}");
        assert!(desk.writes().is_empty());
        // And yes is sent.
        desk.proxy.clear().unwrap();
        let mut terminal = desk.terminal(words);
        terminal.until("[y/N] ");
        terminal.types("y\n");
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        assert!(is_approved(scene, &request));
        assert_eq!(desk.arrived().len(), 1);
    });
}

#[test]
fn what_changes_while_someone_thinks_is_not_approved() {
    if !has_terminals() {
        return;
    }
    play("prompt-race", |scene| {
        let (desk, request) = waiting(scene);
        let path = scene.request_path(&request);
        let mut terminal = desk.terminal(&["approve", &request]);
        terminal.until("[y/N] ");
        let uid = scene.asked(&request)["metadata"]["uid"].clone();
        scene.hub.delete(&path);
        scene.until(&path, "made anew", |new| new["metadata"]["uid"] != uid);
        terminal.types("yes\n");
        super::until_asked(&terminal, 2);
        assert!(desk.writes().is_empty());
        terminal.types("no\n");
        let (code, shown) = terminal.end();
        assert_eq!(code, 1, "{shown}");
        assert!(
            super::flat(&shown).contains("was replaced or changed"),
            "{shown}"
        );
        assert!(!is_approved(scene, &request));
    });
}

/// A command of which the server has acted on the write, and that waits for the answer.
fn held(desk: &Desk<'_>, words: &[&str], method: Method) -> Running {
    desk.proxy.clear().unwrap();
    desk.proxy
        .rules(vec![Rule::new("", Fault::HoldAnswer).method(method)]);
    let running = desk.start(words);
    desk.until_held();
    running
}

#[test]
fn before_the_write_nothing_is_sent() {
    play("interrupt-before", |scene| {
        let (desk, request) = waiting(scene);
        for which in SIGNALS {
            for words in [
                ["approve", &request, "--yes"],
                ["stop", &scene.name, "--yes"],
                ["delete", &scene.name, "--yes"],
            ] {
                desk.proxy.clear().unwrap();
                let rule = Rule::new("bindings", Fault::Hold).method(Method::GET);
                desk.proxy.rules(vec![rule]);
                let running = desk.start(&words);
                desk.until_held();
                signal(running.id(), which);
                running
                    .end()
                    .ends(130)
                    .says("interrupted")
                    .says("nothing was sent");
                desk.proxy.release();
                assert!(desk.writes().is_empty(), "{:?}", desk.writes());
            }
        }
        assert!(!is_approved(scene, &request));
    });
}

#[test]
fn a_write_is_waited_for_in_spite_of_an_interrupt() {
    play("interrupt-during", |scene| {
        let (desk, request) = waiting(scene);
        let name = &scene.name;
        let again = |name: &str| {
            let path = scene.run_path(name);
            scene.hub.patch(&path, &json!({"spec": {"state": "Run"}}));
            scene.until_waiting(name);
        };
        for which in SIGNALS {
            let running = held(&desk, &["stop", name], Method::PATCH);
            signal(running.id(), which);
            running.until_idle();
            desk.proxy.release();
            running
                .end()
                .ends(130)
                .says("interrupted: ")
                .says(&format!("{name} was asked to stop"));
            assert_eq!(scene.seen_run(name).unwrap()["spec"]["state"], "Stop");
            assert_eq!(desk.arrived().len(), 1);
            scene.until_run(name, "Progressing", "False", "UpdateRunStopped");
            again(name);
        }
        // Whoever insists is told that it is not known.
        let running = held(&desk, &["stop", name], Method::PATCH);
        for _ in 0..2 {
            signal(running.id(), Signal::INT);
            running.until_idle();
        }
        running
            .end()
            .ends(130)
            .says("the outcome is unknown (would stop")
            .says(&format!("status {name}"));
        desk.proxy.release();
        scene.until_run(name, "Progressing", "False", "UpdateRunStopped");
        assert_eq!(scene.seen_run(name).unwrap()["spec"]["state"], "Stop");
        again(name);
        // The interrupt does not keep it from looking what became of a lost answer.
        let words = ["stop", name, "--request-timeout=4s"];
        let running = held(&desk, &words, Method::PATCH);
        signal(running.id(), Signal::INT);
        running
            .end()
            .ends(130)
            .says("shows that it was done")
            .says(&format!("{name} was asked to stop"));
        desk.proxy.release();
        scene.until_run(name, "Progressing", "False", "UpdateRunStopped");
        again(name);
        // What comes in several steps ends after the first.
        let placement = scene.placement_word();
        let back = format!("{name}-back");
        let line = format!("rollback {placement} --to 0 --active=stop --yes --name {back}");
        let words: Vec<_> = line.split(' ').collect();
        // Each step is checked by the server first.
        desk.proxy.clear().unwrap();
        desk.proxy.rules(vec![
            Rule::new("", Fault::HoldAnswer)
                .method(Method::PATCH)
                .from(2),
        ]);
        let running = desk.start(&words);
        desk.until_held();
        signal(running.id(), Signal::INT);
        running.until_idle();
        desk.proxy.release();
        running
            .end()
            .ends(130)
            .says(&format!("{name} was asked to stop"))
            .says(&format!("{back} was not created"))
            .says(&format!("run {back} --placement"));
        assert!(scene.seen_run(&back).is_none());
        let arrived = desk.arrived();
        let real = arrived
            .iter()
            .filter(|seen| !seen.target.contains("dryRun"));
        assert_eq!(real.count(), 1);
        scene.until_run(name, "Progressing", "False", "UpdateRunStopped");
        again(name);
        // A terminal that is gone has nobody to tell.
        if has_terminals() {
            desk.proxy.clear().unwrap();
            let rule = Rule::new("", Fault::HoldAnswer).method(Method::PATCH);
            desk.proxy.rules(vec![rule]);
            let mut terminal = desk.terminal(&["approve", &request, "--yes"]);
            desk.until_held();
            terminal.close();
            terminal.until_idle();
            desk.proxy.release();
            let (code, shown) = terminal.end();
            assert_eq!(code, 130, "{shown}");
            assert!(is_approved(scene, &request));
            assert_eq!(desk.arrived().len(), 1);
        }
    });
}

#[test]
fn who_does_not_wait_any_longer_learns_what_was_done() {
    play("interrupt-after", |scene| {
        let (desk, _) = waiting(scene);
        let name = &scene.name;
        let path = scene.run_path(name);
        // It goes on to wait for a person: that takes as long as that takes.
        for which in SIGNALS {
            desk.proxy.clear().unwrap();
            let running = desk.start(&["wait", name, "--for=succeeded", "--keep-waiting"]);
            desk.until("a watch", |seen| seen.target.contains("watch="));
            signal(running.id(), which);
            let did = running.end();
            // A command that only reads may be ended by the signal itself.
            assert!([130, -1].contains(&did.ran.code), "{}", did.ran.code);
        }
        // Something keeps the run from going away.
        let hold = |finalizers: Value| {
            scene
                .hub
                .patch(&path, &json!({"metadata": {"finalizers": finalizers}}));
        };
        let own = scene.seen_run(name).unwrap()["metadata"]["finalizers"].clone();
        let mut more = own.as_array().unwrap().clone();
        more.push(json!("test.example/stay"));
        hold(json!(more));
        desk.proxy.clear().unwrap();
        desk.does(&["delete", name, "--yes", "--timeout=2s"])
            .ends(9)
            .says("is still being deleted after 2s");
        for which in SIGNALS {
            desk.proxy.clear().unwrap();
            let running = desk.start(&["delete", name, "--yes"]);
            desk.until("a watch", |seen| seen.target.contains("watch="));
            signal(running.id(), which);
            running.end().ends(130).says("interrupted: ").says(&format!(
                "{name} was deleted; stopped waiting for the deletion to finish"
            ));
        }
        hold(json!([]));
        scene.until_gone(&path, &Value::Null);
    });
}
