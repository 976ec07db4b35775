//! What each command may do on the hub: the verbs and resources that it needs, as data.
//!
//! `doctor` asks the hub for them, `doctor --rbac` writes roles from them, and a test runs every
//! command as a user who has these and no others.

pub mod manifest;

use std::collections::BTreeSet;

use crate::kubefleet::{Concept, Kind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the words are the API's
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Patch,
    Delete,
    /// `patch` of the subresource `status`.
    PatchStatus,
}

impl Verb {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Patch | Self::PatchStatus => "patch",
            Self::Delete => "delete",
        }
    }

    /// The resource in a role: the kind's own, or its status.
    pub fn resource(self, kind: Kind) -> String {
        match self {
            Self::PatchStatus => format!("{}/status", kind.plural()),
            _ => kind.plural().to_owned(),
        }
    }
}

/// Who uses a command: each role has what those before it have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Role {
    /// Reads everything, changes nothing
    #[value(alias = "reader")]
    Viewer,
    /// Approves gates
    Approver,
    /// Creates, starts, stops, and deletes runs
    Operator,
}

impl Role {
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Approver, Self::Operator];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Approver => "approver",
            Self::Operator => "operator",
        }
    }
}

/// How much a command can do without a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionNeed {
    /// Nothing: it fails, or a check refuses that a flag can take the responsibility for.
    Required,
    /// Less: it says what it could not see.
    Useful,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    pub verb: Verb,
    /// To which objects; their kind follows from the scope.
    pub concept: Concept,
    /// What the command does without it.
    pub need: PermissionNeed,
}

/// Permissions with the same need: each of the verbs for each of the concepts.
#[derive(Debug, Clone, Copy)]
struct PermissionGroup(PermissionNeed, &'static [Verb], &'static [Concept]);

impl PermissionGroup {
    fn permissions(&self) -> impl Iterator<Item = Permission> + Clone {
        let Self(need, verbs, concepts) = *self;
        concepts.iter().flat_map(move |&concept| {
            verbs.iter().map(move |&verb| Permission {
                verb,
                concept,
                need,
            })
        })
    }
}

#[derive(Debug, Clone, Copy)]
pub struct CommandPermissions {
    pub command: &'static str,
    pub role: Role,
    /// What it needs, in parts that commands share.
    parts: &'static [&'static [PermissionGroup]],
}

impl CommandPermissions {
    pub fn permissions(&self) -> impl Iterator<Item = Permission> + Clone {
        let groups = self.parts.iter().copied().flatten();
        groups.flat_map(PermissionGroup::permissions)
    }
}

const fn needs(
    command: &'static str,
    role: Role,
    parts: &'static [&'static [PermissionGroup]],
) -> CommandPermissions {
    CommandPermissions {
        command,
        role,
        parts,
    }
}

const fn required(verbs: &'static [Verb], concepts: &'static [Concept]) -> PermissionGroup {
    PermissionGroup(PermissionNeed::Required, verbs, concepts)
}

const fn useful(verbs: &'static [Verb], concepts: &'static [Concept]) -> PermissionGroup {
    PermissionGroup(PermissionNeed::Useful, verbs, concepts)
}

use Concept::{
    ApprovalRequest, Binding, ClusterOverrideSnapshot, MemberCluster, OverrideSnapshot, Placement,
    PolicySnapshot, ResourceSnapshot, Strategy, UpdateRun, Work,
};
use Verb::{Create, Delete, Get, List, Patch, PatchStatus, Watch};

/// What the walk of a diagnosis asks for, whatever the target.
#[rustfmt::skip]
const WALK: &[PermissionGroup] = &[
    required(&[Get], &[UpdateRun]),
    useful(&[List], &[UpdateRun]),
    // Of a placement as the target, everything else is unknown without it.
    useful(&[Get, List], &[Placement, Strategy, ApprovalRequest]),
    useful(&[List], &[Binding, ResourceSnapshot, PolicySnapshot, MemberCluster, Work]),
    useful(&[List], &[ClusterOverrideSnapshot, OverrideSnapshot]),
    useful(&[Get], &[ClusterOverrideSnapshot, OverrideSnapshot]),
];

/// What following a run takes. The name is looked for first, and then the run is watched whether it
/// was found or not.
const FOLLOW: &[PermissionGroup] = &[
    useful(&[Get], &[UpdateRun]),
    required(&[List, Watch], &[UpdateRun]),
    useful(&[List, Watch], &[Binding]),
    useful(&[Get, List, Watch], &[ApprovalRequest]),
];

