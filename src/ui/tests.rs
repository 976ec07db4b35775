use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;

use super::{Color, Ui, UiEnvironment, who_ran};
use crate::error::Error;
use crate::words::{CommandLine, Hint};

#[derive(Clone, Default)]
struct SharedBuffer(Rc<RefCell<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SharedBuffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

/// What writes to such streams, and the streams for answers and for everything else.
fn open(environment: UiEnvironment) -> (Ui, SharedBuffer, SharedBuffer) {
    let (out, err) = (SharedBuffer::default(), SharedBuffer::default());
    let (to_out, to_err) = (Box::new(out.clone()), Box::new(err.clone()));
    let ui = Ui::new(to_out, to_err, None, environment);
    (ui, out, err)
}

struct FailingStream(io::ErrorKind);

impl Write for FailingStream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(self.0.into())
    }
}

#[test]
fn plain_is_what_is_asked_for_and_what_a_poor_terminal_gets() {
    for (variable, value, terminal, plain) in [
        ("FLEET_STAGE_PLAIN", "1", false, true),
        ("FLEET_STAGE_PLAIN", "0", true, false),
        ("TERM", "dumb", true, true),
        ("TERM", "dumb", false, false),
        ("TERM", "xterm", true, false),
    ] {
        let environment = UiEnvironment {
            out_is_terminal: terminal,
            ..UiEnvironment::of_variables(|name| (name == variable).then(|| value.into()))
        };
        assert_eq!(environment.is_plain(), plain, "{variable}={value}");
    }
}

#[test]
fn kubectl_is_known_by_the_path_that_it_passes() {
    let folders = ["/usr/bin", "/opt/bin"].map(PathBuf::from);
    let found = "/opt/bin/kubectl-fleet-stage";
    for (called_as, shell_ran, ran) in [
        // What the shell says, when it is about us.
        (found, "/usr/bin/kubectl", "/usr/bin/kubectl"),
        (found, found, found),
        // A shell that says nothing, and one that repeats what another said.
        (found, "", "kubectl"),
        (found, "/usr/bin/fish", "kubectl"),
        ("kubectl-fleet-stage", "/usr/bin/fish", "/usr/bin/fish"),
        ("kubectl-fleet-stage", "", ""),
        // kubectl would not find it there.
        ("/srv/kubectl-fleet-stage", "/usr/bin/make", "/usr/bin/make"),
        ("bin/kubectl-fleet-stage", "", ""),
    ] {
        let found = who_ran(called_as, shell_ran, &folders);
        assert_eq!(found, ran, "{called_as} {shell_ran}");
    }
}

#[test]
fn empty_variables_count_as_unset() {
    let environment = UiEnvironment::of_variables(|_| Some("".into()));
    assert!(!environment.no_color && !environment.force_color && !environment.dumb);
    let zero = UiEnvironment::of_variables(|_| Some("0".into()));
    assert!(zero.no_color && !zero.force_color);
    assert_eq!(zero.columns, None);
}

#[test]
fn width_is_that_of_columns_then_of_the_terminal_then_80() {
    for (columns, terminal_width, width) in [
        (None, None, 80),
        (None, Some(120), 120),
        (Some(60), Some(120), 60),
        (Some(5), None, 40),
        (Some(100_000), None, 160),
    ] {
        let environment = UiEnvironment {
            columns,
            terminal_width,
            ..UiEnvironment::default()
        };
        assert_eq!(environment.width(), width);
    }
}

#[test]
fn streams_have_their_purpose() {
    let (mut ui, out, err) = open(UiEnvironment {
        called_as: "kubectl-fleet-stage".to_owned(),
        ..UiEnvironment::default()
    });
    ui.answer("the answer\n");
    ui.status("busy");
    ui.warning("odd\u{1b}[2J");
    ui.hint("try `kubectl fleet-stage explain --list`");
    ui.configure(Color::Auto, true, &[]);
    ui.status("not said");
    ui.hint("not said");
    let forged = "no\nhint: rm -rf ~\r\u{2028}error: x";
    let hint = Hint::new("again\nwarning: x:").command(CommandLine::fleet("version"));
    ui.error(&Error::failed(forged).hint(hint));
    assert_eq!(out.text(), "the answer\n");
    assert_eq!(
        err.text(),
        "busy\nwarning: odd\\u{1b}[2J\nhint: try `kubectl-fleet-stage explain --list`\n\
         error: no hint: rm -rf ~ error: x\nhint: again warning: x:\n  \
         kubectl-fleet-stage version\n"
    );
}

