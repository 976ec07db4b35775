//! The live hub: connect, served versions, reads, watches.
//!
//! Everything here is asked for in rounds: the walk says what it wants to know next, and the hub
//! asks for all of it at once, on a bounded number of connections.

mod access;
mod connect;
mod error;
#[cfg(test)]
mod fake_server;
mod members;
mod read;
mod request;
mod signals;
mod watch;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::value::RawValue;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub use access::{AccessCheck, ClockOffset};
pub use connect::config::{ConnectionFlags, HubPlace, contexts};
pub use error::HubError;
pub use members::{EnvironmentLookup, MemberContextMap, MemberContexts, MemberTexts};
pub use read::objects::ObjectReader;
pub use read::rounds::ListProgress;
pub use read::served::ServedVersions;
pub use request::answer::ExpectedAnswer;
pub use request::bounds::TimeLimit;
pub use request::clock::CommandClock;
pub use request::traffic::RequestTraffic;
pub use signals::{SharedSignals, unless_interrupted};
pub use watch::{Mirror, MirrorUpdate};
pub use write::{ChangeSending, SentChange};

use crate::inventory::source::{
    HubQuery, ObjectSource, ObjectTexts, QueryAnswer, QueryRound, QuerySelection,
};
use crate::kubefleet::{Kind, ObjectRef};
use crate::member::{MemberErrand, MemberObservation};
use connect::credentials::plugin::RunningPlugin;
use read::known::KnownAnswers;
use read::remembered::DiscoveryCache;
use request::connection::Connection;

const AT_ONCE: usize = 8;
/// After how long waiting is worth a word.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often that word is renewed.
const BEAT: Duration = Duration::from_millis(125);

/// Is told what is waited for, or `None` when the waiting is over.
pub type OnWait = Arc<dyn Fn(Option<&str>) + Send + Sync>;

pub struct Hub {
    runtime: Runtime,
    connection: Connection,
    served: Arc<ServedVersions>,
    /// Where it is remembered what is served, as long as that was not asked for.
    memory: Option<DiscoveryCache>,
    /// The context's name; empty in a cluster and with `--server` alone.
    pub context: String,
    /// The namespace that the context names; `default` where it names none.
    pub default_namespace: String,
    known: KnownAnswers,
    states: BTreeMap<Kind, Result<Vec<String>, HubError>>,
    lost: Option<HubError>,
    texts: Option<BTreeMap<ObjectRef, Box<RawValue>>>,
    members: Option<MemberContexts>,
    member_texts: BTreeMap<String, MemberTexts>,
    ends: Arc<signals::ChildProcesses>,
    signals: Option<signals::InterruptCount>,
    /// How many signals a read goes on in spite of.
    bears: u32,
    who: Option<tokio::task::JoinHandle<Result<Option<String>, HubError>>>,
    on_wait: OnWait,
}

