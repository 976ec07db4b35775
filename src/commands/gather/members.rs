//! The flags that lead into member clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;

use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::diagnose;
use crate::error::Error;
use crate::hub::{ConnectionFlags, HubError, MemberContextMap, MemberContexts};
use crate::inventory::Inventory;
use crate::member::{ClusterMatch, MemberGap};
use crate::ui::Ui;
use crate::words::closest;

/// Which member clusters are looked into.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Member clusters")]
pub struct MemberArgs {
    /// Use this kubeconfig context to find out why workloads on the member cluster are not
    /// available; repeatable
    #[arg(long = "member-context", value_name = "CLUSTER=CONTEXT")]
    contexts: Vec<MemberContext>,
    /// Check every member cluster with problems for which the kubeconfig has a context CLUSTER or
    /// fleet-member-CLUSTER
    #[arg(long = "member-contexts-from-kubeconfig")]
    from_kubeconfig: bool,
}

/// `CLUSTER=CONTEXT`.
#[derive(Debug, Clone)]
struct MemberContext {
    cluster: String,
    context: String,
}

impl FromStr for MemberContext {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((cluster, context)) if !cluster.is_empty() && !context.is_empty() => Ok(Self {
                cluster: cluster.to_owned(),
                context: context.to_owned(),
            }),
            _ => Err("use CLUSTER=CONTEXT, a member cluster and a kubeconfig context".to_owned()),
        }
    }
}

/// The ways into member clusters, before and while they are used; by default there is none.
#[derive(Default)]
pub struct MemberAccess {
    members: Option<MemberContexts>,
    named: Vec<String>,
}

impl MemberArgs {
    /// Whether nobody asked to look into a member cluster.
    pub const fn is_empty(&self) -> bool {
        self.contexts.is_empty() && !self.from_kubeconfig
    }

    /// Reads the kubeconfig, before anything else is asked.
    pub fn open(&self, session: &Session<'_>) -> Result<MemberAccess, Error> {
        let mut ways = self.ways()?;
        let named: Vec<_> = ways.named.keys().cloned().collect();
        ways.usual
            .clone_from(&session.settings.settings.member_contexts);
        if ways.is_empty() {
            return Ok(MemberAccess::default());
        }
        let flags = ConnectionFlags {
            kubeconfig: session.global.kubeconfig.as_ref().map(Into::into),
            ..ConnectionFlags::default()
        };
        let variable = Arc::new(|name: &str| std::env::var_os(name));
        let members = match MemberContexts::new(&flags, ways, session.global.limit(), variable) {
            Ok(members) => Some(members),
            // Nobody asked for more than there is.
            Err(_) if self.is_empty() => None,
            Err(HubError::NoContext { name, known }) => return Err(no_context(&name, &known)),
            Err(error) => return Err(error.into()),
        };
        Ok(MemberAccess { members, named })
    }

    fn ways(&self) -> Result<MemberContextMap, Error> {
        let mut named: BTreeMap<String, String> = BTreeMap::new();
        for way in &self.contexts {
            let other = named.insert(way.cluster.clone(), way.context.clone());
            if other.is_some_and(|other| other != way.context) {
                return Err(Error::usage(format!(
                    "--member-context sets two contexts for {}: use one",
                    way.cluster
                )));
            }
        }
        Ok(MemberContextMap {
            named,
            by_name: self.from_kubeconfig,
            ..MemberContextMap::default()
        })
    }
}

fn no_context(name: &str, known: &[String]) -> Error {
    let error = Error::usage(format!(
        "--member-context: the kubeconfig has no context {name:?}"
    ));
    let near = closest(name, known.iter().map(String::as_str));
    match (near, known) {
        (Some(near), _) => error.hint(format!("did you mean {near}?")),
        (None, []) => error.hint("the kubeconfig has no contexts"),
        (None, known) => error.hint(format!("existing contexts: {}", known.join(", "))),
    }
}

