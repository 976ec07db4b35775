//! One request: its time limit, its retries, and what its answer means.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use kube::Client;
use kube::client::Body;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use tokio::time::{sleep_until, timeout_at};

use crate::hub::connect::client::client;
use crate::hub::connect::config::{ConnectionSettings, chain};
use crate::hub::connect::credentials::Credentials;
use crate::hub::connect::tls;
use crate::hub::error::HubError;
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::bounds::{
    ANSWER, Deadline, REFUSAL, ReadAllowance, TimeLimit, after, too_large,
};
use crate::hub::request::clock::HubClock;
use crate::hub::request::traffic::RequestTraffic;
use crate::mask;

const ATTEMPTS: u32 = 5;
/// The pause before the second try where the server names none; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A shorter secret is part of too many words.
const SHORTEST: usize = 6;

#[derive(Clone)]
pub struct Connection {
    client: Client,
    credentials: Arc<Credentials>,
    /// The server's address, for errors.
    pub url: String,
    /// How long one read may take, its pages and retries included; `None` for no limit.
    pub limit: Option<Duration>,
    /// When the command has to end, whatever it reads.
    pub end: Option<TimeLimit>,
    /// How many objects of a list are asked for at once; 0 for all of them.
    pub chunk_size: Option<usize>,
    /// What the command may still read.
    pub budget: ReadAllowance,
    pub traffic: RequestTraffic,
    /// What the answers tell of the server's clock.
    pub clock: HubClock,
}

#[derive(Clone)]
pub struct ReadRequest<'a> {
    pub method: Method,
    pub path: &'a str,
    pub accept: &'a str,
    pub body: &'a [u8],
}

pub struct HubResponse {
    pub body: Vec<u8>,
    /// Whether it says that it is a web page.
    pub is_page: bool,
    /// The server's clock, as the answer's header has it.
    pub date: Option<String>,
}

impl Connection {
    /// Prepares a connection; nothing is sent yet. `limit` is the time for one request. Must be
    /// called within a Tokio runtime.
    pub fn prepare(
        settings: ConnectionSettings,
        limit: Option<Duration>,
    ) -> Result<Self, HubError> {
        Ok(Self {
            url: settings.address.shown(),
            credentials: Arc::clone(&settings.credentials),
            client: client(settings)?,
            limit,
            end: None,
            chunk_size: None,
            budget: ReadAllowance::default(),
            traffic: RequestTraffic::default(),
            clock: HubClock::default(),
        })
    }

    /// Fetches the credentials where that is due, which may run a plugin, and says how long that
    /// took. It has a time limit of its own beside that of the command.
    pub async fn log_in(&self) -> Result<Duration, HubError> {
        let begun = std::time::Instant::now();
        let fetched = self.credentials.get(None);
        match self.end {
            None => fetched.await?,
            Some(end) => tokio::time::timeout(end.left(), fetched)
                .await
                .map_err(|_| Deadline::new(None, Some(end)).passed(None))??,
        };
        Ok(begun.elapsed())
    }

    /// The end of a read that begins now.
    pub fn deadline(&self) -> Deadline {
        Deadline::new(self.limit, self.end)
    }

    pub async fn get(&self, path: &str, accept: &str) -> Result<Vec<u8>, HubError> {
        let asking = Self::asking(path, accept);
        Ok(self.patiently(&asking).await?.body)
    }

    /// A read of a path, as it is done where nothing else is said.
    pub const fn asking<'a>(path: &'a str, accept: &'a str) -> ReadRequest<'a> {
        ReadRequest {
            method: Method::GET,
            path,
            accept,
            body: &[],
        }
    }

    /// Sends what may be sent again while the server asks for patience, all tries within one time
    /// limit.
    pub async fn patiently(&self, asking: &ReadRequest<'_>) -> Result<HubResponse, HubError> {
        let mut patience = RequestPatience::new(self.deadline());
        patience.log_in(self).await?;
        loop {
            match patience.wait(self.once(asking)).await? {
                Ok(answer) => return Ok(answer),
                Err(failure) => patience.again(failure).await?,
            }
        }
    }

