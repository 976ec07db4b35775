//! Candidates that are read: names of what the hub has, contexts of the kubeconfig, codes.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use clap_complete::CompletionCandidate;
use jiff::Timestamp;

use crate::commands::gather::argument::ArgumentKind;
use crate::commands::gather::eligible::{self, RunFilter};
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::runs;
use crate::diagnose::rules;
use crate::hub::{ConnectionFlags, ExpectedAnswer, Hub, contexts};
use crate::inventory::choose::{has_started, is_finished};
use crate::inventory::source::{HubQuery, ObjectSource, all_of};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::object::{InBody, ObjectBody};
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::{RunState, TaskStatus, UpdateRun};
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Conditions, Kind, Scope, duration, reasons};
use crate::rollout::Rollout;
use crate::rollout::approvals::answered;
use crate::settings;
use crate::words::distinct;

/// What was typed before the cursor, and after it.
#[derive(Debug, Clone)]
pub(super) struct TypedWords {
    /// When the candidates are to be there at the latest.
    pub until: Instant,
    /// How long one request may take.
    pub limit: Duration,
    pub global: GlobalFlags,
    /// The run, request or placement that the command is about.
    pub target: Option<String>,
    pub placement: Option<String>,
}

impl TypedWords {
    /// Nothing is typed yet; the time runs from now on.
    pub fn begin() -> Self {
        let patience = patience(std::env::var(TIMEOUT).ok().as_deref());
        Self {
            until: Instant::now() + patience,
            limit: patience.saturating_sub(AROUND),
            global: GlobalFlags::default(),
            target: None,
            placement: None,
        }
    }
}

/// How long someone waits for candidates: with all that a shell does around it, a second and a half.
const PATIENCE: Duration = Duration::from_millis(1200);
/// What of it is not for a request.
const AROUND: Duration = Duration::from_millis(200);
/// Instead of that, where a hub is far away.
pub(super) const TIMEOUT: &str = "FLEET_STAGE_COMPLETE_TIMEOUT";
/// Nobody waits longer.
const LONGEST: Duration = Duration::from_hours(1);

fn patience(said: Option<&str>) -> Duration {
    let said = said.and_then(duration::parse);
    let said = said.and_then(|time| Duration::try_from(time).ok());
    said.map_or(PATIENCE, |time| time.min(LONGEST))
}

/// The candidates that begin with what is typed. A hub that is slow or away has none.
pub(super) fn candidates(
    hint: ArgumentKind,
    typed: &TypedWords,
    current: &str,
) -> Vec<CompletionCandidate> {
    let (tell, told) = channel();
    let until = typed.until;
    let (typed, word) = (typed.clone(), current.to_owned());
    std::thread::spawn(move || {
        // Nobody may listen any more.
        let _ = tell.send(found(hint, &typed, &word));
    });
    let left = until.saturating_duration_since(Instant::now());
    let found = told.recv_timeout(left).unwrap_or_default();
    found
        .into_iter()
        .filter(|(value, _)| value.starts_with(current))
        .enumerate()
        .map(|(place, (value, help))| {
            let help = (!help.is_empty()).then(|| help.into());
            CompletionCandidate::new(value)
                .help(help)
                .display_order(Some(place))
        })
        .collect()
}

type CompletionValues = Vec<(String, String)>;

fn found(hint: ArgumentKind, typed: &TypedWords, current: &str) -> CompletionValues {
    match hint {
        ArgumentKind::Codes => codes(current),
        ArgumentKind::Contexts => known_contexts(&typed.global),
        ArgumentKind::Hubs => hubs(typed, current),
        ArgumentKind::Conditions => conditions(typed, current),
        _ => CompletionHub::connect(typed)
            .and_then(|mut asked| asked.find(hint, current))
            .unwrap_or_default(),
    }
}

fn codes(current: &str) -> CompletionValues {
    let by_name = current.starts_with(|c: char| c.is_ascii_lowercase());
    rules::ALL
        .iter()
        .map(|rule| {
            if by_name {
                (rule.name.to_owned(), rule.code.to_owned())
            } else {
                (rule.code.to_owned(), rule.name.to_owned())
            }
        })
        .collect()
}

fn known_contexts(global: &GlobalFlags) -> CompletionValues {
    let variable = |name: &str| std::env::var_os(name);
    let known = contexts(&global.connection(false), &variable).unwrap_or_default();
    known
        .into_iter()
        .map(|(name, _)| (name, String::new()))
        .collect()
}

