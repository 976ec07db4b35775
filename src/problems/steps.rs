//! Commands that several rules suggest.

use crate::kubefleet::binding::Binding;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef, names};
use crate::rollout::overrides::origin;
use crate::words::CommandLine;

/// How a placement is looked at: `kubectl fleet-stage diagnose crp/NAME`.
pub fn diagnose(placement: &ObjectRef) -> CommandLine {
    placement.scope().fleet("diagnose").arg(placement.word())
}

/// Which clusters a placement selects, and what each has: `kubectl fleet-stage clusters crp/NAME`.
pub fn clusters(placement: &ObjectRef) -> CommandLine {
    placement.scope().fleet("clusters").arg(placement.word())
}

/// What External means for a placement, as a sentence.
pub const EXTERNAL_STAYS: &str =
    "KubeFleet 0.3 and later refuse to undo this; 0.2 refuses it in v1beta1.";

/// Lets update runs roll a placement out.
pub fn make_external(placement: &ObjectRef) -> CommandLine {
    let patch = r#"{"spec":{"strategy":{"type":"External"}}}"#;
    let command = placement.kubectl("patch").flag("--type", "merge");
    command.flag("-p", patch)
}

/// Makes a new run of a run: with its placement, its strategy, and the snapshot that it pinned.
pub fn new_run(run: &UpdateRun) -> CommandLine {
    let command = run_from(run);
    match run.pinned() {
        Some(index) => command.flag("--snapshot", index),
        None => command,
    }
}

/// The same with the current content, or with a snapshot that is still to be named.
pub fn run_from(run: &UpdateRun) -> CommandLine {
    let command = run.scope().fleet("run");
    command.flag("--from", &run.meta.name)
}

/// The same in the run's place, with a snapshot that is named.
pub fn run_in_place(run: &UpdateRun, index: &str) -> CommandLine {
    let command = run_from(run).switch("--replace");
    command.flag("--snapshot", index)
}

/// How long kubectl waits; its default is half a minute.
pub const PATIENCE: &str = "10m";

/// Waits until the scheduler has picked a placement's clusters.
pub fn wait_until_scheduled(placement: &ObjectRef) -> CommandLine {
    wait_for(placement, format!("condition={}Scheduled", placement.kind))
}

/// Waits for what is to become of an object.
pub fn wait_for(object: &ObjectRef, what: impl Into<String>) -> CommandLine {
    let command = object.kubectl("wait").joined("--for", what);
    command.joined("--timeout", PATIENCE)
}

/// Waits until an object and others of its kind are gone, for as long as that takes.
pub fn wait_until_gone<'n>(
    first: &ObjectRef,
    others: impl Iterator<Item = &'n str>,
    patience: &str,
) -> CommandLine {
    let command = first.kubectl("wait").args(others);
    command
        .joined("--for", "delete")
        .joined("--timeout", patience)
}

/// Waits until bindings are gone, of many the first few; nothing where there are none.
pub fn wait_until_bindings_gone(bindings: &[&Binding]) -> Option<CommandLine> {
    let (first, others) = bindings.split_first()?;
    let others = others.iter().take(NAMED - 1);
    let others = others.map(|it| it.meta.name.as_str());
    Some(wait_until_gone(&first.object(), others, PATIENCE))
}

/// Lists what belongs to a placement.
pub fn of_placement(placement: &ObjectRef, concept: Concept) -> CommandLine {
    let kind = placement.scope().kind(concept);
    let label = format!("{}={}", names::PARENT_PLACEMENT, placement.name);
    let command = CommandLine::kubectl("get").arg(kind.for_kubectl());
    command.namespace(&placement.namespace).flag("-l", label)
}

/// Shows the override from which a snapshot was made.
pub fn see_override(snapshot: &OverrideSnapshot) -> CommandLine {
    CommandLine::kubectl("get")
        .arg(snapshot.object().kind.origin())
        .arg(origin(snapshot))
        .namespace(&snapshot.meta.namespace)
        .flag("-o", "yaml")
}

/// Restarts the hub agent, with why. Its controllers check all runs then, also those that rest: seen on a real hub.
pub fn restart_hub_agent(why: &str) -> String {
    format!(
        "Restart the hub agent{why} It also checks all other runs then, and those that cannot continue fail."
    )
}

/// What ends the growing intervals at which the hub agent tries to send something.
pub fn try_at_once() -> String {
    restart_hub_agent(", if that is too long: it then tries at once.")
}

/// Lists the member clusters with their labels.
pub fn show_labels() -> CommandLine {
    let command = CommandLine::kubectl("get").arg(Kind::MemberCluster.for_kubectl());
    command.switch("--show-labels")
}

/// Shows a few member clusters in full, with taints and properties; of many, the labels.
pub fn see_members<'n>(names: impl IntoIterator<Item = &'n str>) -> CommandLine {
    let names: Vec<_> = names.into_iter().collect();
    if names.is_empty() || names.len() > 3 {
        return show_labels();
    }
    member_clusters().args(names).flag("-o", "yaml")
}

pub fn member_clusters() -> CommandLine {
    CommandLine::kubectl("get").arg(Kind::MemberCluster.for_kubectl())
}

/// The most clusters that one command names.
pub const NAMED: usize = 8;

/// Labels member clusters, of many the first few.
pub fn label<'n>(
    clusters: impl IntoIterator<Item = &'n str>,
    entry: impl Into<String>,
) -> CommandLine {
    let command = CommandLine::kubectl("label").arg(Kind::MemberCluster.for_kubectl());
    command.args(clusters.into_iter().take(NAMED)).arg(entry)
}

/// Lists the Works of a placement for all member clusters.
pub fn works_of(placement: &ObjectRef) -> CommandLine {
    works(placement).switch("-A")
}

/// Lists the Works of a placement for one member cluster.
pub fn works_for(placement: &ObjectRef, cluster: &str) -> CommandLine {
    works(placement).namespace(names::member_namespace(cluster))
}

fn works(placement: &ObjectRef) -> CommandLine {
    let command = CommandLine::kubectl("get").arg(Kind::Work.for_kubectl());
    let label = format!("{}={}", names::PARENT_PLACEMENT, placement.name);
    command.flag(
        "-l",
        match placement.namespace.as_str() {
            "" => label,
            namespace => format!("{label},{}={namespace}", names::PARENT_NAMESPACE),
        },
    )
}

/// Shows a namespace of the hub, with what keeps it.
pub fn namespace(name: &str) -> CommandLine {
    let command = CommandLine::kubectl("get").arg("namespace").arg(name);
    command.flag("-o", "yaml")
}

pub fn member_agent(cluster: &str) -> CommandLine {
    let command = CommandLine::member(cluster, "get").arg("pods");
    command.namespace(names::AGENT_NAMESPACE)
}

/// Shows the controllers on the hub.
pub fn hub_agent() -> CommandLine {
    let command = CommandLine::kubectl("get").arg("pods");
    command.namespace(names::AGENT_NAMESPACE)
}
