//! Values of flags from the settings file. A flag on the command line wins, and so does a variable.

use clap::builder::ArgAction;
use clap::{Arg, Command};

use crate::settings::{SettingValue, Settings};
use crate::words::closest;

/// Flags of all commands that may have a value there. Whatever else leads to a hub or proves who
/// asks belongs into a kubeconfig, and has variables of its own.
const OF_ALL: [&str; 3] = ["context", "namespace", "request-timeout"];
/// Flags that no file sets: where something is read, and as of when, is said with each call.
const NEVER: [&str; 4] = ["contexts", "filename", "now", "member-context"];
/// What may be set for a command that writes: nothing that decides what is written.
const OF_WRITES: [&str; 4] = ["dry-run", "output", "timeout", "wait"];

/// The command line with these values as the defaults of its flags; or which of them is wrong.
pub fn apply(root: Command, settings: &Settings) -> Result<Command, String> {
    let mut root = root;
    for defaults in &settings.defaults {
        let words: Vec<&str> = match &defaults.command {
            Some(command) => command.split_whitespace().collect(),
            None => Vec::new(),
        };
        for value in &defaults.options {
            root = set(root, &words, &words, value)?;
        }
    }
    Ok(root)
}

/// Sets a flag of the command that the words lead to from here; `path` are all words.
fn set(
    command: Command,
    words: &[&str],
    path: &[&str],
    value: &SettingValue,
) -> Result<Command, String> {
    let Some((first, rest)) = words.split_first() else {
        return set_here(command, path, value);
    };
    let Some(sub) = command.find_subcommand(first).cloned() else {
        let known = command.get_subcommands().map(Command::get_name);
        let near = closest(first, known);
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        return Err(format!("there is no command {:?}{near}", path.join(" ")));
    };
    let sub = set(sub, rest, path, value)?;
    Ok(command.mut_subcommand(first, |_| sub))
}

fn set_here(command: Command, path: &[&str], value: &SettingValue) -> Result<Command, String> {
    let name = value.name.as_str();
    let of = match path {
        [] => "all commands".to_owned(),
        path => path.join(" "),
    };
    let is_own = |arg: &&Arg| arg.get_long() == Some(name);
    let Some(arg) = command.get_arguments().find(is_own) else {
        let known = command.get_arguments().filter_map(Arg::get_long);
        let near = closest(name, known);
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        return Err(format!("{of} has no flag --{name}{near}"));
    };
    let is_write = command
        .get_arguments()
        .any(|arg| arg.get_long() == Some("dry-run"));
    let may = if path.is_empty() {
        OF_ALL.contains(&name)
    } else if is_write {
        OF_WRITES.contains(&name)
    } else {
        !NEVER.contains(&name)
    };
    if !may {
        return Err(format!("--{name} of {of} cannot be set here"));
    }
    if !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        return Err(format!(
            "--{name} of {of} takes no value: the command line could not turn it off"
        ));
    }
    check(arg, value).map_err(|why| format!("--{name} of {of}: {why}"))?;
    let id = arg.get_id().to_string();
    let default = value.default.clone();
    Ok(command.mut_arg(id, |arg| arg.default_value(default)))
}

fn check(arg: &Arg, value: &SettingValue) -> Result<(), String> {
    // Alone, so that nothing else is missing or in conflict.
    let alone = Arg::new("value")
        .long("value")
        .value_parser(arg.get_value_parser().clone());
    let word = format!("--value={}", value.default);
    let tried = Command::new("x")
        .arg(alone)
        .try_get_matches_from(["x", &word]);
    match tried {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default();
            let line = line
                .trim_start_matches("error: ")
                .replace(" for '--value <value>'", "");
            Err(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::apply;
    use crate::cli::command;
    use crate::render::invocation::Invocation;
    use crate::settings::{FlagDefaults, SettingValue, Settings};

    /// What comes of a setting such as `output=wide`, of one command or of all.
    fn apply_to(of: Option<&str>, setting: &str) -> Result<clap::Command, String> {
        let (name, default) = setting.split_once('=').unwrap();
        let mut settings = Settings::default();
        settings.defaults.push(FlagDefaults {
            command: of.map(str::to_owned),
            options: vec![SettingValue {
                name: name.to_owned(),
                default: default.to_owned(),
            }],
        });
        apply(command(&Invocation::default()), &settings)
    }

    #[test]
    fn a_value_is_a_default_and_nothing_more() {
        let output = |words: &[&str]| {
            let command = apply_to(Some("list"), "output=wide").unwrap();
            let words = [&["x", "list"], words].concat();
            let matches = command.try_get_matches_from(words).unwrap();
            let list = matches.subcommand_matches("list").unwrap();
            format!("{:?}", list.get_raw("output").unwrap().collect::<Vec<_>>())
        };
        assert_eq!(output(&[]), "[\"wide\"]");
        assert_eq!(output(&["-o", "json"]), "[\"json\"]");
        let global = apply_to(None, "context=eu").unwrap();
        let matches = global.try_get_matches_from(["x", "list"]).unwrap();
        let list = matches.subcommand_matches("list").unwrap();
        assert_eq!(list.get_one::<String>("context").unwrap(), "eu");
    }

    #[test]
    fn what_cannot_be_set_is_told() {
        for case in [
            "lst: output=wide => there is no command \"lst\"; did you mean list?",
            "list: outptu=wide => list has no flag --outptu; did you mean output?",
            "list: output=wild => --output of list: invalid value 'wild'",
            "list: active=true => --active of list takes no value",
            "snapshots nope: output=x => there is no command \"snapshots nope\"",
        ] {
            let (set, wanted) = case.split_once(" => ").unwrap();
            let (of, setting) = set.split_once(": ").unwrap();
            let why = apply_to(Some(of), setting).unwrap_err();
            assert!(why.starts_with(wanted), "{why}");
        }
        for (command, name) in [
            (Some("list"), "filename"),
            (Some("rollback"), "active"),
            (Some("approve"), "yes"),
            (Some("run"), "allow-older"),
            (None, "token"),
            (None, "kubeconfig"),
        ] {
            let of = command.unwrap_or("all commands");
            let why = apply_to(command, &format!("{name}=x")).unwrap_err();
            assert_eq!(why, format!("--{name} of {of} cannot be set here"));
        }
        assert!(apply_to(Some("snapshots diff"), "output=json").is_ok());
        assert!(apply_to(Some("stop"), "timeout=90s").is_ok());
    }
}
