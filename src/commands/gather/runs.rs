//! Many runs at once: each kind is listed once at most, and each run gets the verdict that `diagnose`
//! gives it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::selection::ListReach;
use crate::error::Error;
use crate::hub::ListProgress;
use crate::inventory::source::{
    HubFacts, HubQuery, NOT_COLLECTED, ObjectSource, Outcome, QueryAnswer,
};
use crate::inventory::{Inventory, Walk, choose};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::object::{Object, ObjectBody};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope, names};
use crate::report::NotChecked;
use crate::rollout::{self, Rollout};
use crate::ui::Ui;
use crate::words::distinct;

/// How much is read beside the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum ReadDepth {
    /// What a verdict needs: approval requests where a gate is open, bindings where a cluster may
    /// be stuck.
    Verdict,
    /// The same, where the runs may be listed; without them the command has other things to say.
    VerdictIfListed,
    Approvals,
    /// What the runs tell by themselves; without them the command has other things to say.
    Nothing,
}

/// Says what could not be read, where someone tried.
pub(in crate::commands) fn warn(gaps: &[NotChecked], ui: &mut Ui) {
    unlisted(gaps).for_each(|sentence| ui.warning(&sentence));
}

/// What could not be read, where someone tried, as sentences.
pub(in crate::commands) fn unlisted(gaps: &[NotChecked]) -> impl Iterator<Item = String> {
    let tried = gaps.iter().filter(|gap| gap.why != NOT_COLLECTED);
    tried.map(|gap| format!("{} cannot be listed: {}", gap.what, gap.why))
}

/// What the outcomes leave unknown. A kind that the hub does not serve has no objects.
pub(in crate::commands) fn gaps(queries: &[HubQuery], answers: &[QueryAnswer]) -> Vec<NotChecked> {
    let answers = queries.iter().zip(answers);
    let served = answers.filter(|(_, answer)| answer.outcome != Outcome::NotServed);
    distinct(served.filter_map(|(query, answer)| {
        Some(NotChecked::new(query.kind.name(), answer.outcome.gap()?))
    }))
}

/// Whether a run is one of those that are asked for: all, or with `--active` the unfinished ones.
pub(in crate::commands) fn is_asked_for(only_active: bool, run: &UpdateRun) -> bool {
    !only_active || !choose::is_finished(run)
}

/// Such a run, in a sentence.
pub(in crate::commands) const fn noun(only_active: bool) -> &'static str {
    if only_active {
        "unfinished update run"
    } else {
        "update run"
    }
}

/// That one scope has no such run, and where there are some.
pub(in crate::commands) fn none_in_scope(
    only_active: bool,
    reading: &mut SourceReading,
) -> Result<String, Error> {
    let (place, noun) = (reading.place(), noun(only_active));
    let wanted = |run: &UpdateRun| is_asked_for(only_active, run);
    let everywhere = ListReach::everywhere().every_run(reading, wanted)?;
    Ok(match everywhere.len() {
        0 => format!("{place} has no {noun}"),
        1 => format!("{place} has no {noun} in this scope, but one in another: use -A"),
        more => format!("{place} has no {noun} in this scope, but {more} in others: use -A"),
    })
}

pub(in crate::commands) struct RunRows<R> {
    /// The rows, by scope, namespace and name of their runs.
    pub runs: Vec<(ObjectRef, R)>,
    /// Every approval request that was read.
    pub approvals: Vec<Object>,
    /// The kinds that could not be listed in full, and why.
    pub gaps: Vec<NotChecked>,
}

