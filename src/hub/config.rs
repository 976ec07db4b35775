//! Which hub, and as whom: kubeconfig files and flags, by kubectl's rules.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{
    AuthInfo, Cluster, Context, ExecInteractiveMode, KubeConfigOptions, Kubeconfig, NamedAuthInfo,
    NamedCluster, NamedContext,
};

use super::error::HubError;

/// What the command line says about the connection; what is `None` comes from the kubeconfig.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--kubeconfig`: this file alone.
    pub kubeconfig: Option<PathBuf>,
    /// `--context`.
    pub context: Option<String>,
    /// `--cluster`.
    pub cluster: Option<String>,
    /// `--user`.
    pub user: Option<String>,
    /// `--server`.
    pub server: Option<String>,
    /// `--token`.
    pub token: Option<String>,
    /// `--tls-server-name`.
    pub tls_server_name: Option<String>,
    /// `--insecure-skip-tls-verify`.
    pub insecure: bool,
    /// `--as`.
    pub impersonate: Option<String>,
    /// `--as-group`.
    pub impersonate_groups: Vec<String>,
    /// `--as-uid`.
    pub impersonate_uid: Option<String>,
    /// Whether a credential plugin may ask the user: standard input is a terminal.
    pub interactive: bool,
}

/// A connection's settings, and what the user calls it.
pub struct Resolved {
    /// The client's configuration.
    pub config: Config,
    /// The name of the context; empty in a cluster and with `--server` alone.
    pub context: String,
}

/// The name under which flags stand in a kubeconfig that has no entry for them.
const FROM_FLAGS: &str = "flags";

/// Finds the settings: the file of the flag, else the files of `KUBECONFIG` that exist, else
/// `~/.kube/config`, else what a pod in a cluster finds.
pub async fn resolve(
    flags: &Flags,
    variable: &(dyn Fn(&str) -> Option<OsString> + Sync),
) -> Result<Resolved, HubError> {
    let Some(mut kubeconfig) = read(flags, variable)? else {
        return in_cluster(flags);
    };
    let context = context(flags, &mut kubeconfig)?;
    override_cluster(flags, &mut kubeconfig, &context);
    override_user(flags, &mut kubeconfig, &context);
    let options = KubeConfigOptions {
        context: Some(context.clone()),
        cluster: flags.cluster.clone(),
        user: flags.user.clone(),
    };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| {
            HubError::Config(format!("the context {context:?} is unusable: {error}"))
        })?;
    finish(&mut config, flags, variable);
    Ok(Resolved {
        config,
        context: if context == FROM_FLAGS {
            String::new()
        } else {
            context
        },
    })
}

/// The settings of one context as it stands in the kubeconfig, with no flag's word on it.
pub(super) async fn of_context(
    mut kubeconfig: Kubeconfig,
    context: &str,
    variable: &(dyn Fn(&str) -> Option<OsString> + Send + Sync),
) -> Result<Config, HubError> {
    let flags = Flags::default();
    override_user(&flags, &mut kubeconfig, context);
    let options = KubeConfigOptions {
        context: Some(context.to_owned()),
        ..KubeConfigOptions::default()
    };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| HubError::Config(chain(&error)))?;
    finish(&mut config, &flags, variable);
    Ok(config)
}

/// The names of the contexts, for completion and `--member-contexts-from-kubeconfig`.
pub fn contexts(
    flags: &Flags,
    variable: &(dyn Fn(&str) -> Option<OsString> + Sync),
) -> Result<Vec<String>, HubError> {
    let names = read(flags, variable)?.map(|kubeconfig| {
        let contexts = kubeconfig.contexts.into_iter();
        contexts.map(|context| context.name).collect()
    });
    Ok(names.unwrap_or_default())
}