/// The groups of the settings file and the contexts; of several with commas between, the last is
/// completed.
fn hubs(typed: &TypedWords, current: &str) -> CompletionValues {
    let before = current.rfind(',').map_or("", |at| &current[..=at]);
    let own = settings::read(&|name| std::env::var_os(name)).unwrap_or_default();
    let groups = own.settings.hub_groups.into_iter();
    let mut words: CompletionValues = groups.map(|(name, hubs)| (name, hubs.join(", "))).collect();
    words.extend(known_contexts(&typed.global));
    let named_before: Vec<_> = before.split(',').collect();
    words.retain(|(name, _)| !named_before.contains(&name.as_str()));
    named(words, before)
}

/// What can be waited for; of several with commas between, the last is completed.
fn conditions(typed: &TypedWords, current: &str) -> CompletionValues {
    let before = current.rfind(',').map_or("", |at| &current[..=at]);
    let mut words: CompletionValues = [
        ("succeeded", "the run has succeeded"),
        ("initialized", "the stages are computed"),
        ("started", "the run has started its first stage"),
        ("stopped", "the run is stopped"),
        ("approval", "a gate is pending"),
    ]
    .map(|(word, help)| (word.to_owned(), help.to_owned()))
    .into();
    let run = CompletionHub::connect(typed).and_then(|mut asked| asked.run());
    for stage in run.iter().flat_map(|run| &run.status.stages) {
        let name = &stage.name;
        words.push((format!("stage={name}"), "the stage is completed".to_owned()));
        if stage.approvals().next().is_some() {
            let help = "the gate is pending".to_owned();
            words.push((format!("approval={name}"), help));
        }
    }
    named(words, before)
}

struct CompletionHub<'t> {
    hub: Hub,
    scope: Scope,
    typed: &'t TypedWords,
}

impl<'t> CompletionHub<'t> {
    fn connect(typed: &'t TypedWords) -> Option<Self> {
        let flags = ConnectionFlags {
            quiet: true,
            plugin_limit: Some(typed.limit),
            ..typed.global.connection(false)
        };
        let variable = |name: &str| std::env::var_os(name);
        let hub =
            Hub::connect(&flags, Some(typed.limit), None, &variable, Arc::new(|_| {})).ok()?;
        let scope = Scope::of_namespace(typed.global.namespace.as_deref().unwrap_or_default());
        Some(Self { hub, scope, typed })
    }

    fn find(&mut self, hint: ArgumentKind, current: &str) -> Option<CompletionValues> {
        Some(match hint {
            ArgumentKind::Runs(which) => {
                let typed_as = prefix(current, self.scope.kind(Concept::UpdateRun));
                named(self.runs(which), typed_as)
            }
            ArgumentKind::Placements => {
                let typed_as = prefix(current, self.scope.kind(Concept::Placement));
                named(self.placements(), typed_as)
            }
            ArgumentKind::Targets => self.targets(current),
            ArgumentKind::Requests => self.requests(current),
            ArgumentKind::Strategies => self.strategies(),
            ArgumentKind::Snapshots => self.snapshots()?,
            ArgumentKind::Contents => {
                let words = [
                    ("latest", "the newest snapshot"),
                    ("live", "what the placement selects now"),
                ];
                let words = words.map(|(word, help)| (word.to_owned(), help.to_owned()));
                let mut found = self.snapshots().unwrap_or_default();
                found.extend(words);
                found
            }
            ArgumentKind::Stages => self.stages()?,
            ArgumentKind::Clusters => self.clusters(),
            ArgumentKind::Objects => self.objects(),
            ArgumentKind::Namespaces => self.namespaces()?,
            ArgumentKind::Conditions
            | ArgumentKind::Contexts
            | ArgumentKind::Hubs
            | ArgumentKind::Codes => {
                return None;
            }
        })
    }

    fn list<T: InBody>(&mut self, concept: Concept) -> Vec<Arc<T>> {
        let query = HubQuery::all(self.scope.kind(concept), self.scope.namespace());
        all_of(&self.hub.answer(&[query])).cloned().collect()
    }

    fn all_runs(&mut self) -> Vec<Arc<UpdateRun>> {
        let mut runs = self.list::<UpdateRun>(Concept::UpdateRun);
        // What was made last is what is asked about most.
        runs.sort_by_key(|run| std::cmp::Reverse(run.meta.created));
        runs
    }

