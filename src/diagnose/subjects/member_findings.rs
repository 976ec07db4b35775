//! Findings about what was seen in member clusters: one way to write them for all rules.
//!
//! What the rollout waits for is known from the hub; why it does not come is known in the cluster.
//! Findings of this kind explain the object that they are about, and no other.

use crate::report::{ComposeText, Finding, NotChecked, ShownValue, Subject};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::members::needed;
use crate::diagnose::subjects::objects::{grouped, with_override};
use crate::diagnose::subjects::ownership;
use crate::diagnose::subjects::rule::Rule;
use crate::diagnose::subjects::sent::SentManifest;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::kind::group_of;
use crate::kubefleet::{Concept, names};
use crate::member::model::{Event, MemberMeta};
use crate::member::pods::ContainerTerminated;
use crate::member::{
    ClusterMatch, MemberErrand, MemberKind, MemberObject, MemberObservation, PodTrouble,
    WORKLOADS_EACH, WantedWorkload, WorkloadView, events_since,
};
use crate::rollout::ManifestTrouble;
use crate::words::{CommandLine, count, enumerate};

/// The codes of findings that explain why one object does not become available, after the one that says that
/// the cluster leaves the fleet.
pub const WHY_NOT_AVAILABLE: [&str; 22] = [
    "FS518", "FS901", "FS902", "FS903", "FS904", "FS905", "FS906", "FS907", "FS908", "FS909",
    "FS910", "FS911", "FS912", "FS913", "FS914", "FS915", "FS916", "FS917", "FS918", "FS919",
    "FS920", "FS921",
];

/// The same without that one.
pub const OF_OBJECTS: &[&str] = WHY_NOT_AVAILABLE.split_at(1).1;

/// How many clusters of one finding are shown with what was read there.
const SHOWN: usize = 3;

/// What is worth a look: for each cluster in trouble the objects that do not become available.
pub fn errands(cx: &DiagnosisContext<'_>) -> Vec<MemberErrand> {
    let mut errands: BTreeMap<&str, MemberErrand> = BTreeMap::new();
    for failing in &cx.troubles {
        let wanted = failing.trouble.manifests.iter().filter_map(wanted);
        let wanted: BTreeSet<_> = wanted.collect();
        if wanted.is_empty() {
            continue;
        }
        let errand = errands
            .entry(failing.cluster)
            .or_insert_with(|| MemberErrand {
                cluster: failing.cluster.to_owned(),
                work: work(cx, failing.binding),
                wanted: Vec::new(),
                jobs: jobs(cx, failing),
            });
        errand.wanted.extend(wanted);
        errand.wanted.sort();
        errand.wanted.dedup();
    }
    // Whether a cluster whose agent is silent answers at all.
    for needed in needed(cx) {
        let silent = needed
            .member
            .is_some_and(|member| member.silent_for(cx.now()).is_some());
        let binding = cx.inventory.binding(needed.name);
        if let (true, true, Some(binding)) = (needed.waits, silent, binding) {
            errands.entry(needed.name).or_insert_with(|| MemberErrand {
                cluster: needed.name.to_owned(),
                work: work(cx, binding),
                wanted: Vec::new(),
                jobs: Vec::new(),
            });
        }
    }
    errands.into_values().collect()
}

/// The Jobs that a cluster is sent: a few.
pub fn jobs(cx: &DiagnosisContext<'_>, failing: &FailingCluster<'_>) -> Vec<WantedWorkload> {
    let sent = SentManifest::all(cx, failing).filter(|sent| {
        let manifest = sent.manifest;
        manifest.kind == "Job" && group_of(&manifest.api_version) == "batch"
    });
    let mut jobs: Vec<_> = sent
        .map(|sent| WantedWorkload {
            kind: MemberKind::Job,
            namespace: sent.manifest.meta.namespace.clone(),
            name: sent.manifest.meta.name.clone(),
        })
        .collect();
    jobs.sort();
    jobs.truncate(WORKLOADS_EACH);
    jobs
}

/// The object that a rollout waits for, when a look at it may tell why.
fn wanted(manifest: &ManifestTrouble<'_>) -> Option<WantedWorkload> {
    let kind = MemberKind::find(manifest.group, manifest.kind)?;
    let waits = matches!(ownership::of_manifest(manifest), Some("FS501" | "FS523"));
    (waits && kind.is_waited_for()).then(|| WantedWorkload {
        kind,
        namespace: manifest.namespace.to_owned(),
        name: manifest.name.to_owned(),
    })
}

