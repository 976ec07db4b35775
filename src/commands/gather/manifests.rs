//! What manifests are put together from: a placement's content, the overrides, the clusters, and what
//! their Works hold now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::commands::gather::placement_objects::{self, KnownTexts, PlacementObjects};
use crate::commands::gather::reading::SourceReading;
use crate::contents::{self, Manifest};
use crate::error::Error;
use crate::inventory::Inventory;
use crate::inventory::source::{HubQuery, NOT_COLLECTED, ObjectTexts};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::work::Work;
use crate::kubefleet::{Concept, Kind, ObjectRef, names};
use crate::manifests::{
    Override, PlacedOverrides, RenderedClusters, SnapshotContent, WorkDelta, WorkGenerator,
};
use crate::plan::ToldByWorks;
use crate::report::NotChecked;
use crate::rollout::life::came_after;
use crate::rollout::sent::sent_namesakes;
use crate::rollout::versions::Version;
use crate::words::{distinct, enumerate};

/// The concepts of which texts are kept.
pub(in crate::commands) const KEEP: &[Concept] = &[
    Concept::ResourceSnapshot,
    Concept::ClusterOverrideSnapshot,
    Concept::OverrideSnapshot,
    Concept::Work,
];

/// Everything that manifests are put together from.
pub(in crate::commands) struct RenderMaterial {
    pub placement: ObjectRef,
    pub run: Option<Arc<UpdateRun>>,
    pub around: PlacementObjects,
    pub overrides: Vec<Override>,
    /// Why override snapshots may be missing.
    overrides_gap: Option<String>,
    /// The placement's Works by cluster, where they were asked for.
    works: BTreeMap<String, Vec<Arc<Work>>>,
    works_texts: ObjectTexts,
    /// Whether files were read, which may not hold all.
    is_offline: bool,
    works_gap: Option<String>,
    members: BTreeMap<String, Arc<MemberCluster>>,
    unlabelled: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::commands) enum WorkQuery<'w> {
    Unread,
    /// The Works of these clusters; of all where none is named.
    Of(&'w [String]),
}

/// Reads what the manifests of a placement, or of a run on it, are put together from.
pub(in crate::commands) fn read(
    reading: &mut SourceReading,
    target: &ObjectRef,
    works: WorkQuery<'_>,
) -> Result<RenderMaterial, Error> {
    let (placement, run) = placement_of(reading, target)?;
    let texts = placement_objects::texts(reading, &placement, &overrides(&placement.namespace));
    let overrides = ReadOverrides::new(&texts);
    let useful = [
        Concept::UpdateRun,
        Concept::Binding,
        Concept::PolicySnapshot,
    ];
    let more = [HubQuery::all(Kind::MemberCluster, "")];
    let around = placement_objects::read_more(reading, &placement, &useful, &more, texts)?;
    let mut material = RenderMaterial::new(placement, around, overrides, reading.is_offline());
    material.run = run;
    material.read_works(reading, works);
    reading.no_hub()?;
    Ok(material)
}

/// What the Works of these clusters tell, with the snapshots that have the names now which their bindings ask for;
/// where that cannot be read, nothing.
pub(in crate::commands) fn told_by_works(
    reading: &mut SourceReading,
    placement: &ObjectRef,
    clusters: &[String],
) -> ToldByWorks {
    if clusters.is_empty() {
        return ToldByWorks::default();
    }
    match read(reading, placement, WorkQuery::Unread) {
        Ok(mut material) => material.told_by_works(reading, clusters),
        Err(_) => ToldByWorks::default(),
    }
}

/// Every override snapshot that may be in force. A namespaced placement brings nothing of other
/// namespaces.
pub(in crate::commands) fn overrides(namespace: &str) -> [HubQuery; 2] {
    [
        HubQuery::all(Kind::ClusterResourceOverrideSnapshot, ""),
        HubQuery::all(Kind::ResourceOverrideSnapshot, namespace),
    ]
}

