//! Several hubs, asked at the same time: none of them waits for another, and one that does not answer
//! is a line of the answer.

mod followed_hubs;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::gather::argument::ArgumentKind;
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::reading::{InputArgs, SourceReading, says_what, variable};
use crate::commands::gather::runs;
use crate::commands::gather::session::Session;
use crate::commands::output::{Format, Output};
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{
    ConnectionFlags, Hub, HubError, RequestTraffic, SharedSignals, TimeLimit, contexts,
};
use crate::kubefleet::Kind;
use crate::kubefleet::object::KeptObjects;
use crate::render::wrap;
use crate::report::{NotChecked, TypeMeta};
use crate::ui::{ProgressBars, Ui};
use crate::words::{Hint, closest, enumerate};
pub(in crate::commands) use followed_hubs::{
    FollowCall, FollowNews, FollowedHubs, FollowedReading, FollowsHub, HubNews,
};

/// How many hubs are asked at once.
const AT_ONCE: usize = 32;
/// How many names are listed that are left out.
const NAMED: usize = 5;

/// Which hubs are asked, where it is more than one.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several hubs")]
pub struct ContextsArgs {
    /// Ask these hubs at the same time: kubeconfig contexts, or hub groups of the settings file,
    /// separated by commas; repeatable
    #[arg(long = "contexts", value_name = "NAME[,NAME...]")]
    #[arg(add = ArgumentKind::Hubs)]
    hub_contexts: Vec<String>,
    /// Ask all hubs that the kubeconfig has a context for; contexts of other clusters are left out
    #[arg(long, conflicts_with = "hub_contexts")]
    all_contexts: bool,
}

/// The same, and how long that may take.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several hubs")]
pub struct HubsArgs {
    #[command(flatten)]
    pub contexts: ContextsArgs,
    /// With several hubs: how long to wait for each of them [default: no limit but that of each
    /// request]
    #[arg(long, value_name = "DURATION", value_parser = crate::commands::duration)]
    timeout: Option<Duration>,
}

impl HubsArgs {
    /// Refuses a limit for the whole answer of a hub that is followed.
    pub fn check_watch(&self) -> Result<(), Error> {
        if self.timeout.is_some() {
            let error = Error::usage("--timeout cannot be used with --watch, which has no end");
            return Err(error.hint("limit each request with --request-timeout"));
        }
        Ok(())
    }
}

impl ContextsArgs {
    /// Whether the answer is that of several hubs, however many they are.
    pub const fn is_several(&self) -> bool {
        self.all_contexts || !self.hub_contexts.is_empty()
    }

    /// Refuses a name that has to be chosen, or that means something else on each hub.
    fn check_name(&self, word: Option<&str>, global: &GlobalFlags) -> Result<(), Error> {
        if !self.is_several() {
            return Ok(());
        }
        let Some(word) = word else {
            return Err(Error::usage(
                "with several hubs, set the name of an update run or placement",
            ));
        };
        let kind = word
            .split_once('/')
            .and_then(|(kind, _)| Kind::from_word(kind));
        if kind.is_some_and(Kind::is_namespaced) && global.namespace.is_none() {
            return Err(Error::usage(format!(
                "with several hubs, {word} needs -n: each context may have another namespace"
            )));
        }
        Ok(())
    }

    /// The same for several names.
    pub fn check_names(&self, words: &[String], global: &GlobalFlags) -> Result<(), Error> {
        if words.is_empty() {
            return self.check_name(None, global);
        }
        let mut words = words.iter();
        words.try_for_each(|word| self.check_name(Some(word), global))
    }

    /// Refuses what a list of several hubs cannot be, or be about.
    pub fn check_list(
        &self,
        output: &Output,
        names: &[String],
        global: &GlobalFlags,
    ) -> Result<(), Error> {
        if !names.is_empty() {
            self.check_names(names, global)?;
        }
        let is_names = output.format() == Format::Name;
        self.refuse_if(
            is_names,
            "-o name",
            "names do not tell the hub; use -o json",
        )
    }

    /// Refuses what cannot be used with several hubs, where it is.
    pub fn refuse_if(&self, is_used: bool, what: &str, why: &str) -> Result<(), Error> {
        if is_used && self.is_several() {
            return Err(Error::usage(format!(
                "{what} cannot be used with several hubs: {why}"
            )));
        }
        Ok(())
    }
}

