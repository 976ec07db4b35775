//! Hubs that are followed: one by itself, several in a thread each. What one tells waits for no other.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::{
    AskError, ContextsArgs, HubAnswer, HubAnswers, HubRows, HubTold, HubsAsking, NotReached,
    check_input, chosen,
};
use crate::commands::gather::reading::{InputArgs, SourceReading};
use crate::commands::gather::session::Session;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{HubError, MirrorUpdate, SharedSignals, TimeLimit};
use crate::ui::Ui;

/// How often several hubs are looked at, though none of them told anything.
const TICK: Duration = Duration::from_secs(1);
/// After how long everything in a list is judged anew, though nothing changed: a cluster becomes
/// stuck by time alone.
const LIST_TICK: Duration = Duration::from_secs(5);

pub enum HubNews<T> {
    /// What it shows now, and why it does not answer at the moment.
    Now(T, Option<String>),
    /// It does not answer, and what it showed last is all that is known.
    Away(String),
    Interrupted,
    Late,
    Ended(Error),
}

pub trait FollowsHub<T> {
    /// How often it is looked at, though nothing changed.
    fn tick(&self) -> Duration;

    /// What it shows: the first time at once, then when something has changed, at the latest after
    /// this long.
    fn next(&mut self, limit: Duration) -> HubNews<T>;

    /// The names beside others that mean nothing there, and why.
    fn absent(&mut self) -> Vec<(String, Error)> {
        Vec::new()
    }

    /// Until when it is waited for what the hub has to say.
    fn end_at(&mut self, _end: Option<TimeLimit>) {}
}

pub struct FollowedReading<'r, L> {
    reading: &'r mut SourceReading,
    look: L,
    has_begun: bool,
}

impl<'r, L> FollowedReading<'r, L> {
    pub fn new(reading: &'r mut SourceReading, look: L) -> Result<Self, Error> {
        reading.follow()?;
        Ok(Self {
            reading,
            look,
            has_begun: false,
        })
    }
}

impl<R, L> FollowsHub<HubRows<R>> for FollowedReading<'_, L>
where
    L: FnMut(&mut SourceReading) -> Result<HubRows<R>, Error>,
{
    fn tick(&self) -> Duration {
        LIST_TICK
    }

    fn next(&mut self, limit: Duration) -> HubNews<HubRows<R>> {
        let was_shown = std::mem::replace(&mut self.has_begun, true);
        if was_shown && self.reading.wait(limit) == MirrorUpdate::Interrupted {
            return HubNews::Interrupted;
        }
        let found = (self.look)(self.reading);
        if self.reading.is_interrupted() {
            return HubNews::Interrupted;
        }
        let away = self.reading.away();
        match found {
            Ok(rows) => HubNews::Now(rows, away),
            Err(error) => match away.or_else(|| self.reading.take_lost()) {
                Some(why) => HubNews::Away(why),
                None => HubNews::Ended(error),
            },
        }
    }
}

pub struct FollowCall<'a> {
    /// Which, where it is more than one.
    pub of: &'a ContextsArgs,
    /// Without it, nothing is taken from an earlier call.
    pub input: Option<&'a InputArgs>,
    /// In which time what one hub has to say must be known.
    pub limit: Option<Duration>,
    pub command: &'static str,
}

pub struct FollowedHubs<'r, T> {
    hubs: Vec<FollowedHub<T>>,
    source: HubSource<'r, T>,
    /// What came of reaching them, once that is known of all.
    answers: HubAnswers<()>,
    is_known: bool,
    all_contexts: bool,
    /// How many of those that are absent and that were not reached the user was told.
    told: (usize, usize),
}

struct FollowedHub<T> {
    name: Option<String>,
    asked: Option<Result<HubTold<()>, AskError>>,
    has_told: bool,
    has_ended: bool,
    now: Option<T>,
    away: Option<String>,
    /// Whether it was away when that was taken last.
    was_away: bool,
}

enum HubSource<'r, T> {
    One(Box<dyn FollowsHub<T> + 'r>),
    Several(Receiver<(usize, HubMessage<T>)>, SharedSignals),
}

