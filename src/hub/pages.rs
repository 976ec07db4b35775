//! A list in pages: while one is parsed, the next is on its way.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use super::answer::{self, Expected, Items};
use super::bounds::{self, Deadline, PAGES};
use super::error::HubError;
use super::found::{Found, unreadable};
use super::request::{Asking, Connection, JSON};
use crate::kubefleet::Kind;
use crate::kubefleet::path::encode;

/// How many objects a page holds that is kept: a fleet of a thousand clusters in one, and some
/// megabytes as a rule.
const MANY: usize = 1000;
/// A page that is to be the only one: a server has the first page of a selection at hand, and has to
/// search everything for the next.
const ONCE: usize = 5000;
/// Where pages are to be small, how many the first one holds; the next ones follow from its size.
/// A server takes longer for each page after the first.
const FIRST: usize = 50;
/// The size of a small page; while one is parsed, the next is there.
const SMALL: usize = 4 << 20;
/// Fewer objects than these are never asked for at once.
const LEAST: usize = 10;
/// How many objects of a page are parsed before they are given away.
const TOGETHER: usize = 16;
/// How often a list is begun again because it grew too old while it was read.
const RESTARTS: usize = 2;

/// How large pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageSize {
    /// Few requests: all of it is kept anyway.
    Large,
    /// Little memory: what was read is soon dropped.
    Small,
    /// One, of what was selected.
    Once,
}

/// What comes next of a list.
#[derive(Debug)]
pub(super) enum Part {
    /// More of it.
    Page(Found),
    /// It has begun again: what came so far does not count.
    Again,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Page<'t> {
    api_version: String,
    kind: String,
    #[serde(borrow)]
    items: Items<'t>,
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    #[serde(rename = "continue")]
    next: Option<String>,
    resource_version: Option<String>,
    remaining_item_count: Option<usize>,
}

/// A list that is being read.
pub(super) struct Pages {
    connection: Connection,
    kind: Kind,
    path: String,
    keep_text: bool,
    size: PageSize,
    /// How many objects are asked for; `None` for all of them, which cannot grow too old.
    limit: Option<usize>,
    deadline: Deadline,
    next: String,
    ahead: JoinSet<Result<Vec<u8>, HubError>>,
    /// Whether the next page is asked for before it is wanted.
    pub(super) is_eager: bool,
    /// How many objects the server says are left.
    pub(super) remaining: Option<usize>,
    restarts: usize,
    taken: usize,
    /// The page of which not all objects are given away yet.
    open: Option<OpenPage>,
    over: bool,
}

/// A page, and what is left of it.
struct OpenPage {
    body: Vec<u8>,
    /// Where its objects stand, the last first.
    items: Vec<Range<usize>>,
    version: String,
}

impl Pages {
    /// Nothing is asked for yet. All pages share one time limit.
    pub(super) fn new(connection: &Connection, kind: Kind, path: String, size: PageSize) -> Self {
        let first = match size {
            PageSize::Large => MANY,
            PageSize::Small => FIRST,
            PageSize::Once => ONCE,
        };
        Self {
            connection: connection.clone(),
            kind,
            path,
            keep_text: false,
            size,
            limit: Some(first),
            deadline: connection.deadline(),
            next: String::new(),
            ahead: JoinSet::new(),
            is_eager: true,
            remaining: None,
            restarts: 0,
            taken: 0,
            open: None,
            over: false,
        }
    }

    /// The same; objects keep their text.
    pub(super) fn keeping_text(mut self, keep_text: bool) -> Self {
        self.keep_text = keep_text;
        self
    }

    /// What comes next; `None` after the last page. Of a page a few objects come at a time, so that
    /// it is not held twice, as text and as objects.
    pub(super) async fn next(&mut self) -> Result<Option<Part>, HubError> {
        loop {
            if let Some(found) = self.some()? {
                return Ok(Some(Part::Page(found)));
            }
            if self.over {
                return Ok(None);
            }
            let body = match self.body().await {
                Ok(body) => body,
                // Its objects are large: fewer at a time.
                Err(HubError::TooLarge(_)) if self.limit.is_some_and(|limit| limit > LEAST) => {
                    self.limit = self.limit.map(|limit| (limit / 10).max(LEAST));
                    continue;
                }
                Err(HubError::Gone) if self.restarts < RESTARTS => {
                    self.restarts = self.restarts.saturating_add(1);
                    self.next.clear();
                    if self.restarts == RESTARTS {
                        self.limit = None;
                    }
                    return Ok(Some(Part::Again));
                }
                Err(error) => return Err(error),
            };
            self.open(body)?;
        }
    }

    /// Some objects of the page that is open; of an empty page its version alone.
    fn some(&mut self) -> Result<Option<Found>, HubError> {
        let Some(page) = &mut self.open else {
            return Ok(None);
        };
        let mut found = Found {
            resource_version: page.version.clone(),
            ..Found::default()
        };
        for _ in 0..TOGETHER {
            let Some(item) = page.items.pop() else { break };
            let text = page.body.get(item).unwrap_or_default();
            let text = std::str::from_utf8(text).map_err(|error| unreadable(&error))?;
            found.take(&self.connection, self.kind, text, self.keep_text)?;
        }
        if page.items.is_empty() {
            self.open = None;
        }
        Ok(Some(found))
    }

