//! Rounds of questions: all of them at once, on a bounded number of connections.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::hub::error::HubError;
use crate::hub::read::batch::{BatchedRequest, asks};
use crate::hub::read::found::ReadResult;
use crate::hub::read::pages::ListCame;
use crate::hub::read::queries::{self, ReadReplies};
use crate::hub::{Hub, describe, side_by_side, signals};
use crate::inventory::source::{HubQuery, Outcome, QueryAnswer};
use crate::kubefleet::object::Object;

/// How many lists are read at once whose objects are given away as they come.
const STREAMS: usize = 2;

/// What comes next of a list whose objects are given away.
#[derive(Debug)]
pub enum ListProgress {
    Objects(Vec<Object>),
    /// What came so far does not count: the list has begun again, or could not be read to its end.
    Again,
}

impl Hub {
    /// Asks for what is not known yet.
    pub(in crate::hub) fn learn<'q>(&mut self, queries: impl Iterator<Item = &'q HubQuery>) {
        let mut unknown = BTreeSet::new();
        for query in queries {
            if !unknown.contains(query) && self.known.get(query, None).is_none() {
                unknown.insert(query.clone());
            }
        }
        if !unknown.is_empty() {
            self.fetch(unknown.into_iter().collect());
        }
    }

    /// What is known; of all runs those on the placement, where one is given.
    pub(in crate::hub) fn known_answers(
        &mut self,
        queries: &[HubQuery],
        placement: Option<&str>,
    ) -> Vec<QueryAnswer> {
        let mut known = |query| self.known.get(query, placement);
        let answer = |query| {
            known(query).unwrap_or_else(|| {
                queries::unanswered(&HubError::Broken("there was no answer".to_owned()))
            })
        };
        queries.iter().map(answer).collect()
    }

    fn fetch(&mut self, queries: Vec<HubQuery>) {
        let what = describe(&queries);
        let mut asks = asks(queries);
        while !asks.is_empty() {
            let replies = self.request(&what, asks.clone());
            let mut answered = replies.iter().flat_map(|reply| &reply.answered);
            if answered.any(|(_, found)| is_stale(found.as_ref().err())) && self.rediscover() {
                continue;
            }
            asks = Vec::new();
            for reply in replies {
                asks.extend(reply.rest.into_iter().map(BatchedRequest::from));
                for (query, found) in reply.answered {
                    let answer = self.answer_of(found);
                    self.known.insert(query, answer);
                }
            }
        }
    }

    /// Sends several requests at once.
    fn request(&self, what: &str, asks: Vec<BatchedRequest>) -> Vec<ReadReplies> {
        let keep = self.texts.is_some();
        let (count, bears) = (self.signals.clone(), self.bears);
        let asked: Vec<_> = asks.iter().flat_map(BatchedRequest::queries).collect();
        self.wait(what, async move {
            let all = side_by_side(asks, |ask| {
                let (connection, served) = (self.connection.clone(), Arc::clone(&self.served));
                async move { queries::ask(&connection, &served, &ask, keep).await }
            });
            match count {
                None => all.await,
                Some(mut count) => tokio::select! {
                    read = all => read,
                    () = signals::more_than(&mut count, bears) => {
                        let unread = |query| (query, Err(HubError::Interrupted));
                        vec![ReadReplies {
                            answered: asked.into_iter().map(unread).collect(),
                            rest: Vec::new(),
                        }]
                    }
                },
            }
        })
    }

    fn answer_of(&mut self, found: Result<ReadResult, HubError>) -> QueryAnswer {
        match found {
            Ok(found) => {
                if let Some(texts) = &mut self.texts {
                    let names = found.objects.iter().map(Object::reference);
                    texts.extend(names.zip(found.texts));
                }
                QueryAnswer::new(found.objects.into(), Outcome::Listed)
            }
            Err(error) => self.failed(error),
        }
    }

    fn failed(&mut self, error: HubError) -> QueryAnswer {
        let answer = queries::unanswered(&error);
        if error.is_fatal() {
            self.lost.get_or_insert(error);
        }
        answer
    }

    /// Reads lists object by object, at the same time; nothing of them is remembered, and what is known is not
    /// read again. What comes is given away with the number of its query.
    pub fn each(
        &mut self,
        queries: &[HubQuery],
        mut take: impl FnMut(usize, ListProgress),
    ) -> Vec<Outcome> {
        let known: Vec<_> = queries.iter().map(|it| self.known.get(it, None)).collect();
        let unknown = queries.iter().enumerate().zip(&known);
        let unknown = unknown.filter(|(_, known)| known.is_none());
        let (places, lists): (Vec<_>, Vec<_>) = unknown
            .map(|((at, query), _)| (at, BatchedRequest::from(query.clone())))
            .unzip();
        let mut read = Vec::new();
        if !lists.is_empty() {
            read = self.stream(&lists, |list, more| {
                if let Some(at) = places.get(list) {
                    take(*at, more);
                }
            });
        }
        let mut read = read.into_iter();
        let outcome = |(at, known): (usize, Option<QueryAnswer>)| match known {
            Some(answer) => {
                take(at, ListProgress::Objects(answer.objects.to_vec()));
                Some(answer.outcome)
            }
            None => read.next(),
        };
        known.into_iter().enumerate().filter_map(outcome).collect()
    }

    /// The same where many questions differ in a label's value alone: what comes is given away with
    /// the number of the list that it is in, and the outcomes are those of the questions.
    pub fn each_alike(
        &mut self,
        queries: &[HubQuery],
        take: impl FnMut(usize, ListProgress),
    ) -> Vec<Outcome> {
        let lists = asks(queries.to_vec());
        let outcomes = self.stream(&lists, take);
        let mut known: HashMap<HubQuery, Outcome> = HashMap::new();
        for (list, outcome) in lists.iter().zip(outcomes) {
            let answered = list.queries().into_iter();
            known.extend(answered.map(|query| (query, outcome.clone())));
        }
        let outcome = |query| known.get(query).cloned().unwrap_or(Outcome::NotCollected);
        queries.iter().map(outcome).collect()
    }

    fn stream(
        &mut self,
        lists: &[BatchedRequest],
        mut take: impl FnMut(usize, ListProgress),
    ) -> Vec<Outcome> {
        let mut outcomes = self.read_pages(lists, &mut take);
        let stale = |outcome: &Result<(), HubError>| is_stale(outcome.as_ref().err());
        if outcomes.iter().any(stale) && self.rediscover() {
            for at in 0..lists.len() {
                take(at, ListProgress::Again);
            }
            outcomes = self.read_pages(lists, &mut take);
        }
        let outcome = |outcome| match outcome {
            Ok(()) => Outcome::Listed,
            Err(error) => self.failed(error).outcome,
        };
        outcomes.into_iter().map(outcome).collect()
    }

    fn read_pages(
        &self,
        lists: &[BatchedRequest],
        mut take: impl FnMut(usize, ListProgress),
    ) -> Vec<Result<(), HubError>> {
        let mut outcomes = vec![Ok(()); lists.len()];
        let queries: Vec<_> = lists.iter().flat_map(BatchedRequest::queries).collect();
        let slots = Arc::new(Semaphore::new(STREAMS));
        let (sender, mut pages) = mpsc::channel(1);
        let lists: Vec<_> = lists
            .iter()
            .map(|list| queries::listing(&self.connection, &self.served, list))
            .collect();
        let read = async {
            let mut tasks = JoinSet::new();
            for (at, list) in lists.into_iter().enumerate() {
                let (slots, sender) = (Arc::clone(&slots), sender.clone());
                tasks.spawn(async move {
                    let _slot = slots.acquire_owned().await;
                    let mut list = match list {
                        Ok(list) => list,
                        Err(error) => return drop(sender.send((at, Err(error))).await),
                    };
                    loop {
                        let mut found = ReadResult::default();
                        let more = match list.next(&mut found).await.transpose() {
                            None => return,
                            Some(came) => came.map(|came| match came {
                                ListCame::Objects => ListProgress::Objects(found.objects),
                                ListCame::Again => ListProgress::Again,
                            }),
                        };
                        let is_last = more.is_err();
                        if sender.send((at, more)).await.is_err() || is_last {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            while let Some((at, more)) = pages.recv().await {
                match more {
                    Ok(more) => take(at, more),
                    Err(error) => {
                        take(at, ListProgress::Again);
                        if let Some(outcome) = outcomes.get_mut(at) {
                            *outcome = Err(error);
                        }
                    }
                }
            }
        };
        self.wait(&describe(&queries), read);
        outcomes
    }
}

/// Whether an error may come from what is remembered of the hub.
const fn is_stale(error: Option<&HubError>) -> bool {
    matches!(error, Some(HubError::NotServed(_) | HubError::NotRouted(_)))
}
