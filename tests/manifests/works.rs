//! `render` equals the Works: for each Work of each recording, the manifests that it holds are those
//! that its snapshot, its binding's overrides, and its cluster give.

use std::path::Path;
use std::sync::Arc;

use kubectl_fleet_stage::bundle::{self, Bundle, Input, ReadLimits};
use kubectl_fleet_stage::contents;
use kubectl_fleet_stage::inventory::source::{HubQuery, ObjectSource};
use kubectl_fleet_stage::kubefleet::binding::Binding;
use kubectl_fleet_stage::kubefleet::member::MemberCluster;
use kubectl_fleet_stage::kubefleet::object::{Object, ObjectBody};
use kubectl_fleet_stage::kubefleet::snapshot::ResourceSnapshot;
use kubectl_fleet_stage::kubefleet::work::Work;
use kubectl_fleet_stage::kubefleet::{Concept, Kind, names};
use kubectl_fleet_stage::manifests::{
    Override, PlacedOverrides, RenderFault, RenderedClusters, SnapshotContent, WorkGenerator,
};
use serde_json::Value;

use crate::files::yaml_files;

const KEEP: &[Concept] = &[
    Concept::ResourceSnapshot,
    Concept::ClusterOverrideSnapshot,
    Concept::OverrideSnapshot,
    Concept::Work,
];

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    files: usize,
    works: usize,
    manifests: usize,
    overridden: usize,
    enveloped: usize,
    /// Works whose snapshot or overrides are not in the recording.
    unknown: usize,
    /// Works that hold no manifest with content: recordings that were written by hand.
    bare: usize,
    different: Vec<String>,
}

struct Recording {
    bundle: Bundle,
    objects: Vec<Object>,
}

impl Recording {
    fn read(path: &Path) -> Option<Self> {
        let inputs = vec![Input::Path(path.to_owned())];
        let mut bundle = bundle::read_within(inputs, KEEP, ReadLimits::default()).ok()?;
        let queries: Vec<_> = Kind::ALL
            .iter()
            .map(|kind| HubQuery::all(*kind, ""))
            .collect();
        let answers = bundle.answer(&queries);
        let objects = answers
            .iter()
            .flat_map(|answer| answer.objects.iter().cloned());
        let objects = objects.collect();
        Some(Self { bundle, objects })
    }

    fn of<'r, T>(&'r self, pick: fn(&'r Object) -> Option<&'r Arc<T>>) -> Vec<&'r Arc<T>> {
        self.objects.iter().filter_map(pick).collect()
    }

    /// The parts of the version that a Work was written from.
    fn parts(&self, work: &Work, placement: &str, namespace: &str) -> Vec<&Arc<ResourceSnapshot>> {
        let index = work
            .meta
            .label("kubernetes-fleet.io/parent-resource-snapshot-index");
        let mut parts: Vec<_> = self
            .of(snapshot)
            .into_iter()
            .filter(|part| {
                part.meta.namespace == namespace
                    && part.meta.label(names::PARENT_PLACEMENT) == Some(placement)
                    && part.index() == index
            })
            .collect();
        parts.sort_by_key(|part| {
            let number = part.meta.annotation(names::SUBINDEX);
            number.map(|number| number.parse::<u32>().unwrap_or(u32::MAX))
        });
        let expected = parts.first().and_then(|first| first.parts());
        if expected.is_some_and(|expected| expected == parts.len()) {
            parts
        } else {
            Vec::new()
        }
    }

    fn compare(&self, name: &str, tally: &mut Tally) {
        let overrides: Vec<_> = self
            .of(over)
            .into_iter()
            .filter_map(|snapshot| {
                let text = self.bundle.text(&snapshot.object())?;
                Some(Override::new(Arc::clone(snapshot), text))
            })
            .collect();
        for work in self.of(work) {
            self.compare_one(name, work, &overrides, tally);
        }
    }

    fn compare_one(&self, name: &str, work: &Work, overrides: &[Override], tally: &mut Tally) {
        let placement = work.meta.label(names::PARENT_PLACEMENT).unwrap_or_default();
        let namespace = work.meta.label(names::PARENT_NAMESPACE).unwrap_or_default();
        let binding = self.of(binding).into_iter().find(|binding| {
            Some(binding.meta.name.as_str()) == work.binding()
                && binding.meta.namespace == namespace
        });
        let Some(text) = self.bundle.text(&work.object()) else {
            return;
        };
        let held: Vec<Value> = contents::of_work(text)
            .into_iter()
            .map(|it| it.value)
            .collect();
        let has_content = |value: &Value| {
            let fields = value.as_object();
            fields.is_some_and(|fields| fields.len() > 3)
                || value.pointer("/metadata/labels").is_some()
        };
        if !held.iter().any(has_content) {
            tally.bare += 1;
            return;
        }
        let parts = self.parts(work, placement, namespace);
        let cluster = work.cluster().unwrap_or_default();
        let member = self
            .of(member)
            .into_iter()
            .find(|it| it.meta.name == cluster);
        let (Some(binding), Some(member), false) = (binding, member, parts.is_empty()) else {
            tally.unknown += 1;
            return;
        };
        // A Work is written again after its binding was changed, not before.
        let its_snapshot = work
            .meta
            .annotation("kubernetes-fleet.io/parent-resource-snapshot-name");
        let placed = PlacedOverrides::bound(member, binding, overrides);
        if its_snapshot.is_some_and(|it| it != binding.spec.snapshot) || !placed.gone.is_empty() {
            tally.unknown += 1;
            return;
        }
        let texts = parts
            .iter()
            .filter_map(|part| self.bundle.text(&part.object()));
        let content =
            SnapshotContent::new(texts, WorkGenerator::of_works(std::iter::once(work), None));
        let placed = [placed];
        let rendering = RenderedClusters::new(&content, overrides, &placed);
        let part = part_of(work);
        let rendered: Vec<_> = rendering
            .manifests(0)
            .into_iter()
            .filter(|it| match (work.envelope(), &it.envelope) {
                (Some(own), Some(other)) => own == *other,
                (None, None) => it.part == part,
                _ => false,
            })
            .map(|it| it.manifest.value.clone())
            .collect();
        tally.works += 1;
        tally.manifests += held.len();
        tally.overridden += rendering
            .groups
            .iter()
            .map(|it| rendering.effects(it).len())
            .sum::<usize>();
        tally.enveloped += usize::from(work.envelope().is_some());
        if rendered != held {
            let faults: Vec<_> = rendering.faults.iter().map(RenderFault::describe).collect();
            tally.different.push(format!(
                "{name}: {}: rendered {} of {}: {faults:?}\n  {}\n  {}",
                work.object(),
                rendered.len(),
                held.len(),
                Value::from(rendered),
                Value::from(held),
            ));
        }
    }
}

