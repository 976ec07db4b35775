//! A plan being made: what the checks read, and what they add to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::still_failing::StillFailing;
use super::{PlannedRun, Refusal, RefusalKind, StrategyChoice, Warning, WarningKind};
use crate::controller::State;
use crate::inventory::source::{NOT_COLLECTED, NOT_SERVED};
use crate::inventory::{Inventory, Sight};
use crate::kubefleet::run::{RunSpec, UpdateRun};
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Kind, ObjectRef};
use crate::problems::{Problem, StageMap};
use crate::report::NotChecked;
use crate::words::CommandLine;

/// A plan being made.
pub(super) struct PlanDraft<'i> {
    pub inventory: &'i Inventory,
    pub wish: &'i PlannedRun,
    /// The strategy, when it was seen.
    pub strategy: Option<&'i Strategy>,
    pub refusals: Vec<Refusal>,
    pub warnings: Vec<Warning>,
    pub not_checked: Vec<NotChecked>,
    /// The objects that fail in clusters and that the run does not change there.
    pub still_failing: BTreeMap<String, StillFailing>,
    pub told_by_works: Vec<String>,
    /// Whether something is not known without which nobody can say what the controller would do.
    pub undecided: bool,
}

impl<'i> PlanDraft<'i> {
    /// Nothing is decided yet, but for what could not be read.
    pub fn new(inventory: &'i Inventory, wish: &'i PlannedRun) -> Self {
        let mut draft = Self {
            inventory,
            wish,
            strategy: strategy(inventory, wish),
            refusals: Vec::new(),
            warnings: Vec::new(),
            not_checked: Vec::new(),
            still_failing: BTreeMap::new(),
            told_by_works: Vec::new(),
            undecided: false,
        };
        draft.gaps();
        draft
    }

    /// The placement as an object, whether it exists or not.
    pub fn placement(&self) -> &'i ObjectRef {
        &self.wish.placement
    }

    /// The strategy as an object, whether it exists or not.
    pub fn strategy_object(&self) -> ObjectRef {
        let name = match &self.wish.strategy {
            StrategyChoice::Named(name) => name,
            StrategyChoice::Given(given) => match given.strategy.meta.name.as_str() {
                "" => &given.source,
                _ => &given.strategy.meta.name,
            },
        };
        self.inventory.scope.object(Concept::Strategy, name)
    }

    /// Whether the schema refuses a field of a stage already.
    pub fn is_rejected(&self, stage: usize, field: &str) -> bool {
        let StrategyChoice::Given(given) = &self.wish.strategy else {
            return false;
        };
        let path = format!("spec.stages[{stage}].{field}");
        given.violations.iter().any(|violation| {
            let rest = violation.path.strip_prefix(&path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    /// `kubectl fleet-stage VERB [-n NAMESPACE]`.
    pub fn command(&self, verb: &'static str) -> CommandLine {
        self.inventory.scope.fleet(verb)
    }

    /// The objects with the run in them that is thought of.
    pub fn planned(&self, index: Option<&str>) -> State {
        let Self {
            inventory, wish, ..
        } = self;
        let asked = match wish.snapshot.as_deref() {
            Some("latest") => index,
            asked => asked,
        };
        let spec = RunSpec {
            placement: wish.placement.name.clone(),
            snapshot_index: asked.unwrap_or_default().to_owned(),
            strategy: self.strategy_object().name,
            state: Some("Run".to_owned()),
            ..RunSpec::default()
        };
        let name = wish.run.as_deref().unwrap_or("RUN");
        let run = UpdateRun::made(name, inventory.scope.namespace(), spec, inventory.now);
        State {
            strategy: self.strategy_sight(),
            ..State::new(inventory, &run)
        }
    }

    fn strategy_sight(&self) -> Sight<Strategy> {
        let strategies = &self.inventory.strategies;
        let unread = |why: &&String| *why == NOT_COLLECTED || strategies.items.is_empty();
        match (self.strategy, strategies.gap.as_ref().filter(unread)) {
            (Some(strategy), _) => Sight::Present(Arc::new(strategy.clone())),
            (None, Some(why)) => Sight::Unknown(why.clone()),
            (None, None) => Sight::Absent,
        }
    }

    /// The placement's clusters in the stages of the strategy, where both were seen.
    pub fn stage_map(&self) -> Option<StageMap<'i>> {
        let spec = &self.strategy?.spec;
        let is_absent = self.inventory.placement.is_absent();
        (!is_absent).then(|| StageMap::of(self.inventory, self.strategy_object(), spec))
    }

    pub fn has_refused(&self, kind: RefusalKind) -> bool {
        self.refusals.iter().any(|refusal| refusal.kind == kind)
    }

    pub fn refuse(&mut self, kind: RefusalKind, problem: Problem) {
        self.refusals.push(Refusal::of(kind, problem));
    }

    pub fn warn(&mut self, kind: WarningKind, problem: Problem) {
        self.warnings.push(Warning::of(kind, problem));
    }

    /// Says what nobody can say, without which the plan is not decided.
    pub fn undecided(&mut self, what: &str, why: impl Into<String>, clusters: Vec<String>) {
        self.undecided = true;
        self.not_checked
            .push(NotChecked::new(what, why).on(clusters));
    }

    /// The kinds that could not be read. What a person left out of a file leaves those plans
    /// undecided that hang on it; what was denied or failed, every plan.
    fn gaps(&mut self) {
        let inventory = self.inventory;
        for (kind, why) in &inventory.gaps {
            let left_out = why == NOT_COLLECTED;
            if (left_out && self.sees(*kind)) || (why == NOT_SERVED && only_adds(*kind)) {
                continue;
            }
            // Placements of the other scope only bring a namespace.
            self.undecided |=
                !(self.inventory.scope.is_beside(*kind) || left_out && only_adds(*kind));
            self.not_checked
                .push(NotChecked::new(kind.name(), why.clone()));
        }
    }

    /// Whether an object of the kind was seen that belongs to the plan.
    fn sees(&self, kind: Kind) -> bool {
        let inventory = self.inventory;
        match kind.concept() {
            Concept::UpdateRun => !inventory.runs.items.is_empty(),
            Concept::Strategy => self.strategy.is_some(),
            Concept::Placement => {
                kind == inventory.scope.kind(Concept::Placement)
                    && inventory.placement.present().is_some()
            }
            Concept::Binding => !inventory.bindings.items.is_empty(),
            Concept::ResourceSnapshot => !inventory.snapshots.items.is_empty(),
            Concept::PolicySnapshot => !inventory.policies.items.is_empty(),
            Concept::MemberCluster => !inventory.members.items.is_empty(),
            _ => false,
        }
    }
}

/// The strategy that is meant, when it was seen.
fn strategy<'i>(inventory: &'i Inventory, wish: &'i PlannedRun) -> Option<&'i Strategy> {
    match &wish.strategy {
        StrategyChoice::Given(given) => Some(&given.strategy),
        StrategyChoice::Named(name) => inventory.strategies.iter().find(|strategy| {
            strategy.meta.name == *name && strategy.meta.namespace == inventory.scope.namespace()
        }),
    }
}

/// Whether objects of a kind only add to a plan that stands without them.
const fn only_adds(kind: Kind) -> bool {
    matches!(
        kind.concept(),
        Concept::UpdateRun | Concept::ClusterOverrideSnapshot | Concept::OverrideSnapshot
    )
}
