//! How a server is reached, and as whom: what a cluster and a user of a kubeconfig say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use rustls::pki_types::ServerName;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::proxy::proxy;
use super::{EnvironmentVariable, config};
use crate::hub::connect::address::{ServerAddress, basic};
use crate::hub::connect::credentials::plugin::{Plugin, RunningPlugin};
use crate::hub::connect::credentials::{CredentialSource, Credentials, bearer, policy};
use crate::hub::connect::files::{self, unreadable};
use crate::hub::connect::kubeconfig::{KubeContext, KubeconfigCluster, KubeconfigUser};
use crate::hub::connect::tls::{ClientIdentity, Trust, authorities};
use crate::hub::error::HubError;
use crate::kubefleet::path::encode;

#[derive(Debug)]
pub(in crate::hub) struct ConnectionSettings {
    pub address: ServerAddress,
    /// The namespace that the context names; `default` where it names none.
    pub namespace: String,
    pub compressed: bool,
    /// How the connection is made secure; `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// What stands between.
    pub proxy: Option<ServerAddress>,
    /// What each request says beside who asks.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub credentials: Arc<Credentials>,
}

#[cfg(test)]
impl ConnectionSettings {
    /// A server on its own, without credentials.
    pub(in crate::hub) fn of(server: &str) -> Self {
        Self {
            address: ServerAddress::server(server).unwrap(),
            namespace: "default".to_owned(),
            compressed: true,
            tls: None,
            proxy: None,
            headers: Vec::new(),
            credentials: Arc::new(Credentials::new(CredentialSource::None)),
        }
    }
}

#[derive(Debug)]
pub(in crate::hub) struct Tls {
    pub trust: Trust,
    /// The name that the server's certificate must have.
    pub name: ServerName<'static>,
    pub identity: Option<ClientIdentity>,
}

