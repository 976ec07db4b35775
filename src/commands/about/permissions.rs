//! What each command may do on the hub: the verbs and resources that it needs, as data.
//!
//! `doctor` asks the hub for them, `doctor --rbac` writes roles from them, and a test runs every
//! command as a user who has these and no others.

pub mod manifest;

use std::collections::BTreeSet;

use crate::kubefleet::{Concept, Kind};

/// What is done to a resource.
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
    /// The word in a role.
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
    /// All of them, from the least to the most.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Approver, Self::Operator];

    /// Its word in names and flags.
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

/// One permission of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    /// What is done.
    pub verb: Verb,
    /// To which objects; their kind follows from the scope.
    pub concept: Concept,
    /// What the command does without it.
    pub need: PermissionNeed,
}

/// The permissions of a command.
#[derive(Debug, Clone, Copy)]
pub struct CommandPermissions {
    pub command: &'static str,
    /// Who uses it.
    pub role: Role,
    /// What it needs, in parts that commands share.
    parts: &'static [&'static [Permission]],
}

impl CommandPermissions {
    /// What it needs.
    pub fn permissions(&self) -> impl Iterator<Item = &'static Permission> + Clone {
        self.parts.iter().copied().flatten()
    }
}

const fn needs(
    command: &'static str,
    role: Role,
    parts: &'static [&'static [Permission]],
) -> CommandPermissions {
    CommandPermissions {
        command,
        role,
        parts,
    }
}

const fn required(verb: Verb, concept: Concept) -> Permission {
    Permission {
        verb,
        concept,
        need: PermissionNeed::Required,
    }
}

const fn useful(verb: Verb, concept: Concept) -> Permission {
    Permission {
        verb,
        concept,
        need: PermissionNeed::Useful,
    }
}

use Concept::{
    ApprovalRequest, Binding, ClusterOverrideSnapshot, MemberCluster, OverrideSnapshot, Placement,
    PolicySnapshot, ResourceSnapshot, Strategy, UpdateRun, Work,
};
use Verb::{Create, Delete, Get, List, Patch, PatchStatus, Watch};

/// What the walk of a diagnosis asks for, whatever the target.
const WALK: &[Permission] = &[
    required(Get, UpdateRun),
    useful(List, UpdateRun),
    // Of a placement as the target, everything else is unknown without it.
    useful(Get, Placement),
    useful(List, Placement),
    useful(Get, Strategy),
    useful(List, Strategy),
    useful(Get, ApprovalRequest),
    useful(List, ApprovalRequest),
    useful(List, Binding),
    useful(List, ResourceSnapshot),
    useful(List, PolicySnapshot),
    useful(List, MemberCluster),
    useful(List, Work),
    useful(List, ClusterOverrideSnapshot),
    useful(List, OverrideSnapshot),
    useful(Get, ClusterOverrideSnapshot),
    useful(Get, OverrideSnapshot),
];

/// What following a run takes. The name is looked for first, and then the run is watched whether it
/// was found or not.
const FOLLOW: &[Permission] = &[
    useful(Get, UpdateRun),
    required(List, UpdateRun),
    required(Watch, UpdateRun),
    useful(List, Binding),
    useful(Watch, Binding),
    useful(Get, ApprovalRequest),
    useful(List, ApprovalRequest),
    useful(Watch, ApprovalRequest),
];

/// What decides whether letting a run continue helps.
const PROSPECT: &[Permission] = &[
    useful(Get, Placement),
    useful(Get, ResourceSnapshot),
    useful(Get, ClusterOverrideSnapshot),
    useful(Get, OverrideSnapshot),
    useful(List, PolicySnapshot),
    useful(List, MemberCluster),
];

/// What every command asks for that creates a run, before it does.
const LAUNCH: &[Permission] = &[
    required(Get, UpdateRun),
    required(Create, UpdateRun),
    required(Get, Placement),
    useful(List, Placement),
    required(Get, Strategy),
    useful(List, Strategy),
    required(List, UpdateRun),
    required(List, Binding),
    required(List, ResourceSnapshot),
    required(List, PolicySnapshot),
    required(List, MemberCluster),
    required(List, ClusterOverrideSnapshot),
    required(List, OverrideSnapshot),
    required(List, ApprovalRequest),
    useful(List, Work),
];

/// What may come before a run that is made: others are stopped or deleted.
const FIRST: &[Permission] = &[
    useful(Patch, UpdateRun),
    useful(Delete, UpdateRun),
    useful(Get, ApprovalRequest),
];

/// What is watched to see what became of a write.
const WATCH: &[Permission] = &[
    useful(Watch, UpdateRun),
    useful(Watch, Binding),
    useful(Watch, ApprovalRequest),
];

