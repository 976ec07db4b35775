//! The flags that ask several hubs, and those that lead to one.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error};

/// The flags that ask several hubs.
const SEVERAL: [(&str, &str); 2] = [
    ("hub_contexts", "--contexts"),
    ("all_contexts", "--all-contexts"),
];
/// The flags that lead to one hub, or that only one hub is to be shown. With several, each is asked as
/// its context says.
const ONE: &str = "context cluster user server token tls_server_name insecure_skip_tls_verify";

/// Whether several hubs are asked; fails where a flag beside that leads to one.
pub fn are_asked(matches: &ArgMatches) -> Result<bool, Error> {
    let Some((_, command)) = matches.subcommand() else {
        return Ok(false);
    };
    let is_given = |id: &str| {
        let is_known = command.try_contains_id(id).is_ok();
        is_known && command.value_source(id) == Some(ValueSource::CommandLine)
    };
    let Some((_, several)) = SEVERAL.iter().find(|(id, _)| is_given(id)) else {
        return Ok(false);
    };
    match ONE.split(' ').find(|id| is_given(id)) {
        Some(one) => Err(Error::raw(
            ErrorKind::ArgumentConflict,
            format!(
                "--{} cannot be used with {several}: each hub is asked as its context in the \
                 kubeconfig says\n",
                one.replace('_', "-")
            ),
        )),
        None => Ok(true),
    }
}

pub fn commands(root: &Command) -> Vec<String> {
    let takes = |command: &&Command| {
        let mut arguments = command.get_arguments();
        arguments.any(|arg| arg.get_id().as_str() == SEVERAL[0].0)
    };
    let commands = root.get_subcommands().filter(takes);
    commands.map(|it| it.get_name().to_owned()).collect()
}

/// What is said where a command takes no such flag.
pub fn unknown(error: &Error, commands: &[String]) -> Option<Error> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let word = word.split('=').next().unwrap_or_default();
    let is_ours = SEVERAL.iter().any(|(_, flag)| *flag == word);
    if error.kind() != ErrorKind::UnknownArgument || !is_ours {
        return None;
    }
    let commands = commands.join(", ");
    Some(Error::raw(
        ErrorKind::UnknownArgument,
        format!(
            "this command acts on one hub: use --context instead of {word}\n\n\
             Commands that can ask several hubs: {commands}\n"
        ),
    ))
}
