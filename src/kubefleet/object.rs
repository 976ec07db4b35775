//! One parser from text to objects, for YAML and JSON, single objects and lists.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::value::{MapDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use super::approval::ApprovalRequest;
use super::binding::Binding;
use super::kind::{Concept, Kind, group_of};
use super::member::MemberCluster;
use super::meta::ObjectMeta;
use super::meter::{Meter, MeteredRead};
use super::overrides::OverrideSnapshot;
use super::placement::Placement;
use super::run::UpdateRun;
use super::scope::{ObjectRef, Scope};
use super::snapshot::{PolicySnapshot, ResourceSnapshot};
use super::strategy::Strategy;
use super::tolerant::{Key, LenientRead, LenientSeed};
use super::work::Work;

macro_rules! objects {
    ($( $(#[$doc:meta])* $variant:ident($ty:ty) = $($concept:ident)|+; )*) => {
        /// An object of a kind that the walk reads.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ObjectBody { $( $(#[$doc])* $variant(Arc<$ty>), )* }

        impl ObjectBody {
            /// Reads the fields of an object of this concept from the rest of a mapping.
            fn read<'de, A: MapAccess<'de>>(concept: Concept, map: A) -> Result<Self, A::Error> {
                let mut body = match concept {
                    $( $(Concept::$concept)|+ => Self::$variant(Arc::new(<$ty>::from_map(map)?)), )*
                };
                if let Self::Run(run) = &mut body {
                    Arc::make_mut(run).fill_in();
                }
                Ok(body)
            }

            /// What an object of this concept takes, beside what its fields hold elsewhere.
            const fn size(concept: Concept) -> usize {
                match concept {
                    $( $(Concept::$concept)|+ => size_of::<$ty>(), )*
                }
            }

            /// The object's metadata.
            pub fn meta(&self) -> &ObjectMeta {
                match self { $( Self::$variant(object) => &object.meta, )* }
            }
        }

        $( impl InBody for $ty {
            fn within(body: &ObjectBody) -> Option<&Arc<Self>> {
                match body {
                    ObjectBody::$variant(object) => Some(object),
                    _ => None,
                }
            }
        } )*
    };
}

macro_rules! named {
    ($($ty:ident)*) => { $( impl $ty {
        pub fn object(&self) -> ObjectRef {
            Scope::of_namespace(&self.meta.namespace).object(Concept::$ty, &self.meta.name)
        }
    } )* };
}

// Those that stand for one concept.
named! {
    UpdateRun Strategy ApprovalRequest Placement Binding ResourceSnapshot PolicySnapshot Work MemberCluster
}

/// What an object may be.
pub trait InBody: Sized + 'static {
    /// The object, where it is one of these.
    fn within(body: &ObjectBody) -> Option<&Arc<Self>>;
}

objects! {
    Run(UpdateRun) = UpdateRun;
    Strategy(Strategy) = Strategy;
    Approval(ApprovalRequest) = ApprovalRequest;
    Placement(Placement) = Placement;
    Binding(Binding) = Binding;
    ResourceSnapshot(ResourceSnapshot) = ResourceSnapshot;
    PolicySnapshot(PolicySnapshot) = PolicySnapshot;
    /// An override snapshot of either kind.
    Override(OverrideSnapshot) = ClusterOverrideSnapshot | OverrideSnapshot;
    Work(Work) = Work;
    Member(MemberCluster) = MemberCluster;
}

/// An object and its kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    pub kind: Kind,
    /// Its content.
    pub body: ObjectBody,
}

impl Object {
    /// Its content, where it is of this type.
    pub fn get<T: InBody>(&self) -> Option<&Arc<T>> {
        T::within(&self.body)
    }

    pub fn reference(&self) -> ObjectRef {
        let meta = self.body.meta();
        ObjectRef::new(self.kind, &meta.namespace, &meta.name)
    }
}

/// What of the objects in files is kept beside what the walk reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeptObjects {
    /// The concepts whose objects keep their text.
    pub texts: &'static [Concept],
    /// Whether objects of kinds that the walk does not read are kept.
    pub others: bool,
}

