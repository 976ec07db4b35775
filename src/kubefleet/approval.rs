//! ClusterApprovalRequest and ApprovalRequest.

use super::meta::{Condition, Conditions, ObjectMeta};
use super::reasons::{APPROVAL_ACCEPTED, APPROVED};
use super::tolerant::model;

model! {
    /// An approval request, in either scope.
    pub struct ApprovalRequest {
        pub meta: ObjectMeta = "metadata",
        pub spec: ApprovalSpec = "spec",
        pub status: ApprovalStatus = "status",
    }

    /// `spec` of an approval request; immutable.
    pub struct ApprovalSpec {
        /// The run that waits for it.
        pub run: String = "parentStageRollout",
        /// The stage that waits for it.
        pub stage: String = "targetStage",
    }

    /// `status` of an approval request.
    pub struct ApprovalStatus {
        /// Approved (written by a person), ApprovalAccepted (written by the controller).
        pub conditions: Vec<Condition> = "conditions",
    }
}

impl ApprovalRequest {
    /// Whether it is made out to this run and stage; what it leaves open is not held against it.
    /// Source: updaterun/execution.go:handleStageApprovalTask.
    pub fn is_for(&self, run: &str, stage: &str) -> bool {
        (self.spec.run.is_empty() || self.spec.run == run)
            && (self.spec.stage.is_empty() || self.spec.stage == stage)
    }

    /// The condition that a person wrote.
    pub fn approved(&self) -> Option<&Condition> {
        self.status.conditions.condition(APPROVED)
    }

    /// What the controller says of the approval.
    pub fn accepted(&self) -> Option<&Condition> {
        self.status.conditions.condition(APPROVAL_ACCEPTED)
    }

    /// Whether the controller has taken the approval: it cannot be reverted any more.
    pub fn is_accepted(&self) -> bool {
        self.accepted()
            .is_some_and(|accepted| accepted.is_true() && accepted.observes(self.meta.generation))
    }

    /// Whether the controller will take the approval: `Approved=True` for this generation.
    /// Source: updaterun/execution.go:handleStageApprovalTask.
    pub fn counts(&self) -> bool {
        self.approved()
            .is_some_and(|approved| approved.is_true() && approved.observes(self.meta.generation))
    }

    /// The approval that the controller will take, and has not.
    pub fn untaken(&self) -> Option<&Condition> {
        let approved = self.approved();
        approved.filter(|_| self.counts() && !self.is_accepted())
    }
}
