//! Reading objects that may be odd: wrong types become defaults, unknown fields are passed over.
//!
//! A hub serves several versions, and a bundle may have been edited by hand. A field of the wrong
//! type must cost that field and nothing else, so the model does not use derived deserialization
//! (which fails whole) but [`LenientRead`], which only ever fails on broken syntax.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::mask;

/// A value that is neither a list nor a mapping.
#[derive(Debug, Clone, Copy)]
pub enum Scalar<'a> {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Str(&'a str),
}

/// A type that can be read from any value, right or wrong.
pub trait LenientRead: Default {
    /// Whether the value is text, so that a format whose scalars carry no type (YAML) should hand
    /// over what stands there: `012`, `1e3` and `no` are names, not numbers or booleans.
    const TEXT: bool = false;

    /// Reads a scalar; the default gives up the value.
    fn from_scalar(_: Scalar<'_>) -> Self {
        Self::default()
    }

    /// Reads a list; the default passes over it.
    fn from_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    /// Reads a mapping; the default passes over it.
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// The name under which a [`LenientRead`] value asks its format for text.
pub const TEXT: &str = "text";

/// The seed with which serde reads a [`LenientRead`] value.
pub struct LenientSeed<T>(PhantomData<T>);

impl<T> Default for LenientSeed<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: LenientRead> DeserializeSeed<'de> for LenientSeed<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        if T::TEXT {
            // A format that knows nothing of the name hands back its deserializer.
            deserializer.deserialize_newtype_struct(TEXT, LenientVisitor(PhantomData))
        } else {
            deserializer.deserialize_any(LenientVisitor(PhantomData))
        }
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: LenientRead> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::from_scalar(Scalar::Null))
    }

    fn visit_none<E>(self) -> Result<T, E> {
        Ok(T::from_scalar(Scalar::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<T, E> {
        Ok(T::from_scalar(Scalar::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<T, E> {
        Ok(T::from_scalar(Scalar::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<T, E> {
        Ok(match i64::try_from(value) {
            Ok(value) => T::from_scalar(Scalar::Int(value)),
            #[allow(clippy::cast_precision_loss)] // beyond any count that Kubernetes has
            Err(_) => T::from_scalar(Scalar::Float(value as f64)),
        })
    }

    fn visit_f64<E>(self, value: f64) -> Result<T, E> {
        Ok(T::from_scalar(Scalar::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<T, E> {
        Ok(T::from_scalar(Scalar::Str(value)))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::from_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
    }
}

/// The seed that reads the key of a mapping without copying it where the input allows.
pub struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(value.to_owned()))
            }
            fn visit_string<E>(self, value: String) -> Result<Self::Value, E> {
                Ok(Cow::Owned(value))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl LenientRead for String {
    const TEXT: bool = true;

    fn from_scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Self::new(),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Int(value) => value.to_string(),
            Scalar::Float(value) => value.to_string(),
            Scalar::Str(value) => value.to_owned(),
        }
    }
}

impl LenientRead for bool {
    fn from_scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Bool(value) => value,
            Scalar::Str(value) => value == "true",
            _ => false,
        }
    }
}

impl LenientRead for Option<bool> {
    fn from_scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Bool(value) => Some(value),
            Scalar::Str("true") => Some(true),
            Scalar::Str("false") => Some(false),
            _ => None,
        }
    }
}

impl LenientRead for Option<i64> {
    fn from_scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Int(value) => Some(value),
            Scalar::Str(value) => value.parse().ok(),
            #[allow(clippy::cast_possible_truncation, clippy::float_cmp)]
            // only whole numbers pass, and `as` saturates
            Scalar::Float(value) if value.trunc() == value => Some(value as i64),
            _ => None,
        }
    }
}

impl LenientRead for Option<String> {
    const TEXT: bool = true;

    fn from_scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => None,
            other => Some(String::from_scalar(other)),
        }
    }
}

impl LenientRead for Option<jiff::Timestamp> {
    fn from_scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Str(value) => value.parse().ok(),
            _ => None,
        }
    }
}

impl<T: LenientRead> LenientRead for Vec<T> {
    fn from_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        let mut items = Self::new();
        while let Some(item) = seq.next_element_seed(LenientSeed::default())? {
            items.push(item);
        }
        Ok(items)
    }
}