impl Hub {
    /// Connects, and asks what is served. `limit` is the time for one request, and at `end` nothing
    /// is waited for any more.
    pub fn connect(
        flags: &ConnectionFlags,
        limit: Option<Duration>,
        end: Option<TimeLimit>,
        variable: &(dyn Fn(&str) -> Option<OsString> + Sync),
        on_wait: OnWait,
    ) -> Result<Self, HubError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| HubError::Config(format!("cannot start a thread: {error}")))?;
        let ends = flags.together.ends();
        let running = RunningPlugin {
            terminal: flags.interactive,
            quiet: flags.quiet,
            limit: flags.plugin_limit,
            ends: Arc::clone(&ends),
        };
        let on_wait = unless_asked(on_wait, &ends);
        let resolved = connect::config::resolve(flags, variable, &running)?;
        let default_namespace = resolved.settings.namespace.clone();
        let inside = runtime.enter();
        let mut connection = Connection::prepare(resolved.settings, limit)?;
        connection.end = end;
        connection.chunk_size = flags.chunk_size;
        drop(inside);
        // A plugin may ask the user: nothing else is shown meanwhile.
        runtime.block_on(connection.log_in())?;
        let memory = flags
            .remembers
            .then(|| DiscoveryCache::of(&connection.url, &variable))
            .flatten();
        let remembered = memory.as_ref().and_then(|it| it.recall(SystemTime::now()));
        let is_remembered = remembered.is_some();
        let served = match remembered {
            Some(served) => served,
            None => discover(&runtime, &on_wait, &connection, memory.as_ref())?,
        };
        Ok(Self {
            runtime,
            connection,
            served: Arc::new(served),
            memory: memory.filter(|_| is_remembered),
            context: resolved.context,
            default_namespace,
            known: KnownAnswers::default(),
            states: BTreeMap::new(),
            lost: None,
            texts: None,
            members: None,
            ends,
            member_texts: BTreeMap::new(),
            signals: None,
            bears: 0,
            who: None,
            on_wait,
        })
    }

    pub fn url(&self) -> &str {
        &self.connection.url
    }

    /// Asks what is served where that was only remembered; whether it is something else.
    fn rediscover(&mut self) -> bool {
        let Some(memory) = self.memory.take() else {
            return false;
        };
        let asked = discover(
            &self.runtime,
            &self.on_wait,
            &self.connection,
            Some(&memory),
        );
        match asked {
            Ok(served) => {
                let is_new = served != *self.served;
                self.served = Arc::new(served);
                is_new
            }
            Err(error) => {
                self.lost.get_or_insert(error);
                false
            }
        }
    }

    /// The hub's clock, as far as its answers tell it; else ours.
    pub fn clock(&self, ours: fn() -> Timestamp) -> CommandClock {
        CommandClock::new(ours, self.connection.clock.clone())
    }

    pub fn served(&self) -> &ServedVersions {
        &self.served
    }

    /// Looks into member clusters too, from now on.
    pub fn enter(&mut self, mut members: MemberContexts) {
        members.access.budget = self.connection.budget.clone();
        members.ends(&self.ends);
        self.members = Some(members);
    }

    /// Until when it is waited for what is read, whatever the limit of one request; writes have
    /// their own time.
    pub fn end_at(&mut self, end: Option<TimeLimit>) {
        self.connection.end = end;
    }

    /// The context that leads into a member cluster, when one does.
    pub fn context_of(&self, cluster: &str) -> Option<&str> {
        self.members.as_ref()?.context_of(cluster)
    }

    /// Whether it looks into member clusters.
    pub const fn sees_members(&self) -> bool {
        self.members.is_some()
    }

    /// Keeps the text of every object that is read from now on.
    pub fn keep_texts(&mut self) {
        self.texts.get_or_insert_default();
    }

    /// The texts of what was seen in member clusters, where they were kept.
    pub fn take_member_texts(&mut self) -> BTreeMap<String, MemberTexts> {
        std::mem::take(&mut self.member_texts)
    }

    pub fn take_texts(&mut self) -> ObjectTexts {
        self.texts.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Why the connection is of no use any more.
    pub const fn lost(&self) -> Option<&HubError> {
        self.lost.as_ref()
    }

    /// Takes away why the connection is of no use, so that it is tried again.
    pub fn take_lost(&mut self) -> Option<HubError> {
        self.lost.take()
    }

    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Forgets what is large, and keeps what is asked for again.
    pub fn drop_large(&mut self) {
        self.known.drop_large();
    }

    pub fn traffic(&self) -> RequestTraffic {
        self.connection.traffic.clone()
    }

    /// Asks again, whatever is known already.
    fn ask_again(&mut self, query: &HubQuery) -> QueryAnswer {
        self.known.remove(query);
        let mut answers = self.answer(std::slice::from_ref(query));
        answers.pop().unwrap_or_else(|| {
            read::queries::unanswered(&HubError::Broken("there was no answer".to_owned()))
        })
    }

    /// The same for several questions, with the texts of the objects.
    pub fn answer_with_texts(&mut self, queries: &[HubQuery]) -> (Vec<QueryAnswer>, ObjectTexts) {
        for query in queries {
            self.known.remove(query);
        }
        let before = self.texts.replace(ObjectTexts::new());
        let answers = self.answer(queries);
        let texts = std::mem::replace(&mut self.texts, before);
        (answers, texts.unwrap_or_default())
    }

    /// The version of an object as the hub has it now, of which it sends the metadata alone; `None`
    /// where it does not exist or cannot be read.
    pub fn version_now(&mut self, query: &HubQuery) -> Option<String> {
        let version = read::versions::version_of(&self.connection, &self.served, query);
        self.wait(query.kind.plural(), version).ok()?
    }

    /// The versions of all objects of some lists by namespace and name, as the hub has them now;
    /// `None` where they cannot be read.
    pub fn versions_now(
        &mut self,
        lists: &[HubQuery],
    ) -> Option<HashMap<(String, String), String>> {
        let versions = read::versions::versions_of(&self.connection, &self.served, lists);
        self.wait(&describe(lists), versions).ok()
    }

    /// Runs a future to its end, and says what is waited for when that takes a while.
    fn wait<T>(&self, what: &str, future: impl Future<Output = T>) -> T {
        wait(&self.runtime, &self.on_wait, what, future)
    }

    /// The values that the hub's schema allows for `spec.state` of a run.
    pub fn run_states(&mut self, kind: Kind) -> Result<Vec<String>, HubError> {
        if let Some(states) = self.states.get(&kind) {
            return states.clone();
        }
        let states = self.ask_states(kind);
        self.states.insert(kind, states.clone());
        states
    }

    fn ask_states(&mut self, kind: Kind) -> Result<Vec<String>, HubError> {
        let version = self.served.version(kind).ok_or(HubError::NotServed(kind))?;
        let states = read::served::run_states(&self.connection, kind, version);
        self.wait("the schema of update runs", states)
    }
}

