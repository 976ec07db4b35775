//! What can go wrong between us and a hub.

use std::time::Duration;

use crate::kubefleet::Kind;
use crate::words::{CommandLine, Hint};

/// What went wrong between us and a hub.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum HubError {
    /// Neither a kubeconfig nor a cluster around us.
    #[error("no kubeconfig found, and not running in a pod")]
    NoConfig,
    /// The kubeconfig cannot be used, and why.
    #[error("{0}")]
    Config(String),
    /// The context is in none of the files.
    #[error("the kubeconfig has no context {name:?}")]
    NoContext {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// No connection.
    #[error("cannot reach the hub at {url}: {why}")]
    Unreachable {
        /// The server's address.
        url: String,
        /// What the connection says.
        why: String,
    },
    /// A connection without trust.
    #[error("no secure connection to the hub at {url}: {why}")]
    Tls {
        /// The server's address.
        url: String,
        /// What the handshake says.
        why: String,
    },
    /// The credentials could not be had: a plugin failed, say.
    #[error("no credentials for the hub: {0}")]
    Credentials(String),
    /// 401: the server does not know who we are.
    #[error("the hub rejected the credentials: {0}")]
    Unauthorized(String),
    /// 403, in the server's words.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// 404 for an object.
    #[error("not found: {0}")]
    NotFound(String),
    /// 404 for a path: the kind, or this version of it, is not served.
    #[error("the hub does not serve the requested resource: {0}")]
    NotRouted(String),
    /// 410: a continued list or a watch that is too old.
    #[error("the list expired on the hub while it was read")]
    Gone,
    /// Nothing came within the time limit.
    #[error("no answer within {0}")]
    TimedOut(String),
    /// The time limit of the command is over, of which the hub took most.
    #[error("no answer within --timeout ({0})")]
    OutOfTime(String),
    /// A success that is not what was asked for, such as a proxy's page.
    #[error("the API server answered with {got} instead of {wanted}")]
    WrongAnswer {
        /// What was asked for.
        wanted: String,
        /// What came, in its own words.
        got: String,
    },
    /// One answer is larger than any may be.
    #[error("{0}")]
    TooLarge(String),
    /// More came than a list, an object, or a command may have.
    #[error("{0}")]
    TooMuch(String),
    /// The answer broke off, or is no JSON.
    #[error("the hub's answer is invalid: {0}")]
    Broken(String),
    /// Any other answer that is no success.
    #[error("the hub answered {code}: {message}")]
    Refused {
        /// The HTTP status.
        code: u16,
        /// The server's words.
        message: String,
        /// The reason, as Kubernetes names it; empty where the answer is not Kubernetes'.
        reason: String,
    },
    /// The API server is no hub of a fleet.
    #[error("the API server at {0} is not a KubeFleet hub: it does not serve {group}", group = crate::kubefleet::kind::PLACEMENT_GROUP)]
    NotAHub(String),
    /// The API server has rollouts, and none that are read here.
    #[error("the API server at {0} does not serve {group}: it serves {1}, which this plugin version \
        does not read", group = crate::kubefleet::kind::PLACEMENT_GROUP)]
    OtherEngine(String, String),
    /// The user wants it to end.
    #[error("interrupted")]
    Interrupted,
    /// A hub without staged update runs of this kind.
    #[error("the hub does not serve {0}")]
    NotServed(Kind),
}

impl HubError {
    /// The same where what an answer said becomes this.
    pub(super) fn with_words(self, change: impl Fn(String) -> String) -> Self {
        match self {
            Self::Unauthorized(words) => Self::Unauthorized(change(words)),
            Self::Forbidden(words) => Self::Forbidden(change(words)),
            Self::NotFound(words) => Self::NotFound(change(words)),
            Self::NotRouted(words) => Self::NotRouted(change(words)),
            Self::Broken(words) => Self::Broken(change(words)),
            Self::WrongAnswer { wanted, got } => Self::WrongAnswer {
                wanted,
                got: change(got),
            },
            Self::Refused {
                code,
                message,
                reason,
            } => Self::Refused {
                code,
                message: change(message),
                reason: change(reason),
            },
            other => other,
        }
    }

    /// Whether another try may help.
    pub(super) const fn may_pass(&self) -> bool {
        match self {
            Self::Refused { code, .. } => matches!(code, 429 | 500 | 502 | 503 | 504),
            Self::Broken(_) => true,
            _ => false,
        }
    }

    /// That the time limit of a command is over.
    pub fn late(limit: Duration) -> Self {
        Self::OutOfTime(seconds(limit))
    }

    /// Whether nothing else can be asked either.
    pub const fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::NoConfig
                | Self::Config(_)
                | Self::NoContext { .. }
                | Self::Unreachable { .. }
                | Self::Tls { .. }
                | Self::Credentials(_)
                | Self::Unauthorized(_)
                | Self::NotAHub(_)
                | Self::OtherEngine(..)
                | Self::OutOfTime(_)
                | Self::Interrupted
        )
    }

    /// What to do about it, where that can be said.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            Self::NoConfig | Self::Config(_) => {
                "set one with --kubeconfig or KUBECONFIG and a context with --context; commands that \
                 only read also take files, with -f"
                    .into()
            }
            Self::NoContext { known, .. } if known.is_empty() => {
                "the kubeconfig has no contexts at all".into()
            }
            Self::NoContext { known, .. } => format!("it has {}", known.join(", ")).into(),
            Self::Unreachable { .. } => {
                let text = "check the network, VPN, and proxy, and that the context is the hub's:";
                Hint::new(text).command(CommandLine::kubectl("config view").switch("--minify"))
            }
            Self::Tls { .. } => "check certificate-authority, tls-server-name, and the server's \
                address in the kubeconfig"
                .into(),
            Self::Credentials(_) | Self::Unauthorized(_) => {
                Hint::new("log in again, or renew the token or certificate; then check:")
                    .command(CommandLine::kubectl("auth whoami"))
            }
            Self::TimedOut(_) => "try again with a longer --request-timeout".into(),
            Self::OutOfTime(_) => "try again with a longer --timeout".into(),
            Self::WrongAnswer { .. } => {
                let text = "check the server's address and the proxy: a proxy or a login page may \
                    have answered; to see the answer:";
                Hint::new(text).command(CommandLine::kubectl("get").flag("--raw", "/version"))
            }
            Self::TooLarge(_) | Self::TooMuch(_) => {
                "check the server's address: a hub does not send this much; to read less, use a \
                 name or -n"
                    .into()
            }
            Self::NotAHub(_) => {
                "set the hub's context with --context; member clusters do not serve these kinds"
                    .into()
            }
            Self::Refused {
                code: 429 | 500..=599,
                ..
            }
            | Self::Broken(_) => {
                "try again; if it keeps failing, check the hub's API server".into()
            }
            Self::NotServed(_) => {
                Hint::new("list the kinds that it serves:").command(CommandLine::fleet("doctor"))
            }
            Self::OtherEngine(..) => "list the rollouts there with kubectl get".into(),
            Self::Forbidden(_)
            | Self::NotFound(_)
            | Self::NotRouted(_)
            | Self::Gone
            | Self::Interrupted
            | Self::Refused { .. } => {
                return None;
            }
        })
    }
}

/// A time limit in words.
pub(super) fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}
