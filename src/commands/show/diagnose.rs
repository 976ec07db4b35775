//! `diagnose`: what state a rollout is in, why, and what to do next.

mod filter;
mod list;

use std::collections::BTreeMap;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum as _};

use crate::commands::gather::argument::ArgumentKind;
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::hubs::{HubAnswer, HubAnswers, HubsArgs};
use crate::commands::gather::members::{self, MemberAccess, MemberArgs};
use crate::commands::gather::reading::{InputArgs, SourceReading};
use crate::commands::gather::runs;
use crate::commands::gather::selection::ListReach;
use crate::commands::gather::session::Session;
use crate::commands::output;
use crate::diagnose::explain;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::object::KeptObjects;
use crate::kubefleet::selector::LabelSelector;
use crate::render::{self, RenderLook};
use crate::report::{NotChecked, Report, Severity, Subject};
use crate::ui::Ui;
use filter::FindingSuppression;
pub use list::DiagnosisList;

/// Explain the state of a rollout and what to do next
///
/// Reads the update run, its placement, bindings, Works, and member clusters, separates causes from
/// consequences, and says what could not be checked. Reads from the hub, or with -f from files that
/// `collect` or `kubectl get -o yaml` wrote.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage diagnose example-run\n  \
    kubectl fleet-stage diagnose web-app-rollout -n my-app-namespace\n  \
    kubectl fleet-stage diagnose crp/example-placement -f bundle.yaml -o json\n  \
    kubectl fleet-stage diagnose example-run crp/example-placement\n  \
    kubectl fleet-stage diagnose --all -A --active --fail-on error\n  \
    kubectl fleet-stage diagnose --all --contexts eu,us\n  \
    kubectl fleet-stage diagnose example-run -o html > diagnosis.html\n  \
    kubectl fleet-stage diagnose example-run --member-context member-1=CONTEXT\n\n\
    Exit codes, the same in every format:\n  \
    0  succeeded, or progressing: nobody needs to act\n  \
    1  the command failed\n  \
    2  invalid command line\n  \
    3  the run failed or could not be initialized, or --fail-on was met\n  \
    4  a person must approve\n  \
    5  stuck\n  \
    6  no such run or placement\n  \
    7  evidence is missing or access to it was denied, or a hub was not reached\n  \
    8  stopped, or not started")]
pub struct DiagnoseArgs {
    /// Update runs or placements: NAME, csur/NAME, crp/NAME, or with -n sur/NAME, rp/NAME
    /// [default: at a terminal, one chosen from a list]
    #[arg(value_name = "RUN|PLACEMENT", conflicts_with = "all")]
    #[arg(add = ArgumentKind::Targets)]
    targets: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    /// Diagnose every update run in the scope
    #[arg(long)]
    all: bool,
    /// With --all: include both scopes and all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// With --all: include only unfinished runs
    #[arg(long)]
    active: bool,
    /// With --all: include only runs with these labels, as kubectl takes them
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = LabelSelector::parse)]
    selector: Option<LabelSelector>,
    #[command(flatten)]
    hubs: HubsArgs,
    #[command(flatten)]
    members: MemberArgs,
    /// Report format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    #[arg(help_heading = "Output")]
    output: ReportFormat,
    /// Show only findings of at least this severity: info, warning, or error
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Output")]
    #[arg(hide_possible_values = true)]
    min_severity: Option<Severity>,
    /// Leave out a finding by code or name, everywhere or for one object; repeatable
    #[arg(long, value_name = "CODE[=OBJECT]", help_heading = "Output")]
    #[arg(add = ArgumentKind::Codes)]
    suppress: Vec<FindingSuppression>,
    /// Exit with 3 instead of 0 if a finding of at least this severity is shown
    #[arg(long, value_name = "SEVERITY", help_heading = "Exit code", value_parser = failing())]
    fail_on: Option<Severity>,
    /// Exit with 0 regardless of the verdict
    #[arg(long, help_heading = "Exit code")]
    exit_zero: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    #[default]
    /// Text for a terminal
    Text,
    /// Report as data
    Json,
    /// Report as data
    Yaml,
    /// Text for issues, chats, and job summaries
    Markdown,
    /// Test results for CI systems
    Junit,
    /// Annotations for GitHub Actions
    Github,
    /// One page to keep, print, or send, with the run's timeline
    Html,
}

