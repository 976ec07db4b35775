//! `trace`: who put an object into a cluster, or where it was lost.

mod lost;
mod overrides;
mod text;
mod there;
mod wanted;

use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::members::{MemberAccess, no_member};
use crate::commands::gather::placement_objects::NeighborQueries;
use crate::commands::gather::reading::{InputArgs, SourceReading};
use crate::commands::gather::session::Session;
use crate::commands::gather::{pickers, runs};
use crate::commands::output::FormArg;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::ListProgress;
use crate::inventory::Inventory;
use crate::inventory::source::{HubFacts, HubQuery, Outcome};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::object::{KeptObjects, ObjectBody};
use crate::kubefleet::run::StageStatus;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::work::{ManifestStatus, Work};
use crate::kubefleet::{Concept, Conditions, Kind, Scope, names, reasons};
use crate::report::{NotChecked, Subject, TypeMeta};
use crate::rollout::approvals::{Approval, of_run};
use crate::rollout::history::history;
use crate::rollout::{GateFacts, rollout_started};
use crate::words::{CommandLine, count, enumerate};
use lost::LostAt;
use overrides::NamedOverrides;
use there::{AppliedRecords, InMember};
use wanted::WantedObject;

/// Show which rollout put an object into a cluster
///
/// Follows an object from its member cluster back to the hub: its Work, binding, snapshot, and
/// overrides, and the run that rolled it out. Shows who approved that and why. For an object that
/// the cluster does not get, it says which placements include it and where it was lost.
///
/// With a context for the member cluster, it starts there: whether the object exists, what owns it,
/// and which AppliedWork lists it. It says where the cluster and the hub's Works differ.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage trace deployment/web -n shop --member member-1\n  \
    kubectl fleet-stage trace namespace/shop --member member-1 -o json\n  \
    kubectl fleet-stage trace deployment/web -n shop --member-context CONTEXT\n\n\
    Exit codes, the same in every format:\n  \
    0  a Work for the cluster has the object\n  \
    6  none has it\n  \
    7  unknown, because too little could be read")]
pub struct TraceArgs {
    /// Object in the member cluster: KIND/NAME with -n for its namespace, or KIND/NAMESPACE/NAME
    #[arg(value_name = "KIND/NAME", add = ArgumentKind::Objects)]
    object: String,
    /// Member cluster
    #[arg(long, value_name = "CLUSTER")]
    #[arg(required_unless_present = "member_context")]
    #[arg(add = ArgumentKind::Clusters, add = ChosenAtTerminal)]
    member: Option<String>,
    /// Start from the member cluster that this kubeconfig context leads to [default: its context in
    /// the settings file]
    #[arg(long, value_name = "CONTEXT", conflicts_with = "files")]
    #[arg(add = ArgumentKind::Contexts)]
    member_context: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    form: FormArg,
}

/// Which run put an object into a cluster.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectTrace {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The object, as requested.
    object: String,
    /// The member cluster.
    cluster: String,
    /// What the member cluster itself has, if a context leads to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_member: Option<InMember>,
    /// The Works that have it: one, unless several placements include it.
    found: Vec<TracedObject>,
    /// For an object that no Work has: the placements that include it, and where it was lost.
    lost: Vec<LostAt>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// A Work that has the object.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TracedObject {
    /// The object.
    object: Subject,
    /// The Work.
    work: Subject,
    /// The envelope that holds the object.
    envelope: Option<Subject>,
    /// What the member agent reported about the object.
    state: String,
    /// The placement.
    placement: Subject,
    /// The index of the snapshot.
    snapshot: Option<String>,
    /// The binding.
    binding: Option<Subject>,
    /// The run that rolled it out.
    rollout: Option<TracedRun>,
    /// The run that the binding names as its last writer; absent if the binding does not say so.
    written_by: Option<String>,
    /// What the binding names instead, and the Works do not have yet.
    not_sent: Option<String>,
    /// The overrides that apply to the object in this cluster; none are known of a Work that the binding is ahead of.
    overrides: Vec<AppliedBy>,
}