/// The name of one of the cluster's Works.
fn work(cx: &DiagnosisContext<'_>, binding: &Binding) -> String {
    let works = cx.inventory.works_of(binding);
    works.map(|work| work.meta.name.as_str()).min().map_or_else(
        || names::work(cx.inventory.scope.namespace(), &cx.inventory.placement_name),
        str::to_owned,
    )
}

/// An object that a rollout waits for in a cluster that was looked into.
pub struct MemberSighting<'a, 'i> {
    pub failing: &'a FailingCluster<'i>,
    /// The object, as the hub tells of it.
    pub manifest: &'a ManifestTrouble<'i>,
    /// The object, as it is asked for.
    pub wanted: WantedWorkload,
    pub look: &'i MemberObservation,
    /// Whether the cluster is surely the one that it is taken for.
    pub sure: bool,
}

impl<'i> MemberSighting<'_, 'i> {
    /// The object, when it was seen.
    pub fn object(&self) -> Option<&'i MemberObject> {
        self.look.object(&self.wanted)
    }

    /// The object as a workload with pods.
    pub fn view(&self, cx: &DiagnosisContext<'_>) -> Option<WorkloadView<'i>> {
        let kind = self.wanted.kind;
        let found = self.look.workloads(kind);
        let workload = found.into_iter().find(|workload| {
            workload.meta.name == self.wanted.name
                && workload.meta.namespace == self.wanted.namespace
        })?;
        Some(WorkloadView {
            look: self.look,
            kind,
            workload,
            since: self.failing.since,
            now: cx.now(),
        })
    }
}

/// Every object that a rollout waits for in the clusters that were looked into.
pub fn member_sightings<'a, 'i>(cx: &'a DiagnosisContext<'i>) -> Vec<MemberSighting<'a, 'i>> {
    let mut all = Vec::new();
    if cx.inventory.looks.is_empty() {
        return all;
    }
    let errands = errands(cx);
    for failing in &cx.troubles {
        let Some(look) = cx.inventory.looks.get(failing.cluster) else {
            continue;
        };
        let errand = errands
            .iter()
            .find(|errand| errand.cluster == failing.cluster);
        let Some(errand) = errand else { continue };
        let identity = look.identity(errand);
        if look.closed.is_some() || matches!(identity, ClusterMatch::Other(_)) {
            continue;
        }
        for manifest in &failing.trouble.manifests {
            let Some(wanted) = wanted(manifest) else {
                continue;
            };
            all.push(MemberSighting {
                failing,
                manifest,
                wanted,
                look,
                sure: identity == ClusterMatch::Sure,
            });
        }
    }
    all
}

/// An object that is at fault for one reason, and what was found in the clusters in which it is.
pub struct SameTrouble<'a, 'i, T> {
    affected: AffectedObject<'a, 'i>,
    pub all: Vec<(MemberSighting<'a, 'i>, Vec<T>)>,
}

impl<'a, 'i, T> Deref for SameTrouble<'a, 'i, T> {
    type Target = AffectedObject<'a, 'i>;

    fn deref(&self) -> &Self::Target {
        &self.affected
    }
}

/// What a rule has found in member clusters, object by object.
pub struct FoundTroubles<'a, 'i, T>(Vec<(Finding, SameTrouble<'a, 'i, T>)>);

impl<'a, 'i, T> FoundTroubles<'a, 'i, T> {
    /// Adds to each finding what follows the colon of its sentence, the evidence and the remedies.
    pub fn describe(
        self,
        describe: impl Fn(&SameTrouble<'a, 'i, T>, Finding) -> Finding,
    ) -> Vec<Finding> {
        let all = self.0.into_iter();
        all.map(|(finding, group)| with_override(&group, describe(&group, finding)))
            .collect()
    }
}

