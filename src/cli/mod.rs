//! The command line: global flags and the list of commands.

mod chosen;
pub mod complete;
pub mod defaults;
mod empty;
mod help;
pub mod refusal;
mod several;

use std::ffi::OsString;

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args as _, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::about::{completion, doctor, explain, schema, version};
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::session::Session;
use crate::commands::operate::{approve, delete, init, resume, retry, rollback, run, stop};
use crate::commands::show::{
    approvals, clusters, collect, diagnose, history, list, plan, render, snapshots, status,
    strategies, trace, wait,
};
use crate::error::Error;
use crate::exit::Exit;
use crate::render::invocation::Invocation;
use crate::ui::Color;
use crate::words::FleetVerb;

/// Operate and explain KubeFleet staged update runs
///
/// Creates, starts, approves, stops, and follows staged update runs on a hub cluster. When a
/// rollout is blocked, `diagnose` says why and what to do next.
#[derive(Debug, Parser)]
#[command(name = "kubectl-fleet-stage", version, propagate_version = false)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(max_term_width = 100, subcommand_value_name = "COMMAND")]
#[command(after_help = "Examples:\n  \
        kubectl fleet-stage run example-run --placement example-placement --strategy example-strategy\n  \
        kubectl fleet-stage status example-run --watch\n  \
        kubectl fleet-stage approve example-run\n  \
        kubectl fleet-stage rollback example-run\n  \
        kubectl fleet-stage diagnose example-run\n\n\
        Flags of all commands: kubectl fleet-stage options\n\
        Names may be given as TYPE/NAME: csur/x, crp/x, and with -n sur/x, rp/x.")]
struct RootArgs {
    #[command(flatten)]
    _global: GlobalFlags,
}

/// A command line that was understood.
#[derive(Debug)]
pub struct Cli {
    pub global: GlobalFlags,
    pub command: Command,
    /// Whether the command is about a hub.
    pub asks_a_hub: bool,
}

impl Cli {
    /// What the words say, of which the first is the program's name. Where someone can choose from a
    /// list, what is chosen there may be left out.
    pub fn parse(
        words: &[OsString],
        mut command: clap::Command,
        offers_choices: bool,
    ) -> Result<Self, clap::Error> {
        let spare = offers_choices.then(|| command.clone());
        let reads_several = several::commands(&command);
        let error = match command.try_get_matches_from_mut(words) {
            Ok(matches) => {
                empty::refuse(&command, &matches)?;
                return Self::of(&matches);
            }
            Err(error) => several::unknown(&error, &reads_several).unwrap_or(error),
        };
        let Some(spare) = spare.filter(|_| error.kind() == ErrorKind::MissingRequiredArgument)
        else {
            return Err(error);
        };
        let mut spare = chosen::left_out(spare);
        let chosen = spare.try_get_matches_from_mut(words).and_then(|matches| {
            empty::refuse(&spare, &matches)?;
            Self::of(&matches)
        });
        match chosen {
            // With --quiet nothing is offered.
            Ok(cli) if !cli.global.quiet => Ok(cli),
            _ => Err(error),
        }
    }

    fn of(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut global = GlobalFlags::from_arg_matches(matches)?;
        if several::are_asked(matches)? {
            // It is a value of the settings file.
            global.context = None;
        }
        let verb = matches.subcommand_name().and_then(FleetVerb::named);
        Ok(Self {
            global,
            command: Command::from_arg_matches(matches)?,
            asks_a_hub: verb.is_none_or(|verb| verb.asks_a_hub),
        })
    }
}

// In the order of `words::VERBS`.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // a comment here would take the place of the command's own help
pub enum Command {
    Plan(plan::PlanArgs),
    Init(init::InitArgs),
    Run(run::RunArgs),
    Approve(approve::ApproveArgs),
    Stop(stop::StopArgs),
    Resume(resume::ResumeArgs),
    Retry(retry::RetryArgs),
    Rollback(rollback::RollbackArgs),
    Delete(delete::DeleteArgs),
    Wait(wait::WaitArgs),
    List(list::ListArgs),
    Status(status::StatusArgs),
    Approvals(approvals::ApprovalsArgs),
    Strategies(strategies::StrategiesArgs),
    Clusters(clusters::ClustersArgs),
    History(history::HistoryArgs),
    Snapshots(snapshots::SnapshotsArgs),
    Render(render::RenderArgs),
    Trace(trace::TraceArgs),
    Diagnose(diagnose::DiagnoseArgs),
    Explain(explain::ExplainArgs),
    Collect(collect::CollectArgs),
    Doctor(doctor::DoctorArgs),
    Completion(completion::CompletionArgs),
    #[command(hide = true)]
    Schema(schema::SchemaArgs),
    #[command(hide = true)]
    Version(version::VersionArgs),
    /// List the flags that every command understands
    #[command(hide = true, after_help = "Examples:\n  kubectl fleet-stage options")]
    Options,
}

