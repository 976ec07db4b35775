//! The overrides that touched an object.

use std::sync::Arc;

use super::AppliedBy;
use crate::commands::open::reading::Reading;
use crate::inventory::source::{HubQuery, Source};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::object::Body;
use crate::kubefleet::overrides::named;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::{Kind, ObjectRef, names};
use crate::report::Subject;
use crate::rollout::overrides::{origin, rule_matches, selector_of};

/// The overrides that the binding names and that select the object.
pub(super) fn of(
    reading: &mut Reading,
    binding: &Binding,
    cluster: &str,
    manifest: &ManifestIdentity,
) -> Vec<AppliedBy> {
    let spec = &binding.spec;
    let named: Vec<_> = named(&spec.cluster_overrides, &spec.overrides).collect();
    if named.is_empty() {
        return Vec::new();
    }
    let of = |it: &ObjectRef| HubQuery::object(it);
    let own = HubQuery::named(Kind::MemberCluster, "", cluster);
    let queries: Vec<_> = std::iter::once(own).chain(named.iter().map(of)).collect();
    let mut answers = reading.answer(&queries).into_iter();
    let member = answers.next().and_then(|answer| {
        answer.objects.iter().find_map(|object| match &object.body {
            Body::Member(member) => Some(Arc::clone(member)),
            _ => None,
        })
    });
    let mut applied = Vec::new();
    for (object, answer) in named.into_iter().zip(answers) {
        let snapshot = answer.objects.iter().find_map(|object| match &object.body {
            Body::Override(snapshot) => Some(Arc::clone(snapshot)),
            _ => None,
        });
        let Some(snapshot) = snapshot else {
            applied.push(AppliedBy {
                name: names::override_of(&object.name).to_owned(),
                snapshot: Subject::from(&object),
                rules: None,
            });
            continue;
        };
        if selector_of(&snapshot, manifest).is_none() {
            continue;
        }
        let policy = snapshot.spec.content.policy.as_deref();
        let rules = member.as_deref().map(|member| {
            let rules = policy
                .into_iter()
                .flat_map(|policy| &policy.rules)
                .enumerate();
            let rules = rules.filter(|(_, rule)| rule_matches(rule, member) == Ok(true));
            rules.map(|(at, _)| at + 1).collect()
        });
        applied.push(AppliedBy {
            name: origin(&snapshot).to_owned(),
            snapshot: Subject::from(&object),
            rules,
        });
    }
    applied
}
