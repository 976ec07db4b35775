//! `diagnose`: what state a rollout is in, why, and what to do next.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::global::Global;
use super::target::{Known, resolve};
use crate::bundle::{self, Bundle, Input};
use crate::diagnose::report::{NotChecked, Report, Severity, Subject, Verdict};
use crate::diagnose::{diagnose, rules};
use crate::error::{Error, did_you_mean};
use crate::exit::Exit;
use crate::inventory::choose;
use crate::inventory::source::Outcome;
use crate::kubefleet::object::{Body, OWN_API_VERSION};
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};
use crate::render::{self, text::Look};
use crate::ui::Ui;

/// Arguments of `diagnose`.
#[derive(Debug, Args)]
#[command(
    long_about = "Say what state a rollout is in, why, and what to do next.\n\n\
        Walks from the update run to its placement, bindings, Works and member clusters, tells \
        cause from consequence, and says what could not be checked. The objects are read from \
        files: what `kubectl get … -o yaml` prints.",
    after_help = "Examples:\n  \
        kubectl-fleet-stage diagnose example-run -f examples/cluster/stuck-workload.yaml\n  \
        kubectl-fleet-stage diagnose web-app-rollout -n my-app-namespace -f examples/namespaced\n  \
        kubectl-fleet-stage diagnose crp/example-placement -f hub.yaml -o json\n\n\
        Exit codes: 0 fine or moving, 3 failed, 4 waits for an approval, 5 stuck, 7 evidence\n\
        missing, 8 stopped or not started; 1 the command failed, 2 usage, 6 not found."
)]
pub struct DiagnoseArgs {
    /// The update run or placement: a name, or TYPE/NAME such as csur/x or crp/x
    #[arg(value_name = "RUN|PLACEMENT", conflicts_with = "all")]
    target: Option<String>,
    /// Read objects from a file, a directory, or standard input (-); may be repeated
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Diagnose every update run of the scope
    #[arg(long)]
    all: bool,
    /// With --all: of all scopes and namespaces
    #[arg(short = 'A', long, requires = "all")]
    all_namespaces: bool,
    /// With --all: only runs that are not over
    #[arg(long, requires = "all")]
    active: bool,
    /// The format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
    /// The moment to judge for, as RFC 3339; default: when the bundle was collected, else the
    /// newest time in it
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
    /// Show only findings of at least this severity
    #[arg(long, value_enum, value_name = "SEVERITY")]
    min_severity: Option<Severity>,
    /// Leave out a finding, everywhere or of one object: CODE or CODE=NAME; may be repeated
    #[arg(long, value_name = "CODE[=NAME]")]
    suppress: Vec<String>,
    /// Exit with 3 instead of 0 when a finding of at least this severity is shown
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Exit with 0 whatever the verdict
    #[arg(long)]
    exit_zero: bool,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Yaml,
    Markdown,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FailOn {
    Warning,
    Error,
}

/// The reports of several runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisList {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: String,
    /// Always `DiagnosisList`.
    kind: String,
    /// One report per run, by namespace and name.
    items: Vec<Report>,
}

