//! What changes in the clusters: the objects that they have, by their snapshots and overrides,
//! against those that the run would send. Clusters with the same rules are compared once.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::draft::PlanDraft;
use super::stages::ComputedStages;
use super::still_failing::StillFailing;
use super::{PlannedCluster, Warning, WarningKind};
use crate::contents::{Manifest, ManifestKey, what_goes_with};
use crate::inventory::Inventory;
use crate::inventory::source::ObjectTexts;
use crate::kubefleet::apply::ApplyStrategy;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::ManifestProblem;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::{ClusterStatus, UpdateRun};
use crate::kubefleet::{Concept, Kind, ObjectRef};
use crate::manifests::{
    ChangeCounts, FailingOperation, FaultCause, INSIDE_ENVELOPES, ObjectRefusal, Override,
    PlacedOverrides, RenderedClusters, RenderedManifest, SnapshotContent, WorkDelta, WorkGenerator,
};
use crate::member::PodHold;
use crate::query::Outcome;
use crate::report::{ComposeText, NotChecked, Subject};
use crate::rollout::content::is_kept_out;
use crate::rollout::in_the_way::NewObjects;
use crate::rollout::sent::{joined_again, sent_index, sent_namesakes};
use crate::rollout::versions::{Version, versions};
use crate::rollout::{ManifestTrouble, binding_trouble};
use crate::words::{by_key, by_number, count, enumerate};

/// What snapshots and overrides hold.
pub struct PlanContents<'c> {
    /// The texts of the snapshots.
    pub texts: &'c ObjectTexts,
    pub overrides: &'c [Override],
    /// The places of the placement's selectors that are known to match nothing on the hub.
    pub unmatched: &'c [usize],
    /// Whether the latest snapshot has what the placement selects on the hub; it may be one that does not
    /// exist yet.
    pub is_current: bool,
    /// KubeFleet's own objects that are part of the next snapshot up to 0.3.
    pub unclear: &'c [ManifestKey],
    pub works: ToldByWorks,
}

/// What Works tell where the snapshots do not tell what clusters have.
#[derive(Debug, Default)]
pub struct ToldByWorks {
    /// The clusters of which the Works hold what their bindings ask for.
    pub as_asked: BTreeSet<String>,
    /// What the Works of clusters hold.
    pub held: BTreeMap<String, Vec<Manifest>>,
}

impl<'c> PlanContents<'c> {
    /// What was read alone, and nothing of what the hub has beside it.
    pub fn new(texts: &'c ObjectTexts, overrides: &'c [Override]) -> Self {
        Self {
            texts,
            overrides,
            unmatched: &[],
            is_current: false,
            unclear: &[],
            works: ToldByWorks::default(),
        }
    }
}

impl ToldByWorks {
    /// Whether they tell what a cluster has.
    fn tells(&self, cluster: &str) -> bool {
        self.as_asked.contains(cluster) || self.held.contains_key(cluster)
    }
}

/// Why what clusters have is not known where the hub had an older agent.
const BY_OLDER_AGENTS: &str = "what is in its envelopes may be as KubeFleet 0.3.1 or older left it, which overrides them as a whole";

/// The changes for a group of clusters.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectChanges {
    /// The clusters.
    pub clusters: Vec<String>,
    /// The index of the snapshot that they have; absent where they have none.
    pub from: Option<String>,
    /// The index of the snapshot that they would get; absent where the placement is removed.
    pub to: Option<String>,
    /// How many objects change in each of them.
    pub counts: ChangeCounts,
    /// The objects that are new to each of them, by kind, namespace and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Subject>,
    /// The objects that each of them would lose, by kind, namespace and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<Subject>,
    /// The objects of each of them that KubeFleet has kept so far, and that the run would overwrite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overwritten: Vec<Subject>,
    /// How the apply strategy of what they have changes: `whenToTakeOver: Never -> Always`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apply_strategy: Vec<String>,
    /// The objects of each of them that are deleted and created again in another Work.
    #[serde(skip)]
    pub(super) moved: Vec<Subject>,
    /// The same of those in another API version.
    #[serde(skip)]
    pub(super) recreated: Vec<Subject>,
    /// Those of all these whose Work goes.
    #[serde(skip)]
    pub(super) with_work: Vec<Subject>,
    /// What is created or overwritten, with the groups: kinds of several groups may have one name.
    #[serde(skip)]
    pub(super) new: Vec<ManifestKey>,
}

impl ObjectChanges {
    /// Whether nothing changes, neither the objects nor how they are applied.
    pub fn is_none(&self) -> bool {
        self.counts.is_none() && self.apply_strategy.is_empty()
    }
}

/// What is new to clusters that keep the placement or get it.
pub fn new_objects(placement: ObjectRef, changes: &[ObjectChanges]) -> NewObjects<'_> {
    let mut new = NewObjects::new(placement);
    for change in changes {
        let clusters = change.clusters.iter().map(String::as_str).collect();
        new.add(clusters, change.new.iter().cloned());
    }
    new
}

/// One side of the comparison: the clusters, and the content that they have or would get.
struct ComparedSide<'s> {
    clusters: BTreeMap<&'s str, usize>,
    rendering: RenderedClusters<'s>,
    groups: Vec<usize>,
    /// How a run applies it; `None` for what clusters have.
    apply: Option<ApplyStrategy>,
}