impl KeptObjects {
    /// What clusters get: snapshots of resources and of overrides.
    pub const CONTENT: Self = Self {
        texts: &[
            Concept::ResourceSnapshot,
            Concept::ClusterOverrideSnapshot,
            Concept::OverrideSnapshot,
        ],
        others: false,
    };
}

impl From<&'static [Concept]> for KeptObjects {
    fn from(texts: &'static [Concept]) -> Self {
        Self {
            texts,
            others: false,
        }
    }
}

impl<const N: usize> From<&'static [Concept; N]> for KeptObjects {
    fn from(texts: &'static [Concept; N]) -> Self {
        Self::from(texts.as_slice())
    }
}

/// What a document turned out to hold.
#[derive(Debug, Default)]
pub struct ParsedDocument {
    /// Objects of the kinds that the walk reads, in the order of the text.
    pub objects: Vec<Object>,
    /// Objects of other kinds, which are passed over: how many of each.
    pub ignored: BTreeMap<String, usize>,
    /// Lists that do not say their kind. YAML as kubectl prints it has it behind the items, so
    /// that a list without it was cut off.
    pub unnamed_lists: usize,
    /// Lists that are one page of several: how many objects of each kind they hold.
    pub partial: BTreeMap<Kind, usize>,
    /// Our own documents (`apiVersion: kubectl-fleet-stage/v1`), such as a bundle's header.
    pub own: Vec<(String, serde_json::Value)>,
    /// How many documents were no objects at all: not a mapping, or without `kind`.
    pub not_objects: usize,
    /// What keeps its text.
    keep: KeptObjects,
    /// The objects of other kinds, where they are kept.
    pub others: Vec<serde_json::Value>,
    /// The texts that were kept, as JSON, each behind the object that was read from it.
    pub texts: Vec<(Object, Box<RawValue>)>,
    /// What all of it takes.
    meter: Meter,
}

/// What the record of a document takes that is not read further.
const PASSED: usize = 160;

/// The API version of our own documents.
pub const OWN_API_VERSION: &str = "kubectl-fleet-stage/v1";

/// The seed that reads one document into a [`ParsedDocument`], an object, a list of objects, or neither, or the
/// items of a list.
struct DocumentSeed<'p> {
    parsed: &'p mut ParsedDocument,
    /// The kind of a list's items, where an item does not say its own.
    inherited: Option<(String, String)>,
    /// Whether it reads items: those of a custom resource may be anything.
    is_items: bool,
}