    fn runs(&mut self, eligible: &RunFilter) -> CompletionValues {
        let runs = self.all_runs();
        let now = Timestamp::now();
        let runs = runs
            .iter()
            .filter(|run| (eligible.is)(&Rollout::of(&runs::alone(run, now), run)));
        runs.map(|run| (run.meta.name.clone(), describe(run)))
            .collect()
    }

    fn placements(&mut self) -> CompletionValues {
        let placements = self.list::<Placement>(Concept::Placement).into_iter();
        placements
            .map(|placement| (placement.meta.name.clone(), "placement".to_owned()))
            .collect()
    }

    /// Runs by their names, placements with their type before them: a bare name means a run.
    fn targets(&mut self, current: &str) -> CompletionValues {
        let placement = self.scope.kind(Concept::Placement);
        let run = self.scope.kind(Concept::UpdateRun);
        let short = placement.short_word();
        let as_run = prefix(current, run);
        let mut found = CompletionValues::new();
        if prefix(current, placement).is_empty() {
            found.extend(named(self.runs(&eligible::EVERY), as_run));
        }
        if as_run.is_empty() {
            let typed_as = prefix(current, placement);
            let before = if typed_as.is_empty() {
                format!("{short}/")
            } else {
                typed_as.to_owned()
            };
            found.extend(named(self.placements(), &before));
        }
        found
    }

    /// The requests that wait for a person, then the runs that wait for them.
    fn requests(&mut self, current: &str) -> CompletionValues {
        let runs = self.all_runs();
        let live = |name: &str| {
            let mut own = runs.iter().filter(|run| run.meta.name == name);
            own.any(|run| !is_finished(run))
        };
        let mut found = CompletionValues::new();
        let mut waiting = Vec::new();
        for request in self.list::<ApprovalRequest>(Concept::ApprovalRequest) {
            if !answered(&request).needs_a_person() || !live(&request.spec.run) {
                continue;
            }
            let since = ago(request.meta.created);
            let text = format!("{} of {}{since}", request.spec.stage, request.spec.run);
            found.push((request.meta.name.clone(), text));
            waiting.push(request.spec.run.clone());
        }
        let request = self.scope.kind(Concept::ApprovalRequest);
        let mut found = named(found, prefix(current, request));
        waiting.sort_unstable();
        waiting.dedup();
        if prefix(current, request).is_empty() {
            let run = prefix(current, self.scope.kind(Concept::UpdateRun));
            let runs = waiting
                .into_iter()
                .map(|name| (name, "update run".to_owned()));
            found.extend(named(runs.collect(), run));
        }
        found
    }

    fn strategies(&mut self) -> CompletionValues {
        let strategies = self.list::<Strategy>(Concept::Strategy).into_iter();
        strategies
            .map(|strategy| {
                let stages = strategy.spec.stages.iter().map(|stage| stage.name.as_str());
                let stages: Vec<_> = stages.collect();
                (strategy.meta.name.clone(), stages.join(" > "))
            })
            .collect()
    }

    fn run(&mut self) -> Option<Arc<UpdateRun>> {
        let name = self.typed.target.clone()?;
        let name = name.split_once('/').map_or(name.as_str(), |(_, name)| name);
        let runs = self.all_runs();
        let own = runs.iter().find(|run| run.meta.name == name);
        own.cloned().or_else(|| {
            // A request's name begins with its run's.
            let mut of_request = runs
                .iter()
                .filter(|run| name.starts_with(&format!("{}-", run.meta.name)));
            of_request.next().cloned()
        })
    }

    /// The stages with an approval that is not given yet.
    fn stages(&mut self) -> Option<CompletionValues> {
        let run = self.run()?;
        let given = |task: &TaskStatus| task.conditions.is_true(reasons::APPROVAL_REQUEST_APPROVED);
        let stages = run.status.stages.iter();
        let open = stages.filter(|stage| stage.approvals().any(|task| !given(task)));
        let described = open.map(|stage| {
            let clusters = crate::words::count(stage.clusters.len(), "cluster");
            (stage.name.clone(), clusters)
        });
        Some(described.collect())
    }

    /// The placement that was named, or that of the run that was.
    fn placement(&mut self) -> Option<String> {
        if let Some(placement) = &self.typed.placement {
            return Some(placement.clone());
        }
        let target = self.typed.target.clone()?;
        let is_placement = |word: &str| {
            Kind::from_word(word).is_some_and(|kind| kind.concept() == Concept::Placement)
        };
        match target.split_once('/') {
            Some((kind, name)) if is_placement(kind) => Some(name.to_owned()),
            _ => Some(self.run().map_or(target, |run| run.spec.placement.clone())),
        }
    }

