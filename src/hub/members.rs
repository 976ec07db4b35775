//! The member clusters themselves: each reached by its own context of the kubeconfig.
//!
//! The flags that lead to the hub (`--server`, `--token`, `--as` and the like) are about the hub,
//! so nothing of them is repeated to a member; only the kubeconfig and the time limit are shared.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::hub::connect::config::{self, ConnectionFlags};
use crate::hub::connect::credentials::plugin::RunningPlugin;
use crate::hub::connect::kubeconfig::Kubeconfig;
use crate::hub::error::HubError;
use crate::hub::read::found::unreadable;
use crate::hub::read::pages::PagedList;
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::bounds::{OBJECT, ReadAllowance, too_large_an_object};
use crate::hub::request::connection::{Connection, JSON};
use crate::hub::signals::ChildProcesses;
use crate::kubefleet::names;
use crate::kubefleet::path::{Resource, parameter};
use crate::member::{
    MemberErrand, MemberGap, MemberKind, MemberObject, MemberObservation, MemberQuery, Outcome,
    QuerySelection,
};

/// How many requests to members are under way at once.
const AT_ONCE: usize = 8;
/// How many objects of a kind are read in one namespace: what holds up a workload shows in any of
/// its pods, and a namespace may hold thousands of events.
const MOST: usize = 500;

/// How the environment is read.
pub type EnvironmentLookup = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;
/// The texts of the objects of one cluster, by kind, namespace and name.
pub type MemberTexts = BTreeMap<(MemberKind, String, String), Box<RawValue>>;

#[derive(Debug, Clone, Default)]
pub struct MemberContextMap {
    pub named: BTreeMap<String, String>,
    /// By cluster, as the settings have it; none of them need be there.
    pub usual: BTreeMap<String, String>,
    /// Whether contexts that are called after a cluster lead into it.
    pub by_name: bool,
}

impl MemberContextMap {
    /// Whether nobody asked to look into a member cluster.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.usual.is_empty() && !self.by_name
    }
}

/// The member clusters, as far as the kubeconfig leads into them.
pub struct MemberContexts {
    ways: MemberContextMap,
    pub(super) access: MemberAccessSettings,
}

/// How a context leads into a cluster, and what is read there.
#[derive(Clone)]
pub(super) struct MemberAccessSettings {
    kubeconfig: Kubeconfig,
    limit: Option<Duration>,
    variable: EnvironmentLookup,
    running: RunningPlugin,
    /// The connections that stand, by context: a plugin is asked once.
    connections: Arc<Mutex<BTreeMap<String, Connection>>>,
    keep_texts: bool,
    /// What the command may still read.
    pub(super) budget: ReadAllowance,
}

/// What was seen in one cluster, and its text when that is kept.
pub(super) struct MemberSeen {
    pub look: MemberObservation,
    pub texts: MemberTexts,
}

impl MemberContexts {
    /// Reads the kubeconfig, and fails for a context that it does not have.
    pub fn new(
        flags: &ConnectionFlags,
        ways: MemberContextMap,
        limit: Option<Duration>,
        variable: EnvironmentLookup,
    ) -> Result<Self, HubError> {
        let kubeconfig = config::read(flags, &*variable)?.ok_or_else(|| {
            HubError::Config("there is no kubeconfig with contexts for member clusters".to_owned())
        })?;
        let this = Self {
            ways,
            access: MemberAccessSettings {
                kubeconfig,
                limit,
                variable,
                // Several at once cannot ask a user.
                running: RunningPlugin {
                    limit,
                    ..RunningPlugin::default()
                },
                connections: Arc::default(),
                keep_texts: false,
                budget: ReadAllowance::default(),
            },
        };
        let unknown = this.ways.named.values().find(|name| !this.has(name));
        match unknown {
            Some(name) => Err(HubError::NoContext {
                name: name.clone(),
                known: this.contexts().map(str::to_owned).collect(),
            }),
            None => Ok(this),
        }
    }

    /// Keeps the text of every object that is read from now on.
    pub(super) fn keep_texts(&mut self) {
        self.access.keep_texts = true;
    }

    /// What plugins start ends with this.
    pub(super) fn ends(&mut self, ends: &Arc<ChildProcesses>) {
        self.access.running.ends = Arc::clone(ends);
    }