#[derive(Default)]
pub(in crate::commands) struct ReadOverrides {
    pub found: Vec<Override>,
    pub gap: Option<String>,
}

impl ReadOverrides {
    /// Those among what was read with texts.
    pub fn new(known: &KnownTexts) -> Self {
        let mut overrides = Self::default();
        let answers = known.answers.iter().filter(|(query, _)| {
            let concept = query.kind.concept();
            [Concept::ClusterOverrideSnapshot, Concept::OverrideSnapshot].contains(&concept)
        });
        for (_, answer) in answers {
            overrides.gap = overrides.gap.take().or(answer.outcome.gap());
            let objects = answer.objects.iter();
            overrides
                .found
                .extend(objects.filter_map(|object| Override::of(object, &known.texts)));
        }
        overrides
    }
}

fn placement_of(
    reading: &mut SourceReading,
    target: &ObjectRef,
) -> Result<(ObjectRef, Option<Arc<UpdateRun>>), Error> {
    if target.kind.concept() != Concept::UpdateRun {
        return Ok((target.clone(), None));
    }
    let run = reading.run(target)?;
    Ok((run.placement(), Some(run)))
}

impl RenderMaterial {
    /// What was read around a placement, without Works.
    pub fn new(
        placement: ObjectRef,
        around: PlacementObjects,
        overrides: ReadOverrides,
        is_offline: bool,
    ) -> Self {
        let members = around.inventory.members.items.iter();
        let members = members.map(|member| (member.meta.name.clone(), Arc::clone(member)));
        Self {
            members: members.collect(),
            placement,
            run: None,
            around,
            overrides: overrides.found,
            overrides_gap: overrides.gap,
            works: BTreeMap::new(),
            works_texts: ObjectTexts::new(),
            works_gap: None,
            is_offline,
            unlabelled: BTreeSet::new(),
        }
    }

    pub fn read_works(&mut self, reading: &mut SourceReading, works: WorkQuery<'_>) {
        (self.works, self.works_texts, self.works_gap) = Default::default();
        let WorkQuery::Of(clusters) = works else {
            return;
        };
        let placement = &self.placement;
        let of = |namespace: &str| {
            HubQuery::labelled(
                Kind::Work,
                namespace,
                names::PARENT_PLACEMENT,
                &placement.name,
            )
        };
        let queries: Vec<_> = if clusters.is_empty() {
            vec![of("")]
        } else {
            let namespaces = clusters.iter().map(|it| names::member_namespace(it));
            namespaces.map(|namespace| of(&namespace)).collect()
        };
        let (answers, texts) = reading.answer_with_texts(&queries);
        self.works_texts = texts;
        for answer in answers {
            self.works_gap = self.works_gap.take().or(answer.outcome.gap());
            for work in answer.all::<Work>() {
                let namespace = work.meta.label(names::PARENT_NAMESPACE).unwrap_or_default();
                if namespace == placement.namespace && !work.meta.is_deleting() {
                    let cluster = work.cluster().unwrap_or_default().to_owned();
                    self.works
                        .entry(cluster)
                        .or_default()
                        .push(Arc::clone(work));
                }
            }
        }
    }

    /// What is known around the placement.
    pub const fn inventory(&self) -> &Inventory {
        &self.around.inventory
    }

    pub fn content(&self, version: &Version<'_>) -> SnapshotContent {
        SnapshotContent::new(self.around.texts_of(version), self.generator())
    }

    /// How Works are generated on this hub, as far as they tell.
    pub fn generator(&self) -> WorkGenerator {
        let works = self.works.values().flatten().map(AsRef::as_ref);
        WorkGenerator::of_works(works, WorkGenerator::of_hub(self.inventory()))
    }