/// Every object of which `find` finds something in a cluster that was looked into.
pub fn per_object<'a, 'i, T, ReadResult: IntoIterator<Item = T>>(
    cx: &'a DiagnosisContext<'i>,
    rule: &Rule,
    find: impl Fn(&MemberSighting<'a, 'i>) -> ReadResult,
) -> FoundTroubles<'a, 'i, T> {
    let found = member_sightings(cx).into_iter().filter_map(|seen| {
        let found: Vec<T> = find(&seen).into_iter().collect();
        let subject = seen.manifest.into();
        (!found.is_empty()).then_some((subject, seen.failing, (seen, found)))
    });
    let groups = grouped(cx, rule, found).into_iter();
    let groups = groups.filter_map(|(mut finding, all)| {
        let on = all.iter().map(|(seen, _)| (seen.failing, seen.manifest));
        let affected = AffectedObject::new(cx, on.collect())?;
        let group = SameTrouble { affected, all };
        for (seen, _) in group.all.iter().take(SHOWN) {
            if let Some(view) = seen.view(cx) {
                finding = status(&view, seen.failing.cluster, finding);
            }
        }
        Some((finding, group))
    });
    FoundTroubles(groups.collect())
}

/// Every workload with pods in a state that `find` recognizes.
pub fn per_pod<'a, 'i, T>(
    cx: &'a DiagnosisContext<'i>,
    rule: &Rule,
    find: impl Fn(&PodTrouble<'i>) -> Option<T>,
) -> FoundTroubles<'a, 'i, (PodTrouble<'i>, T)> {
    per_object(cx, rule, |seen| {
        let troubles = seen.view(cx).map(|view| view.troubles());
        let all = troubles.into_iter().flatten();
        all.filter_map(|trouble| find(&trouble).map(|found| (trouble, found)))
            .collect::<Vec<_>>()
    })
}

/// The same for some states, with what is known of each.
macro_rules! pods_in {
    ($cx:expr, $rule:expr, $($state:pat => $known:expr),+) => {
        $crate::diagnose::subjects::member_findings::per_pod($cx, $rule, |trouble| match trouble.state {
            $($state => Some($known),)+
            _ => None,
        })
    };
}
pub(in crate::diagnose) use pods_in;

/// Adds how far the rollouts of an object have come in the clusters that were looked into.
pub fn statuses(
    cx: &DiagnosisContext<'_>,
    subject: &Subject,
    clusters: &[&str],
    mut finding: Finding,
) -> Finding {
    let same = |seen: &&MemberSighting<'_, '_>| {
        let manifest = seen.manifest;
        let names = (manifest.kind, manifest.namespace, manifest.name);
        names == (&subject.kind, &subject.namespace, &subject.name)
            && clusters.contains(&seen.failing.cluster)
    };
    for seen in member_sightings(cx).iter().filter(same).take(SHOWN) {
        if let Some(view) = seen.view(cx) {
            finding = status(&view, seen.failing.cluster, finding);
        }
    }
    finding
}

/// Adds how far a workload's own rollout has come.
fn status(view: &WorkloadView<'_>, cluster: &str, finding: Finding) -> Finding {
    let (workload, kind) = (view.workload, view.kind);
    let (meta, status) = (&workload.meta, &workload.status);
    let fields = match kind {
        MemberKind::DaemonSet => [
            ("status.desiredNumberScheduled", status.desired),
            ("status.updatedNumberScheduled", status.updated_scheduled),
            ("status.numberAvailable", status.number_available),
        ],
        _ => [
            ("spec.replicas", workload.spec.replicas),
            ("status.updatedReplicas", status.updated),
            ("status.availableReplicas", status.available),
        ],
    };
    let given = fields.into_iter().filter(|(_, value)| value.is_some());
    let paths: Vec<_> = given.map(|(path, _)| path).collect();
    if paths.is_empty() {
        return finding;
    }
    finding.computed_in(
        cluster,
        (kind, meta),
        &paths,
        format!(
            "{} wanted, {} up to date, {} available",
            workload.wanted(kind),
            workload.up_to_date(kind),
            workload.available(kind)
        ),
    )
}

impl<'a, 'i, T> SameTrouble<'a, 'i, T> {
    /// The first cluster's.
    pub fn first(&self) -> Option<(&MemberSighting<'a, 'i>, &T)> {
        let (seen, found) = self.all.first()?;
        Some((seen, found.first()?))
    }

    /// Everything that was found, with its cluster.
    pub fn found(&self) -> impl Iterator<Item = (&str, &T)> {
        self.all
            .iter()
            .flat_map(|(seen, found)| found.iter().map(|one| (seen.failing.cluster, one)))
    }

    /// What is shown as evidence: the first of each of the first clusters.
    pub fn shown(&self) -> impl Iterator<Item = (&str, &T)> {
        self.all
            .iter()
            .take(SHOWN)
            .filter_map(|(seen, found)| Some((seen.failing.cluster, found.first()?)))
    }

    /// The sentence: that the object is not available, and why.
    pub fn says(&self, mut finding: Finding, why: &str) -> Finding {
        let state = if self.all.iter().all(|(seen, _)| seen.failing.was_done) {
            "has been unavailable"
        } else {
            "has not become available"
        };
        finding.message = format!(
            "{} {state} on {}{}: {why}.",
            self.manifest.describe(),
            self.clusters(),
            self.lasting()
        );
        finding
    }

    /// A command that inspects the first cluster: `kubectl --context CONTEXT -n NAMESPACE VERB`.
    pub fn kubectl(&self, verb: &'static str) -> CommandLine {
        self.kubectl_in(self.manifest.namespace, verb)
    }

    /// The same in another namespace.
    pub fn kubectl_in(&self, namespace: &str, verb: &'static str) -> CommandLine {
        self.on_member(verb).namespace(namespace)
    }
}

impl<'i, T> SameTrouble<'_, 'i, (PodTrouble<'i>, T)> {
    /// `container web`, `init container wait`, `containers web and log`.
    pub fn containers(&self) -> String {
        let names: BTreeSet<_> = self
            .found()
            .filter_map(|(_, (trouble, _))| trouble.container)
            .map(|place| (place.init, place.name))
            .collect();
        let init = !names.is_empty() && names.iter().all(|(init, _)| *init);
        let noun = if init { "init container" } else { "container" };
        let plural = if names.len() == 1 { "" } else { "s" };
        let names = names.into_iter().map(|(_, name)| name);
        format!("{noun}{plural} {}", enumerate(names))
    }

