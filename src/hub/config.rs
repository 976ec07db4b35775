//! Which hub, and as whom: kubeconfig files and flags, by kubectl's rules.
//!
//! This is the one place that makes errors about them. They are made of names, places and kinds:
//! values may be secrets, and are never shown.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use rustls::pki_types::ServerName;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::address::{Address, basic};
use super::credentials::plugin::{Plugin, RunningPlugin};
use super::credentials::{Credentials, Login, bearer, policy};
use super::error::HubError;
use super::kubeconfig::{
    Cluster, ConfigSource, Impersonation, KubeContext, Kubeconfig, User, named, unreadable,
};
use super::signals::Together;
use super::tls::{ClientIdentity, Trust, authorities};
use crate::kubefleet::path::encode;

/// What the command line says about the connection; what is `None` comes from the kubeconfig.
#[derive(Clone, Default)]
pub struct Flags {
    /// `--kubeconfig`: this file alone.
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    pub cluster: Option<String>,
    pub user: Option<String>,
    pub server: Option<String>,
    pub token: Option<String>,
    pub tls_server_name: Option<String>,
    /// `--insecure-skip-tls-verify`.
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
    /// The hubs that are asked at the same time.
    pub together: Together,
    /// Whether it may be remembered from an earlier call what the hub serves. What is written must
    /// not depend on that.
    pub remembers: bool,
}

/// A connection's settings, and what the user calls it.
#[derive(Debug)]
pub(super) struct Resolved {
    /// The connection.
    pub settings: ConnectionSettings,
    /// The name of the context; empty in a cluster and with `--server` alone.
    pub context: String,
}

/// What a connection is made with.
#[derive(Debug)]
pub(super) struct ConnectionSettings {
    /// The server.
    pub address: Address,
    /// The namespace that the context names; `default` where it names none.
    pub namespace: String,
    /// Whether answers may be compressed.
    pub compressed: bool,
    /// How the connection is made secure; `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// What stands between.
    pub proxy: Option<Address>,
    /// What each request says beside who asks.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Who asks.
    pub credentials: Arc<Credentials>,
}

#[cfg(test)]
impl ConnectionSettings {
    /// A server on its own, without credentials.
    pub(super) fn of(server: &str) -> Self {
        Self {
            address: Address::server(server).unwrap(),
            namespace: "default".to_owned(),
            compressed: true,
            tls: None,
            proxy: None,
            headers: Vec::new(),
            credentials: Arc::new(Credentials::new(Login::None)),
        }
    }
}

/// How a connection is made secure.
#[derive(Debug)]
pub(super) struct Tls {
    pub trust: Trust,
    /// The name that the server's certificate must have.
    pub name: ServerName<'static>,
    pub identity: Option<ClientIdentity>,
}

/// How the environment is read.
type Variable<'v> = &'v (dyn Fn(&str) -> Option<OsString> + Sync);

/// Finds the settings: the file of the flag, else the files of `KUBECONFIG` that exist, else
/// `~/.kube/config`, else what a pod in a cluster finds.
pub(super) fn resolve(
    flags: &Flags,
    variable: Variable<'_>,
    running: &RunningPlugin,
) -> Result<Resolved, HubError> {
    let Some(kubeconfig) = read(flags, variable)? else {
        return in_cluster(flags, variable, running);
    };
    let (name, context) = context(flags, &kubeconfig)?;
    let cluster = cluster(flags, &kubeconfig, &name, &context)?;
    let user = user(flags, &kubeconfig, &context)?;
    let settings = settings(&context, &cluster, &user, variable, running)?;
    Ok(Resolved {
        settings,
        context: name,
    })
}