    /// Sends a read once. A failure comes with the pause that the server asks for.
    async fn once(&self, asking: &ReadRequest<'_>) -> Result<HubResponse, ReadFailure> {
        let mut request = request(asking.path, asking.accept)?;
        *request.method_mut() = asking.method.clone();
        let json = HeaderValue::from_static(JSON);
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        *request.body_mut() = asking.body.to_vec();
        let response = self.begun(request).await?;
        let is_page = is_page(&response);
        let date = response.headers().get(header::DATE);
        let date = date.and_then(|value| Some(value.to_str().ok()?.to_owned()));
        let body = whole(response.into_body(), asking.path, ANSWER).await;
        let body = body.map_err(plain)?;
        self.came(body.len()).map_err(plain)?;
        let body = self.unquoted(body).await;
        Ok(HubResponse {
            body,
            is_page,
            date,
        })
    }

    /// Sends a write once, within the time limit of a request.
    pub async fn exchange(&self, request: Request<Vec<u8>>) -> Result<WriteAnswer, HubError> {
        self.log_in().await?;
        let deadline = Deadline::new(self.limit, None);
        let path = request.uri().path().to_owned();
        let answer = async {
            let response = self.answered(request).await?;
            let status = response.status();
            let warnings: Vec<_> = warnings(response.headers()).collect();
            let most = if status.is_success() { ANSWER } else { REFUSAL };
            let body = whole(response.into_body(), &path, most).await;
            if status.is_success() {
                let body = body?;
                self.came(body.len())?;
                let secrets = self.credentials.shown().await;
                let warnings = warnings.into_iter();
                let warnings = warnings.map(|it| without(&it, &secrets).unwrap_or(it));
                return Ok(WriteAnswer::Answered {
                    warnings: warnings.collect(),
                    body: self.unquoted(body).await,
                });
            }
            let body = self.unquoted(body.unwrap_or_default()).await;
            let error = refusal(status, &body);
            Ok(if is_refused_by_the_api(status, &body) {
                WriteAnswer::Refused(error)
            } else {
                WriteAnswer::Unclear(error)
            })
        };
        timeout_at(deadline.at, answer)
            .await
            .map_err(|_| deadline.passed(None))?
    }

    /// Sends any request once, and takes the beginning of the answer, whatever it is.
    async fn answered(&self, request: Request<Vec<u8>>) -> Result<http::Response<Body>, HubError> {
        let (mut parts, body) = request.into_parts();
        let agent = HeaderValue::from_static(USER_AGENT);
        parts.headers.insert(header::USER_AGENT, agent);
        self.traffic.asked();
        let asked = std::time::Instant::now();
        let request = Request::from_parts(parts, Body::from(body));
        let response = self.client.send(request).await;
        let response = response.map_err(|error| classify(&self.url, &error))?;
        // The clock of a proxy that answers in its place is not the hub's.
        if response.status().is_success() && !is_page(&response) {
            self.clock.see(response.headers(), asked);
        }
        Ok(response)
    }

    /// The same of a successful answer.
    async fn begun(&self, request: Request<Vec<u8>>) -> Result<http::Response<Body>, ReadFailure> {
        let path = request.uri().path().to_owned();
        let response = self.answered(request).await.map_err(plain)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let pause = asked_pause(&response);
        // What cannot be read of it is not needed: its code says what it is.
        let body = whole(response.into_body(), &path, REFUSAL).await;
        let body = self.unquoted(body.unwrap_or_default()).await;
        Err((refusal(status, &body), pause))
    }

    /// The same of a path; its body is read as it comes.
    pub async fn body(&self, path: &str, accept: &str) -> Result<Body, ReadFailure> {
        let request = request(path, accept)?;
        Ok(self.begun(request).await?.into_body())
    }

    /// An answer that may become the text of an error, without the secrets that we showed: who answers
    /// may quote them. What is larger is none.
    async fn unquoted(&self, body: Vec<u8>) -> Vec<u8> {
        if body.len() > REFUSAL {
            return body;
        }
        let secrets = self.credentials.shown().await;
        match std::str::from_utf8(&body) {
            Ok(text) => without(text, &secrets).map_or(body, String::into_bytes),
            Err(_) => body,
        }
    }

