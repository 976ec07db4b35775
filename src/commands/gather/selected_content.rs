//! What a placement selects on the hub now, before any snapshot has it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::commands::gather::reading::{ReadingPlace, SourceReading};
use crate::error::Error;
use crate::kubefleet::messages::SelectorProblem;
use crate::kubefleet::placement::Placement;
use crate::manifests::live::{LiveAnswer, LiveQuery, SelectedObjects, ServedKind, select};
use crate::query::Outcome;

/// Reads what a placement selects. The inner error is why KubeFleet refuses a selector.
pub(in crate::commands) fn read(
    reading: &mut SourceReading,
    placement: &Placement,
) -> Result<Result<SelectedObjects, SelectorProblem>, Error> {
    let served = match &mut reading.place {
        ReadingPlace::Hub(hub) => hub.any_objects().kinds_served()?,
        ReadingPlace::Files(bundle) => ServedKind::among(&bundle.others, placement),
    };
    let mut known = BTreeMap::new();
    loop {
        let needs = match select(placement, &served, &known) {
            Ok(selected) if selected.needs.is_empty() => return Ok(Ok(selected)),
            Ok(selected) => selected.needs,
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