/// The settings of one context as it stands in the kubeconfig, with no flag's word on it.
pub(super) fn of_context(
    kubeconfig: &Kubeconfig,
    context: &str,
    variable: Variable<'_>,
    running: &RunningPlugin,
) -> Result<ConnectionSettings, HubError> {
    let flags = Flags {
        context: Some(context.to_owned()),
        ..Flags::default()
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
    flags: &Flags,
    variable: Variable<'_>,
) -> Result<Vec<(String, Option<HubPlace>)>, HubError> {
    let Some(kubeconfig) = read(flags, variable)? else {
        return Ok(Vec::new());
    };
    let place = |context: &KubeContext| {
        let cluster = named(&kubeconfig.clusters, &context.cluster)?;
        Some(HubPlace {
            server: cluster.server.trim_end_matches('/').to_owned(),
            tls_server_name: cluster.tls_server_name.clone(),
            proxy: cluster.proxy.clone(),
            user: context.user.clone(),
        })
    };
    let contexts = kubeconfig.contexts.iter();
    Ok(contexts
        .map(|(name, context)| (name.clone(), place(context)))
        .collect())
}

/// Reads and merges the files; `None` when there is none and nothing else names a server.
pub(super) fn read(flags: &Flags, variable: Variable<'_>) -> Result<Option<Kubeconfig>, HubError> {
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
fn context(flags: &Flags, kubeconfig: &Kubeconfig) -> Result<(String, KubeContext), HubError> {
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
    flags: &Flags,
    kubeconfig: &Kubeconfig,
    name: &str,
    context: &KubeContext,
) -> Result<Cluster, HubError> {
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
        None => Cluster::default(),
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
        cluster.insecure = true;
        // As with kubectl, an authority beside it would be a contradiction.
        cluster.authority = ConfigSource::default();
    }
    Ok(cluster)
}

fn user(flags: &Flags, kubeconfig: &Kubeconfig, context: &KubeContext) -> Result<User, HubError> {
    // As kubectl does: a user that is missing is nobody, unless a flag names it.
    let mut user = match named(&kubeconfig.users, &context.user) {
        Some(user) => user.clone(),
        None if flags.user.is_some() => {
            return Err(config(format!(
                "the kubeconfig has no user {:?}",
                context.user
            )));
        }
        None => User::default(),
    };
    override_user(flags, &mut user);
    Ok(user)
}

fn override_user(flags: &Flags, user: &mut User) {
    if let Some(token) = flags.token.as_ref().filter(|token| !token.is_empty()) {
        user.token = token.clone().into();
        user.token_file.clear();
    }
    let impersonate = &mut user.impersonate;
    if let Some(name) = &flags.impersonate {
        impersonate.user.clone_from(name);
    }
    if !flags.impersonate_groups.is_empty() {
        impersonate.groups.clone_from(&flags.impersonate_groups);
    }
    if let Some(uid) = &flags.impersonate_uid {
        impersonate.uid.clone_from(uid);
    }
}

/// The folder in which a pod finds who it is.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

fn in_cluster(
    flags: &Flags,
    variable: Variable<'_>,
    running: &RunningPlugin,
) -> Result<Resolved, HubError> {
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
    let cluster = Cluster {
        server: format!("https://{host}:{port}"),
        tls_server_name: flags.tls_server_name.clone().unwrap_or_default(),
        insecure: flags.insecure,
        authority: if flags.insecure {
            ConfigSource::default()
        } else {
            ConfigSource {
                file: format!("{SERVICE_ACCOUNT}/ca.crt"),
                ..ConfigSource::default()
            }
        },
        ..Cluster::default()
    };
    let mut user = User {
        token_file: token,
        ..User::default()
    };
    override_user(flags, &mut user);
    let namespace = std::fs::read_to_string(format!("{SERVICE_ACCOUNT}/namespace"));
    let context = KubeContext {
        namespace: namespace.unwrap_or_default().trim().to_owned(),
        ..KubeContext::default()
    };
    Ok(Resolved {
        settings: settings(&context, &cluster, &user, variable, running)?,
        context: String::new(),
    })
}

/// Checks what a connection is made with, and reads the files that it names.
fn settings(
    context: &KubeContext,
    cluster: &Cluster,
    user: &User,
    variable: Variable<'_>,
    running: &RunningPlugin,
) -> Result<ConnectionSettings, HubError> {
    if cluster.server.is_empty() {
        return Err(config(format!(
            "the cluster {:?} has no server",
            context.cluster
        )));
    }
    let mut address = Address::server(&cluster.server)
        .map_err(|why| config(format!("the server's address cannot be used: {why}")))?;
    check_user(user).map_err(|why| config(format!("the user {:?} {why}", context.user)))?;
    let headers = headers(&user.impersonate)?;
    let proxy = proxy(cluster, &address, variable)?;
    let login = address.login.take();
    // Over plain HTTP anyone could read who asks: nothing of it is sent, or even read.
    let (tls, login) = if address.is_secure() {
        let identity = identity(user)?;
        let header = login.map(|login| login.header());
        let shown = header.is_some() || identity.is_some();
        let login = match header {
            Some(header) => Login::Header(header),
            None => self::login(user, shown, variable, running, || {
                told(cluster, &address, proxy.as_ref())
            })?,
        };
        (Some(tls(cluster, &address, identity)?), login)
    } else {
        check_trust(cluster)?;
        (None, Login::None)
    };
    Ok(ConnectionSettings {
        address,
        namespace: match context.namespace.as_str() {
            "" => "default".to_owned(),
            named => named.to_owned(),
        },
        compressed: !cluster.disable_compression,
        tls,
        proxy,
        headers,
        credentials: Arc::new(Credentials::new(login)),
    })
}

/// What kubectl refuses in a user.
fn check_user(user: &User) -> Result<(), &'static str> {
    let set = |secret: &SecretString| !secret.expose_secret().is_empty();
    let given = |source: &ConfigSource| !source.file.is_empty() || set(&source.data);
    let twice = |source: &ConfigSource| !source.file.is_empty() && set(&source.data);
    let basic = !user.username.is_empty() || set(&user.password);
    if basic && (set(&user.token) || !user.token_file.is_empty()) {
        return Err("has both a token and a password, but only one is allowed");
    }
    if given(&user.certificate) {
        if twice(&user.certificate) {
            return Err("has both client-certificate and client-certificate-data");
        }
        if twice(&user.key) {
            return Err("has both client-key and client-key-data");
        }
        if !given(&user.key) {
            return Err("has a client certificate, but no client-key");
        }
    }
    if user.exec.is_some() && user.provider.is_some() {
        return Err("has both exec and auth-provider");
    }
    let other = &user.impersonate;
    if other.user.is_empty()
        && (!other.uid.is_empty() || !other.groups.is_empty() || !other.extra.is_empty())
    {
        return Err("impersonates a group, a UID, or extra fields, but no user: add --as");
    }
    Ok(())
}