impl<'s> ComparedSide<'s> {
    fn new(
        content: &'s SnapshotContent,
        overrides: &'s [Override],
        placed: &'s [PlacedOverrides<'s>],
        apply: Option<ApplyStrategy>,
    ) -> Self {
        let rendering = RenderedClusters::new(content, overrides, placed);
        let mut groups = vec![0; placed.len()];
        for (number, group) in rendering.groups.iter().enumerate() {
            for cluster in &group.clusters {
                groups[*cluster] = number;
            }
        }
        let names = placed.iter().enumerate();
        Self {
            clusters: names
                .map(|(at, it)| (it.member.meta.name.as_str(), at))
                .collect(),
            rendering,
            groups,
            apply,
        }
    }

    /// The clusters that hold something else in another rendering of the same clusters.
    fn differing(&self, other: &RenderedClusters<'_>) -> BTreeSet<String> {
        let (rendering, clusters) = (&self.rendering, self.rendering.clusters());
        let differs = |at: usize| {
            let delta = WorkDelta::between(&other.manifests(at), &rendering.manifests(at));
            !delta.counts.is_none()
        };
        let places = clusters.iter().enumerate();
        let overridden = places.filter(|(at, it)| !it.overrides.is_empty() && differs(*at));
        overridden
            .map(|(_, it)| it.member.meta.name.clone())
            .collect()
    }

    /// Whether a cluster has what it would get on the other side, so that nothing is sent.
    fn is_kept(&self, step: &ClusterStep<'_>, after: &Self) -> bool {
        let overrides = |side: &Self| {
            let at = side.clusters.get(step.name)?;
            Some(side.rendering.clusters()[*at].overrides.clone())
        };
        step.from == step.to && overrides(self) == overrides(after)
    }

    /// What tells the manifests of a cluster from those of others, and its place.
    fn place(&self, name: &str) -> Option<((usize, Option<usize>), usize)> {
        let at = *self.clusters.get(name)?;
        let group = self.groups[at];
        let varies = self.rendering.groups[group].varies;
        Some(((group, varies.then_some(at)), at))
    }
}

/// What changes in a cluster. Those with the same are told together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectDelta {
    from: Option<String>,
    /// Whether the placement is removed.
    is_removal: bool,
    delta: WorkDelta,
    /// How its apply strategy changes.
    apply: Vec<String>,
}

/// The clusters by what changes in them.
type DeltaGroups = BTreeMap<ObjectDelta, Vec<String>>;

/// A cluster, the snapshot that it has, and the one that it is to get.
#[derive(Debug, Clone, Copy)]
struct ClusterStep<'s> {
    name: &'s str,
    from: Option<&'s str>,
    to: Option<&'s str>,
}

impl<'s> From<&'s PlannedCluster> for ClusterStep<'s> {
    fn from(cluster: &'s PlannedCluster) -> Self {
        Self {
            name: &cluster.name,
            from: cluster.snapshot.as_deref(),
            to: cluster.new_snapshot.as_deref(),
        }
    }
}

impl<'s> ClusterStep<'s> {
    /// The step of a cluster that a run has recorded.
    fn recorded(inventory: &'s Inventory, cluster: &'s ClusterStatus, to: Option<&'s str>) -> Self {
        let binding = inventory.binding(&cluster.name);
        Self {
            name: &cluster.name,
            from: binding.and_then(|binding| sent_index(inventory, binding)),
            to,
        }
    }
}

/// What changes, and of which clusters that is unknown.
#[derive(Default)]
struct FoundChanges {
    groups: DeltaGroups,
    not_checked: Vec<NotChecked>,
    /// The objects of which masked values may change, and where.
    masked: BTreeMap<ManifestKey, Vec<String>>,
    /// The objects that fail in a cluster and do not change there.
    still_failing: BTreeMap<String, StillFailing>,
    told_by_works: Vec<String>,
    /// The clusters that could not be compared because something could not be read.
    unseen: BTreeSet<String>,
}

impl FoundChanges {
    /// Adds clusters that were not compared, and why; `is_unseen` where something could not be read.
    fn leave_out(&mut self, (why, is_unseen): (String, bool), clusters: Vec<String>) {
        let unseen = clusters.iter().filter(|_| is_unseen);
        self.unseen.extend(unseen.cloned());
        self.not_checked.push(unknown((why, clusters)));
    }

    /// The changes of a run that brings the snapshot of this index.
    fn into_changes(self, to: &str) -> RunChanges {
        RunChanges {
            refused: RefusedObject::of(&self.groups),
            recreated: RecreatedObjects::of(&self.groups),
            changes: sort_changes(self.groups, to),
            not_checked: self.not_checked,
            still_failing: self.still_failing,
            told_by_works: self.told_by_works,
            unseen: self.unseen,
        }
    }
}

/// What changes, and what of it fails: overrides that cannot be applied, and fields that must not
/// change.
pub(super) fn compute(
    draft: &mut PlanDraft<'_>,
    computed: &ComputedStages,
    to: Option<&str>,
    contents: &PlanContents<'_>,
) -> Vec<ObjectChanges> {
    let inventory = draft.inventory;
    let updated: Vec<_> = computed.updated().collect();
    let all = versions(inventory);
    let hub = WorkGenerator::of_hub(inventory);
    let generator = hub.unwrap_or_default();
    let content = |index| content_of(&all, index, contents.texts, generator);
    let then = to.and_then(|index| Some((index, content(index)?)));
    let Some((to, then)) = then.filter(|_| !updated.is_empty() || !computed.removed.is_empty())
    else {
        return Vec::new();
    };
    let overrides = contents.overrides;
    let applicable = PlacedOverrides::applicable(draft.placement(), &then, overrides);
    let members = updated.iter().filter_map(|it| inventory.member(&it.name));
    let placed: Vec<_> = members
        .map(|member| PlacedOverrides::anew(member, &applicable, overrides))
        .collect();
    let apply = inventory.placement.present().map(Placement::apply_strategy);
    let after = ComparedSide::new(&then, overrides, &placed, apply);
    let blocked = faults(draft, &after.rendering);
    if hub.is_none() {
        let unclear = unlike_older(&after, (&all, to), contents);
        draft.not_checked.extend(unclear);
    }
    // What a cluster that left the fleet has stays there.
    let removed = computed.removed.iter();
    let removed = removed.filter(|it| !inventory.keeps_content(&it.name));
    let steps = updated.into_iter().chain(removed);
    let steps = steps.filter(|cluster| !blocked.contains(&cluster.name));
    let mut found = compare_sides(
        (inventory, &all),
        steps.map(ClusterStep::from),
        (&after, &|name| inventory.member(name)),
        contents,
    );
    draft.not_checked.append(&mut found.not_checked);
    draft.still_failing = found.still_failing;
    draft.told_by_works = found.told_by_works;
    let refused = RefusedObject::of(&found.groups).into_iter();
    draft.warnings.extend(refused.map(RefusedObject::warning));
    recreated(draft, &found.groups);
    sort_changes(found.groups, to)
}