impl Command {
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        match self {
            Self::Plan(args) => plan::run(args, session),
            Self::Diagnose(args) => diagnose::run(args, session),
            Self::Status(args) => status::run(args, session),
            Self::Wait(args) => wait::run(args, session),
            Self::Collect(args) => collect::run(args, session),
            Self::Doctor(args) => doctor::run(args, session),
            Self::List(args) => list::run(args, session),
            Self::Approve(args) => approve::run(args, session),
            Self::Init(args) => init::run(args, session),
            Self::Run(args) => run::run(args, session),
            Self::Retry(args) => retry::run(args, session),
            Self::Rollback(args) => rollback::run(args, session),
            Self::Stop(args) => stop::run(args, session),
            Self::Resume(args) => resume::run(args, session),
            Self::Delete(args) => delete::run(args, session),
            Self::Approvals(args) => approvals::run(args, session),
            Self::Strategies(args) => strategies::run(args, session),
            Self::Snapshots(args) => snapshots::run(args, session),
            Self::History(args) => history::run(args, session),
            Self::Clusters(args) => clusters::run(args, session),
            Self::Render(args) => render::run(args, session),
            Self::Trace(args) => trace::run(args, session),
            Self::Explain(args) => explain::run(args, session.ui),
            Self::Schema(args) => schema::run(args, session.ui),
            Self::Version(args) => version::run(args, session.ui),
            Self::Options => {
                let width = session.ui.width().min(100);
                let text = options(session.ui.invocation(), width);
                session.ui.answer(&text);
                Ok(Exit::Done)
            }
            Self::Completion(args) => completion::run(args, complete::script, session.ui),
        }
    }
}

/// The command line as it is shown to someone who called the program like this.
pub fn command(invocation: &Invocation) -> clap::Command {
    command_within(invocation, help::WIDTH)
}

/// The same, with texts of so many columns.
pub fn command_within(invocation: &Invocation, width: usize) -> clap::Command {
    command_for(invocation, width, false)
}

/// The same, with help that fits on a screen where it is to be brief.
pub fn command_for(invocation: &Invocation, width: usize, is_brief: bool) -> clap::Command {
    let program = invocation.program();
    let root = Command::augment_subcommands(RootArgs::command());
    let root = if is_brief { help::brief(root) } else { root };
    let command = help::rewrite(root, invocation, width);
    help::grouped(command, width)
        .bin_name(program)
        .term_width(width)
}

/// Whether the arguments ask for help as `-h` gives it.
pub fn wants_brief_help(args: &[OsString]) -> bool {
    let words = args.iter().take_while(|word| *word != "--");
    words.into_iter().any(|word| word == "-h")
}

pub fn options(invocation: &Invocation, width: usize) -> String {
    let flags = GlobalFlags::augment_args(clap::Command::new("options"))
        .disable_help_flag(true)
        .help_template("{options}\n")
        .mut_args(|arg| arg.help_heading(Resettable::Reset).hide_short_help(false))
        .term_width(width)
        .bin_name(invocation.program());
    let text = flags.clone().render_help().to_string();
    format!(
        "These flags can be used with every command:\n\n{}\n",
        text.trim_end()
    )
}

/// The color that the arguments ask for, before they are parsed: usage errors want it too.
pub fn color_of(args: &[OsString]) -> Color {
    let mut words = args.iter().filter_map(|arg| arg.to_str());
    let mut color = Color::Auto;
    while let Some(word) = words.next() {
        let value = match word {
            "--" => break,
            "--color" => words.next(),
            _ => word.strip_prefix("--color="),
        };
        if let Some(asked) = value.and_then(|value| clap::ValueEnum::from_str(value, false).ok()) {
            color = asked;
        }
    }
    color
}

#[cfg(test)]
mod tests {
    use super::{Cli, Color, color_of, command, options};
    use crate::commands::about::permissions;
    use crate::render::invocation::Invocation;
    use crate::words::{CommandClass, FleetVerb, VERBS, VerbGroup};

    #[test]
    fn the_definitions_are_sound() {
        command(&Invocation::default()).debug_assert();
    }