/// The headers that say who is impersonated.
fn headers(other: &Impersonation) -> Result<Vec<(HeaderName, HeaderValue)>, HubError> {
    let mut headers = Vec::new();
    let mut add = |name: &str, value: &str, what: &str| {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_bytes(value.as_bytes());
        match (name, value) {
            (Ok(name), Ok(value)) => {
                headers.push((name, value));
                Ok(())
            }
            _ => Err(config(format!(
                "the {what} to impersonate has a character that is invalid in an HTTP header"
            ))),
        }
    };
    if other.user.is_empty() {
        return Ok(headers);
    }
    add("impersonate-user", &other.user, "user")?;
    if !other.uid.is_empty() {
        add("impersonate-uid", &other.uid, "uid")?;
    }
    for group in &other.groups {
        add("impersonate-group", group, "group")?;
    }
    for (key, values) in &other.extra {
        for value in values {
            let name = format!("impersonate-extra-{}", encode(key));
            add(&name, value, "extra field")?;
        }
    }
    Ok(headers)
}

/// The bytes of something that stands in the kubeconfig or in a file.
fn load(source: &ConfigSource, what: &str) -> Result<Option<Vec<u8>>, HubError> {
    let data = source.data.expose_secret();
    if !data.is_empty() {
        let text: String = data.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        let bytes = STANDARD.decode(text);
        return bytes
            .map(Some)
            .map_err(|_| config(format!("{what}-data is not base64")));
    }
    if source.file.is_empty() {
        return Ok(None);
    }
    std::fs::read(&source.file).map(Some).map_err(|error| {
        config(format!(
            "{what} {} cannot be read: {}",
            source.file,
            unreadable(error.kind())
        ))
    })
}

fn identity(user: &User) -> Result<Option<ClientIdentity>, HubError> {
    let Some(certificate) = load(&user.certificate, "client-certificate")? else {
        return Ok(None);
    };
    let key = load(&user.key, "client-key")?.unwrap_or_default();
    let identity = ClientIdentity::read(&certificate, &key);
    let identity =
        identity.map_err(|why| config(format!("the client certificate cannot be used: {why}")));
    identity.map(Some)
}

/// What kubectl refuses in the trust of a cluster.
fn check_trust(cluster: &Cluster) -> Result<(), HubError> {
    let inline = !cluster.authority.data.expose_secret().is_empty();
    if inline && !cluster.authority.file.is_empty() {
        return Err(config(
            "the cluster has both certificate-authority and certificate-authority-data",
        ));
    }
    Ok(())
}