/// What decides whether letting a run continue helps.
#[rustfmt::skip]
const PROSPECT: &[PermissionGroup] = &[
    useful(&[Get], &[Placement, ResourceSnapshot, ClusterOverrideSnapshot, OverrideSnapshot]),
    useful(&[List], &[PolicySnapshot, MemberCluster]),
];

/// What every command asks for that creates a run, before it does.
#[rustfmt::skip]
const LAUNCH: &[PermissionGroup] = &[
    required(&[Get, Create], &[UpdateRun]),
    required(&[Get], &[Placement]),
    useful(&[List], &[Placement]),
    required(&[Get], &[Strategy]),
    useful(&[List], &[Strategy]),
    required(&[List], &[UpdateRun, Binding, ResourceSnapshot, PolicySnapshot, MemberCluster]),
    required(&[List], &[ClusterOverrideSnapshot, OverrideSnapshot, ApprovalRequest]),
    useful(&[List], &[Work]),
];

/// What may come before a run that is made: others are stopped or deleted.
const FIRST: &[PermissionGroup] = &[
    useful(&[Patch, Delete], &[UpdateRun]),
    useful(&[Get], &[ApprovalRequest]),
];

/// What is watched to see what became of a write.
const WATCH: &[PermissionGroup] = &[useful(&[Watch], &[UpdateRun, Binding, ApprovalRequest])];

/// Every command that reads a hub, by name.
#[rustfmt::skip]
pub const ALL: &[CommandPermissions] = &[
    needs("approvals", Role::Viewer, &[&[
        required(&[List], &[ApprovalRequest]),
        useful(&[Get, List], &[UpdateRun]),
        useful(&[List], &[Binding]),
        useful(&[Get, List], &[Placement]),
        useful(&[List], &[PolicySnapshot, MemberCluster]),
        useful(&[Watch], &[ApprovalRequest, UpdateRun]),
    ]]),
    needs("approve", Role::Approver, &[&[
        required(&[Get, PatchStatus], &[ApprovalRequest]),
        useful(&[Get], &[UpdateRun]),
        required(&[List], &[UpdateRun, Binding]),
        useful(&[List], &[ApprovalRequest, ResourceSnapshot, Work]),
    ], PROSPECT, WATCH]),
    needs("clusters", Role::Viewer, &[&[
        required(&[Get], &[Placement]),
        required(&[List], &[Binding, PolicySnapshot, MemberCluster]),
        useful(&[List], &[UpdateRun]),
        useful(&[Get, List], &[Strategy]),
        useful(&[List], &[ClusterOverrideSnapshot, OverrideSnapshot]),
    ]]),
    needs("collect", Role::Viewer, &[WALK]),
    needs("delete", Role::Operator, &[&[
        required(&[Get, Delete], &[UpdateRun]),
        useful(&[List], &[Binding]),
        useful(&[Get], &[ApprovalRequest]),
        useful(&[List], &[UpdateRun, ApprovalRequest]),
    ], WATCH]),
    needs("diagnose", Role::Viewer, &[WALK]),
    needs("history", Role::Viewer, &[&[
        useful(&[Get], &[Placement]),
        required(&[List], &[UpdateRun]),
        useful(&[List], &[ApprovalRequest, Binding, ResourceSnapshot]),
    ]]),
    needs("init", Role::Operator, &[LAUNCH, &[
        useful(&[Delete], &[UpdateRun]),
        useful(&[Get], &[ApprovalRequest]),
    ], WATCH]),
    needs("list", Role::Viewer, &[&[
        required(&[List], &[UpdateRun]),
        useful(&[Get], &[UpdateRun]),
        useful(&[List], &[ApprovalRequest, Binding]),
        useful(&[Watch], &[UpdateRun, ApprovalRequest]),
    ]]),
    // Without those that are required a plan says nothing, without the others less.
    needs("plan", Role::Viewer, &[&[
        required(&[Get], &[Placement]),
        useful(&[List], &[Placement]),
        required(&[Get], &[Strategy]),
        useful(&[List], &[Strategy, UpdateRun]),
        required(&[List], &[Binding, ResourceSnapshot, PolicySnapshot, MemberCluster]),
        useful(&[List], &[ClusterOverrideSnapshot, OverrideSnapshot, Work]),
    ]]),
    needs("render", Role::Viewer, &[&[
        useful(&[Get], &[Placement, UpdateRun]),
        useful(&[List], &[UpdateRun]),
        required(&[List], &[Binding, ResourceSnapshot]),
        useful(&[List], &[PolicySnapshot, MemberCluster, ClusterOverrideSnapshot, OverrideSnapshot, Work]),
    ]]),
    needs("resume", Role::Operator, &[&[
        required(&[Get, Patch, List], &[UpdateRun]),
        required(&[Get], &[Placement]),
        useful(&[List], &[Placement]),
        useful(&[Get, List], &[Strategy]),
        useful(&[Get], &[ApprovalRequest]),
        required(&[List], &[ApprovalRequest, Binding]),
        useful(&[List], &[ResourceSnapshot]),
        required(&[List], &[PolicySnapshot, MemberCluster]),
        useful(&[List], &[Work]),
        useful(&[Watch], &[UpdateRun, Binding, ApprovalRequest]),
    ]]),
    needs("retry", Role::Operator, &[LAUNCH, &[
        useful(&[Patch], &[UpdateRun]),
        required(&[Delete], &[UpdateRun]),
        useful(&[Get], &[ApprovalRequest]),
    ], WATCH]),
    needs("rollback", Role::Operator, &[LAUNCH, FIRST, WATCH]),
    needs("run", Role::Operator, &[LAUNCH, FIRST, WATCH]),
    needs("snapshots", Role::Viewer, &[&[
        useful(&[Get], &[Placement]),
        required(&[List], &[ResourceSnapshot]),
        useful(&[List], &[UpdateRun, Binding]),
    ]]),
    needs("status", Role::Viewer, &[&[
        required(&[Get], &[UpdateRun]),
        useful(&[List], &[Binding]),
        useful(&[Get], &[ApprovalRequest]),
    ], PROSPECT]),
    needs("status --watch", Role::Viewer, &[FOLLOW, PROSPECT]),
    needs("stop", Role::Operator, &[&[
        required(&[Get, Patch], &[UpdateRun]),
        useful(&[List], &[Binding]),
        useful(&[Get], &[ApprovalRequest]),
        useful(&[List], &[UpdateRun, ApprovalRequest]),
    ], PROSPECT, WATCH]),
    needs("strategies", Role::Viewer, &[&[
        required(&[List], &[Strategy]),
        useful(&[Get], &[Strategy]),
        useful(&[List], &[UpdateRun, ApprovalRequest, Binding]),
    ]]),
    needs("trace", Role::Viewer, &[&[
        required(&[List], &[Work]),
        useful(&[List], &[UpdateRun]),
        useful(&[Get, List], &[Binding]),
        useful(&[List], &[ApprovalRequest, ResourceSnapshot, PolicySnapshot]),
        useful(&[Get], &[MemberCluster, ClusterOverrideSnapshot]),
        useful(&[List], &[ClusterOverrideSnapshot]),
        useful(&[Get, List], &[OverrideSnapshot]),
    ]]),
    needs("wait", Role::Viewer, &[FOLLOW, PROSPECT]),
];

