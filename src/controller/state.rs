//! What the controller reads and writes, as it stands at one moment.

use jiff::Timestamp;

use crate::inventory::source::NOT_COLLECTED;
use crate::inventory::{Inventory, Listing, Sight};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::{PolicySnapshot, ResourceSnapshot};
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Condition, ConditionStatus, Conditions, Scope};
use crate::rollout::AgentVersion;

/// The objects around one run. A look of the controller changes them; what it does not change is
/// shared with the inventory.
#[derive(Debug, Clone)]
pub struct State {
    pub now: Timestamp,
    pub version: AgentVersion,
    /// Whether nothing tells that this version skips stages without clusters.
    pub is_version_guessed: bool,
    pub scope: Scope,
    pub run: UpdateRun,
    pub placement: Sight<Placement>,
    pub strategy: Sight<Strategy>,
    pub policies: Listing<PolicySnapshot>,
    pub bindings: Listing<Binding>,
    pub members: Listing<MemberCluster>,
    pub snapshots: Listing<ResourceSnapshot>,
    pub overrides: Listing<OverrideSnapshot>,
    pub approvals: Listing<ApprovalRequest>,
    /// Whether a look has met a conflict already.
    pub retried: bool,
    /// Whether the checks of the objects around the run are taken as passed: who lists runs reads no
    /// more than the runs, and a look that fails writes as much as one that goes on.
    pub trusts: bool,
}

impl State {
    /// As one of the runs on the inventory's placement finds it.
    pub fn new(inventory: &Inventory, run: &UpdateRun) -> Self {
        let (version, is_version_guessed) = AgentVersion::or_guess(inventory, run);
        Self {
            now: inventory.now,
            version,
            is_version_guessed,
            scope: inventory.scope.clone(),
            run: run.clone(),
            placement: inventory.placement.clone(),
            strategy: inventory.strategy.clone(),
            policies: read(inventory, Concept::PolicySnapshot, &inventory.policies),
            bindings: read(inventory, Concept::Binding, &inventory.bindings),
            members: read(inventory, Concept::MemberCluster, &inventory.members),
            snapshots: read(inventory, Concept::ResourceSnapshot, &inventory.snapshots),
            overrides: read(inventory, Concept::OverrideSnapshot, &inventory.overrides),
            approvals: read(inventory, Concept::ApprovalRequest, &inventory.approvals),
            retried: false,
            trusts: false,
        }
    }

    /// `NAMESPACE/NAME` of something in the run's scope, as KubeFleet prints keys.
    pub fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.scope.namespace())
    }
}

/// A list of the inventory. One that nobody asked for is no complete one.
fn read<T>(inventory: &Inventory, concept: Concept, listing: &Listing<T>) -> Listing<T> {
    let unread = || (!inventory.has_asked_for(concept)).then(|| "not requested".to_owned());
    Listing {
        items: listing.items.clone(),
        gap: listing.gap.clone().or_else(unread),
    }
}

/// Whether a list may be taken as complete: objects that a person put into a file are those that
/// matter.
pub fn known<T>(listing: &Listing<T>) -> Result<(), String> {
    match listing.gap.as_deref() {
        None => Ok(()),
        Some(NOT_COLLECTED) if !listing.items.is_empty() => Ok(()),
        Some(why) => Err(why.to_owned()),
    }
}

/// What a condition becomes: its type, status, reason, and message.
pub type WrittenCondition<'w> = (&'w str, ConditionStatus, &'w str, &'w str);

/// Sets a condition; its transition time changes with its status only.
/// Source: k8s.io/apimachinery/pkg/api/meta/conditions.go:SetStatusCondition.
pub fn set_condition(
    conditions: &mut Vec<Condition>,
    (kind, status, reason, message): WrittenCondition<'_>,
    generation: Option<i64>,
    now: Timestamp,
) {
    let at = conditions.iter().position(|it| it.kind == kind);
    let at = at.unwrap_or_else(|| {
        conditions.push(Condition {
            kind: kind.to_owned(),
            status,
            since: Some(now),
            ..Condition::default()
        });
        conditions.len().saturating_sub(1)
    });
    let Some(condition) = conditions.get_mut(at) else {
        return;
    };
    if condition.status != status {
        condition.status = status;
        condition.since = Some(now);
    }
    reason.clone_into(&mut condition.reason);
    message.clone_into(&mut condition.message);
    condition.observed_generation = generation;
}

/// Whether a condition is `True` for this generation.
/// Source: utils/condition/condition.go:IsConditionStatusTrue.
pub fn is_true(conditions: &[Condition], kind: &str, generation: Option<i64>) -> bool {
    let condition = conditions.condition(kind);
    condition.is_some_and(|it| it.is_true() && it.observes(generation))
}

/// The same for `False`.
pub fn is_false(conditions: &[Condition], kind: &str, generation: Option<i64>) -> bool {
    let condition = conditions.condition(kind);
    condition.is_some_and(|it| it.is_false() && it.observes(generation))
}
