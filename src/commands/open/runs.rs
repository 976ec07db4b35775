//! Many runs at once: one list request per kind, and the verdict that `diagnose` gives of each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::commands::open::global::Global;
use crate::commands::open::reading::Reading;
use crate::error::Error;
use crate::inventory::source::{Answer, HubFacts, Outcome, Query, Source};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::object::{Body, Object};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope, names};
use crate::report::NotChecked;
use crate::rollout::Rollout;
use crate::ui::Ui;

/// Where a command that lists looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum Reach {
    /// In one scope.
    One(Scope),
    /// In both scopes and all namespaces.
    Everywhere,
}

impl Reach {
    /// What `-n` and `-A` ask for.
    pub fn of(global: &Global, everywhere: bool) -> Result<Self, Error> {
        match (&global.namespace, everywhere) {
            (Some(_), true) => Err(Error::usage("-A and -n cannot be used together")),
            (_, true) => Ok(Self::Everywhere),
            (namespace, false) => Ok(Self::One(Scope::of_namespace(
                namespace.as_deref().unwrap_or_default(),
            ))),
        }
    }

    /// Every object of a concept.
    pub fn queries(&self, concept: Concept) -> Vec<Query> {
        match self {
            Self::One(scope) => vec![Query::all(scope.kind(concept), scope.namespace())],
            Self::Everywhere => Kind::ALL
                .iter()
                .filter(|kind| kind.concept() == concept)
                .map(|kind| Query::all(*kind, ""))
                .collect(),
        }
    }

    /// Whether objects of several namespaces may be found.
    pub const fn is_everywhere(&self) -> bool {
        matches!(self, Self::Everywhere)
    }
}

/// How much is read beside the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Evidence {
    /// What a verdict needs: approval requests where a gate is open, bindings where a cluster may
    /// be stuck.
    Verdict,
    /// The same, where the runs may be listed; without them the command has other things to say.
    VerdictIfListed,
    /// All approval requests.
    Approvals,
}

/// Runs, by placement.
pub(in crate::commands) struct Runs {
    /// What is known around each placement that a run names, by scope, namespace and name.
    pub placements: Vec<Inventory>,
    /// Every approval request that was read.
    pub approvals: Vec<Object>,
    /// The kinds that could not be listed in full, and why.
    pub gaps: Vec<NotChecked>,
}

impl Runs {
    /// Every run, understood: by scope and namespace, then name.
    pub fn rollouts(&self) -> Vec<(&Inventory, Rollout<'_>)> {
        let mut rollouts: Vec<_> = self
            .placements
            .iter()
            .flat_map(|inventory| {
                let runs = inventory.runs.iter();
                runs.map(move |run| (inventory, Rollout::of(inventory, run)))
            })
            .collect();
        rollouts.sort_by_cached_key(|(_, rollout)| rollout.run.object());
        rollouts
    }

    /// Says which kinds could not be listed.
    pub fn warn(&self, ui: &mut Ui) {
        warn(&self.gaps, ui);
    }
}

/// Says what could not be read, where someone tried.
pub(in crate::commands) fn warn(gaps: &[NotChecked], ui: &mut Ui) {
    for gap in gaps.iter().filter(|gap| gap.why != "not collected") {
        ui.warning(&format!("{} cannot be listed: {}", gap.what, gap.why));
    }
}

/// What the outcomes leave unknown. A kind that the hub does not serve has no objects.
pub(in crate::commands) fn gaps(queries: &[Query], answers: &[Answer]) -> Vec<NotChecked> {
    let mut gaps: Vec<_> = queries
        .iter()
        .zip(answers)
        .filter(|(_, answer)| answer.outcome != Outcome::NotServed)
        .filter_map(|(query, answer)| {
            Some(NotChecked {
                what: query.kind.name().to_owned(),
                why: answer.outcome.gap()?,
                subject: None,
                clusters: Vec::new(),
            })
        })
        .collect();
    gaps.sort();
    gaps.dedup();
    gaps
}