    fn contexts(&self) -> impl Iterator<Item = &str> {
        let contexts = self.access.kubeconfig.contexts.iter();
        contexts.map(|(name, _)| name.as_str())
    }

    fn has(&self, context: &str) -> bool {
        self.contexts().any(|known| known == context)
    }

    /// The context that leads into a cluster. By name only where it is the cluster's own or that of
    /// its namespace on the hub: any other likeness may be chance, and the wrong cluster's pods
    /// would be taken for evidence.
    pub fn context_of(&self, cluster: &str) -> Option<&str> {
        if let Some(named) = self.ways.named.get(cluster) {
            return Some(named);
        }
        let usual = self.ways.usual.get(cluster);
        if let Some(usual) = usual.filter(|usual| self.has(usual)) {
            return Some(usual);
        }
        let by_name = self.ways.by_name;
        let namespace = names::member_namespace(cluster);
        [cluster, &namespace]
            .into_iter()
            .filter(|_| by_name)
            .find_map(|name| self.contexts().find(|known| *known == name))
    }

    pub(super) async fn look(&self, errands: &[MemberErrand]) -> BTreeMap<String, MemberSeen> {
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        let mut tasks = JoinSet::new();
        let mut seen = BTreeMap::new();
        for errand in errands {
            let cluster = &errand.cluster;
            let Some(context) = self.context_of(cluster) else {
                let usual = self.ways.usual.get(cluster);
                let wanted = usual.or_else(|| self.ways.by_name.then_some(cluster));
                if let Some(wanted) = wanted {
                    let why = format!("the kubeconfig has no context named {wanted}");
                    seen.insert(cluster.clone(), MemberSeen::closed(MemberGap::NoWay(why)));
                }
                continue;
            };
            let asker = self.asker(context, &slots);
            let errand = errand.clone();
            tasks.spawn(async move {
                let seen = asker.look(&errand).await;
                (errand.cluster, seen)
            });
        }
        seen.extend(tasks.join_all().await);
        seen
    }

    pub(super) async fn connect(&self, context: &str) -> Result<Connection, MemberGap> {
        let slots = Arc::new(Semaphore::new(1));
        self.asker(context, &slots).connect().await
    }

    fn asker(&self, context: &str, slots: &Arc<Semaphore>) -> MemberReader {
        MemberReader {
            context: context.to_owned(),
            access: self.access.clone(),
            slots: Arc::clone(slots),
        }
    }
}

struct MemberReader {
    context: String,
    access: MemberAccessSettings,
    slots: Arc<Semaphore>,
}

impl MemberSeen {
    fn closed(why: MemberGap) -> Self {
        Self {
            look: MemberObservation::closed(why),
            texts: MemberTexts::new(),
        }
    }
}

type MemberAnswer = Result<(Outcome, Vec<(MemberObject, Box<RawValue>)>), HubError>;

impl MemberReader {
    async fn look(&self, errand: &MemberErrand) -> MemberSeen {
        let connection = match self.connect().await {
            Ok(connection) => connection,
            Err(why) => return MemberSeen::closed(why),
        };
        let mut seen = MemberSeen {
            look: MemberObservation::default(),
            texts: MemberTexts::new(),
        };
        loop {
            let round = seen.look.next_round(errand);
            if round.is_empty() {
                return seen;
            }
            let mut tasks = JoinSet::new();
            for query in round {
                let (connection, slots) = (connection.clone(), Arc::clone(&self.slots));
                tasks.spawn(async move {
                    let _slot = slots.acquire_owned().await;
                    let answer = ask(&connection, &query).await;
                    (query, answer)
                });
            }
            let mut answers = tasks.join_all().await;
            answers.sort_by(|(a, _), (b, _)| a.cmp(b));
            // Whoever does not answer the first questions is asked no others.
            if seen.look.reads.is_empty()
                && let Some(why) = answers
                    .iter()
                    .find_map(|(_, answer)| closed(answer.as_ref().err()?))
            {
                return MemberSeen::closed(why);
            }
            for (query, answer) in answers {
                let (outcome, found) = answer.unwrap_or_else(|error| (outcome(&error), Vec::new()));
                let mut objects = Vec::with_capacity(found.len());
                for (object, text) in found {
                    if self.access.keep_texts {
                        let meta = object.meta();
                        let key = (object.kind, meta.namespace.clone(), meta.name.clone());
                        seen.texts.insert(key, text);
                    }
                    objects.push(object);
                }
                seen.look.absorb(query, outcome, objects);
            }
        }
    }

