//! The answers of a walk, sorted into what they are about.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sight::{Listing, Sight};
use super::source::{Answer, HubQuery};
use crate::kubefleet::Kind;
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::object::{Body, Object};
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::{PolicySnapshot, ResourceSnapshot};
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::work::Work;

/// The answers of a walk.
pub(super) struct Gathered<'g> {
    known: &'g BTreeMap<HubQuery, Answer>,
    /// Why objects of a kind may be missing.
    pub gaps: BTreeMap<Kind, String>,
}

impl<'g> Gathered<'g> {
    pub fn new(known: &'g BTreeMap<HubQuery, Answer>) -> Self {
        let mut gaps = BTreeMap::new();
        for (query, answer) in known {
            if let Some(gap) = answer.outcome.gap() {
                gaps.entry(query.kind).or_insert(gap);
            }
        }
        Self { known, gaps }
    }

    /// Everything that was seen of a kind, by namespace and name.
    pub fn listing<T>(&self, kind: Kind, pick: fn(&Object) -> Option<&Arc<T>>) -> Listing<T> {
        let mut items = BTreeMap::new();
        for answer in self
            .known
            .iter()
            .filter(|(query, _)| query.kind == kind)
            .map(|(_, answer)| answer)
        {
            for object in answer.objects.iter() {
                if let Some(item) = pick(object) {
                    let meta = object.body.meta();
                    let name = (meta.namespace.as_str(), meta.name.as_str());
                    items.insert(name, Arc::clone(item));
                }
            }
        }
        Listing {
            items: items.into_values().collect(),
            gap: self.gaps.get(&kind).cloned(),
        }
    }

    /// What a question for one object has found.
    pub fn sight<T>(&self, query: &HubQuery, pick: fn(&Object) -> Option<&Arc<T>>) -> Sight<T> {
        let Some(answer) = self.known.get(query) else {
            return Sight::Unknown("not requested".to_owned());
        };
        match answer.objects.iter().find_map(pick) {
            Some(object) => Sight::Present(Arc::clone(object)),
            None => answer.outcome.gap().map_or(Sight::Absent, Sight::Unknown),
        }
    }
}

macro_rules! pickers {
    ($( $name:ident: $variant:ident -> $ty:ty; )*) => {$(
        pub(super) fn $name(object: &Object) -> Option<&Arc<$ty>> {
            match &object.body {
                Body::$variant(item) => Some(item),
                _ => None,
            }
        }
    )*};
}

pickers! {
    as_run: Run -> UpdateRun;
    as_strategy: Strategy -> Strategy;
    as_approval: Approval -> ApprovalRequest;
    as_placement: Placement -> Placement;
    as_binding: Binding -> Binding;
    as_resource_snapshot: ResourceSnapshot -> ResourceSnapshot;
    as_policy_snapshot: PolicySnapshot -> PolicySnapshot;
    as_member: Member -> MemberCluster;
    as_override: Override -> OverrideSnapshot;
    as_work: Work -> Work;
}