/// Reads and merges the files; `None` when there is none and nothing else names a server.
pub(super) fn read(
    flags: &Flags,
    variable: &(dyn Fn(&str) -> Option<OsString> + Sync),
) -> Result<Option<Kubeconfig>, HubError> {
    let one = |path: &Path| {
        Kubeconfig::read_from(path).map_err(|error| {
            HubError::Config(format!(
                "the kubeconfig {} cannot be read: {}",
                path.display(),
                chain(&error)
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
            return Err(HubError::Config(format!(
                "none of the files in KUBECONFIG exists: {}",
                names.join(", ")
            )));
        }
        return Ok(None);
    }
    let mut merged = Kubeconfig::default();
    for path in present {
        merged = merged.merge(one(path)?).map_err(|error| {
            HubError::Config(format!(
                "the files in KUBECONFIG do not go together: {error}"
            ))
        })?;
    }
    Ok(Some(merged))
}

/// The context that is meant, made up from the flags where the files have none.
fn context(flags: &Flags, kubeconfig: &mut Kubeconfig) -> Result<String, HubError> {
    let asked = flags
        .context
        .clone()
        .or_else(|| kubeconfig.current_context.clone())
        .filter(|name| !name.is_empty());
    let known = |name: &str| kubeconfig.contexts.iter().any(|known| known.name == name);
    match asked {
        Some(name) if known(&name) => Ok(name),
        Some(name) => Err(HubError::NoContext {
            name,
            known: kubeconfig
                .contexts
                .iter()
                .map(|known| known.name.clone())
                .collect(),
        }),
        None if flags.server.is_some() || flags.cluster.is_some() => {
            let cluster = flags
                .cluster
                .clone()
                .unwrap_or_else(|| FROM_FLAGS.to_owned());
            kubeconfig.contexts.push(NamedContext {
                name: FROM_FLAGS.to_owned(),
                context: Some(Context {
                    cluster,
                    user: Some(FROM_FLAGS.to_owned()),
                    ..Context::default()
                }),
                ..NamedContext::default()
            });
            Ok(FROM_FLAGS.to_owned())
        }
        None => Err(HubError::Config(
            "the kubeconfig has no current context".to_owned(),
        )),
    }
}

fn override_cluster(flags: &Flags, kubeconfig: &mut Kubeconfig, context: &str) {
    let own = kubeconfig
        .contexts
        .iter()
        .find(|known| known.name == context)
        .and_then(|known| Some(known.context.as_ref()?.cluster.clone()));
    let Some(name) = flags.cluster.clone().or(own) else {
        return;
    };
    let overridden = flags.server.is_some() || flags.tls_server_name.is_some() || flags.insecure;
    if !overridden {
        return;
    }
    if !kubeconfig.clusters.iter().any(|known| known.name == name) && flags.server.is_some() {
        kubeconfig.clusters.push(NamedCluster {
            name: name.clone(),
            cluster: Some(Cluster::default()),
            ..NamedCluster::default()
        });
    }
    let clusters = kubeconfig.clusters.iter_mut();
    for cluster in clusters.filter(|known| known.name == name) {
        let cluster = cluster.cluster.get_or_insert_default();
        if flags.server.is_some() {
            cluster.server.clone_from(&flags.server);
        }
        if flags.tls_server_name.is_some() {
            cluster.tls_server_name.clone_from(&flags.tls_server_name);
        }
        if flags.insecure {
            cluster.insecure_skip_tls_verify = Some(true);
            // As with kubectl, an authority beside it would be a contradiction.
            cluster.certificate_authority = None;
            cluster.certificate_authority_data = None;
        }
    }
}

fn override_user(flags: &Flags, kubeconfig: &mut Kubeconfig, context: &str) {
    let own = kubeconfig
        .contexts
        .iter()
        .find(|known| known.name == context)
        .and_then(|known| known.context.as_ref()?.user.clone());
    let name = flags
        .user
        .clone()
        .or(own)
        .unwrap_or_else(|| FROM_FLAGS.to_owned());
    if !kubeconfig.auth_infos.iter().any(|known| known.name == name) {
        kubeconfig.auth_infos.push(NamedAuthInfo {
            name: name.clone(),
            auth_info: Some(AuthInfo::default()),
            ..NamedAuthInfo::default()
        });
    }
    let context = kubeconfig
        .contexts
        .iter_mut()
        .find(|known| known.name == context);
    if let Some(context) = context.and_then(|known| known.context.as_mut()) {
        context.user.get_or_insert_with(|| name.clone());
    }
    let users = kubeconfig.auth_infos.iter_mut();
    for user in users.filter(|known| known.name == name) {
        let user = user.auth_info.get_or_insert_default();
        if let Some(token) = &flags.token {
            user.token = Some(token.clone().into());
            user.token_file = None;
            user.exec = None;
            user.auth_provider = None;
        }
        if flags.impersonate.is_some() {
            user.impersonate.clone_from(&flags.impersonate);
        }
        if !flags.impersonate_groups.is_empty() {
            user.impersonate_groups = Some(flags.impersonate_groups.clone());
        }
        if flags.impersonate_uid.is_some() {
            user.impersonate_uid.clone_from(&flags.impersonate_uid);
        }
        // A plugin must not swallow what is piped to us.
        if let Some(exec) = &mut user.exec
            && !flags.interactive
        {
            exec.interactive_mode = Some(ExecInteractiveMode::Never);
        }
    }
}

fn in_cluster(flags: &Flags) -> Result<Resolved, HubError> {
    let mut config = Config::incluster().map_err(|_| HubError::NoConfig)?;
    if let Some(token) = &flags.token {
        config.auth_info.token = Some(token.clone().into());
        config.auth_info.token_file = None;
    }
    config.auth_info.impersonate.clone_from(&flags.impersonate);
    if !flags.impersonate_groups.is_empty() {
        config.auth_info.impersonate_groups = Some(flags.impersonate_groups.clone());
    }
    config
        .auth_info
        .impersonate_uid
        .clone_from(&flags.impersonate_uid);
    finish(&mut config, flags, &|_| None);
    Ok(Resolved {
        config,
        context: String::new(),
    })
}

/// What holds however the settings were found.
fn finish(
    config: &mut Config,
    flags: &Flags,
    variable: &(dyn Fn(&str) -> Option<OsString> + Sync),
) {
    // The client's own retry sends writes again; reads are tried again by `request`, within their
    // time limit.
    config.default_retry = false;
    config.accept_invalid_certs |= flags.insecure;
    // kube compares NO_PROXY with the proxy's address; it names servers that need no proxy.
    if config.proxy_url.is_some() {
        let list = variable("NO_PROXY").or_else(|| variable("no_proxy"));
        let list = list.map(|list| list.to_string_lossy().into_owned());
        let from_environment = ["HTTPS_PROXY", "https_proxy"]
            .iter()
            .filter_map(|name| variable(name))
            .any(|value| {
                let value = value.to_string_lossy();
                let same = |url: &http::Uri| {
                    value.trim_end_matches('/') == url.to_string().trim_end_matches('/')
                };
                config.proxy_url.as_ref().is_some_and(same)
            });
        if from_environment
            && let (Some(list), Some(host)) = (list, config.cluster_url.host())
            && spares(&list, host)
        {
            config.proxy_url = None;
        }
    }
}

/// Whether a `NO_PROXY` list names the host.
fn spares(list: &str, host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    list.split(',').map(str::trim).any(|entry| {
        let suffix = entry.trim_start_matches("*.").trim_start_matches('.');
        let entry_host = suffix.split(':').next().unwrap_or(suffix);
        entry == "*"
            || (!entry_host.is_empty()
                && (host == entry_host || host.ends_with(&format!(".{entry_host}"))))
            || in_network(entry, host)
    })
}

/// Whether an address lies in a network such as `10.0.0.0/8`.
fn in_network(network: &str, host: &str) -> bool {
    let Some((base, bits)) = network.split_once('/') else {
        return false;
    };
    let (Ok(base), Ok(host), Ok(bits)) = (
        base.parse::<std::net::Ipv4Addr>(),
        host.parse::<std::net::Ipv4Addr>(),
        bits.parse::<u32>(),
    ) else {
        return false;
    };
    let mask = u32::MAX
        .checked_shl(32_u32.saturating_sub(bits))
        .unwrap_or(0);
    bits <= 32 && (u32::from(base) & mask) == (u32::from(host) & mask)
}

/// An error with its causes, each said once.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
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
