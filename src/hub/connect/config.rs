//! Which hub, and as whom: kubeconfig files and flags, by kubectl's rules.
//!
//! This is the one place that makes errors about them. They are made of names, places and kinds:
//! values may be secrets, and are never shown.

mod connection;
mod proxy;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use crate::hub::connect::credentials::plugin::RunningPlugin;
use crate::hub::connect::kubeconfig::{
    KubeContext, Kubeconfig, KubeconfigCluster, KubeconfigUser, named,
};
use crate::hub::error::HubError;
use crate::hub::signals::SharedSignals;
use connection::settings;
pub(in crate::hub) use connection::{ConnectionSettings, Tls};

/// What the command line says about the connection; what is `None` comes from the kubeconfig.
#[derive(Clone, Default)]
pub struct ConnectionFlags {
    /// `--kubeconfig`: this file alone.
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    pub cluster: Option<String>,
    pub user: Option<String>,
    pub server: Option<String>,
    pub token: Option<String>,
    pub tls_server_name: Option<String>,
    pub insecure: bool,
    pub impersonate: Option<String>,
    pub impersonate_groups: Vec<String>,
    pub impersonate_uid: Option<String>,
    /// Whether a credential plugin may ask the user: standard input is a terminal.
    pub interactive: bool,
    /// Whether what a credential plugin says to the user is dropped.
    pub quiet: bool,
    /// How long a credential plugin may take; `None` for no limit.
    pub plugin_limit: Option<Duration>,
    /// How many objects of a list are asked for at once; 0 for all of them.
    pub chunk_size: Option<usize>,
    /// The hubs that are asked at the same time.
    pub together: SharedSignals,
    /// Whether it may be remembered from an earlier call what the hub serves. What is written must
    /// not depend on that.
    pub remembers: bool,
}

/// A connection's settings, and what the user calls it.
#[derive(Debug)]
pub(in crate::hub) struct ResolvedConnection {
    pub settings: ConnectionSettings,
    /// The name of the context; empty in a cluster and with `--server` alone.
    pub context: String,
}

/// How the environment is read.
type EnvironmentVariable<'v> = &'v (dyn Fn(&str) -> Option<OsString> + Sync);

/// Finds the settings: the file of the flag, else the files of `KUBECONFIG` that exist, else
/// `~/.kube/config`, else what a pod in a cluster finds.
pub(in crate::hub) fn resolve(
    flags: &ConnectionFlags,
    variable: EnvironmentVariable<'_>,
    running: &RunningPlugin,
) -> Result<ResolvedConnection, HubError> {
    let Some(kubeconfig) = read(flags, variable)? else {
        return in_cluster(flags, variable, running);
    };
    let (name, context) = context(flags, &kubeconfig)?;
    let cluster = cluster(flags, &kubeconfig, &name, &context)?;
    let user = user(flags, &kubeconfig, &context)?;
    let settings = settings(&context, &cluster, &user, variable, running)?;
    Ok(ResolvedConnection {
        settings,
        context: name,
    })
}

/// The settings of one context as it stands in the kubeconfig, with no flag's word on it.
pub(in crate::hub) fn of_context(
    kubeconfig: &Kubeconfig,
    context: &str,
    variable: EnvironmentVariable<'_>,
    running: &RunningPlugin,
) -> Result<ConnectionSettings, HubError> {
    let flags = ConnectionFlags {
        context: Some(context.to_owned()),
        ..ConnectionFlags::default()
    };
    let (name, context) = self::context(&flags, kubeconfig)?;
    let cluster = cluster(&flags, kubeconfig, &name, &context)?;
    let user = user(&flags, kubeconfig, &context)?;
    settings(&context, &cluster, &user, variable, running)
}

/// Where a context leads, and as whom: those that are alike see the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubPlace {
    server: String,
    tls_server_name: String,
    proxy: String,
    user: String,
}

