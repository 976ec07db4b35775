//! One YAML document into objects: text stays text, and hostile input ends early.
//!
//! A plain YAML scalar has no type of its own. A deserializer that guesses one for a reader that
//! takes any value turns the name `012` into `12` and `1e3` into `1000`; the model therefore says
//! where it wants text ([`TEXT`]) and gets the characters that stand there. That is why the events
//! of serde-saphyr's parser are read here and not through its deserializer, which can hand over
//! the characters only to a reader that refuses everything else. It also takes half the time.

mod events;

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::kubefleet::meter::Meter;
use crate::kubefleet::object::{KeptObjects, ParsedDocument};
use crate::kubefleet::tolerant::TEXT;
use events::YamlEvent;
pub(super) use events::YamlFault;

pub fn parse(text: &str, keep: KeptObjects, meter: &Meter) -> Result<ParsedDocument, YamlFault> {
    let mut parsed = ParsedDocument::keeping(keep, meter);
    let mut yaml = Yaml {
        events: events::YamlEvents::new(text, meter),
        merges: text.contains("<<"),
    };
    yaml.document(&mut parsed)
        .map_err(|fault| yaml.events.place(fault))?;
    Ok(parsed)
}

struct Yaml<'t> {
    events: events::YamlEvents<'t>,
    /// Whether there may be merge keys, so that mappings must remember their keys.
    merges: bool,
}

impl Yaml<'_> {
    fn document(&mut self, parsed: &mut ParsedDocument) -> Result<(), YamlFault> {
        if self.events.start()? {
            parsed.document(&mut *self)?;
            self.events.finish()?;
        }
        Ok(())
    }
}

