//! A flag that selects, given without a value: an unset variable in a script must not select something
//! else.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Error};

/// What may be said with no words.
const FREE: [&str; 1] = ["reason"];

/// Refuses a command line on which an argument has an empty value.
pub fn refuse(command: &Command, matches: &ArgMatches) -> Result<(), Error> {
    if let Some(arg) = command.get_arguments().find(|arg| is_empty(arg, matches)) {
        let name = match (arg.get_long(), arg.get_value_names()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some([name, ..])) => name.to_string(),
            (None, _) => arg.get_id().to_string(),
        };
        return Err(Error::raw(
            ErrorKind::InvalidValue,
            format!("the value of {name} is empty: give one, or leave {name} out\n"),
        ));
    }
    match matches.subcommand() {
        Some((name, matches)) => match command.find_subcommand(name) {
            Some(command) => refuse(command, matches),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

fn is_empty(arg: &Arg, matches: &ArgMatches) -> bool {
    let id = arg.get_id().as_str();
    if FREE.contains(&id) || !arg.get_action().takes_values() {
        return false;
    }
    let Ok(Some(mut values)) = matches.try_get_raw(id) else {
        return false;
    };
    matches.value_source(id) == Some(ValueSource::CommandLine)
        && values.any(|value| value.to_string_lossy().trim().is_empty())
}
