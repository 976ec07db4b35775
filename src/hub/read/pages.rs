//! A list in pages, of which the objects are read as they come.

use http_body_util::BodyExt;
use kube::client::Body;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::hub::error::HubError;
use crate::hub::read::list_text::{ListText, NotAList};
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::bounds::{OBJECT, PAGES, too_large_an_object};
use crate::hub::request::connection::{
    Connection, JSON, ReadFailure, RequestPatience, plain, truncated,
};
use crate::kubefleet::path::parameter;
use crate::words::count;

/// How many objects a page has: a server has the first page of a list at hand, and has to search
/// everything for the next.
pub(in crate::hub) const MANY: usize = 5000;
/// How many it has where objects may be large, as kubectl does: a server may put a page together
/// before it sends it.
pub(in crate::hub) const FEW: usize = 500;
/// How many objects are given away at once.
const TOGETHER: usize = 16;
/// How often a list is begun again because it grew too old while it was read.
const RESTARTS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hub) enum ListCame {
    Objects,
    /// It has begun again: what came so far does not count.
    Again,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ListHead {
    api_version: String,
    kind: String,
    metadata: ListMeta,
    /// What is left of them. Go writes `null` where there are none.
    #[serde(deserialize_with = "left_of_items")]
    items: Option<Vec<IgnoredAny>>,
}

fn left_of_items<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<IgnoredAny>>, D::Error> {
    Option::deserialize(deserializer).map(|items| Some(items.unwrap_or_default()))
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ListMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
    resource_version: Option<String>,
}

pub(in crate::hub) struct PagedList<'w> {
    connection: Connection,
    wanted: ExpectedAnswer<'w>,
    path: String,
    accept: &'static str,
    /// How many objects are asked for; `None` for all of them, which cannot grow too old.
    limit: Option<usize>,
    is_one: bool,
    patience: RequestPatience,
    /// Where the next page begins; empty for the first one.
    next: String,
    open: Option<OpenPage>,
    restarts: usize,
    taken: usize,
    is_over: bool,
    /// From where a watch goes on, once the list is read.
    pub(in crate::hub) version: String,
    /// Whether the list goes on after the only page that was wanted.
    pub(in crate::hub) is_cut: bool,
}

struct OpenPage {
    body: Body,
    text: ListText,
    is_all: bool,
    has_given: bool,
}

impl<'w> PagedList<'w> {
    /// Nothing is asked for yet. All pages share one time limit; each has so many objects, unless the
    /// user has asked for another number.
    pub(in crate::hub) fn new(
        connection: &Connection,
        wanted: ExpectedAnswer<'w>,
        path: String,
        limit: usize,
    ) -> Self {
        Self {
            connection: connection.clone(),
            wanted,
            path,
            accept: JSON,
            limit: Some(connection.chunk_size.unwrap_or(limit)).filter(|limit| *limit > 0),
            is_one: false,
            patience: RequestPatience::new(connection.deadline()),
            next: String::new(),
            open: None,
            restarts: 0,
            taken: 0,
            is_over: false,
            version: String::new(),
            is_cut: false,
        }
    }

