//! The offline source: Kubernetes objects from files.
//!
//! What `kubectl get … -o yaml` or `-o json` prints and what `kubectl fleet-stage collect` writes is
//! read the same way: files, directories, gzip and tar archives, in any order and any number. Broken
//! syntax is an error with its place; an odd field costs that field.

mod budget;
mod clock;
mod duplicates;
mod error;
mod header;
mod input;
pub mod members;
mod text;
pub mod write;
mod yaml;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::value::RawValue;

pub use budget::{ReadLimits, parse as parse_size};
pub use error::{FilePlace, ReadError};
pub use input::Input;

use crate::inventory::source::{
    HubFacts, HubQuery, ObjectSource, ObjectTexts, Outcome, QueryAnswer, QuerySelection,
};
use crate::kubefleet::object::{KeptObjects, Object, ParsedDocument};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::scope::ObjectRef;
use crate::kubefleet::{Concept, Kind};
use crate::member::{MemberErrand, MemberObservation};
use crate::words::count;
use budget::ReadBudget;
use header::BundleHeader;

/// Objects that were read from files, and what their headers say of what is missing.
#[derive(Debug, Default)]
pub struct Bundle {
    /// By kind, namespace and name; one of each.
    objects: Vec<Object>,
    outcomes: BTreeMap<Kind, Outcome>,
    /// The objects that the header says were asked for, of the kinds that were not listed.
    names: BTreeMap<Kind, BTreeSet<String>>,
    /// The placement around which it was collected, where all placements were listed.
    around: Option<HubQuery>,
    pub collected_at: Option<Timestamp>,
    /// What the header says that it was collected for.
    pub target: Option<ObjectRef>,
    pub hub: HubFacts,
    /// What should be said of the files, though they could be read.
    pub warnings: Vec<String>,
    /// The objects of other kinds, where they were kept.
    pub others: Vec<serde_json::Value>,
    /// The objects that were there in different versions, and how many versions.
    pub duplicates: Vec<(ObjectRef, usize)>,
    /// The texts of the objects that keep theirs.
    texts: BTreeMap<ObjectRef, Box<RawValue>>,
    /// What was seen in member clusters, by cluster.
    pub looks: BTreeMap<String, MemberObservation>,
    /// Which objects have a label, by its value, or without one, which runs there are on a placement, by
    /// its name; filled when that is first asked for.
    places: HashMap<(Kind, Option<&'static str>), ObjectPlaces>,
    /// The lists that were asked for, and around which placement: who asks again shares them.
    lists: HashMap<(HubQuery, Option<String>), Arc<[Object]>>,
}

type ObjectPlaces = HashMap<String, Vec<usize>>;

/// How many things are said of files, at most: thousands are as bad as none.
const MAX_WARNINGS: usize = 100;

/// Reads inputs into one bundle, with all that a diagnosis reads.
pub fn read(inputs: Vec<Input>) -> Result<Bundle, ReadError> {
    read_within(inputs, KeptObjects::CONTENT, ReadLimits::default())
}

/// The same, within limits; what is to be kept is.
pub fn read_within(
    inputs: Vec<Input>,
    keep: impl Into<KeptObjects>,
    limits: ReadLimits,
) -> Result<Bundle, ReadError> {
    let keep = keep.into();
    let mut budget = ReadBudget::new(limits);
    let mut all = ParsedDocument::default();
    let mut headers = Vec::new();
    let mut warnings = Vec::new();
    let mut places = Vec::new();
    let mut member_documents = Vec::new();
    for input in inputs {
        input::read(input, &mut budget, &mut |place, bytes, budget| {
            let meter = &budget.meter;
            let mut read = text::read(place, bytes, keep, meter).map_err(|error| {
                if meter.is_over() {
                    budget.too_large(place)
                } else {
                    error
                }
            })?;
            warnings.append(&mut read.warnings);
            let own = std::mem::take(&mut read.parsed.own);
            let mut expected = None;
            for (kind, fields) in own {
                if kind == "Bundle" {
                    let header = BundleHeader::read(place, &fields, &mut warnings);
                    if let Some(objects) = header.objects {
                        *expected.get_or_insert(0) += objects;
                    }
                    headers.push(header);
                } else if kind == members::KIND {
                    let name = place.to_string().len();
                    let room = meter.charge(name).map_err(|_| budget.too_large(place));
                    room?;
                    member_documents.push((place.clone(), fields));
                } else if kind != write::CONTROLLER_LOG && warnings.len() < MAX_WARNINGS {
                    // The hub agent's lines are for people.
                    warnings.push(format!("{place}: skipped a document of kind `{kind}`"));
                }
            }
            let found = read.parsed.objects.len() + read.parsed.ignored.values().sum::<usize>();
            if let Some(expected) = expected.filter(|expected| *expected > found as u64) {
                return Err(ReadError::new(
                    place,
                    format!(
                        "its header announces {expected} objects, but only {found} can be read: it \
                         was truncated"
                    ),
                )
                .hint("collect or copy it again"));
            }
            warnings.truncate(MAX_WARNINGS);
            places.push(place.clone());
            all.absorb(read.parsed);
            Ok(())
        })?;
    }
    if all.objects.is_empty() && headers.is_empty() {
        return Err(nothing(&places, &all));
    }
    let mut objects = all.objects;
    objects.shrink_to_fit();
    let nameless = objects
        .iter()
        .filter(|object| object.body.meta().name.is_empty());
    let nameless = nameless.count();
    if nameless > 0 {
        objects.retain(|object| !object.body.meta().name.is_empty());
        warnings.push(format!(
            "skipped {} without a name",
            count(nameless, "object")
        ));
    }
    let duplicates = duplicates::resolve(&mut objects);
    let texts = texts(all.texts, &objects);
    // Not by file, so that the order of the files changes nothing.
    headers.sort_by_cached_key(|header| format!("{header:?}"));
    let mut header = BundleHeader::merge(&headers, &mut warnings);
    for (kind, read) in all.partial {
        header::merge_outcome(&mut header.kinds, kind, Outcome::Cut(read));
    }
    let looks = members::read(member_documents, &mut warnings);
    let around = header.target.as_ref().and_then(|it| around(it, &objects));
    Ok(Bundle {
        objects,
        outcomes: header.kinds,
        around: around.filter(|it| !header.names.contains_key(&it.kind)),
        names: header.names,
        collected_at: header.collected_at,
        target: header.target,
        hub: header.hub,
        others: all.others,
        duplicates,
        texts,
        looks,
        warnings,
        places: HashMap::new(),
        lists: HashMap::new(),
    })
}

/// The placement of what a bundle was collected for, as far as the objects tell.
fn around(target: &ObjectRef, objects: &[Object]) -> Option<HubQuery> {
    let placement = match target.kind.concept() {
        Concept::Placement => target.clone(),
        Concept::UpdateRun => {
            let mut runs = objects.iter().filter_map(Object::get::<UpdateRun>);
            runs.find(|run| run.object() == *target)?.placement()
        }
        _ => return None,
    };
    Some(HubQuery::object(&placement))
}

/// The text of each object: of several versions of one, that of the version to believe.
fn texts(
    texts: Vec<(Object, Box<RawValue>)>,
    objects: &[Object],
) -> BTreeMap<ObjectRef, Box<RawValue>> {
    let believed = |object: &Object| {
        objects
            .binary_search_by(|other| duplicates::key(other).cmp(&duplicates::key(object)))
            .is_ok_and(|at| objects.get(at) == Some(object))
    };
    texts
        .into_iter()
        .filter(|(object, _)| believed(object))
        .map(|(object, text)| (object.reference(), text))
        .collect()
}

/// Why there is nothing to look at.
fn nothing(places: &[FilePlace], parsed: &ParsedDocument) -> ReadError {
    let place = match places {
        [place] => place.clone(),
        _ => FilePlace::default(),
    };
    let total: usize = parsed.ignored.values().sum();
    let message = if total == 0 {
        "no Kubernetes objects: only empty lists or comments".to_owned()
    } else {
        let mut kinds: Vec<_> = parsed.ignored.iter().collect();
        kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(**count), *kind));
        let more = kinds.len().saturating_sub(5);
        let kinds = kinds.into_iter().take(5);
        let mut found: Vec<_> = kinds.map(|(kind, of)| format!("{of} {kind}")).collect();
        if more > 0 {
            found.push(count(more, "other kind"));
        }
        format!(
            "no KubeFleet objects among {}: {}",
            count(total, "object"),
            found.join(", ")
        )
    };
    ReadError::new(&place, message).hint(
        "use the output of `kubectl fleet-stage collect`, or of `kubectl get \
         clusterstagedupdateruns,clusterresourceplacements,clusterresourcebindings -o yaml` on the \
         hub",
    )
}

