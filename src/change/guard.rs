//! What a write must have seen before it is sent: the reads that each guard needs, and the flag that
//! takes the responsibility for sending without them.

use std::collections::BTreeMap;

use crate::inventory::source::Outcome;
use crate::kubefleet::{Concept, Kind, Scope};
use crate::words::distinct;

/// Something that a write must not do unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// Roll a cluster back to an older snapshot.
    Older,
    /// Run beside another run on the placement.
    Others,
    /// Start with content that lacks a change.
    Content,
    /// Resume a run that the controller then aborts.
    Aborts,
    /// Create a run other than the one that was shown.
    Plan,
    /// Create a run of which a gate is open already.
    Gates,
}

/// What `approve` must have seen.
pub const APPROVE: &[Guard] = &[Guard::Older, Guard::Others];
/// What starting a run must have seen.
pub const START: &[Guard] = &[Guard::Older, Guard::Others, Guard::Content];
/// What `resume` must have seen.
pub const RESUME: &[Guard] = &[Guard::Older, Guard::Others, Guard::Aborts];
/// What creating a run that starts must have seen.
pub const LAUNCH: &[Guard] = &[Guard::Older, Guard::Others, Guard::Plan];
/// What creating a run under a name that is free must have seen.
pub const NAME: &[Guard] = &[Guard::Gates];
/// What creating a run that does not start must have seen.
pub const INIT: &[Guard] = &[Guard::Others, Guard::Plan];

/// What the user takes the responsibility for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AcceptedRisks {
    /// `--allow-older`: clusters that go back to an older snapshot.
    pub older: bool,
    /// `--allow-unseen`: whatever could not be read.
    pub unseen: bool,
}

impl Guard {
    /// What has to be read in full.
    pub const fn reads(self) -> &'static [Concept] {
        use Concept::{
            ApprovalRequest, Binding, ClusterOverrideSnapshot, MemberCluster, OverrideSnapshot,
            Placement, PolicySnapshot, ResourceSnapshot, Strategy, UpdateRun,
        };
        match self {
            Self::Older => &[Binding],
            Self::Others => &[UpdateRun],
            Self::Content => &[ResourceSnapshot],
            Self::Aborts => &[
                Placement,
                PolicySnapshot,
                Binding,
                MemberCluster,
                ApprovalRequest,
            ],
            Self::Plan => &[
                Placement,
                Strategy,
                PolicySnapshot,
                Binding,
                MemberCluster,
                ResourceSnapshot,
                ClusterOverrideSnapshot,
                OverrideSnapshot,
            ],
            Self::Gates => &[ApprovalRequest],
        }
    }

    /// What it finds out, as the end of "unknown: …".
    pub const fn finds_out(self) -> &'static str {
        match self {
            Self::Older => "which snapshot each cluster has",
            Self::Others => "which other runs on the placement are active",
            Self::Content => "whether its content is current",
            Self::Aborts => "whether the controller would abort the run",
            Self::Plan => "what the controller would do",
            Self::Gates => "whether an approval is left from an earlier run of this name",
        }
    }

    /// The flag that takes the responsibility.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Older => "--allow-older",
            _ => "--allow-unseen",
        }
    }

    /// Whether the user takes the responsibility.
    pub const fn is_accepted(self, accepted: AcceptedRisks) -> bool {
        match self {
            Self::Older => accepted.older,
            _ => accepted.unseen,
        }
    }
}

/// A read that guards need and that is missing or incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnseenRead {
    /// What was to be read.
    pub kind: Kind,
    /// How that went.
    pub outcome: Outcome,
    /// The guards that need it.
    pub guards: Vec<Guard>,
}

/// The reads that these guards need and do not have, in their order. A guard that the user has
/// accepted needs none.
pub fn unseen(
    guards: &[Guard],
    accepted: AcceptedRisks,
    scope: &Scope,
    outcomes: &BTreeMap<Kind, Outcome>,
) -> Vec<UnseenRead> {
    let mut unseen: Vec<UnseenRead> = Vec::new();
    for guard in guards {
        if guard.is_accepted(accepted) {
            continue;
        }
        for concept in guard.reads() {
            let kind = scope.kind(*concept);
            // What nobody asked for is not known either.
            let outcome = outcomes.get(&kind);
            let outcome = outcome.cloned().unwrap_or(Outcome::NotCollected);
            if is_seen(*concept, &outcome) {
                continue;
            }
            match unseen.iter_mut().find(|known| known.kind == kind) {
                Some(known) => known.guards.push(*guard),
                None => unseen.push(UnseenRead {
                    kind,
                    outcome,
                    guards: vec![*guard],
                }),
            }
        }
    }
    unseen
}

/// Whether a read was complete. A hub may serve no overrides: it has none then.
fn is_seen(concept: Concept, outcome: &Outcome) -> bool {
    let may_lack = matches!(
        concept,
        Concept::ClusterOverrideSnapshot | Concept::OverrideSnapshot
    );
    match outcome {
        Outcome::Listed => true,
        Outcome::NotServed => may_lack,
        Outcome::Cut(_) | Outcome::Denied(_) | Outcome::NotCollected | Outcome::Failed(_) => false,
    }
}

/// The flags that take the responsibility for all of these, each once.
pub fn flags(unseen: &[UnseenRead]) -> Vec<&'static str> {
    let guards = unseen.iter().flat_map(|read| &read.guards);
    distinct(guards.map(|guard| guard.flag()))
}