pub fn of_role(role: Role) -> BTreeSet<(Verb, Concept)> {
    ALL.iter()
        .filter(|needs| needs.role <= role)
        .flat_map(CommandPermissions::permissions)
        .map(|permission| (permission.verb, permission.concept))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{ALL, PermissionNeed, Verb};
    use crate::change::guard;
    use crate::kubefleet::Concept;

    #[test]
    fn what_a_guard_reads_is_required() {
        for (command, guards) in [
            ("approve", guard::APPROVE),
            ("init", guard::INIT),
            ("init", guard::NAME),
            ("resume", guard::RESUME),
            ("rollback", guard::LAUNCH),
            ("rollback", guard::NAME),
            ("run", guard::LAUNCH),
            ("run", guard::NAME),
            ("run", guard::START),
        ] {
            let needs = ALL.iter().find(|needs| needs.command == command);
            for concept in guards.iter().flat_map(|guard| guard.reads()) {
                let verb = match concept {
                    Concept::Placement | Concept::Strategy => Verb::Get,
                    _ => Verb::List,
                };
                let mut known = needs.iter().flat_map(|needs| needs.permissions());
                let one = known.find(|one| one.verb == verb && one.concept == *concept);
                let need = one.map(|one| one.need);
                assert_eq!(
                    need,
                    Some(PermissionNeed::Required),
                    "{command}: {verb:?} {concept:?}"
                );
            }
        }
    }

    #[test]
    fn commands_are_sorted_and_ask_for_nothing_twice() {
        assert!(ALL.is_sorted_by_key(|needs| needs.command));
        for needs in ALL {
            let asked = needs.permissions().map(|one| (one.verb, one.concept));
            let unique: std::collections::BTreeSet<_> = asked.clone().collect();
            assert_eq!(asked.count(), unique.len(), "{}", needs.command);
        }
    }
}