fn failing() -> impl TypedValueParser<Value = Severity> {
    let words = PossibleValuesParser::new(["warning", "error"]);
    words.try_map(|word| Severity::from_str(&word, false))
}

/// What is said of one hub, or of files.
struct ExaminedHub {
    reports: Vec<Report>,
    /// That there is nothing to report, and where there is.
    none: Option<String>,
    /// The contexts that led into member clusters.
    contexts: BTreeMap<String, String>,
}

pub fn run(args: &DiagnoseArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    check(args, session.global)?;
    let answers = if args.hubs.contexts.is_several() {
        let input = Some(&args.input);
        session.ask(&args.hubs, input, "diagnose", |reading, ui| {
            examine_all(args, reading, &mut MemberAccess::default(), ui)
        })?
    } else {
        let mut entrance = args.members.open(session)?;
        let mut reading = session.open_keeping(KeptObjects::CONTENT, &args.input, "diagnose")?;
        entrance.enter(&mut reading);
        let found = examine_all(args, &mut reading, &mut entrance, session.ui)?;
        HubAnswers::alone(found, reading)
    };
    for answer in &answers.hubs {
        if let Some(none) = &answer.found.none {
            session.ui.status(&answer.says(none));
        }
    }
    let (answers, found) = answers.take();
    let (mut reports, mut contexts) = (Vec::new(), BTreeMap::new());
    for HubAnswer { hub, mut found } in found {
        contexts.append(&mut found.contexts);
        reports.extend(found.reports.into_iter().map(|report| match &hub {
            Some(hub) => report.on_hub(hub),
            None => report,
        }));
    }
    let exit = Exit::worst(
        reports
            .iter()
            .map(|report| filter::exit(report, args.exit_zero, args.fail_on)),
    );
    let mut look = session.ui.look(session.global.verbose);
    look.invocation = look.invocation.entering(contexts);
    let style = ReportStyle {
        format: args.output,
        failing: args.fail_on.unwrap_or(Severity::Error),
        sorted: args.all,
        look,
    };
    let text = if args.all || args.targets.len() > 1 || answers.is_several() {
        style.list(&DiagnosisList::new(reports, &answers))?
    } else {
        let texts: Result<Vec<_>, _> = reports.iter().map(|report| style.one(report)).collect();
        texts?.concat()
    };
    if args.output == ReportFormat::Github {
        session.ui.answer_agent(&text);
    } else {
        session.ui.answer(&text);
    }
    answers.tell(session.ui);
    Ok(answers.exit(exit))
}

fn examine_all(
    args: &DiagnoseArgs,
    reading: &mut SourceReading,
    entrance: &mut MemberAccess,
    ui: &mut Ui,
) -> Result<ExaminedHub, Error> {
    let targets = if args.all {
        let selector = args.selector.as_ref();
        ListReach::of(reading.namespace(), args.all_namespaces)?.every_run(reading, |run| {
            let labels = &run.meta.labels;
            runs::is_asked_for(args.active, run)
                && selector.is_none_or(|selector| selector.matches(labels) == Some(true))
        })?
    } else {
        reading.targets(&args.targets, ui)?
    };
    let mut contexts = BTreeMap::new();
    let mut report = |reading: &mut SourceReading, inventory: &Inventory| {
        entrance.check(inventory, ui);
        contexts.append(&mut members::contexts(reading, inventory));
        let mut report = examine(reading, inventory);
        filter::apply(&mut report, args.min_severity, &args.suppress);
        report
    };
    let reports = match targets.as_slice() {
        [target] if !args.all => {
            let inventory = reading.inventory(target)?;
            vec![report(reading, &inventory)]
        }
        _ => reading.look_at(&targets, |reading, inventory| report(reading, &inventory))?,
    };
    let none = if reports.is_empty() {
        Some(none(reading, args)?)
    } else {
        None
    };
    Ok(ExaminedHub {
        reports,
        none,
        contexts,
    })
}