fn tls(
    cluster: &Cluster,
    address: &Address,
    identity: Option<ClientIdentity>,
) -> Result<Tls, HubError> {
    check_trust(cluster)?;
    let bundle = load(&cluster.authority, "certificate-authority")?;
    let trust = match bundle {
        Some(_) if cluster.insecure => {
            return Err(config(
                "the cluster has both certificate-authority and insecure-skip-tls-verify",
            ));
        }
        Some(bundle) => authorities(&bundle)
            .map_err(|why| config(format!("certificate-authority cannot be used: {why}")))?,
        None if cluster.insecure => Trust::Any,
        None => Trust::System,
    };
    let (name, what) = match cluster.tls_server_name.as_str() {
        "" => (address.host(), "the host in the server's address"),
        name => (name, "tls-server-name"),
    };
    let name = ServerName::try_from(name.to_owned())
        .map_err(|_| config(format!("{what} is not a valid name for a certificate")))?;
    Ok(Tls {
        trust,
        name,
        identity,
    })
}

/// How the user logs in; `shown` when something else says already who asks.
fn login(
    user: &User,
    shown: bool,
    variable: Variable<'_>,
    running: &RunningPlugin,
    told: impl FnOnce() -> Value,
) -> Result<Login, HubError> {
    let bad = |why: &str| config(why.to_owned());
    let token = user.token.expose_secret();
    if !user.token_file.is_empty() {
        let otherwise = match token {
            "" => None,
            token => Some(bearer(token).map_err(bad)?),
        };
        return Ok(Login::File {
            path: PathBuf::from(&user.token_file),
            otherwise,
        });
    }
    if !token.is_empty() {
        return Ok(Login::Header(bearer(token).map_err(bad)?));
    }
    if !user.username.is_empty() {
        let password = user.password.expose_secret();
        return Ok(Login::Header(basic(&user.username, password)));
    }
    if let Some(provider) = &user.provider {
        let token = provider.id_token.expose_secret();
        return match provider.name.as_str() {
            "oidc" if !token.is_empty() => Ok(Login::Header(bearer(token).map_err(bad)?)),
            "oidc" => Err(HubError::Credentials(
                "the auth-provider oidc has no id-token".to_owned(),
            )),
            _ => Err(HubError::Credentials(
                "the user's auth-provider was removed from kubectl: use its exec plugin".to_owned(),
            )),
        };
    }
    match &user.exec {
        Some(exec) if !shown => {
            let policy = policy::read(variable);
            let plugin = Plugin::new(exec, told(), &policy, running.clone(), variable);
            let plugin = plugin.map_err(HubError::Credentials)?;
            Ok(Login::Plugin(Box::new(plugin)))
        }
        _ => Ok(Login::None),
    }
}

/// What a plugin is told of the server.
fn told(cluster: &Cluster, address: &Address, proxy: Option<&Address>) -> Value {
    let mut told = json!({"server": address.shown()});
    if !cluster.tls_server_name.is_empty() {
        told["tls-server-name"] = json!(cluster.tls_server_name);
    }
    if cluster.insecure {
        told["insecure-skip-tls-verify"] = json!(true);
    }
    if let Ok(Some(bundle)) = load(&cluster.authority, "certificate-authority") {
        told["certificate-authority-data"] = json!(STANDARD.encode(bundle));
    }
    if let Some(proxy) = proxy {
        told["proxy-url"] = json!(proxy.shown());
    }
    if cluster.disable_compression {
        told["disable-compression"] = json!(true);
    }
    if let Some(extension) = &cluster.extension {
        told["config"] = extension.clone();
    }
    told
}

/// What stands between: the kubeconfig's proxy, else the environment's.
fn proxy(
    cluster: &Cluster,
    server: &Address,
    variable: Variable<'_>,
) -> Result<Option<Address>, HubError> {
    let bad = |what: &str, why: &str| config(format!("{what} cannot be used: {why}"));
    if !cluster.proxy.is_empty() {
        let proxy = Address::proxy(&cluster.proxy);
        return proxy.map(Some).map_err(|why| bad("proxy-url", why));
    }
    if !server.is_secure() || is_here(server.host()) {
        return Ok(None);
    }
    let text = |names: [&str; 2]| {
        let mut values = names.into_iter().filter_map(variable);
        let value = values.find(|value| !value.is_empty())?;
        Some(value.to_string_lossy().into_owned())
    };
    let Some(named) = text(["HTTPS_PROXY", "https_proxy"]) else {
        return Ok(None);
    };
    if text(["NO_PROXY", "no_proxy"]).is_some_and(|list| spares(&list, server.host())) {
        return Ok(None);
    }
    let named = if named.contains("://") {
        named
    } else {
        format!("http://{named}")
    };
    let proxy = Address::proxy(&named);
    proxy.map(Some).map_err(|why| bad("HTTPS_PROXY", why))
}

/// Whether a host is this machine, for which the environment's proxies do not count.
fn is_here(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
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