    /// What a cluster's Works brought there; `None` where they were not read, and where they only compare.
    pub fn existing(&self, cluster: &str) -> Option<Vec<Manifest>> {
        let works = self.works.get(cluster).map_or(&[][..], Vec::as_slice);
        let binding = self.inventory().binding(cluster);
        if binding.is_some_and(Binding::only_compares) {
            return None;
        }
        // A cluster that was given a snapshot has a Work at least, even for no object.
        let given = binding.is_some_and(|it| !it.spec.snapshot.is_empty());
        if works.is_empty() && (self.works_gap.is_some() || self.is_offline && given) {
            return None;
        }
        let texts = works.iter();
        let texts = texts.filter_map(|work| self.works_texts.get(&work.object()));
        Some(texts.flat_map(|text| contents::of_work(text)).collect())
    }

    /// What the Works of these clusters tell, which are read.
    pub fn told_by_works(
        &mut self,
        reading: &mut SourceReading,
        clusters: &[String],
    ) -> ToldByWorks {
        if clusters.is_empty() {
            return ToldByWorks::default();
        }
        self.read_works(reading, WorkQuery::Of(clusters));
        let held = clusters.iter();
        let held = held.filter_map(|name| Some((name.clone(), self.existing(name)?)));
        let held: BTreeMap<_, _> = held.collect();
        let as_asked = held.iter();
        let as_asked =
            as_asked.filter(|(name, now)| self.has_what_it_asks_for(name, now) == Some(true));
        ToldByWorks {
            as_asked: as_asked.map(|(name, _)| name.clone()).collect(),
            held,
        }
    }

    /// Whether Works that were asked for could not be read.
    pub const fn lacks_works(&self) -> bool {
        self.works_gap.is_some()
    }

    /// Whether what a cluster's Works hold is what its binding asks for; `None` where that is not known.
    fn has_what_it_asks_for(&self, cluster: &str, now: &[Manifest]) -> Option<bool> {
        let inventory = self.inventory();
        let binding = inventory.binding(cluster)?;
        let version = Version::of_index(inventory, binding.snapshot_index()?);
        let placed = PlacedOverrides::bound(inventory.member(cluster)?, binding, &self.overrides);
        if !version.is_complete() || !placed.gone.is_empty() {
            return None;
        }
        let generator = WorkGenerator::of_hub(inventory).unwrap_or_default();
        let content = SnapshotContent::new(self.around.texts_of(&version), generator);
        let placed = [placed];
        let rendering = RenderedClusters::new(&content, &self.overrides, &placed);
        let then = rendering.manifests(0);
        let changes = WorkDelta::of(now, &then);
        let is_same = changes.counts.is_none();
        Some(is_same && rendering.faults.is_empty())
    }

    /// The clusters that are asked for, or all that the run or the placement has.
    pub fn choose(&mut self, asked: &[String]) -> Result<Vec<String>, Error> {
        let own = self.own_clusters();
        let mut chosen: Vec<String> = Vec::new();
        for name in asked {
            if !own.contains(name) && !self.members.contains_key(name) {
                let error = Error::not_found(format!(
                    "{name} is neither a cluster of {} nor a known member cluster",
                    self.placement
                ));
                return Err(if own.is_empty() {
                    error
                } else {
                    error.hint(format!("its clusters: {}", enumerate(&own)))
                });
            }
            if !chosen.contains(name) {
                chosen.push(name.clone());
            }
        }
        if asked.is_empty() {
            chosen = own;
        }
        for name in &chosen {
            if !self.members.contains_key(name) {
                let mut member = MemberCluster::default();
                member.meta.name.clone_from(name);
                self.members.insert(name.clone(), Arc::new(member));
                self.unlabelled.insert(name.clone());
            }
        }
        Ok(chosen)
    }

    /// The clusters that the run or the placement has, in its order.
    pub fn own_clusters(&self) -> Vec<String> {
        if let Some(run) = self.initialized() {
            let clusters = run.updated_clusters();
            return clusters.map(|cluster| cluster.name.clone()).collect();
        }
        let bindings = self.inventory().staying();
        distinct(bindings.map(|it| it.spec.cluster.clone()))
    }