/// The names of the contexts, for completion and `--all-contexts`, and where each leads; `None`
/// where it leads nowhere.
pub fn contexts(
    flags: &ConnectionFlags,
    variable: EnvironmentVariable<'_>,
) -> Result<Vec<(String, Option<HubPlace>)>, HubError> {
    let Some(kubeconfig) = read(flags, variable)? else {
        return Ok(Vec::new());
    };
    let place = |context: &KubeContext| {
        let cluster = named(&kubeconfig.clusters, &context.cluster)?;
        Some(HubPlace {
            server: cluster.server.trim_end_matches('/').to_owned(),
            tls_server_name: cluster.tls_server_name.clone(),
            proxy: cluster.proxy_url.clone(),
            user: context.user.clone(),
        })
    };
    let contexts = kubeconfig.contexts.iter();
    Ok(contexts
        .map(|(name, context)| (name.clone(), place(context)))
        .collect())
}

/// Reads and merges the files; `None` when there is none and nothing else names a server.
pub(in crate::hub) fn read(
    flags: &ConnectionFlags,
    variable: EnvironmentVariable<'_>,
) -> Result<Option<Kubeconfig>, HubError> {
    let one = |path: &Path| {
        Kubeconfig::read(path).map_err(|error| {
            config(format!(
                "the kubeconfig {} cannot be read: {error}",
                path.display()
            ))
        })
    };
    if let Some(path) = &flags.kubeconfig {
        return one(path).map(Some);
    }
    let listed: Vec<PathBuf> = variable("KUBECONFIG")
        .map(|list| std::env::split_paths(&list).collect())
        .unwrap_or_default();
    let mut paths: Vec<_> = listed
        .into_iter()
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    let from_variable = !paths.is_empty();
    if !from_variable {
        let home = variable("HOME").or_else(|| variable("USERPROFILE"));
        paths.extend(home.map(|home| PathBuf::from(home).join(".kube").join("config")));
    }
    // kubectl passes over files of the list that are not there; so do we.
    let present: Vec<_> = paths.iter().filter(|path| path.exists()).collect();
    if present.is_empty() {
        if flags.server.is_some() {
            return Ok(Some(Kubeconfig::default()));
        }
        if from_variable {
            let names: Vec<_> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            return Err(config(format!(
                "none of the files in KUBECONFIG exists: {}",
                names.join(", ")
            )));
        }
        return Ok(None);
    }
    let mut merged = Kubeconfig::default();
    for path in present {
        merged.merge(one(path)?);
    }
    Ok(Some(merged))
}

fn config(why: impl Into<String>) -> HubError {
    HubError::Config(why.into())
}

/// The context that is meant, and its name; it has none where flags alone say what to do.
fn context(
    flags: &ConnectionFlags,
    kubeconfig: &Kubeconfig,
) -> Result<(String, KubeContext), HubError> {
    let current = Some(&kubeconfig.current_context).filter(|name| !name.is_empty());
    let asked = flags
        .context
        .as_ref()
        .filter(|name| !name.is_empty())
        .or(current);
    let (name, mut context) = match asked {
        None if flags.server.is_none() && flags.cluster.is_none() => {
            return Err(config("the kubeconfig has no current context"));
        }
        None => (String::new(), KubeContext::default()),
        Some(name) => {
            let Some(context) = named(&kubeconfig.contexts, name) else {
                let known = kubeconfig.contexts.iter();
                return Err(HubError::NoContext {
                    name: name.clone(),
                    known: known.map(|(name, _)| name.clone()).collect(),
                });
            };
            (name.clone(), context.clone())
        }
    };
    if let Some(cluster) = &flags.cluster {
        context.cluster.clone_from(cluster);
    }
    if let Some(user) = &flags.user {
        context.user.clone_from(user);
    }
    Ok((name, context))
}