/// Diagnoses what was asked about, and prints the report.
pub fn run(args: &DiagnoseArgs, global: &Global, ui: &mut Ui) -> Result<Exit, Error> {
    for suppressed in &args.suppress {
        known_code(suppressed)?;
    }
    if args.all_namespaces && global.namespace.is_some() {
        return Err(Error::usage(
            "-A looks everywhere, -n in one namespace: give one of them",
        ));
    }
    let mut bundle = bundle::read(inputs(args, ui)?)?;
    for warning in &bundle.warnings {
        ui.warning(warning);
    }
    let now = args
        .now
        .or(bundle.collected_at)
        .or_else(|| bundle.newest_timestamp())
        .ok_or_else(|| {
            Error::failed("nothing in the input says when it was read").hint("say it with --now")
        })?;
    let targets = if args.all {
        every_run(args, global, &bundle)
    } else {
        vec![target(args, global, &bundle)?]
    };
    let hub = bundle.hub.clone();
    let mut exit = Exit::Done;
    let mut reports = Vec::new();
    for target in targets {
        let mut report = diagnose(&mut bundle, &hub, &target, now);
        add_duplicates(&mut report, &bundle);
        filter(args, &mut report);
        let this = exit_of(args, &report);
        if this.gravity() > exit.gravity() {
            exit = this;
        }
        reports.push(report);
    }
    let text = match args.output {
        Format::Text | Format::Markdown => {
            let look = Look {
                width: ui.width(),
                paint: ui.paint(),
                invocation: global.invocation(ui),
                verbose: global.verbose,
            };
            let texts: Vec<_> = reports
                .iter()
                .map(|report| match args.output {
                    Format::Text => render::text::report(report, &look),
                    _ => render::markdown::report(report, &look.invocation),
                })
                .collect();
            texts.join("\n")
        }
        Format::Json => machine(args.all, reports, |data| {
            data.either(render::json, render::json)
                .map_err(|e| e.to_string())
        })?,
        Format::Yaml => machine(args.all, reports, |data| {
            data.either(render::yaml, render::yaml)
        })?,
    };
    ui.answer(&text);
    if args.all && text.is_empty() {
        ui.status("no update run in this scope");
    }
    Ok(if args.exit_zero { Exit::Done } else { exit })
}

/// One report, or a list of them.
enum Machine {
    List(DiagnosisList),
    One(Box<Report>),
}

impl Machine {
    fn either<T>(&self, list: impl Fn(&DiagnosisList) -> T, one: impl Fn(&Report) -> T) -> T {
        match self {
            Self::List(data) => list(data),
            Self::One(data) => one(data),
        }
    }
}

fn machine(
    all: bool,
    mut reports: Vec<Report>,
    render: impl Fn(&Machine) -> Result<String, String>,
) -> Result<String, Error> {
    let data = match reports.pop() {
        Some(report) if !all => Machine::One(Box::new(report)),
        last => {
            reports.extend(last);
            Machine::List(DiagnosisList {
                api_version: OWN_API_VERSION.to_owned(),
                kind: "DiagnosisList".to_owned(),
                items: reports,
            })
        }
    };
    render(&data).map_err(Error::failed)
}

fn inputs(args: &DiagnoseArgs, ui: &mut Ui) -> Result<Vec<Input>, Error> {
    if args.files.is_empty() {
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.for_kubectl()).collect();
        return Err(
            Error::failed("no input: say with -f which objects to read").hint(format!(
                "reading a live hub is not part of this version; save its objects first:\n  \
             kubectl get {} -A -o yaml > hub.yaml",
                kinds.join(",")
            )),
        );
    }
    args.files
        .iter()
        .map(|path| {
            if path.as_os_str() != "-" {
                return Ok(Input::Path(path.clone()));
            }
            ui.take_input()
                .map(|input: Box<dyn Read>| Input::Stdin(input))
                .ok_or_else(|| Error::usage("standard input (-) can be read once only"))
        })
        .collect()
}

/// The runs and placements of a bundle.
fn candidates(bundle: &Bundle) -> Vec<ObjectRef> {
    bundle
        .objects()
        .iter()
        .filter(|object| {
            matches!(
                object.kind.concept(),
                Concept::UpdateRun | Concept::Placement
            )
        })
        .map(crate::kubefleet::object::Object::reference)
        .collect()
}

fn target(args: &DiagnoseArgs, global: &Global, bundle: &Bundle) -> Result<ObjectRef, Error> {
    let objects = candidates(bundle);
    let namespace = global.namespace.as_deref();
    let Some(word) = &args.target else {
        if let Some(target) = &bundle.target {
            return Ok(ObjectRef {
                kind: target.kind,
                namespace: target.namespace.clone(),
                name: target.name.clone(),
            });
        }
        let runs: Vec<_> = objects
            .iter()
            .filter(|o| o.kind.concept() == Concept::UpdateRun)
            .collect();
        let error = Error::usage("say which update run or placement to diagnose");
        return Err(match runs.as_slice() {
            [one] => error.hint(format!(
                "the input holds one: kubectl fleet-stage diagnose {} -f …",
                super::target::form(one)
            )),
            _ => error.hint("--all diagnoses every run of the scope"),
        });
    };
    resolve(
        word,
        namespace,
        &Known {
            objects: &objects,
            place: "the input",
        },
    )
    .or_else(|error| {
        // What the collector was not allowed to see is not missing.
        let kind = denied_kind(word, namespace, bundle);
        match kind {
            Some(kind) if error.exit == Exit::NotFound => Ok(ObjectRef {
                kind,
                namespace: namespace.unwrap_or_default().to_owned(),
                name: word.rsplit('/').next().unwrap_or_default().to_owned(),
            }),
            _ => Err(error),
        }
    })
}

