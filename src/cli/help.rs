//! Help as it is shown: commands by what they are for, and lines that fit.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::Resettable;
use unicode_width::UnicodeWidthStr;

use crate::render::invocation::Invocation;
use crate::render::wrap::hanging;
use crate::words::{CommandLine, FleetVerb, VerbGroup};

/// The columns of a page, and of a terminal that does not say.
pub const WIDTH: usize = 80;

/// clap adds this one to the last group when it parses.
const HELP: (&str, &str) = ("help", "Show help for a command");

/// Puts the commands of the list into groups.
pub fn grouped(command: Command, width: usize) -> Command {
    let style = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let heading = |text: &str| format!("{style}{text}:{style:#}\n");
    let listed = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let commands = listed.map(|sub| {
        let about = sub.get_about().map(ToString::to_string);
        (sub.get_name(), about.unwrap_or_default())
    });
    let commands: Vec<_> = commands.chain([(HELP.0, HELP.1.to_owned())]).collect();
    let longest = commands.iter().map(|(name, _)| name.len()).max();
    let column = longest.unwrap_or_default() + 4;
    let mut list = String::new();
    let mut last = VerbGroup::Hidden;
    for (name, about) in commands {
        let group = FleetVerb::named(name).map_or(last, |verb| verb.group);
        if group != last && group != VerbGroup::Hidden {
            if !list.is_empty() {
                list.push('\n');
            }
            list.push_str(&heading(group.heading()));
            last = group;
        }
        let gap = " ".repeat(column - 2 - name.len());
        let first = format!("  {literal}{name}{literal:#}{gap}");
        hanging(&mut list, &first, &" ".repeat(column), &about, width);
    }
    let options = heading("Options");
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\n{options}{{options}}{{after-help}}"
    ))
}

/// Writes the commands in help texts in the form by which the program was called, and breaks lines
/// that are too wide: commands so that they can be copied, the rows of a table below themselves.
pub fn rewrite(mut command: Command, invocation: &Invocation, width: usize) -> Command {
    if let Some(text) = command.get_after_help() {
        let text = fit(&invocation.prose(&text.to_string()), width);
        command = command.after_help(text);
    }
    if let Some(text) = command.get_long_about() {
        let text = invocation.prose(&text.to_string());
        command = command.long_about(text);
    }
    command.mut_subcommands(|sub| rewrite(sub, invocation, width))
}

/// Where `-h` leaves flags to `--help`.
const LONG_ONLY: [&str; 2] = ["Several hubs", "Member clusters"];
/// How many examples `-h` shows.
const EXAMPLES: usize = 2;
/// How wide a flag of `-h` and its value may be: wider ones would take two lines from each.
const WIDEST: usize = 22;
/// As long as the description of a flag may be without a second sentence.
const SHORT: usize = 50;

/// Help on one screen, as `-h` gives it: what each flag is for, and the first examples. Values,
/// defaults, and the rest are in `--help`.
pub fn brief(command: Command) -> Command {
    with_brief_flags(command).mut_subcommands(|sub| {
        let name = sub.get_name().to_owned();
        brief_verb(sub, &name)
    })
}

fn brief_verb(command: Command, path: &str) -> Command {
    let examples = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let examples = examples.lines().take_while(|line| !line.is_empty());
    let examples: Vec<_> = examples.take(EXAMPLES + 1).map(str::to_owned).collect();
    let all = CommandLine::fleet("")
        .args(path.split(' '))
        .switch("--help");
    let shared = CommandLine::fleet("options");
    let more = format!("All flags: {all}, and {shared}");
    let command = command.after_help(format!("{}\n\n{more}", examples.join("\n")));
    with_brief_flags(command).mut_subcommands(|sub| {
        let inner = format!("{path} {}", sub.get_name());
        brief_verb(sub, &inner)
    })
}

/// Says of each flag only what it is for.
fn with_brief_flags(command: Command) -> Command {
    command.mut_args(|arg| {
        let is_long = arg
            .get_help_heading()
            .is_some_and(|it| LONG_ONLY.contains(&it));
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let value = arg.get_value_names().and_then(|names| names.first());
        let width = arg.get_long().map_or(0, str::len) + value.map_or(0, |it| it.len() + 3);
        let is_wide = width > WIDEST && !arg.is_required_set();
        let is_hidden = is_long || is_wide || arg.is_hide_short_help_set();
        let arg = arg.hide_short_help(is_hidden).help(essence(&help));
        let arg = if arg.get_action().takes_values() {
            arg.hide_possible_values(true).hide_default_value(true)
        } else {
            arg
        };
        if arg.is_positional() {
            arg
        } else {
            arg.help_heading(Resettable::Reset)
        }
    })
}