impl<T: LenientRead> LenientRead for Option<Box<T>> {
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Ok(Some(Box::new(T::from_map(map)?)))
    }

    fn from_seq<'de, A: SeqAccess<'de>>(seq: A) -> Result<Self, A::Error> {
        Ok(Some(Box::new(T::from_seq(seq)?)))
    }
}

impl<T: LenientRead> LenientRead for BTreeMap<String, T> {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut entries = Self::new();
        while let Some(key) = map.next_key_seed(Key)? {
            let entry = map.next_value_seed(EntrySeed(PhantomData))?;
            entries.insert(key.into_owned(), entry.value);
        }
        Ok(entries)
    }
}

/// A value, as large as it is with a key and two pieces of memory, so that a [meter](super::meter)
/// sees all that an entry takes.
struct MapEntry<T> {
    value: T,
    _room: [u64; 5],
}

struct EntrySeed<T>(PhantomData<T>);

impl<'de, T: LenientRead> DeserializeSeed<'de> for EntrySeed<T> {
    type Value = MapEntry<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<MapEntry<T>, D::Error> {
        Ok(MapEntry {
            value: LenientSeed::default().deserialize(deserializer)?,
            _room: [0; 5],
        })
    }
}

/// Text that someone wrote for people. Secrets in it are masked before anyone sees it, so that no
/// output can forget to, and a bundle, whose texts were masked when it was collected, is read alike.
#[derive(Debug, Default)]
pub struct MaskedProse(String);

impl LenientRead for MaskedProse {
    const TEXT: bool = true;

    fn from_scalar(scalar: Scalar<'_>) -> Self {
        Self(match scalar {
            Scalar::Str(text) => mask::prose(text).into_owned(),
            other => String::from_scalar(other),
        })
    }
}

impl From<MaskedProse> for String {
    fn from(prose: MaskedProse) -> Self {
        prose.0
    }
}

/// The value of a setting, of which secrets are masked in the same way.
#[derive(Debug, Default)]
pub struct MaskedSetting(Option<String>);

impl LenientRead for MaskedSetting {
    const TEXT: bool = true;

    fn from_scalar(scalar: Scalar<'_>) -> Self {
        Self(match scalar {
            Scalar::Str(text) => Some(mask::setting(text).into_owned()),
            other => Option::from_scalar(other),
        })
    }
}

impl From<MaskedSetting> for Option<String> {
    fn from(setting: MaskedSetting) -> Self {
        setting.0
    }
}

/// Fields that this version does not know, by name.
pub type UnknownFields = BTreeMap<String, serde_json::Value>;

/// Declares structs of the object model: each field names its key in the wire format, and what it is
/// read as where that is another type. A field without a key is for what is known of the others.
///
/// The struct reads itself leniently, knows whether it was there at all only through its
/// `Option<Box<_>>` holder, and passes over every key that it does not name, unless `; pub REST` behind
/// its fields keeps those.
macro_rules! model {
    ($(
        $(#[$outer:meta])*
        pub struct $name:ident {
            $( $(#[$inner:meta])* pub $field:ident : $ty:ty $(= $key:literal $(as $via:ty)?)? ),* $(,)?
            $(; pub $rest:ident)?
        }
    )*) => {$(
        $(#[$outer])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name {
            $( $(#[$inner])* pub $field: $ty, )*
            $(
                /// The fields that this version does not know, as they were read.
                pub $rest: $crate::kubefleet::tolerant::UnknownFields,
            )?
        }

        impl $crate::kubefleet::tolerant::LenientRead for $name {
            fn from_map<'de, A: serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                let mut this = Self::default();
                while let Some(key) = map.next_key_seed($crate::kubefleet::tolerant::Key)? {
                    match key.as_ref() {
                        $( $( $key => this.$field = $crate::kubefleet::tolerant::read!(map $(, $via)?), )? )*
                        $( other => {
                            let other = other.to_owned();
                            this.$rest.insert(other, map.next_value::<serde_json::Value>()?);
                        } )?
                        #[allow(unreachable_patterns)]
                        _ => { map.next_value::<serde::de::IgnoredAny>()?; }
                    }
                }
                Ok(this)
            }
        }
    )*};
}
pub(crate) use model;

/// Reads the value of a field, as another type where one is given.
macro_rules! read {
    ($map:ident) => {
        $map.next_value_seed($crate::kubefleet::tolerant::LenientSeed::default())?
    };
    ($map:ident, $via:ty) => {
        $map.next_value_seed($crate::kubefleet::tolerant::LenientSeed::<$via>::default())?
            .into()
    };
}
pub(crate) use read;