enum HubMessage<T> {
    Reached(HubTold<()>),
    Failed(AskError),
    News(HubNews<T>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowNews {
    /// A hub may show something else than before.
    Now,
    Interrupted,
    Late,
}

impl Session<'_> {
    /// Follows the hub, or each of several. `place` keeps the reading of the one.
    pub fn follow<'r, T, F>(
        &mut self,
        call: &FollowCall<'_>,
        place: &'r mut Option<SourceReading>,
        follow: F,
    ) -> Result<FollowedHubs<'r, T>, Error>
    where
        T: Send + 'static,
        F: for<'f> Fn(&'f mut SourceReading, &mut Ui) -> Result<Box<dyn FollowsHub<T> + 'f>, Error>
            + Send
            + Sync
            + 'static,
    {
        if !call.of.is_several() {
            let reading = match call.input {
                Some(input) => self.open(input, call.command)?,
                None => self.open_within(call.limit, call.command)?,
            };
            let hub = follow(place.insert(reading), self.ui)?;
            return Ok(FollowedHubs::one(hub));
        }
        check_input(call.input)?;
        let names = chosen(call.of, self)?;
        // Who follows several has the time in mind.
        let asking = HubsAsking::new(self, call.input, None, call.command);
        let (tell, told) = channel();
        let together = asking.together.clone();
        let interrupted = tell.clone();
        together.tell(move || {
            // Who listens no longer ends anyway.
            let _ = interrupted.send((0, HubMessage::News(HubNews::Interrupted)));
        });
        let shared = Arc::new((asking, follow));
        for (at, name) in names.iter().cloned().enumerate() {
            let (shared, tell) = (Arc::clone(&shared), tell.clone());
            // It ends with the process: a hub that does not answer keeps nobody.
            thread::spawn(move || {
                let (asking, follow) = &*shared;
                follow_one(asking, &name, follow, &|message| {
                    tell.send((at, message)).is_ok()
                });
            });
        }
        let hubs = names.into_iter().map(|name| FollowedHub::new(Some(name)));
        Ok(FollowedHubs {
            hubs: hubs.collect(),
            source: HubSource::Several(told, together),
            answers: HubAnswers::none(true),
            is_known: false,
            all_contexts: call.of.all_contexts,
            told: (0, 0),
        })
    }
}

/// Follows one of several hubs, until nobody listens.
fn follow_one<T, F>(
    asking: &HubsAsking,
    name: &str,
    follow: &F,
    tell: &dyn Fn(HubMessage<T>) -> bool,
) where
    F: for<'f> Fn(&'f mut SourceReading, &mut Ui) -> Result<Box<dyn FollowsHub<T> + 'f>, Error>,
{
    let (mut reading, traffic) = match asking.open(name) {
        Ok(opened) => opened,
        Err(error) => {
            tell(HubMessage::Failed(error));
            return;
        }
    };
    let mut hub = match follow(&mut reading, &mut Ui::silent()) {
        Ok(hub) => hub,
        Err(error) => {
            tell(HubMessage::Failed(AskError::Other(error)));
            return;
        }
    };
    let absent = hub.absent();
    let told = HubTold {
        found: (),
        traffic,
        absent,
    };
    let mut is_heard = tell(HubMessage::Reached(told));
    while is_heard {
        let news = hub.next(hub.tick());
        let goes_on = matches!(news, HubNews::Now(..) | HubNews::Away(_));
        is_heard = tell(HubMessage::News(news)) && goes_on;
    }
}

impl<T> FollowedHub<T> {
    const fn new(name: Option<String>) -> Self {
        Self {
            name,
            asked: None,
            has_told: false,
            has_ended: false,
            now: None,
            away: None,
            was_away: false,
        }
    }

    const fn is_pending(&self) -> bool {
        !self.has_told && !self.has_ended
    }
}

impl<'r, T> FollowedHubs<'r, T> {
    pub fn one(mut hub: Box<dyn FollowsHub<T> + 'r>) -> Self {
        let mut answers = HubAnswers::none(false);
        let absent = hub.absent().into_iter();
        answers.absent.extend(absent.map(|(_, error)| error));
        answers.hubs.push(HubAnswer {
            hub: None,
            found: (),
        });
        Self {
            hubs: vec![FollowedHub::new(None)],
            source: HubSource::One(hub),
            answers,
            is_known: true,
            all_contexts: false,
            told: (0, 0),
        }
    }

    /// How often there is something to be looked at.
    pub fn tick(&self) -> Duration {
        match &self.source {
            HubSource::One(hub) => hub.tick(),
            HubSource::Several(..) => TICK,
        }
    }

    /// Until when it is waited for what one hub has to say. Of several, each has its own limit.
    pub fn end_at(&mut self, end: Option<TimeLimit>) {
        if let HubSource::One(hub) = &mut self.source {
            hub.end_at(end);
        }
    }

