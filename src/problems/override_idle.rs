//! An override that was written for the placement changes nothing there.

use super::prelude::*;
use super::steps::see_override;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::ResourceSelector;
use crate::kubefleet::selector::LabelSelector;
use crate::rollout::overrides::{IdleOverride, origin, selectors, selectors_path};

pub fn overridden(snapshot: &OverrideSnapshot) -> Subject {
    let kind = snapshot.object().kind.origin_kind();
    Subject::new(kind, &snapshot.meta.namespace, origin(snapshot))
}

/// Adds the override snapshots that a binding names.
pub fn overrides_of<B: ComposeText>(mut build: B, binding: &Binding) -> B {
    let (object, spec) = (binding.object(), &binding.spec);
    if !spec.cluster_overrides.is_empty() {
        let path = "spec.clusterResourceOverrideSnapshots";
        build = build.evidence(&object, path, &spec.cluster_overrides);
    }
    if !spec.overrides.is_empty() {
        let path = "spec.resourceOverrideSnapshots";
        build = build.evidence(&object, path, &spec.overrides);
    }
    build
}

/// It names the placement in a way that no run finds.
pub fn override_never_applied(snapshot: &OverrideSnapshot, placement: &ObjectRef) -> Problem {
    let subject = overridden(snapshot);
    let message = format!(
        "{} {} never applies to update runs of {}: runs do not find an override whose placement \
         reference has `scope: Namespaced`.",
        subject.kind, subject.name, placement.name
    );
    Problem::new(subject, message)
        .evidence(
            snapshot.object(),
            "spec.overrideSpec.placement.scope",
            "Namespaced",
        )
        .look_with("Inspect the override.", see_override(snapshot))
        .fix(
            "Save the override, delete it, and create it again without `spec.placement`, which is \
             immutable. It then applies to every placement with the objects that it selects.",
        )
}

/// It selects no object of the snapshot, or only envelopes, or is for none of the clusters.
pub fn override_matches_nothing(
    snapshot: &OverrideSnapshot,
    placement: &ObjectRef,
    idle: IdleOverride,
    index: &str,
    clusters: &[&MemberCluster],
) -> Problem {
    let subject = overridden(snapshot);
    let lead = format!("{subject} applies to {} but", placement.name);
    let selected = || enumerate(selectors(snapshot).iter().map(ResourceSelector::describe));
    let problem = match idle {
        IdleOverride::NoObject(near) => {
            let near = near.map_or_else(String::new, |near| format!(" The snapshot has {near}."));
            let message = format!(
                "{lead} selects no object of snapshot {index}: it selects {}.{near}",
                selected()
            );
            let field = selectors_path(snapshot);
            let mut problem = Problem::new(subject, message);
            for (at, selector) in selectors(snapshot).iter().enumerate().take(4) {
                let path = format!("{field}[{at}].name");
                problem = problem.evidence(snapshot.object(), path, &selector.name);
            }
            problem
        }
        IdleOverride::Envelopes => {
            let message = format!(
                "{lead} changes nothing: it selects {}. After 0.3.1, KubeFleet overrides what an envelope holds, \
                 not the envelope.",
                selected()
            );
            let names = selectors(snapshot).iter().map(|it| it.name.as_str());
            let path = format!("{}[].name", selectors_path(snapshot));
            let names = enumerate(names);
            Problem::new(subject, message).computed(snapshot.object(), &[&path], names)
        }
        IdleOverride::NoCluster => {
            let names = clusters.iter().map(|member| member.meta.name.as_str());
            let message = format!(
                "{lead} its rules match no cluster of the run: {}.",
                enumerate(names.clone())
            );
            let wanted = snapshot.cluster_labels().map(LabelSelector::describe);
            let wanted: Vec<String> = wanted.collect();
            let rules = "spec.overrideSpec.policy.overrideRules";
            let (path, wanted) = if wanted.is_empty() {
                (rules.to_owned(), "no cluster selector".to_owned())
            } else {
                (format!("{rules}[].clusterSelector"), wanted.join("; "))
            };
            let mut problem = Problem::new(subject, message).clusters(names).computed(
                snapshot.object(),
                &[&path],
                wanted,
            );
            for member in clusters.iter().take(6) {
                problem = problem.evidence(member.object(), "metadata.labels", &member.meta.labels);
            }
            problem
        }
    };
    problem.look_with("Inspect the override.", see_override(snapshot))
}