    async fn body(&mut self) -> Result<Vec<u8>, HubError> {
        match self.ahead.join_next().await {
            Some(Ok(body)) => body,
            Some(Err(_)) => Err(HubError::Broken("its reading ended early".to_owned())),
            None => fetch(self.connection.clone(), self.url(), self.deadline).await,
        }
    }

    fn open(&mut self, body: Vec<u8>) -> Result<(), HubError> {
        let wanted = Expected::List {
            group: self.kind.group(),
            kind: self.kind.name(),
        };
        let page = page(&wanted, &body)?;
        let items = page.items.there()?;
        let begin = body.as_ptr().addr();
        let place = |text: &&RawValue| {
            let from = text.get().as_ptr().addr().saturating_sub(begin);
            from..from.saturating_add(text.get().len())
        };
        let items: Vec<_> = items.iter().rev().map(place).collect();
        let version = page.metadata.resource_version.unwrap_or_default();
        // No watch could go on from here.
        if version.is_empty() {
            return Err(HubError::Broken("a list without a version".to_owned()));
        }
        self.remaining = page.metadata.remaining_item_count;
        let more = page.metadata.next.unwrap_or_default();
        self.taken = self.taken.saturating_add(1);
        self.over = more.is_empty();
        if !self.over {
            if more == self.next {
                return Err(HubError::Broken("a list that never ends".to_owned()));
            }
            if self.taken >= PAGES {
                return Err(HubError::TooMuch(format!(
                    "the list of {} has more than {PAGES} pages",
                    self.kind.plural()
                )));
            }
            self.next = more;
            if self.size == PageSize::Small {
                self.limit = self.limit.map(|_| of_size(items.len(), body.len()));
            }
            if self.is_eager {
                let url = self.url();
                self.ahead
                    .spawn(fetch(self.connection.clone(), url, self.deadline));
            }
        }
        self.open = Some(OpenPage {
            body,
            items,
            version,
        });
        Ok(())
    }

    /// The page that is asked for next.
    fn url(&self) -> String {
        let mut parameters = Vec::new();
        parameters.extend(self.limit.map(|limit| format!("limit={limit}")));
        if !self.next.is_empty() {
            parameters.push(format!("continue={}", encode(&self.next)));
        }
        if parameters.is_empty() {
            return self.path.clone();
        }
        let joint = if self.path.contains('?') { '&' } else { '?' };
        format!("{}{joint}{}", self.path, parameters.join("&"))
    }
}

/// How many objects make a small page, when so many had so many bytes.
fn of_size(objects: usize, bytes: usize) -> usize {
    let fits = SMALL.saturating_mul(objects).checked_div(bytes.max(1));
    fits.unwrap_or(LEAST).clamp(LEAST, MANY)
}

async fn fetch(
    connection: Connection,
    url: String,
    deadline: Deadline,
) -> Result<Vec<u8>, HubError> {
    let asking = Asking {
        most: bounds::PAGE,
        deadline,
        ..connection.asking(&url, JSON)
    };
    Ok(connection.patiently(&asking).await?.body)
}

/// Reads a whole list.
pub(super) async fn list(
    connection: &Connection,
    kind: Kind,
    path: &str,
    keep_text: bool,
) -> Result<Found, HubError> {
    let pages = Pages::new(connection, kind, path.to_owned(), PageSize::Large);
    all(pages.keeping_text(keep_text), Found::default()).await
}

/// A whole list, of which something was read already.
pub(super) async fn all(mut pages: Pages, mut found: Found) -> Result<Found, HubError> {
    while let Some(part) = pages.next().await? {
        match part {
            Part::Page(page) => found.absorb(page),
            Part::Again => found = Found::default(),
        }
    }
    Ok(found)
}

/// Reads a page, which is to be one of this list.
fn page<'b>(wanted: &Expected<'_>, body: &'b [u8]) -> Result<Page<'b>, HubError> {
    match serde_json::from_slice::<Page<'b>>(body) {
        Ok(page) if answer::is_list_of(wanted, &page.api_version, &page.kind) => Ok(page),
        _ => Err(answer::wrong(wanted, body)),
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST, MANY, SMALL, of_size};

    #[test]
    fn a_page_follows_from_what_came() {
        // Runs over 100 clusters, and over 1 000.
        assert_eq!(of_size(50, 50 * 89_000), 47);
        assert_eq!(of_size(10, 10 * 890_000), LEAST);
        assert_eq!(of_size(100, 100 * 900), MANY);
        assert_eq!(of_size(0, 0), LEAST);
        assert_eq!(of_size(1, SMALL), LEAST);
        assert_eq!(of_size(usize::MAX, 1), MANY);
    }
}