/// Checks what a connection is made with, and reads the files that it names.
pub(super) fn settings(
    context: &KubeContext,
    cluster: &KubeconfigCluster,
    user: &KubeconfigUser,
    variable: EnvironmentVariable<'_>,
    running: &RunningPlugin,
) -> Result<ConnectionSettings, HubError> {
    if cluster.server.is_empty() {
        return Err(config(format!(
            "the cluster {:?} has no server",
            context.cluster
        )));
    }
    let mut address = ServerAddress::server(&cluster.server)
        .map_err(|why| config(format!("the server's address cannot be used: {why}")))?;
    check_user(user).map_err(|why| config(format!("the user {:?} {why}", context.user)))?;
    let headers = headers(user)?;
    let proxy = proxy(cluster, &address, variable)?;
    let login = address.login.take();
    // Over plain HTTP anyone could read who asks: nothing of it is sent, or even read.
    let (tls, login) = if address.is_secure() {
        let identity = identity(user)?;
        let header = login.map(|login| login.header());
        let shown = header.is_some() || identity.is_some();
        let login = match header {
            Some(header) => CredentialSource::Header(header),
            None => self::login(user, shown, variable, running, || {
                plugin_server_info(cluster, &address, proxy.as_ref())
            })?,
        };
        (Some(tls(cluster, &address, identity)?), login)
    } else {
        check_trust(cluster)?;
        (None, CredentialSource::None)
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
fn check_user(user: &KubeconfigUser) -> Result<(), &'static str> {
    let set = |secret: &SecretString| !secret.expose_secret().is_empty();
    let basic = !user.username.is_empty() || set(&user.password);
    if basic && (set(&user.token) || !user.token_file.is_empty()) {
        return Err("has both a token and a password, but only one is allowed");
    }
    let (certificate, key) = (&user.client_certificate, &user.client_key);
    let (certificate_data, key_data) = (&user.client_certificate_data, &user.client_key_data);
    if !certificate.is_empty() || set(certificate_data) {
        if !certificate.is_empty() && set(certificate_data) {
            return Err("has both client-certificate and client-certificate-data");
        }
        if !key.is_empty() && set(key_data) {
            return Err("has both client-key and client-key-data");
        }
        if key.is_empty() && !set(key_data) {
            return Err("has a client certificate, but no client-key");
        }
    }
    if user.exec.is_some() && user.auth_provider.is_some() {
        return Err("has both exec and auth-provider");
    }
    if user.as_user.is_empty()
        && (!user.as_uid.is_empty() || !user.as_groups.is_empty() || !user.as_user_extra.is_empty())
    {
        return Err("impersonates a group, a UID, or extra fields, but no user: add --as");
    }
    Ok(())
}

fn headers(user: &KubeconfigUser) -> Result<Vec<(HeaderName, HeaderValue)>, HubError> {
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
    if user.as_user.is_empty() {
        return Ok(headers);
    }
    add("impersonate-user", &user.as_user, "user")?;
    if !user.as_uid.is_empty() {
        add("impersonate-uid", &user.as_uid, "uid")?;
    }
    for group in &user.as_groups {
        add("impersonate-group", group, "group")?;
    }
    for (key, values) in &user.as_user_extra {
        for value in values {
            let name = format!("impersonate-extra-{}", encode(key));
            add(&name, value, "extra field")?;
        }
    }
    Ok(headers)
}

/// The bytes of something that stands in the kubeconfig or in a file.
fn load(file: &str, data: &SecretString, what: &str) -> Result<Option<Vec<u8>>, HubError> {
    let data = data.expose_secret();
    if !data.is_empty() {
        let text: String = data.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        let bytes = STANDARD.decode(text);
        return bytes
            .map(Some)
            .map_err(|_| config(format!("{what}-data is not base64")));
    }
    if file.is_empty() {
        return Ok(None);
    }
    let bytes = files::read(Path::new(file));
    bytes.map(Some).map_err(|error| {
        config(format!(
            "{what} {file} cannot be read: {}",
            unreadable(error.kind())
        ))
    })
}

fn identity(user: &KubeconfigUser) -> Result<Option<ClientIdentity>, HubError> {
    let (file, data) = (&user.client_certificate, &user.client_certificate_data);
    let Some(certificate) = load(file, data, "client-certificate")? else {
        return Ok(None);
    };
    let key = load(&user.client_key, &user.client_key_data, "client-key")?.unwrap_or_default();
    let identity = ClientIdentity::read(&certificate, &key);
    let identity =
        identity.map_err(|why| config(format!("the client certificate cannot be used: {why}")));
    identity.map(Some)
}

/// What kubectl refuses in the trust of a cluster.
fn check_trust(cluster: &KubeconfigCluster) -> Result<(), HubError> {
    let data = cluster.certificate_authority_data.expose_secret();
    if !data.is_empty() && !cluster.certificate_authority.is_empty() {
        return Err(config(
            "the cluster has both certificate-authority and certificate-authority-data",
        ));
    }
    Ok(())
}

fn authority(cluster: &KubeconfigCluster) -> Result<Option<Vec<u8>>, HubError> {
    let (file, data) = (
        &cluster.certificate_authority,
        &cluster.certificate_authority_data,
    );
    load(file, data, "certificate-authority")
}

fn tls(
    cluster: &KubeconfigCluster,
    address: &ServerAddress,
    identity: Option<ClientIdentity>,
) -> Result<Tls, HubError> {
    check_trust(cluster)?;
    let bundle = authority(cluster)?;
    let trust = match bundle {
        Some(_) if cluster.insecure_skip_tls_verify => {
            return Err(config(
                "the cluster has both certificate-authority and insecure-skip-tls-verify",
            ));
        }
        Some(bundle) => authorities(&bundle)
            .map_err(|why| config(format!("certificate-authority cannot be used: {why}")))?,
        None if cluster.insecure_skip_tls_verify => Trust::Any,
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
    user: &KubeconfigUser,
    shown: bool,
    variable: EnvironmentVariable<'_>,
    running: &RunningPlugin,
    told: impl FnOnce() -> Value,
) -> Result<CredentialSource, HubError> {
    let bad = |why: &str| config(why.to_owned());
    let token = user.token.expose_secret();
    if !user.token_file.is_empty() {
        let otherwise = match token {
            "" => None,
            token => Some(bearer(token).map_err(bad)?),
        };
        return Ok(CredentialSource::File {
            path: PathBuf::from(&user.token_file),
            otherwise,
        });
    }
    if !token.is_empty() {
        return Ok(CredentialSource::Header(bearer(token).map_err(bad)?));
    }
    if !user.username.is_empty() {
        let password = user.password.expose_secret();
        return Ok(CredentialSource::Header(basic(&user.username, password)));
    }
    if let Some(provider) = &user.auth_provider {
        let token = provider.config.id_token.expose_secret();
        return match provider.name.as_str() {
            "oidc" if !token.is_empty() => {
                Ok(CredentialSource::Header(bearer(token).map_err(bad)?))
            }
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
            Ok(CredentialSource::Plugin(Box::new(plugin)))
        }
        _ => Ok(CredentialSource::None),
    }
}

fn plugin_server_info(
    cluster: &KubeconfigCluster,
    address: &ServerAddress,
    proxy: Option<&ServerAddress>,
) -> Value {
    let mut told = json!({"server": address.shown()});
    if !cluster.tls_server_name.is_empty() {
        told["tls-server-name"] = json!(cluster.tls_server_name);
    }
    if cluster.insecure_skip_tls_verify {
        told["insecure-skip-tls-verify"] = json!(true);
    }
    if let Ok(Some(bundle)) = authority(cluster) {
        told["certificate-authority-data"] = json!(STANDARD.encode(bundle));
    }
    if let Some(proxy) = proxy {
        told["proxy-url"] = json!(proxy.shown());
    }
    if cluster.disable_compression {
        told["disable-compression"] = json!(true);
    }
    let mut extensions = cluster.extensions.iter();
    if let Some(own) = extensions.find(|it| it.name == "client.authentication.k8s.io/exec") {
        told["config"] = own.extension.clone();
    }
    told
}