/// Reads the runs that are `wanted`, and what their verdicts need.
pub(in crate::commands) fn read(
    reading: &mut Reading,
    reach: &Reach,
    evidence: Evidence,
    wanted: impl Fn(&UpdateRun) -> bool,
) -> Result<Runs, Error> {
    let queries = reach.queries(Concept::UpdateRun);
    let answers = reading.answer(&queries);
    if evidence == Evidence::Verdict {
        reading.listed(&queries, &answers)?;
    }
    let mut groups: BTreeMap<ObjectRef, Group> = BTreeMap::new();
    for (query, answer) in queries.iter().zip(&answers) {
        for object in answer.objects.iter() {
            let Body::Run(run) = &object.body else {
                continue;
            };
            if wanted(run) {
                let placement = run.scope().object(Concept::Placement, &run.spec.placement);
                let group = groups.entry(placement).or_insert_with(|| Group {
                    runs: Vec::new(),
                    outcome: answer.outcome.clone(),
                    facts: HubFacts::default(),
                });
                debug_assert_eq!(query.kind, object.kind);
                group.runs.push(object.clone());
            }
        }
    }
    facts(reading, &mut groups);
    let needs: Vec<_> = groups
        .iter()
        .map(|(placement, group)| Needs::of(&group.inventory(placement, reading.now, None, None)))
        .collect();
    let more = more(reach, evidence, &groups.keys().zip(&needs));
    let further = reading.answer(&more);
    let mut gaps = gaps(&queries, &answers);
    gaps.extend(self::gaps(&more, &further));
    if evidence == Evidence::Approvals {
        let (asked, answered): (Vec<_>, Vec<_>) = more
            .iter()
            .zip(&further)
            .filter(|(query, _)| query.kind.concept() == Concept::ApprovalRequest)
            .map(|(query, answer)| (query.clone(), answer.clone()))
            .unzip();
        reading.listed(&asked, &answered)?;
    }
    let known = Known::new(&more, &further);
    let placements = groups
        .iter()
        .map(|(placement, group)| {
            let approvals = known.approvals(placement, group);
            let bindings = known.bindings(placement);
            group.inventory(placement, reading.now, approvals, bindings)
        })
        .collect();
    Ok(Runs {
        placements,
        approvals: known.approvals.into_values().flatten().collect(),
        gaps,
    })
}

/// The runs on one placement.
struct Group {
    runs: Vec<Object>,
    outcome: Outcome,
    facts: HubFacts,
}

impl Group {
    fn runs(&self) -> impl Iterator<Item = &UpdateRun> {
        self.runs.iter().filter_map(|object| match &object.body {
            Body::Run(run) => Some(run.as_ref()),
            _ => None,
        })
    }

