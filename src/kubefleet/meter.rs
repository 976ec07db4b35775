//! What objects take in memory, counted while they are read: text that is small can make much of it.
//!
//! `[[],[],…]` takes three bytes an item and makes values of 32, and `items: [{},{},…]` makes whole
//! objects. [`MeteredRead`] stands between a format and the reader, knows the size of each item that
//! comes to stay, and ends the reading when all of them together take more than they may.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// How much may be taken, and how much is; without a limit by default. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Meter(Option<Arc<MeterCount>>);

#[derive(Debug, Default)]
struct MeterCount {
    spent: AtomicU64,
    most: AtomicU64,
    over: AtomicBool,
}

/// That more was to be taken than may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitExceeded;

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it takes too much memory")
    }
}

impl Meter {
    /// A meter that allows so many bytes.
    pub fn new(most: u64) -> Self {
        let this = Self(Some(Arc::default()));
        this.allow(most);
        this
    }

    /// Allows so many bytes in all.
    pub fn allow(&self, most: u64) {
        if let Some(count) = &self.0 {
            count.most.store(most, Ordering::Relaxed);
        }
    }

    /// Takes some bytes.
    pub fn charge(&self, bytes: usize) -> Result<(), LimitExceeded> {
        let Some(count) = &self.0 else {
            return Ok(());
        };
        // One thread reads: nothing is lost between the two.
        let spent = count.spent.load(Ordering::Relaxed);
        let spent = spent.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        count.spent.store(spent, Ordering::Relaxed);
        if spent <= count.most.load(Ordering::Relaxed) {
            return Ok(());
        }
        count.over.store(true, Ordering::Relaxed);
        Err(LimitExceeded)
    }

    /// Gives back what was taken since so many bytes were.
    pub fn give_back(&self, spent: u64) {
        if let Some(count) = &self.0 {
            count.spent.store(spent, Ordering::Relaxed);
        }
    }

    /// How many bytes were taken.
    pub fn spent(&self) -> u64 {
        let count = self.0.as_ref();
        count.map_or(0, |count| count.spent.load(Ordering::Relaxed))
    }

    /// Whether more was to be taken than may be.
    pub fn is_over(&self) -> bool {
        let count = self.0.as_ref();
        count.is_some_and(|count| count.over.load(Ordering::Relaxed))
    }
}

const VALUE: usize = size_of::<serde_json::Value>();

/// What an item of a list takes: a list that grows has room for twice as many, and a text has a
/// piece of memory of its own. What is passed over has no size.
const fn item(size: usize) -> usize {
    if size == 0 { 0 } else { 2 * size + 16 }
}

/// What a value of a mapping takes. Those of a struct are in the struct; those of JSON's own values
/// bring a key and a place in a tree, and so do the entries of [`super::tolerant`]. The first one of
/// a tree brings a node, which has room for eleven.
const fn value(size: usize, first: bool) -> usize {
    if size < VALUE {
        0
    } else if first {
        11 * (size + 24) + 16
    } else {
        size + 96
    }
}

/// Something of serde's that is metered.
pub struct MeteredRead<'m, T> {
    inner: T,
    meter: &'m Meter,
    /// Whether nothing of a mapping has been read yet.
    first: bool,
}

impl<'m, T> MeteredRead<'m, T> {
    /// Meters what comes from `inner`.
    pub const fn new(inner: T, meter: &'m Meter) -> Self {
        Self {
            inner,
            meter,
            first: true,
        }
    }
}

macro_rules! deserialize {
    ($( $name:ident )*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$name(MeteredRead::new(visitor, self.meter))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for MeteredRead<'_, D> {
    type Error = D::Error;

    deserialize! {
        deserialize_any deserialize_option deserialize_str deserialize_string
        deserialize_ignored_any
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = MeteredRead::new(visitor, self.meter);
        self.inner.deserialize_newtype_struct(name, visitor)
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'de>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier
    }
}

macro_rules! visit {
    ($( $name:ident: $ty:ty; )*) => {$(
        fn $name<E: serde::de::Error>(self, value: $ty) -> Result<V::Value, E> {
            self.inner.$name(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for MeteredRead<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    visit! {
        visit_bool: bool;
        visit_i64: i64;
        visit_u64: u64;
        visit_f64: f64;
        visit_str: &str;
        visit_borrowed_str: &'de str;
        visit_string: String;
        visit_bytes: &[u8];
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.inner
            .visit_some(MeteredRead::new(deserializer, self.meter))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        let deserializer = MeteredRead::new(deserializer, self.meter);
        self.inner.visit_newtype_struct(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(MeteredRead::new(seq, self.meter))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(MeteredRead::new(map, self.meter))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for MeteredRead<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.inner
            .deserialize(MeteredRead::new(deserializer, self.meter))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for MeteredRead<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let charged = self.meter.charge(item(size_of::<S::Value>()));
        charged.map_err(A::Error::custom)?;
        self.inner
            .next_element_seed(MeteredRead::new(seed, self.meter))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for MeteredRead<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let first = std::mem::take(&mut self.first);
        let charged = self.meter.charge(value(size_of::<S::Value>(), first));
        charged.map_err(A::Error::custom)?;
        self.inner
            .next_value_seed(MeteredRead::new(seed, self.meter))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;
    use crate::kubefleet::tolerant::{LenientRead, LenientSeed};

    fn spent<'de, S: DeserializeSeed<'de>>(seed: S, text: &'de str) -> u64 {
        let meter = Meter::new(u64::MAX);
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = seed.deserialize(MeteredRead::new(&mut reader, &meter));
        assert!(read.is_ok());
        meter.spent()
    }

    fn lenient<T: LenientRead>(text: &str) -> u64 {
        spent(LenientSeed::<T>::default(), text)
    }

    #[test]
    fn what_stays_is_counted_by_its_size() {
        let value = std::marker::PhantomData::<Value>;
        // One more than there are: the end of a list is no item, and asked for.
        assert_eq!(spent(value, "[1,2,3]"), 4 * 80);
        assert_eq!(spent(value, "[[],[[]]]"), 3 * 80 + 80 + 2 * 80 + 80);
        assert_eq!(spent(value, r#"{"a":1,"b":{"c":[]}}"#), 2 * 632 + 128 + 80);
        assert_eq!(lenient::<Vec<String>>(r#"["a",1,null]"#), 4 * 64);
        let ignored = std::marker::PhantomData::<serde::de::IgnoredAny>;
        assert_eq!(spent(ignored, r#"[1,{"a":[2,3]}]"#), 0);
        assert_eq!(lenient::<String>(r#"[1,{"a":[2,3]}]"#), 0);
        let entry = lenient::<BTreeMap<String, String>>(r#"{"a":"b"}"#);
        assert!((560..1200).contains(&entry), "{entry}");
    }

    #[test]
    fn a_meter_ends_the_reading() {
        let read = |most| {
            let meter = Meter::new(most);
            let mut reader = serde_json::Deserializer::from_str("[1,2,3]");
            let seed = std::marker::PhantomData::<Value>;
            let read = seed.deserialize(MeteredRead::new(&mut reader, &meter));
            assert_eq!(read.is_err(), meter.is_over());
            read.is_ok()
        };
        assert!(read(320));
        assert!(!read(319));
        assert!(Meter::default().charge(usize::MAX).is_ok());
        let meter = Meter::new(u64::MAX - 1);
        assert!(meter.charge(usize::MAX).is_err());
        assert!(meter.charge(usize::MAX).is_err(), "it does not overflow");
    }
}
