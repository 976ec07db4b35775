//! What a command line may leave out at a terminal: it is chosen from a list there.
//!
//! Everywhere else these arguments are required, and the help shows them so.

use clap::{Arg, Command};

use crate::commands::gather::argument::ChosenAtTerminal;

/// The command line with what can be chosen left out.
pub fn left_out(command: Command) -> Command {
    let command = command.mut_args(|arg| match arg.get::<ChosenAtTerminal>() {
        Some(_) => optional(&arg),
        None => arg,
    });
    command.mut_subcommands(left_out)
}

/// The same argument, without what requires it and what it requires: neither can be taken back.
fn optional(arg: &Arg) -> Arg {
    let names = arg.get_value_names().unwrap_or_default().iter().cloned();
    let optional = Arg::new(arg.get_id().clone())
        .value_names(names)
        .action(arg.get_action().clone());
    let optional = match arg.get_num_args() {
        Some(range) => optional.num_args(range),
        None => optional,
    };
    match arg.get_long() {
        Some(long) => optional.long(long.to_owned()),
        None => optional,
    }
}

#[cfg(test)]
mod tests {
    use super::left_out;
    use crate::cli::command;
    use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
    use crate::render::invocation::Invocation;

    #[test]
    fn what_is_chosen_may_be_left_out_and_nothing_else() {
        let root = left_out(command(&Invocation::default()));
        let mut chosen = 0;
        for sub in root.get_subcommands() {
            let strict = command(&Invocation::default());
            let strict = strict.find_subcommand(sub.get_name()).unwrap();
            for (arg, own) in sub.get_arguments().zip(strict.get_arguments()) {
                let name = format!("{} {}", sub.get_name(), arg.get_id());
                let is_chosen = own.get::<ChosenAtTerminal>().is_some();
                let required = own.is_required_set() && !is_chosen;
                assert_eq!(arg.is_required_set(), required, "{name}");
                if is_chosen {
                    chosen += 1;
                    assert!(own.get::<ArgumentKind>().is_some(), "{name}");
                }
            }
        }
        assert!(chosen > 12, "{chosen}");
        for words in [&["x", "stop"][..], &["x", "run"], &["x", "stop", "a", "b"]] {
            let matches = root.clone().try_get_matches_from(words);
            assert!(matches.is_ok(), "{words:?}");
        }
    }
}