    pub fn pods(&self) -> String {
        let pods: BTreeSet<_> = self
            .found()
            .map(|(cluster, (trouble, _))| (cluster, trouble.pod.meta.name.as_str()))
            .collect();
        count(pods.len(), "pod")
    }

    /// The name of the first pod: the one that commands inspect.
    pub fn pod(&self) -> &str {
        self.first()
            .map_or("", |(_, (trouble, _))| trouble.pod.meta.name.as_str())
    }

    /// The command that describes the first pod, with its events.
    pub fn describe_pod(&self) -> CommandLine {
        self.kubectl("describe").arg("pod").arg(self.pod())
    }

    /// The command that shows what the first container says.
    pub fn logs(&self) -> CommandLine {
        let logs = self.kubectl("logs").arg(self.pod());
        logs.flag("-c", self.container())
    }

    /// What it said before it was started again.
    pub fn previous_logs(&self) -> CommandLine {
        self.logs().switch("--previous")
    }

    /// The name of the first container; empty when it is about pods.
    fn container(&self) -> &str {
        self.first()
            .and_then(|(_, (trouble, _))| trouble.container)
            .map_or("", |place| place.name)
    }
}

/// Where the status of a container stands.
fn path(trouble: &PodTrouble<'_>, field: &str) -> String {
    match trouble.container {
        Some(place) => {
            let list = if place.init {
                "initContainerStatuses"
            } else {
                "containerStatuses"
            };
            format!("status.{list}[name={}].{field}", place.name)
        }
        None => format!("status.{field}"),
    }
}

/// Adds a field of a container's status.
pub fn status_field(
    finding: Finding,
    cluster: &str,
    trouble: &PodTrouble<'_>,
    field: &str,
    value: impl ShownValue,
) -> Finding {
    finding.evidence_in(cluster, trouble, path(trouble, field), value)
}

/// Adds the end of a container: its last one, or the one before.
pub fn container_end(
    finding: Finding,
    cluster: &str,
    trouble: &PodTrouble<'_>,
    end: &ContainerTerminated,
) -> Finding {
    let now = trouble.container.map(|place| &place.status.state);
    let is_now = now.is_some_and(|state| state.terminated.as_deref() == Some(end));
    let field = if is_now { "state" } else { "lastState" };
    let field = format!("{field}.terminated");
    status_field(finding, cluster, trouble, &field, end)
}

