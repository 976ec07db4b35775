//! What a placement selects on the hub now, before any snapshot has it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::commands::gather::reading::{ReadingPlace, SourceReading};
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::placement::Placement;
use crate::manifests::live::{LiveAnswer, LiveQuery, SelectedObjects, ServedKind, select};
use crate::problems::refused_selector;
use crate::query::Outcome;

/// Reads what a placement selects.
pub(in crate::commands) fn read(
    reading: &mut SourceReading,
    placement: &Placement,
) -> Result<SelectedObjects, Error> {
    let served = match &mut reading.place {
        ReadingPlace::Hub(hub) => hub.any_objects().kinds_served()?,
        ReadingPlace::Files(bundle) => ServedKind::among(&bundle.others, placement),
    };
    let mut known = BTreeMap::new();
    loop {
        let selected = select(placement, &served, &known).map_err(|problem| {
            let (message, repair) = refused_selector(&placement.object(), &problem);
            Error::new(Exit::Failed, message).hint(repair)
        })?;
        if selected.needs.is_empty() {
            return Ok(selected);
        }
        let answers = match &mut reading.place {
            ReadingPlace::Hub(hub) => hub.any_objects().answer(&selected.needs),
            ReadingPlace::Files(bundle) => {
                let needs = selected.needs.iter();
                needs.map(|query| in_files(&bundle.others, query)).collect()
            }
        };
        known.extend(selected.needs.into_iter().zip(answers));
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