impl Bundle {
    /// Every object, by kind, namespace and name.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    pub fn objects_of(&self, kind: Kind) -> &[Object] {
        &self.objects[self.range(|object| object.kind.cmp(&kind))]
    }

    /// The text of an object as JSON, when it was kept.
    pub fn text(&self, object: &ObjectRef) -> Option<&RawValue> {
        self.texts.get(object).map(AsRef::as_ref)
    }

    /// The same as `answer`, with the texts of the objects as far as they were kept.
    pub fn answer_with_texts(&mut self, queries: &[HubQuery]) -> (Vec<QueryAnswer>, ObjectTexts) {
        let answers = self.answer(queries);
        let objects = answers.iter().flat_map(|answer| answer.objects.iter());
        let names = objects.map(Object::reference);
        let texts = names.filter_map(|name| Some((name.clone(), self.text(&name)?.to_owned())));
        let texts = texts.collect();
        (answers, texts)
    }

    /// What the headers say of a kind.
    pub fn outcome(&self, kind: Kind) -> &Outcome {
        self.outcomes.get(&kind).unwrap_or(&Outcome::NotCollected)
    }

    /// The same of a question: an object that nobody asked for is unknown, where others were.
    fn outcome_of(&self, query: &HubQuery) -> Outcome {
        let knows = |kind: Kind, name: Option<String>| {
            let names = self.names.get(&kind);
            names.is_none_or(|names| name.is_some_and(|name| names.contains(&name)))
        };
        let is_around = |placement: HubQuery| match &self.around {
            Some(own) => *own == placement,
            None => knows(placement.kind, placement.name_asked()),
        };
        let asked =
            knows(query.kind, query.name_asked()) && query.placement_around().is_none_or(is_around);
        match self.outcome(query.kind) {
            Outcome::Listed if !asked => Outcome::NotCollected,
            outcome => outcome.clone(),
        }
    }

    /// The newest point in time that the objects speak of: the clock of a bundle without a header.
    pub fn newest_timestamp(&self) -> Option<Timestamp> {
        clock::newest(&self.objects, self.looks.values())
    }

    /// The neighbors that compare equal.
    fn range(&self, compare: impl Fn(&Object) -> std::cmp::Ordering) -> Range<usize> {
        let start = self
            .objects
            .partition_point(|object| compare(object).is_lt());
        let end = start + self.objects[start..].partition_point(|object| compare(object).is_le());
        start..end
    }

    /// Of what is asked for, the objects that have a value of a label, or without one, the runs on a
    /// placement. The first question looks at every object of the kind, the next ones at none.
    fn placed(
        &mut self,
        query: &HubQuery,
        label: Option<&'static str>,
        wanted: &str,
    ) -> Vec<Object> {
        let kind = query.kind;
        let range = self.range(|object| object.kind.cmp(&kind));
        let objects = &self.objects;
        let places = self.places.entry((kind, label)).or_insert_with(|| {
            let mut places = ObjectPlaces::new();
            for place in range {
                let object = &objects[place];
                let run = || object.get::<UpdateRun>();
                let value = match label {
                    Some(label) => object.body.meta().label(label),
                    None => run().map(|run| run.spec.placement.as_str()),
                };
                if let Some(value) = value {
                    places.entry(value.to_owned()).or_default().push(place);
                }
            }
            places
        });
        let places = places.get(wanted).map_or(&[][..], Vec::as_slice);
        let found = places.iter().map(|place| &objects[*place]);
        found
            .filter(|object| query.matches(object))
            .cloned()
            .collect()
    }

    /// What answers a query; of all runs those on a placement, where one is meant.
    fn found(&mut self, query: &HubQuery, placement: Option<&str>) -> Arc<[Object]> {
        if let QuerySelection::Named { .. } = query.which {
            return self.matching(query).into();
        }
        let key = (query.clone(), placement.map(str::to_owned));
        if let Some(known) = self.lists.get(&key) {
            return Arc::clone(known);
        }
        let found: Arc<[Object]> = match placement {
            Some(placement) => self.placed(query, None, placement),
            None => self.matching(query),
        }
        .into();
        self.lists.insert(key, Arc::clone(&found));
        found
    }

    fn matching(&mut self, query: &HubQuery) -> Vec<Object> {
        let kind = query.kind;
        if let Some((label, value)) = query.label() {
            return self.placed(query, Some(label), value);
        }
        let range = match &query.which {
            QuerySelection::Named { namespace, name } => {
                let wanted = (kind, namespace.as_str(), name.as_str());
                self.range(|object| duplicates::key(object).cmp(&wanted))
            }
            QuerySelection::All { namespace, .. } => self.range(|object| {
                let (of, place, _) = duplicates::key(object);
                // Who asks everywhere does not ask where.
                let place = namespace.as_deref().map(|_| place);
                (of, place).cmp(&(kind, namespace.as_deref()))
            }),
        };
        let found = self.objects[range].iter();
        found.filter(|it| query.matches(it)).cloned().collect()
    }
}

impl ObjectSource for Bundle {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        self.answer_around(queries, None)
    }

    fn answer_around(&mut self, queries: &[HubQuery], placement: Option<&str>) -> Vec<QueryAnswer> {
        queries
            .iter()
            .map(|query| {
                let runs = query.kind.concept() == Concept::UpdateRun
                    && matches!(query.which, QuerySelection::All { labels: None, .. });
                let placement = placement.filter(|_| runs);
                QueryAnswer::new(self.found(query, placement), self.outcome_of(query))
            })
            .collect()
    }

    fn texts(&mut self, queries: &[HubQuery]) -> ObjectTexts {
        self.answer_with_texts(queries).1
    }

    fn look(&mut self, errands: &[MemberErrand]) -> BTreeMap<String, MemberObservation> {
        errands
            .iter()
            .map(|errand| &errand.cluster)
            .filter_map(|cluster| Some((cluster.clone(), self.looks.get(cluster)?.clone())))
            .collect()
    }
}
