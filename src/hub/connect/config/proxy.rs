//! The proxy before a server.

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

use super::{EnvironmentVariable, config};
use crate::hub::connect::address::ServerAddress;
use crate::hub::connect::kubeconfig::KubeconfigCluster;
use crate::hub::error::HubError;

/// What stands between: the kubeconfig's proxy, else the environment's.
pub(super) fn proxy(
    cluster: &KubeconfigCluster,
    server: &ServerAddress,
    variable: EnvironmentVariable<'_>,
) -> Result<Option<ServerAddress>, HubError> {
    let bad = |what: &str, why: &str| config(format!("{what} cannot be used: {why}"));
    if !cluster.proxy_url.is_empty() {
        let proxy = ServerAddress::proxy(&cluster.proxy_url);
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
    if text(["NO_PROXY", "no_proxy"]).is_some_and(|list| spares(&list, &server.uri)) {
        return Ok(None);
    }
    let named = if named.contains("://") {
        named
    } else {
        format!("http://{named}")
    };
    let proxy = ServerAddress::proxy(&named);
    proxy.map(Some).map_err(|why| bad("HTTPS_PROXY", why))
}

/// Whether a host is this machine, for which the environment's proxies do not count.
fn is_here(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Whether a `NO_PROXY` list names the server. A port in it does not count, and `*.example` is
/// `.example`, as in Go.
pub(super) fn spares(list: &str, server: &Uri) -> bool {
    let entries = list.split(',').map(|entry| {
        let entry = entry.trim();
        let entry = entry.strip_prefix("*.").unwrap_or(entry);
        match entry.split_once(':') {
            Some((host, port)) if !port.contains(':') => host,
            _ => entry,
        }
    });
    let entries: Vec<_> = entries.collect();
    let any = "http://proxy";
    let matcher = Matcher::builder()
        .http(any)
        .https(any)
        .no(entries.join(","));
    entries.contains(&"*") || matcher.build().intercept(server).is_none()
}
