//! `diagnose`: what state a rollout is in, why, and what to do next.

mod choice;
mod filter;
mod list;

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use super::global::Global;
use crate::bundle::{self, Bundle, Input};
use crate::diagnose::diagnose;
use crate::diagnose::report::{NotChecked, Report, Severity, Subject};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::source::{Answer, Query, Source};
use crate::kubefleet::object::Object;
use crate::kubefleet::{Kind, ObjectRef};
use crate::render::invocation::quote;
use crate::render::{self, text::Look};
use crate::ui::Ui;
use filter::Suppression;
pub use list::DiagnosisList;

/// Say what state a rollout is in, why, and what to do next
///
/// Walks from the update run to its placement, bindings, Works and member clusters, tells cause from
/// consequence, and says what could not be checked. The objects are read from files: what `kubectl
/// get -o yaml` or `-o json` prints, in any order and any number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl get csur,csus,careq,crp,crb,memberclusters -o yaml |\n    \
      kubectl fleet-stage diagnose example-run -f -\n  \
    kubectl fleet-stage diagnose web-app-rollout -n my-app-namespace -f hub.yaml\n  \
    kubectl fleet-stage diagnose crp/example-placement -f hub.yaml -o json\n  \
    kubectl fleet-stage diagnose --all -A --active -f hub.yaml --fail-on error\n\n\
    Exit codes, the same in every format:\n  \
    0  succeeded, or goes on without anyone\n  \
    1  the command failed\n  \
    2  the command line was wrong\n  \
    3  the run failed or could not be initialized, or --fail-on was met\n  \
    4  a person must approve\n  \
    5  stuck\n  \
    6  no such run or placement\n  \
    7  the evidence that is needed was denied or is missing\n  \
    8  stopped, or not started")]
pub struct DiagnoseArgs {
    /// The update run or placement: a name, or TYPE/NAME such as csur/x or crp/x, with -n sur/x or
    /// rp/x
    #[arg(value_name = "RUN|PLACEMENT", conflicts_with = "all")]
    target: Option<String>,
    /// Read objects from a file, a directory, or standard input (-); may be repeated
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        help_heading = "Input"
    )]
    files: Vec<PathBuf>,
    /// The moment to judge for, as RFC 3339 [default: when the objects were collected, else the
    /// newest time in them]
    #[arg(long, value_name = "TIME", help_heading = "Input")]
    now: Option<Timestamp>,
    /// Diagnose every update run of the scope
    #[arg(long)]
    all: bool,
    /// With --all: of both scopes and all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// With --all: only runs that are not over
    #[arg(long)]
    active: bool,
    /// The format of the report
    #[arg(
        short,
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    output: Format,
    /// Show only findings of at least this severity
    #[arg(
        long,
        value_enum,
        value_name = "SEVERITY",
        hide_possible_values = true,
        help_heading = "Output",
        help = "Show only findings of at least this severity: info, warning or error"
    )]
    min_severity: Option<Severity>,
    /// Leave out a finding by code or name, everywhere or about one object; may be repeated
    #[arg(long, value_name = "CODE[=OBJECT]", help_heading = "Output")]
    suppress: Vec<Suppression>,
    /// Exit with 3 instead of 0 when a finding of at least this severity is shown
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Exit code")]
    fail_on: Option<FailOn>,
    /// Exit with 0 whatever the verdict
    #[arg(long, help_heading = "Exit code")]
    exit_zero: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Yaml,
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    Warning,
    Error,
}

/// Diagnoses what was asked about, and prints the report.
pub fn run(
    args: &DiagnoseArgs,
    global: &Global,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
) -> Result<Exit, Error> {
    check(args, global)?;
    let mut bundle = bundle::read(inputs(args, ui)?)?;
    for warning in &bundle.warnings {
        ui.warning(warning);
    }
    let now = args
        .now
        .or(bundle.collected_at)
        .or_else(|| bundle.newest_timestamp())
        .unwrap_or_else(clock);
    let namespace = global.namespace.as_deref();
    let targets = if args.all {
        let everywhere = args.all_namespaces;
        choice::every_run(&bundle, namespace, everywhere, args.active)
    } else {
        let word = args.target.as_deref();
        vec![choice::target(word, namespace, &bundle, &again(args))?]
    };
    let reports: Vec<_> = targets
        .iter()
        .map(|target| {
            let mut report = examine(&mut bundle, target, now);
            filter::apply(&mut report, args.min_severity, &args.suppress);
            report
        })
        .collect();
    let exit = filter::worst(
        reports
            .iter()
            .map(|report| filter::exit(report, args.exit_zero, args.fail_on)),
    );
    if reports.is_empty() {
        ui.status(&choice::none(&bundle, args.active));
    }
    let look = Look {
        width: ui.width(),
        paint: ui.paint(),
        invocation: ui.invocation().clone(),
        verbose: global.verbose,
    };
    let text = if args.all {
        write_list(&DiagnosisList::new(reports), args.output, &look)?
    } else {
        let texts: Result<Vec<_>, _> = reports
            .iter()
            .map(|report| write(report, args.output, &look))
            .collect();
        texts?.concat()
    };
    ui.answer(&text);
    Ok(exit)
}

