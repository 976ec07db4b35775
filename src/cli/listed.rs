//! The list of commands: what each is for, and where its arguments are described.

use std::ffi::OsString;

use clap::{Args, Command};

use crate::commands::about::completion::CompletionArgs;
use crate::commands::about::doctor::DoctorArgs;
use crate::commands::about::explain::ExplainArgs;
use crate::commands::about::schema::SchemaArgs;
use crate::commands::about::version::VersionArgs;
use crate::commands::operate::approve::ApproveArgs;
use crate::commands::operate::delete::DeleteArgs;
use crate::commands::operate::init::InitArgs;
use crate::commands::operate::resume::ResumeArgs;
use crate::commands::operate::rollback::RollbackArgs;
use crate::commands::operate::run::RunArgs;
use crate::commands::operate::stop::StopArgs;
use crate::commands::show::approvals::ApprovalsArgs;
use crate::commands::show::collect::CollectArgs;
use crate::commands::show::diagnose::DiagnoseArgs;
use crate::commands::show::history::HistoryArgs;
use crate::commands::show::list::ListArgs;
use crate::commands::show::plan::PlanArgs;
use crate::commands::show::snapshots::SnapshotsArgs;
use crate::commands::show::status::StatusArgs;
use crate::commands::show::strategies::StrategiesArgs;
use crate::commands::show::wait::WaitArgs;

/// A command of the list.
pub struct Listed {
    /// The word that calls it.
    pub name: &'static str,
    /// What it is for, in one line: the first of its own help, which is there only once its arguments
    /// are described.
    pub about: &'static str,
    describe: fn(Command) -> Command,
}

impl Listed {
    const fn new<A: Args>(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            describe: A::augment_args,
        }
    }

    /// The command with its arguments and examples.
    fn described(&self) -> Command {
        (self.describe)(Command::new(self.name))
    }

    /// The command as lists show it.
    fn named(&self) -> Command {
        Command::new(self.name).about(self.about)
    }
}

/// The commands by what they are for.
pub const GROUPS: [(&str, &[Listed]); 4] = [
    (
        "Operate",
        &[
            Listed::new::<PlanArgs>(
                "plan",
                "Preview an update run and every reason to refuse it",
            ),
            Listed::new::<InitArgs>("init", "Create an update run without starting it"),
            Listed::new::<RunArgs>("run", "Start an update run, or create and start a new one"),
            Listed::new::<ApproveArgs>("approve", "Approve a pending gate"),
            Listed::new::<StopArgs>(
                "stop",
                "Stop an update run; clusters in flight finish first",
            ),
            Listed::new::<ResumeArgs>("resume", "Resume a stopped update run"),
            Listed::new::<RollbackArgs>("rollback", "Roll a placement back to an older snapshot"),
            Listed::new::<DeleteArgs>("delete", "Delete update runs and their approval requests"),
            Listed::new::<WaitArgs>("wait", "Wait for a condition on an update run"),
        ],
    ),
    (
        "Inspect",
        &[
            Listed::new::<ListArgs>("list", "List update runs and their status"),
            Listed::new::<StatusArgs>(
                "status",
                "Show a rollout's stages, clusters, gates, and timers",
            ),
            Listed::new::<ApprovalsArgs>("approvals", "List approval gates and who approved them"),
            Listed::new::<StrategiesArgs>(
                "strategies",
                "List update strategies and the runs that use them",
            ),
            Listed::new::<SnapshotsArgs>(
                "snapshots",
                "List, show, or compare the versions of a placement",
            ),
            Listed::new::<HistoryArgs>("history", "Show a placement's rollout history"),
        ],
    ),
    (
        "Explain",
        &[
            Listed::new::<DiagnoseArgs>(
                "diagnose",
                "Explain the state of a rollout and what to do next",
            ),
            Listed::new::<ExplainArgs>("explain", "Explain a finding in detail, offline"),
            Listed::new::<CollectArgs>("collect", "Save everything a diagnosis reads to one file"),
        ],
    ),
    (
        "Tools",
        &[
            Listed::new::<DoctorArgs>(
                "doctor",
                "Check the hub, permissions, controller, and member agents",
            ),
            Listed::new::<SchemaArgs>("schema", "Print the JSON schema of an output"),
            Listed::new::<VersionArgs>("version", "Print the version"),
            Listed::new::<CompletionArgs>("completion", "Print a shell completion script"),
        ],
    ),
];

