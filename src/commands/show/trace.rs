//! `trace`: who put an object into a cluster, or where it was lost.

mod lost;
mod overrides;
mod text;
mod wanted;

use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::open::around;
use crate::commands::open::manifests::KEEP_CONTENT;
use crate::commands::open::reading::{InputArgs, Reading};
use crate::commands::open::runs;
use crate::commands::open::session::Session;
use crate::commands::output::FormArg;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::More;
use crate::inventory::Inventory;
use crate::inventory::source::HubQuery;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::parse_rollout_started;
use crate::kubefleet::object::{Body, OWN_API_VERSION};
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::work::{ManifestStatus, Work};
use crate::kubefleet::{Concept, Conditions, Kind, Scope, names, reasons};
use crate::report::{NotChecked, Subject};
use crate::rollout::approvals::{Approval, of_run};
use crate::rollout::history::history;
use lost::LostAt;
use wanted::WantedObject;

/// Show which rollout put an object into a cluster
///
/// Follows an object from its member cluster back to the hub: its Work, binding, snapshot, and
/// overrides, and the run that rolled it out. Shows who approved that and why. For an object that
/// the cluster does not get, it says which placements include it and where it was lost. Reads only
/// the hub.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage trace deployment/web -n shop --member member-1\n  \
    kubectl fleet-stage trace namespace/shop --member member-1 -o json\n\n\
    Exit codes, the same in every format:\n  \
    0  the cluster gets the object\n  \
    6  it does not\n  \
    7  unknown, because too little could be read")]
pub struct TraceArgs {
    /// Object in the member cluster: KIND/NAME, with -n for its namespace
    #[arg(value_name = "KIND/NAME")]
    object: String,
    /// Member cluster
    #[arg(long, value_name = "CLUSTER")]
    member: String,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    form: FormArg,
}

/// Who put an object into a cluster.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: String,
    /// Always `Trace`.
    kind: String,
    /// The object, as it was asked for.
    object: String,
    /// The member cluster.
    cluster: String,
    /// The Works that have it: one, unless several placements include it.
    found: Vec<TracedObject>,
    /// For an object that no Work has: the placements that include it, and where it was lost.
    lost: Vec<LostAt>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// A Work that has the object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TracedObject {
    /// The object.
    object: Subject,
    /// The Work.
    work: Subject,
    /// The envelope that holds the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    envelope: Option<Subject>,
    /// What the member agent reported of the object.
    state: String,
    /// The placement.
    placement: Subject,
    /// The index of the snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    /// The binding.
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<Subject>,
    /// The run that rolled it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    rollout: Option<Rolled>,
    /// The overrides that apply to the object in this cluster.
    overrides: Vec<AppliedBy>,
}

/// The run that rolled an object out.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Rolled {
    /// The run.
    run: Subject,
    /// The stage.
    stage: String,
    /// When the run started the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    started: Option<Timestamp>,
    /// When the run was done with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    ended: Option<Timestamp>,
    /// The approvals on the way to the stage.
    approvals: Vec<Approved>,
}

/// An approval on the way.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Approved {
    /// The request.
    request: String,
    /// The stage whose gate it opened.
    stage: String,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    at: Option<Timestamp>,
    /// Who, where the answer says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Why, where the answer says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// An override that applies to the object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AppliedBy {
    /// The snapshot of the override.
    snapshot: Subject,
    /// The name of the override.
    name: String,
    /// The rules for this cluster, from 1; absent where its labels or the snapshot are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<usize>>,
}

/// Traces.
pub fn run(args: &TraceArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let wanted = WantedObject::new(&args.object, session.global.namespace.as_deref())?;
    let mut reading = session.open_keeping(KEEP_CONTENT, &args.input, "trace")?;
    let ui = &mut *session.ui;
    let query = HubQuery::all(Kind::Work, &names::member_namespace(&args.member));
    let has = |work: &Work| work.spec.workload.manifests.iter().any(|it| wanted.is(it));
    let mut works: Vec<Arc<Work>> = Vec::new();
    let queries = [query];
    let answers = reading.each(&queries, |_, more| match more {
        More::Objects(objects) => {
            works.extend(objects.into_iter().filter_map(|object| match object.body {
                Body::Work(work) if has(&work) => Some(work),
                _ => None,
            }));
        }
        More::Again => works.clear(),
    });
    reading.no_hub()?;
    let mut gaps = runs::gaps(&queries, &answers);
    let mut found = Vec::new();
    for work in &works {
        let manifests = work.spec.workload.manifests.iter().enumerate();
        for (at, manifest) in manifests.filter(|(_, it)| wanted.is(it)) {
            found.push(one(&mut reading, work, at, manifest, &mut gaps)?);
        }
    }
    let lost = if found.is_empty() {
        lost::find(&mut reading, &wanted, &args.member, &mut gaps)
    } else {
        Vec::new()
    };
    gaps.sort();
    gaps.dedup();
    let trace = Trace {
        api_version: OWN_API_VERSION.to_owned(),
        kind: "Trace".to_owned(),
        object: args.object.clone(),
        cluster: args.member.clone(),
        found,
        lost,
        not_checked: gaps,
    };
    runs::warn(&trace.not_checked, ui);
    let (now, width, paint) = (reading.now, ui.width(), ui.paint());
    let text = args
        .form
        .output
        .print(&trace, || text::trace(&trace, now, width, paint))?;
    ui.answer(&text);
    Ok(
        match (trace.found.is_empty(), trace.not_checked.is_empty()) {
            (false, _) => Exit::Done,
            (true, true) => Exit::NotFound,
            (true, false) => Exit::Incomplete,
        },
    )
}