/// The run that rolled an object out.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TracedRun {
    /// The run.
    run: Subject,
    /// The stage.
    stage: String,
    /// When the run started the cluster.
    started: Option<Timestamp>,
    /// When the run completed the cluster.
    ended: Option<Timestamp>,
    /// The approvals on the way.
    gates: Vec<GateFacts>,
}

/// An override that applies to the object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AppliedBy {
    /// The snapshot of the override.
    snapshot: Subject,
    /// The name of the override.
    name: String,
    /// The rules for this cluster, from 1; absent if its labels or the snapshot are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<usize>>,
}

impl ObjectTrace {
    /// Whether objects of one of these kinds could not be listed in full: then none says nothing.
    fn misses(&self, kinds: &[Kind]) -> bool {
        let mut gaps = self.not_checked.iter();
        gaps.any(|gap| kinds.iter().any(|kind| gap.what == kind.name()))
    }
}

pub fn run(args: &TraceArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let wanted = WantedObject::new(&args.object, session.global.namespace.as_deref())?;
    let mut member = args.member.clone();
    if member.is_none() && args.member_context.is_none() {
        if !session.ui.offers_choices() {
            return Err(Error::usage("--member or --member-context is required"));
        }
        let mut reading = session.open(&args.input, "trace")?;
        let command = CommandLine::fleet("trace").arg(&args.object);
        let command = command.namespace(session.global.namespace.as_deref().unwrap_or_default());
        member = Some(pickers::member(command, &mut reading, session.ui)?);
    }
    let member = member.as_deref();
    let way = (member, args.member_context.as_deref());
    let (mut entrance, context) = if args.input.files.is_empty() {
        MemberAccess::of_one(session, way)?
    } else {
        (MemberAccess::default(), Ok(None))
    };
    let mut reading = session.open_keeping(KeptObjects::CONTENT, &args.input, "trace")?;
    entrance.enter(&mut reading);
    let ui = &mut *session.ui;
    let mut gaps = Vec::new();
    let records =
        context.and_then(|context| AppliedRecords::read(&mut reading, context.as_deref(), member));
    let records = match (records, member) {
        (Ok(records), _) => records,
        (Err(closed), None) => return Err(Error::failed(closed.why())),
        (Err(closed), Some(member)) => {
            gaps.push(
                NotChecked::new("objects in the member cluster", closed.why())
                    .on(vec![member.to_owned()]),
            );
            None
        }
    };
    let cluster = match (member, &records) {
        (Some(member), _) => member.to_owned(),
        (None, Some(records)) => records.cluster()?,
        (None, None) => return Err(Error::usage("--member or --member-context is required")),
    };
    let (works, unread) = works_with(&mut reading, &cluster, &wanted)?;
    let seen = (works.as_slice(), unread.is_empty());
    gaps.extend(unread);
    let in_member =
        records.map(|records| records.compare(&mut reading, (&wanted, &cluster), seen, &mut gaps));
    let mut found = Vec::new();
    for work in &works {
        let manifests = work.spec.workload.manifests.iter().enumerate();
        for (at, manifest) in manifests.filter(|(_, it)| wanted.is(it)) {
            found.push(trace_in_work(
                &mut reading,
                work,
                (at, manifest),
                &mut gaps,
            )?);
        }
    }
    let lost = if found.is_empty() {
        if in_member.is_none() {
            check_member(&mut reading, &cluster)?;
        }
        lost::find(&mut reading, &wanted, (&cluster, seen.1), &mut gaps)
    } else {
        Vec::new()
    };
    gaps.sort();
    gaps.dedup();
    let trace = ObjectTrace {
        meta: TypeMeta::new("Trace"),
        object: args.object.clone(),
        cluster,
        in_member,
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

/// The Works of a cluster that have an object, and what of them could not be read.
fn works_with(
    reading: &mut SourceReading,
    cluster: &str,
    wanted: &WantedObject,
) -> Result<(Vec<Arc<Work>>, Vec<NotChecked>), Error> {
    let has = |work: &Work| work.spec.workload.manifests.iter().any(|it| wanted.is(it));
    let mut works: Vec<Arc<Work>> = Vec::new();
    let queries = [HubQuery::all(Kind::Work, &names::member_namespace(cluster))];
    let answers = reading.each(&queries, |_, more| match more {
        ListProgress::Objects(objects) => {
            works.extend(objects.into_iter().filter_map(|object| match object.body {
                ObjectBody::Work(work) if has(&work) => Some(work),
                _ => None,
            }));
        }
        ListProgress::Again => works.clear(),
    });
    reading.no_hub()?;
    Ok((works, runs::gaps(&queries, &answers)))
}

/// That the fleet has the cluster, as far as its member clusters can be listed.
fn check_member(reading: &mut SourceReading, cluster: &str) -> Result<(), Error> {
    let members = reading.ask(&HubQuery::all(Kind::MemberCluster, ""));
    let known = members.all::<MemberCluster>();
    let known: Vec<_> = known.map(|member| member.meta.name.as_str()).collect();
    let is_whole = matches!(members.outcome, Outcome::Listed) && !known.is_empty();
    if !is_whole || known.contains(&cluster) {
        return Ok(());
    }
    let (unknown, near) = no_member(cluster, known.iter().copied());
    let error = Error::not_found(unknown);
    Err(match near {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint(format!("its member clusters: {}", enumerate(&known))),
    })
}

fn trace_in_work(
    reading: &mut SourceReading,
    work: &Work,
    (at, manifest): (usize, &ManifestIdentity),
    gaps: &mut Vec<NotChecked>,
) -> Result<TracedObject, Error> {
    let placement = work.placement();
    let placement = placement.unwrap_or_else(|| Scope::Cluster.object(Concept::Placement, ""));
    let (scope, namespace) = (placement.scope(), placement.namespace.as_str());
    let mut around = NeighborQueries::new(&placement);
    let runs = HubQuery::all(scope.kind(Concept::UpdateRun), namespace);
    let binding = work
        .binding()
        .map(|name| HubQuery::named(scope.kind(Concept::Binding), namespace, name));
    around.ask(reading, [runs].into_iter().chain(binding));
    reading.no_hub()?;
    let cluster = work.cluster().unwrap_or_default();
    // What follows from the first answers is asked for at once.
    let inventory = around.inventory(reading, HubFacts::default());
    let snapshot = work.meta.label(names::PARENT_SNAPSHOT_INDEX);
    let named = |binding: &&Binding| Some(binding.meta.name.as_str()) == work.binding();
    let overrides = inventory
        .bindings_of(cluster)
        .find(named)
        .filter(|binding| is_written(binding, snapshot))
        .map(|binding| NamedOverrides::of(binding, cluster));
    let stages = inventory.runs.iter().flat_map(|run| &run.status.stages);
    let has_gates = stages.flat_map(StageStatus::approvals).next().is_some();
    let approvals = scope.kind(Concept::ApprovalRequest);
    let approvals = has_gates.then(|| HubQuery::all(approvals, namespace));
    let queries = overrides.iter().flat_map(NamedOverrides::queries);
    let answers = around.ask(reading, approvals.into_iter().chain(queries));
    reading.no_hub()?;
    gaps.extend(around.gaps());
    let inventory = &around.inventory(reading, HubFacts::default());
    let binding = inventory.bindings_of(cluster).find(named);
    let writer = binding.and_then(|binding| rollout_started(binding).run);
    let has_written = binding.is_none_or(|binding| is_written(binding, snapshot));
    Ok(TracedObject {
        object: manifest.into(),
        work: Subject::from(work.object()),
        envelope: work
            .envelope()
            .map(|it| Subject::new(&it.kind, &it.namespace, &it.name)),
        state: state(work, work.status_of(at)),
        placement: Subject::from(&placement),
        snapshot: snapshot.map(str::to_owned),
        binding: binding.map(|binding| Subject::from(binding.object())),
        rollout: rolled(
            inventory,
            (writer.as_deref(), has_written),
            cluster,
            snapshot,
        ),
        written_by: writer.clone().filter(|_| has_written),
        not_sent: binding.filter(|_| !has_written).map(|binding| {
            let index = binding.snapshot_index().unwrap_or("unknown");
            let by = writer.map_or_else(String::new, |run| format!(" by {run}"));
            format!("snapshot {index}{by}")
        }),
        overrides: overrides.map_or_else(Vec::new, |it| it.applied_to(manifest, &answers)),
    })
}

fn state(work: &Work, status: Option<&ManifestStatus>) -> String {
    let state = reported_state(work, status);
    match work.meta.deleted {
        Some(since) => format!("being removed since {since}; before that: {state}"),
        None => state,
    }
}

fn reported_state(work: &Work, status: Option<&ManifestStatus>) -> String {
    let Some(status) = status else {
        return "not reported by the member agent".to_owned();
    };
    // What was said of earlier content is not said of this: the Work's own conditions tell which it is.
    // Those of a manifest have the generation of the object in the member cluster.
    // Source: workapplier/status.go:setManifestAppliedCondition.
    let condition = |kind| {
        let told = work.status.conditions.condition(kind);
        let is_fresh = told.is_some_and(|it| it.observes(work.meta.generation));
        let condition = status.conditions.condition(kind);
        condition.filter(|_| is_fresh)
    };
    if let Some(compared) = condition(reasons::DIFF_REPORTED) {
        return match &status.diff {
            _ if !compared.is_true() => {
                format!("not compared: {}", crate::mask::prose(&compared.message))
            }
            Some(diff) => format!(
                "compared, and nothing applied: it differs in {}",
                count(diff.diffs.len(), "field")
            ),
            None => "compared, and nothing applied: it does not differ".to_owned(),
        };
    }
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
        (None, _) => "not reported yet".to_owned(),
    }
}

/// Whether a Work has what its binding names.
fn is_written(binding: &Binding, snapshot: Option<&str>) -> bool {
    !binding.is_unsent() && binding.snapshot_index() == snapshot
}

/// The run that the binding names, else the last one that rolled out the snapshot to the cluster; what the Work has
/// is of another where that one has not written it.
fn rolled(
    inventory: &Inventory,
    (writer, has_written): (Option<&str>, bool),
    cluster: &str,
    snapshot: Option<&str>,
) -> Option<TracedRun> {
    let history = history(inventory);
    let of_writer = |name: &str| writer.is_none_or(|writer| (writer == name) == has_written);
    let episode = history.runs.iter().rev().find(|episode| {
        let run = episode.rollout.run;
        let mut clusters = episode.rollout.clusters();
        Some(run.status.snapshot_index.as_str()) == snapshot
            && of_writer(&run.meta.name)
            && clusters.any(|it| it.name == cluster && it.started.is_some())
    })?;
    let rollout = &episode.rollout;
    let view = rollout.clusters().find(|it| it.name == cluster)?;
    let passed: Vec<_> = rollout
        .stages
        .iter()
        .map(|stage| stage.status.name.as_str())
        .take_while(|name| *name != view.stage)
        .collect();
    let approvals = of_run(rollout);
    let on_the_way = |approval: &&Approval| {
        approval.gate.answer.is_some()
            && (passed.contains(&approval.gate.stage.as_str())
                || approval.gate.stage == view.stage
                    && approval.gate.when == Some(crate::rollout::TaskTime::Before))
    };
    let approvals = approvals.iter().filter(on_the_way);
    Some(TracedRun {
        run: Subject::from(rollout.run.object()),
        stage: view.stage.to_owned(),
        started: view.started,
        ended: view.ended,
        gates: approvals.map(|approval| approval.gate.clone()).collect(),
    })
}
