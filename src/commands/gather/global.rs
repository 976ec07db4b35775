//! Flags that every command understands.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::commands::gather::argument::ArgumentKind;
use crate::hub::{ConnectionFlags, SharedSignals};
use crate::ui::Color;

/// How long one request may take where nothing else is said, as `--request-timeout` has it.
const REQUEST: Duration = Duration::from_secs(30);
/// How long a user may take to log in.
const LOG_IN: Duration = Duration::from_mins(5);

/// Flags that every command understands.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalFlags {
    /// Use the kinds StagedUpdateRun, ResourcePlacement, and ApprovalRequest in this namespace
    /// [default: the cluster-scoped kinds]
    #[arg(short, long, global = true, value_name = "NAMESPACE")]
    #[arg(add = ArgumentKind::Namespaces)]
    pub namespace: Option<String>,
    /// Kubeconfig context of the hub [default: the current context]
    #[arg(long, global = true, value_name = "NAME")]
    #[arg(alias = "hub-cluster-context", add = ArgumentKind::Contexts)]
    pub context: Option<String>,
    /// Kubeconfig file [default: the files in KUBECONFIG, else ~/.kube/config]
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub kubeconfig: Option<String>,
    /// Kubeconfig cluster to use instead of the context's
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub cluster: Option<String>,
    /// Kubeconfig user to use instead of the context's
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub user: Option<String>,
    /// Address of the hub's API server
    #[arg(short = 's', long, global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    pub server: Option<String>,
    /// Bearer token to authenticate with
    #[arg(long, global = true, value_name = "TOKEN", hide_short_help = true)]
    pub token: Option<String>,
    /// Name that the server's certificate must have
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub tls_server_name: Option<String>,
    /// Skip the check of the server's certificate, which makes the connection insecure
    #[arg(long, global = true, hide_short_help = true)]
    pub insecure_skip_tls_verify: bool,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    #[arg(hide_short_help = true)]
    pub impersonate: Option<String>,
    /// Group to impersonate; repeatable
    #[arg(long = "as-group", global = true, value_name = "GROUP")]
    #[arg(hide_short_help = true)]
    pub impersonate_groups: Vec<String>,
    /// UID to impersonate
    #[arg(long = "as-uid", global = true, value_name = "UID")]
    #[arg(hide_short_help = true)]
    pub impersonate_uid: Option<String>,
    /// Time limit of one request to the hub, such as 10s or 1m; 0 means no limit
    #[arg(long, global = true, value_name = "DURATION", default_value = "30s")]
    #[arg(value_parser = crate::commands::duration, hide_short_help = true)]
    pub request_timeout: Duration,
    /// Objects per request when a list is read; 0 means all of them
    /// [default: 500, or 5000 for kinds with small objects]
    #[arg(long, global = true, value_name = "NUMBER", hide_short_help = true)]
    pub chunk_size: Option<usize>,
    /// When to use color
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(hide_short_help = true)]
    pub color: Color,
    /// Print only results, warnings, and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show everything: all clusters, values, and consequences
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

impl GlobalFlags {
    /// The flags that commands repeat, each with its value, so that they lead to the same hub as the
    /// same user. A token is none of them, nor a login in the address: they are secrets.
    pub fn repeated(&self) -> Vec<(&'static str, Option<String>)> {
        let server = self
            .server
            .as_ref()
            .map(|server| match server.find(['@', '?', '#']) {
                Some(_) => address(server),
                None => server.clone(),
            });
        let mut flags = Vec::new();
        for (flag, value) in [
            ("--context", &self.context),
            ("--kubeconfig", &self.kubeconfig),
            ("--server", &server),
            ("--cluster", &self.cluster),
            ("--user", &self.user),
            ("--tls-server-name", &self.tls_server_name),
            ("--as", &self.impersonate),
            ("--as-uid", &self.impersonate_uid),
        ] {
            let value = value.clone().filter(|value| !value.is_empty());
            flags.extend(value.map(|value| (flag, Some(value))));
        }
        let groups = self.impersonate_groups.iter();
        flags.extend(groups.map(|group| ("--as-group", Some(group.clone()))));
        if self.insecure_skip_tls_verify {
            flags.push(("--insecure-skip-tls-verify", None));
        }
        flags
    }

    /// What the flags say about the connection.
    pub fn connection(&self, interactive: bool) -> ConnectionFlags {
        ConnectionFlags {
            kubeconfig: self.kubeconfig.as_ref().map(PathBuf::from),
            context: self.context.clone(),
            cluster: self.cluster.clone(),
            user: self.user.clone(),
            server: self.server.clone(),
            token: self.token.clone(),
            tls_server_name: self.tls_server_name.clone(),
            insecure: self.insecure_skip_tls_verify,
            impersonate: self.impersonate.clone(),
            impersonate_groups: self.impersonate_groups.clone(),
            impersonate_uid: self.impersonate_uid.clone(),
            interactive,
            quiet: false,
            plugin_limit: self.plugin_limit(interactive),
            chunk_size: self.chunk_size,
            together: SharedSignals::default(),
            remembers: false,
        }
    }

    /// How long a credential plugin may take: as long as a request, and where a user may have to
    /// log in and has set no limit, as long as that takes.
    fn plugin_limit(&self, interactive: bool) -> Option<Duration> {
        match self.limit() {
            Some(REQUEST) if interactive => Some(LOG_IN),
            limit => limit,
        }
    }

    /// The time limit of one request; `None` for none.
    pub fn limit(&self) -> Option<Duration> {
        (!self.request_timeout.is_zero()).then_some(self.request_timeout)
    }
}

/// An address without what may be secret in it.
pub(in crate::commands) fn address(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{}", path.trim_end_matches('/'))
}