/// Every command that reads a hub, by name.
pub const ALL: &[CommandPermissions] = &[
    needs(
        "approvals",
        Role::Viewer,
        &[&[
            required(List, ApprovalRequest),
            useful(Get, UpdateRun),
            useful(List, UpdateRun),
            useful(List, Binding),
            useful(Get, Placement),
            useful(List, Placement),
            useful(List, PolicySnapshot),
            useful(List, MemberCluster),
            useful(Watch, ApprovalRequest),
            useful(Watch, UpdateRun),
        ]],
    ),
    needs(
        "approve",
        Role::Approver,
        &[
            &[
                required(Get, ApprovalRequest),
                required(PatchStatus, ApprovalRequest),
                useful(Get, UpdateRun),
                required(List, UpdateRun),
                required(List, Binding),
                useful(List, ApprovalRequest),
                useful(List, Work),
            ],
            PROSPECT,
            WATCH,
        ],
    ),
    needs(
        "clusters",
        Role::Viewer,
        &[&[
            required(Get, Placement),
            required(List, Binding),
            required(List, PolicySnapshot),
            required(List, MemberCluster),
            useful(List, UpdateRun),
            useful(Get, Strategy),
            useful(List, Strategy),
            useful(List, ClusterOverrideSnapshot),
            useful(List, OverrideSnapshot),
        ]],
    ),
    needs("collect", Role::Viewer, &[WALK]),
    needs(
        "delete",
        Role::Operator,
        &[
            &[
                required(Get, UpdateRun),
                required(Delete, UpdateRun),
                useful(List, Binding),
                useful(Get, ApprovalRequest),
                useful(List, UpdateRun),
                useful(List, ApprovalRequest),
            ],
            WATCH,
        ],
    ),
    needs("diagnose", Role::Viewer, &[WALK]),
    needs(
        "history",
        Role::Viewer,
        &[&[
            useful(Get, Placement),
            required(List, UpdateRun),
            useful(List, ApprovalRequest),
            useful(List, Binding),
            useful(List, ResourceSnapshot),
        ]],
    ),
    needs(
        "init",
        Role::Operator,
        &[
            LAUNCH,
            &[useful(Delete, UpdateRun), useful(Get, ApprovalRequest)],
            WATCH,
        ],
    ),
    needs(
        "list",
        Role::Viewer,
        &[&[
            required(List, UpdateRun),
            useful(Get, UpdateRun),
            useful(List, ApprovalRequest),
            useful(List, Binding),
            useful(Watch, UpdateRun),
            useful(Watch, ApprovalRequest),
        ]],
    ),
    // Without those that are required a plan says nothing, without the others less.
    needs(
        "plan",
        Role::Viewer,
        &[&[
            required(Get, Placement),
            useful(List, Placement),
            required(Get, Strategy),
            useful(List, Strategy),
            useful(List, UpdateRun),
            required(List, Binding),
            required(List, ResourceSnapshot),
            required(List, PolicySnapshot),
            required(List, MemberCluster),
            useful(List, ClusterOverrideSnapshot),
            useful(List, OverrideSnapshot),
            useful(List, Work),
        ]],
    ),
    needs(
        "render",
        Role::Viewer,
        &[&[
            useful(Get, Placement),
            useful(Get, UpdateRun),
            useful(List, UpdateRun),
            required(List, Binding),
            required(List, ResourceSnapshot),
            useful(List, PolicySnapshot),
            useful(List, MemberCluster),
            useful(List, ClusterOverrideSnapshot),
            useful(List, OverrideSnapshot),
            useful(List, Work),
        ]],
    ),
    needs(
        "resume",
        Role::Operator,
        &[&[
            required(Get, UpdateRun),
            required(Patch, UpdateRun),
            required(List, UpdateRun),
            required(Get, Placement),
            useful(List, Placement),
            useful(Get, Strategy),
            useful(List, Strategy),
            useful(Get, ApprovalRequest),
            required(List, ApprovalRequest),
            required(List, Binding),
            useful(List, ResourceSnapshot),
            required(List, PolicySnapshot),
            required(List, MemberCluster),
            useful(List, Work),
            useful(Watch, UpdateRun),
            useful(Watch, Binding),
            useful(Watch, ApprovalRequest),
        ]],
    ),
    needs(
        "retry",
        Role::Operator,
        &[
            LAUNCH,
            &[
                useful(Patch, UpdateRun),
                required(Delete, UpdateRun),
                useful(Get, ApprovalRequest),
            ],
            WATCH,
        ],
    ),
    needs("rollback", Role::Operator, &[LAUNCH, FIRST, WATCH]),
    needs("run", Role::Operator, &[LAUNCH, FIRST, WATCH]),
    needs(
        "snapshots",
        Role::Viewer,
        &[&[
            useful(Get, Placement),
            required(List, ResourceSnapshot),
            useful(List, UpdateRun),
            useful(List, Binding),
        ]],
    ),
    needs(
        "status",
        Role::Viewer,
        &[
            &[
                required(Get, UpdateRun),
                useful(List, Binding),
                useful(Get, ApprovalRequest),
            ],
            PROSPECT,
        ],
    ),
    needs("status --watch", Role::Viewer, &[FOLLOW, PROSPECT]),
    needs(
        "stop",
        Role::Operator,
        &[
            &[
                required(Get, UpdateRun),
                required(Patch, UpdateRun),
                useful(List, Binding),
                useful(Get, ApprovalRequest),
                useful(List, UpdateRun),
                useful(List, ApprovalRequest),
            ],
            PROSPECT,
            WATCH,
        ],
    ),
    needs(
        "strategies",
        Role::Viewer,
        &[&[
            required(List, Strategy),
            useful(Get, Strategy),
            useful(List, UpdateRun),
            useful(List, ApprovalRequest),
            useful(List, Binding),
        ]],
    ),
    needs(
        "trace",
        Role::Viewer,
        &[&[
            required(List, Work),
            useful(List, UpdateRun),
            useful(Get, Binding),
            useful(List, Binding),
            useful(List, ApprovalRequest),
            useful(List, ResourceSnapshot),
            useful(List, PolicySnapshot),
            useful(Get, MemberCluster),
            useful(Get, ClusterOverrideSnapshot),
            useful(List, ClusterOverrideSnapshot),
            useful(Get, OverrideSnapshot),
            useful(List, OverrideSnapshot),
        ]],
    ),
    needs("wait", Role::Viewer, &[FOLLOW, PROSPECT]),
];

/// Everything that the commands of a role need.
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