    fn snapshots(&mut self) -> Option<CompletionValues> {
        let placement = self.placement()?;
        let name = placement
            .split_once('/')
            .map_or(placement.as_str(), |(_, name)| name);
        let placement = self.scope.object(Concept::Placement, name);
        let snapshots = self.scope.kind(Concept::ResourceSnapshot);
        let query = HubQuery::of_placement(snapshots, &placement);
        let answers = self.hub.answer(&[query]);
        let mut found: Vec<(u64, String)> = answers
            .iter()
            .flat_map(|answer| answer.objects.iter())
            .filter_map(|object| match &object.body {
                ObjectBody::ResourceSnapshot(snapshot) if snapshot.is_master() => {
                    let latest = if snapshot.is_latest() { "latest, " } else { "" };
                    let old = ago(snapshot.meta.created);
                    let text = format!("{latest}made{}", old.trim_start_matches(','));
                    Some((snapshot.index()?.parse().ok()?, text))
                }
                _ => None,
            })
            .collect();
        found.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
        let found = found.into_iter();
        Some(
            found
                .map(|(index, text)| (index.to_string(), text))
                .collect(),
        )
    }

    fn clusters(&mut self) -> CompletionValues {
        let answers = self.hub.answer(&[HubQuery::all(Kind::MemberCluster, "")]);
        let objects = answers.iter().flat_map(|answer| answer.objects.iter());
        let names = objects.map(|object| object.body.meta().name.clone());
        names.map(|name| (name, String::new())).collect()
    }

    /// The objects of the latest snapshots, with their namespaces.
    fn objects(&mut self) -> CompletionValues {
        let own = self.typed.global.namespace.as_deref();
        let queries = [
            HubQuery::latest(Kind::ClusterResourceSnapshot, ""),
            HubQuery::latest(Kind::ResourceSnapshot, own.unwrap_or_default()),
        ];
        let answers = self.hub.answer(&queries);
        let snapshots = all_of::<ResourceSnapshot>(&answers);
        let resources = snapshots.flat_map(|snapshot| &snapshot.spec.resources);
        let near = resources.filter(|it| {
            let namespace = it.meta.namespace.as_str();
            own.is_none_or(|own| own == namespace || namespace.is_empty())
        });
        distinct(near.map(|it| {
            let (kind, meta) = (it.kind.to_ascii_lowercase(), &it.meta);
            (format!("{kind}/{}", meta.name), meta.namespace.clone())
        }))
    }

    fn namespaces(&mut self) -> Option<CompletionValues> {
        let wanted = ExpectedAnswer::list("", "Namespace");
        let list = self.hub.read_path("/api/v1/namespaces?limit=500", &wanted);
        let list: serde_json::Value = list.ok()?;
        let items = list["items"].as_array()?.iter();
        let names = items.filter_map(|item| item["metadata"]["name"].as_str());
        Some(names.map(|name| (name.to_owned(), String::new())).collect())
    }
}

fn describe(run: &UpdateRun) -> String {
    let conditions = &run.status.conditions;
    let state = if conditions.is_true(reasons::SUCCEEDED) {
        "succeeded"
    } else if is_finished(run) {
        "failed"
    } else {
        match run.spec.wants() {
            RunState::Initialize if !has_started(run) => "not started",
            RunState::Stop => "stopped",
            _ => "under way",
        }
    };
    format!(
        "{state}, of {}{}",
        run.spec.placement,
        ago(run.meta.created)
    )
}

fn ago(then: Option<Timestamp>) -> String {
    then.map_or_else(String::new, |then| {
        let age = Timestamp::now().duration_since(then);
        format!(", {} ago", duration::describe(age))
    })
}

/// The type that is typed before a name, with its slash; empty without one, or for another kind.
fn prefix(current: &str, kind: Kind) -> &str {
    match current.split_once('/') {
        Some((typed, _)) if Kind::from_word(typed) == Some(kind) => &current[..=typed.len()],
        _ => "",
    }
}

fn named(found: CompletionValues, before: &str) -> CompletionValues {
    let found = found.into_iter();
    found
        .map(|(name, help)| (format!("{before}{name}"), help))
        .collect()
}
