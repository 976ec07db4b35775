//! What the eye gets, and those who have it read to them: color, lines, widths, over all commands.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use test_hub::terminal::{CONTROL_C, Terminal, has_terminals};
use test_hub::{Ran, waiting};
use unicode_width::UnicodeWidthStr;

use crate::setting::{BINARY, ROOT, Setting};

/// Every command that can do without a hub, with something to show; one that fails, one that is
/// wrong, and help.
const LINES: [&str; 25] = [
    "diagnose checkout-1 -f tests/real/C04-before-approval.yaml",
    "diagnose storefront-1 -f tests/real/C21-stuck-workload.yaml -v",
    "status checkout-1 -f tests/real/C04-before-approval.yaml",
    "status storefront-1 -f tests/real/C21-stuck-workload.yaml",
    "status crp/checkout -f tests/real/C04-before-approval.yaml",
    "plan --placement checkout --strategy checkout -f tests/real/C04-before-approval.yaml",
    "list -A -f tests/real/C-rerun-same-content.yaml",
    "approvals -A -f tests/real/C04-before-approval.yaml",
    "strategies -f tests/real/C04-before-approval.yaml",
    "strategies show rings -f tests/real/C04-before-approval.yaml",
    "snapshots checkout -f tests/real/C04-before-approval.yaml",
    "snapshots show checkout latest -f tests/real/C04-before-approval.yaml",
    "history checkout -f tests/real/C04-before-approval.yaml",
    "clusters checkout -f tests/real/C04-before-approval.yaml",
    "render crp/checkout -f tests/real/C04-before-approval.yaml",
    "trace deployment/app -n checkout --member member-1 -f tests/real/C04-before-approval.yaml",
    "wait checkout-1 --for=approval -f tests/real/C04-before-approval.yaml",
    "diagnose --all -A -f tests/real/C-rerun-same-content.yaml",
    "explain FS401",
    "explain --list",
    "version",
    "explain FS99",
    "approve --zzz",
    "--help",
    "approve --help",
];

/// Variables and a flag, and whether there is color where the output goes to a file, and where it
/// goes to a terminal.
type Wish = (
    &'static [(&'static str, &'static str)],
    &'static str,
    bool,
    bool,
);

const WISHES: [Wish; 16] = [
    (&[], "", false, true),
    (&[("NO_COLOR", "1")], "", false, false),
    (&[("NO_COLOR", "")], "", false, true),
    (&[("CLICOLOR_FORCE", "1")], "", true, true),
    (&[("CLICOLOR_FORCE", "0")], "", false, true),
    (&[("CLICOLOR", "0")], "", false, false),
    (&[("CLICOLOR", "1")], "", false, true),
    (
        &[("CLICOLOR", "0"), ("CLICOLOR_FORCE", "1")],
        "",
        true,
        true,
    ),
    (
        &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
        "",
        false,
        false,
    ),
    (&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], "", true, true),
    (
        &[("FLEET_STAGE_PLAIN", "1"), ("CLICOLOR_FORCE", "1")],
        "",
        false,
        false,
    ),
    (&[("TERM", "dumb")], "", false, false),
    (&[("FLEET_STAGE_PLAIN", "1")], "", false, false),
    (&[("NO_COLOR", "1")], "--color=always", true, true),
    (&[("CLICOLOR_FORCE", "1")], "--color=never", false, false),
    (&[("TERM", "dumb")], "--color=auto", false, false),
];

fn command(line: &str, variables: &[(&str, &str)], flag: &str) -> Command {
    let mut command = Command::new(BINARY);
    command.args(line.split_whitespace());
    if !flag.is_empty() {
        command.arg(flag);
    }
    command
        .current_dir(ROOT)
        .env_clear()
        .env("TERM", "xterm")
        .envs(variables.iter().copied());
    command
}

fn piped(line: &str, variables: &[(&str, &str)], flag: &str) -> String {
    let ran = Ran::of(&mut command(line, variables, flag));
    format!("{}{}", ran.out, ran.err)
}

fn on_terminal(line: &str, variables: &[(&str, &str)], flag: &str) -> String {
    on_terminal_of(line, variables, flag, 80)
}

fn on_terminal_of(line: &str, variables: &[(&str, &str)], flag: &str, columns: u16) -> String {
    let terminal = Terminal::start(&command(line, variables, flag), columns);
    let (_, shown) = terminal.end();
    shown.replace("\r\n", "\n")
}

/// Without what colors it.
fn uncoloured(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_once('m').expect("only colours");
        assert!(
            code.chars().all(|c| c.is_ascii_digit() || c == ';'),
            "{piece}"
        );
        out.push_str(rest);
    }
    out
}

#[test]
fn colour_is_for_those_who_want_it() {
    let terminals = has_terminals();
    for line in LINES {
        // What has nothing to paint is not asked for paint.
        let can = piped(line, &[("CLICOLOR_FORCE", "1")], "").contains('\u{1b}');
        for (variables, flag, to_file, to_terminal) in WISHES {
            let what = format!("{variables:?} {line} {flag}");
            assert_eq!(
                piped(line, variables, flag).contains('\u{1b}'),
                to_file && can,
                "{what}"
            );
            if terminals
                && ["status", "approve", "explain"]
                    .iter()
                    .any(|w| line.starts_with(w))
            {
                let shown = on_terminal(line, variables, flag);
                assert_eq!(
                    shown.contains('\u{1b}'),
                    to_terminal && can,
                    "{what}:\n{shown}"
                );
            }
        }
    }
}

/// Who sees no color reads the same.
#[test]
fn colour_carries_no_meaning() {
    let mut coloured = 0;
    for line in LINES {
        let always = piped(line, &[], "--color=always");
        coloured += usize::from(always.contains('\u{1b}'));
        let never = piped(line, &[], "--color=never");
        assert!(!never.contains('\u{1b}'), "{line}");
        assert_eq!(uncoloured(&always), never, "{line}");
    }
    assert!(coloured > 12, "{coloured}");
}