/// Adds how often a container was started again, where that is known.
pub fn restarts(finding: Finding, cluster: &str, trouble: &PodTrouble<'_>) -> Finding {
    match trouble.container.and_then(|place| place.status.restarts) {
        Some(restarts) => status_field(finding, cluster, trouble, "restartCount", restarts),
        None => finding,
    }
}

/// Adds the event that says why a container waits, else what its status says.
pub fn event_or_waiting(
    finding: Finding,
    cluster: &str,
    trouble: &PodTrouble<'_>,
    told: Option<&Event>,
    message: &str,
) -> Finding {
    match told {
        Some(told) => event(finding, cluster, told),
        None => status_field(finding, cluster, trouble, "state.waiting.message", message),
    }
}

/// The events about an object that count, the newest first.
pub fn events<'i>(
    seen: &MemberSighting<'_, 'i>,
    kind: MemberKind,
    meta: &'i MemberMeta,
) -> Vec<&'i Event> {
    events_since(seen.look, kind, meta, seen.failing.since)
}

pub fn event(finding: Finding, cluster: &str, event: &Event) -> Finding {
    let counts = [("count", event.count), ("series.count", event.series.count)];
    let count = counts
        .into_iter()
        .find_map(|(path, count)| Some((path, count?)));
    let texts = [("reason", &event.reason), ("message", &event.message)];
    let given = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let mut paths: Vec<_> = given.map(|(path, _)| path).collect();
    let times = match count.filter(|(_, count)| *count > 1) {
        Some((path, count)) => {
            paths.push(path);
            format!(" ({count} times)")
        }
        None => String::new(),
    };
    finding.computed_in(
        cluster,
        (MemberKind::Event, &event.meta),
        &paths,
        format!("{}: {}{times}", event.reason, event.message),
    )
}

/// Says how to look into the clusters too, when nobody did.
pub fn invite(cx: &DiagnosisContext<'_>, clusters: &[&str], finding: Finding) -> Finding {
    let looks = &cx.inventory.looks;
    if clusters.iter().any(|cluster| looks.contains_key(*cluster)) {
        return finding;
    }
    let target = cx.target();
    let name = match target.kind.concept() {
        Concept::Placement => target.word(),
        _ => target.name.clone(),
    };
    finding.look_with(
        "Diagnose with the member cluster, which shows what blocks it. For a context with another \
         name, use --member-context CLUSTER=CONTEXT.",
        cx.command("diagnose")
            .arg(name)
            .switch("--member-contexts-from-kubeconfig"),
    )
}

/// What is named when nothing of a member cluster could be judged.
const INSIDE: &str = "objects in the member cluster";

/// What could not be seen in the clusters that were to be looked into, and why.
pub fn not_checked(cx: &DiagnosisContext<'_>) -> Vec<NotChecked> {
    let mut gaps: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let mut single = Vec::new();
    if cx.inventory.looks.is_empty() {
        return single;
    }
    for errand in errands(cx) {
        let Some(look) = cx.inventory.looks.get(&errand.cluster) else {
            continue;
        };
        let mut gap = |what: &str, why: String| {
            gaps.entry((what.to_owned(), why))
                .or_default()
                .insert(errand.cluster.clone());
        };
        if let Some(closed) = &look.closed {
            gap(INSIDE, closed.why().to_owned());
            continue;
        }
        if errand.wanted.is_empty() {
            continue;
        }
        if let ClusterMatch::Other(why) = look.identity(&errand) {
            gap(
                INSIDE,
                format!(
                    "the context belongs to another cluster than {}: {why}",
                    errand.cluster
                ),
            );
            continue;
        }
        for (kind, why) in look.gaps() {
            let why = match kind {
                MemberKind::AppliedWork => {
                    format!(
                        "whether the context belongs to {} is unknown: {why}",
                        errand.cluster
                    )
                }
                _ => why,
            };
            gap(kind.name(), why);
        }
        for wanted in errand.left_out() {
            single.push(
                NotChecked::new(
                    wanted.kind.name(),
                    format!("at most {WORKLOADS_EACH} objects of a cluster are read"),
                )
                .on(vec![errand.cluster.clone()])
                .about(wanted.into()),
            );
        }
    }
    single.extend(gaps.into_iter().map(|((what, why), clusters)| {
        NotChecked::new(what, why).on(clusters.into_iter().collect())
    }));
    single
}
