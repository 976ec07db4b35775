//! Completion: what may stand where the cursor is.
//!
//! A shell asks through the script that `completion SHELL` prints, kubectl by running this program
//! under the name `kubectl_complete-fleet_stage`. Both get the same candidates: words of the command
//! line, and names of what the hub has. Whatever fails is silence: a shell has no place for errors.

mod live;

use std::ffi::{OsStr, OsString};

use clap::{ArgMatches, FromArgMatches};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{ArgValueCompleter, complete};
use clap_complete::env::{EnvCompleter, Shells};

use crate::commands::gather::argument::ArgumentKind;
use crate::commands::gather::global::GlobalFlags;
use crate::render::escape;
use crate::render::invocation::Invocation;
use crate::settings;
use live::TypedWords;

/// The variable in which a shell's script says which shell asks.
pub const VARIABLE: &str = "FLEET_STAGE_COMPLETE";
const PROGRAM: &str = "kubectl-fleet-stage";
/// How kubectl calls a plugin that it asks for candidates.
const FOR_KUBECTL: &str = "kubectl_complete-fleet";
/// The shell whose script is our own: clap's gives the program the pieces into which bash takes words
/// such as `stage=canary` apart, and inserts names with spaces as they are.
const BASH: &str = "bash";
const FOR_BASH: &str = include_str!("complete/bash.sh");
/// The shell that gets what kubectl gets.
const FISH: &str = "fish";
/// The shell that may load the script when it first completes, and then wants candidates at once.
const ZSH: &str = "zsh";
const AUTOLOADED: &str = r#"
if [[ "${funcstack[1]}" == _kubectl-fleet-stage ]]; then
    _clap_dynamic_completer_kubectl_fleet_stage "$@"
fi
"#;
/// How a script passes the words: clap's as they are typed, ours without their quotes, of which the
/// last may be open still. What is inserted, both shells quote.
const UNQUOTED: [(&str, &str, &str); 2] = [
    (
        ZSH,
        r#""${words[@]}""#,
        r#""${(@Q)words[1,CURRENT-1]}" "${(Q)${:-${words[CURRENT]}${compstate[quote]}}}""#,
    ),
    (
        FISH,
        "(commandline --current-token)",
        // A word that has not begun is a word too.
        r#"(set -l word (commandline --current-token --tokenize); printf '%s\n' \"\$word\")"#,
    ),
];
/// The variable in which zsh says at which word the cursor is.
const ZSH_INDEX: &str = "_CLAP_COMPLETE_INDEX";
/// What kubectl's shell function does with the candidates, as a sum: put no space after the only one,
const NO_SPACE: u8 = 2;
/// and offer no files.
const NO_FILES: u8 = 4;

/// The answer to a shell or to kubectl, when one of them asks.
pub fn answer(args: &[OsString], shell: Option<&str>) -> Option<String> {
    let called = args.first().map(|name| name.to_string_lossy().into_owned());
    let called = called.unwrap_or_default();
    let name = called.rsplit(['/', '\\']).next().unwrap_or_default();
    if name.starts_with(FOR_KUBECTL) {
        return Some(for_kubectl(args.get(1..).unwrap_or_default()));
    }
    let shell = shell.filter(|shell| !shell.is_empty())?;
    let shells = Shells::builtins();
    let shell = shells.completer(shell)?;
    let words: Vec<_> = args
        .iter()
        .skip_while(|word| *word != "--")
        .skip(1)
        .cloned()
        .collect();
    Some(for_shell(shell, words))
}

pub fn script(shell: &str) -> Option<String> {
    if shell == BASH {
        return Some(
            FOR_BASH
                .replace("VARIABLE", VARIABLE)
                .replace("PROGRAM", PROGRAM),
        );
    }
    let shells = Shells::builtins();
    let completer = shells.completer(shell)?;
    let mut script = Vec::new();
    // Not the words `kubectl fleet-stage`: that would take over the completion of kubectl itself.
    completer
        .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .ok()?;
    let mut script = String::from_utf8_lossy(&script).trim_end().to_owned() + "\n";
    for (of, theirs, ours) in UNQUOTED {
        if shell == of {
            script = script.replace(theirs, ours);
        }
    }
    if shell == ZSH {
        script.push_str(AUTOLOADED);
    }
    Some(script)
}

