//! Puts a plan together from what was read.

use super::draft::PlanDraft;
use super::{
    ObjectChanges, Plan, PlanContents, PlanOutcome, PlannedCluster, PlannedRun, PlannedSnapshot,
    RefusalKind, StrategyChoice, Warning, WarningKind, changes, content, limits, lost, members,
    neighbours, overrides, refusals, stages, strategy,
};
use crate::controller;
use crate::inventory::Inventory;
use crate::kubefleet::Concept;
use crate::problems::ProblemsInTheWay;
use crate::report::{ComposeText, Subject, TypeMeta};
use crate::words::{count, enumerate, said_if};

/// Computes what the controller would make of a wish.
pub fn compute(inventory: &Inventory, wish: &PlannedRun, contents: &PlanContents<'_>) -> Plan {
    let mut draft = PlanDraft::new(inventory, wish);
    let snapshot = content::choose(&mut draft, contents);
    let then = snapshot.snapshot.as_deref();
    let (planned, findings) = controller::initialize(draft.planned(then));
    let map = draft.stage_map();
    refusals::refuse(&mut draft, &findings, map.as_ref(), then);
    strategy::check(&mut draft);
    let computed = stages::compute(&mut draft, &planned, map.as_ref(), then);
    overrides::check(&mut draft, &computed, then);
    content::empty(&mut draft, &computed, then);
    content::reused(&mut draft, &computed, &contents.works.as_asked);
    content::of_hub(&mut draft, then, contents.unclear);
    content::unmatched(&mut draft, contents.unmatched);
    let changes = if let Some(why) = content::reselected(&draft, contents) {
        let clusters = computed.updated().map(|it| it.name.clone()).collect();
        draft.not_checked.push(changes::unknown((why, clusters)));
        Vec::new()
    } else {
        changes::compute(&mut draft, &computed, then, contents)
    };
    lost::check(&mut draft, &changes, then);
    neighbours::state_ignored(&mut draft);
    neighbours::going_back(&mut draft, &computed, then);
    neighbours::active_runs(&mut draft, &computed, then);
    neighbours::dropped_gates(&mut draft, &planned.run);
    members::check(&mut draft, &computed, &planned.run);
    members::failing(&mut draft, &planned.run, &changes);
    members::switched(&mut draft, &planned.run);
    limits::check(&mut draft, &computed);
    let policy = inventory.latest_policy();
    let policy = policy.filter(|_| !inventory.placement.is_absent());
    let policy = policy.and_then(|policy| policy.index());
    let mut plan = finish(draft, policy, snapshot, (computed, changes));
    if plan.outcome == PlanOutcome::Ready {
        stages::foresee(&mut plan, inventory, &planned);
    }
    plan
}

/// Says how it comes out.
fn finish(
    mut draft: PlanDraft<'_>,
    policy_index: Option<&str>,
    content: PlannedSnapshot,
    (computed, changes): (stages::ComputedStages, Vec<ObjectChanges>),
) -> Plan {
    draft.refusals.sort_by_key(|refusal| refusal.kind);
    draft.warnings.sort_by_key(|warning| warning.kind);
    draft.not_checked.sort();
    draft.not_checked.dedup();
    let outcome = if !draft.refusals.is_empty() {
        PlanOutcome::Refused
    } else if draft.undecided {
        PlanOutcome::Unknown
    } else {
        PlanOutcome::Ready
    };
    let file = match &draft.wish.strategy {
        StrategyChoice::Named(_) => None,
        StrategyChoice::Given(given) => Some(given.source.clone()),
    };
    let run = draft.wish.run.as_ref();
    let mut plan = Plan {
        meta: TypeMeta::new("Plan"),
        outcome,
        summary: String::new(),
        placement: Subject::from(draft.placement()),
        strategy: Subject::from(draft.strategy_object()),
        strategy_file: file,
        run: run.map(|name| {
            draft
                .placement()
                .scope()
                .object(Concept::UpdateRun, name)
                .into()
        }),
        content,
        policy_snapshot: policy_index.map(str::to_owned),
        stages: computed.stages,
        removed: computed.removed,
        unplaced: computed.unplaced,
        changes,
        refusals: draft.refusals,
        warnings: draft.warnings,
        not_checked: draft.not_checked,
        compares_only: draft.inventory.compares_only(),
        told_by_works: draft.told_by_works,
        as_of: draft.inventory.now,
    };
    plan.summary = summary(&plan, draft.inventory);
    plan
}

impl Plan {
    /// Adds what was found in the way of the objects that are new to clusters.
    pub fn warn_in_the_way(&mut self, found: ProblemsInTheWay, inventory: &Inventory) {
        let ProblemsInTheWay { placed, earlier } = found;
        let earlier = earlier.map(|it| (WarningKind::EarlierWorkRemains, it));
        let placed = placed.into_iter();
        let remove = "Remove it from the content of one of the two placements first.";
        let placed = placed.map(|it| (WarningKind::ObjectOfAnotherPlacement, it.fix(remove)));
        let found = placed.chain(earlier);
        self.warnings
            .extend(found.map(|(kind, problem)| Warning::of(kind, problem)));
        self.warnings.sort_by_key(|warning| warning.kind);
        self.summary = summary(self, inventory);
    }
}

fn summary(plan: &Plan, inventory: &Inventory) -> String {
    match plan.outcome {
        PlanOutcome::Ready => {
            let updated: usize = plan.stages.iter().map(|stage| stage.clusters.len()).sum();
            let does = if plan.compares_only {
                "compare, without applying anything (ReportDiff),"
            } else {
                "update"
            };
            let mut text = format!(
                "The controller would {does} {} in {}",
                count(updated, "cluster"),
                count(plan.stages.len(), "stage")
            );
            let removed = plan.removed.iter();
            let is_absent = |it: &&PlannedCluster| inventory.keeps_content(&it.name);
            let (left, there): (Vec<_>, Vec<_>) = removed.partition(is_absent);
            if !there.is_empty() {
                let clusters = count(there.len(), "cluster");
                text = format!("{text} and remove the placement from {clusters}");
            }
            if !left.is_empty() {
                let left = enumerate(left.iter().map(|it| &it.name));
                text = format!("{text} and delete the binding of {left}, which left the fleet");
            }
            match plan.warnings.len() {
                0 => format!("{text}."),
                number => {
                    let is_named = plan.content.requested_snapshot.is_some();
                    let mut warnings = plan.warnings.iter();
                    let stops = warnings.any(|it| it.stops_scripts(is_named));
                    let stops = said_if(stops, " `run --yes` refuses to start it.");
                    format!("{text}; {} to consider.{stops}", count(number, "warning"))
                }
            }
        }
        PlanOutcome::Refused => {
            let refused = match plan.refusals.first().map(|refusal| refusal.kind) {
                Some(RefusalKind::StrategyRejected) => "The API server would refuse the strategy",
                Some(RefusalKind::MaxConcurrencyInvalid) => "The run would fail midway",
                Some(RefusalKind::BindingOutdated) => "The controller would not start yet",
                _ => "The controller would refuse the run",
            };
            match plan.refusals.len() {
                1 => format!("{refused}."),
                number => format!("{refused}, for {number} reasons."),
            }
        }
        PlanOutcome::Unknown => {
            "What the controller would do is unknown: too little could be read.".to_owned()
        }
    }
}
