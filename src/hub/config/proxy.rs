//! The proxy before a server.

use super::{Variable, config};
use crate::hub::address::Address;
use crate::hub::error::HubError;
use crate::hub::kubeconfig::Cluster;

/// What stands between: the kubeconfig's proxy, else the environment's.
pub(super) fn proxy(
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
pub(super) fn spares(list: &str, host: &str) -> bool {
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
