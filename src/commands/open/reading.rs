//! Where a command reads: the files that were given with `-f`, or the hub.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::bundle::{self, Bundle};
use crate::change::record::{Record, Told};
use crate::commands::open::global::Global;
use crate::commands::open::names;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{Flags, Hub, HubError, TimeLimit};
use crate::inventory::source::{Answer, HubFacts, HubQuery, Outcome, Round, Source};
use crate::inventory::{Inventory, Shared, Walk, choose};
use crate::kubefleet::object::{Body, Object};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};
use crate::member::{Errand, Observation};
use crate::rollout;
use crate::ui::Ui;
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
    /// What is around the placements of the targets so far.
    pub(super) shared: Shared,
    /// What a command that writes has done so far.
    pub record: Record,
}

/// The texts of objects, by kind, namespace and name.
pub type ObjectTexts = BTreeMap<ObjectRef, Box<RawValue>>;

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
    let progress = ui.progress();
    let on_wait = Arc::new(move |what: Option<&str>| match what {
        Some(what) => progress.say(&format!("reading {what}")),
        None => progress.hush(),
    });
    let variable = |name: &str| std::env::var_os(name);
    let hub = Hub::connect(&flags, global.limit(), end, &variable, on_wait)?;
    ui.count(hub.traffic());
    Ok(hub)
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
            shared: Shared::default(),
            record: Record::default(),
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
            shared: Shared::default(),
            record: Record::default(),
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
    pub fn ask_with_texts(&mut self, query: &HubQuery) -> (Answer, ObjectTexts) {
        match &mut self.place {
            ReadingPlace::Hub(hub) => {
                hub.keep_texts();
                let answer = hub.ask_again(query);
                (answer, hub.take_texts())
            }
            ReadingPlace::Files(_) => {
                let answer = self.ask(query);
                let names = answer.objects.iter().map(Object::reference);
                let ReadingPlace::Files(bundle) = &self.place else {
                    return (answer, ObjectTexts::new());
                };
                let texts = names
                    .filter_map(|name| Some((name.clone(), bundle.text(&name)?.to_owned())))
                    .collect();
                (answer, texts)
            }
        }
    }

    /// Every run of a scope or of all, by scope, namespace and name.
    pub fn every_run(
        &mut self,
        namespace: Option<&str>,
        everywhere: bool,
        active: bool,
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
                Body::Run(run) => !active || !choose::is_finished(run),
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
        let kind = query.kind;
        let gap = answer.outcome.gap().unwrap_or_default();
        let error = Error::failed(format!("{} cannot be listed: {gap}", kind.plural()));
        Err(match &answer.outcome {
            Outcome::Denied(_) => Error {
                exit: Exit::Incomplete,
                ..error
            }
            .hint(may_i("list", query)),
            Outcome::NotServed => HubError::NotServed(kind).into(),
            _ => error,
        })
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
        let walk = self.checked(walk, target)?;
        let facts = self.hub_facts(walk.run().into_iter());
        Ok(Inventory::new(walk, self.now, facts))
    }

    /// Whether the user wants the command to end.
    pub fn is_interrupted(&self) -> bool {
        match &self.place {
            ReadingPlace::Hub(hub) => hub.is_interrupted(),
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
            ReadingPlace::Hub(hub) => match hub.lost() {
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

    fn look(&mut self, errands: &[Errand]) -> BTreeMap<String, Observation> {
        match &mut self.place {
            ReadingPlace::Hub(hub) => hub.look(errands),
            ReadingPlace::Files(bundle) => bundle.look(errands),
        }
    }
}

/// How to ask the hub for a permission.
fn may_i(verb: &str, query: &HubQuery) -> Hint {
    Hint::new("check your permission:").command(query.kind.can_i(verb))
}
