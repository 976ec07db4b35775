//! What a read brought, object by object.

use std::fmt::Display;

use serde::de::DeserializeSeed;
use serde_json::value::RawValue;

use super::answer::{self, Expected};
use super::bounds::{OBJECT, too_large_an_object};
use super::error::HubError;
use super::request::Connection;
use crate::kubefleet::Kind;
use crate::kubefleet::object::{DocumentSeed, Object, Parsed};

/// What a read brought.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub objects: Vec<Object>,
    /// The text of each object, in their order; empty unless asked for.
    pub texts: Vec<Box<RawValue>>,
    /// From where a watch goes on.
    pub resource_version: String,
}

impl Found {
    /// Adds what comes after it.
    pub(super) fn absorb(&mut self, other: Self) {
        if self.objects.is_empty() {
            *self = other;
            return;
        }
        self.objects.extend(other.objects);
        self.texts.extend(other.texts);
        self.resource_version = other.resource_version;
    }

    pub(super) fn take(
        &mut self,
        connection: &Connection,
        kind: Kind,
        text: &str,
        keep_text: bool,
    ) -> Result<(), HubError> {
        connection.budget.object()?;
        self.objects.push(parse_object(kind, text)?);
        if keep_text {
            let text = RawValue::from_string(text.to_owned());
            self.texts.push(text.map_err(|error| unreadable(&error))?);
        }
        Ok(())
    }
}

/// The named object of a kind.
pub(super) fn wanted_object<'w>(kind: Kind, namespace: &'w str, name: &'w str) -> Expected<'w> {
    Expected::Object {
        group: kind.group(),
        kind: kind.name(),
        namespace,
        name,
    }
}

/// Reads one object of a kind.
pub(super) fn parse_object(kind: Kind, text: &str) -> Result<Object, HubError> {
    if text.len() > OBJECT {
        return Err(too_large_an_object());
    }
    let mut parsed = Parsed::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    DocumentSeed::new(&mut parsed)
        .deserialize(&mut reader)
        .map_err(|error| unreadable(&error))?;
    let object = parsed.objects.pop().filter(|object| {
        object.kind == kind && !object.body.meta().name.is_empty() && parsed.objects.is_empty()
    });
    object.ok_or_else(|| {
        let wanted = wanted_object(kind, "", "");
        answer::wrong(&wanted, text.as_bytes())
    })
}

pub(super) fn unreadable(error: &dyn Display) -> HubError {
    HubError::Broken(format!("an object cannot be read: {error}"))
}
