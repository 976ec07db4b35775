//! What is wrong with a command line, said as every other error: a sentence, then what to run.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Error;
use crate::kubefleet::Kind;
use crate::words::{CommandLine, FleetVerb, Hint, enumerate};

/// The error as every other; `command` is what the words were read by.
pub fn explain_refusal(error: &clap::Error, args: &[OsString], command: &Command) -> Error {
    let words: Vec<_> = args.iter().skip(1).map(|it| it.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    {
        let refused = Error::usage(format!("{word:?} is not a command"));
        return refused.hint(meant(error, word, &words, command));
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(one_line).filter(|it| {
        !it.is_empty() && !it.starts_with("Usage: ") && !it.starts_with("For more information")
    });
    let message = paragraphs.next().unwrap_or_default();
    let refused = Error::usage(message.trim_start_matches("error: "));
    let tips = paragraphs.map(|it| it.trim_start_matches("tip: ").to_owned());
    // Nobody who types a flag means a value.
    let tips = tips
        .filter(|it| !it.contains("as a value, use '-- "))
        .map(Hint::new);
    let tips = tips.chain(flag_of_others(error, command));
    let verbs = verbs(&words, command);
    let see = Hint::new("see its flags:").command(help_of(&verbs));
    let hints = tips.chain(missing(error, &verbs, &words)).chain([see]);
    hints.fold(refused, Error::also)
}

/// Which commands take a flag that this one does not.
fn flag_of_others(error: &clap::Error, command: &Command) -> Option<Hint> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let flag = given.strip_prefix("--")?;
    let takes = |it: &&Command| {
        let mut flags = it.get_arguments().filter(|it| !it.is_global_set());
        !it.is_hide_set() && flags.any(|it| it.get_long() == Some(flag))
    };
    let others: Vec<_> = command.get_subcommands().filter(takes).collect();
    let names = enumerate(others.iter().take(4).map(|it| it.get_name()));
    (!others.is_empty()).then(|| Hint::new(format!("'{given}' is a flag of {names}")))
}

/// What lists that which has to be named.
const LISTED_BY: [(&str, &str, &str); 3] = [
    ("REQUEST", "list the approval gates:", "approvals"),
    ("RUN", "list the update runs:", "list"),
    ("STRATEGY", "list the update strategies:", "strategies"),
];

/// Where to find what was not named; of a run, how to create one.
fn missing(error: &clap::Error, verbs: &[&str], words: &[&str]) -> Vec<Hint> {
    let (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return Vec::new();
    };
    let mut typed = words
        .iter()
        .skip_while(|it| !["-n", "--namespace"].contains(*it));
    let namespace = typed.nth(1).copied().unwrap_or_default();
    let has = |name: &str| missing.iter().any(|it| it.contains(name));
    let listed = LISTED_BY.iter().find(|(name, ..)| has(name));
    let listed = listed.map(|(_, lead, verb)| {
        Hint::new(*lead).command(CommandLine::fleet(verb).namespace(namespace))
    });
    let new = CommandLine::fleet("run").namespace(namespace);
    let new = new.flag("--placement", "PLACEMENT");
    let new =
        Hint::new("or create and start a new one:").command(new.flag("--strategy", "STRATEGY"));
    let new = (verbs == ["run"] && has("RUN")).then_some(new);
    listed.into_iter().chain(new).collect()
}

/// The lines of a paragraph as one, with a list behind its colon.
fn one_line(paragraph: &str) -> String {
    let lines: Vec<_> = paragraph.lines().map(str::trim).collect();
    match lines.split_first() {
        Some((first, rest)) if !rest.is_empty() && first.ends_with(':') => {
            format!("{first} {}", rest.join(", "))
        }
        _ => lines.join(" "),
    }
}

fn verbs<'w>(words: &[&'w str], command: &Command) -> Vec<&'w str> {
    let mut at = command;
    let mut verbs = Vec::new();
    for word in words {
        if let Some(sub) = at.find_subcommand(word) {
            verbs.push(*word);
            at = sub;
        }
    }
    verbs
}

fn help_of(verbs: &[&str]) -> CommandLine {
    let verbs = verbs
        .iter()
        .fold(CommandLine::fleet(""), |line, verb| line.switch(verb));
    verbs.switch("--help")
}

/// The command that was probably meant, with the other words where it takes them.
fn meant(error: &clap::Error, word: &str, words: &[&str], command: &Command) -> Hint {
    let near = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(near)) => near.first().map(String::as_str),
        Some(ContextValue::String(near)) => Some(near.as_str()),
        _ => None,
    };
    let Some(verb) = FleetVerb::meant_by(word).or(near) else {
        return Hint::new("see all commands:").command(help_of(&[]));
    };
    let mut is_said = false;
    let typed = words.iter().fold(CommandLine::fleet(""), |line, typed| {
        if *typed == word && !is_said {
            is_said = true;
            verb.split(' ').fold(line, CommandLine::switch)
        } else if Kind::from_word(typed).is_some() || ["run", "runs"].contains(typed) {
            line
        } else if typed.starts_with('-') {
            line.switch(typed)
        } else {
            line.arg(*typed)
        }
    });
    let argv = typed.argv();
    let own = std::iter::once("x").chain(argv.iter().skip(2).map(String::as_str));
    let is_whole = command.clone().try_get_matches_from(own).is_ok();
    let first = verb.split(' ').next().unwrap_or(verb);
    let see = if is_whole { typed } else { help_of(&[first]) };
    Hint::new("did you mean:").command(see)
}