fn visit_text<'t, V: Visitor<'t>>(text: Cow<'t, str>, visitor: V) -> Result<V::Value, YamlFault> {
    match text {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// A plain scalar whose type the reader leaves open, by the rules of YAML 1.2's core schema, which
/// have no `yes`, `no` or `1_000`.
fn visit_plain<'t, V: Visitor<'t>>(text: Cow<'t, str>, visitor: V) -> Result<V::Value, YamlFault> {
    match text.as_ref() {
        null if is_null(null) => return visitor.visit_unit(),
        "true" | "True" | "TRUE" => return visitor.visit_bool(true),
        "false" | "False" | "FALSE" => return visitor.visit_bool(false),
        _ => {}
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        let whole = match text.get(..2) {
            Some("0x") => i64::from_str_radix(&text[2..], 16),
            Some("0o") => i64::from_str_radix(&text[2..], 8),
            _ => text.parse(),
        };
        if let Ok(whole) = whole {
            return visitor.visit_i64(whole);
        }
        if let Ok(number) = text.parse::<f64>()
            && number.is_finite()
        {
            return visitor.visit_f64(number);
        }
    }
    visit_text(text, visitor)
}

impl<'t> Deserializer<'t> for &mut Yaml<'t> {
    type Error = YamlFault;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, YamlFault> {
        match self.events.next()? {
            YamlEvent::Scalar(text, true) => visit_plain(text, visitor),
            YamlEvent::Scalar(text, false) => visit_text(text, visitor),
            YamlEvent::List => visitor.visit_seq(YamlList { yaml: self }),
            YamlEvent::Mapping => visitor.visit_map(Mapping {
                yaml: self,
                seen: HashSet::new(),
                merged: VecDeque::new(),
                ended: false,
            }),
            YamlEvent::End => Err(serde::de::Error::custom("a value is missing")),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, YamlFault> {
        if name == TEXT && matches!(self.events.peek()?, YamlEvent::Scalar(..)) {
            match self.events.next()? {
                YamlEvent::Scalar(text, true) if is_null(&text) => visitor.visit_unit(),
                YamlEvent::Scalar(text, _) => visit_text(text, visitor),
                _ => visitor.visit_unit(),
            }
        } else {
            self.deserialize_any(visitor)
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, YamlFault> {
        match self.events.peek()? {
            YamlEvent::Scalar(text, true) if is_null(text) => {
                self.events.skip()?;
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    // Only keys are read like this. What is no scalar is no key that anything here knows.
    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, YamlFault> {
        if let YamlEvent::Scalar(..) = self.events.peek()?
            && let YamlEvent::Scalar(text, _) = self.events.next()?
        {
            visit_text(text, visitor)
        } else {
            self.events.skip()?;
            visitor.visit_str("")
        }
    }

    fn deserialize_string<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, YamlFault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, YamlFault> {
        self.events.skip()?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'t>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier
    }
}

struct YamlList<'y, 't> {
    yaml: &'y mut Yaml<'t>,
}

impl<'t> SeqAccess<'t> for YamlList<'_, 't> {
    type Error = YamlFault;

    fn next_element_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, YamlFault> {
        if let YamlEvent::End = self.yaml.events.peek()? {
            self.yaml.events.next()?;
            return Ok(None);
        }
        seed.deserialize(&mut *self.yaml).map(Some)
    }
}

/// A mapping. Of equal keys the last counts, as in JSON and for kubectl; merged ones (`<<`) count
/// only where the mapping has no such key itself, so they come after its own.
struct Mapping<'y, 't> {
    yaml: &'y mut Yaml<'t>,
    /// The mapping's own keys, where it may have merged ones.
    seen: HashSet<String>,
    /// The entries that `<<` brings.
    merged: VecDeque<(String, Vec<YamlEvent<'t>>)>,
    /// Whether its own entries are all read.
    ended: bool,
}

impl Mapping<'_, '_> {
    /// Reads the entries that a `<<` brings, those of the first mapping first.
    fn merge(&mut self) -> Result<(), YamlFault> {
        match self.yaml.events.next()? {
            YamlEvent::Scalar(text, true) if is_null(&text) => Ok(()),
            YamlEvent::Mapping => self.merge_mapping(),
            YamlEvent::List => loop {
                match self.yaml.events.next()? {
                    YamlEvent::End => return Ok(()),
                    YamlEvent::Mapping => self.merge_mapping()?,
                    _ => return Err(not_a_mapping()),
                }
            },
            _ => Err(not_a_mapping()),
        }
    }

    fn merge_mapping(&mut self) -> Result<(), YamlFault> {
        let mut nested = Vec::new();
        loop {
            let key = match self.yaml.events.peek()? {
                YamlEvent::End => {
                    self.yaml.events.next()?;
                    break;
                }
                YamlEvent::Scalar(key, _) => key.clone().into_owned(),
                _ => String::new(),
            };
            self.yaml.events.skip()?;
            let value = self.yaml.events.take()?;
            if key == "<<" {
                nested.push(value);
            } else {
                self.merged.push_back((key, value));
            }
        }
        // What the merged mapping itself merges counts less than its own entries.
        for value in nested {
            self.yaml.events.put_back(value);
            self.merge()?;
        }
        Ok(())
    }
}

fn not_a_mapping() -> YamlFault {
    serde::de::Error::custom("`<<` must name a mapping or a list of mappings")
}

impl<'t> MapAccess<'t> for Mapping<'_, 't> {
    type Error = YamlFault;

    fn next_key_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, YamlFault> {
        while !self.ended {
            match self.yaml.events.peek()? {
                YamlEvent::End => {
                    self.yaml.events.next()?;
                    self.ended = true;
                }
                YamlEvent::Scalar(key, true) if self.yaml.merges && key == "<<" => {
                    self.yaml.events.next()?;
                    self.merge()?;
                }
                YamlEvent::Scalar(key, _) if self.yaml.merges => {
                    let key = key.clone().into_owned();
                    self.yaml.events.charge(96)?;
                    self.seen.insert(key);
                    return seed.deserialize(&mut *self.yaml).map(Some);
                }
                _ => return seed.deserialize(&mut *self.yaml).map(Some),
            }
        }
        while let Some((key, value)) = self.merged.pop_front() {
            if self.seen.insert(key.clone()) {
                self.yaml.events.put_back(value);
                return seed.deserialize(StringDeserializer::new(key)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, YamlFault> {
        seed.deserialize(&mut *self.yaml)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        let mut yaml = Yaml {
            events: events::YamlEvents::new(text, &Meter::default()),
            merges: text.contains("<<"),
        };
        let read = |yaml: &mut Yaml<'_>| {
            yaml.events.start()?;
            let value = Value::deserialize(&mut *yaml)?;
            yaml.events.finish()?;
            Ok(value)
        };
        read(&mut yaml).map_err(|fault: YamlFault| fault.message)
    }

    #[test]
    fn scalars_have_the_types_of_the_core_schema() {
        for (text, want) in [
            ("12", json!(12)),
            ("-3", json!(-3)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("1.5", json!(1.5)),
            ("1e3", json!(1000.0)),
            ("1e999", json!("1e999")),
            (".inf", json!(".inf")),
            ("-", json!([null])),
            ("no", json!("no")),
            ("True", json!(true)),
            ("1_000", json!("1_000")),
            ("99999999999999999999", json!(1e20)),
            ("2026-01-02", json!("2026-01-02")),
            ("'12'", json!("12")),
            ("!!str 12", json!("12")),
            ("! 12", json!("12")),
            ("~", json!(null)),
            ("''", json!("")),
            ("0x", json!("0x")),
        ] {
            assert_eq!(value(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn merged_entries_count_less_than_own_ones() {
        let text = "base: &b {a: 1, b: 1}\nmore: &m {<<: *b, b: 2, c: 2}\nall:\n  c: 3\n  <<: [*m, {d: 4, a: 4}]\n  e: 5\n";
        let merged = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5});
        assert_eq!(value(text).unwrap()["all"], merged);
        // An anchor around a mapping with merged entries covers them once.
        let text = "x: &x {k: &m {<<: {a: 1}, b: 2}, l: 3}\ny: *x\nz: *m\n";
        let found = value(text).unwrap();
        assert_eq!(found["y"], json!({"k": {"a": 1, "b": 2}, "l": 3}));
        assert_eq!(found["z"], json!({"a": 1, "b": 2}));
        assert_eq!(value("'<<': 1"), Ok(json!({"<<": 1})));
        assert!(value("<<: 1").is_err());
        assert_eq!(value("<<: \na: 1"), Ok(json!({"a": 1})));
    }

    #[test]
    fn a_document_ends_where_it_ends() {
        assert!(value("a: 1\n--- \nb: 2").is_err());
        assert!(value("[a").is_err());
        assert_eq!(value("a: 1\n# end\n"), Ok(json!({"a": 1})));
    }
}