impl<'de> DeserializeSeed<'de> for DocumentSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DocumentSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_items {
            "a list of Kubernetes objects"
        } else {
            "a Kubernetes object"
        })
    }

    // An empty document (comments only, a trailing `---`) is nothing, and no error.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.not_an_object()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.not_an_object()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.not_an_object()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.not_an_object()
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if text.trim().is_empty() {
            Ok(())
        } else {
            self.not_an_object()
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        // A bare list of objects, as `jq '.items'` prints it, has no kind.
        let inherited = self.inherited.filter(|_| self.is_items);
        while seq
            .next_element_seed(DocumentSeed {
                parsed: self.parsed,
                inherited: inherited.clone(),
                is_items: false,
            })?
            .is_some()
        {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.is_items {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let (mut api_version, mut kind) = self.inherited.unwrap_or_default();
        let meter = self.parsed.meter.clone();
        // What came before the kind was known; nothing in what kubectl and the API server print.
        let mut early: Vec<(String, serde_json::Value)> = Vec::new();
        let mut behind_kind = None;
        let mut had_items = false;
        let mut more = false;
        let first = self.parsed.objects.len();
        while let Some(key) = map.next_key_seed(Key)? {
            match key.as_ref() {
                "apiVersion" => {
                    api_version = map.next_value_seed(LenientSeed::<String>::default())?;
                }
                "kind" => kind = map.next_value_seed(LenientSeed::<String>::default())?,
                // Our own documents may have items that are no objects of the hub.
                "items" if api_version != OWN_API_VERSION => {
                    had_items = true;
                    map.next_value_seed(DocumentSeed {
                        parsed: self.parsed,
                        inherited: kind
                            .strip_suffix("List")
                            .filter(|kind| !kind.is_empty())
                            .map(|kind| (api_version.clone(), kind.to_owned())),
                        is_items: true,
                    })?;
                }
                // `metadata` of a list may come before `items`.
                "metadata" if had_items || kind.ends_with("List") => {
                    let metadata: serde_json::Value = map.next_value()?;
                    more |= is_page(&metadata);
                    if !had_items && kind != "List" {
                        early.push((key.into_owned(), metadata));
                    }
                }
                _ if had_items || kind == "List" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ if api_version.is_empty() || kind.is_empty() => {
                    early.push((key.into_owned(), map.next_value()?));
                }
                _ => {
                    behind_kind = Some(key.into_owned());
                    break;
                }
            }
        }
        if had_items || kind == "List" {
            self.parsed.unnamed_lists += usize::from(kind.is_empty());
            if more {
                self.parsed.note_page(first);
            }
            return Ok(());
        }
        let rest = RemainingFields {
            first: behind_kind,
            early: early.into_iter(),
            pending: None,
            map,
            meter: &meter,
        };
        self.parsed.read(&api_version, &kind, rest)
    }
}

impl DocumentSeed<'_> {
    #[allow(clippy::unnecessary_wraps)] // the visitor's methods want a Result
    fn not_an_object<E>(self) -> Result<(), E> {
        self.parsed.not_objects += usize::from(!self.is_items);
        Ok(())
    }
}

/// Whether a list's metadata says that more objects follow in another page.
fn is_page(metadata: &serde_json::Value) -> bool {
    let next = metadata.get("continue").and_then(serde_json::Value::as_str);
    let left = metadata
        .get("remainingItemCount")
        .and_then(serde_json::Value::as_u64);
    next.is_some_and(|next| !next.is_empty()) || left.is_some_and(|left| left > 0)
}

impl ParsedDocument {
    /// Notes that the list of the objects from this one on is not whole.
    fn note_page(&mut self, first: usize) {
        for object in self.objects.iter().skip(first) {
            *self.partial.entry(object.kind).or_default() += 1;
        }
    }

    /// Nothing so far; what is to be kept will be, and all take of a meter.
    pub fn keeping(keep: KeptObjects, meter: &Meter) -> Self {
        Self {
            keep,
            meter: meter.clone(),
            ..Self::default()
        }
    }

    /// Reads a document from a format.
    pub fn document<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        let meter = self.meter.clone();
        let seed = DocumentSeed {
            parsed: self,
            inherited: None,
            is_items: false,
        };
        seed.deserialize(MeteredRead::new(deserializer, &meter))
    }

    /// Takes over what another text held.
    pub fn absorb(&mut self, other: Self) {
        for (kind, read) in other.partial {
            *self.partial.entry(kind).or_default() += read;
        }
        if self.objects.is_empty() {
            self.objects = other.objects;
        } else {
            self.objects.extend(other.objects);
        }
        for (kind, count) in other.ignored {
            *self.ignored.entry(kind).or_default() += count;
        }
        self.unnamed_lists += other.unnamed_lists;
        self.own.extend(other.own);
        self.not_objects += other.not_objects;
        self.texts.extend(other.texts);
        self.others.extend(other.others);
    }

    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        api_version: &str,
        kind: &str,
        mut rest: RemainingFields<'_, A>,
    ) -> Result<(), A::Error> {
        let charge = |bytes| rest.meter.charge(bytes).map_err(A::Error::custom);
        if api_version == OWN_API_VERSION {
            charge(PASSED)?;
            let fields = read_fields(&[], &mut rest)?;
            self.own
                .push((kind.to_owned(), serde_json::Value::Object(fields)));
            return Ok(());
        }
        let group = group_of(api_version);
        if let Some(known) = Kind::find(group, kind) {
            charge(ObjectBody::size(known.concept()) + 3 * size_of::<Object>())?;
            let object = if self.keep.texts.contains(&known.concept()) {
                let (object, text) = read_with_text(known, api_version, rest)?;
                self.texts.push((object.clone(), text));
                object
            } else {
                let body = ObjectBody::read(known.concept(), rest)?;
                Object { kind: known, body }
            };
            self.objects.push(object);
            return Ok(());
        }
        if self.keep.others && !kind.is_empty() && !api_version.is_empty() {
            let known = [("apiVersion", api_version), ("kind", kind)];
            let fields = read_fields(&known, &mut rest)?;
            self.others.push(serde_json::Value::Object(fields));
        } else {
            while rest.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        }
        if kind.is_empty() || api_version.is_empty() {
            self.not_objects += 1;
        } else if let Some(count) = self.ignored.get_mut(kind) {
            *count += 1;
        } else {
            charge(PASSED)?;
            self.ignored.insert(kind.to_owned(), 1);
        }
        Ok(())
    }
}

