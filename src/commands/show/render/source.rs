//! What is rendered: a snapshot, or what the placement selects now.

use crate::commands::gather::manifests::RenderMaterial;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::selected_content;
use crate::commands::show::snapshots::find;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::Concept;
use crate::manifests::SnapshotContent;
use crate::manifests::live::{LeftOut, SelectedObjects};
use crate::problems::refused_selector;
use crate::report::NotChecked;
use crate::rollout::versions::{Version, versions};
use crate::ui::Ui;
use crate::words::{Hint, by_key, distinct, enumerate};

/// The word for what the placement selects now.
const LIVE: &str = "live";

pub(super) struct ContentSource {
    /// The index of the snapshot, or `live`.
    pub index: String,
    pub words: String,
    pub content: SnapshotContent,
    /// What the placement selects and KubeFleet does not place.
    pub left_out: Vec<LeftOut>,
    pub not_checked: Vec<NotChecked>,
}

impl ContentSource {
    /// What overrides apply to.
    pub fn noun(&self) -> &'static str {
        match self.index.as_str() {
            LIVE => "what the placement selects",
            _ => "the snapshot",
        }
    }

    /// What differences call it.
    pub fn label(&self) -> String {
        match self.index.as_str() {
            LIVE => LIVE.to_owned(),
            index => format!("snapshot {index}"),
        }
    }
}

/// The content that a word means; without one, that of the run, or the latest.
pub(super) fn read(
    word: Option<&str>,
    material: &RenderMaterial,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<ContentSource, Error> {
    if word == Some(LIVE) {
        return read_live(material, reading, ui);
    }
    let placement = &material.placement;
    let run = material.run.as_deref();
    let recorded = run
        .map(|run| run.status.snapshot_index.as_str())
        .filter(|index| !index.is_empty());
    if let Some(run) = run.filter(|_| recorded.is_none() && word.is_none()) {
        ui.warning(&format!(
            "{} has no snapshot: this is what a new run would get",
            run.meta.name
        ));
    }
    let all = versions(material.inventory());
    let word = word.or(recorded).unwrap_or("latest");
    let has_some = all.iter().any(Version::exists);
    if !has_some {
        material.around.seen(Concept::ResourceSnapshot, reading)?;
    }
    let version = find(&all, word, placement).map_err(|error| {
        if has_some {
            return error.also(Hint::new(
                "or use latest, or live for what the placement selects now",
            ));
        }
        let command = placement.fleet("render").flag("--snapshot", LIVE);
        error.also(Hint::new("to render what the placement selects now:").command(command))
    })?;
    if let Some(flaw) = version.flaw() {
        ui.warning(&format!("snapshot {} is incomplete: {flaw}", version.index));
    }
    let latest = if version.is_latest() { " (latest)" } else { "" };
    Ok(ContentSource {
        words: format!("snapshot {}{latest} of {placement}", version.index),
        index: version.index.clone(),
        content: material.content(version),
        left_out: Vec::new(),
        not_checked: Vec::new(),
    })
}

fn read_live(
    material: &RenderMaterial,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<ContentSource, Error> {
    let name = &material.placement;
    let inventory = material.inventory();
    let Some(placement) = inventory.placement.present() else {
        let gap = inventory.gaps.get(&name.kind);
        return Err(match gap {
            Some(gap) => Error::failed(format!("{name} cannot be read: {gap}")),
            None => Error::not_found(format!("{} has no {name}", reading.place())),
        });
    };
    let selected = selected_content::read(reading, placement)?.map_err(|problem| {
        let (message, repair) = refused_selector(name, &problem);
        Error::new(Exit::Failed, message).hint(repair)
    })?;
    for kind in distinct(selected.never_placed.iter()) {
        ui.warning(&format!(
            "{name} selects {kind} objects, which KubeFleet never places"
        ));
    }
    if selected.manifests.is_empty() && reading.is_offline() {
        return Err(Error::not_found(format!(
            "the input has none of the objects that {name} selects"
        ))
        .hint(Hint::new(
            "render on the hub, or add the objects: kubectl get … -o yaml",
        )));
    }
    let claims = |it: &crate::contents::Manifest| it.identity.kind == "PersistentVolumeClaim";
    if selected.manifests.iter().any(claims) {
        ui.status("a hub agent with --enable-workload does not place PersistentVolumeClaims");
    }
    let gaps = gaps(&selected, reading.is_offline());
    Ok(ContentSource {
        index: LIVE.to_owned(),
        words: format!("what {name} selects now"),
        left_out: selected.left_out,
        content: SnapshotContent::of_parts([selected.manifests], material.generator()),
        not_checked: gaps,
    })
}

fn gaps(selected: &SelectedObjects, is_offline: bool) -> Vec<NotChecked> {
    if is_offline {
        return vec![NotChecked::new(
            "objects",
            "the input may not have all that the placement selects",
        )];
    }
    let gaps = selected.gaps.iter();
    gaps.map(|(what, why)| NotChecked::new(what, why)).collect()
}

/// What is left out, by reason.
pub(super) fn left_out(left_out: &[LeftOut]) -> Vec<String> {
    let left_out = left_out.iter();
    let reasons = by_key(left_out.map(|it| (it.why, it.object.describe()))).into_iter();
    reasons
        .map(|(why, objects)| format!("left out, because {why}: {}", enumerate(objects)))
        .collect()
}