    /// What a command needs so that it is understood.
    fn needed(command: &str) -> &'static [&'static str] {
        match command {
            "wait" => &["wait", "x", "--for=succeeded"],
            "diagnose" => &["diagnose", "x"],
            "approve" => &["approve", "x"],
            "run" => &["run", "x", "--from=y"],
            "plan" => &["plan", "--placement=x", "--strategy=y"],
            _ => &[],
        }
    }

    fn refused(words: &[&str]) -> String {
        let words: Vec<_> = words.iter().map(Into::into).collect();
        let parsed = Cli::parse(&words, command(&Invocation::default()), false);
        let error = parsed.err().map(|error| error.to_string());
        error.unwrap_or_default()
    }

    #[test]
    fn no_flag_has_an_empty_value() {
        let mut tree = command(&Invocation::default());
        tree.build();
        let mut wrong = Vec::new();
        let mut flags = 0;
        for sub in tree.get_subcommands().filter(|it| it.get_name() != "help") {
            let name = sub.get_name();
            let long =
                |arg: &&clap::Arg| arg.get_action().takes_values() && arg.get_long().is_some();
            for arg in sub.get_arguments().filter(long) {
                let flag = format!("--{}", arg.get_long().unwrap_or_default());
                if flag == "--reason" {
                    continue;
                }
                flags += 1;
                for empty in [format!("{flag}="), format!("{flag}= ")] {
                    let mut said = refused(&["x", name, &empty]);
                    if said.contains("required") {
                        let is_other = |word: &&str| !word.starts_with(&format!("{flag}="));
                        let needed = needed(name).iter().copied().filter(is_other);
                        let mut words: Vec<_> = std::iter::once("x").chain(needed).collect();
                        words.push(&empty);
                        said = refused(&words);
                    }
                    // What else it needs is asked for first.
                    let is_asked = ["required", "requires a subcommand"];
                    if !said.contains(&flag) && !is_asked.iter().any(|it| said.contains(it)) {
                        wrong.push(format!("{name} {empty}: {said}"));
                    }
                }
            }
        }
        assert!(flags > 200, "{flags}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn help_speaks_the_form_it_was_called_by() {
        let invocation = Invocation::new("kubectl-fleet-stage", "", &[]);
        let mut command = command(&invocation);
        command.build();
        for sub in command.get_subcommands_mut() {
            let help = sub.render_long_help().to_string();
            assert!(!help.contains("kubectl fleet-stage"), "{help}");
        }
    }

    #[test]
    fn the_verbs_are_those_of_the_register() {
        let root = command(&Invocation::default());
        let writes = |sub: &clap::Command| {
            let mut flags = sub.get_arguments();
            flags.any(|arg| arg.get_long() == Some("dry-run"))
        };
        let known = || VERBS.iter().filter(|verb| verb.name != "help");
        assert_eq!(root.get_subcommands().count(), known().count());
        for (sub, verb) in root.get_subcommands().zip(known()) {
            let name = verb.name;
            assert_eq!(sub.get_name(), name);
            assert_eq!(verb.class == CommandClass::Looks, !writes(sub), "{name}");
            let is_hidden = verb.group == VerbGroup::Hidden;
            assert_eq!(sub.is_hide_set(), is_hidden, "{name}");
            let needs = permissions::ALL.iter().any(|needs| needs.command == name);
            assert_eq!(verb.asks_a_hub && name != "doctor", needs, "{name}");
            for synonym in verb.synonyms {
                assert!(FleetVerb::named(synonym).is_none(), "{synonym}");
                assert_eq!(FleetVerb::meant_by(synonym), Some(name), "{synonym}");
            }
        }
    }

    #[test]
    fn options_are_those_of_every_command() {
        let text = options(&Invocation::default(), 80);
        for flag in "context request-timeout as-uid quiet namespace".split(' ') {
            assert!(text.contains(&format!("--{flag}")), "{text}");
        }
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }

    #[test]
    fn every_command_has_examples_and_every_argument_help() {
        let mut command = command(&Invocation::default());
        command.build();
        for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
            let name = sub.get_name();
            let after = sub.get_after_help().map(ToString::to_string);
            assert!(after.unwrap().contains("Examples:"), "{name}");
            assert!(sub.get_about().is_some(), "{name}");
            for argument in sub.get_arguments() {
                let id = argument.get_id();
                assert!(argument.get_help().is_some(), "{name} {id}");
            }
        }
    }

    #[test]
    fn colour_is_known_before_the_arguments_are() {
        let color = |args: &[&str]| {
            let args: Vec<_> = args.iter().map(Into::into).collect();
            color_of(&args)
        };
        assert_eq!(color(&["x", "--color=never", "-z"]), Color::Never);
        assert_eq!(color(&["x", "--color", "always"]), Color::Always);
        assert_eq!(color(&["x", "--", "--color=never"]), Color::Auto);
        assert_eq!(color(&["x", "--color=blue"]), Color::Auto);
    }
}