    /// Waits until a hub tells something, at most this long, and takes in all that was told.
    pub fn next(&mut self, limit: Duration, ui: &mut Ui) -> Result<FollowNews, Error> {
        let mut messages = Vec::new();
        match &mut self.source {
            HubSource::One(hub) => messages.push((0, HubMessage::News(hub.next(limit)))),
            HubSource::Several(told, _) => {
                match told.recv_timeout(limit) {
                    Ok(message) => messages.push(message),
                    Err(RecvTimeoutError::Timeout) => {}
                    // No hub is followed any more: the time still passes.
                    Err(RecvTimeoutError::Disconnected) => thread::sleep(limit),
                }
                messages.extend(told.try_iter());
            }
        }
        for (at, message) in messages {
            match self.take(at, message)? {
                FollowNews::Now => {}
                ended => return Ok(ended),
            }
        }
        self.settle(ui)?;
        Ok(FollowNews::Now)
    }

    fn take(&mut self, at: usize, message: HubMessage<T>) -> Result<FollowNews, Error> {
        let Some(hub) = self.hubs.get_mut(at) else {
            return Ok(FollowNews::Now);
        };
        match message {
            HubMessage::Reached(told) => hub.asked = Some(Ok(told)),
            HubMessage::Failed(AskError::Other(error)) if error.exit == Exit::Interrupted => {
                return Ok(FollowNews::Interrupted);
            }
            HubMessage::Failed(error) => {
                hub.asked = Some(Err(error));
                hub.has_ended = true;
            }
            HubMessage::News(HubNews::Now(now, away)) => {
                hub.now = Some(now);
                hub.away = away;
                hub.has_told = true;
            }
            HubMessage::News(HubNews::Away(why)) => {
                hub.away = Some(why);
                hub.has_told = true;
            }
            HubMessage::News(HubNews::Ended(error)) => {
                let Some(name) = hub.name.clone() else {
                    return Err(error);
                };
                (hub.now, hub.away, hub.has_ended) = (None, None, true);
                if self.is_known {
                    self.answers.not_reached.push(NotReached::new(name, error));
                } else {
                    hub.asked = Some(Err(AskError::Other(error)));
                }
            }
            HubMessage::News(HubNews::Interrupted) => return Ok(FollowNews::Interrupted),
            HubMessage::News(HubNews::Late) => return Ok(FollowNews::Late),
        }
        Ok(FollowNews::Now)
    }

    /// Sorts what came of reaching the hubs, once that is known of all.
    fn settle(&mut self, ui: &mut Ui) -> Result<(), Error> {
        if self.is_known || self.hubs.iter().any(FollowedHub::is_pending) {
            return Ok(());
        }
        self.is_known = true;
        let hubs = self.hubs.iter_mut();
        let asked = hubs.filter_map(|hub| Some((hub.name.clone()?, hub.asked.take()?)));
        let asked: Vec<_> = asked.collect();
        self.answers.gather(asked, self.all_contexts, ui)
    }

    /// Waits no longer for the hubs that have told nothing within a limit.
    pub fn give_up(&mut self, limit: Duration, ui: &mut Ui) -> Result<(), Error> {
        for hub in self.hubs.iter_mut().filter(|hub| hub.is_pending()) {
            hub.asked = Some(Err(AskError::Other(HubError::late(limit).into())));
            hub.has_ended = true;
        }
        self.settle(ui)
    }

    /// Whether several hubs are followed, so that each thing is told with its own.
    pub const fn is_several(&self) -> bool {
        self.answers.is_several
    }

    /// Whether each hub has shown something, or is known not to.
    pub const fn is_known(&self) -> bool {
        self.is_known
    }

    /// Whether no hub is followed any more.
    pub fn is_over(&self) -> bool {
        self.hubs.iter().all(|hub| hub.has_ended)
    }

    pub fn pending(&self) -> Vec<&str> {
        let pending = self.hubs.iter().filter(|hub| hub.is_pending());
        pending.filter_map(|hub| hub.name.as_deref()).collect()
    }

    /// The place of a hub among the hubs.
    pub fn place(&self, name: Option<&str>) -> usize {
        let mut hubs = self.hubs.iter();
        let place = hubs.position(|hub| hub.name.as_deref() == name);
        place.unwrap_or_default()
    }

