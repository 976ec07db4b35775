//! How many objects a run changes, as a preview shows it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::change::guard::AcceptedRisks;
use crate::change::preview::Preview;
use crate::commands::gather::manifests::{self, RenderMaterial, WorkQuery};
use crate::commands::gather::plan_inputs;
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::safeguards;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, ObjectRef};
use crate::plan::{
    CascadingDeletion, ObjectChanges, PlanContents, RefusedObject, RunChanges, ToldByWorks,
    new_objects, of_run,
};
use crate::problems::steps;
use crate::render::RenderLook;
use crate::render::plan::objects_of;
use crate::words::{Hint, capital, enumerate};

/// What a run does to objects that nobody may have meant.
#[derive(Clone, Default)]
pub(in crate::commands) struct ContentRisks {
    /// For which object it would be stuck, as a clause: Kubernetes, or the hub agent, would refuse it, or another
    /// placement has it.
    pub refused: Option<String>,
    /// What is deleted with others, as a clause.
    pub lost: Option<String>,
    /// How many objects some cluster loses that keeps the placement, each counted once.
    pub deleted: usize,
    /// Which object of the content it does not have, as a clause.
    pub lacking: Option<String>,
}

/// What is to be said of the changes beside showing them.
#[derive(Default)]
pub(in crate::commands) struct ShownChanges {
    pub risks: ContentRisks,
    /// Why nothing could be compared, or some clusters could not.
    unseen: Option<UnseenChanges>,
    /// All override snapshots: what was changed since the run recorded its own is among them.
    pub overrides: Vec<Arc<OverrideSnapshot>>,
}

/// What could not be read of the changes.
enum UnseenChanges {
    Hub(Error),
    /// Of some clusters, as a clause.
    Clusters(String),
}

impl ShownChanges {
    /// Refuses to let a script change clusters that could not be compared.
    pub(in crate::commands) fn refuse_unseen(
        &mut self,
        (is_script, accepted): (bool, AcceptedRisks),
        reading: &SourceReading,
    ) -> Result<(), Error> {
        let why = match self.unseen.take().filter(|_| is_script && !accepted.unseen) {
            None => return Ok(()),
            Some(UnseenChanges::Hub(error)) => return Err(error),
            Some(UnseenChanges::Clusters(why)) => why,
        };
        let nothing = capital(&reading.record.nothing("sent"));
        let error = Error::new(Exit::Incomplete, format!("{why}. {nothing}"));
        Err(error.hint("try again, do it at a terminal, or accept the risk with --allow-unseen"))
    }

    /// Refuses to let a script continue a run that would be stuck, or that deletes objects with which others go. Who
    /// named the snapshot need not be who approves it.
    pub(in crate::commands) fn go_too_far(
        &mut self,
        run: &UpdateRun,
        (is_script, accepted): (bool, AcceptedRisks),
        reading: &SourceReading,
    ) -> Result<(), Error> {
        self.refuse_unseen((is_script, accepted), reading)?;
        // A rollback starts nevertheless: the first clusters get what they take.
        let stops = is_script && run.rolled_back().is_none();
        if let Some(why) = self.risks.refused.as_ref().filter(|_| stops) {
            let hint = "correct that first, or approve or resume it at a terminal";
            return Err(safeguards::would_be_stuck(&run.meta.name, why, reading).hint(hint));
        }
        let Some(lost) = self.risks.lost.as_ref().filter(|_| is_script) else {
            return Ok(());
        };
        if run.pinned().is_none() {
            let named = steps::run_in_place(run, &run.status.snapshot_index);
            let hint = Hint::new(
                "approve or resume it at a terminal; or replace it, and approve the new run with --allow-older:",
            );
            let error = safeguards::would_delete(&run.meta.name, lost, reading);
            return Err(error.also(hint.command(named)));
        }
        if accepted.older {
            return Ok(());
        }
        let hint = "if all of that is to be deleted, use --allow-older";
        Err(safeguards::too_far(&run.meta.name, lost, reading).hint(hint))
    }
}

