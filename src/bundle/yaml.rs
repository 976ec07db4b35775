//! One YAML document into objects: text stays text, and hostile input ends early.
//!
//! A plain YAML scalar has no type of its own: serde-saphyr guesses one for a reader that takes
//! any value, which would turn the name `012` into `12` and `1e3` into `1000`. The model says where
//! it wants text ([`TEXT`]), and [`Yaml`] then asks for the characters that stand there. When a
//! mapping or a list stands where text should, that cannot be answered and the whole document is
//! read once more with guessed types: an odd field costs that field, never the document.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Options, RenderOptions, UserMessageFormatter};

use crate::kubefleet::object::{DocumentSeed, Parsed};
use crate::kubefleet::tolerant::TEXT;

/// How deeply mappings and lists may nest; serde_json has the same limit.
const MAX_DEPTH: usize = 127;

/// Why a document is no YAML: line and column from 1, and the parser's words.
#[derive(Debug)]
pub(super) struct Fault {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// Reads one document.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    read(text, false)
        .or_else(|_| read(text, true))
        .map_err(|error| {
            let location = error.location();
            let at = |f: fn(&serde_saphyr::Location) -> u64| {
                location.as_ref().map_or(1, |location| {
                    usize::try_from(f(location)).unwrap_or(1).max(1)
                })
            };
            Fault {
                line: at(serde_saphyr::Location::line),
                column: at(serde_saphyr::Location::column),
                message: words(&error),
            }
        })
}

fn read(text: &str, guess: bool) -> Result<Parsed, serde_saphyr::Error> {
    let mode = Mode {
        guess,
        // Without aliases a text cannot yield more than itself.
        left: Cell::new(text.len().saturating_mul(4).saturating_add(64 * 1024)),
    };
    let mut parsed = Parsed::default();
    serde_saphyr::with_deserializer_from_str_with_options(text, options(text.len()), |inner| {
        DocumentSeed::new(&mut parsed).deserialize(Yaml { inner, mode: &mode })
    })?;
    Ok(parsed)
}

/// Limits that grow with the text, so that a large bundle passes and a small bomb does not: a node
/// takes at least one character, and what aliases repeat is bounded by the text that they repeat.
fn options(len: usize) -> Options {
    let most = len.saturating_mul(2).saturating_add(1_000);
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: most.saturating_mul(2),
            max_nodes: most,
            max_total_scalar_bytes: most,
            max_documents: 4,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_aliases: most,
            max_anchors: most,
            max_merge_keys: most,
            max_recorded_anchor_events: most.saturating_mul(2),
            max_recorded_anchor_bytes: most.saturating_mul(2),
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: most.saturating_add(50_000),
            max_replay_stack_depth: 16,
        },
        // As kubectl and the JSON reader do; `kubectl apply` says so, too, rather than failing.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // `y`, `no` and `on` are names.
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
        emit_comments: false,
    }
}

fn words(error: &serde_saphyr::Error) -> String {
    let rendered = error
        .without_snippet()
        .render_with_options(RenderOptions::new(&UserMessageFormatter));
    let line = super::error::one_line(&rendered);
    match line.rfind(" at line ") {
        Some(end) => line[..end].to_owned(),
        None => line,
    }
}

/// How a document is read.
struct Mode {
    /// Whether plain scalars get a guessed type even where text is wanted.
    guess: bool,
    /// How many bytes of text the document may still yield.
    left: Cell<usize>,
}

impl Mode {
    fn spend<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(E::custom("its aliases repeat too much text")),
        }
    }
}

/// serde-saphyr's deserializer, or a part of it, with the mode of the document.
#[derive(Clone, Copy)]
struct Yaml<'m, T> {
    inner: T,
    mode: &'m Mode,
}

/// What a visitor is asked for.
#[derive(Clone, Copy)]
struct Text<'m, V> {
    visitor: V,
    mode: &'m Mode,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Yaml<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let Self { inner, mode } = self;
        inner.deserialize_any(Yaml {
            inner: visitor,
            mode,
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        if name == TEXT && !self.mode.guess {
            self.inner.deserialize_option(Text {
                visitor,
                mode: self.mode,
            })
        } else {
            self.deserialize_any(visitor)
        }
    }

    // Only keys are read like this.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let Self { inner, mode } = self;
        let text = Text { visitor, mode };
        if mode.guess {
            inner.deserialize_any(text)
        } else {
            inner.deserialize_str(text)
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_ignored_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct enum identifier
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Yaml<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<V::Value, E> {
        self.inner.visit_bool(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<V::Value, E> {
        self.inner.visit_i64(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<V::Value, E> {
        self.inner.visit_u64(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<V::Value, E> {
        self.inner.visit_f64(value)
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, value: &'de str) -> Result<V::Value, E> {
        self.mode.spend(value.len())?;
        self.inner.visit_borrowed_str(value)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<V::Value, E> {
        self.mode.spend(value.len())?;
        self.inner.visit_str(value)
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<V::Value, E> {
        self.mode.spend(value.len())?;
        self.inner.visit_string(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let mode = self.mode;
        self.inner.visit_seq(Yaml { inner, mode })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let mode = self.mode;
        self.inner.visit_map(Yaml { inner, mode })
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Yaml<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let mode = self.mode;
        self.inner.deserialize(Yaml { inner, mode })
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Yaml<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let mode = self.mode;
        self.inner.next_element_seed(Yaml { inner: seed, mode })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Yaml<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let mode = self.mode;
        self.inner.next_key_seed(Yaml { inner: seed, mode })
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let mode = self.mode;
        self.inner.next_value_seed(Yaml { inner: seed, mode })
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Text<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    // A value that is there: ask for its characters.
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    // A key that is null.
    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_str("")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<V::Value, E> {
        self.visitor.visit_string(value.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<V::Value, E> {
        self.visitor.visit_string(value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<V::Value, E> {
        self.visitor.visit_string(value.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<V::Value, E> {
        self.visitor.visit_string(value.to_string())
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, value: &'de str) -> Result<V::Value, E> {
        self.mode.spend(value.len())?;
        self.visitor.visit_borrowed_str(value)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<V::Value, E> {
        self.mode.spend(value.len())?;
        self.visitor.visit_str(value)
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<V::Value, E> {
        self.mode.spend(value.len())?;
        self.visitor.visit_string(value)
    }

    // A key may be anything in YAML; what is no scalar is no name that the model knows.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<V::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.visitor.visit_str("")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<V::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.visitor.visit_str("")
    }
}
