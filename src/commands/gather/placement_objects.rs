//! What is around one placement, as far as a command wants to know.

use serde_json::value::RawValue;

use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::runs;
use crate::error::Error;
use crate::inventory::source::{
    HubFacts, HubQuery, ObjectSource, ObjectTexts, Outcome, QueryAnswer,
};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, ObjectRef};
use crate::report::NotChecked;
use crate::rollout::versions::Version;

pub struct PlacementObjects {
    pub inventory: Inventory,
    /// The texts of the snapshots; empty where they were not asked for.
    pub texts: ObjectTexts,
    /// The kinds that could not be listed in full, and why.
    pub gaps: Vec<NotChecked>,
}

impl PlacementObjects {
    /// Fails where objects of a concept could not be listed: that none is there says nothing then.
    pub fn seen(&self, concept: Concept, reading: &SourceReading) -> Result<(), Error> {
        let scope = self.inventory.target.scope();
        let kind = scope.kind(concept);
        // A file that has some was not said to have all.
        let has_some = match concept {
            Concept::ResourceSnapshot => !self.inventory.snapshots.items.is_empty(),
            Concept::Binding => !self.inventory.bindings.items.is_empty(),
            _ => false,
        };
        match self.inventory.outcomes.get(&kind) {
            None | Some(Outcome::Listed) => Ok(()),
            Some(Outcome::NotCollected) if has_some => Ok(()),
            Some(outcome) => Err(reading.unlisted(kind, scope.namespace(), outcome)),
        }
    }

    pub fn texts_of<'a>(&'a self, version: &'a Version<'_>) -> impl Iterator<Item = &'a RawValue> {
        let parts = version.parts.iter();
        let texts = parts.filter_map(|part| self.texts.get(&part.object()));
        texts.map(AsRef::as_ref)
    }
}

/// What is asked for around a placement: what nothing can be said without, what is useful, and more.
type Wanted<'w> = (&'w [Concept], &'w [Concept], &'w [HubQuery]);

fn query(placement: &ObjectRef, concept: Concept) -> HubQuery {
    let scope = placement.scope();
    let kind = scope.kind(concept);
    match concept {
        Concept::Placement => HubQuery::named(kind, &placement.namespace, &placement.name),
        Concept::UpdateRun | Concept::ApprovalRequest => HubQuery::all(kind, scope.namespace()),
        _ => HubQuery::of_placement(kind, placement),
    }
}

/// What is around a placement, asked for step by step: what is asked next may follow from what came.
pub struct NeighborQueries {
    placement: ObjectRef,
    asked: Vec<(HubQuery, QueryAnswer)>,
}

impl NeighborQueries {
    pub fn new(placement: &ObjectRef) -> Self {
        Self {
            placement: placement.clone(),
            asked: Vec::new(),
        }
    }

    pub const fn placement(&self) -> &ObjectRef {
        &self.placement
    }

    /// Asks for more, all at once.
    pub fn ask(
        &mut self,
        reading: &mut SourceReading,
        queries: impl IntoIterator<Item = HubQuery>,
    ) -> Vec<QueryAnswer> {
        let queries: Vec<_> = queries.into_iter().collect();
        let answers = reading.answer(&queries);
        self.asked.extend(queries.into_iter().zip(answers.clone()));
        answers
    }

    pub fn inventory(&self, reading: &SourceReading, facts: HubFacts) -> Inventory {
        let mut walk = Walk::new(self.placement.clone());
        // The placement itself is not needed to say what belongs to it.
        let own = query(&self.placement, Concept::Placement);
        let own = (own, QueryAnswer::none(Outcome::NotCollected));
        let (queries, answers) = std::iter::once(own).chain(self.asked.clone()).unzip();
        walk.absorb(queries, answers);
        Inventory::new(walk, reading.now, facts)
    }

    /// The kinds that could not be listed in full, and why.
    pub fn gaps(&self) -> Vec<NotChecked> {
        let (queries, answers): (Vec<_>, Vec<_>) = self.asked.iter().cloned().unzip();
        runs::gaps(&queries, &answers)
    }
}

/// Reads a placement and objects of the concepts that belong to it. Fails where those that are
/// `required` cannot be listed.
pub fn read(
    reading: &mut SourceReading,
    placement: &ObjectRef,
    required: &[Concept],
    useful: &[Concept],
) -> Result<PlacementObjects, Error> {
    around(
        reading,
        placement,
        (required, useful, &[]),
        KnownTexts::default(),
    )
}

/// What was read before, and the texts of it.
#[derive(Default)]
pub struct KnownTexts {
    pub texts: ObjectTexts,
    pub answers: Vec<(HubQuery, QueryAnswer)>,
}

/// Reads the snapshots of a placement, and more, with texts.
pub fn texts(reading: &mut SourceReading, placement: &ObjectRef, more: &[HubQuery]) -> KnownTexts {
    let snapshots = query(placement, Concept::ResourceSnapshot);
    let queries: Vec<_> = std::iter::once(snapshots)
        .chain(more.iter().cloned())
        .collect();
    let (answers, texts) = reading.answer_with_texts(&queries);
    KnownTexts {
        texts,
        answers: queries.into_iter().zip(answers).collect(),
    }
}

/// The same and what else is asked for, without anything that it fails for.
pub fn read_more(
    reading: &mut SourceReading,
    placement: &ObjectRef,
    useful: &[Concept],
    more: &[HubQuery],
    known: KnownTexts,
) -> Result<PlacementObjects, Error> {
    around(reading, placement, (&[], useful, more), known)
}

/// The same, with the snapshots and their texts.
pub fn read_with_texts(
    reading: &mut SourceReading,
    placement: &ObjectRef,
    useful: &[Concept],
) -> Result<PlacementObjects, Error> {
    let known = texts(reading, placement, &[]);
    for (query, answer) in &known.answers {
        reading.listed(std::slice::from_ref(query), std::slice::from_ref(answer))?;
    }
    let around = around(reading, placement, (&[], useful, &[]), known)?;
    around.seen(Concept::ResourceSnapshot, reading)?;
    Ok(around)
}

fn around(
    reading: &mut SourceReading,
    placement: &ObjectRef,
    (required, useful, more): Wanted<'_>,
    known: KnownTexts,
) -> Result<PlacementObjects, Error> {
    let mut around = NeighborQueries {
        placement: placement.clone(),
        asked: known.answers,
    };
    let is_new = |query: &HubQuery| !around.asked.iter().any(|(other, _)| other == query);
    let concepts = [Concept::Placement].iter().chain(required).chain(useful);
    let queries = concepts.map(|concept| query(placement, *concept));
    let queries: Vec<_> = queries.chain(more.iter().cloned()).filter(is_new).collect();
    let answers = around.ask(reading, queries.clone());
    for (query, answer) in queries.iter().zip(&answers) {
        if required.contains(&query.kind.concept()) {
            reading.listed(std::slice::from_ref(query), std::slice::from_ref(answer))?;
        }
    }
    let runs = around
        .asked
        .iter()
        .flat_map(|(_, answer)| answer.all::<UpdateRun>());
    let runs = runs.filter(|run| run.spec.placement == placement.name);
    let facts = reading.hub_facts(runs.map(AsRef::as_ref));
    Ok(PlacementObjects {
        inventory: around.inventory(reading, facts),
        gaps: around.gaps(),
        texts: known.texts,
    })
}
