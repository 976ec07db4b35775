//! Where a command reads: the files that were given with `-f`, or the hub.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use jiff::Timestamp;

use crate::bundle::{self, Bundle};
use crate::change::record::{Record, Told};
use crate::commands::open::global::Global;
use crate::commands::open::names;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{Flags, Hub, HubError, Mirror, News, OnWait, TimeLimit};
use crate::inventory::source::{Answer, HubFacts, HubQuery, Outcome, Round, Source, Texts, Which};
use crate::inventory::{Inventory, Shared, Walk};
use crate::kubefleet::object::{Body, Object};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};
use crate::member::{Errand, Observation};
use crate::rollout;
use crate::ui::{ProgressBars, Ui};
use crate::words::{CommandLine, Hint};

/// What a command reads instead of the hub.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Read objects from a file, a directory, or standard input (-) instead of the hub; repeatable
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Limit for the size of all files together, unpacked: bytes, or a quantity such as 1Gi
    /// [default: 256Mi]
    #[arg(long, value_name = "SIZE", value_parser = bundle::parse_size)]
    pub max_input: Option<u64>,
    /// Evaluate as of this time, in RFC 3339 format [default: the current time; with -f the time of
    /// collection, else the newest time in the files]
    #[arg(long, value_name = "TIME")]
    pub now: Option<Timestamp>,
}

impl InputArgs {
    /// The same where files were given, else what the outer command was given.
    #[must_use]
    pub fn or(&self, outer: &Self) -> Self {
        if self.files.is_empty() {
            outer.clone()
        } else {
            self.clone()
        }
    }
}

impl InputArgs {
    /// How much may be read.
    pub fn limits(&self) -> bundle::Limits {
        self.max_input
            .map_or_else(bundle::Limits::default, bundle::Limits::new)
    }
}

/// The objects that a command looks at, wherever they are.
pub struct Reading {
    pub(super) place: ReadingPlace,
    /// The moment for which everything is judged.
    pub now: Timestamp,
    /// The clock, for what goes on.
    pub clock: fn() -> Timestamp,
    /// Whether the user named the moment.
    is_dated: bool,
    /// The files from which the same objects are read again.
    pub(super) again: Vec<String>,
    /// The command that hints name.
    pub(super) command: &'static str,
    /// The objects that were asked for and stood in the files more than once, and how often.
    doubtful: Vec<(ObjectRef, usize)>,
    /// The names beside others that mean nothing here, and why.
    pub(super) absent: Vec<(String, Error)>,
    /// The hub's context where other hubs are asked too: one that denies what is asked about has not
    /// answered.
    pub(super) one_of_several: Option<String>,
    /// What is around the placements of the targets so far.
    pub(super) shared: Shared,
    /// What a command that writes has done so far.
    pub record: Record,
    /// What is followed.
    mirror: Option<Mirror>,
    /// When what is not followed was read.
    read_at: Instant,
}

/// For how long what is not followed is taken as it was read.
const FRESH: Duration = Duration::from_secs(5);

pub(super) enum ReadingPlace {
    Files(Box<Bundle>),
    Hub(Box<Hub>),
}