    /// These pages in another form.
    pub(in crate::hub) const fn in_form(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    /// The first page alone, with at most so many objects.
    pub(in crate::hub) const fn one(mut self, most: usize) -> Self {
        self.limit = Some(most);
        self.is_one = true;
        self
    }

    /// Gives away the texts of some objects; `None` after the last one.
    pub(in crate::hub) async fn next(
        &mut self,
        take: impl FnMut(&str) -> Result<(), HubError>,
    ) -> Result<Option<ListCame>, HubError> {
        match self.came(take).await {
            Ok(came) => Ok(came),
            Err(error) => Err(self.connection.discreet(error).await),
        }
    }

    async fn came(
        &mut self,
        mut take: impl FnMut(&str) -> Result<(), HubError>,
    ) -> Result<Option<ListCame>, HubError> {
        while !self.is_over {
            if let Some(page) = &mut self.open {
                match page.give(&mut take)? {
                    Ok(true) => return Ok(Some(ListCame::Objects)),
                    Ok(false) if page.is_all => {
                        self.close()?;
                        continue;
                    }
                    Ok(false) => {}
                    Err(NotAList) => return Err(answer::wrong(&self.wanted, page.text.rest())),
                }
            } else {
                self.patience.log_in(&self.connection).await?;
            }
            if let Err(failure) = self.step().await?
                && self.begin_again(failure).await?
            {
                return Ok(Some(ListCame::Again));
            }
        }
        Ok(None)
    }

    pub(in crate::hub) async fn all<T>(
        &mut self,
        mut read: impl FnMut(&str) -> Result<T, HubError>,
    ) -> Result<Vec<T>, HubError> {
        let mut all = Vec::new();
        loop {
            let take = |text: &str| {
                all.push(read(text)?);
                Ok(())
            };
            match self.next(take).await? {
                Some(ListCame::Objects) => {}
                Some(ListCame::Again) => all.clear(),
                None => break,
            }
        }
        Ok(all)
    }

    /// Sends a request, or takes the next piece of its answer.
    async fn step(&mut self) -> Result<Result<(), ReadFailure>, HubError> {
        let Some(page) = &mut self.open else {
            let url = self.url();
            let body = self.connection.body(&url, self.accept);
            let body = self.patience.wait(body).await?;
            let page = |body| OpenPage {
                body,
                text: ListText::default(),
                is_all: false,
                has_given: false,
            };
            return Ok(body.map(|body| self.open = Some(page(body))));
        };
        let connection = &self.connection;
        let step = async {
            match page.body.frame().await {
                None => page.is_all = true,
                Some(Ok(frame)) => {
                    let bytes = frame.data_ref().map_or(&[][..], AsRef::as_ref);
                    connection.came(bytes.len()).map_err(plain)?;
                    page.text.push(bytes);
                }
                Some(Err(error)) => return Err(plain(truncated(&error))),
            }
            Ok(())
        };
        self.patience.wait(step).await
    }

    /// Goes on after a failure, where that is of use; whether what was given away does not count.
    async fn begin_again(&mut self, failure: ReadFailure) -> Result<bool, HubError> {
        let page = self.open.take();
        if matches!(failure.0, HubError::Gone) && self.restarts < RESTARTS {
            self.restarts = self.restarts.saturating_add(1);
            if self.restarts == RESTARTS {
                self.limit = None;
            }
        } else {
            self.patience.again(failure).await?;
            // The same page once more.
            if !page.is_some_and(|page| page.has_given) {
                return Ok(false);
            }
        }
        self.next.clear();
        Ok(true)
    }

    /// Takes note of what a page says of itself, and where the next one begins.
    fn close(&mut self) -> Result<(), HubError> {
        let Some(page) = self.open.take() else {
            return Ok(());
        };
        let rest = page.text.rest();
        let head: ListHead = serde_json::from_slice(rest).unwrap_or_default();
        if !answer::is_list_of(&self.wanted, &head.api_version, &head.kind) {
            return Err(answer::wrong(&self.wanted, rest));
        }
        if head.items.is_none() {
            return Err(HubError::Broken("a list without items".to_owned()));
        }
        self.taken = self.taken.saturating_add(1);
        self.version = head.metadata.resource_version.unwrap_or_default();
        let next = head.metadata.next.unwrap_or_default();
        self.is_cut = !next.is_empty();
        self.is_over = self.is_one || !self.is_cut;
        if self.is_over {
            return Ok(());
        }
        if next == self.next {
            return Err(HubError::Broken("a list that never ends".to_owned()));
        }
        if self.taken >= PAGES {
            return Err(HubError::TooMuch(format!(
                "a list has more than {}",
                count(PAGES, "page")
            )));
        }
        self.next = next;
        self.patience.renew();
        Ok(())
    }

    fn url(&self) -> String {
        let mut url = self.path.clone();
        if let Some(limit) = self.limit {
            parameter(&mut url, "limit", &limit.to_string());
        }
        if !self.next.is_empty() {
            parameter(&mut url, "continue", &self.next);
        }
        url
    }
}

impl OpenPage {
    /// Gives away some objects that have come; whether there were any.
    fn give(
        &mut self,
        take: &mut impl FnMut(&str) -> Result<(), HubError>,
    ) -> Result<Result<bool, NotAList>, HubError> {
        let mut given = 0_usize;
        while given < TOGETHER {
            match self.text.next() {
                Ok(Some(text)) => take(text)?,
                Ok(None) => break,
                Err(odd) => return Ok(Err(odd)),
            }
            given = given.saturating_add(1);
            self.has_given = true;
        }
        if given == 0 && self.text.held() > OBJECT {
            return Err(too_large_an_object());
        }
        Ok(Ok(given > 0))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use tokio::runtime::Builder;

    use super::{ListCame, PagedList};
    use crate::hub::error::HubError;
    use crate::hub::fake_server::{FakeServer, ServerReply};
    use crate::hub::request::answer::ExpectedAnswer;
    use crate::hub::request::bounds::OBJECT;

    const PODS: ExpectedAnswer<'static> = ExpectedAnswer::list("", "Pod");

    /// A page with so many objects from one on.
    fn page(from: usize, count: usize, next: &str) -> String {
        let items: Vec<_> = (from..from + count).map(|n| n.to_string()).collect();
        let items = items.join(",");
        let metadata = format!(r#"{{"resourceVersion":"7","continue":"{next}"}}"#);
        format!(r#"{{"apiVersion":"v1","items":[{items}],"kind":"PodList","metadata":{metadata}}}"#)
    }

    fn whole(body: &str) -> ServerReply {
        ServerReply::Whole(200, "", body.to_owned())
    }

    fn cut(body: String) -> ServerReply {
        ServerReply::Cut(vec![body])
    }

    fn gone() -> ServerReply {
        ServerReply::Whole(410, "", r#"{"kind":"Status","code":410}"#.to_owned())
    }

    /// What was read, how often it began again, whether it goes on, and what was asked for.
    struct PagesRead {
        found: Result<Vec<usize>, HubError>,
        again: usize,
        is_cut: bool,
        asked: Vec<String>,
    }

    fn read(
        replies: Vec<ServerReply>,
        prepare: impl FnOnce(PagedList<'_>) -> PagedList<'_>,
    ) -> PagesRead {
        let requests = replies.len();
        let server = FakeServer::new(replies);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        let path = "/api/v1/pods".to_owned();
        let mut pages = prepare(PagedList::new(&server.connection(), PODS, path, 40));
        let mut again = 0;
        let found = runtime.block_on(async {
            let found = RefCell::new(Vec::new());
            let take = |text: &str| {
                found.borrow_mut().push(text.parse().unwrap());
                Ok(())
            };
            while let Some(came) = pages.next(take).await? {
                if came == ListCame::Again {
                    again += 1;
                    found.borrow_mut().clear();
                }
            }
            Ok(found.into_inner())
        });
        let asked = (0..requests).map(|_| server.asked());
        let asked = asked.map(|path| path.replace("/api/v1/pods", ""));
        PagesRead {
            found,
            again,
            is_cut: pages.is_cut,
            asked: asked.collect(),
        }
    }

    /// Every object is there once, in order.
    fn check(read: &PagesRead, count: usize, again: usize, asked: &[&str]) {
        let found = read.found.as_ref().unwrap();
        assert_eq!(*found, (0..count).collect::<Vec<_>>());
        assert_eq!(read.again, again);
        assert_eq!(read.asked, asked);
    }

    const FIRST: &str = "?limit=40";
    const SECOND: &str = "?limit=40&continue=b%2Fc";

    #[test]
    fn pages_are_read_one_after_the_other() {
        let pages = vec![whole(&page(0, 40, "b/c")), whole(&page(40, 3, ""))];
        check(&read(pages, |it| it), 43, 0, &[FIRST, SECOND]);
        check(&read(vec![whole(&page(0, 0, ""))], |it| it), 0, 0, &[FIRST]);
    }

    #[test]
    fn a_list_may_be_larger_than_an_object() {
        let space = " ".repeat(OBJECT / 10);
        let page = page(0, 40, "");
        let (head, items) = page.split_once('[').unwrap();
        let (items, tail) = items.split_once(']').unwrap();
        let items = items.replace(',', &format!(",{space}"));
        let large = format!("{head}[{items}]{tail}");
        check(&read(vec![whole(&large)], |it| it), 40, 0, &[FIRST]);
        let space = " ".repeat(2 * OBJECT);
        let larger = page.replace(",7,", &format!(",{space}7,"));
        let error = read(vec![whole(&larger)], |it| it).found.unwrap_err();
        assert!(matches!(error, HubError::TooMuch(_)), "{error}");
    }

    #[test]
    fn one_page_is_no_whole_list() {
        let first = read(vec![whole(&page(0, 2, "b/c"))], |it| it.one(2));
        check(&first, 2, 0, &["?limit=2"]);
        assert!(first.is_cut);
        let only = read(vec![whole(&page(0, 2, ""))], |it| it.one(2));
        assert!(!only.is_cut);
    }

    #[test]
    fn a_page_that_breaks_off_does_not_count() {
        // Nothing was read of the second page: the first one counts.
        let pages = vec![
            whole(&page(0, 40, "b/c")),
            ServerReply::Slammed,
            whole(&page(40, 3, "")),
        ];
        check(&read(pages, |it| it), 43, 0, &[FIRST, SECOND, SECOND]);
        let pages = vec![
            whole(&page(0, 40, "b/c")),
            cut(page(40, 40, "")),
            whole(&page(0, 40, "b/c")),
            whole(&page(40, 3, "")),
        ];
        let asked = [FIRST, SECOND, FIRST, SECOND];
        check(&read(pages, |it| it), 43, 1, &asked);
    }

    #[test]
    fn a_list_that_is_too_old_begins_again_and_is_not_divided_in_the_end() {
        let first = || whole(&page(0, 40, "b/c"));
        let pages = vec![first(), gone(), first(), gone(), whole(&page(0, 43, ""))];
        let asked = [FIRST, SECOND, FIRST, SECOND, ""];
        check(&read(pages, |it| it), 43, 2, &asked);
        let pages = vec![first(), gone(), first(), gone(), gone()];
        assert_eq!(read(pages, |it| it).found, Err(HubError::Gone));
    }

    #[test]
    fn an_answer_that_is_no_such_list_is_named() {
        let long = format!("{{\"a\":\"{}\"", "x".repeat(100_000));
        for (body, words) in [
            (page(0, 1, "").replace("Pod", "Node"), "with NodeList of v1"),
            (
                page(0, 1, "").replace("items", "things"),
                "a list without items",
            ),
            ("<title>Sign in</title>".to_owned(), "a web page"),
            (long, "truncated or invalid JSON"),
            (r#"{"kind":"Status","message":"no"}"#.to_owned(), "a Status"),
        ] {
            let error = read(vec![whole(&body)], |it| it).found.unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        let same = || whole(&page(0, 1, "b"));
        let error = read(vec![same(), same()], |it| it).found.unwrap_err();
        assert!(error.to_string().contains("never ends"), "{error}");
    }
}
