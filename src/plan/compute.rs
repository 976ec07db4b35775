//! Puts a plan together from what was read.

use super::{
    Carriers, Outcome, Plan, PlannedSnapshot, Refusal, RefusalKind, StrategyChoice, Warning, Wish,
    content, delivery, inputs, members, neighbours, overrides, policy, stages,
};
use crate::diagnose::finding::count;
use crate::diagnose::report::{NotChecked, Subject};
use crate::inventory::source::{NOT_COLLECTED, NOT_SERVED};
use crate::inventory::{Inventory, Listing};
use crate::kubefleet::object::OWN_API_VERSION;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Kind, ObjectRef};

/// A plan being made.
pub(super) struct Draft<'i> {
    pub inventory: &'i Inventory,
    pub wish: &'i Wish,
    /// The strategy, when it was seen.
    pub strategy: Option<&'i Strategy>,
    pub refusals: Vec<Refusal>,
    pub warnings: Vec<Warning>,
    pub not_checked: Vec<NotChecked>,
    /// Whether something is not known without which nobody can say what the controller would do.
    pub undecided: bool,
}

/// Computes what the controller would make of a wish. What brings a namespaced placement's namespace
/// to clusters is judged where it was read.
pub fn compute(inventory: &Inventory, wish: &Wish, carriers: Option<&Carriers>) -> Plan {
    let mut draft = Draft {
        inventory,
        wish,
        strategy: strategy(inventory, wish),
        refusals: Vec::new(),
        warnings: Vec::new(),
        not_checked: Vec::new(),
        undecided: false,
    };
    draft.gaps();
    let exists = inputs::placement(&mut draft);
    let policy = exists.then(|| policy::check(&mut draft)).flatten();
    if exists {
        inputs::bindings(&mut draft, policy);
    }
    let snapshot = content::choose(&mut draft, exists);
    let computed = stages::compute(&mut draft, snapshot.index.as_deref(), exists);
    let then = snapshot.index.as_deref();
    overrides::check(&mut draft, &computed, then);
    neighbours::state_ignored(&mut draft);
    neighbours::going_back(&mut draft, &computed, then);
    neighbours::active_runs(&mut draft, &computed, then);
    members::check(&mut draft, &computed);
    if let Some(carriers) = carriers {
        delivery::check(&mut draft, &computed, carriers);
    }
    draft.finish(policy.and_then(|policy| policy.index()), snapshot, computed)
}

/// The strategy that is meant, when it was seen.
fn strategy<'i>(inventory: &'i Inventory, wish: &'i Wish) -> Option<&'i Strategy> {
    match &wish.strategy {
        StrategyChoice::Given(given) => Some(&given.strategy),
        StrategyChoice::Named(name) => inventory.strategies.iter().find(|strategy| {
            strategy.meta.name == *name && strategy.meta.namespace == inventory.scope.namespace()
        }),
    }
}

impl Draft<'_> {
    /// The placement as an object, whether it exists or not.
    pub fn placement(&self) -> &ObjectRef {
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

    /// ` -n NAMESPACE` with its leading space, or nothing.
    pub fn flag(&self) -> String {
        self.inventory.scope.flag()
    }

    /// `kubectl fleet-stage ARGUMENTS [-n NAMESPACE]`.
    pub fn command(&self, arguments: &str) -> String {
        format!("kubectl fleet-stage {arguments}{}", self.flag())
    }

    /// Whether a list may be spoken of. Objects that a person put into a file are taken as the
    /// ones that matter.
    pub fn knows<T>(listing: &Listing<T>) -> bool {
        match listing.gap.as_deref() {
            None => true,
            Some(why) => why == NOT_COLLECTED && !listing.items.is_empty(),
        }
    }

    /// Says what nobody can say, without which the plan is not decided.
    pub fn undecided(&mut self, what: &str, why: impl Into<String>, clusters: Vec<String>) {
        self.undecided = true;
        self.not_checked.push(NotChecked {
            what: what.to_owned(),
            why: why.into(),
            subject: None,
            clusters,
        });
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
            self.undecided |= decides(*kind, self.inventory.scope.kind(Concept::Placement))
                && !(left_out && only_adds(*kind));
            self.not_checked.push(NotChecked {
                what: kind.name().to_owned(),
                why: why.clone(),
                subject: None,
                clusters: Vec::new(),
            });
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

    fn finish(
        mut self,
        policy_index: Option<&str>,
        snapshot: PlannedSnapshot,
        computed: stages::Computed,
    ) -> Plan {
        self.refusals.sort_by_key(|refusal| refusal.kind);
        self.warnings.sort_by_key(|warning| warning.kind);
        self.not_checked.sort();
        self.not_checked.dedup();
        let outcome = if !self.refusals.is_empty() {
            Outcome::Refused
        } else if self.undecided {
            Outcome::Unknown
        } else {
            Outcome::Ready
        };
        let file = match &self.wish.strategy {
            StrategyChoice::Named(_) => None,
            StrategyChoice::Given(given) => Some(given.source.clone()),
        };
        let mut plan = Plan {
            api_version: OWN_API_VERSION.to_owned(),
            kind: "Plan".to_owned(),
            outcome,
            summary: String::new(),
            placement: Subject::from(self.placement()),
            strategy: Subject::from(self.strategy_object()),
            strategy_file: file,
            run: self.wish.run.clone(),
            snapshot,
            policy_snapshot: policy_index.map(str::to_owned),
            stages: computed.stages,
            removed: computed.removed,
            unplaced: computed.unplaced,
            refusals: self.refusals,
            warnings: self.warnings,
            not_checked: self.not_checked,
            as_of: self.inventory.now,
        };
        plan.summary = summary(&plan);
        plan
    }
}

/// Whether the plan hangs on a kind. Placements of the other scope only bring a namespace.
fn decides(kind: Kind, placement: Kind) -> bool {
    match kind.concept() {
        Concept::Placement => kind == placement,
        Concept::Binding => kind.is_namespaced() == placement.is_namespaced(),
        _ => true,
    }
}

/// Whether objects of a kind only add to a plan that stands without them.
const fn only_adds(kind: Kind) -> bool {
    matches!(
        kind.concept(),
        Concept::UpdateRun | Concept::ClusterOverrideSnapshot | Concept::OverrideSnapshot
    )
}

fn summary(plan: &Plan) -> String {
    match plan.outcome {
        Outcome::Ready => {
            let updated: usize = plan.stages.iter().map(|stage| stage.clusters.len()).sum();
            let mut text = format!(
                "The controller would update {} in {}",
                count(updated, "cluster"),
                count(plan.stages.len(), "stage")
            );
            if !plan.removed.is_empty() {
                text = format!(
                    "{text} and remove the placement from {}",
                    count(plan.removed.len(), "cluster")
                );
            }
            match plan.warnings.len() {
                0 => format!("{text}."),
                number => format!("{text}; {} to consider.", count(number, "warning")),
            }
        }
        Outcome::Refused => {
            let refused = match plan.refusals.first().map(|refusal| refusal.kind) {
                Some(RefusalKind::StrategyRejected) => "The API server would refuse the strategy",
                Some(RefusalKind::MaxConcurrencyInvalid) => "The run would fail on its way",
                Some(RefusalKind::BindingOutdated) => "The controller would not begin yet",
                _ => "The controller would refuse the run",
            };
            match plan.refusals.len() {
                1 => format!("{refused}."),
                number => format!("{refused}, for {number} reasons."),
            }
        }
        Outcome::Unknown => {
            "What was read is not enough to say what the controller would do.".to_owned()
        }
    }
}