    /// The same of an error whose words came from an answer.
    pub async fn discreet(&self, error: HubError) -> HubError {
        let secrets = self.credentials.shown().await;
        error.with_words(|words| without(&words, &secrets).unwrap_or(words))
    }

    /// Takes into account that so many bytes came.
    pub fn came(&self, bytes: usize) -> Result<(), HubError> {
        self.traffic.read(bytes);
        self.budget.answer(bytes)
    }

    /// Opens a stream of lines: a watch. The time limit holds for the answer's beginning.
    pub async fn open(&self, path: &str) -> Result<Body, ReadFailure> {
        self.log_in().await.map_err(plain)?;
        let deadline = Deadline::new(self.limit, None);
        let mut request = request(path, JSON)?;
        // Compressed events come one by one, of which only the first would be read.
        let identity = HeaderValue::from_static("identity");
        request
            .headers_mut()
            .insert(header::ACCEPT_ENCODING, identity);
        let response = timeout_at(deadline.at, self.begun(request))
            .await
            .map_err(|_| plain(deadline.passed(None)))??;
        if !is_page(&response) {
            return Ok(response.into_body());
        }
        let body = timeout_at(deadline.at, whole(response.into_body(), path, REFUSAL)).await;
        let body = body.map_or_else(|_| Vec::new(), Result::unwrap_or_default);
        let body = self.unquoted(body).await;
        Err(plain(answer::wrong(
            &ExpectedAnswer::kind("", "events"),
            &body,
        )))
    }
}

fn request(path: &str, accept: &str) -> Result<Request<Vec<u8>>, ReadFailure> {
    Request::builder()
        .uri(path)
        .header(header::ACCEPT, accept)
        .body(Vec::new())
        .map_err(|error| plain(HubError::Broken(error.to_string())))
}

/// A text without these secrets, where it holds one.
fn without(text: &str, secrets: &[SecretString]) -> Option<String> {
    let secrets = secrets.iter().map(SecretString::expose_secret);
    let long = secrets.filter(|secret| secret.len() >= SHORTEST);
    long.fold(None, |found: Option<String>, secret| {
        let text = found.as_deref().unwrap_or(text);
        if text.contains(secret) {
            Some(text.replace(secret, mask::MASK))
        } else {
            found
        }
    })
}

/// What an API server warns of: the quoted texts of warnings with the code 299.
/// Source: apimachinery/pkg/util/net/http.go:ParseWarningHeader.
fn warnings(headers: &HeaderMap) -> impl Iterator<Item = String> {
    headers.get_all(header::WARNING).iter().filter_map(|value| {
        let value = String::from_utf8_lossy(value.as_bytes());
        let (_, text) = value.strip_prefix("299 ")?.split_once(" \"")?;
        let mut escaped = false;
        let quoted = text.chars().take_while(|&char| {
            let ends = char == '"' && !escaped;
            escaped = char == '\\' && !escaped;
            !ends
        });
        let quoted: String = quoted.collect();
        Some(quoted.replace("\\\"", "\"").replace("\\\\", "\\"))
    })
}

/// What came back after a write.
pub enum WriteAnswer {
    /// A success, and what the server warns of.
    Answered {
        body: Vec<u8>,
        warnings: Vec<String>,
    },
    /// The API server's own word that it did not do it.
    Refused(HubError),
    /// It came from something in between, or says nothing of what was done.
    Unclear(HubError),
}

/// What went wrong, and the pause that the server asks for.
pub type ReadFailure = (HubError, Option<Duration>);

/// A failure of which the server does not say when to try again.
pub const fn plain(error: HubError) -> ReadFailure {
    (error, None)
}

/// How long is waited for an answer, and how often it is asked for again.
pub struct RequestPatience {
    deadline: Deadline,
    attempts: u32,
    /// The pause before the next try where the server names none.
    pause: Duration,
    /// What the try before said.
    last: Option<HubError>,
}

impl RequestPatience {
    pub const fn new(deadline: Deadline) -> Self {
        Self {
            deadline,
            attempts: 0,
            pause: FIRST_PAUSE,
            last: None,
        }
    }

    /// Sees to the credentials, which have a time limit of their own.
    pub async fn log_in(&mut self, connection: &Connection) -> Result<(), HubError> {
        let took = connection.log_in().await?;
        self.deadline = self.deadline.later(took, connection.end);
        Ok(())
    }