pub struct HubAnswers<T> {
    pub hubs: Vec<HubAnswer<T>>,
    pub not_reached: Vec<NotReached>,
    is_several: bool,
    /// The names beside others that no hub has.
    absent: Vec<Error>,
}

#[derive(Clone)]
pub struct HubAnswer<T> {
    pub hub: Option<String>,
    pub found: T,
}

#[derive(Clone)]
pub struct HubRows<R> {
    pub rows: Vec<R>,
    /// The moment for which they are judged.
    pub now: Timestamp,
    /// The kinds that could not be listed in full, and why.
    pub gaps: Vec<NotChecked>,
    /// That there is no row.
    pub none: Option<String>,
    /// Whether rows may be of several namespaces.
    pub is_everywhere: bool,
}

pub struct AllRows<R> {
    /// The rows, each with the context of its hub where several were asked.
    pub rows: Vec<(Option<String>, R)>,
    pub gaps: Vec<HubGap>,
    pub is_everywhere: bool,
    /// The moments for which they are judged.
    pub now: HubMoments,
}

/// What time it is on each hub: no two clocks agree.
#[derive(Debug, Clone, Default)]
pub struct HubMoments(BTreeMap<Option<String>, Timestamp>);

impl HubMoments {
    /// The time of a hub whose rows were read.
    pub fn on(&self, hub: &Option<String>) -> Timestamp {
        self.0.get(hub).copied().unwrap_or(Timestamp::MIN)
    }
}

impl<R> AllRows<R> {
    /// Puts the rows of hubs together.
    pub fn of(hubs: impl IntoIterator<Item = HubAnswer<HubRows<R>>>) -> Self {
        let mut all = Self {
            rows: Vec::new(),
            gaps: Vec::new(),
            is_everywhere: false,
            now: HubMoments::default(),
        };
        for HubAnswer { hub, found } in hubs {
            let gaps = found.gaps.into_iter().map(|gap| HubGap {
                hub: hub.clone(),
                gap,
            });
            all.gaps.extend(gaps);
            let rows = found.rows.into_iter();
            all.rows.extend(rows.map(|row| (hub.clone(), row)));
            all.is_everywhere |= found.is_everywhere;
            all.now.0.insert(hub, found.now);
        }
        all
    }

    /// What could not be listed, each with its hub.
    pub fn named_gaps(&self) -> Vec<NotChecked> {
        let named = self.gaps.iter().map(|HubGap { hub, gap }| match hub {
            Some(hub) => NotChecked {
                what: format!("{hub}: {}", gap.what),
                ..gap.clone()
            },
            None => gap.clone(),
        });
        named.collect()
    }
}

/// A hub that did not answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NotReached {
    /// Its context.
    hub: String,
    /// Why it did not answer.
    why: String,
    #[serde(skip)]
    hint: Option<Hint>,
}

/// Something that could not be checked, and on which hub.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubGap {
    /// The context of the hub; absent if only one hub was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    hub: Option<String>,
    #[serde(flatten)]
    gap: NotChecked,
}

/// The answers of several hubs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}List")]
pub struct HubList<T> {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The answers, by hub in the order in which the hubs were named.
    items: Vec<T>,
    /// The hubs that did not answer, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_reached: Vec<NotReached>,
}

impl NotReached {
    fn new(hub: String, error: Error) -> Self {
        Self {
            why: error.message,
            hint: error.hint.map(|hint| hint.on_hub(&hub)),
            hub,
        }
    }

    /// That it was not reached, and why.
    pub fn says(&self) -> String {
        format!("not reached: {}: {}", self.hub, self.why)
    }
}

impl<T> HubList<T> {
    pub fn new(kind: &str, items: Vec<T>, not_reached: &[NotReached]) -> Self {
        Self {
            meta: TypeMeta::new(format!("{kind}List")),
            items,
            not_reached: not_reached.to_vec(),
        }
    }
}

impl<T> HubAnswers<T> {
    /// Before anything was answered.
    const fn none(is_several: bool) -> Self {
        Self {
            hubs: Vec::new(),
            not_reached: Vec::new(),
            is_several,
            absent: Vec::new(),
        }
    }

    /// What one hub answered, or what files say.
    pub fn alone(found: T, mut reading: SourceReading) -> Self {
        let absent = reading.take_absent().into_iter();
        Self {
            hubs: vec![HubAnswer { hub: None, found }],
            absent: absent.map(|(_, error)| error).collect(),
            ..Self::none(false)
        }
    }