/// Makes a row of each run that is `wanted`, and keeps nothing else of it: runs are dropped
/// as they come, unless their verdict needs something that is not read yet.
pub(in crate::commands) fn rows<R>(
    reading: &mut SourceReading,
    reach: &ListReach,
    evidence: ReadDepth,
    wanted: impl Fn(&UpdateRun) -> bool,
    mut row: impl FnMut(&Inventory, &Rollout<'_>) -> R,
) -> Result<RunRows<R>, Error> {
    let queries = reach.queries(Concept::UpdateRun);
    let mut known = KnownBefore::default();
    if evidence == ReadDepth::Approvals {
        // Without them the command has nothing to say.
        let queries = reach.queries(Concept::ApprovalRequest);
        let answers = reading.list_all(&queries)?;
        known.take_approvals(&queries, &answers);
    }
    let mut moment = reading.moment();
    let mut lists: Vec<(Vec<_>, Vec<Object>)> = Vec::new();
    lists.resize_with(queries.len(), Default::default);
    let answers = reading.each(&queries, |at, more| {
        let Some((rows, later)) = lists.get_mut(at) else {
            return;
        };
        let objects = match more {
            ListProgress::Objects(objects) => objects,
            ListProgress::Again => {
                rows.clear();
                later.clear();
                return;
            }
        };
        let now = moment();
        for object in objects {
            let Some(run) = object.get::<UpdateRun>().filter(|run| wanted(run)) else {
                continue;
            };
            let placement = run.placement();
            let group = RunsOfPlacement::new(vec![object.clone()], &Outcome::Listed);
            let approvals = known.approvals_of(&placement, &group);
            let inventory = group.inventory(&placement, now, approvals, None);
            let rollout = Rollout::of(&inventory, run);
            let needs = ReadNeeds::of(&rollout, evidence);
            if rollout::depends_on_schema(run) || needs.any() {
                later.push(object);
            } else {
                rows.push((run.object(), row(&inventory, &rollout)));
            }
        }
    });
    if evidence == ReadDepth::Verdict {
        reading.listed(&queries, &answers)?;
    }
    known.note(&queries, &answers);
    let (mut rows, mut groups) = (Vec::new(), PlacementRuns::new());
    for ((own, later), answer) in lists.into_iter().zip(&answers) {
        rows.extend(own);
        for object in later {
            let Some(run) = object.get::<UpdateRun>() else {
                continue;
            };
            let group = groups.entry(run.placement());
            let group = group.or_insert_with(|| RunsOfPlacement::new(Vec::new(), &answer.outcome));
            group.runs.push(object);
        }
    }
    let placements = known.settle(reading, reach, evidence, groups)?;
    for inventory in placements {
        for run in inventory.runs.iter() {
            rows.push((run.object(), row(&inventory, &Rollout::of(&inventory, run))));
        }
    }
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(RunRows {
        runs: rows,
        approvals: known.approvals,
        gaps: known.gaps,
    })
}

/// What is known around a run of which nothing else was read.
pub fn alone(run: &Arc<UpdateRun>, now: jiff::Timestamp) -> Inventory {
    let object = Object {
        kind: run.object().kind,
        body: ObjectBody::Run(Arc::clone(run)),
    };
    RunsOfPlacement::new(vec![object], &Outcome::Listed).inventory(
        &run.placement(),
        now,
        None,
        None,
    )
}

type PlacementRuns = BTreeMap<ObjectRef, RunsOfPlacement>;

struct RunsOfPlacement {
    runs: Vec<Object>,
    outcome: Outcome,
    facts: HubFacts,
}

impl RunsOfPlacement {
    fn new(runs: Vec<Object>, outcome: &Outcome) -> Self {
        Self {
            runs,
            outcome: outcome.clone(),
            facts: HubFacts::default(),
        }
    }

    fn runs(&self) -> impl Iterator<Item = &UpdateRun> {
        self.runs
            .iter()
            .filter_map(|object| Some(object.get::<UpdateRun>()?.as_ref()))
    }

    /// What is known around the placement.
    fn inventory(
        &self,
        placement: &ObjectRef,
        now: jiff::Timestamp,
        approvals: Option<QueryAnswer>,
        bindings: Option<QueryAnswer>,
    ) -> Inventory {
        let scope = placement.scope();
        let all = |concept| HubQuery::all(scope.kind(concept), scope.namespace());
        let unknown = || QueryAnswer::none(Outcome::NotCollected);
        let runs = QueryAnswer::new(self.runs.as_slice().into(), self.outcome.clone());
        let (queries, answers) = [
            (HubQuery::object(placement), unknown()),
            (all(Concept::UpdateRun), runs),
            (
                all(Concept::ApprovalRequest),
                approvals.unwrap_or_else(unknown),
            ),
            (all(Concept::Binding), bindings.unwrap_or_else(unknown)),
            (all(Concept::ResourceSnapshot), unknown()),
            (all(Concept::PolicySnapshot), unknown()),
        ]
        .into_iter()
        .unzip();
        let mut walk = Walk::new(placement.clone());
        walk.absorb(queries, answers);
        Inventory::new(walk, now, self.facts.clone())
    }
}

/// Asks for the schema of the runs whose conditions leave open what they mean, once per kind.
fn facts(reading: &mut SourceReading, groups: &mut PlacementRuns) {
    let mut known: HashMap<Kind, HubFacts> = HashMap::new();
    let kinds: BTreeSet<_> = groups.keys().map(|placement| placement.kind).collect();
    for kind in kinds {
        let runs = groups
            .iter()
            .filter(|(placement, _)| placement.kind == kind)
            .flat_map(|(_, group)| group.runs());
        known.insert(kind, reading.hub_facts(runs));
    }
    for (placement, group) in groups {
        if let Some(facts) = known.get(&placement.kind) {
            group.facts = facts.clone();
        }
    }
}

/// What is read beside a run for what is shown of it.
#[derive(Debug, Clone, Copy, Default)]
struct ReadNeeds {
    approvals: bool,
    bindings: bool,
}

impl ReadNeeds {
    fn of(rollout: &Rollout<'_>, evidence: ReadDepth) -> Self {
        // Whether the controller owes it a write, nothing else tells.
        let between = rollout.is_between();
        let asks = between || rollout.is_live() && rollout.open_approvals().next().is_some();
        match evidence {
            ReadDepth::Nothing => Self::default(),
            // What a gate opens depends on what the clusters have.
            ReadDepth::Approvals => Self {
                approvals: false,
                bindings: asks,
            },
            ReadDepth::Verdict | ReadDepth::VerdictIfListed => Self {
                approvals: asks,
                bindings: between || rollout.is_live() && rollout.may_be_stuck(),
            },
        }
    }

    const fn any(self) -> bool {
        self.approvals || self.bindings
    }

    const fn or(self, other: Self) -> Self {
        Self {
            approvals: self.approvals || other.approvals,
            bindings: self.bindings || other.bindings,
        }
    }
}

#[derive(Default)]
struct KnownBefore {
    approvals: Vec<Object>,
    /// The requests of a run, and the request of a name.
    by_run: HashMap<ObjectRef, Vec<usize>>,
    by_name: HashMap<ObjectRef, usize>,
    /// How it went, of each kind of requests that was asked for.
    asked: HashMap<Kind, Outcome>,
    gaps: Vec<NotChecked>,
}

impl KnownBefore {
    fn note(&mut self, queries: &[HubQuery], answers: &[QueryAnswer]) {
        self.gaps.extend(gaps(queries, answers));
        self.gaps.sort();
        self.gaps.dedup();
    }

    fn take_approvals(&mut self, queries: &[HubQuery], answers: &[QueryAnswer]) {
        self.note(queries, answers);
        for (query, answer) in queries.iter().zip(answers) {
            self.asked.insert(query.kind, answer.outcome.clone());
            for object in answer.objects.iter() {
                let Some(request) = object.get::<ApprovalRequest>() else {
                    continue;
                };
                let at = self.approvals.len();
                let name = object.reference();
                let run = name.scope().object(Concept::UpdateRun, &request.spec.run);
                self.by_run.entry(run).or_default().push(at);
                self.by_name.insert(name, at);
                self.approvals.push(object.clone());
            }
        }
    }

    /// The requests of a placement's runs, and those under the names that their gates give.
    fn approvals_of(&self, placement: &ObjectRef, group: &RunsOfPlacement) -> Option<QueryAnswer> {
        let scope = placement.scope();
        let kind = scope.kind(Concept::ApprovalRequest);
        let outcome = self.asked.get(&kind)?.clone();
        let request = |name: &str| scope.object(Concept::ApprovalRequest, name);
        let mut places = BTreeSet::new();
        for run in group.runs() {
            let own = self.by_run.get(&run.object());
            places.extend(own.into_iter().flatten().copied());
            let named = run.tasks().map(|task| request(&task.approval_request));
            places.extend(named.filter_map(|request| self.by_name.get(&request)));
        }
        let objects = places.iter().filter_map(|at| self.approvals.get(*at));
        Some(QueryAnswer::new(objects.cloned().collect(), outcome))
    }

    /// Reads what the groups need, and puts together what is known of each.
    fn settle(
        &mut self,
        reading: &mut SourceReading,
        reach: &ListReach,
        evidence: ReadDepth,
        mut groups: PlacementRuns,
    ) -> Result<Vec<Inventory>, Error> {
        facts(reading, &mut groups);
        let now = reading.now;
        let needs: Vec<ReadNeeds> = groups
            .iter()
            .map(|(placement, group)| {
                let approvals = self.approvals_of(placement, group);
                let inventory = group.inventory(placement, now, approvals, None);
                let runs = inventory.runs.iter();
                let needs = runs.map(|run| ReadNeeds::of(&Rollout::of(&inventory, run), evidence));
                needs.fold(ReadNeeds::default(), ReadNeeds::or)
            })
            .collect();
        let wanting = || groups.keys().zip(&needs);
        let mut approvals = reach.queries(Concept::ApprovalRequest);
        approvals.retain(|query| {
            wanting().any(|(placement, needs)| {
                needs.approvals && placement.scope().kind(Concept::ApprovalRequest) == query.kind
            })
        });
        let answers = reading.answer(&approvals);
        self.take_approvals(&approvals, &answers);
        let placements = groups.iter().zip(&needs);
        let placements: Vec<_> = placements
            .filter(|(_, needs)| needs.bindings)
            .map(|((placement, group), _)| {
                (placement, self.clusters(placement, group, evidence, now))
            })
            .collect();
        let mut bindings = self.bindings(reading, &placements);
        reading.no_hub()?;
        let inventories = groups.iter().map(|(placement, group)| {
            let approvals = self.approvals_of(placement, group);
            let bindings = bindings.remove(placement);
            group.inventory(placement, now, approvals, bindings)
        });
        Ok(inventories.collect())
    }

    /// Reads the bindings of placements to the clusters that matter.
    fn bindings(
        &mut self,
        reading: &mut SourceReading,
        placements: &[(&ObjectRef, RelevantClusters)],
    ) -> HashMap<ObjectRef, QueryAnswer> {
        let queries = placements.iter().map(|(placement, _)| {
            HubQuery::of_placement(placement.scope().kind(Concept::Binding), placement)
        });
        let queries: Vec<_> = queries.collect();
        let relevant = placements.iter();
        let relevant = relevant.map(|(placement, clusters)| (*placement, clusters));
        let relevant: HashMap<&ObjectRef, _> = relevant.collect();
        let mut kept: HashMap<usize, Vec<(ObjectRef, Object)>> = HashMap::new();
        let answers = reading.each_alike(&queries, |at, more| {
            let kept = kept.entry(at).or_default();
            match more {
                ListProgress::Objects(objects) => {
                    kept.extend(objects.into_iter().filter_map(|object| {
                        let meta = object.body.meta();
                        let name = meta.label(names::PARENT_PLACEMENT).unwrap_or_default();
                        let scope = Scope::of_namespace(&meta.namespace);
                        let placement = scope.object(Concept::Placement, name);
                        let cluster = &object.get::<Binding>()?.spec.cluster;
                        let clusters = relevant.get(&placement)?.as_ref();
                        let matters = clusters.is_none_or(|all| all.contains(cluster));
                        matters.then_some((placement, object))
                    }));
                }
                ListProgress::Again => kept.clear(),
            }
        });
        self.note(&queries, &answers);
        let mut found: HashMap<ObjectRef, Vec<Object>> = HashMap::new();
        for (placement, object) in kept.into_values().flatten() {
            found.entry(placement).or_default().push(object);
        }
        let answers = placements.iter().zip(answers);
        let answers = answers.map(|((placement, _), answer)| {
            let objects = found.remove(*placement).unwrap_or_default().into();
            ((*placement).clone(), QueryAnswer { objects, ..answer })
        });
        answers.collect()
    }

    /// The clusters of which bindings matter.
    fn clusters(
        &self,
        placement: &ObjectRef,
        group: &RunsOfPlacement,
        evidence: ReadDepth,
        now: jiff::Timestamp,
    ) -> RelevantClusters {
        if evidence == ReadDepth::Approvals {
            return None;
        }
        let approvals = self.approvals_of(placement, group);
        let inventory = group.inventory(placement, now, approvals, None);
        let mut clusters = BTreeSet::new();
        for run in inventory.runs.iter() {
            let rollout = Rollout::of(&inventory, run);
            if ReadNeeds::of(&rollout, evidence).bindings {
                clusters.extend(rollout.unsettled().map(|cluster| cluster.name.to_owned()));
            }
        }
        Some(clusters)
    }
}

/// Clusters that matter; `None` means all.
type RelevantClusters = Option<BTreeSet<String>>;