impl ObjectSource for Hub {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        self.learn(queries.iter());
        self.known_answers(queries, None)
    }

    fn answer_many(&mut self, rounds: &[QueryRound]) -> Vec<Vec<QueryAnswer>> {
        self.learn(rounds.iter().flat_map(|round| &round.queries));
        rounds
            .iter()
            .map(|round| self.known_answers(&round.queries, round.placement.as_deref()))
            .collect()
    }

    fn look(&mut self, errands: &[MemberErrand]) -> BTreeMap<String, MemberObservation> {
        let Some(members) = self.members.as_mut().filter(|_| !errands.is_empty()) else {
            return BTreeMap::new();
        };
        if self.texts.is_some() {
            members.keep_texts();
        }
        let look = members.look(errands);
        let what = "what the member clusters show";
        let seen = wait(&self.runtime, &self.on_wait, what, look);
        let mut looks = BTreeMap::new();
        for (cluster, seen) in seen {
            if !seen.texts.is_empty() {
                self.member_texts.insert(cluster.clone(), seen.texts);
            }
            looks.insert(cluster, seen.look);
        }
        looks
    }
}

/// Asks what a server serves, which is to be a hub.
fn discover(
    runtime: &Runtime,
    on_wait: &OnWait,
    connection: &Connection,
    memory: Option<&DiscoveryCache>,
) -> Result<ServedVersions, HubError> {
    let asked = read::served::discover(connection);
    let served = wait(runtime, on_wait, "what the hub serves", asked)?;
    if served.is_hub() {
        if let Some(memory) = memory {
            memory.note(&served);
        }
        return Ok(served);
    }
    let url = connection.url.clone();
    Err(match served.other_engine() {
        Some(names) => HubError::OtherEngine(url, names),
        None => HubError::NotAHub(url),
    })
}

/// Says nothing while a plugin asks the user, and leaves nothing behind when a signal ends us.
fn unless_asked(on_wait: OnWait, ends: &Arc<signals::ChildProcesses>) -> OnWait {
    ends.first(Arc::clone(&on_wait));
    let ends = Arc::clone(ends);
    Arc::new(move |what| {
        if what.is_some() {
            ends.listen();
        }
        on_wait(what.filter(|_| !ends.asks()));
    })
}

/// Runs a future to its end, and says so when that takes a while.
fn wait<T>(runtime: &Runtime, on_wait: &OnWait, what: &str, future: impl Future<Output = T>) -> T {
    runtime.block_on(async {
        let mut future = std::pin::pin!(future);
        let mut next = PATIENCE;
        let mut told = false;
        loop {
            if let Ok(done) = tokio::time::timeout(next, future.as_mut()).await {
                if told {
                    on_wait(None);
                }
                return done;
            }
            on_wait(Some(what));
            told = true;
            next = BEAT;
        }
    })
}

/// Does something for each, for some at a time, and returns what came of it in their order.
async fn side_by_side<T, R, F>(all: Vec<T>, each: impl Fn(T) -> F) -> Vec<R>
where
    R: Send + 'static,
    F: Future<Output = R> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = JoinSet::new();
    for (place, one) in all.into_iter().enumerate() {
        let (slots, done) = (Arc::clone(&slots), each(one));
        tasks.spawn(async move {
            let _slot = slots.acquire_owned().await;
            (place, done.await)
        });
    }
    let mut done = tasks.join_all().await;
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, one)| one).collect()
}

/// What a round asks for, in words: `bindings of example-placement`.
fn describe(queries: &[HubQuery]) -> String {
    let mut nouns: Vec<_> = queries
        .iter()
        .map(|query| query.kind.concept().plural())
        .collect();
    nouns.dedup();
    if let [
        HubQuery {
            kind,
            which: QuerySelection::Named { name, .. },
        },
    ] = queries
    {
        return format!("{kind} {name}");
    }
    let nouns = match nouns.as_slice() {
        [one] => (*one).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [one, rest @ ..] => format!("{one} and {} more kinds", rest.len()),
        [] => String::new(),
    };
    let mut owners = queries.iter().map(|query| Some(query.label()?.1));
    let owner = owners.next().flatten();
    match owner.filter(|owner| owners.all(|other| other == Some(*owner))) {
        Some(owner) => format!("{nouns} of {owner}"),
        None => nouns,
    }
}

#[cfg(test)]
mod tests {
    use super::describe;
    use crate::inventory::source::HubQuery;
    use crate::kubefleet::{Kind, names};

    #[test]
    fn what_is_read_is_named() {
        let labelled = |kind| HubQuery::labelled(kind, "", names::PARENT_PLACEMENT, "web");
        let run = HubQuery::named(Kind::StagedUpdateRun, "shop", "web-1");
        let (bindings, snapshots) = (Kind::ClusterResourceBinding, Kind::ClusterResourceSnapshot);
        for (queries, wanted) in [
            (vec![run.clone()], "StagedUpdateRun web-1"),
            (vec![labelled(bindings)], "bindings of web"),
            (
                vec![HubQuery::all(Kind::MemberCluster, "")],
                "member clusters",
            ),
            (
                vec![labelled(bindings), labelled(snapshots)],
                "bindings and resource snapshots of web",
            ),
            (
                vec![
                    labelled(bindings),
                    labelled(snapshots),
                    HubQuery::all(Kind::Work, "x"),
                    run,
                ],
                "bindings and 3 more kinds",
            ),
            (vec![], ""),
        ] {
            assert_eq!(describe(&queries), wanted);
        }
    }
}
