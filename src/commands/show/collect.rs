//! `collect`: everything that a diagnosis reads, in one file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::bundle::members::document;
use crate::bundle::write::{BundleContents, HeaderDocument};
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::members::MemberArgs;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::show::{controller_logs, saving};
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::MemberTexts;
use crate::inventory::source::{HubFacts, HubQuery, ObjectSource, Outcome};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::{Concept, Kind, ObjectRef, names};
use crate::member::MemberObservation;
use crate::ui::Ui;

/// Save everything a diagnosis reads to one file
///
/// Reads the update run or placement, its bindings, Works, and member clusters, and writes them as
/// YAML, with a record of every denied request. Secrets and values that look like credentials are
/// masked. `diagnose -f` and any YAML tool can read the file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage collect example-run --output-file example-run.yaml.gz\n  \
    kubectl fleet-stage collect rp/web-app -n my-app-namespace > bundle.yaml\n  \
    kubectl fleet-stage collect example-run --controller-logs --output-file example-run.yaml\n  \
    kubectl fleet-stage collect crp/example-placement --works --output-file shop.yaml.gz\n  \
    kubectl fleet-stage collect crp/example-placement | kubectl fleet-stage diagnose -f -\n\n\
    Exit codes:\n  \
    0  collected completely\n  \
    6  no such run or placement\n  \
    7  collected, except what was denied or could not be read")]
pub struct CollectArgs {
    /// Update run or placement: NAME, csur/NAME, crp/NAME, or with -n sur/NAME, rp/NAME [default:
    /// at a terminal, chosen from a list]
    #[arg(value_name = "RUN|PLACEMENT", required = true)]
    #[arg(add = ArgumentKind::Targets, add = ChosenAtTerminal)]
    target: Option<String>,
    /// Write to this file or device; compress if the name ends in .gz [default: standard output]
    #[arg(long = "output-file", value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: BundleFormat,
    /// Keep Secrets and credentials unmasked
    #[arg(long)]
    show_secrets: bool,
    /// Add the Works of every cluster and all overrides, for `render` and `trace`
    #[arg(long)]
    works: bool,
    /// Add the hub agent's log lines about the run, if the agent runs on the hub
    #[arg(long)]
    controller_logs: bool,
    #[command(flatten)]
    members: MemberArgs,
}

/// A format of bundles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum BundleFormat {
    /// YAML documents
    #[default]
    Yaml,
}

pub fn run(args: &CollectArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    if args.output_file.is_none() && session.ui.answers_a_terminal() {
        return Err(Error::usage("a bundle is too long for a terminal")
            .hint("write it to a file with --output-file, or redirect the output"));
    }
    if let Some(path) = &args.output_file {
        saving::check(path)?;
    }
    let mut entrance = args.members.open(session)?;
    let mut reading = session.open_within(None, "collect")?;
    entrance.enter(&mut reading);
    if let Some(hub) = reading.hub() {
        hub.keep_texts();
    }
    let target = reading.target(args.target.as_deref(), session.ui)?;
    let mut walk = reading.walk_whole(&target)?;
    // The runs are all of the scope, and each may wait at a gate.
    let scope = target.scope();
    let requests = scope.kind(Concept::ApprovalRequest);
    let mut more = vec![HubQuery::all(requests, scope.namespace())];
    if args.works {
        more.extend(for_manifests(&walk, &target));
    }
    let answers = reading.answer(&more);
    walk.absorb(more, answers);
    let now = reading.now;
    let Some(hub) = reading.hub() else {
        return Err(Error::failed("collect reads from a hub, not from files"));
    };
    let run_kind = scope.kind(Concept::UpdateRun);
    let outcomes = walk.outcomes();
    let mut header = HeaderDocument::new(now, &target, &walk);
    header.hub.run_states = hub.run_states(run_kind).ok();
    header.hub.served = hub.served().names();
    let seen = walk.references();
    let mut texts = hub.take_texts();
    // What was read to find the target, or before the run went on, belongs to no walk.
    texts.retain(|object, _| seen.contains(object));
    let facts = HubFacts {
        run_states: header.hub.run_states.clone(),
    };
    let inventory = Inventory::new(walk, now, facts);
    let looks = hub.look(&diagnose::errands(&inventory));
    let member_texts = hub.take_member_texts();
    entrance.check(&inventory, session.ui);
    let none = MemberTexts::new();
    let members: Vec<_> = looks
        .iter()
        .map(|(cluster, look)| {
            let texts = member_texts.get(cluster).unwrap_or(&none);
            document(cluster, look, texts, args.show_secrets)
        })
        .collect();
    let logs = if args.controller_logs {
        controller_log(&inventory, &mut reading, session.ui)?
    } else {
        Vec::new()
    };
    let contents = BundleContents::new(header, texts, &members, logs, args.show_secrets)?;
    let BundleContents {
        text,
        objects,
        masked,
    } = contents;
    match &args.output_file {
        Some(path) => {
            saving::save(path, &text, session.ui)?;
            session.ui.status(&format!(
                "wrote {}: {} of {target}",
                path.display(),
                crate::words::count(objects, "object"),
            ));
        }
        None => session.ui.answer(&text),
    }
    if masked > 0 {
        session.ui.status(&format!(
            "masked {}; to keep them, use --show-secrets",
            crate::words::count(masked, "value")
        ));
    }
    let exit = report_gaps(&outcomes, session.ui);
    Ok(report_closed(&looks, session.ui).unwrap_or(exit))
}

