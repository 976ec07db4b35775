//! Where a command reads: the files that were given with `-f`, or the hub.

mod input;
mod listing;
mod live;
mod walking;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;

use crate::bundle::Bundle;
use crate::change::record::{ChangeRecord, ToldChange};
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::names;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{CommandClock, ConnectionFlags, Hub, HubError, Mirror, OnWait, TimeLimit};
use crate::inventory::SharedSurroundings;
use crate::inventory::source::{
    HubQuery, ObjectSource, ObjectTexts, Outcome, QueryAnswer, QueryRound,
};
use crate::kubefleet::object::Object;
use crate::kubefleet::{ObjectRef, Scope};
use crate::member::{MemberErrand, MemberObservation};
use crate::ui::{ProgressBars, Ui};
use crate::words::{CommandLine, distinct};
pub use input::InputArgs;

/// The objects that a command looks at, wherever they are.
pub struct SourceReading {
    pub(super) place: ReadingPlace,
    namespace: Option<String>,
    /// The moment for which everything is judged.
    pub now: Timestamp,
    /// The clock, for what goes on.
    pub clock: CommandClock,
    /// Whether the user named the moment.
    is_dated: bool,
    /// Whether `now` is the hub's time, or the one that was named.
    is_timed: bool,
    /// The files from which the same objects are read again.
    pub(super) again: Vec<String>,
    pub(super) command: &'static str,
    /// The objects that were asked for and stood in the files more than once, and how often.
    doubtful: Vec<(ObjectRef, usize)>,
    /// The names beside others that mean nothing here, and why.
    pub(super) absent: Vec<(String, Error)>,
    /// The hub's context where other hubs are asked too: one that denies what is asked about has not
    /// answered.
    pub(super) one_of_several: Option<String>,
    /// What is around the placements of the targets so far.
    pub(super) shared: SharedSurroundings,
    /// What a command that writes has done so far.
    pub record: ChangeRecord,
    mirror: Option<Mirror>,
    /// When what is not followed was read.
    read_at: Instant,
}

pub(super) enum ReadingPlace {
    Files(Box<Bundle>),
    Hub(Box<Hub>),
}

/// Connects to the hub that the flags and the kubeconfig name; at `end` nothing is waited for any
/// more.
pub fn connect(
    global: &GlobalFlags,
    remembers: bool,
    end: Option<TimeLimit>,
    ui: &mut Ui,
) -> Result<Hub, Error> {
    let flags = ConnectionFlags {
        remembers,
        ..global.connection(ui.has_terminal_input())
    };
    let on_wait = says_what(ui.progress(), "");
    let hub = Hub::connect(&flags, global.limit(), end, &variable, on_wait)?;
    ui.count(hub.traffic());
    Ok(hub)
}

/// Says what is waited for; `whose` hub, where there are several.
pub(super) fn says_what(progress: ProgressBars, whose: &str) -> OnWait {
    let lead = format!("{whose}reading");
    Arc::new(move |what: Option<&str>| match what {
        Some(what) => progress.say(&format!("{lead} {what}")),
        None => progress.hush(),
    })
}

pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

impl SourceReading {
    /// A hub, judged for this moment, or for now.
    pub(super) fn of_hub(
        hub: Hub,
        now: Option<Timestamp>,
        global: &GlobalFlags,
        command: &'static str,
        clock: fn() -> Timestamp,
    ) -> Self {
        let clock = hub.clock(clock);
        let place = ReadingPlace::Hub(Box::new(hub));
        let moment = now.unwrap_or_else(|| clock.now());
        Self {
            is_dated: now.is_some(),
            is_timed: now.is_some() || clock.is_the_hubs(),
            ..Self::new(place, moment, global, command, clock)
        }
    }

    /// What files hold, judged for the moment that was named, or in which they were true.
    pub(super) fn of_files(
        bundle: Bundle,
        input: &InputArgs,
        global: &GlobalFlags,
        command: &'static str,
        clock: fn() -> Timestamp,
    ) -> Self {
        let now = input
            .now
            .or(bundle.collected_at)
            .or_else(|| bundle.newest_timestamp())
            .unwrap_or_else(clock);
        let files = input.files.iter();
        let again = files.map(|path| path.to_string_lossy().into_owned());
        let again = again.collect();
        let place = ReadingPlace::Files(Box::new(bundle));
        Self {
            again,
            ..Self::new(place, now, global, command, CommandClock::ours(clock))
        }
    }

    fn new(
        place: ReadingPlace,
        now: Timestamp,
        global: &GlobalFlags,
        command: &'static str,
        clock: CommandClock,
    ) -> Self {
        Self {
            place,
            namespace: global.namespace.clone(),
            now,
            clock,
            is_dated: true,
            is_timed: true,
            again: Vec::new(),
            command,
            doubtful: Vec::new(),
            absent: Vec::new(),
            one_of_several: None,
            shared: SharedSurroundings::default(),
            record: ChangeRecord::default(),
            mirror: None,
            read_at: Instant::now(),
        }
    }