/// Reads all fields of an object behind those that are known.
fn read_fields<'de, A: MapAccess<'de>>(
    known: &[(&str, &str)],
    rest: &mut RemainingFields<'_, A>,
) -> Result<serde_json::Map<String, serde_json::Value>, A::Error> {
    let mut fields = serde_json::Map::new();
    for (key, value) in known {
        fields.insert((*key).to_owned(), (*value).into());
    }
    while let Some(key) = rest.next_key_seed(Key)? {
        let key = key.into_owned();
        let value: serde_json::Value = rest.next_value()?;
        fields.insert(key, value);
    }
    Ok(fields)
}

/// Reads an object and keeps its text as JSON.
fn read_with_text<'de, A: MapAccess<'de>>(
    kind: Kind,
    api_version: &str,
    mut rest: RemainingFields<'_, A>,
) -> Result<(Object, Box<RawValue>), A::Error> {
    let meter = rest.meter;
    let known = [("apiVersion", api_version), ("kind", kind.name())];
    let fields = read_fields(&known, &mut rest)?;
    let text = serde_json::value::to_raw_value(&fields).map_err(A::Error::custom)?;
    meter.charge(text.get().len()).map_err(A::Error::custom)?;
    let map = MapDeserializer::<_, serde_json::Error>::new(fields.into_iter());
    let body =
        ObjectBody::read(kind.concept(), MeteredRead::new(map, meter)).map_err(A::Error::custom)?;
    Ok((Object { kind, body }, text))
}

/// The rest of a mapping whose kind is known: the key just read, then what came before the kind,
/// then what the text still holds.
struct RemainingFields<'m, A> {
    first: Option<String>,
    early: std::vec::IntoIter<(String, serde_json::Value)>,
    pending: Option<serde_json::Value>,
    map: A,
    meter: &'m Meter,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for RemainingFields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        if let Some(key) = self.first.take() {
            return seed.deserialize(StringDeserializer::new(key)).map(Some);
        }
        if let Some((key, value)) = self.early.next() {
            self.pending = Some(value);
            return seed.deserialize(StringDeserializer::new(key)).map(Some);
        }
        self.map.next_key_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.pending.take() {
            // What it is made of takes memory as well.
            Some(value) => seed
                .deserialize(MeteredRead::new(value, self.meter))
                .map_err(A::Error::custom),
            None => self.map.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
impl Object {
    /// An object as it is read from its text, for tests.
    pub(crate) fn of(document: &serde_json::Value) -> Self {
        let mut parsed = ParsedDocument::default();
        let text = document.to_string();
        let mut reader = serde_json::Deserializer::from_str(&text);
        parsed.document(&mut reader).unwrap();
        parsed.objects.pop().unwrap()
    }

    /// Its content, which is to be of this type.
    pub(crate) fn of_type<T: InBody>(document: &serde_json::Value) -> Arc<T> {
        Arc::clone(Self::of(document).get().unwrap())
    }
}