/// The kind of an object that may well exist, though it could not be read.
fn denied_kind(word: &str, namespace: Option<&str>, bundle: &Bundle) -> Option<Kind> {
    let scope = Scope::of_namespace(namespace.unwrap_or_default());
    let kind = match word.split_once('/') {
        Some((kind, _)) => Kind::from_word(kind)?,
        None => scope.kind(Concept::UpdateRun),
    };
    let unreadable = matches!(
        bundle.outcome(kind),
        Outcome::Denied(_) | Outcome::Failed(_)
    );
    (unreadable && (kind.is_namespaced() == namespace.is_some())).then_some(kind)
}

fn every_run(args: &DiagnoseArgs, global: &Global, bundle: &Bundle) -> Vec<ObjectRef> {
    let scope = Scope::of_namespace(global.namespace.as_deref().unwrap_or_default());
    bundle
        .objects()
        .iter()
        .filter(|object| match &object.body {
            Body::Run(run) => !args.active || !choose::is_finished(run),
            _ => false,
        })
        .map(crate::kubefleet::object::Object::reference)
        .filter(|run| args.all_namespaces || run.scope() == scope)
        .collect()
}

/// Says of objects of the case that stood in the input in several versions which one was used.
fn add_duplicates(report: &mut Report, bundle: &Bundle) {
    for (object, versions) in &bundle.duplicates {
        report.not_checked.push(NotChecked {
            what: object.kind.name().to_owned(),
            why: format!("the input holds {versions} versions of it; the newest was used"),
            subject: Some(Subject::from(object)),
            clusters: Vec::new(),
        });
    }
    report.not_checked.sort();
}

/// Leaves out what should not be shown. The verdict stays.
fn filter(args: &DiagnoseArgs, report: &mut Report) {
    let before = report.findings.len();
    report.findings.retain(|finding| {
        args.min_severity
            .is_none_or(|least| finding.severity >= least)
            && !args.suppress.iter().any(|suppressed| {
                let (code, subject) = match suppressed.split_once('=') {
                    Some((code, subject)) => (code, Some(subject)),
                    None => (suppressed.as_str(), None),
                };
                (code.eq_ignore_ascii_case(&finding.code)
                    || code.eq_ignore_ascii_case(&finding.name))
                    && subject.is_none_or(|subject| {
                        let found = &finding.subject;
                        subject == found.name || subject == format!("{}/{}", found.kind, found.name)
                    })
            })
    });
    let left_out = before - report.findings.len();
    report.left_out = (left_out > 0).then_some(left_out);
}

fn exit_of(args: &DiagnoseArgs, report: &Report) -> Exit {
    let exit = Exit::from(report.verdict);
    let least = match args.fail_on {
        Some(FailOn::Warning) => Severity::Warning,
        Some(FailOn::Error) => Severity::Error,
        None => return exit,
    };
    let met = report
        .findings
        .iter()
        .any(|finding| finding.severity >= least);
    if exit == Exit::Done && met && report.verdict != Verdict::Unknown {
        Exit::Failed
    } else {
        exit
    }
}

fn known_code(suppressed: &str) -> Result<(), Error> {
    let code = suppressed.split('=').next().unwrap_or_default();
    if rules::search(code).is_some() {
        return Ok(());
    }
    let error = Error::usage(format!("--suppress: there is no finding {code:?}"));
    let names = rules::ALL.iter().flat_map(|rule| [rule.code, rule.name]);
    Err(match did_you_mean(&code.to_ascii_uppercase(), names) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint("`kubectl fleet-stage explain --list` lists all findings"),
    })
}