/// The clusters that an older version would send something else of a snapshot, or nothing: it applies overrides to the
/// envelopes themselves.
fn unlike_older(
    after: &ComparedSide<'_>,
    (all, to): (&[Version<'_>], &str),
    contents: &PlanContents<'_>,
) -> Vec<NotChecked> {
    let Some(older) = by_envelopes(after, (all, to), contents) else {
        return Vec::new();
    };
    let older = RenderedClusters::new(&older, contents.overrides, after.rendering.clusters());
    let blocked = |name: &String| {
        let mut faults = after.rendering.faults.iter();
        faults.any(|it| it.clusters.contains(name))
    };
    let mut differing = after.differing(&older);
    let faults = older.faults.iter();
    let faults = faults.filter(|it| !it.clusters.iter().all(blocked));
    let mut unclear: Vec<_> = faults
        .map(|it| (it.describe(), it.clusters.clone()))
        .collect();
    differing.retain(|name| !unclear.iter().any(|(_, failing)| failing.contains(name)));
    if !differing.is_empty() {
        let how = "overrides change envelopes as a whole".to_owned();
        unclear.push((how, differing.into_iter().collect()));
    }
    let why = "nothing tells whether the hub has KubeFleet 0.3.1 or older, where";
    let unclear = unclear.into_iter();
    let unclear = unclear.map(|(how, clusters)| unknown((format!("{why} {how}"), clusters)));
    unclear.collect()
}

/// What an initialized run changes, with the overrides that it recorded.
#[derive(Debug, Default)]
pub struct RunChanges {
    pub changes: Vec<ObjectChanges>,
    /// What could not be compared.
    pub not_checked: Vec<NotChecked>,
    pub refused: Vec<RefusedObject>,
    /// What is deleted and created again.
    pub recreated: Vec<RecreatedObjects>,
    /// The objects that fail in a cluster and do not change there.
    still_failing: BTreeMap<String, StillFailing>,
    /// The clusters of which only the Works may tell what they have.
    pub told_by_works: Vec<String>,
    /// The clusters that could not be compared because something could not be read.
    pub unseen: BTreeSet<String>,
}

impl RunChanges {
    /// What a run changes, as far as an inventory has the texts.
    pub fn ahead(inventory: &Inventory, run: &UpdateRun) -> Self {
        let (all, texts) = (inventory.overrides.items.iter(), &inventory.texts);
        let overrides: Vec<_> = all.filter_map(|it| Override::known(it, texts)).collect();
        of_run(inventory, run, &PlanContents::new(texts, &overrides))
    }

    /// That some clusters fail for what the run does not change, as a clause for each object: those that are meant, by
    /// their names, and whether that is certain.
    pub fn fails_again(&self, is_meant: impl Fn(&String, bool) -> bool) -> Vec<String> {
        let meant = self.still_failing.iter();
        let meant = meant.filter(|(name, failing)| is_meant(name, failing.is_certain));
        let objects = by_key(meant.map(|(name, failing)| (failing, name))).into_iter();
        let clauses = objects.map(|(failing, names)| failing.describe(&names));
        clauses.collect()
    }
}

/// Compares what the clusters of an initialized run have with what it brings.
pub fn of_run(inventory: &Inventory, run: &UpdateRun, contents: &PlanContents<'_>) -> RunChanges {
    let to = run.status.snapshot_index.as_str();
    let all = versions(inventory);
    let agent = WorkGenerator::of_agent(inventory, run);
    let generator = agent.unwrap_or_default();
    let stages = run.updated_clusters();
    let Some(then) = content_of(&all, to, contents.texts, generator) else {
        let names = stages.map(|it| it.name.clone()).collect();
        let mut found = FoundChanges::default();
        found.leave_out(without_snapshot((inventory, &all), to), names);
        return found.into_changes(to);
    };
    let removal = run.status.deletion_stage.iter();
    let removed = removal.flat_map(|stage| &stage.clusters);
    let removed = removed.filter(|it| !inventory.keeps_content(&it.name));
    let blank = blank_members(inventory, run);
    let members = |name: &str| inventory.member(name).or_else(|| blank.get(name));
    let unlabelled = stages.clone().filter(|it| members(&it.name).is_none());
    let unlabelled: Vec<_> = unlabelled.map(|it| it.name.clone()).collect();
    let recorded: Vec<_> = stages
        .clone()
        .filter_map(|cluster| {
            let member = members(&cluster.name)?;
            let names = cluster.override_names();
            Some(PlacedOverrides::recorded(member, names, contents.overrides))
        })
        .collect();
    let (placed, unread): (Vec<_>, Vec<_>) =
        recorded.into_iter().partition(|it| it.gone.is_empty());
    let apply = run.status.apply_strategy.as_deref().cloned();
    let after = ComparedSide::new(&then, contents.overrides, &placed, apply);
    let faults = &after.rendering.faults;
    let blocked = faults.iter().flat_map(|it| &it.clusters);
    let blocked: BTreeSet<&str> = blocked.map(String::as_str).collect();
    let of = |to| move |cluster| ClusterStep::recorded(inventory, cluster, to);
    let steps = stages.map(of(Some(to))).chain(removed.map(of(None)));
    let steps = steps.filter(|step| !blocked.contains(step.name));
    let mut found = compare_sides((inventory, &all), steps, (&after, &members), contents);
    if !unlabelled.is_empty() && !is_listed(inventory, Kind::MemberCluster) {
        let why = "its labels, by which overrides choose, could not be read".to_owned();
        found.leave_out((why, true), unlabelled);
    }
    for cluster in unread {
        if let Some(lacking) = cluster.gone.first() {
            let (how, is_unseen) = without_override(inventory, lacking);
            let why = format!("{lacking}, which the run recorded, {how}");
            let name = cluster.member.meta.name.clone();
            found.leave_out((why, is_unseen), vec![name]);
        }
    }
    let broken = faults.iter().map(|it| (it.describe(), it.clusters.clone()));
    found.not_checked.extend(broken.map(unknown));
    if agent.is_none() {
        let unclear = unlike_older(&after, (&all, to), contents);
        found.not_checked.extend(unclear);
    }
    found.into_changes(to)
}

/// The clusters of a run whose `MemberCluster` was not read, and that no override chooses: their labels tell nothing.
fn blank_members(inventory: &Inventory, run: &UpdateRun) -> BTreeMap<String, MemberCluster> {
    let is_plain = |it: &&ClusterStatus| {
        let bound = inventory.binding(&it.name);
        let mut bound = bound.into_iter().flat_map(|it| it.spec.override_names());
        it.override_names().next().is_none() && bound.next().is_none()
    };
    let unread = run
        .updated_clusters()
        .filter(|_| !is_listed(inventory, Kind::MemberCluster));
    let unread = unread.filter(|it| inventory.member(&it.name).is_none());
    let blank = unread.filter(is_plain).map(|it| {
        let mut member = MemberCluster::default();
        member.meta.name.clone_from(&it.name);
        (it.name.clone(), member)
    });
    blank.collect()
}

/// Whether all objects of a kind were read that were asked for.
fn is_listed(inventory: &Inventory, kind: Kind) -> bool {
    inventory.outcomes.get(&kind) == Some(&Outcome::Listed)
}

/// Why a snapshot tells nothing, and whether that is because it could not be read.
fn without_snapshot((inventory, all): (&Inventory, &[Version<'_>]), index: &str) -> (String, bool) {
    let kind = inventory.scope.kind(Concept::ResourceSnapshot);
    let is_unseen = !is_listed(inventory, kind);
    let mut all = all.iter();
    let how = if is_unseen {
        "could not be read in full"
    } else if all.any(|it| it.index == index && it.exists()) {
        "is incomplete"
    } else {
        "is gone"
    };
    (format!("snapshot {index} {how}"), is_unseen)
}

/// The same of an override snapshot that has no text.
fn without_override(inventory: &Inventory, over: &ObjectRef) -> (&'static str, bool) {
    let mut all = inventory.overrides.iter();
    let is_gone = is_listed(inventory, over.kind) && !all.any(|it| it.object() == *over);
    (if is_gone { "is gone" } else { "was not read" }, !is_gone)
}

fn content_of(
    all: &[Version<'_>],
    index: &str,
    texts: &ObjectTexts,
    generator: WorkGenerator,
) -> Option<SnapshotContent> {
    let version = all.iter().find(|version| version.index == index)?;
    SnapshotContent::of_version(version, texts, generator)
}

pub(super) fn unknown((why, clusters): (String, Vec<String>)) -> NotChecked {
    NotChecked::new("changed objects", why).on(clusters)
}

/// Finds a cluster by its name.
type MemberLookup<'m, 'f> = dyn Fn(&str) -> Option<&'m MemberCluster> + 'f;

/// What changes in clusters that get what is on one side, against what they have.
fn compare_sides<'s>(
    (inventory, all): (&Inventory, &[Version<'_>]),
    steps: impl Iterator<Item = ClusterStep<'s>>,
    (after, members): (&ComparedSide<'_>, &MemberLookup<'s, '_>),
    contents: &PlanContents<'_>,
) -> FoundChanges {
    let mut held: BTreeMap<Option<&str>, Vec<ClusterStep<'_>>> = BTreeMap::new();
    let mut found = FoundChanges::default();
    let mut unread = BTreeMap::<String, Vec<String>>::new();
    for step in steps {
        let binding = inventory.binding(step.name);
        // What was compared without an owner stays there.
        if step.to.is_none() && binding.is_some_and(Binding::compares_without_owning) {
            continue;
        }
        if let Some((why, may_works_tell)) = tells_nothing(inventory, &step, contents) {
            let name = step.name.to_owned();
            unread.entry(why.to_owned()).or_default().push(name.clone());
            found.told_by_works.extend(may_works_tell.then_some(name));
            continue;
        }
        // What is bound to it, and was never released to it, has nothing of it.
        let is_released = binding.is_none_or(Binding::was_released);
        let from = step.from.filter(|_| is_released || step.to.is_none());
        if let Some(now) = contents.works.held.get(step.name) {
            compare_works(inventory, (from, now), after, &step, &mut found);
            continue;
        }
        held.entry(from).or_default().push(step);
    }
    for (from, mut clusters) in held {
        let known = |index| content_of(all, index, contents.texts, after.rendering.generator());
        let Some(content) = from.map_or(Some(SnapshotContent::default()), known) else {
            let from = from.unwrap_or_default();
            let names: Vec<_> = clusters.iter().map(|it| it.name.to_owned()).collect();
            let (why, is_unseen) = without_snapshot((inventory, all), from);
            found.told_by_works.extend(names.iter().cloned());
            if is_unseen {
                found.unseen.extend(names.iter().cloned());
            }
            unread.insert(why, names);
            continue;
        };
        let overrides = contents.overrides;
        let own = (inventory, overrides, members);
        let placed = held_overrides(own, from, &clusters, (&mut unread, &mut found));
        let before = ComparedSide::new(&content, overrides, &placed, None);
        // What an override blocks has not come: the cluster has what it had before.
        for fault in &before.rendering.faults {
            clusters.retain(|it| !fault.clusters.iter().any(|name| name == it.name));
            let why = format!("what is there is unknown, because {}", fault.describe());
            let blocked = unread.entry(why).or_default();
            blocked.extend(fault.clusters.iter().cloned());
        }
        let unclear = by_older_agents(&before, all, from, contents);
        let is_unclear = |it: &ClusterStep<'_>| {
            let is_told = contents.works.tells(it.name) || before.is_kept(it, after);
            unclear.contains(it.name) && !is_told
        };
        let (unclear, clusters): (Vec<_>, Vec<_>) = clusters.into_iter().partition(is_unclear);
        if !unclear.is_empty() {
            let names: Vec<_> = unclear.iter().map(|it| it.name.to_owned()).collect();
            found.told_by_works.extend(names.iter().cloned());
            let alike = unread.entry(BY_OLDER_AGENTS.to_owned()).or_default();
            alike.extend(names);
        }
        compare(inventory, (from, &before), after, &clusters, &mut found);
    }
    let masked = std::mem::take(&mut found.masked).into_iter();
    let masked = masked.map(|(object, clusters)| NotChecked::masked(&object).on(clusters));
    found.not_checked = unread.into_iter().map(unknown).chain(masked).collect();
    found
}

/// Why the binding of a cluster does not tell what the cluster has, and whether its Works may tell.
fn tells_nothing(
    inventory: &Inventory,
    step: &ClusterStep<'_>,
    contents: &PlanContents<'_>,
) -> Option<(&'static str, bool)> {
    let binding = inventory.binding(step.name);
    let binding = binding.filter(|_| step.to.is_some())?;
    if binding.only_compares() {
        Some(("the cluster was only compared (ReportDiff)", false))
    } else if binding.is_unreported() {
        Some(("the cluster has not reported yet", false))
    } else if joined_again(inventory, binding).is_some() {
        Some(("the cluster has joined again since the last run", false))
    } else if !contents.works.tells(step.name) && sent_namesakes(inventory, binding).is_some() {
        let why = "a snapshot that the cluster has was deleted and created again";
        Some((why, true))
    } else {
        None
    }
}

/// The clusters whose envelopes an older agent, of which the hub may have Works, would have overridden otherwise.
fn by_older_agents(
    side: &ComparedSide<'_>,
    all: &[Version<'_>],
    index: Option<&str>,
    contents: &PlanContents<'_>,
) -> BTreeSet<String> {
    let older = |index| by_envelopes(side, (all, index), contents);
    let Some(older) = index.and_then(older) else {
        return BTreeSet::new();
    };
    let clusters = side.rendering.clusters();
    side.differing(&RenderedClusters::new(&older, contents.overrides, clusters))
}

/// The content of one side as an older agent opens it; `None` where it has no envelopes.
fn by_envelopes(
    side: &ComparedSide<'_>,
    (all, index): (&[Version<'_>], &str),
    contents: &PlanContents<'_>,
) -> Option<SnapshotContent> {
    let has_envelopes = side.rendering.content().has_envelopes();
    let index = Some(index).filter(|_| has_envelopes)?;
    content_of(all, index, contents.texts, WorkGenerator::Envelopes)
}

/// What changes, the most clusters first.
fn sort_changes(groups: DeltaGroups, to: &str) -> Vec<ObjectChanges> {
    let subjects =
        |objects: &[ManifestKey]| -> Vec<Subject> { objects.iter().map(Subject::from).collect() };
    let changes = groups.into_iter().map(|(change, clusters)| ObjectChanges {
        clusters,
        from: change.from,
        to: (!change.is_removal).then(|| to.to_owned()),
        created: subjects(&change.delta.created),
        deleted: subjects(&change.delta.deleted),
        overwritten: subjects(&change.delta.overwritten),
        moved: subjects(&change.delta.moved),
        recreated: subjects(&change.delta.recreated),
        with_work: subjects(&change.delta.with_work),
        apply_strategy: change.apply,
        counts: change.delta.counts,
        new: [change.delta.created, change.delta.overwritten].concat(),
    });
    let mut changes: Vec<_> = changes.collect();
    changes.sort_by_key(|it| std::cmp::Reverse(it.clusters.len()));
    changes
}

/// The clusters that have a snapshot, with the overrides that they have; of those whose overrides were
/// not all read, nothing can be said.
fn held_overrides<'m>(
    (inventory, overrides, members): (&Inventory, &[Override], &MemberLookup<'m, '_>),
    from: Option<&str>,
    clusters: &[ClusterStep<'_>],
    (unread, found): (&mut BTreeMap<String, Vec<String>>, &mut FoundChanges),
) -> Vec<PlacedOverrides<'m>> {
    let mut placed = Vec::new();
    for cluster in clusters {
        let Some(member) = members(cluster.name) else {
            continue;
        };
        let binding = inventory.binding(cluster.name);
        let bound = match binding.filter(|_| from.is_some()) {
            Some(binding) => PlacedOverrides::bound(member, binding, overrides),
            None => PlacedOverrides::none(member),
        };
        if let Some(lacking) = bound.gone.first() {
            let (how, is_unseen) = without_override(inventory, lacking);
            let why = format!("{lacking}, which the cluster has, {how}");
            let name = cluster.name.to_owned();
            unread.entry(why).or_default().push(name.clone());
            found.told_by_works.push(name.clone());
            if is_unseen {
                found.unseen.insert(name);
            }
        } else {
            placed.push(bound);
        }
    }
    placed
}

/// Adds what changes in a cluster of which the Works tell what it has.
fn compare_works(
    inventory: &Inventory,
    (from, now): (Option<&str>, &[Manifest]),
    after: &ComparedSide<'_>,
    cluster: &ClusterStep<'_>,
    found: &mut FoundChanges,
) {
    let then = after.place(cluster.name).map(|(_, at)| at);
    if then.is_some() || cluster.to.is_none() {
        let brought = then.map(|at| after.rendering.manifests(at));
        let delta = WorkDelta::of(now, &brought.unwrap_or_default());
        let had = || now.to_vec();
        add(
            inventory,
            (from, cluster),
            (delta, &had),
            (after, then),
            found,
        );
    }
}

/// Adds what changes in clusters that have the same snapshot.
fn compare(
    inventory: &Inventory,
    (from, before): (Option<&str>, &ComparedSide<'_>),
    after: &ComparedSide<'_>,
    clusters: &[ClusterStep<'_>],
    found: &mut FoundChanges,
) {
    let mut known = BTreeMap::new();
    for cluster in clusters {
        let Some((alike, was)) = before.place(cluster.name) else {
            continue;
        };
        let then = after.place(cluster.name);
        if then.is_none() && cluster.to.is_some() {
            continue;
        }
        let delta: &WorkDelta = known
            .entry((alike, then.map(|(alike, _)| alike)))
            .or_insert_with(|| {
                let now = before.rendering.manifests(was);
                let then = then.map(|(_, at)| after.rendering.manifests(at));
                WorkDelta::between(&now, &then.unwrap_or_default())
            });
        let had = || {
            let had = before.rendering.manifests(was).into_iter();
            had.map(|it| it.manifest.into_owned()).collect()
        };
        let then = then.map(|(_, at)| at);
        let change = (delta.clone(), &had as HadManifests<'_>);
        add(inventory, (from, cluster), change, (after, then), found);
    }
}

/// Makes what a cluster had before.
type HadManifests<'h> = &'h dyn Fn() -> Vec<Manifest>;

/// Adds what changes in a cluster, as far as what fails there lets it.
fn add(
    inventory: &Inventory,
    (from, cluster): (Option<&str>, &ClusterStep<'_>),
    (mut delta, had): (WorkDelta, HadManifests<'_>),
    (after, then): (&ComparedSide<'_>, Option<usize>),
    found: &mut FoundChanges,
) {
    let own = inventory.binding(cluster.name);
    let is_older = |object: &ManifestKey| own.is_some_and(|own| is_kept_out(own, object));
    let trouble = own.and_then(|own| binding_trouble(inventory, own));
    let troubled = trouble.map(|it| it.manifests).unwrap_or_default();
    // What others own stays theirs. What only fails now may be applied again before the run comes, and then it goes.
    let is_ours = |it: &ManifestKey| !fails(&troubled, it, ManifestProblem::is_not_ours);
    delta.deleted.retain(is_ours);
    delta.moved.retain(is_ours);
    delta.recreated.retain(is_ours);
    delta.counts.deleted = delta.deleted.len();
    delta.counts.moved = delta.moved.len();
    delta.counts.recreated = delta.recreated.len();
    delta.refused.retain(|(object, why)| match why {
        ObjectRefusal::Field(_) | ObjectRefusal::Held(_) => !is_older(object),
        ObjectRefusal::Twice(_) => true,
        ObjectRefusal::Without(lost) => delta.deleted.contains(lost),
    });
    delta.count_refused();
    let bound = own.zip(after.apply.as_ref()).zip(then);
    let apply = bound.filter(|_| from.is_some()).map(|((own, apply), at)| {
        if !troubled.is_empty() {
            let then = after.rendering.manifests(at);
            let failing = FailingObjects::of(&troubled, apply, &had(), &then);
            delta.overwritten = failing.overwritten;
            delta.counts.overwritten = delta.overwritten.len();
            let name = cluster.name.to_owned();
            // What kept an object from being applied does not keep it from being compared.
            let compared = own.only_compares();
            let compares_now = apply.is_report_diff() && !compared;
            let unchanged = failing.unchanged.filter(|_| !compares_now);
            found.still_failing.extend(unchanged.map(|it| (name, it)));
        }
        let has = own.spec.apply_strategy.as_deref();
        has.map(|has| has.differences(apply)).unwrap_or_default()
    });
    // In the same snapshot, they are the same.
    let masked = std::mem::take(&mut delta.masked).into_iter();
    for object in masked.filter(|_| from != cluster.to) {
        let alike = found.masked.entry(object).or_default();
        alike.push(cluster.name.to_owned());
    }
    let change = ObjectDelta {
        from: from.map(str::to_owned),
        is_removal: then.is_none(),
        delta,
        apply: apply.unwrap_or_default(),
    };
    let alike = found.groups.entry(change).or_default();
    alike.push(cluster.name.to_owned());
}

/// What becomes of the objects of a cluster that fail there.
#[derive(Default)]
struct FailingObjects {
    /// Those that are kept so far, and that a way to apply the content overwrites.
    overwritten: Vec<ManifestKey>,
    /// The first that stays as it is, because it does not change, or others own it; of several, one that is certain.
    unchanged: Option<StillFailing>,
}

impl FailingObjects {
    fn of(
        troubled: &[ManifestTrouble<'_>],
        apply: &ApplyStrategy,
        had: &[Manifest],
        then: &[RenderedManifest<'_>],
    ) -> Self {
        let mut kept = Self::default();
        let had: BTreeMap<_, _> = had.iter().map(|it| (&it.identity, &it.value)).collect();
        let created = then.iter().map(|it| &it.manifest.identity);
        let created = created.filter(|it| !had.contains_key(it));
        let holders: Vec<_> = created
            .filter(|it| what_goes_with((&it.kind, &it.namespace)).is_some())
            .collect();
        for sent in then {
            let object = &sent.manifest.identity;
            let is_freed = holders.iter().any(|it| it.holds(object));
            let is_new = is_freed || had.get(object) != Some(&&sent.manifest.value);
            if fails(troubled, object, |it| it.is_overcome_by(apply, is_new)) {
                kept.overwritten.push(object.clone());
            } else if fails(troubled, object, |it| {
                it.is_owned_by_others() || !is_new && it.is_lasting()
            }) {
                let is_certain = fails(troubled, object, ManifestProblem::is_of_object);
                let tells_more = |it: &StillFailing| is_certain && !it.is_certain;
                if kept.unchanged.as_ref().is_none_or(tells_more) {
                    let object = object.describe();
                    kept.unchanged = Some(StillFailing { object, is_certain });
                }
            }
        }
        kept
    }
}

/// Whether an object of a cluster has such a problem.
fn fails(
    troubled: &[ManifestTrouble<'_>],
    object: &ManifestKey,
    is_meant: impl Fn(&ManifestProblem) -> bool,
) -> bool {
    let mut own = troubled.iter().filter(|it| it.key() == *object);
    own.any(|it| is_meant(&it.problem))
}

/// Warns of what keeps clusters from getting anything new, and returns them.
fn faults(draft: &mut PlanDraft<'_>, rendering: &RenderedClusters<'_>) -> BTreeSet<String> {
    let mut blocked = BTreeSet::new();
    for fault in &rendering.faults {
        blocked.extend(fault.clusters.iter().cloned());
        let (kind, over) = match &fault.cause {
            FaultCause::Operation(FailingOperation { over, .. })
            | FaultCause::Rule { over, .. } => (WarningKind::OverrideNotApplicable, over),
            // The controller refuses these, or the input lacks them.
            FaultCause::Override { .. } | FaultCause::Gone(_) => continue,
            FaultCause::Envelope(_) => (WarningKind::EnvelopeInvalid, draft.placement()),
        };
        let mut message = format!(
            "{}. KubeFleet would send nothing new to {}.",
            fault.describe(),
            enumerate(&fault.clusters)
        );
        if rendering.opens_envelopes() {
            message = format!("{message} {INSIDE_ENVELOPES}.");
        }
        let warning = Warning::new(kind, over, message)
            .clusters(fault.clusters.iter().cloned())
            .fix(format!(
                "Fix it before the run, which would stall at {}.",
                match fault.clusters.as_slice() {
                    [one] => one,
                    _ => "the first of these clusters",
                }
            ));
        draft.warnings.push(warning);
    }
    blocked
}

/// How many objects that move are named.
const SHOWN: usize = 5;

/// Objects that KubeFleet deletes on clusters before it creates them again: an object has one owner.
/// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject, preprocess.go:removeOneLeftOverManifest.
#[derive(Debug)]
pub struct RecreatedObjects {
    /// Whether they move to another Work; else their API version is another one.
    is_moved: bool,
    objects: BTreeSet<ManifestKey>,
    pub clusters: Vec<String>,
}

impl RecreatedObjects {
    fn of(found: &DeltaGroups) -> Vec<Self> {
        let all = |is_moved, objects: fn(&WorkDelta) -> &[ManifestKey]| {
            let own = found
                .iter()
                .filter(|(it, _)| !objects(&it.delta).is_empty());
            Self {
                is_moved,
                objects: own
                    .clone()
                    .flat_map(|(it, _)| objects(&it.delta))
                    .cloned()
                    .collect(),
                clusters: own.flat_map(|(_, clusters)| clusters).cloned().collect(),
            }
        };
        let moved = all(true, |it| &it.moved);
        let both = [moved, all(false, |it| &it.recreated)];
        both.into_iter()
            .filter(|it| !it.objects.is_empty())
            .collect()
    }

    /// What comes of it.
    pub fn describe(&self) -> String {
        let objects = &self.objects;
        let named = objects.iter();
        let mut named: Vec<_> = named.take(SHOWN).map(ManifestKey::describe).collect();
        let more = objects.len().saturating_sub(SHOWN);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        let (verb, them) = by_number(objects.len(), ("moves", "it"), ("move", "them"));
        let is = by_number(objects.len(), "is", "are");
        let (what, why) = if self.is_moved {
            let what = format!("{verb} to another Work");
            (what, "because the content is divided differently")
        } else {
            let what = format!("{is} replaced");
            (what, "because the API version is another one")
        };
        format!(
            "{} {what} ({}), {why}. KubeFleet deletes {them} on the member clusters before it creates {them} \
             again.",
            count(objects.len(), "object"),
            enumerate(named)
        )
    }
}

/// Warns of objects that are created again.
fn recreated(draft: &mut PlanDraft<'_>, found: &DeltaGroups) {
    if draft.inventory.compares_only() {
        return;
    }
    for recreated in RecreatedObjects::of(found) {
        let kind = if recreated.is_moved {
            WarningKind::ObjectsMoved
        } else {
            WarningKind::ObjectsRecreated
        };
        let warning = Warning::new(kind, draft.placement(), recreated.describe())
            .clusters(recreated.clusters)
            .fix(
                "Check what would be lost, for example volumes and addresses. Then roll it out when a gap \
                 does no harm.",
            );
        draft.warnings.push(warning);
    }
}

/// An object that clusters would not take, why, and these clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedObject {
    object: ManifestKey,
    why: ObjectRefusal,
    pub clusters: BTreeSet<String>,
}

impl RefusedObject {
    fn of(found: &DeltaGroups) -> Vec<Self> {
        let mut all: BTreeMap<&(ManifestKey, ObjectRefusal), BTreeSet<String>> = BTreeMap::new();
        for (change, clusters) in found {
            for refused in &change.delta.refused {
                let known = all.entry(refused).or_default();
                known.extend(clusters.iter().cloned());
            }
        }
        let all = all.into_iter();
        all.map(|((object, why), clusters)| Self {
            object: object.clone(),
            why: why.clone(),
            clusters,
        })
        .collect()
    }

    pub const fn object(&self) -> &ManifestKey {
        &self.object
    }

    /// What is wrong with it, as a clause.
    pub fn describe(&self) -> String {
        let object = self.object.describe();
        match &self.why {
            ObjectRefusal::Field(field) => format!(
                "{object} changes in {field}, which Kubernetes does not let change: the member clusters would \
                 refuse the object"
            ),
            ObjectRefusal::Twice(envelope) => {
                format!("{object} is in the content twice, once in {envelope}")
            }
            ObjectRefusal::Without(lost) => format!(
                "{object} cannot exist without {}, which the run deletes",
                lost.describe()
            ),
            ObjectRefusal::Held(held) => {
                format!("{object} gets another template, and {}", held.why())
            }
        }
    }

    /// Whether it is because the run deletes this object.
    pub fn needs(&self, lost: &ManifestKey) -> bool {
        matches!(&self.why, ObjectRefusal::Without(it) if it == lost)
    }

    /// Whether clusters do not take it, whatever anybody does there.
    pub const fn is_final(&self) -> bool {
        !matches!(self.why, ObjectRefusal::Held(_))
    }

    /// What to do about it before a run.
    pub const fn fix(&self) -> &'static str {
        match &self.why {
            ObjectRefusal::Field(_) => {
                "Keep the old value, or give the object another name. Deleting it on the member \
                 clusters is the last resort: it is missing until the rollout creates it again."
            }
            ObjectRefusal::Twice(_) => {
                "Take it out of the envelope, or do not select it outside of it."
            }
            ObjectRefusal::Held(PodHold::OnDelete) => {
                "Change that setting first, or delete the old pods during the run."
            }
            ObjectRefusal::Held(_) => "Change that setting first.",
            ObjectRefusal::Without(_) => {
                "Select what it needs again, or do not select the object either."
            }
        }
    }

    /// That clusters would not take it.
    fn warning(self) -> Warning {
        let stuck = " The run would be stuck there.";
        let (kind, consequence) = match &self.why {
            ObjectRefusal::Field(_) => (WarningKind::ImmutableFieldChanged, ""),
            ObjectRefusal::Twice(_) => (
                WarningKind::ObjectTwice,
                " KubeFleet does not apply an object twice: the run would be stuck there.",
            ),
            ObjectRefusal::Held(_) => (WarningKind::WorkloadHeld, stuck),
            ObjectRefusal::Without(_) => (WarningKind::NeededObjectDeleted, stuck),
        };
        let message = format!("{}.{consequence}", self.describe());
        let fix = self.fix();
        let warning = Warning::new(kind, &self.object, message);
        warning.clusters(self.clusters).fix(fix)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use super::super::CascadingDeletion;
    use super::*;
    use crate::kubefleet::snapshot::ResourceSnapshot;
    use crate::rollout::life::tests::{OWN, SINCE, at, binding, member, placement, run, snapshot};

    /// A run with snapshot 1 that has still to reach a cluster with snapshot 0, where of both the content is given.
    fn ahead(contents: &[(&str, &[Value])], more: &[Value], is_complete: bool) -> RunChanges {
        let snapshots = contents.iter().map(|(index, objects)| {
            let mut snapshot = snapshot(index, OWN, Some(SINCE));
            snapshot["spec"]["selectedResources"] = json!(objects);
            snapshot
        });
        let snapshots: Vec<_> = snapshots.collect();
        let run = run("now", "1", [Some(1_200), Some(1_201), None, None]);
        let objects = [&snapshots[..], more, &[placement(), run]].concat();
        let target = crate::kubefleet::Scope::Cluster.object(Concept::Placement, "shop");
        let mut all = Inventory::around(&target, &objects, is_complete, at(9_000));
        let parts = all.snapshots.iter().map(ResourceSnapshot::object);
        let texts = snapshots.iter().map(|it| to_raw_value(it).unwrap());
        let texts: ObjectTexts = parts.zip(texts).collect();
        all.texts = texts;
        RunChanges::ahead(&all, all.run_on("now").unwrap())
    }

    /// A binding of which the cluster got what it names.
    fn bound() -> Value {
        let mut binding = binding("0", SINCE);
        binding["status"] = json!({"conditions": [
            {"type": "RolloutStarted", "status": "True", "reason": "RolloutStarted"},
        ]});
        binding
    }

    fn namespace() -> Value {
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    }

    fn config() -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "x"}})
    }

    #[test]
    fn labels_matter_only_where_an_override_chooses() {
        let mut overridden = bound();
        overridden["spec"]["clusterResourceOverrideSnapshots"] = json!(["some-0"]);
        let other = member("member-2", 8_990);
        for (more, is_compared, is_unseen) in [
            (vec![bound()], true, false),
            (vec![overridden], false, true),
            // A cluster that is known not to be there cannot be read better.
            (vec![bound(), other], false, false),
        ] {
            let contents: [(_, &[_]); 2] = [("0", &[namespace()]), ("1", &[config()])];
            let found = ahead(&contents, &more, true);
            let deleted = found.changes.first().map(|it| it.deleted.clone());
            let lost = is_compared.then(|| vec![Subject::new("Namespace", "", "shop")]);
            assert_eq!(deleted, lost);
            assert_eq!(found.unseen.contains("member-1"), is_unseen);
        }
    }

    #[test]
    fn a_snapshot_that_is_gone_is_not_one_that_could_not_be_read() {
        let bound = [bound()];
        let namespace = [namespace()];
        let (has, brings) = ([("0", &namespace[..])], [("1", &namespace[..])]);
        for (contents, is_complete, why) in [
            (&has[..], true, "snapshot 1 is gone"),
            (&brings, true, "snapshot 0 is gone"),
            (&[], false, "snapshot 1 could not be read in full"),
        ] {
            let found = ahead(contents, &bound, is_complete);
            assert_eq!(found.not_checked[0].why, why);
            assert_eq!(found.unseen.contains("member-1"), !is_complete, "{why}");
        }
    }

    #[test]
    fn what_others_own_does_not_go_where_it_moves() {
        let wrapped = json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourceEnvelope", "metadata": {"name": "all"}, "data": {"shop": namespace()}});
        let (has, brings) = ([namespace()], [wrapped]);
        let contents: [(_, &[_]); 2] = [("0", &has[..]), ("1", &brings[..])];
        for (reason, is_lost) in [
            ("ApplyConflictBetweenPlacements", false),
            ("ManifestApplyFailed", true),
        ] {
            let mut bound = bound();
            let conditions = bound["status"]["conditions"].as_array_mut().unwrap();
            conditions.push(
                json!({"type": "Applied", "status": "False", "reason": "HaveNotAppliedWork"}),
            );
            let applied = json!({"type": "Applied", "status": "False", "reason": reason});
            bound["status"]["failedPlacements"] = json!([
                {"kind": "Namespace", "version": "v1", "name": "shop", "condition": applied},
            ]);
            let found = ahead(&contents, &[bound], true);
            let lost = CascadingDeletion::of(&found.changes, false);
            assert_eq!(!lost.is_empty(), is_lost, "{reason}");
        }
    }

    #[test]
    fn what_moves_to_another_work_goes_with_what_is_in_it() {
        let wrapped = json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourceEnvelope", "metadata": {"name": "all"}, "data": {"shop": namespace()}});
        let again = "created again, because it moves to another Work";
        for (has, brings, lost, goes_whole) in [
            (namespace(), wrapped.clone(), again, false),
            (wrapped.clone(), namespace(), again, true),
            (wrapped.clone(), wrapped.clone(), "", false),
            (wrapped, config(), "from member-1", true),
        ] {
            let contents: [(_, &[_]); 2] = [("0", &[has]), ("1", &[brings])];
            let found = ahead(&contents, &[bound()], true);
            let lost_there = CascadingDeletion::of(&found.changes, false);
            let said = lost_there
                .first()
                .map(CascadingDeletion::describe)
                .unwrap_or_default();
            assert!(
                said.ends_with(lost) && said.is_empty() == lost.is_empty(),
                "{said}"
            );
            // A run that only compares deletes what goes with its Work.
            let compares = CascadingDeletion::of(&found.changes, true);
            assert_eq!(!compares.is_empty(), goes_whole, "{said}");
        }
    }
}
