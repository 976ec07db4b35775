//! What a placement selects on the hub now, before any snapshot has it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::commands::gather::reading::{ReadingPlace, SourceReading};
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::messages::SelectorProblem;
use crate::kubefleet::placement::Placement;
use crate::manifests::live::{
    LiveAnswer, LiveQuery, SelectedObjects, ServedKind, UnmatchedSelectors, select, unmatched,
};
use crate::problems::refused_selector;
use crate::query::Outcome;

/// Reads what a placement selects.
pub(in crate::commands) fn read(
    reading: &mut SourceReading,
    placement: &Placement,
) -> Result<SelectedObjects, Error> {
    let selected = read_by(reading, placement, |served, known| {
        let mut selected = select(placement, served, known)?;
        Ok((std::mem::take(&mut selected.needs), selected))
    })?;
    selected.map_err(|problem| {
        let (message, repair) = refused_selector(&placement.object(), &problem);
        Error::new(Exit::Failed, message).hint(repair)
    })
}

/// Which of a placement's selectors, of those at the places, match nothing on the hub, and all that it
/// selects, where that is wanted. Files never say that they hold everything, and selectors that KubeFleet
/// refuses are refused elsewhere.
pub(in crate::commands) fn read_unmatched(
    reading: &mut SourceReading,
    placement: &Placement,
    places: &[usize],
    all: bool,
) -> Result<(UnmatchedSelectors, Option<SelectedObjects>), Error> {
    if places.is_empty() && !all || reading.hub().is_none() {
        return Ok(Default::default());
    }
    let found = read_by(reading, placement, |served, known| {
        let mut found = unmatched(placement, places, served, known)?;
        let mut needs = std::mem::take(&mut found.needs);
        let selected = all.then(|| select(placement, served, known).ok()).flatten();
        needs.extend(selected.iter().flat_map(|it| it.needs.iter().cloned()));
        needs.sort();
        needs.dedup();
        Ok((needs, (found, selected)))
    })?;
    Ok(found.unwrap_or_default())
}

/// What the kinds of the hub and its objects, asked for until no question is left, amount to.
fn read_by<T>(
    reading: &mut SourceReading,
    placement: &Placement,
    ask: impl Fn(
        &[ServedKind],
        &BTreeMap<LiveQuery, LiveAnswer>,
    ) -> Result<(Vec<LiveQuery>, T), SelectorProblem>,
) -> Result<Result<T, SelectorProblem>, Error> {
    let served = match &mut reading.place {
        ReadingPlace::Hub(hub) => hub.any_objects().kinds_served()?,
        ReadingPlace::Files(bundle) => ServedKind::among(&bundle.others, placement),
    };
    let mut known = BTreeMap::new();
    loop {
        let needs = match ask(&served, &known) {
            Ok((needs, found)) if needs.is_empty() => return Ok(Ok(found)),
            Ok((needs, _)) => needs,
            Err(problem) => return Ok(Err(problem)),
        };
        let answers = match &mut reading.place {
            ReadingPlace::Hub(hub) => hub.any_objects().answer(&needs),
            ReadingPlace::Files(bundle) => {
                let needs = needs.iter();
                needs.map(|query| in_files(&bundle.others, query)).collect()
            }
        };
        known.extend(needs.into_iter().zip(answers));
        reading.no_hub()?;
    }
}

/// Files never say that they hold everything.
fn in_files(objects: &[Value], query: &LiveQuery) -> LiveAnswer {
    let asked = objects.iter().filter(|object| query.asks_for(object));
    LiveAnswer {
        objects: asked.cloned().collect(),
        outcome: Outcome::NotCollected,
    }
}
