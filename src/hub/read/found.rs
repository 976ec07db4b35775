//! What a read brought, object by object.

use std::fmt::Display;

use serde_json::value::RawValue;

use crate::hub::error::HubError;
use crate::hub::read::pages::{FEW, ListCame, MANY, PagedList};
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::bounds::{OBJECT, too_large_an_object};
use crate::hub::request::connection::Connection;
use crate::kubefleet::object::{Object, ParsedDocument};
use crate::kubefleet::{Concept, Kind};

#[derive(Debug, Default)]
pub struct ReadResult {
    pub objects: Vec<Object>,
    /// The text of each object, in their order; empty unless asked for.
    pub texts: Vec<Box<RawValue>>,
    pub resource_version: String,
}

/// A list of a kind, of which objects come as the list is read.
pub struct ListReader {
    pages: PagedList<'static>,
    connection: Connection,
    kind: Kind,
    keep_text: bool,
}

impl ListReader {
    /// The list at a path; nothing is asked for yet.
    pub fn new(connection: &Connection, kind: Kind, path: String) -> Self {
        let wanted = ExpectedAnswer::list(kind.group(), kind.name());
        let limit = match kind.concept() {
            Concept::UpdateRun | Concept::Placement | Concept::ResourceSnapshot | Concept::Work => {
                FEW
            }
            _ => MANY,
        };
        Self {
            pages: PagedList::new(connection, wanted, path, limit),
            connection: connection.clone(),
            kind,
            keep_text: false,
        }
    }

    /// The same; objects keep their text.
    pub const fn keeping_text(mut self, keep_text: bool) -> Self {
        self.keep_text = keep_text;
        self
    }

    /// Adds some objects; `None` where there are no more.
    pub async fn next(&mut self, found: &mut ReadResult) -> Result<Option<ListCame>, HubError> {
        let (connection, kind, keep_text) = (&self.connection, self.kind, self.keep_text);
        let take = |text: &str| found.take(connection, kind, text, keep_text);
        self.pages.next(take).await
    }

    /// The whole list, if it has at most so many objects.
    pub async fn up_to(mut self, most: usize) -> Result<Option<ReadResult>, HubError> {
        self.pages = self.pages.one(most);
        let found = self.read().await?;
        Ok((!self.pages.is_cut).then_some(found))
    }

    pub async fn all(mut self) -> Result<ReadResult, HubError> {
        self.read().await
    }

    async fn read(&mut self) -> Result<ReadResult, HubError> {
        let mut found = ReadResult::default();
        while let Some(came) = self.next(&mut found).await? {
            if came == ListCame::Again {
                found = ReadResult::default();
            }
        }
        found.resource_version = std::mem::take(&mut self.pages.version);
        // No watch could go on from here.
        if found.resource_version.is_empty() {
            return Err(HubError::Broken("a list without a version".to_owned()));
        }
        Ok(found)
    }
}

impl ReadResult {
    pub fn take(
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

pub fn wanted_object<'w>(kind: Kind, namespace: &'w str, name: &'w str) -> ExpectedAnswer<'w> {
    ExpectedAnswer::Object {
        group: kind.group(),
        kind: kind.name(),
        namespace,
        name,
    }
}

pub fn parse_object(kind: Kind, text: &str) -> Result<Object, HubError> {
    if text.len() > OBJECT {
        return Err(too_large_an_object());
    }
    let mut parsed = ParsedDocument::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = parsed.document(&mut reader);
    read.map_err(|error| unreadable(&error))?;
    let object = parsed.objects.pop().filter(|object| {
        object.kind == kind && !object.body.meta().name.is_empty() && parsed.objects.is_empty()
    });
    object.ok_or_else(|| {
        let wanted = wanted_object(kind, "", "");
        answer::wrong(&wanted, text.as_bytes())
    })
}

pub fn unreadable(error: &dyn Display) -> HubError {
    HubError::Broken(format!("an object cannot be read: {error}"))
}