/// Says that no run was diagnosed, and where there are some.
fn none(reading: &mut SourceReading, args: &DiagnoseArgs) -> Result<String, Error> {
    if args.selector.is_some() {
        let (place, which) = (reading.place(), runs::noun(args.active));
        return Ok(format!("{place} has no {which} with these labels"));
    }
    runs::none_in_scope(args.active, reading)
}

/// Refuses flags that do not go together where clap cannot see it: `-n` is a global flag, and a flag
/// that requires another is let through when something conflicts with that one.
fn check(args: &DiagnoseArgs, global: &GlobalFlags) -> Result<(), Error> {
    if args.all_namespaces && global.namespace.is_some() {
        return Err(Error::usage("-A and -n cannot be used together"));
    }
    if !args.members.is_empty() && !args.input.files.is_empty() {
        return Err(Error::usage(
            "--member-context and --member-contexts-from-kubeconfig need live clusters and cannot \
             be used with -f",
        )
        .hint(
            "use these flags with collect; the file then contains the member clusters' objects",
        ));
    }
    args.hubs.contexts.refuse_if(
        !args.members.is_empty(),
        "--member-context and --member-contexts-from-kubeconfig",
        "clusters of different hubs may have the same name",
    )?;
    if !args.all {
        args.hubs.contexts.check_names(&args.targets, global)?;
    }
    let of_all = [
        (args.all_namespaces, "-A"),
        (args.active, "--active"),
        (args.selector.is_some(), "-l"),
    ];
    match of_all.iter().find(|(is_given, _)| *is_given && !args.all) {
        Some((_, lonely)) => Err(Error::usage(format!("{lonely} needs --all"))),
        None => Ok(()),
    }
}

struct ReportStyle {
    format: ReportFormat,
    /// Test results: findings of at least this severity are failures.
    failing: Severity,
    /// Whether what needs a person comes first.
    sorted: bool,
    look: RenderLook,
}

impl ReportStyle {
    fn one(&self, report: &Report) -> Result<String, Error> {
        let invocation = &self.look.invocation;
        Ok(match self.format {
            ReportFormat::Text => render::text::report(report, &self.look),
            ReportFormat::Markdown => render::markdown::report(report, invocation),
            ReportFormat::Junit => self.junit(std::slice::from_ref(report))?,
            ReportFormat::Github => render::github::report(report, invocation),
            ReportFormat::Html => render::html::report(report, invocation),
            ReportFormat::Json => output::json(report)?,
            ReportFormat::Yaml => output::yaml(report)?,
        })
    }

    fn junit(&self, reports: &[Report]) -> Result<String, Error> {
        Ok(render::junit::reports(
            reports,
            self.failing,
            &self.look.invocation,
        )?)
    }

    fn list(&self, list: &DiagnosisList) -> Result<String, Error> {
        let (items, invocation) = (list.items(), &self.look.invocation);
        let shown = || {
            if self.sorted {
                list.by_need()
            } else {
                items.iter().collect()
            }
        };
        match self.format {
            ReportFormat::Json => output::json(list),
            ReportFormat::Yaml => output::yaml(list),
            ReportFormat::Junit => self.junit(items),
            ReportFormat::Html => Ok(render::html::reports(&list.headline(), items, invocation)),
            ReportFormat::Github => shown().into_iter().map(|it| self.one(it)).collect(),
            ReportFormat::Text | ReportFormat::Markdown if items.is_empty() => Ok(String::new()),
            ReportFormat::Text | ReportFormat::Markdown => {
                let mut text = list.headline();
                text.push('\n');
                for report in shown() {
                    text.push('\n');
                    text.push_str(&self.one(report)?);
                }
                Ok(text)
            }
        }
    }
}

/// Diagnoses one run or placement; says which of its objects the input has in several versions.
fn examine(reading: &mut SourceReading, inventory: &Inventory) -> Report {
    let mut report = explain(inventory);
    for (object, versions) in reading.take_doubtful() {
        report.not_checked.push(
            NotChecked::new(
                object.kind.name(),
                format!("the input has {versions} versions of it; the newest was used"),
            )
            .about(Subject::from(&object)),
        );
    }
    report.not_checked.sort();
    report
}