    /// Whether a hub is followed no longer, so that nothing is known of what it showed.
    pub fn has_ended(&self, name: Option<&str>) -> bool {
        let mut hubs = self.hubs.iter();
        hubs.any(|hub| hub.has_ended && hub.name.as_deref() == name)
    }

    /// What each hub shows now.
    pub fn shown(&self) -> Vec<HubAnswer<T>>
    where
        T: Clone,
    {
        self.of_each(|hub| hub.now.clone())
    }

    /// Takes what hubs have shown since it was taken last.
    pub fn take_shown(&mut self) -> Vec<HubAnswer<T>> {
        let hubs = self.hubs.iter_mut();
        let shown = hubs.filter_map(|hub| {
            Some(HubAnswer {
                found: hub.now.take()?,
                hub: hub.name.clone(),
            })
        });
        shown.collect()
    }

    /// The hubs that do not answer at the moment, and why.
    pub fn away(&self) -> Vec<HubAnswer<String>> {
        self.of_each(|hub| hub.away.clone())
    }

    /// Takes which hubs have gone away since, and why; then those that answer again, without a reason.
    pub fn take_connections(&mut self) -> Vec<HubAnswer<Option<String>>> {
        let mut changed = Vec::new();
        for hub in &mut self.hubs {
            let was_away = std::mem::replace(&mut hub.was_away, hub.away.is_some());
            if was_away != hub.was_away && (hub.was_away || !hub.has_ended) {
                changed.push(HubAnswer {
                    found: hub.away.clone(),
                    hub: hub.name.clone(),
                });
            }
        }
        changed.sort_by_key(|hub| hub.found.is_none());
        changed
    }

    fn of_each<X>(&self, of: impl Fn(&FollowedHub<T>) -> Option<X>) -> Vec<HubAnswer<X>> {
        let hubs = self.hubs.iter();
        let found = hubs.filter_map(|hub| {
            Some(HubAnswer {
                found: of(hub)?,
                hub: hub.name.clone(),
            })
        });
        found.collect()
    }

    pub const fn answers(&self) -> &HubAnswers<()> {
        &self.answers
    }

    /// Takes away that a name is nowhere.
    pub fn take_absent(&mut self) -> Option<Error> {
        (!self.answers.absent.is_empty()).then(|| self.answers.absent.swap_remove(0))
    }

    /// Says what is not there and which hubs were not reached, as far as it was not said yet.
    pub fn tell(&mut self, ui: &mut Ui) {
        let (absent, not_reached) = (&self.answers.absent, &self.answers.not_reached);
        super::tell_missing(
            absent.get(self.told.0..).unwrap_or_default(),
            not_reached.get(self.told.1..).unwrap_or_default(),
            ui,
        );
        self.told = (absent.len(), not_reached.len());
    }
}