/// Refuses flags that do not go together where clap cannot see it: `-n` is a global flag, and a flag
/// that requires another is let through when something conflicts with that one.
fn check(args: &DiagnoseArgs, global: &Global) -> Result<(), Error> {
    if args.all_namespaces && global.namespace.is_some() {
        return Err(Error::usage(
            "-A looks everywhere, -n in one namespace: give one of them",
        ));
    }
    let lonely = match (args.all, args.all_namespaces, args.active) {
        (false, true, _) => "-A",
        (false, _, true) => "--active",
        _ => return Ok(()),
    };
    Err(Error::usage(format!(
        "{lonely} goes with --all, not with the name of one run"
    )))
}

fn write(report: &Report, format: Format, look: &Look) -> Result<String, Error> {
    Ok(match format {
        Format::Text => render::text::report(report, look),
        Format::Markdown => render::markdown::report(report, &look.invocation),
        Format::Json | Format::Yaml => machine(report, format)?,
    })
}

fn write_list(list: &DiagnosisList, format: Format, look: &Look) -> Result<String, Error> {
    match format {
        Format::Json | Format::Yaml => machine(list, format),
        Format::Text | Format::Markdown if list.items().is_empty() => Ok(String::new()),
        Format::Text | Format::Markdown => {
            let mut text = list.headline();
            text.push('\n');
            for report in list.items() {
                text.push('\n');
                text.push_str(&write(report, format, look)?);
            }
            Ok(text)
        }
    }
}

fn machine<T: Serialize>(data: &T, format: Format) -> Result<String, Error> {
    match format {
        Format::Yaml => render::yaml(data).map_err(Error::failed),
        _ => render::json(data).map_err(|error| Error::failed(error.to_string())),
    }
}

/// The flags that make the same objects be read again, with their leading space.
fn again(args: &DiagnoseArgs) -> String {
    args.files.iter().fold(String::new(), |flags, path| {
        flags + " -f " + &quote(&path.to_string_lossy())
    })
}

fn inputs(args: &DiagnoseArgs, ui: &mut Ui) -> Result<Vec<Input>, Error> {
    if args.files.is_empty() {
        return Err(no_input(args));
    }
    args.files
        .iter()
        .map(|path| {
            if path.as_os_str() != "-" {
                return Ok(Input::Path(path.clone()));
            }
            ui.take_input()
                .map(Input::Stdin)
                .ok_or_else(|| Error::usage("standard input (-) can be read once only"))
        })
        .collect()
}

/// Reading a live hub is not part of this version: says how to get its objects.
fn no_input(args: &DiagnoseArgs) -> Error {
    let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.for_kubectl()).collect();
    let asked = match &args.target {
        Some(target) => quote(target),
        None if args.all => "--all".to_owned(),
        None => "RUN".to_owned(),
    };
    Error::failed("-f is missing: this version reads objects from files, not from a hub").hint(
        format!(
            "save the hub's objects, leaving out kinds that it does not serve, then diagnose them:\n  \
             kubectl get -A -o yaml {} > hub.yaml\n  \
             kubectl fleet-stage diagnose {asked} -f hub.yaml",
            kinds.join(",")
        ),
    )
}

/// A bundle that remembers which of the objects it was asked for stood in it more than once.
struct Watched<'b> {
    bundle: &'b mut Bundle,
    doubtful: Vec<(ObjectRef, usize)>,
}

impl Source for Watched<'_> {
    fn answer(&mut self, queries: &[Query]) -> Vec<Answer> {
        let answers = self.bundle.answer(queries);
        if !self.bundle.duplicates.is_empty() {
            let objects = answers.iter().flat_map(|answer| &answer.objects);
            let names: Vec<_> = objects.map(Object::reference).collect();
            let seen = |(object, _): &&(ObjectRef, usize)| names.contains(object);
            let doubtful = self.bundle.duplicates.iter().filter(seen).cloned();
            self.doubtful.extend(doubtful);
        }
        answers
    }
}

/// Diagnoses one run or placement; says which of its objects the input has in several versions.
fn examine(bundle: &mut Bundle, target: &ObjectRef, now: Timestamp) -> Report {
    let hub = bundle.hub.clone();
    let mut watched = Watched {
        bundle,
        doubtful: Vec::new(),
    };
    let mut report = diagnose(&mut watched, &hub, target, now);
    let mut doubtful = watched.doubtful;
    doubtful.sort();
    doubtful.dedup();
    for (object, versions) in doubtful {
        report.not_checked.push(NotChecked {
            what: object.kind.name().to_owned(),
            why: format!("the input holds {versions} versions of it; the newest was used"),
            subject: Some(Subject::from(&object)),
            clusters: Vec::new(),
        });
    }
    report.not_checked.sort();
    report
}