    /// Waits for something until the time is up.
    pub async fn wait<T>(&mut self, what: impl Future<Output = T>) -> Result<T, HubError> {
        let came = timeout_at(self.deadline.at, what).await;
        came.map_err(|_| self.deadline.passed(self.last.take()))
    }

    /// Waits until the next try after a failure that may pass.
    pub async fn again(&mut self, (error, asked): ReadFailure) -> Result<(), HubError> {
        self.attempts = self.attempts.saturating_add(1);
        let at = after(asked.unwrap_or(self.pause).min(LONGEST_PAUSE));
        if !error.may_pass() || self.attempts >= ATTEMPTS || at >= self.deadline.at {
            return Err(error);
        }
        self.last = Some(error);
        self.pause = self.pause.saturating_mul(2);
        sleep_until(at).await;
        Ok(())
    }

    /// The same patience for what is asked next.
    pub fn renew(&mut self) {
        *self = Self::new(self.deadline);
    }
}

/// That a body broke off.
pub fn truncated(error: &(dyn std::error::Error + 'static)) -> HubError {
    HubError::Broken(format!("it was truncated: {}", chain(error)))
}

/// A body to its end, of which at most so many bytes are taken: they are counted as they come, after
/// they were decompressed.
async fn whole(body: Body, path: &str, most: usize) -> Result<Vec<u8>, HubError> {
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes().into()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(path, most)),
        Err(error) => Err(truncated(error.as_ref())),
    }
}

/// Says what a failed exchange means.
fn classify(url: &str, error: &kube::Error) -> HubError {
    let why = chain(error);
    let url = url.to_owned();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut io = None;
    // Whether a connection stood: what was sent on it may have been done.
    let mut connected = false;
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<HubError>() {
            return error.clone();
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return HubError::Tls {
                url,
                why: tls::explain(error),
            };
        }
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            let error = inmost(error);
            if let Some(inner) = error.get_ref()
                && let Some(inner) = inner.downcast_ref::<rustls::Error>()
            {
                return HubError::Tls {
                    url,
                    why: tls::explain(inner),
                };
            }
            io = Some((error.kind(), error.to_string()));
        }
        if let Some(error) = error.downcast_ref::<hyper_util::client::legacy::Error>() {
            connected = !error.is_connect();
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>()
            && (error.is_incomplete_message() || error.is_parse())
        {
            if error.is_parse() && url.starts_with("http://") {
                let why = "it is not HTTP: does the server's address start with https://?";
                return HubError::Broken(why.to_owned());
            }
            return HubError::Broken(chain(error));
        }
        cause = error.source();
    }
    match io {
        Some((std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe, why)) => {
            HubError::Broken(format!("the connection was closed: {why}"))
        }
        Some((_, why)) if connected => {
            HubError::Broken(format!("the connection was closed: {why}"))
        }
        None if connected => HubError::Broken(why),
        Some((_, why)) => HubError::Unreachable { url, why },
        None => HubError::Unreachable { url, why },
    }
}

/// What an I/O error wraps in the end: that is not among its sources.
fn inmost(mut error: &std::io::Error) -> &std::io::Error {
    while let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        error = inner;
    }
    error
}

fn is_page(response: &http::Response<Body>) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