impl<T> Drop for FollowedHubs<'_, T> {
    fn drop(&mut self) {
        if let HubSource::Several(_, together) = &self.source {
            together.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    use super::{FollowNews, FollowedHub, FollowedHubs, HubMessage, HubNews, HubSource};
    use crate::commands::gather::hubs::{AskError, HubAnswers, HubTold};
    use crate::error::Error;
    use crate::exit::Exit;
    use crate::hub::{RequestTraffic, SharedSignals};
    use crate::ui::Ui;

    type Told = Sender<(usize, HubMessage<&'static str>)>;

    fn hubs(names: &[&str]) -> (Told, FollowedHubs<'static, &'static str>) {
        let (tell, told) = channel();
        let hubs = names.iter().map(|name| Some((*name).to_owned()));
        let followed = FollowedHubs {
            hubs: hubs.map(FollowedHub::new).collect(),
            source: HubSource::Several(told, SharedSignals::default()),
            answers: HubAnswers::none(true),
            is_known: false,
            all_contexts: false,
            told: (0, 0),
        };
        (tell, followed)
    }

    fn reached(absent: &[&str]) -> HubMessage<&'static str> {
        let absent = absent.iter().map(|word| {
            let error = Error::not_found(format!("no {word}"));
            ((*word).to_owned(), error)
        });
        HubMessage::Reached(HubTold {
            found: (),
            traffic: RequestTraffic::default(),
            absent: absent.collect(),
        })
    }

    fn shows(what: &'static str) -> HubMessage<&'static str> {
        HubMessage::News(HubNews::Now(what, None))
    }

    fn failed(error: Error) -> HubMessage<&'static str> {
        HubMessage::Failed(AskError::Other(error))
    }

    fn after(
        told: &Told,
        messages: impl IntoIterator<Item = (usize, HubMessage<&'static str>)>,
        hubs: &mut FollowedHubs<'_, &'static str>,
    ) -> Result<FollowNews, Error> {
        for message in messages {
            told.send(message).unwrap();
        }
        hubs.next(Duration::ZERO, &mut Ui::silent())
    }

    fn seen(hubs: &FollowedHubs<'_, &'static str>) -> Vec<String> {
        let shown = hubs.shown().into_iter();
        shown.map(|hub| hub.says(hub.found)).collect()
    }

    #[test]
    fn one_hub_waits_for_no_other() {
        let (told, mut hubs) = hubs(&["eu", "us", "asia"]);
        let news = [(1, reached(&[])), (1, shows("a"))];
        assert_eq!(after(&told, news, &mut hubs).unwrap(), FollowNews::Now);
        assert_eq!(seen(&hubs), ["us: a"]);
        assert_eq!(hubs.pending(), ["eu", "asia"]);
        assert!(!hubs.is_known());
        // One that is reached is not known before it shows something.
        let news = [(0, reached(&["x"])), (2, failed(Error::failed("gone")))];
        after(&told, news, &mut hubs).unwrap();
        assert!(!hubs.is_known() && hubs.has_ended(Some("asia")));
        after(&told, [(0, shows("b")), (1, shows("c"))], &mut hubs).unwrap();
        assert!(hubs.is_known());
        assert_eq!(seen(&hubs), ["eu: b", "us: c"]);
        let not_reached = hubs.answers().not_reached.iter();
        let not_reached: Vec<_> = not_reached.map(super::NotReached::says).collect();
        assert_eq!(not_reached, ["not reached: asia: gone"]);
        // Another has what one does not have.
        assert!(hubs.answers().absent().is_empty());
        assert_eq!(hubs.answers().exit(Exit::Done), Exit::Incomplete);
    }

    #[test]
    fn what_a_lost_hub_showed_is_known_no_longer() {
        let (told, mut hubs) = hubs(&["eu", "us"]);
        let both = [0, 1].map(|at| [(at, reached(&["x"])), (at, shows("a"))]);
        after(&told, both.into_iter().flatten(), &mut hubs).unwrap();
        assert_eq!(hubs.answers().absent().len(), 1);
        let away = HubMessage::News(HubNews::Away("no answer".to_owned()));
        after(&told, [(1, away)], &mut hubs).unwrap();
        assert_eq!(hubs.away().len(), 1);
        assert_eq!(seen(&hubs), ["eu: a", "us: a"]);
        let lost = HubMessage::News(HubNews::Ended(Error::failed("lost")));
        after(&told, [(1, lost)], &mut hubs).unwrap();
        assert_eq!(seen(&hubs), ["eu: a"]);
        assert!(hubs.away().is_empty() && !hubs.is_over());
        assert_eq!(hubs.answers().not_reached.len(), 1);
        let lost = HubMessage::News(HubNews::Ended(Error::failed("lost")));
        after(&told, [(0, lost)], &mut hubs).unwrap();
        assert!(hubs.is_over());
    }

    #[test]
    fn a_name_that_no_hub_has_and_a_signal_end_all() {
        let missing = || failed(Error::not_found("no x"));
        let (told, mut hubs_here) = hubs(&["eu", "us"]);
        after(&told, [(0, missing())], &mut hubs_here).unwrap();
        let error = after(&told, [(1, missing())], &mut hubs_here).unwrap_err();
        assert_eq!(error.exit, Exit::NotFound);
        assert!(error.message.contains("eu and us"), "{}", error.message);

        let (told, mut hubs_here) = hubs(&["eu", "us"]);
        let signal = HubMessage::News(HubNews::Interrupted);
        let news = after(&told, [(0, signal), (1, missing())], &mut hubs_here).unwrap();
        assert_eq!(news, FollowNews::Interrupted);

        // Whoever is not waited for any longer was not reached.
        let (told, mut hubs_here) = hubs(&["eu", "us"]);
        after(&told, [(0, reached(&[])), (0, shows("a"))], &mut hubs_here).unwrap();
        let limit = Duration::from_secs(4);
        hubs_here.give_up(limit, &mut Ui::silent()).unwrap();
        let says = hubs_here.answers().not_reached[0].says();
        assert!(
            says.contains("us: no answer within --timeout (4s)"),
            "{says}"
        );
    }
}