/// Shows how many objects change in the clusters of an initialized run, `None` meaning all. What cannot be
/// read for it is said; only a script is refused for it.
pub(in crate::commands) fn show(
    run: &ObjectRef,
    clusters: Option<&[String]>,
    look: &RenderLook,
    (preview, reading): (&mut Preview, &mut SourceReading),
) -> ShownChanges {
    let mut material = match manifests::read(reading, run, WorkQuery::Unread) {
        Ok(material) => material,
        Err(error) => {
            preview.status("how many objects change is unknown: the snapshots could not be read");
            return ShownChanges {
                unseen: Some(UnseenChanges::Hub(error)),
                ..ShownChanges::default()
            };
        }
    };
    let Some(found) = material.run.clone() else {
        return ShownChanges::default();
    };
    let changes = |material: &RenderMaterial, works| {
        let contents = PlanContents {
            works,
            ..PlanContents::new(&material.around.texts, &material.overrides)
        };
        of_run(material.inventory(), &found, &contents)
    };
    let mut shown = changes(&material, ToldByWorks::default());
    let works = material.told_by_works(reading, &shown.told_by_works);
    let mut untold = std::mem::take(&mut shown.told_by_works);
    untold.retain(|name| material.lacks_works() && !works.held.contains_key(name));
    if !works.held.is_empty() {
        shown = changes(&material, works);
    }
    shown.unseen.extend(untold);
    let is_meant = |name: &String| clusters.is_none_or(|clusters| clusters.contains(name));
    let again = shown.fails_again(|name, _| is_meant(name));
    let RunChanges {
        mut changes,
        not_checked: mut gaps,
        mut refused,
        mut recreated,
        unseen,
        ..
    } = shown;
    let unseen: Vec<_> = unseen.into_iter().filter(is_meant).collect();
    let unseen = (!unseen.is_empty()).then(|| {
        let clusters = enumerate(unseen);
        let run = &found.meta.name;
        UnseenChanges::Clusters(format!(
            "what {run} deletes from {clusters} could not be checked"
        ))
    });
    for change in &mut changes {
        change.clusters.retain(is_meant);
    }
    changes.retain(|it| !it.clusters.is_empty());
    for object in &mut refused {
        object.clusters.retain(is_meant);
    }
    refused.retain(|it| !it.clusters.is_empty());
    recreated.retain(|it| !found.only_compares() && it.clusters.iter().any(is_meant));
    for gap in &mut gaps {
        gap.clusters.retain(is_meant);
    }
    gaps.retain(|it| !it.clusters.is_empty());
    let drawn = |look: &RenderLook| objects_of(&changes, found.only_compares(), look);
    preview.picture(drawn(look), &drawn(&look.plain()));
    for gap in gaps {
        let clusters = enumerate(&gap.clusters);
        preview.warning(&format!("{} of {clusters} unknown: {}", gap.what, gap.why));
    }
    preview.warnings(refused.iter().map(RefusedObject::describe));
    preview.warnings(again);
    let placement = run
        .scope()
        .object(Concept::Placement, &found.spec.placement);
    let new = new_objects(placement, &changes);
    let names = found.updated_clusters().map(|it| it.name.as_str());
    let apply = found.status.apply_strategy.as_deref();
    let mut taken = None;
    match plan_inputs::in_the_way(reading, (&new, apply), names) {
        Ok((found, gap)) => {
            preview.warnings(found.messages());
            taken = found.placed.first().map(|it| first_sentence(&it.message));
            if let Some(gap) = gap {
                preview.warning(&format!("{} are unknown: {}", gap.what, gap.why));
            }
        }
        Err(error) => preview.status(&error.message),
    }
    for recreated in &recreated {
        preview.warning(recreated.describe().trim_end_matches('.'));
    }
    let final_one = refused.iter().find(|it| it.is_final());
    let overrides = material.overrides.iter();
    let cascading = CascadingDeletion::of(&changes, found.only_compares());
    let first = cascading.first();
    ShownChanges {
        risks: ContentRisks {
            deleted: deleted_objects(&changes),
            lost: first.map(CascadingDeletion::describe),
            refused: final_one.map(RefusedObject::describe).or(taken),
            ..ContentRisks::default()
        },
        unseen,
        overrides: overrides.map(|it| Arc::clone(&it.snapshot)).collect(),
    }
}

/// What a sentence says that others follow, as a clause.
pub(in crate::commands) fn first_sentence(message: &str) -> String {
    let first = message.split_once(". ").map(|(first, _)| first);
    first.unwrap_or(message).trim_end_matches('.').to_owned()
}

/// How many objects some cluster loses that keeps the placement, each counted once.
pub(in crate::commands) fn deleted_objects(changes: &[ObjectChanges]) -> usize {
    let updated = changes.iter().filter(|it| it.to.is_some());
    let deleted: BTreeSet<_> = updated.flat_map(|it| &it.deleted).collect();
    deleted.len()
}