/// Connects to the hub that the flags and the kubeconfig name; at `end` nothing is waited for any
/// more.
pub fn connect(
    global: &Global,
    remembers: bool,
    end: Option<TimeLimit>,
    ui: &mut Ui,
) -> Result<Hub, Error> {
    let flags = Flags {
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

/// How the environment is read.
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

impl Reading {
    /// A hub, judged for this moment, or for now.
    pub(super) fn of_hub(
        hub: Hub,
        now: Option<Timestamp>,
        command: &'static str,
        clock: fn() -> Timestamp,
    ) -> Self {
        Self {
            place: ReadingPlace::Hub(Box::new(hub)),
            now: now.unwrap_or_else(clock),
            clock,
            is_dated: now.is_some(),
            again: Vec::new(),
            command,
            doubtful: Vec::new(),
            absent: Vec::new(),
            one_of_several: None,
            shared: Shared::default(),
            record: Record::default(),
            mirror: None,
            read_at: Instant::now(),
        }
    }

    /// What files hold, judged for the moment that was named, or in which they were true.
    pub(super) fn of_files(
        bundle: Bundle,
        input: &InputArgs,
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
        Self {
            place: ReadingPlace::Files(Box::new(bundle)),
            now,
            clock,
            is_dated: true,
            again: again.collect(),
            command,
            doubtful: Vec::new(),
            absent: Vec::new(),
            one_of_several: None,
            shared: Shared::default(),
            record: Record::default(),
            mirror: None,
            read_at: Instant::now(),
        }
    }

    /// What errors call the place.
    pub const fn place(&self) -> &'static str {
        match self.place {
            ReadingPlace::Files(_) => "the input",
            ReadingPlace::Hub(_) => "the hub",
        }
    }

    /// Whether it is files.
    pub const fn is_offline(&self) -> bool {
        matches!(self.place, ReadingPlace::Files(_))
    }

    /// The command that reads.
    pub const fn command(&self) -> &'static str {
        self.command
    }

    /// A command that reads in the same place.
    pub fn again(&self, command: CommandLine) -> CommandLine {
        names::again(command, &self.again)
    }

    /// The hub, when it is not files.
    pub fn hub(&mut self) -> Option<&mut Hub> {
        match &mut self.place {
            ReadingPlace::Hub(hub) => Some(hub),
            ReadingPlace::Files(_) => None,
        }
    }

    /// One answer to one question.
    pub fn ask(&mut self, query: &HubQuery) -> Answer {
        self.answer(std::slice::from_ref(query))
            .pop()
            .unwrap_or(Answer::none(Outcome::NotCollected))
    }

    /// One answer, and the texts of its objects as JSON.
    pub fn ask_with_texts(&mut self, query: &HubQuery) -> (Answer, Texts) {
        let (mut answers, texts) = self.answer_with_texts(std::slice::from_ref(query));
        let answer = answers.pop();
        (answer.unwrap_or(Answer::none(Outcome::NotCollected)), texts)
    }

    /// The same for several questions at once.
    pub fn answer_with_texts(&mut self, queries: &[HubQuery]) -> (Vec<Answer>, Texts) {
        if let ReadingPlace::Hub(hub) = &mut self.place {
            return hub.answer_with_texts(queries);
        }
        let answers = self.answer(queries);
        let ReadingPlace::Files(bundle) = &self.place else {
            return (answers, Texts::new());
        };
        let objects = answers.iter().flat_map(|answer| answer.objects.iter());
        let texts = objects.map(Object::reference);
        let texts = texts.filter_map(|name| Some((name.clone(), bundle.text(&name)?.to_owned())));
        let texts = texts.collect();
        (answers, texts)
    }

    /// Every run that is wanted of a scope or of all, by scope, namespace and name.
    pub fn every_run(
        &mut self,
        namespace: Option<&str>,
        everywhere: bool,
        wanted: impl Fn(&UpdateRun) -> bool,
    ) -> Result<Vec<ObjectRef>, Error> {
        let scope = Scope::of_namespace(namespace.unwrap_or_default());
        let queries = if everywhere {
            vec![
                HubQuery::all(Kind::ClusterStagedUpdateRun, ""),
                HubQuery::all(Kind::StagedUpdateRun, ""),
            ]
        } else {
            vec![HubQuery::all(
                scope.kind(Concept::UpdateRun),
                scope.namespace(),
            )]
        };
        if let Some(hub) = self.hub() {
            hub.learn_small(&queries);
        }
        let answers = self.answer(&queries);
        self.listed(&queries, &answers)?;
        let mut runs: Vec<_> = answers
            .iter()
            .flat_map(|answer| answer.objects.iter())
            .filter(|object| match &object.body {
                Body::Run(run) => wanted(run),
                _ => false,
            })
            .map(Object::reference)
            .collect();
        runs.sort();
        Ok(runs)
    }

    /// Fails when nothing of what a command lists could be read. Files that do not mention a kind
    /// hold none of it.
    pub fn listed(&self, queries: &[HubQuery], answers: &[Answer]) -> Result<(), Error> {
        self.no_hub()?;
        let unread: Vec<_> = queries
            .iter()
            .zip(answers)
            .filter(|(_, answer)| {
                answer.objects.is_empty()
                    && !matches!(answer.outcome, Outcome::Listed | Outcome::NotCollected)
            })
            .collect();
        let Some((query, answer)) = unread.first() else {
            return Ok(());
        };
        if unread.len() < queries.len() {
            return Ok(());
        }
        let error = self.unlisted(query.kind, &answer.outcome);
        // A role of one namespace is enough for what is in it.
        let is_everywhere = |query: &HubQuery| {
            let is_all = matches!(
                query.which,
                Which::All {
                    namespace: None,
                    ..
                }
            );
            query.kind.is_namespaced() && is_all
        };
        let is_denied = matches!(answer.outcome, Outcome::Denied(_));
        Err(if is_denied && queries.iter().any(is_everywhere) {
            error.also(Hint::new(
                "if your rights are those of one namespace, use -n instead of -A",
            ))
        } else {
            error
        })
    }

    /// That objects of a kind cannot be listed, as the outcome says.
    pub fn unlisted(&self, kind: Kind, outcome: &Outcome) -> Error {
        let gap = outcome.gap().unwrap_or_default();
        let error = Error::failed(format!("{} cannot be listed: {gap}", kind.plural()));
        match outcome {
            Outcome::Denied(_) => {
                let verbs = ["list", "watch"].into_iter();
                let verbs = verbs.take(if self.mirror.is_some() { 2 } else { 1 });
                let can_i = verbs.map(|verb| kind.can_i(verb));
                Error {
                    exit: Exit::Incomplete,
                    ..error
                }
                .hint(Hint::new("check your permission:").commands(can_i))
            }
            Outcome::NotServed => HubError::NotServed(kind).into(),
            _ => error,
        }
    }

    /// Walks around a target and freezes what is known.
    pub fn inventory(&mut self, target: &ObjectRef) -> Result<Inventory, Error> {
        let walk = self.walk_whole(target)?;
        Ok(self.freeze(walk))
    }

    /// Walks around a target until what was read of its run goes together with the rest.
    pub fn walk_whole(&mut self, target: &ObjectRef) -> Result<Walk, Error> {
        let mut walk = self.walk(target);
        if self.is_torn(&walk) {
            // The run went on while it was looked at: what was read of it does not go together
            // with what was read after it. Once more is enough: it goes on every 15 s at most.
            if let Some(hub) = self.hub() {
                hub.forget();
            }
            walk = self.walk(target);
        }
        self.checked(walk, target)
    }

    /// What the state of a target needs, and nothing that would only explain it: fewer requests.
    /// It is not read twice: approvals and bindings that are newer than the run correct the
    /// verdict, they never contradict it.
    pub fn overview(&mut self, target: &ObjectRef) -> Result<Inventory, Error> {
        let mut walk = Walk::shallow(target.clone());
        walk.drive(self);
        self.seen(walk, target)
    }

    /// The same for several targets, which are read together.
    pub fn overviews(&mut self, targets: &[ObjectRef]) -> Result<Vec<Inventory>, Error> {
        let walks = targets.iter().cloned().map(Walk::shallow);
        let mut walks: Vec<_> = walks.collect();
        Walk::drive_all(&mut walks, self);
        let walks = walks.into_iter().zip(targets);
        walks
            .map(|(walk, target)| self.seen(walk, target))
            .collect()
    }

    fn seen(&mut self, walk: Walk, target: &ObjectRef) -> Result<Inventory, Error> {
        let walk = self.checked(walk, target)?;
        let facts = self.hub_facts(walk.run().into_iter());
        Ok(Inventory::new(walk, self.now, facts))
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

    /// Fails when the hub or the target itself could not be read.
    pub(in crate::commands) fn checked(
        &self,
        walk: Walk,
        target: &ObjectRef,
    ) -> Result<Walk, Error> {
        self.no_hub()?;
        if let Some(answer) = walk.answer(&walk.target_query()) {
            self.readable(target, answer)?;
        }
        Ok(walk)
    }

    /// Whether there is anything to be seen of member clusters.
    pub(super) fn sees_members(&self) -> bool {
        match &self.place {
            ReadingPlace::Hub(hub) => hub.sees_members(),
            ReadingPlace::Files(bundle) => !bundle.looks.is_empty(),
        }
    }

    fn walk(&mut self, target: &ObjectRef) -> Walk {
        let mut walk = Walk::new(target.clone());
        walk.drive(self);
        walk
    }

    /// Whether the run changed while a live hub was read.
    fn is_torn(&mut self, walk: &Walk) -> bool {
        let (Some(hub), Some(run)) = (self.hub(), walk.run()) else {
            return false;
        };
        let query = HubQuery::named(run.object().kind, &run.meta.namespace, &run.meta.name);
        let now = hub.version_now(&query);
        now.is_some_and(|now| now != run.meta.resource_version)
    }

    /// What the hub's schema says, where the verdict about one of the runs depends on it.
    pub fn hub_facts<'r>(&mut self, mut runs: impl Iterator<Item = &'r UpdateRun>) -> HubFacts {
        match &mut self.place {
            ReadingPlace::Files(bundle) => bundle.hub.clone(),
            ReadingPlace::Hub(hub) => HubFacts {
                run_states: runs
                    .find(|run| rollout::depends_on_schema(run))
                    .and_then(|run| hub.run_states(run.object().kind).ok()),
            },
        }
    }

    /// Fails when the target itself could not be read, unless that was forbidden: then what else
    /// was read still says something.
    pub(super) fn readable(&self, target: &ObjectRef, answer: &Answer) -> Result<(), Error> {
        match (&self.place, &answer.outcome) {
            (ReadingPlace::Hub(_), Outcome::Failed(why)) if answer.objects.is_empty() => {
                Err(Error::failed(format!("{target} cannot be read: {why}"))
                    .hint("try again, with a longer --request-timeout if needed"))
            }
            _ => Ok(()),
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
        Error {
            exit: Exit::Interrupted,
            ..Error::failed(format!("interrupted: {what}"))
        }
        .telling(Told::All)
    }

    /// From now on runs and approval requests are followed: whoever asks for them gets them as they
    /// are then.
    pub fn follow(&mut self) -> Result<(), Error> {
        let Some(hub) = self.hub() else {
            return Err(Error::usage("cannot follow files: they do not change"));
        };
        self.mirror = Some(Mirror::new(hub.watch([])));
        Ok(())
    }

    /// Waits until something changes that is followed, at most this long.
    pub fn wait(&mut self, limit: Duration) -> News {
        let Some(mirror) = &mut self.mirror else {
            return News::Quiet;
        };
        let news = mirror.wait(limit);
        self.now = (self.clock)();
        if self.read_at.elapsed() >= FRESH {
            self.forget();
            self.read_at = Instant::now();
        }
        news
    }

    /// Why the hub does not answer at the moment.
    pub fn away(&self) -> Option<String> {
        let mirror = self.mirror.as_ref()?;
        mirror.away().map(ToString::to_string)
    }

    /// Why nothing can be followed any more.
    fn lost(&self) -> Option<&HubError> {
        self.mirror.as_ref().and_then(Mirror::lost)
    }

    /// Why a read beside what is followed failed for want of a connection. It may come back.
    pub fn take_lost(&mut self) -> Option<String> {
        if self.lost().is_some() {
            return None;
        }
        let error = self.hub()?.take_lost()?;
        self.forget();
        Some(error.to_string())
    }

    /// What answers the questions, where what they ask about is followed.
    pub(super) fn mirror(&mut self, queries: &[HubQuery]) -> Option<&mut Mirror> {
        let concepts = [Concept::UpdateRun, Concept::ApprovalRequest];
        let mut queries = queries.iter();
        let followed = queries.all(|query| concepts.contains(&query.kind.concept()));
        self.mirror.as_mut().filter(|_| followed)
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
                self.now = (self.clock)();
            }
        }
    }

    /// The names beside others that mean nothing here, and why.
    pub fn take_absent(&mut self) -> Vec<(String, Error)> {
        std::mem::take(&mut self.absent)
    }

    /// The objects that were asked for and that the files hold in several versions.
    pub fn take_doubtful(&mut self) -> Vec<(ObjectRef, usize)> {
        let mut doubtful = std::mem::take(&mut self.doubtful);
        doubtful.sort();
        doubtful.dedup();
        doubtful
    }
}

impl Source for Reading {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<Answer> {
        self.answer_around(queries, None)
    }

    fn answer_around(&mut self, queries: &[HubQuery], placement: Option<&str>) -> Vec<Answer> {
        if let Some(mirror) = self.mirror(queries) {
            return mirror.answer(queries);
        }
        match &mut self.place {
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
        }
    }

    fn answer_many(&mut self, rounds: &[Round]) -> Vec<Vec<Answer>> {
        match &mut self.place {
            ReadingPlace::Hub(hub) => hub.answer_many(rounds),
            ReadingPlace::Files(_) => rounds
                .iter()
                .map(|round| self.answer_around(&round.queries, round.placement.as_deref()))
                .collect(),
        }
    }

    fn texts(&mut self, queries: &[HubQuery]) -> Texts {
        if queries.is_empty() {
            return Texts::new();
        }
        self.answer_with_texts(queries).1
    }

    fn look(&mut self, errands: &[Errand]) -> BTreeMap<String, Observation> {
        match &mut self.place {
            ReadingPlace::Hub(hub) => hub.look(errands),
            ReadingPlace::Files(bundle) => bundle.look(errands),
        }
    }
}