fn asked_pause(response: &http::Response<Body>) -> Option<Duration> {
    let value = response.headers().get(header::RETRY_AFTER)?;
    value.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

/// Who we are, for the hub's audit log.
const USER_AGENT: &str = concat!("kubectl-fleet-stage/", env!("CARGO_PKG_VERSION"));
/// The answer's form, where there is no choice.
pub const JSON: &str = "application/json";

/// The part of a `Status` that we read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ApiStatus {
    kind: String,
    status: String,
    message: String,
    reason: String,
    code: u16,
    details: RequestDetails,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RequestDetails {
    name: String,
}

/// Whether the API server itself says that it refused a write, so that nothing was done: only its
/// `Status` does. What failed or took too long within it may have been done.
fn is_refused_by_the_api(status: StatusCode, body: &[u8]) -> bool {
    let said: ApiStatus = serde_json::from_slice(body).unwrap_or_default();
    status.is_client_error()
        && status != StatusCode::REQUEST_TIMEOUT
        && said.kind == "Status"
        && said.status == "Failure"
        && (said.code == 0 || said.code == status.as_u16())
}

/// What an answer that is no success means.
fn refusal(status: StatusCode, body: &[u8]) -> HubError {
    let said: ApiStatus = serde_json::from_slice(body).unwrap_or_default();
    let message = if said.kind == "Status" && !said.message.is_empty() {
        mask::prose(&said.message).into_owned()
    } else {
        // A proxy's page: its first line is enough.
        let text = String::from_utf8_lossy(body);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        let line = line.filter(|line| !line.starts_with('<'));
        line.map_or_else(
            || status.canonical_reason().unwrap_or("no reason").to_owned(),
            |line| mask::prose(line).chars().take(200).collect(),
        )
    };
    match status {
        StatusCode::UNAUTHORIZED => HubError::Unauthorized(message),
        StatusCode::FORBIDDEN => HubError::Forbidden(message),
        StatusCode::NOT_FOUND if said.details.name.is_empty() => HubError::NotRouted(message),
        StatusCode::NOT_FOUND => HubError::NotFound(message),
        StatusCode::GONE => HubError::Gone,
        _ => HubError::Refused {
            code: status.as_u16(),
            message,
            reason: said.reason,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{HubError, classify, refusal, warnings};
    use http::header::WARNING;
    use http::{HeaderMap, HeaderValue, StatusCode};
    use std::io::{Error, ErrorKind};

    #[test]
    fn a_warning_is_its_quoted_text() {
        let mut headers = HeaderMap::new();
        for value in [
            r#"299 - "\"x\" is deprecated, use C:\\y""#,
            r#"299 web "runs are discouraged" "Tue, 15 Nov 1994 08:12:31 GMT""#,
            r#"199 - "another code""#,
            "299 - without quotes",
            "",
        ] {
            headers.append(WARNING, HeaderValue::from_str(value).unwrap());
        }
        let told: Vec<_> = warnings(&headers).collect();
        assert_eq!(told[0], r#""x" is deprecated, use C:\y"#);
        assert_eq!(told[1], "runs are discouraged");
        assert_eq!(told.len(), 2, "{told:?}");
    }

    /// What the TLS layer makes of an error, two layers deep.
    fn failed(
        kind: ErrorKind,
        why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> HubError {
        let error = Error::other(Error::new(kind, why));
        classify("https://hub", &kube::Error::Service(error.into()))
    }

    #[test]
    fn a_connection_without_trust_is_told_from_no_connection() {
        let url = "https://hub".to_owned();
        let error = rustls::Error::DecryptError;
        let tls = HubError::Tls {
            url: url.clone(),
            why: error.to_string(),
        };
        assert_eq!(failed(ErrorKind::InvalidData, error), tls);
        let why = "refused".to_owned();
        let away = HubError::Unreachable { url, why };
        assert_eq!(failed(ErrorKind::ConnectionRefused, "refused"), away);
        let closed = HubError::Broken("the connection was closed: reset".to_owned());
        assert_eq!(failed(ErrorKind::ConnectionReset, "reset"), closed);
    }

    #[test]
    fn the_servers_words_are_kept() {
        let body = br#"{"kind":"Status","message":"runs is forbidden: no","reason":"Forbidden"}"#;
        let forbidden = HubError::Forbidden("runs is forbidden: no".into());
        assert_eq!(refusal(StatusCode::FORBIDDEN, body), forbidden);
        let refused = HubError::Refused {
            code: 502,
            message: "Bad Gateway".into(),
            reason: String::new(),
        };
        let page = b"<html>\n<p>x</p>";
        assert_eq!(refusal(StatusCode::BAD_GATEWAY, page), refused);
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for (code, again) in [
            (429, true),
            (500, true),
            (503, true),
            (400, false),
            (409, false),
            (422, false),
        ] {
            let status = StatusCode::from_u16(code).unwrap();
            assert_eq!(refusal(status, b"").may_pass(), again, "{code}");
        }
        assert!(!refusal(StatusCode::UNAUTHORIZED, b"").may_pass());
        assert!(!refusal(StatusCode::GONE, b"").may_pass());
    }
}