/// One Work that has the object.
fn one(
    reading: &mut Reading,
    work: &Work,
    at: usize,
    manifest: &ManifestIdentity,
    gaps: &mut Vec<NotChecked>,
) -> Result<TracedObject, Error> {
    let namespace = work.meta.label(names::PARENT_NAMESPACE).unwrap_or_default();
    let scope = Scope::of_namespace(namespace);
    let placement = work.meta.label(names::PARENT_PLACEMENT).unwrap_or_default();
    let placement = scope.object(Concept::Placement, placement);
    let useful = [
        Concept::UpdateRun,
        Concept::Binding,
        Concept::ApprovalRequest,
    ];
    let around = around::read(reading, &placement, &[], &useful)?;
    reading.no_hub()?;
    gaps.extend(around.gaps.iter().cloned());
    let inventory = &around.inventory;
    let cluster = work.cluster().unwrap_or_default();
    let binding = inventory
        .bindings_of(cluster)
        .find(|binding| Some(binding.meta.name.as_str()) == work.binding());
    let snapshot = work.meta.label(names::PARENT_SNAPSHOT_INDEX);
    let mut statuses = work.status.manifests.iter();
    let status = statuses.find(|it| it.id.ordinal == i64::try_from(at).ok());
    Ok(TracedObject {
        object: subject(manifest),
        work: Subject::from(work.object()),
        envelope: work
            .envelope()
            .map(|it| Subject::new(&it.kind, &it.namespace, &it.name)),
        state: state(status),
        placement: Subject::from(&placement),
        snapshot: snapshot.map(str::to_owned),
        binding: binding.map(|binding| Subject::from(binding.object())),
        rollout: rolled(inventory, binding, cluster, snapshot),
        overrides: match binding {
            Some(binding) => overrides::of(reading, binding, cluster, manifest),
            None => Vec::new(),
        },
    })
}

fn subject(manifest: &ManifestIdentity) -> Subject {
    Subject::new(
        &manifest.kind,
        &manifest.meta.namespace,
        &manifest.meta.name,
    )
}

fn state(status: Option<&ManifestStatus>) -> String {
    let Some(status) = status else {
        return "not reported by the member agent".to_owned();
    };
    let condition = |kind| status.conditions.condition(kind);
    match (condition(reasons::APPLIED), condition(reasons::AVAILABLE)) {
        (Some(applied), _) if applied.is_false() => {
            format!("not applied: {}", crate::mask::prose(&applied.message))
        }
        (Some(_), Some(available)) if available.is_true() => "applied and available".to_owned(),
        (Some(_), Some(available)) => {
            format!(
                "applied, not available: {}",
                crate::mask::prose(&available.message)
            )
        }
        (Some(_), None) => "applied".to_owned(),
        (None, _) => "not applied yet".to_owned(),
    }
}

/// The run that the binding names, else the last one that rolled out the snapshot to the cluster.
fn rolled(
    inventory: &Inventory,
    binding: Option<&Binding>,
    cluster: &str,
    snapshot: Option<&str>,
) -> Option<Rolled> {
    let condition = binding.and_then(|it| it.status.conditions.condition(reasons::ROLLOUT_STARTED));
    let writer = condition.and_then(|it| parse_rollout_started(&it.message).run);
    let history = history(inventory);
    let of_writer = |name: &str| writer.as_deref().is_none_or(|writer| writer == name);
    let episode = history.runs.iter().rev().find(|episode| {
        let run = episode.rollout.run;
        let mut clusters = episode
            .rollout
            .stages
            .iter()
            .flat_map(|stage| &stage.clusters);
        Some(run.status.snapshot_index.as_str()) == snapshot
            && of_writer(&run.meta.name)
            && clusters.any(|it| it.name == cluster && it.started.is_some())
    })?;
    let rollout = &episode.rollout;
    let stages = rollout.stages.iter();
    let clusters = stages.flat_map(|stage| &stage.clusters);
    let view = clusters.into_iter().find(|it| it.name == cluster)?;
    let passed: Vec<_> = rollout
        .stages
        .iter()
        .map(|stage| stage.status.name.as_str())
        .take_while(|name| *name != view.stage)
        .collect();
    let approvals = of_run(rollout);
    let on_the_way = |approval: &&Approval| {
        approval.answer.is_some()
            && (passed.contains(&approval.stage.as_str())
                || approval.stage == view.stage
                    && approval.time == Some(crate::rollout::TaskTime::Before))
    };
    let approvals = approvals.iter().filter(on_the_way).map(approved);
    Some(Rolled {
        run: Subject::from(rollout.run.object()),
        stage: view.stage.to_owned(),
        started: view.started,
        ended: view.ended,
        approvals: approvals.collect(),
    })
}

fn approved(approval: &Approval) -> Approved {
    let answer = approval.answer.as_ref();
    Approved {
        request: approval.request.clone(),
        stage: approval.stage.clone(),
        at: answer.and_then(|it| it.at),
        by: answer.and_then(|it| it.by.clone()),
        reason: answer.and_then(|it| it.reason.clone()),
    }
}