    pub fn take(self) -> (HubAnswers<()>, Vec<HubAnswer<T>>) {
        let asked = self.hubs.iter().map(|answer| HubAnswer {
            hub: answer.hub.clone(),
            found: (),
        });
        let rest = HubAnswers {
            hubs: asked.collect(),
            not_reached: self.not_reached,
            is_several: self.is_several,
            absent: self.absent,
        };
        (rest, self.hubs)
    }

    /// Whether several hubs were asked, so that each thing is told with its own.
    pub const fn is_several(&self) -> bool {
        self.is_several
    }

    /// The names that no hub has, and why.
    pub fn absent(&self) -> &[Error] {
        &self.absent
    }

    /// The exit code, where the hubs that answered give this one.
    pub fn exit(&self, own: Exit) -> Exit {
        let missing = self.not_reached.iter().map(|_| Exit::Incomplete);
        let absent = self.absent.iter().map(|error| error.exit);
        Exit::worst(missing.chain(absent).chain([own]))
    }

    /// Says what is not there and which hubs did not answer, and what to do.
    pub fn tell(&self, ui: &mut Ui) {
        tell_missing(&self.absent, &self.not_reached, ui);
    }
}

/// Says what is not there and which hubs did not answer, and what to do.
fn tell_missing(absent: &[Error], not_reached: &[NotReached], ui: &mut Ui) {
    for error in absent {
        ui.warning(&error.message);
        if let Some(hint) = &error.hint {
            ui.hint(hint);
        }
    }
    for hub in not_reached {
        ui.warning(&hub.says());
    }
    let mut told: Vec<&Hint> = Vec::new();
    for hint in not_reached.iter().filter_map(|it| it.hint.as_ref()) {
        if !told.contains(&hint) {
            told.push(hint);
            ui.hint(hint);
        }
    }
}

impl<R> HubAnswers<HubRows<R>> {
    /// Puts the rows of all hubs together, and says what is missing among them.
    pub fn listed(self, ui: &mut Ui) -> (HubAnswers<()>, AllRows<R>) {
        let (answers, found) = self.take();
        let none = found.iter().filter_map(HubAnswer::says_none);
        let none: Vec<_> = none.collect();
        let all = AllRows::of(found);
        runs::warn(&all.named_gaps(), ui);
        for none in none {
            ui.status(&none);
        }
        (answers, all)
    }
}

impl<T> HubAnswer<T> {
    pub fn says(&self, sentence: &str) -> String {
        match &self.hub {
            Some(hub) => format!("{hub}: {sentence}"),
            None => sentence.to_owned(),
        }
    }
}

impl<R> HubAnswer<HubRows<R>> {
    /// That it has no row.
    pub fn says_none(&self) -> Option<String> {
        self.found.none.as_ref().map(|none| self.says(none))
    }
}

impl Session<'_> {
    /// Asks the hub, the files, or each of several hubs. `command` is the one that hints name;
    /// without `input`, nothing is taken from an earlier call.
    pub fn ask<T: Send>(
        &mut self,
        of: &HubsArgs,
        input: Option<&InputArgs>,
        command: &'static str,
        ask: impl Fn(&mut SourceReading, &mut Ui) -> Result<T, Error> + Sync,
    ) -> Result<HubAnswers<T>, Error> {
        if !of.contexts.is_several() {
            if of.timeout.is_some() {
                let error = Error::usage("--timeout needs --contexts or --all-contexts");
                return Err(error.hint("for one hub, set --request-timeout"));
            }
            let mut reading = match input {
                Some(input) => self.open_keeping(KeptObjects::CONTENT, input, command)?,
                None => self.open_within(None, command)?,
            };
            let found = ask(&mut reading, self.ui)?;
            return Ok(HubAnswers::alone(found, reading));
        }
        check_input(input)?;
        let names = chosen(&of.contexts, self)?;
        let asking = HubsAsking::new(self, input, of.timeout, command);
        asking.together.listen();
        let asked = at_once(&names, |name| asking.one(name, &ask));
        let mut answers = HubAnswers::none(true);
        answers.gather(asked, of.contexts.all_contexts, self.ui)?;
        Ok(answers)
    }
}