impl MemberAccess {
    /// The way into one cluster, and its context: the one that was named, else that of the settings.
    /// Without a cluster, the context tells which it is.
    pub fn of_one(
        session: &Session<'_>,
        (cluster, context): (Option<&str>, Option<&str>),
    ) -> Result<(Self, Result<Option<String>, MemberGap>), Error> {
        let way = context.map(|context| MemberContext {
            cluster: cluster.unwrap_or(context).to_owned(),
            context: context.to_owned(),
        });
        let args = MemberArgs {
            contexts: way.into_iter().collect(),
            from_kubeconfig: false,
        };
        let entrance = args.open(session)?;
        let usual = &session.settings.settings.member_contexts;
        let context = match (context, cluster.and_then(|cluster| usual.get(cluster))) {
            (Some(context), _) => Ok(Some(context.to_owned())),
            (None, None) => Ok(None),
            (None, Some(usual)) => {
                let members = entrance.members.as_ref();
                let known = members.and_then(|it| it.context_of(cluster?));
                let known = known.map(|context| Some(context.to_owned()));
                known.ok_or_else(|| {
                    MemberGap::NoWay(format!("the kubeconfig has no context named {usual}"))
                })
            }
        };
        Ok((entrance, context))
    }

    /// Lets the reading look into the clusters.
    pub fn enter(&mut self, reading: &mut SourceReading) {
        if let (Some(hub), Some(members)) = (reading.hub(), self.members.take()) {
            hub.enter(members);
        }
    }

    /// Says once which of the named clusters the fleet does not have.
    pub fn check(&mut self, inventory: &Inventory, ui: &mut Ui) {
        if !inventory.members.is_complete() {
            return;
        }
        let known: BTreeSet<_> = inventory
            .members
            .iter()
            .map(|member| member.meta.name.as_str())
            .collect();
        for cluster in std::mem::take(&mut self.named) {
            if known.contains(cluster.as_str()) {
                continue;
            }
            let (unknown, near) = no_member(&cluster, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            ui.warning(&format!("--member-context: {unknown}{near}"));
        }
    }
}

/// That the fleet has no cluster of a name, and which one may be meant.
pub fn no_member<'k>(
    cluster: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> (String, Option<&'k str>) {
    let near = closest(cluster, known);
    (
        format!("{cluster} is not a member cluster of this fleet"),
        near,
    )
}

/// The contexts that lead into the clusters of a placement, as far as nothing shows that one leads elsewhere.
pub fn contexts(reading: &mut SourceReading, inventory: &Inventory) -> BTreeMap<String, String> {
    let Some(hub) = reading.hub() else {
        return BTreeMap::new();
    };
    let errands = diagnose::errands(inventory);
    let errands = errands.iter().filter(|errand| {
        let seen = inventory.looks.get(&errand.cluster);
        let seen = seen.map(|seen| seen.identity(errand));
        matches!(seen, Some(ClusterMatch::Other(_)))
    });
    let elsewhere: BTreeSet<_> = errands.map(|errand| &errand.cluster).collect();
    // Where nothing was looked into, a person may have to.
    let clusters = inventory.bindings.iter().map(|it| &it.spec.cluster);
    let clusters = clusters.filter(|it| !elsewhere.contains(it));
    clusters
        .filter_map(|cluster| Some((cluster.clone(), hub.context_of(cluster)?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{MemberArgs, MemberContext};

    #[test]
    fn a_way_is_a_cluster_and_a_context() {
        let way: MemberContext = "member-1=arn:aws:eks:x=y".parse().unwrap();
        let parts = (way.cluster.as_str(), way.context.as_str());
        assert_eq!(parts, ("member-1", "arn:aws:eks:x=y"));
        for wrong in ["member-1", "=x", "member-1=", ""] {
            assert!(wrong.parse::<MemberContext>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_cluster_has_one_context() {
        let args = |ways: &[&str]| MemberArgs {
            contexts: ways.iter().map(|way| way.parse().unwrap()).collect(),
            from_kubeconfig: false,
        };
        assert!(args(&["a=x", "b=x", "a=x"]).ways().is_ok());
        assert!(args(&["a=x", "a=y"]).ways().is_err());
    }
}