fn cluster(
    flags: &ConnectionFlags,
    kubeconfig: &Kubeconfig,
    name: &str,
    context: &KubeContext,
) -> Result<KubeconfigCluster, HubError> {
    let known = named(&kubeconfig.clusters, &context.cluster);
    let mut cluster = match known {
        Some(cluster) => cluster.clone(),
        None if flags.cluster.is_some() || flags.server.is_none() => {
            return Err(config(if context.cluster.is_empty() {
                format!("the context {name:?} has no cluster")
            } else {
                format!("the kubeconfig has no cluster {:?}", context.cluster)
            }));
        }
        None => KubeconfigCluster::default(),
    };
    if let Some(server) = &flags.server {
        cluster.server.clone_from(server);
        // It is the other server's.
        cluster.tls_server_name.clear();
    }
    if let Some(name) = &flags.tls_server_name {
        cluster.tls_server_name.clone_from(name);
    }
    if flags.insecure {
        cluster.insecure_skip_tls_verify = true;
        // As with kubectl, an authority beside it would be a contradiction.
        cluster.certificate_authority.clear();
        cluster.certificate_authority_data = SecretString::default();
    }
    Ok(cluster)
}

fn user(
    flags: &ConnectionFlags,
    kubeconfig: &Kubeconfig,
    context: &KubeContext,
) -> Result<KubeconfigUser, HubError> {
    // As kubectl does: a user that is missing is nobody, unless a flag names it.
    let mut user = match named(&kubeconfig.users, &context.user) {
        Some(user) => user.clone(),
        None if flags.user.is_some() => {
            return Err(config(format!(
                "the kubeconfig has no user {:?}",
                context.user
            )));
        }
        None => KubeconfigUser::default(),
    };
    override_user(flags, &mut user);
    Ok(user)
}

fn override_user(flags: &ConnectionFlags, user: &mut KubeconfigUser) {
    if let Some(token) = flags.token.as_ref().filter(|token| !token.is_empty()) {
        user.token = token.clone().into();
        user.token_file.clear();
    }
    if let Some(name) = &flags.impersonate {
        user.as_user.clone_from(name);
    }
    if !flags.impersonate_groups.is_empty() {
        user.as_groups.clone_from(&flags.impersonate_groups);
    }
    if let Some(uid) = &flags.impersonate_uid {
        user.as_uid.clone_from(uid);
    }
}

/// The folder in which a pod finds who it is.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

fn in_cluster(
    flags: &ConnectionFlags,
    variable: EnvironmentVariable<'_>,
    running: &RunningPlugin,
) -> Result<ResolvedConnection, HubError> {
    let text = |name: &str| {
        let value = variable(name)?.into_string().ok()?;
        (!value.is_empty()).then_some(value)
    };
    let place = text("KUBERNETES_SERVICE_HOST").zip(text("KUBERNETES_SERVICE_PORT"));
    let token = format!("{SERVICE_ACCOUNT}/token");
    let (host, port) = place
        .filter(|_| Path::new(&token).is_file())
        .ok_or(HubError::NoConfig)?;
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host
    };
    let cluster = KubeconfigCluster {
        server: format!("https://{host}:{port}"),
        tls_server_name: flags.tls_server_name.clone().unwrap_or_default(),
        insecure_skip_tls_verify: flags.insecure,
        certificate_authority: if flags.insecure {
            String::new()
        } else {
            format!("{SERVICE_ACCOUNT}/ca.crt")
        },
        ..KubeconfigCluster::default()
    };
    let mut user = KubeconfigUser {
        token_file: token,
        ..KubeconfigUser::default()
    };
    override_user(flags, &mut user);
    let namespace = std::fs::read_to_string(format!("{SERVICE_ACCOUNT}/namespace"));
    let context = KubeContext {
        namespace: namespace.unwrap_or_default().trim().to_owned(),
        ..KubeContext::default()
    };
    Ok(ResolvedConnection {
        settings: settings(&context, &cluster, &user, variable, running)?,
        context: String::new(),
    })
}

/// An error with its causes, each said once.
pub(in crate::hub) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
