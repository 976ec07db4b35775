//! What shows a server who asks: a token, a password, a certificate, or what a plugin gives.

pub(in crate::hub) mod plugin;
pub(in crate::hub) mod policy;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;

use crate::hub::connect::files::{self, unreadable};
use crate::hub::connect::tls::ClientIdentity;
use crate::hub::error::HubError;
use plugin::{Plugin, PluginCredential};

/// How long what a file held is taken for what it holds, as kubectl does.
const FRESH: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub enum CredentialSource {
    /// There are none, beside perhaps a certificate.
    None,
    Header(HeaderValue),
    /// A file holds a token; another token counts while it cannot be read.
    File {
        path: PathBuf,
        otherwise: Option<HeaderValue>,
    },
    Plugin(Box<Plugin>),
}

/// The credentials of one user for one server, fetched when they are needed.
#[derive(Debug)]
pub struct Credentials {
    login: CredentialSource,
    state: Mutex<CredentialState>,
}

#[derive(Debug, Default)]
struct CredentialState {
    current: Option<Arc<CurrentCredentials>>,
    times: u64,
    failed: Option<(Instant, HubError)>,
}

#[derive(Debug)]
pub struct CurrentCredentials {
    pub header: Option<HeaderValue>,
    /// The certificate that does.
    pub identity: Option<ClientIdentity>,
    /// The how many-th these are.
    pub number: u64,
    fetched: Instant,
    until: Option<Timestamp>,
    shown: AtomicBool,
    served: AtomicBool,
}

impl CurrentCredentials {
    pub fn shows(&self) {
        self.shown.store(true, Ordering::Relaxed);
    }

    pub fn has_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    pub fn serves(&self) {
        self.served.store(true, Ordering::Relaxed);
    }
}

impl Credentials {
    pub fn new(login: CredentialSource) -> Self {
        Self {
            login,
            state: Mutex::default(),
        }
    }

    /// Whether a server that does not accept them may accept others.
    pub const fn may_change(&self) -> bool {
        matches!(self.login, CredentialSource::Plugin(_))
    }

    /// The credentials as they are now; fetches them where there are none, they have expired, or
    /// are those that the server refused.
    pub async fn get(&self, refused: Option<u64>) -> Result<Arc<CurrentCredentials>, HubError> {
        let asked = Instant::now();
        let mut state = self.state.lock().await;
        if let Some(current) = &state.current
            && refused != Some(current.number)
            && self.is_fresh(current)
        {
            return Ok(Arc::clone(current));
        }
        // Who waited while it failed is told so: it is not tried once more for each.
        if let Some((when, error)) = &state.failed
            && *when >= asked
        {
            return Err(error.clone());
        }
        let number = state.times.saturating_add(1);
        match self.fetch(number, state.current.as_deref()).await {
            Ok(current) => {
                let current = Arc::new(current);
                state.times = number;
                state.current = Some(Arc::clone(&current));
                Ok(current)
            }
            Err(error) => {
                state.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// The secrets that were shown last: of a login by name, the password too.
    pub async fn shown(&self) -> Vec<SecretString> {
        let state = self.state.lock().await;
        let current = state.current.as_ref();
        let header = current.and_then(|current| current.header.as_ref()?.to_str().ok());
        let Some((scheme, secret)) = header.and_then(|header| header.split_once(' ')) else {
            return Vec::new();
        };
        let mut all = vec![secret.to_owned().into()];
        if scheme.eq_ignore_ascii_case("basic") {
            let plain = STANDARD.decode(secret).ok();
            let plain = plain.and_then(|bytes| String::from_utf8(bytes).ok());
            let password = plain.as_deref().and_then(|plain| plain.split_once(':'));
            all.extend(password.map(|(_, password)| password.to_owned().into()));
        }
        all
    }

    pub async fn forget(&self, refused: &CurrentCredentials) {
        if !self.may_change() {
            return;
        }
        let mut state = self.state.lock().await;
        if state
            .current
            .as_ref()
            .is_some_and(|known| known.number == refused.number)
        {
            state.current = None;
        }
    }

    fn is_fresh(&self, current: &CurrentCredentials) -> bool {
        match &self.login {
            CredentialSource::None | CredentialSource::Header(_) => true,
            CredentialSource::File { .. } => current.fetched.elapsed() < FRESH,
            // What was fetched for a request is shown with it, whatever it says of its time.
            CredentialSource::Plugin(_) => {
                !current.shown.load(Ordering::Relaxed)
                    || current.until.is_none_or(|until| Timestamp::now() <= until)
            }
        }
    }

    async fn fetch(
        &self,
        number: u64,
        last: Option<&CurrentCredentials>,
    ) -> Result<CurrentCredentials, HubError> {
        let mut current = CurrentCredentials {
            header: None,
            identity: None,
            number,
            fetched: Instant::now(),
            until: None,
            shown: AtomicBool::new(false),
            served: AtomicBool::new(false),
        };
        match &self.login {
            CredentialSource::None => {}
            CredentialSource::Header(header) => current.header = Some(header.clone()),
            CredentialSource::File { path, otherwise } => {
                let last = last.and_then(|last| last.header.clone());
                current.header = Some(
                    match (from_file(path), last.or_else(|| otherwise.clone())) {
                        (Ok(header), _) | (Err(_), Some(header)) => header,
                        (Err(why), None) => return Err(HubError::Credentials(why)),
                    },
                );
            }
            CredentialSource::Plugin(plugin) => {
                let given: PluginCredential = plugin.run().await?;
                let bad = |why: &str| {
                    HubError::Credentials(format!(
                        "the output of the credential plugin cannot be used: {why}"
                    ))
                };
                current.until = given.until;
                if let Some(token) = &given.token {
                    current.header = Some(bearer(token.expose_secret()).map_err(bad)?);
                }
                if let Some((certificate, key)) = &given.certificate {
                    let identity = ClientIdentity::read(
                        certificate.as_bytes(),
                        key.expose_secret().as_bytes(),
                    );
                    current.identity = Some(identity.map_err(bad)?);
                }
            }
        }
        Ok(current)
    }
}

pub fn bearer(token: &str) -> Result<HeaderValue, &'static str> {
    let mut header = HeaderValue::from_bytes(format!("Bearer {token}").as_bytes()).map_err(|_| {
        "the token has a character that is invalid in an HTTP header, perhaps a newline at its end"
    })?;
    header.set_sensitive(true);
    Ok(header)
}

fn from_file(path: &std::path::Path) -> Result<HeaderValue, String> {
    let text = files::read_text(path).map(SecretString::from);
    let text = text.map_err(|error| {
        format!(
            "tokenFile {} cannot be read: {}",
            path.display(),
            unreadable(error.kind())
        )
    })?;
    let token = text.expose_secret().trim();
    if token.is_empty() {
        return Err(format!("tokenFile {} is empty", path.display()));
    }
    bearer(token).map_err(|why| format!("tokenFile {}: {why}", path.display()))
}

#[cfg(test)]
mod tests;
