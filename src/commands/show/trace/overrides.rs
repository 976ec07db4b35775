//! The overrides of a cluster, as its binding names them.

use super::AppliedBy;
use crate::inventory::source::{HubQuery, QueryAnswer, all_of};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::object::Object;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::{Kind, ObjectRef, names};
use crate::report::Subject;
use crate::rollout::overrides::{origin, rule_matches, selector_of};
use crate::words::distinct;

pub(super) struct NamedOverrides {
    named: Vec<ObjectRef>,
    cluster: String,
}

impl NamedOverrides {
    pub fn of(binding: &Binding, cluster: &str) -> Self {
        let spec = &binding.spec;
        Self {
            named: spec.override_names().collect(),
            cluster: cluster.to_owned(),
        }
    }

    pub const fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// What to ask for: the cluster, and one request for each kind of override.
    pub fn queries(&self) -> Vec<HubQuery> {
        let mut queries = Vec::new();
        for kind in distinct(self.named.iter().map(|it| it.kind)) {
            let own: Vec<_> = self.named.iter().filter(|it| it.kind == kind).collect();
            let namespaces = distinct(own.iter().map(|it| it.namespace.as_str()));
            queries.push(match (own.as_slice(), namespaces.as_slice()) {
                ([one], _) => HubQuery::object(one),
                (_, [namespace]) => HubQuery::all(kind, namespace),
                _ => HubQuery::all(kind, ""),
            });
        }
        if !queries.is_empty() {
            queries.push(HubQuery::named(Kind::MemberCluster, "", &self.cluster));
        }
        queries
    }

    /// The overrides among the answers, in their order; `None` for one that was not found.
    pub fn among<'a>(
        &self,
        answers: &'a [QueryAnswer],
    ) -> impl Iterator<Item = (&ObjectRef, Option<&'a Object>)> {
        self.named.iter().map(|name| {
            let mut objects = answers.iter().flat_map(|answer| answer.objects.iter());
            (name, objects.find(|object| object.reference() == *name))
        })
    }

    /// Those that select the object.
    pub fn applied_to(
        &self,
        manifest: &ManifestIdentity,
        answers: &[QueryAnswer],
    ) -> Vec<AppliedBy> {
        let mut members = all_of::<MemberCluster>(answers);
        let member = members.find(|member| member.meta.name == self.cluster);
        let mut applied = Vec::new();
        for (name, object) in self.among(answers) {
            let Some(snapshot) = object.and_then(Object::get::<OverrideSnapshot>) else {
                applied.push(AppliedBy {
                    name: names::override_of(&name.name).to_owned(),
                    snapshot: Subject::from(name),
                    rules: None,
                });
                continue;
            };
            if selector_of(snapshot, manifest).is_none() {
                continue;
            }
            let policy = snapshot.spec.content.policy.as_deref();
            let rules = member.map(|member| {
                let rules = policy
                    .into_iter()
                    .flat_map(|policy| &policy.rules)
                    .enumerate();
                let rules = rules.filter(|(_, rule)| rule_matches(rule, member) == Ok(true));
                rules.map(|(at, _)| at + 1).collect()
            });
            applied.push(AppliedBy {
                name: origin(snapshot).to_owned(),
                snapshot: Subject::from(name),
                rules,
            });
        }
        applied
    }
}