#[test]
fn errors_and_hints_are_folded_on_a_terminal_and_commands_are_not() {
    let written = |environment: UiEnvironment| {
        let (mut ui, _, err) = open(environment);
        ui.configure(Color::Never, false, &[]);
        let long = "a-name-that-is-long-".repeat(3);
        let hint = Hint::new("the object exists in the other scope, so say which one is meant:")
            .command(CommandLine::fleet("status").arg(format!("sur/{long}")))
            .text("or list what there is");
        ui.error(&Error::failed("there is no ClusterStagedUpdateRun of that name").hint(&hint));
        ui.hint(hint);
        err.text()
    };
    let folded = written(UiEnvironment {
        err_is_terminal: true,
        err_width: Some(48),
        ..UiEnvironment::default()
    });
    let name = "a-name-that-is-long-".repeat(3);
    let hint = format!(
        "hint: the object exists in the other scope, so\n  say which one is meant:\n  \
         kubectl fleet-stage status sur/{name}\nor list what there is\n"
    );
    let error = "error: there is no ClusterStagedUpdateRun of\n  that name\n";
    assert_eq!(folded, format!("{error}{hint}{hint}"));
    // COLUMNS says a width wherever it is set.
    let asked = written(UiEnvironment {
        columns: Some(48),
        ..UiEnvironment::default()
    });
    assert_eq!(asked, folded);
    // The other stream's terminal is none of theirs.
    let whole = written(UiEnvironment {
        terminal_width: Some(48),
        ..UiEnvironment::default()
    });
    let unfolded = folded.replace("of\n  that", "of that");
    assert_eq!(whole, unfolded.replace("so\n  say", "so say"));
}

#[test]
fn only_commands_begin_lines_of_hints() {
    for width in [None, Some(40)] {
        let (mut ui, _, err) = open(UiEnvironment {
            called_as: "kubectl-fleet-stage".to_owned(),
            err_is_terminal: width.is_some(),
            err_width: width,
            ..UiEnvironment::default()
        });
        ui.configure(Color::Never, false, &[("--context", Some("hub"))]);
        let forged = "did\u{1b} you\nhint: rm\r\n  kubectl fleet-stage delete x";
        let delete = CommandLine::fleet("delete").arg("sur/x").namespace("y");
        let hint = Hint::new(forged)
            .command(delete)
            .text("or see")
            .command(CommandLine::fleet("explain").arg("FS401"));
        ui.hint(hint);
        let text = err.text();
        let is_command = |line: &&str| line.trim_start().starts_with("kubectl");
        let commands: Vec<_> = text.lines().filter(is_command).collect();
        assert_eq!(
            commands,
            [
                "  kubectl-fleet-stage delete sur/x -n y --context hub",
                "  kubectl-fleet-stage explain FS401"
            ],
            "{text}"
        );
        assert_eq!(text.matches("\nhint:").count(), 0, "{text}");
    }
}

#[test]
fn a_closed_pipe_is_quiet_and_a_full_disk_is_not() {
    let (closed, full) = (io::ErrorKind::BrokenPipe, io::ErrorKind::StorageFull);
    for (kind, failed, said) in [
        (closed, false, ""),
        (full, true, "error: the output could not be written"),
    ] {
        let err = SharedBuffer::default();
        let (to_out, to_err) = (Box::new(FailingStream(kind)), Box::new(err.clone()));
        let mut ui = Ui::new(to_out, to_err, None, UiEnvironment::default());
        ui.answer("text");
        ui.answer("more");
        assert_eq!(ui.has_failed(), failed);
        assert!(ui.is_closed());
        assert!(err.text().starts_with(said));
        assert_eq!(err.text().is_empty(), said.is_empty());
    }
}

#[test]
fn one_screen_shows_a_sentence_once() {
    for (is_one_stream, out_is_terminal, err_is_terminal, quiet, shown) in [
        (false, true, true, false, false),
        (true, false, false, false, false),
        (false, true, false, false, true),
        (false, false, true, false, true),
        (false, true, true, true, true),
        (true, false, false, true, true),
    ] {
        let (mut ui, out, _) = open(UiEnvironment {
            out_is_terminal,
            err_is_terminal,
            is_one_stream,
            ..UiEnvironment::default()
        });
        ui.configure(Color::Never, quiet, &[]);
        ui.event("09:00", "Stopped: web-1 is stopped.");
        assert_eq!(ui.was_told("web-1 is stopped."), !quiet);
        assert!(!ui.was_told("is stopped."));
        ui.answer_line("Stopped: web-1 is stopped.");
        assert_eq!(out.text().is_empty(), !shown);
        ui.answer_line("Stopped: web-2 is stopped.");
        assert!(out.text().ends_with("web-2 is stopped.\n"));
    }
}

#[test]
fn an_answer_of_one_line_is_folded_on_a_terminal() {
    for (out_is_terminal, gap) in [(true, "\n  "), (false, " ")] {
        let (mut ui, out, _) = open(UiEnvironment {
            out_is_terminal,
            terminal_width: out_is_terminal.then_some(40),
            ..UiEnvironment::default()
        });
        ui.configure(Color::Never, false, &[]);
        ui.answer_line("Stopped: web-1 is stopped, and nothing is in flight.");
        let expected = format!("Stopped: web-1 is stopped, and nothing{gap}is in flight.\n");
        assert_eq!(out.text(), expected);
    }
}

#[test]
fn a_closed_standard_error_ends_nothing() {
    let out = SharedBuffer::default();
    let closed = FailingStream(io::ErrorKind::BrokenPipe);
    let (to_out, to_err) = (Box::new(out.clone()), Box::new(closed));
    let mut ui = Ui::new(to_out, to_err, None, UiEnvironment::default());
    ui.warning("nobody reads this");
    ui.answer("but this");
    assert_eq!(out.text(), "but this");
}