    /// What is known around the placement.
    fn inventory(
        &self,
        placement: &ObjectRef,
        now: jiff::Timestamp,
        approvals: Option<Answer>,
        bindings: Option<Answer>,
    ) -> Inventory {
        let scope = placement.scope();
        let all = |concept| Query::all(scope.kind(concept), scope.namespace());
        let unknown = || Answer::none(Outcome::NotCollected);
        let runs = Answer {
            objects: self.runs.as_slice().into(),
            outcome: self.outcome.clone(),
        };
        let (queries, answers) = [
            (
                Query::named(placement.kind, &placement.namespace, &placement.name),
                unknown(),
            ),
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
fn facts(reading: &mut Reading, groups: &mut BTreeMap<ObjectRef, Group>) {
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

/// What the verdicts of some runs depend on.
struct Needs {
    approvals: bool,
    bindings: bool,
}

impl Needs {
    fn of(inventory: &Inventory) -> Self {
        let rollouts = || inventory.runs.iter().map(|run| Rollout::of(inventory, run));
        Self {
            approvals: rollouts()
                .any(|rollout| rollout.is_live() && rollout.open_approvals().next().is_some()),
            bindings: rollouts().any(|rollout| rollout.is_live() && rollout.may_be_stuck()),
        }
    }
}

/// The further questions: at most one per kind.
fn more<'n>(
    reach: &Reach,
    evidence: Evidence,
    needs: &(impl Iterator<Item = (&'n ObjectRef, &'n Needs)> + Clone),
) -> Vec<Query> {
    let approvals = evidence == Evidence::Approvals;
    let mut queries = Vec::new();
    for query in reach.queries(Concept::ApprovalRequest) {
        let wants = |(placement, needs): (&ObjectRef, &Needs)| {
            needs.approvals && placement.kind.is_namespaced() == query.kind.is_namespaced()
        };
        if approvals || needs.clone().any(wants) {
            queries.push(query);
        }
    }
    for query in reach.queries(Concept::Binding) {
        let mut wanting = needs.clone().filter(|(placement, needs)| {
            // What a gate opens depends on what the clusters have.
            let wanted = if approvals {
                needs.approvals
            } else {
                needs.bindings
            };
            wanted && placement.kind.is_namespaced() == query.kind.is_namespaced()
        });
        queries.extend(match (wanting.next(), wanting.next()) {
            (None, _) => None,
            (Some((placement, _)), None) => Some(Query::labelled(
                query.kind,
                &placement.namespace,
                names::PARENT_PLACEMENT,
                &placement.name,
            )),
            (Some(_), Some(_)) => Some(query),
        });
    }
    queries
}

/// The answers to the further questions, by what they belong to.
#[derive(Default)]
struct Known {
    outcomes: HashMap<Kind, Outcome>,
    approvals: BTreeMap<String, Vec<Object>>,
    bindings: HashMap<(Kind, String, String), Vec<Object>>,
}

impl Known {
    fn new(queries: &[Query], answers: &[Answer]) -> Self {
        let mut known = Self::default();
        for (query, answer) in queries.iter().zip(answers) {
            known.outcomes.insert(query.kind, answer.outcome.clone());
            for object in answer.objects.iter() {
                let meta = object.body.meta();
                if let Body::Approval(_) = &object.body {
                    let namespace = meta.namespace.clone();
                    let objects = known.approvals.entry(namespace).or_default();
                    objects.push(object.clone());
                } else if let Some(placement) = meta.label(names::PARENT_PLACEMENT) {
                    let key = (object.kind, meta.namespace.clone(), placement.to_owned());
                    known.bindings.entry(key).or_default().push(object.clone());
                }
            }
        }
        known
    }

    /// The requests of a placement's runs, and those under the names that their gates give.
    fn approvals(&self, placement: &ObjectRef, group: &Group) -> Option<Answer> {
        let kind = placement.scope().kind(Concept::ApprovalRequest);
        let outcome = self.outcomes.get(&kind)?.clone();
        let runs: BTreeSet<_> = group.runs().map(|run| run.meta.name.as_str()).collect();
        let named: BTreeSet<_> = group
            .runs()
            .flat_map(UpdateRun::all_stages)
            .flat_map(|stage| stage.before.iter().chain(&stage.after))
            .map(|task| task.approval_request.as_str())
            .collect();
        let objects = self
            .approvals
            .get(&placement.namespace)
            .into_iter()
            .flatten()
            .filter(|object| match &object.body {
                Body::Approval(request) => {
                    runs.contains(request.spec.run.as_str())
                        || named.contains(request.meta.name.as_str())
                }
                _ => false,
            })
            .cloned()
            .collect();
        Some(Answer { objects, outcome })
    }

    fn bindings(&self, placement: &ObjectRef) -> Option<Answer> {
        let kind = placement.scope().kind(Concept::Binding);
        let outcome = self.outcomes.get(&kind)?.clone();
        let key = (kind, placement.namespace.clone(), placement.name.clone());
        let objects = self.bindings.get(&key).map_or(&[][..], Vec::as_slice);
        Some(Answer {
            objects: objects.into(),
            outcome,
        })
    }
}