    /// The run, where it has computed its stages.
    fn initialized(&self) -> Option<&UpdateRun> {
        let run = self.run.as_deref()?;
        let mut stages = run.status.stages.iter();
        stages
            .any(|stage| !stage.clusters.is_empty())
            .then_some(run)
    }

    /// Clusters with the overrides that apply to them: those that the run recorded, or those that a
    /// new run would take.
    pub fn place<'m>(
        &'m self,
        clusters: &[String],
        content: &SnapshotContent,
    ) -> Vec<PlacedOverrides<'m>> {
        let stages = self.initialized().map(|run| &run.status.stages);
        let recorded: BTreeMap<&str, _> = stages
            .into_iter()
            .flatten()
            .flat_map(|stage| &stage.clusters)
            .map(|cluster| (cluster.name.as_str(), cluster))
            .collect();
        let applicable = PlacedOverrides::applicable(&self.placement, content, &self.overrides);
        let clusters = clusters.iter().filter_map(|name| {
            let member = self.members.get(name)?.as_ref();
            Some(match recorded.get(name.as_str()) {
                Some(cluster) => {
                    PlacedOverrides::recorded(member, cluster.override_names(), &self.overrides)
                }
                None => PlacedOverrides::anew(member, &applicable, &self.overrides),
            })
        });
        clusters.collect()
    }

    /// What these clusters may get otherwise than it is shown, and why. Overrides of which nothing is
    /// known are not gone.
    pub fn not_checked(&self, placed: &mut [PlacedOverrides<'_>]) -> Vec<NotChecked> {
        let mut gaps = self.around.gaps.clone();
        gaps.retain(|gap| gap.why != NOT_COLLECTED || gap.what == Kind::MemberCluster.name());
        let gap = |what: &str, why: &str, clusters| NotChecked::new(what, why).on(clusters);
        let recorded = self.initialized().is_some();
        let why = self.overrides_gap.as_deref();
        let limit = self
            .is_offline
            .then_some("not all of them are in the input");
        if let Some(why) = why.or(limit) {
            let missing = placed.iter_mut().filter(|cluster| !cluster.gone.is_empty());
            let missing: Vec<_> = missing
                .map(|cluster| {
                    cluster.gone.clear();
                    cluster.member.meta.name.clone()
                })
                .collect();
            if self.overrides_gap.is_some() && !recorded || !missing.is_empty() {
                gaps.push(gap("overrides", why, missing));
            }
        }
        let names = placed.iter().map(|cluster| &cluster.member.meta.name);
        let unlabelled: Vec<_> = names
            .filter(|name| self.unlabelled.contains(*name) && !self.overrides.is_empty())
            .cloned()
            .collect();
        if !unlabelled.is_empty() {
            gaps.push(gap("labels", "the MemberCluster was not found", unlabelled));
        }
        if let Some(why) = &self.works_gap {
            gaps.push(gap(Kind::Work.name(), why, Vec::new()));
        }
        if let Some(run) = self.initialized() {
            let inventory = self.inventory();
            let is_later = |at: &usize| {
                let meta = &self.overrides[*at].snapshot.meta;
                came_after(inventory, run, meta.created)
            };
            let has_others = |cluster: &str| {
                let binding = inventory.binding(cluster);
                binding.is_some_and(|it| sent_namesakes(inventory, it).is_some())
            };
            let again = placed
                .iter()
                .filter(|it| it.overrides.iter().any(is_later) || has_others(&it.member.meta.name));
            let again: Vec<_> = again.map(|it| it.member.meta.name.clone()).collect();
            if !again.is_empty() {
                let why = "some snapshots were deleted and created again";
                gaps.push(gap("overrides", why, again));
            }
        }
        gaps
    }
}