/// What a flag is for, without its default, exceptions, and where it is long, its details.
fn essence(help: &str) -> String {
    let text = [" [default", ". ", "; "]
        .iter()
        .fold(help, |text, end| text.split(end).next().unwrap_or(text));
    let detail = text.find(": ").into_iter().chain(text.find(", ")).min();
    match detail.filter(|_| text.len() > SHORT && !text.starts_with("With")) {
        Some(at) => text[..at].to_owned(),
        None => text.to_owned(),
    }
}

/// Breaks the lines that are too wide.
fn fit(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut examples = false;
    for line in text.lines() {
        if line.is_empty() || !line.starts_with(' ') {
            examples = line == "Examples:";
        }
        if line.width() <= width {
            out.push_str(line);
            out.push('\n');
        } else if examples {
            copyable(&mut out, line, width);
        } else {
            let start = start_of_text(line);
            let (first, rest) = line.split_at(start);
            hanging(&mut out, first, &" ".repeat(start), rest, width);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Where the text of a line begins: of a row of two columns the second.
fn start_of_text(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let row = line[indent..].find("  ").map(|gap| indent + gap);
    row.map_or(indent, |gap| {
        let rest = &line[gap..];
        gap + rest.len() - rest.trim_start().len()
    })
}

/// Breaks a command as a shell reads it: with a backslash, before a flag or what comes after a pipe,
/// and never within quotes.
fn copyable(out: &mut String, line: &str, width: usize) {
    let mut rest = line.to_owned();
    while rest.width() > width {
        let most = width.saturating_sub(2);
        let indent = rest.len() - rest.trim_start().len();
        let may = |at: &usize| {
            let before = &rest[..*at];
            let quotes = before.matches(['"', '\'']).count();
            *at > indent && quotes.is_multiple_of(2) && before.width() <= most
        };
        let spaces = || rest.match_indices(' ').map(|(at, _)| at).filter(may);
        let good = spaces().rfind(|at| rest[at + 1..].starts_with(['-', '|', '>']));
        let Some(at) = good.or_else(|| spaces().next_back()) else {
            break;
        };
        let _ = writeln!(out, "{} \\", &rest[..at]);
        rest = format!("    {}", &rest[at + 1..]);
    }
    out.push_str(&rest);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::fit;
    use crate::cli::{command_for, command_within};
    use crate::render::invocation::Invocation;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn commands_are_broken_so_that_they_can_be_copied() {
        let text = "Examples:\n  \
             kubectl x approve y --stage canary --reason \"checked the dashboards\"\n  \
             kubectl x version\n\nExit codes:\n  0  all is well, which takes quite some words to say";
        assert_eq!(
            fit(text, 44),
            "Examples:\n  \
             kubectl x approve y --stage canary \\\n    \
             --reason \"checked the dashboards\"\n  \
             kubectl x version\n\nExit codes:\n  \
             0  all is well, which takes quite some\n     words to say"
        );
        let unbreakable = "Examples:\n  a-word-that-is-far-too-wide-to-be-broken-anywhere";
        assert_eq!(fit(unbreakable, 40), unbreakable);
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        fn check(command: &mut clap::Command, path: &str, long: &mut Vec<String>) {
            let help = command.render_help().to_string();
            if help.lines().count() > 40 || help.lines().any(|line| line.width() > 80) {
                long.push(format!("{path}: {} lines\n{help}", help.lines().count()));
            }
            let subs = command.get_subcommands_mut();
            for sub in subs.filter(|it| it.get_name() != "help") {
                let path = format!("{path} {}", sub.get_name());
                check(sub, &path, long);
            }
        }
        let mut root = command_for(&Invocation::default(), 80, true);
        root.build();
        let mut long = Vec::new();
        let verbs = root.get_subcommands_mut();
        for sub in verbs.filter(|it| it.get_name() != "help") {
            let name = sub.get_name().to_owned();
            check(sub, &name, &mut long);
        }
        assert!(long.is_empty(), "{}", long.join("\n"));
    }

    #[test]
    fn no_line_of_help_is_too_wide() {
        fn check(command: &mut clap::Command, width: usize) {
            for text in [command.render_help(), command.render_long_help()] {
                for line in text.to_string().lines() {
                    assert!(line.width() <= width, "{}: {line}", command.get_name());
                }
            }
            for sub in command.get_subcommands_mut() {
                check(sub, width);
            }
        }
        for called_as in ["kubectl-fleet-stage", "kubectl-fleet_stage"] {
            for width in [80, 100] {
                let invocation = Invocation::new(called_as, "", &[]);
                let mut command = command_within(&invocation, width);
                command.build();
                check(&mut command, width);
            }
        }
    }
}