fn for_shell(shell: &dyn EnvCompleter, mut words: Vec<OsString>) -> String {
    match shell.name() {
        BASH => return lines(&offered(words), |value, _| value),
        FISH => return lines(&offered(words), tabbed),
        ZSH => {
            // What stands after the cursor comes too.
            let at = std::env::var(ZSH_INDEX).ok();
            let at = at.and_then(|at| at.parse::<usize>().ok());
            if let Some(at) = at.filter(|at| *at < words.len()) {
                words.truncate(at + 1);
            }
            let escaped = |text: String| text.replace('\\', r"\\").replace(':', r"\:");
            return lines(&offered(words), |value, help| match help {
                Some(help) => format!("{}:{}", escaped(value), help.replace('\\', r"\\")),
                None => escaped(value),
            });
        }
        _ => {}
    }
    let mut command = command(&words);
    let folder = std::env::current_dir().ok();
    let mut text = Vec::new();
    if shell
        .write_complete(&mut command, words, folder.as_deref(), &mut text)
        .is_err()
    {
        return String::new();
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Candidates and what they mean, one a line.
fn lines(
    offered: &[CompletionCandidate],
    line: impl Fn(String, Option<String>) -> String,
) -> String {
    let lines = offered.iter().map(|candidate| {
        let help = candidate.get_help().map(ToString::to_string);
        let help = help.map(|help| escape::line(help.lines().next().unwrap_or_default()));
        let value = escape::line(&candidate.get_value().to_string_lossy());
        line(value, help.filter(|help| !help.is_empty())) + "\n"
    });
    lines.collect()
}

/// A value, and after a tab what it means.
fn tabbed(value: String, help: Option<String>) -> String {
    match help {
        Some(help) => format!("{value}\t{help}"),
        None => value,
    }
}

/// The candidates with what they mean, one a line, then what to do with them.
fn for_kubectl(typed: &[OsString]) -> String {
    let mut words = vec![OsString::from(PROGRAM)];
    words.extend_from_slice(typed);
    if typed.is_empty() {
        words.push(OsString::new());
    }
    let taken = words.last().and_then(|word| taken_off(word.to_str()?));
    let taken = taken.unwrap_or_default();
    let offered = offered(words);
    let each = |start: &String| {
        let left = offered.iter().filter_map(|candidate| {
            let value = candidate.get_value().to_str()?.strip_prefix(start)?;
            Some(CompletionCandidate::new(value).help(candidate.get_help().cloned()))
        });
        left.collect::<Vec<_>>()
    };
    let offered: Vec<_> = if taken.is_empty() {
        offered
    } else {
        taken.iter().flat_map(each).collect()
    };
    let files = offered
        .iter()
        .any(|candidate| std::path::Path::new(candidate.get_value()).exists());
    // More is to come.
    let open = offered.iter().any(|candidate| {
        let value = candidate.get_value().to_string_lossy();
        value.ends_with(['/', '='])
    });
    let directive = u8::from(!files) * NO_FILES + u8::from(open) * NO_SPACE;
    format!("{}:{directive}\n", lines(&offered, tabbed))
}

/// What kubectl's scripts take off a word `--flag=…` and put before what they get: that of bash ends at
/// the first equals sign, those of zsh and fish at the last.
fn taken_off(word: &str) -> Option<Vec<String>> {
    let (first, last) = (word.find('=')?, word.rfind('=')?);
    let mut ends = vec![first, last];
    ends.dedup();
    let starts = ends.into_iter().filter_map(|end| word.get(..=end));
    let starts = starts.map(str::to_owned).collect();
    word.starts_with('-').then_some(starts)
}

/// What may stand in the place of the last word.
fn offered(words: Vec<OsString>) -> Vec<CompletionCandidate> {
    let Some(at) = words.len().checked_sub(1) else {
        return Vec::new();
    };
    let flags = asks_for_flags(&words);
    let mut command = command(&words);
    let folder = std::env::current_dir().ok();
    let mut found = complete(&mut command, words, at, folder.as_deref()).unwrap_or_default();
    found.retain(|candidate| {
        let is_flag = candidate.get_value().to_string_lossy().starts_with('-');
        !candidate.is_hide_set() && (flags || !is_flag)
    });
    found
}

fn asks_for_flags(words: &[OsString]) -> bool {
    let last = words.last().map(|word| word.to_string_lossy());
    last.is_some_and(|word| word.starts_with('-'))
}

/// The command line, with candidates that fit the words typed so far.
fn command(words: &[OsString]) -> clap::Command {
    let plain = || super::command(&Invocation::default());
    // A file that is of no use is told when the command is called.
    let own = settings::read(&|name| std::env::var_os(name)).ok();
    let with_values = own.and_then(|own| super::defaults::apply(plain(), &own.settings).ok());
    let plain = with_values.unwrap_or_else(plain);
    let typed = typed(&plain, words);
    let flags = asks_for_flags(words);
    let plain = if flags {
        plain
    } else {
        // clap adds these itself, so that they cannot be hidden.
        plain.disable_help_flag(true).disable_version_flag(true)
    };
    attach(plain.bin_name(PROGRAM), flags, &typed)
}

/// What the words say already: the flags that lead to a hub, and what is asked about.
fn typed(command: &clap::Command, words: &[OsString]) -> TypedWords {
    let begin = TypedWords::begin();
    let matches = command
        .clone()
        .ignore_errors(true)
        .try_get_matches_from(words);
    let Ok(matches) = matches else {
        return begin;
    };
    let mut inmost = &matches;
    let mut global = GlobalFlags::from_arg_matches(inmost).unwrap_or_default();
    while let Some((_, sub)) = inmost.subcommand() {
        inmost = sub;
        if let Ok(inner) = GlobalFlags::from_arg_matches(inmost) {
            global = inner;
        }
    }
    let value = |ids: &[&str]| ids.iter().find_map(|id| word(inmost, id));
    TypedWords {
        global,
        target: value(&["target", "targets", "run", "runs", "from"]),
        placement: value(&["placement"]),
        ..begin
    }
}

/// The value of an argument, where it is a word and was given.
fn word(matches: &ArgMatches, id: &str) -> Option<String> {
    let mut raw = matches.try_get_raw(id).ok().flatten()?;
    raw.next().map(|word| word.to_string_lossy().into_owned())
}

/// Gives every argument that names something its candidates. As with kubectl, flags are offered to
/// who has typed a dash: hidden, they come only where nothing else does.
fn attach(command: clap::Command, flags: bool, typed: &TypedWords) -> clap::Command {
    let command = command.mut_args(|argument| {
        let argument = if flags || argument.is_positional() {
            argument
        } else {
            argument.hide(true)
        };
        match argument.get::<ArgumentKind>().copied() {
            Some(kind) => argument.add(completer(kind, typed.clone())),
            None => argument,
        }
    });
    command.mut_subcommands(|sub| attach(sub, flags, typed))
}

fn completer(kind: ArgumentKind, typed: TypedWords) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| -> Vec<CompletionCandidate> {
        let Some(current) = current.to_str() else {
            return Vec::new();
        };
        live::candidates(kind, &typed, current)
    })
}

#[cfg(test)]
mod tests;