impl<T> HubAnswers<T> {
    fn gather(
        &mut self,
        asked: Vec<(String, Result<HubTold<T>, AskError>)>,
        all_contexts: bool,
        ui: &mut Ui,
    ) -> Result<(), Error> {
        let (mut others, mut absent) = (Vec::new(), Vec::new());
        let mut words: BTreeMap<String, Vec<(String, Error)>> = BTreeMap::new();
        for (hub, told) in asked {
            match told {
                Ok(told) => {
                    let found = told.found;
                    ui.count(HubTraffic(hub.clone(), told.traffic));
                    for (word, error) in told.absent {
                        words.entry(word).or_default().push((hub.clone(), error));
                    }
                    let hub = Some(hub);
                    self.hubs.push(HubAnswer { hub, found });
                }
                Err(AskError::NoHub(_)) if all_contexts => others.push(hub),
                Err(AskError::NoHub(error) | AskError::Other(error)) => match error.exit {
                    Exit::Usage | Exit::Interrupted => return Err(error.on_hub(&hub)),
                    Exit::NotFound => absent.push((hub.clone(), error.on_hub(&hub))),
                    _ => self.not_reached.push(NotReached::new(hub, error)),
                },
            }
        }
        if !others.is_empty() {
            let others = wrap::list(&others, NAMED);
            let text = format!("left out, because they are not KubeFleet hubs: {others}");
            ui.status(&text);
        }
        for (word, absent_there) in words {
            let hubs: Vec<_> = absent_there.iter().map(|(hub, _)| hub.clone()).collect();
            if hubs.len() == self.hubs.len() {
                let first = absent_there.into_iter().next();
                self.absent.extend(first.map(|(_, error)| error));
            } else {
                let text = format!("{word} is not found on {}", enumerate(&hubs));
                ui.status(&text);
            }
        }
        let where_not: Vec<_> = absent.iter().map(|(hub, _)| hub.clone()).collect();
        let answered = !(self.hubs.is_empty() && self.not_reached.is_empty());
        match absent.into_iter().next() {
            Some((_, first)) if !answered && where_not.len() == 1 => Err(first),
            Some((_, first)) if !answered => Err(Error {
                message: format!(
                    "not found on any of the hubs {}; {}",
                    enumerate(&where_not),
                    first.message
                ),
                ..first
            }),
            None if !answered => Err(Error::failed(
                "no context of the kubeconfig leads to a KubeFleet hub",
            )),
            Some(_) => {
                let text = format!("not found on {}", enumerate(&where_not));
                ui.status(&text);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Refuses files beside hubs.
fn check_input(input: Option<&InputArgs>) -> Result<(), Error> {
    if input.is_some_and(|input| !input.files.is_empty()) {
        return Err(Error::usage(
            "--contexts and --all-contexts ask hubs: they cannot be used with -f",
        ));
    }
    Ok(())
}

struct HubsAsking {
    global: GlobalFlags,
    command: &'static str,
    remembers: bool,
    limit: Option<Duration>,
    now: Option<Timestamp>,
    clock: fn() -> Timestamp,
    together: SharedSignals,
    progress: ProgressBars,
}

struct HubTold<T> {
    found: T,
    traffic: RequestTraffic,
    absent: Vec<(String, Error)>,
}

/// Why a hub told nothing.
enum AskError {
    NoHub(Error),
    Other(Error),
}

impl From<HubError> for AskError {
    fn from(error: HubError) -> Self {
        match error {
            HubError::NotAHub(_) | HubError::OtherEngine(..) => Self::NoHub(error.into()),
            error => Self::Other(error.into()),
        }
    }
}

impl HubsAsking {
    fn new(
        session: &Session<'_>,
        input: Option<&InputArgs>,
        limit: Option<Duration>,
        command: &'static str,
    ) -> Self {
        Self {
            global: session.global.clone(),
            command,
            remembers: input.is_some(),
            limit: limit.filter(|limit| !limit.is_zero()),
            now: input.and_then(|input| input.now),
            clock: session.clock,
            together: SharedSignals::default(),
            progress: session.ui.progress(),
        }
    }

    fn one<T>(
        &self,
        context: &str,
        ask: impl Fn(&mut SourceReading, &mut Ui) -> Result<T, Error>,
    ) -> Result<HubTold<T>, AskError> {
        let (mut reading, traffic) = self.open(context)?;
        let found = ask(&mut reading, &mut Ui::silent()).map_err(AskError::Other)?;
        Ok(HubTold {
            found,
            traffic,
            absent: reading.take_absent(),
        })
    }

    fn open(&self, context: &str) -> Result<(SourceReading, RequestTraffic), AskError> {
        let global = GlobalFlags {
            context: Some(context.to_owned()),
            ..self.global.clone()
        };
        let flags = ConnectionFlags {
            remembers: self.remembers,
            together: self.together.clone(),
            // Several at once cannot ask a user.
            ..global.connection(false)
        };
        let end = self.limit.map(TimeLimit::after);
        let on_wait = says_what(self.progress.clone(), &format!("{context}: "));
        let hub = Hub::connect(&flags, global.limit(), end, &variable, on_wait)?;
        let traffic = hub.traffic();
        let mut reading = SourceReading::of_hub(hub, self.now, &global, self.command, self.clock);
        reading.one_of_several = Some(context.to_owned());
        Ok((reading, traffic))
    }
}

/// Does something for each name, of many at once, and returns what came of it in the names' order.
fn at_once<T: Send>(names: &[String], each: impl Fn(&str) -> T + Sync) -> Vec<(String, T)> {
    let next = AtomicUsize::new(0);
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        for _ in 0..names.len().min(AT_ONCE) {
            let (tell, next, each) = (tell.clone(), &next, &each);
            scope.spawn(move || {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(name) = names.get(at)
                {
                    // Whoever asked waits for all.
                    let _ = tell.send((at, name.clone(), each(name)));
                }
            });
        }
    });
    drop(tell);
    let mut all: Vec<_> = told.into_iter().collect();
    all.sort_by_key(|(at, ..)| *at);
    all.into_iter()
        .map(|(_, name, told)| (name, told))
        .collect()
}

struct HubTraffic(String, RequestTraffic);

impl fmt::Display for HubTraffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(hub, traffic) = self;
        write!(f, "{traffic} ({hub})")
    }
}