    pub const fn place(&self) -> &'static str {
        match self.place {
            ReadingPlace::Files(_) => "the input",
            ReadingPlace::Hub(_) => "the hub",
        }
    }

    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The scope of a name that does not say it.
    pub fn scope(&self) -> Scope {
        Scope::of_namespace(self.namespace().unwrap_or_default())
    }

    pub const fn is_offline(&self) -> bool {
        matches!(self.place, ReadingPlace::Files(_))
    }

    pub const fn command(&self) -> &'static str {
        self.command
    }

    /// A command that reads in the same place.
    pub fn again(&self, command: CommandLine) -> CommandLine {
        names::again(command, &self.again)
    }

    pub fn hub(&mut self) -> Option<&mut Hub> {
        match &mut self.place {
            ReadingPlace::Hub(hub) => Some(hub),
            ReadingPlace::Files(_) => None,
        }
    }

    pub fn ask(&mut self, query: &HubQuery) -> QueryAnswer {
        self.answer(std::slice::from_ref(query))
            .pop()
            .unwrap_or(QueryAnswer::none(Outcome::NotCollected))
    }

    /// The answers to several questions at once.
    pub fn answer_with_texts(&mut self, queries: &[HubQuery]) -> (Vec<QueryAnswer>, ObjectTexts) {
        let answered = match &mut self.place {
            ReadingPlace::Hub(hub) => hub.answer_with_texts(queries),
            ReadingPlace::Files(bundle) => bundle.answer_with_texts(queries),
        };
        self.take_time();
        answered
    }

    /// Whether the user wants the command to end.
    pub fn is_interrupted(&self) -> bool {
        match &self.place {
            ReadingPlace::Hub(hub) => {
                let mirror = self.mirror.as_ref();
                hub.is_interrupted() || mirror.is_some_and(Mirror::is_interrupted)
            }
            ReadingPlace::Files(_) => false,
        }
    }

    /// Whether there is anything to be seen of member clusters.
    pub(super) fn sees_members(&self) -> bool {
        match &self.place {
            ReadingPlace::Hub(hub) => hub.sees_members(),
            ReadingPlace::Files(bundle) => !bundle.looks.is_empty(),
        }
    }

    /// Fails when the connection itself is gone.
    pub fn no_hub(&self) -> Result<(), Error> {
        match &self.place {
            ReadingPlace::Hub(hub) => match self.lost().or_else(|| hub.lost()) {
                // Only a command that writes gets as far as this.
                Some(HubError::Interrupted) => Err(self.interrupted()),
                Some(error) => Err(error.clone().into()),
                None => Ok(()),
            },
            ReadingPlace::Files(_) => Ok(()),
        }
    }

    /// That the user ended a command that writes, and what it has done.
    fn interrupted(&self) -> Error {
        let what = if self.record.is_empty() {
            "nothing was sent".to_owned()
        } else {
            self.record.steps().join("; ")
        };
        Error::new(Exit::Interrupted, format!("interrupted: {what}")).telling(ToldChange::All)
    }

    /// The moment for which everything is judged, once something was read.
    pub(super) fn moment(&self) -> impl FnMut() -> Timestamp + use<> {
        let mut known = self.is_timed.then_some(self.now);
        let clock = self.clock.clone();
        move || *known.get_or_insert_with(|| clock.now())
    }

    /// Takes the hub's time once its first answer has told it.
    pub(super) fn take_time(&mut self) {
        if !self.is_timed && self.clock.is_the_hubs() {
            self.is_timed = true;
            self.now = self.clock.now();
        }
    }

    /// That something is not done, and what was sent until then.
    pub fn refused(&self, why: impl Display) -> Error {
        Error::failed(format!("{why}; {}", self.record.nothing("sent")))
    }

    /// Forgets what was read from a hub, so that it is read again.
    pub fn forget(&mut self) {
        if let Some(hub) = self.hub() {
            hub.forget();
        }
    }

    /// Looks at a hub again as it is now: a person took time over what was shown.
    pub fn renew(&mut self) {
        if self.hub().is_some() {
            self.forget();
            if !self.is_dated {
                self.now = self.clock.now();
            }
        }
    }

    /// The names beside others that mean nothing here, and why.
    pub fn take_absent(&mut self) -> Vec<(String, Error)> {
        std::mem::take(&mut self.absent)
    }

    /// The objects that were asked for and that the files hold in several versions.
    pub fn take_doubtful(&mut self) -> Vec<(ObjectRef, usize)> {
        distinct(std::mem::take(&mut self.doubtful))
    }
}

impl ObjectSource for SourceReading {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        self.answer_around(queries, None)
    }

    fn answer_around(&mut self, queries: &[HubQuery], placement: Option<&str>) -> Vec<QueryAnswer> {
        if let Some(mirror) = self.mirror(queries) {
            let answers = mirror.answer(queries);
            self.take_time();
            return answers;
        }
        let answers = match &mut self.place {
            ReadingPlace::Hub(hub) => hub.answer_around(queries, placement),
            ReadingPlace::Files(bundle) => {
                let answers = bundle.answer_around(queries, placement);
                if !bundle.duplicates.is_empty() {
                    let objects = answers.iter().flat_map(|answer| answer.objects.iter());
                    let names: Vec<_> = objects.map(Object::reference).collect();
                    let seen = |(object, _): &&(ObjectRef, usize)| names.contains(object);
                    let doubtful = bundle.duplicates.iter().filter(seen).cloned();
                    self.doubtful.extend(doubtful);
                }
                answers
            }
        };
        self.take_time();
        answers
    }

    fn answer_many(&mut self, rounds: &[QueryRound]) -> Vec<Vec<QueryAnswer>> {
        let answers = match &mut self.place {
            ReadingPlace::Hub(hub) => hub.answer_many(rounds),
            ReadingPlace::Files(_) => rounds
                .iter()
                .map(|round| self.answer_around(&round.queries, round.placement.as_deref()))
                .collect(),
        };
        self.take_time();
        answers
    }

    fn texts(&mut self, queries: &[HubQuery]) -> ObjectTexts {
        if queries.is_empty() {
            return ObjectTexts::new();
        }
        self.answer_with_texts(queries).1
    }

    fn look(&mut self, errands: &[MemberErrand]) -> BTreeMap<String, MemberObservation> {
        match &mut self.place {
            ReadingPlace::Hub(hub) => hub.look(errands),
            ReadingPlace::Files(bundle) => bundle.look(errands),
        }
    }
}
