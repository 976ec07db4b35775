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

use crate::commands::global::Global;
use crate::render::escape;
use crate::render::invocation::Invocation;
use live::{Hint, Words};

/// The variable in which a shell's script says which shell asks.
pub const VARIABLE: &str = "FLEET_STAGE_COMPLETE";
/// How the program is called.
const PROGRAM: &str = "kubectl-fleet-stage";
/// How kubectl calls a plugin that it asks for candidates.
const FOR_KUBECTL: &str = "kubectl_complete-fleet";
/// What kubectl's shell function does with the candidates: offer them, and no files.
const NO_FILES: &str = ":4";
/// The same, where a file may be meant.
const FILES: &str = ":0";

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

/// The script by which a shell asks.
pub fn script(shell: &str) -> Option<String> {
    let shells = Shells::builtins();
    let shell = shells.completer(shell)?;
    let mut script = Vec::new();
    // Not the words `kubectl fleet-stage`: that would take over the completion of kubectl itself.
    shell
        .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .ok()?;
    Some(String::from_utf8_lossy(&script).into_owned())
}

fn for_shell(shell: &dyn EnvCompleter, words: Vec<OsString>) -> String {
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

/// The candidates with what they mean, one a line, then what to do with them.
fn for_kubectl(typed: &[OsString]) -> String {
    let mut words = vec![OsString::from(PROGRAM)];
    words.extend_from_slice(typed);
    if typed.is_empty() {
        words.push(OsString::new());
    }
    let mut command = command(&words);
    let at = words.len() - 1;
    let folder = std::env::current_dir().ok();
    let found = complete(&mut command, words, at, folder.as_deref()).unwrap_or_default();
    let mut text = String::new();
    let mut files = false;
    let flags = typed
        .last()
        .is_some_and(|word| word.to_string_lossy().starts_with('-'));
    for candidate in &found {
        let value = candidate.get_value().to_string_lossy();
        if candidate.is_hide_set() || (value.starts_with('-') && !flags) {
            continue;
        }
        files |= std::path::Path::new(candidate.get_value()).exists();
        let help = candidate.get_help().map(ToString::to_string);
        let help = help.map(|help| escape::line(help.lines().next().unwrap_or_default()));
        text.push_str(&escape::line(&value));
        if let Some(help) = help.filter(|help| !help.is_empty()) {
            text.push('\t');
            text.push_str(&help);
        }
        text.push('\n');
    }
    text.push_str(if files { FILES } else { NO_FILES });
    text.push('\n');
    text
}

/// The command line, with candidates that fit the words typed so far.
fn command(words: &[OsString]) -> clap::Command {
    let plain = super::command(&Invocation::default());
    let typed = typed(&plain, words);
    let flags = words
        .last()
        .is_some_and(|word| word.to_string_lossy().starts_with('-'));
    attach(plain.bin_name(PROGRAM), "", flags, &typed)
}

/// What the words say already: the flags that lead to a hub, and what is asked about.
fn typed(command: &clap::Command, words: &[OsString]) -> Words {
    let matches = command
        .clone()
        .ignore_errors(true)
        .try_get_matches_from(words);
    let Ok(matches) = matches else {
        return Words::default();
    };
    let mut inmost = &matches;
    let mut global = Global::from_arg_matches(inmost).unwrap_or_default();
    while let Some((_, sub)) = inmost.subcommand() {
        inmost = sub;
        if let Ok(inner) = Global::from_arg_matches(inmost) {
            global = inner;
        }
    }
    let value = |ids: &[&str]| ids.iter().find_map(|id| word(inmost, id));
    Words {
        global,
        target: value(&["target", "run", "from"]),
        placement: value(&["placement"]),
    }
}

/// The value of an argument, where it is a word and was given.
fn word(matches: &ArgMatches, id: &str) -> Option<String> {
    let mut raw = matches.try_get_raw(id).ok().flatten()?;
    raw.next().map(|word| word.to_string_lossy().into_owned())
}

/// Gives every argument that names something its candidates. As with kubectl, flags are offered to
/// who has typed a dash: hidden, they come only where nothing else does.
fn attach(command: clap::Command, path: &str, flags: bool, typed: &Words) -> clap::Command {
    let names: Vec<_> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    let command = command.mut_args(|argument| {
        let argument = if flags || argument.is_positional() {
            argument
        } else {
            argument.hide(true)
        };
        match live::hint(path, argument.get_id().as_str()) {
            Some(hint) => argument.add(completer(hint, typed.clone())),
            None => argument,
        }
    });
    names.into_iter().fold(command, |command, name| {
        let inner = format!("{path} {name}").trim_start().to_owned();
        command.mut_subcommand(name, |sub| attach(sub, &inner, flags, typed))
    })
}

fn completer(hint: Hint, typed: Words) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| -> Vec<CompletionCandidate> {
        let Some(current) = current.to_str() else {
            return Vec::new();
        };
        live::candidates(hint, &typed, current)
    })
}

#[cfg(test)]
mod tests;