/// What `render` and `trace` read beside what a diagnosis does.
fn for_manifests(walk: &Walk, target: &ObjectRef) -> Vec<HubQuery> {
    let run = walk.run().map(|run| run.spec.placement.as_str());
    let placement = run.unwrap_or(&target.name);
    vec![
        HubQuery::labelled(Kind::Work, "", names::PARENT_PLACEMENT, placement),
        HubQuery::all(Kind::ClusterResourceOverrideSnapshot, ""),
        HubQuery::all(Kind::ResourceOverrideSnapshot, &target.namespace),
    ]
}

/// What the hub agent said about the run. What it cannot be asked for is said, and no reason to
/// collect nothing.
fn controller_log(
    inventory: &Inventory,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<Vec<Value>, Error> {
    let (Some(run), Some(hub)) = (inventory.run.present(), reading.hub()) else {
        ui.warning("the bundle has no log lines of the hub agent, because there is no run");
        return Ok(Vec::new());
    };
    let logs = controller_logs::read(hub, &run.meta.name).unwrap_or_else(|why| {
        ui.warning(&format!(
            "the bundle has no log lines of the hub agent: {why}"
        ));
        Vec::new()
    });
    logs.iter()
        .map(|log| Ok(serde_json::to_value(log).map_err(anyhow::Error::from)?))
        .collect()
}

/// Says what could not be seen in member clusters.
fn report_closed(looks: &BTreeMap<String, MemberObservation>, ui: &mut Ui) -> Option<Exit> {
    let mut exit = None;
    let mut missing = |what: &str, cluster: &str, why: &str| {
        ui.warning(&format!("the bundle is missing {what} of {cluster}: {why}"));
        exit = Some(Exit::Incomplete);
    };
    for (cluster, look) in looks {
        if let Some(closed) = &look.closed {
            missing("picture", cluster, closed.why());
        }
        for (kind, why) in look.gaps() {
            missing(kind.name(), cluster, &why);
        }
    }
    exit
}

fn report_gaps(outcomes: &BTreeMap<Kind, Outcome>, ui: &mut Ui) -> Exit {
    let mut exit = Exit::Done;
    for (kind, outcome) in outcomes {
        // A kind that the hub does not have is not missing from the file, nor what a walk does without.
        let is_missed = !matches!(outcome, Outcome::NotServed | Outcome::NotCollected);
        if let (Some(gap), true) = (outcome.gap(), is_missed) {
            ui.warning(&format!("the bundle is missing {kind}: {gap}"));
            exit = Exit::Incomplete;
        }
    }
    exit
}