fn all() -> impl Iterator<Item = &'static Listed> {
    GROUPS.iter().flat_map(|(_, commands)| *commands)
}

/// Adds all commands, with all that is known of them.
pub fn described(root: Command) -> Command {
    root.subcommands(all().map(Listed::described))
}

/// Adds what these words can lead to. A command that begins the line leads to no other; else those
/// that are among the words may be called, and of the others the name is enough.
pub fn called(root: Command, words: &[OsString]) -> Command {
    let is = |word: &OsString, listed: &Listed| word.as_os_str() == listed.name;
    let first = words.get(1);
    if let Some(only) = first.and_then(|first| all().find(|listed| is(first, listed))) {
        return root.subcommand(only.described());
    }
    root.subcommands(all().map(|listed| {
        if words.iter().any(|word| is(word, listed)) {
            listed.described()
        } else {
            listed.named()
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::{all, called, described};
    use crate::cli::{Cli, Command, Root, command, command_of, help};
    use crate::render::invocation::Invocation;
    use clap::{CommandFactory, Subcommand};
    use std::ffi::OsString;

    #[test]
    fn the_list_has_every_command_and_the_first_line_of_its_help() {
        let known = Command::augment_subcommands(clap::Command::new("x"));
        let mut known: Vec<_> = known
            .get_subcommands()
            .map(|sub| {
                (
                    sub.get_name().to_owned(),
                    sub.get_about().unwrap().to_string(),
                )
            })
            .collect();
        let mut listed: Vec<_> = all()
            .map(|listed| (listed.name.to_owned(), listed.about.to_owned()))
            .collect();
        known.sort();
        listed.sort();
        assert_eq!(listed, known);
    }

    #[test]
    fn only_what_may_be_called_is_described() {
        let described_of = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(OsString::from).collect();
            let command = called(Root::command(), &words);
            let subs: Vec<_> = command.get_subcommands().collect();
            let described = subs
                .iter()
                .filter(|sub| sub.get_arguments().next().is_some());
            let names: Vec<_> = described.map(|sub| sub.get_name().to_owned()).collect();
            (subs.len(), names)
        };
        let number = all().count();
        assert_eq!(
            described_of(&["x", "list", "run"]),
            (1, vec!["list".to_owned()])
        );
        assert_eq!(described_of(&["x", "--help"]), (number, vec![]));
        let two = vec!["approve".to_owned(), "list".to_owned()];
        assert_eq!(described_of(&["x", "-n", "approve", "list"]), (number, two));
        assert_eq!(described(Root::command()).get_subcommands().count(), number);
    }

    /// What is left out changes neither what is understood nor what is said of a mistake.
    #[test]
    fn what_is_left_out_is_not_missed() {
        for line in [
            "",
            "--help",
            "-h",
            "--version",
            "help",
            "help plan",
            "help snapshots diff",
            "help nothing",
            "aprove x",
            "lst",
            "nothing",
            "--contxt x list",
            "--stage canary approve x",
            "--context approve",
            "--context run version -o json",
            "-n approve list -o wide",
            "--quiet -v snapshots list crp/x --context list",
            "snapshots",
            "snapshots lst",
            "snapshots --help",
            "approve --stag canary x",
            "approve --help",
            "run x --from",
            "init x",
            "version list",
            "wait x --for stopped -- run",
            "diagnose x -f - --now yesterday",
        ] {
            let words: Vec<_> = std::iter::once("kubectl-fleet-stage")
                .chain(line.split_whitespace())
                .map(OsString::from)
                .collect();
            let invocation = Invocation::default();
            let said = |command: clap::Command| match command.try_get_matches_from(&words) {
                Ok(matches) => format!("{:?}", Cli::of(&matches)),
                Err(error) => error.render().ansi().to_string(),
            };
            assert_eq!(
                said(command_of(&words, &invocation, help::WIDTH)),
                said(command(&invocation)),
                "{line}"
            );
        }
    }
}