#[cfg(test)]
mod tests {
    use super::{
        APPROVE, AcceptedRisks, Guard, INIT, LAUNCH, NAME, RESUME, START, UnseenRead, flags,
    };
    use crate::inventory::source::{HubFacts, HubQuery, Outcome, QueryAnswer};
    use crate::inventory::{Inventory, Walk};
    use crate::kubefleet::{Concept, Kind, Scope};

    const NOTHING: AcceptedRisks = accepted(false, false);
    const OLDER: AcceptedRisks = accepted(true, false);
    const UNSEEN: AcceptedRisks = accepted(false, true);
    const ALL: [Concept; 10] = [
        Concept::Binding,
        Concept::UpdateRun,
        Concept::Placement,
        Concept::Strategy,
        Concept::PolicySnapshot,
        Concept::ResourceSnapshot,
        Concept::MemberCluster,
        Concept::ApprovalRequest,
        Concept::ClusterOverrideSnapshot,
        Concept::OverrideSnapshot,
    ];

    const fn accepted(older: bool, unseen: bool) -> AcceptedRisks {
        AcceptedRisks { older, unseen }
    }

    fn unseen(guards: &[Guard], accepted: AcceptedRisks, inventory: &Inventory) -> Vec<UnseenRead> {
        super::unseen(guards, accepted, &inventory.scope, &inventory.outcomes)
    }

    /// An inventory in which each of these concepts was asked for, and how that went.
    fn inventory(scope: &Scope, reads: &[(Concept, Outcome)]) -> Inventory {
        let mut walk = Walk::new(scope.object(Concept::UpdateRun, "web-1"));
        for (concept, outcome) in reads {
            let answer = QueryAnswer::none(outcome.clone());
            let query = HubQuery::all(scope.kind(*concept), scope.namespace());
            walk.absorb(vec![query], vec![answer]);
        }
        let now = "2026-01-09T02:00:00Z".parse().unwrap();
        Inventory::new(walk, now, HubFacts::default())
    }

    fn all_but(scope: &Scope, concept: Concept, outcome: Option<Outcome>) -> Inventory {
        let mut reads: Vec<_> = ALL
            .into_iter()
            .filter(|one| *one != concept)
            .map(|one| (one, Outcome::Listed))
            .collect();
        reads.extend(outcome.map(|outcome| (concept, outcome)));
        inventory(scope, &reads)
    }

    fn scopes() -> [Scope; 2] {
        [Scope::of_namespace(""), Scope::of_namespace("team-a")]
    }

    #[test]
    fn what_was_read_in_full_guards() {
        for scope in scopes() {
            let reads: Vec<_> = ALL.map(|concept| (concept, Outcome::Listed)).into();
            let inventory = inventory(&scope, &reads);
            for guards in [APPROVE, START, RESUME, LAUNCH, INIT, NAME] {
                assert_eq!(unseen(guards, NOTHING, &inventory), []);
            }
        }
    }

    #[test]
    fn each_read_that_is_missing_is_told_whatever_went_wrong() {
        let failures = [
            None,
            Some(Outcome::NotCollected),
            Some(Outcome::Denied("no".to_owned())),
            Some(Outcome::Failed("503".to_owned())),
            Some(Outcome::NotServed),
        ];
        for (scope, guards) in scopes().into_iter().flat_map(|scope| {
            [APPROVE, START, RESUME, LAUNCH, INIT, NAME].map(|all| (scope.clone(), all))
        }) {
            for (concept, failure) in ALL
                .into_iter()
                .flat_map(|concept| failures.clone().map(|failure| (concept, failure)))
            {
                let may_lack = matches!(
                    concept,
                    Concept::ClusterOverrideSnapshot | Concept::OverrideSnapshot
                );
                let fine = may_lack && failure == Some(Outcome::NotServed);
                let needed = guards.iter().any(|guard| guard.reads().contains(&concept));
                let inventory = all_but(&scope, concept, failure.clone());
                let told = unseen(guards, NOTHING, &inventory);
                let kinds: Vec<_> = told.iter().map(|read| read.kind).collect();
                let wanted = (needed && !fine).then(|| scope.kind(concept));
                assert_eq!(
                    kinds,
                    wanted.as_slice(),
                    "{guards:?} {concept:?} {failure:?}"
                );
            }
        }
    }

    #[test]
    fn a_flag_takes_on_what_it_says_and_no_more() {
        let scope = Scope::of_namespace("");
        let denied =
            |concept| all_but(&scope, concept, Some(Outcome::Denied("not you".to_owned())));
        let bindings = denied(Concept::Binding);
        assert_eq!(unseen(APPROVE, OLDER, &bindings), []);
        assert_eq!(unseen(APPROVE, UNSEEN, &bindings).len(), 1);
        let told = unseen(APPROVE, NOTHING, &bindings);
        assert_eq!(flags(&told), ["--allow-older"]);
        let runs = denied(Concept::UpdateRun);
        assert_eq!(unseen(APPROVE, UNSEEN, &runs), []);
        assert_eq!(unseen(APPROVE, OLDER, &runs).len(), 1);
        // Two guards need one read: both flags are needed, and it is told once.
        let told = unseen(RESUME, NOTHING, &bindings);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].kind, Kind::ClusterResourceBinding);
        assert_eq!(told[0].guards, [Guard::Older, Guard::Aborts]);
        assert_eq!(flags(&told), ["--allow-older", "--allow-unseen"]);
    }
}