/// The widths of terminals.
const WIDTHS: [u16; 5] = [50, 60, 80, 100, 160];

#[test]
fn lines_fit_the_terminal() {
    for width in WIDTHS {
        for line in LINES {
            // A terminal gets tables that are cut, also where it is only said to be there.
            let shown = piped(line, &[("COLUMNS", &width.to_string())], "");
            assert_fits(line, &shown, width);
            if has_terminals() {
                let shown = on_terminal_of(line, &[], "", width);
                assert_fits(line, &uncoloured(&shown), width);
            }
        }
    }
}

/// What is written beside an answer fits too: previews, warnings, hints.
#[test]
fn lines_about_a_hub_fit_the_terminal() {
    let Some(setting) = Setting::get() else {
        return;
    };
    for line in [
        "list -A",
        "approvals -A",
        "strategies -A",
        "snapshots crp/checkout",
        "snapshots diff crp/checkout 0 1",
        "history crp/checkout",
        "status crp/checkout",
        "diagnose telemetry-1 -v",
        "diagnose orders-1",
        "doctor",
        "plan --placement checkout --strategy checkout --snapshot 0",
        "approve checkout-2 --dry-run=client",
        "approve search-1 --dry-run=client",
        "rollback crp/checkout --active=stop --dry-run=client",
        "stop checkout-2 --dry-run=client",
        "resume gateway-1 --dry-run=client",
        "delete gateway-1 --dry-run=client",
    ] {
        for width in WIDTHS {
            let mut command = setting.line(&format!("kubectl-fleet-stage {line}"));
            let ran = Ran::of(command.env("COLUMNS", width.to_string()));
            assert_ne!(ran.code, 2, "{line}: {ran:?}");
            assert_fits(line, &format!("{}{}", ran.out, ran.err), width);
        }
    }
}

fn assert_fits(what: &str, shown: &str, width: u16) {
    let width = usize::from(width);
    for line in shown.lines() {
        // A command can be copied only as a whole, and a name that stands alone has its length.
        let command = line.trim_start().starts_with("kubectl") || line.starts_with("next: ");
        let word = line.split_whitespace().count() < 2;
        // What would be sent is shown as it is.
        let request = line.contains(" /apis/") || line.trim_start().starts_with('"');
        // The parser does not break its usage.
        let usage = line.starts_with("Usage") && width < 80;
        let fits = line.width() <= width || command || usage || word || request;
        assert!(fits, "{what}: {} of {width} columns: {line}", line.width());
    }
}

/// The words, without what draws a tree.
fn words(text: &str) -> Vec<&str> {
    let drawn = ["|", "|-", "`-"];
    text.split_whitespace()
        .filter(|word| !drawn.contains(word))
        .collect()
}

#[test]
fn plain_text_has_the_same_words_and_no_lines() {
    let mut drawn = 0;
    for line in LINES {
        let columns = ("COLUMNS", "80");
        let usual = piped(line, &[columns], "");
        let plain = piped(line, &[columns, ("FLEET_STAGE_PLAIN", "1")], "");
        drawn += usize::from(usual.contains("`- "));
        for line in plain.lines() {
            let begin = line.trim_start();
            let draws = ["|", "`-", "+-", "--- "]
                .iter()
                .any(|with| begin.starts_with(with));
            assert!(!draws, "{line}");
            // Nothing of Unicode's boxes and blocks either, nor spinners.
            assert!(
                !line.contains(|c| ('\u{2500}'..='\u{28ff}').contains(&c)),
                "{line}"
            );
        }
        assert_eq!(words(&plain), words(&usual), "{line}");
        assert_fits(line, &plain, 80);
    }
    assert!(drawn >= 5, "{drawn}");
    // A pipe is no poor terminal.
    let status = LINES[2];
    assert_eq!(
        piped(status, &[("TERM", "dumb")], ""),
        piped(status, &[], "")
    );
    if has_terminals() {
        let plain = on_terminal(status, &[("FLEET_STAGE_PLAIN", "1")], "");
        assert_eq!(on_terminal(status, &[("TERM", "dumb")], ""), plain);
        assert!(!plain.contains("`- "), "{plain}");
    }
}

/// What is watched is drawn over on a terminal, and written on where it is read aloud.
#[test]
fn plain_text_is_never_drawn_over() {
    let Some(setting) = Setting::get() else {
        return;
    };
    if !has_terminals() {
        return;
    }
    let watch = |variables: &[(&str, &str)], words: &[&str], until: &str| {
        let mut command = Command::new(Path::new(BINARY));
        setting.equip(&mut command);
        command.args(words).envs(variables.iter().copied());
        let mut terminal = Terminal::start(&command, 80);
        terminal.until(until);
        // It looks once more by then.
        waiting::pass(Duration::from_millis(1500));
        terminal.until_idle();
        terminal.types(CONTROL_C);
        terminal.end().1
    };
    for words in [
        &["status", "checkout-2", "--watch"][..],
        &["wait", "checkout-2", "--for=succeeded", "--keep-waiting"],
    ] {
        let usual = watch(&[], words, "canary");
        assert!(usual.contains("\u{1b}["), "{usual}");
        for plain in [("FLEET_STAGE_PLAIN", "1"), ("TERM", "dumb")] {
            let shown = watch(&[plain], words, "canary");
            assert!(!shown.contains('\u{1b}'), "{words:?} {plain:?}: {shown:?}");
            let lines = shown.replace("\r\n", "\n");
            assert!(!lines.contains('\r'), "{words:?} {plain:?}: {shown:?}");
        }
    }
}