/// The contexts that are asked: each once, and of those that lead to the same hub as the same user
/// the first alone.
fn chosen(of: &ContextsArgs, session: &mut Session<'_>) -> Result<Vec<String>, Error> {
    let known = contexts(&session.global.connection(false), &variable)?;
    let groups = &session.settings.settings.hub_groups;
    let has = |name: &str| known.iter().any(|(known, _)| known == name);
    let mut names: Vec<String> = Vec::new();
    if of.all_contexts {
        names.extend(known.iter().map(|(name, _)| name.clone()));
        names.sort();
    }
    let words = of.hub_contexts.iter().flat_map(|words| words.split(','));
    for word in words.map(str::trim) {
        match (has(word), groups.get(word)) {
            _ if word.is_empty() => {
                return Err(Error::usage("--contexts has an empty name"));
            }
            (true, None) => names.push(word.to_owned()),
            (true, Some(_)) => {
                let error = Error::usage(format!(
                    "{word:?} is both a context of the kubeconfig and a hub group"
                ));
                return Err(error.hint("rename the group in the settings file"));
            }
            (false, Some(group)) => {
                if let Some(missing) = group.iter().find(|name| !has(name)) {
                    let what = format!("the hub group {word:?} contains {missing:?}");
                    let known = known.iter().map(|(name, _)| name.as_str());
                    return Err(unknown(&what, missing, known.collect()));
                }
                names.extend(group.iter().cloned());
            }
            (false, None) => {
                let known = known.iter().map(|(name, _)| name.as_str());
                let all = known.chain(groups.keys().map(String::as_str)).collect();
                return Err(unknown("--contexts", word, all));
            }
        }
    }
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        let place = |name: &String| {
            let known = known.iter().find(|(known, _)| known == name);
            known.and_then(|(_, place)| place.clone())
        };
        let own = place(&name);
        let alike = |other: &&String| **other == name || own.is_some() && place(other) == own;
        match kept.iter().find(alike) {
            Some(first) if *first == name => {}
            Some(first) => session.ui.status(&format!(
                "{name} is left out, because it leads to the same hub and user as {first}"
            )),
            None => kept.push(name),
        }
    }
    if kept.is_empty() {
        return Err(Error::usage(match of.hub_contexts.as_slice() {
            [] => "the kubeconfig has no contexts".to_owned(),
            words => format!("the hub group {} is empty", enumerate(words)),
        }));
    }
    Ok(kept)
}

/// That there is no such context.
fn unknown(what: &str, name: &str, known: Vec<&str>) -> Error {
    let error = Error::usage(format!("{what}: the kubeconfig has no context {name:?}"));
    match closest(name, known.iter().copied()) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None if known.is_empty() => error.hint("set a kubeconfig with --kubeconfig or KUBECONFIG"),
        None => error.hint(format!("use {}", enumerate(known))),
    }
}