    async fn connect(&self) -> Result<Connection, MemberGap> {
        let no_way = |why: String| {
            let context = &self.context;
            MemberGap::NoWay(format!("the context {context} cannot be used: {why}"))
        };
        let access = &self.access;
        let known = || {
            let connections = access.connections.lock();
            connections.unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(connection) = known().get(&self.context) {
            return Ok(connection.clone());
        }
        let _slot = self.slots.acquire().await;
        let (variable, running) = (&*access.variable, &access.running);
        let made = config::of_context(&access.kubeconfig, &self.context, variable, running)
            .and_then(|settings| Connection::prepare(settings, access.limit));
        let mut connection = made.map_err(|error| no_way(error.to_string()))?;
        connection.budget = access.budget.clone();
        let ready = connection.log_in().await;
        ready.map_err(|error| no_way(error.to_string()))?;
        known().insert(self.context.clone(), connection.clone());
        Ok(connection)
    }
}

async fn ask(connection: &Connection, query: &MemberQuery) -> MemberAnswer {
    let (group, kind) = (query.kind.group(), query.kind.name());
    let path = path(query);
    let QuerySelection::Named { namespace, name } = &query.which else {
        let mut pages =
            PagedList::new(connection, ExpectedAnswer::list(group, kind), path, MOST).one(MOST);
        let read = pages.all(|text| object(connection, query.kind, text));
        let found = match read.await {
            Err(HubError::NotFound(_)) => Vec::new(),
            found => found?,
        };
        let outcome = if pages.is_cut {
            Outcome::Cut(found.len())
        } else {
            Outcome::Listed
        };
        return Ok((outcome, found));
    };
    let body = match connection.get(&path, JSON).await {
        Err(HubError::NotFound(_)) => return Ok((Outcome::Listed, Vec::new())),
        body => body?,
    };
    let wanted = ExpectedAnswer::Object {
        group,
        kind,
        namespace: if query.kind.is_namespaced() {
            namespace
        } else {
            ""
        },
        name,
    };
    let text: &RawValue = answer::read(&wanted, &body)?;
    let object = object(connection, query.kind, text.get())?;
    Ok((Outcome::Listed, vec![object]))
}

fn object(
    connection: &Connection,
    kind: MemberKind,
    text: &str,
) -> Result<(MemberObject, Box<RawValue>), HubError> {
    if text.len() > OBJECT {
        return Err(too_large_an_object());
    }
    connection.budget.object()?;
    // As bundles have it: what reads it from text too is much code.
    let value: serde_json::Value = answer::parse(text.as_bytes())?;
    let object = MemberObject::read(kind, value).map_err(|error| unreadable(&error))?;
    if object.meta().name.is_empty() {
        let wanted = ExpectedAnswer::kind(kind.group(), kind.name());
        return Err(answer::wrong(&wanted, text.as_bytes()));
    }
    let text = RawValue::from_string(text.to_owned()).map_err(|error| unreadable(&error))?;
    Ok((object, text))
}

fn path(query: &MemberQuery) -> String {
    let kind = query.kind;
    let resource = Resource {
        group: kind.group(),
        version: kind.version(),
        plural: kind.plural(),
    };
    let name = match &query.which {
        QuerySelection::Named { name, .. } => Some(name.as_str()),
        QuerySelection::All { .. } => None,
    };
    let namespace = query.which.namespace();
    let namespace = namespace.filter(|_| kind.is_namespaced());
    let mut path = resource.path(namespace, name);
    if let QuerySelection::All { labels, .. } = &query.which {
        if let Some(labels) = labels {
            parameter(&mut path, "labelSelector", labels);
        }
        if kind == MemberKind::Event {
            parameter(&mut path, "fieldSelector", "type=Warning");
        }
    }
    path
}

/// What a failure says of the whole cluster, when it is more than about one question.
fn closed(error: &HubError) -> Option<MemberGap> {
    Some(match error {
        HubError::Unreachable { url, why } => {
            MemberGap::Unreachable(format!("its API server at {url} cannot be reached: {why}"))
        }
        HubError::TimedOut(limit) => {
            MemberGap::Unreachable(format!("its API server did not answer within {limit}"))
        }
        HubError::Refused {
            code: code @ (502..=504),
            message,
            ..
        } => MemberGap::Unreachable(format!("its API server answered {code}: {message}")),
        HubError::Tls { url, why } => MemberGap::NoWay(format!(
            "no secure connection to its API server at {url}: {why}"
        )),
        HubError::Credentials(why) => MemberGap::NoWay(format!("no credentials for it: {why}")),
        HubError::Unauthorized(why) => {
            MemberGap::NoWay(format!("it rejected the credentials: {why}"))
        }
        _ => return None,
    })
}

pub(super) fn outcome(error: &HubError) -> Outcome {
    match error {
        HubError::Forbidden(words) => Outcome::Denied(words.clone()),
        HubError::NotRouted(_) => Outcome::NotServed,
        other => match closed(other) {
            Some(closed) => Outcome::Failed(closed.why().to_owned()),
            None => Outcome::Failed(other.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{
        ConnectionFlags, HubError, MemberContextMap, MemberContexts, MemberKind, MemberQuery, path,
    };

    const CONTEXTS: &str = "
apiVersion: v1
kind: Config
clusters: []
users: []
contexts:
- {name: member-1, context: {cluster: a, user: a}}
- {name: fleet-member-member-2, context: {cluster: a, user: a}}
- {name: admin@member-3, context: {cluster: a, user: a}}
- {name: other, context: {cluster: a, user: a}}
";

    fn members(named: &[(&str, &str)], by_name: bool) -> Result<MemberContexts, HubError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, CONTEXTS).unwrap();
        let flags = ConnectionFlags {
            kubeconfig: Some(path),
            ..ConnectionFlags::default()
        };
        let own = |(cluster, context): &(&str, &str)| ((*cluster).into(), (*context).into());
        let ways = MemberContextMap {
            named: named.iter().map(own).collect(),
            by_name,
            ..MemberContextMap::default()
        };
        MemberContexts::new(&flags, ways, None, Arc::new(|_| None))
    }

    #[test]
    fn only_an_equal_name_leads_into_a_cluster() {
        let all = members(&[("member-4", "other")], true).unwrap();
        for (cluster, context) in [
            ("member-1", Some("member-1")),
            ("member-2", Some("fleet-member-member-2")),
            ("member-3", None),
            ("member", None),
            ("member-4", Some("other")),
            ("other", Some("other")),
        ] {
            assert_eq!(all.context_of(cluster), context, "{cluster}");
        }
        let mut usual = members(&[("member-4", "other")], true).unwrap();
        usual.ways.usual = [
            ("member-1", "other"),
            ("member-2", "gone"),
            ("member-4", "gone"),
        ]
        .map(|(cluster, context)| (cluster.to_owned(), context.to_owned()))
        .into();
        for (cluster, context) in [
            ("member-1", "other"),
            // Whose context is gone is looked for by name.
            ("member-2", "fleet-member-member-2"),
            ("member-4", "other"),
        ] {
            assert_eq!(usual.context_of(cluster), Some(context), "{cluster}");
        }
        let named = members(&[("member-4", "other")], false).unwrap();
        assert_eq!(named.context_of("member-1"), None);
        assert_eq!(named.context_of("member-4"), Some("other"));
    }

    #[test]
    fn an_unknown_context_is_an_error() {
        let error = members(&[("member-1", "member-9")], false).err().unwrap();
        assert!(
            matches!(error, HubError::NoContext { name, known } if name == "member-9" && known.len() == 4)
        );
    }

    #[test]
    fn questions_have_their_paths() {
        let labels = "app=web,tier in (a,b)".to_owned();
        for (query, wanted) in [
            (
                MemberQuery::named(MemberKind::Deployment, "shop", "web"),
                "/apis/apps/v1/namespaces/shop/deployments/web",
            ),
            (
                MemberQuery::with_labels(MemberKind::Pod, "shop", labels),
                "/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb%2Ctier%20in%20%28a%2Cb%29",
            ),
            (
                MemberQuery::all(MemberKind::Event, "shop"),
                "/api/v1/namespaces/shop/events?fieldSelector=type%3DWarning",
            ),
            (
                MemberQuery::named(MemberKind::CustomResourceDefinition, "", "a.example"),
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.example",
            ),
        ] {
            assert_eq!(path(&query), wanted);
        }
    }
}