/// The part of the version that a Work holds: the first is called `…-work`, the others by subindex.
fn part_of(work: &Work) -> usize {
    let number = work.meta.name.rsplit_once('-').map(|(_, number)| number);
    number
        .and_then(|number| number.parse::<usize>().ok())
        .map_or(0, |at| at + 1)
}

macro_rules! picks {
    ($( $name:ident: $variant:ident -> $ty:ty; )*) => {$(
        fn $name(object: &Object) -> Option<&Arc<$ty>> {
            match &object.body {
                ObjectBody::$variant(item) => Some(item),
                _ => None,
            }
        }
    )*};
}

picks! {
    snapshot: ResourceSnapshot -> ResourceSnapshot;
    over: Override -> kubectl_fleet_stage::kubefleet::overrides::OverrideSnapshot;
    work: Work -> Work;
    binding: Binding -> Binding;
    member: Member -> MemberCluster;
}

fn compared(folders: &[&str]) -> Tally {
    let mut tally = Tally::default();
    for path in yaml_files(folders) {
        let Some(recording) = Recording::read(&path) else {
            continue;
        };
        tally.files += 1;
        recording.compare(&path.display().to_string(), &mut tally);
    }
    tally
}

/// Recordings whose Works hold something else: written by hand, one Work for two parts, an override
/// without effect, another image than the envelope's; or made with an earlier override snapshot of the
/// same name.
const OTHERWISE: [&str; 6] = [
    "cluster/head-snapshot-in-two-parts.yaml",
    "namespaced/head-snapshot-in-two-parts.yaml",
    "FS708/quiet-applied.yaml",
    "cluster/stuck-workload-in-envelope.yaml",
    "FS501/fires-override-created-again.yaml",
    "FS510/fires-override-name-reused.yaml",
];

#[test]
fn every_recorded_work_holds_what_is_rendered() {
    let folders = ["tests/real", "tests/healthy", "tests/findings", "examples"];
    let mut tally = compared(&folders);
    for name in OTHERWISE {
        let before = tally.different.len();
        tally
            .different
            .retain(|it| !it.contains(&format!("{name}: ")));
        assert!(
            tally.different.len() < before,
            "{name} is as KubeFleet writes it now"
        );
    }
    println!(
        "{} files: {} manifests in {} Works are equal, {} with overrides, {} of envelopes; {} Works \
         without their snapshot, {} without content",
        tally.files,
        tally.manifests,
        tally.works,
        tally.overridden,
        tally.enveloped,
        tally.unknown,
        tally.bare
    );
    assert!(tally.different.is_empty(), "{}", tally.different.join("\n"));
    assert!(
        tally.manifests >= 1000,
        "too few manifests: {}",
        tally.manifests
    );
}
