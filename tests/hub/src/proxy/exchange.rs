//! Connections, and the requests on them.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::Timestamp;
use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ClientConfig;

use super::body::{BodyError, Passing, Then, Until};
use super::record::{Mark, Record, Seen};
use super::{Fault, answers, rules};
use crate::{ADMIN, TestHub};

/// The server behind.
#[derive(Clone)]
pub(super) struct Upstream {
    url: String,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Upstream {
    pub(super) fn new(url: String, config: ClientConfig) -> Self {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_only()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { url, client }
    }

    async fn send(
        &self,
        target: &str,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, BodyError> {
        *request.uri_mut() = format!("{}{target}", self.url).parse::<Uri>()?;
        request.headers_mut().remove(header::HOST);
        drop_hop_headers(request.headers_mut());
        let mut response = self.client.request(request).await?;
        drop_hop_headers(response.headers_mut());
        Ok(response)
    }
}

/// What is said about one connection only.
fn drop_hop_headers(headers: &mut HeaderMap) {
    for name in [
        header::CONNECTION,
        header::TRANSFER_ENCODING,
        header::TE,
        header::TRAILER,
        header::UPGRADE,
    ] {
        headers.remove(name);
    }
}

/// Whether there is a server at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// Connections are accepted.
    Open,
    /// Nothing is to be accepted any more.
    Closing,
    /// Nobody listens: connections are refused, and those that were open are reset.
    Closed,
}

/// The side that the clients see.
#[derive(Clone)]
pub(super) struct Front {
    pub(super) acceptor: TlsAcceptor,
    pub(super) upstream: Upstream,
    pub(super) record: Record,
    /// Whether there is a server at all.
    pub(super) door: Arc<watch::Sender<Door>>,
    /// Whether what is held waits.
    pub(super) holds: Arc<watch::Sender<bool>>,
    /// By how much the server's clock is ahead.
    pub(super) ahead: Arc<watch::Sender<Duration>>,
}

impl Front {
    pub(super) async fn accept(self, listener: TcpListener) {
        loop {
            tokio::select! {
                () = self.until(|door| door != Door::Open) => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        tokio::spawn(self.clone().serve(stream));
                    }
                    // Too many open files, say: it may pass.
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                },
            }
        }
        drop(listener);
        self.door.send_replace(Door::Closed);
    }

    /// Goes away.
    pub(super) fn close(&self) {
        self.door.send_if_modified(|door| {
            let open = *door == Door::Open;
            if open {
                *door = Door::Closing;
            }
            open
        });
    }

    /// Ends when the server has got there.
    async fn until(&self, is: impl Fn(Door) -> bool) {
        // Without a sender there is no proxy any more.
        let _ = self.door.subscribe().wait_for(|door| is(*door)).await;
    }

    /// Ends when what is held may go on.
    async fn released(&self) {
        let _ = self.holds.subscribe().wait_for(|holds| !holds).await;
    }

    /// Serves one connection to its end.
    async fn serve(self, stream: TcpStream) {
        // A second handle: the first goes into the layers above.
        let Ok((stream, handle)) = twice(stream) else {
            return;
        };
        let reset = Notify::new();
        tokio::select! {
            () = self.talk(stream, &reset) => return,
            // Not before nobody listens: who comes back at once is to be refused.
            () = self.until(|door| door == Door::Closed) => {}
            () = reset.notified() => {}
        }
        // Closed with this set, a connection ends with RST. It only makes a test weaker where it
        // does not work.
        let _ = SockRef::from(&handle).set_linger(Some(Duration::ZERO));
    }

    async fn talk(&self, mut stream: TcpStream, reset: &Notify) {
        if rules::for_connection(&mut self.record.lock().rules) {
            // The client has gone, or gets it.
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.9\r\n").await;
            let _ = stream.shutdown().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            return;
        }
        let Ok(stream) = self.acceptor.accept(stream).await else {
            return;
        };
        let service = service_fn(|request| async {
            let mut response = self.answer(request, reset).await;
            self.date(response.headers_mut());
            Ok::<_, Infallible>(response)
        });
        // Whatever ends a connection is the client's to notice.
        let _ = http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    /// Gives an answer the date of a clock that is ahead.
    fn date(&self, headers: &mut HeaderMap) {
        let ahead = *self.ahead.borrow();
        if ahead.is_zero() {
            return;
        }
        let date = Timestamp::now() + ahead;
        let date = date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        if let Ok(date) = HeaderValue::try_from(date) {
            headers.insert(header::DATE, date);
        }
    }

    async fn answer(&self, request: Request<Incoming>, reset: &Notify) -> Response<Passing> {
        let (mut head, body) = request.into_parts();
        let target = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let target = target.to_owned();
        let body = body.collect().await;
        let body = body.map_or_else(|_| Bytes::new(), Collected::to_bytes);
        let word = |name: header::HeaderName| {
            let value = head.headers.get(name);
            let value = value.and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let user = user(&word(header::AUTHORIZATION));
        let fault = rules::for_request(&mut self.record.lock().rules, &head.method, &target);
        let mark = self.record.arrived(Seen {
            method: head.method.clone(),
            target: target.clone(),
            user_agent: word(header::USER_AGENT),
            body: body.clone(),
            status: None,
            bytes: 0,
            held: false,
            fault: fault.clone(),
            started: Instant::now(),
            ended: None,
        });
        if let Some(refusal) = fault
            .as_ref()
            .and_then(|fault| answers::refusal(fault, &head.method, &target, &user))
        {
            return pass(refusal.map(own_body), None, mark);
        }
        match &fault {
            Some(Fault::Leave) => {
                self.close();
                return pending().await;
            }
            Some(Fault::ResetBefore) => {
                reset.notify_one();
                return pending().await;
            }
            Some(Fault::Hang) => return pending().await,
            Some(Fault::Delay(time)) => tokio::time::sleep(*time).await,
            _ => {}
        }
        let asked = match &fault {
            Some(Fault::SmallPages(size)) => with_limit(&target, *size),
            _ => target,
        };
        if fault == Some(Fault::PlainDiscovery) {
            let plain = HeaderValue::from_static("application/json");
            head.headers.insert(header::ACCEPT, plain);
        }
        let sent = Request::from_parts(head, Full::new(body));
        let answered = if fault == Some(Fault::Hold) {
            mark.held();
            let front = self.clone();
            // A task of its own outlives the client's connection.
            let held = tokio::spawn(async move {
                front.released().await;
                front.upstream.send(&asked, sent).await
            });
            held.await.unwrap_or_else(|error| Err(error.into()))
        } else {
            self.upstream.send(&asked, sent).await
        };
        if fault == Some(Fault::HoldAnswer) {
            mark.held();
            self.released().await;
        }
        let response = match answered {
            Ok(response) => response.map(|body| body.map_err(Into::into).boxed_unsync()),
            Err(error) => {
                let words = format!("the server behind the proxy: {error}\n");
                let mut response = Response::new(own_body(Full::new(Bytes::from(words))));
                *response.status_mut() = StatusCode::BAD_GATEWAY;
                response
            }
        };
        let limit = match fault {
            Some(Fault::Instead(words)) => {
                let _ = response.into_body().collect().await;
                return pass(answers::instead(&words).map(own_body), None, mark);
            }
            Some(Fault::ResetAfter) => {
                // The server has acted at the latest when its answer is complete.
                let _ = response.into_body().collect().await;
                reset.notify_one();
                return pending().await;
            }
            Some(Fault::Cut { bytes }) => Some((Until::Bytes(bytes), Then::Cut)),
            Some(Fault::WatchEnds { events }) => Some((Until::Lines(events), Then::End)),
            Some(Fault::WatchCut { events }) => Some((Until::Lines(events), Then::Cut)),
            Some(Fault::WatchSilent { events }) => Some((Until::Lines(events), Then::Silence)),
            _ => None,
        };
        pass(response, limit, mark)
    }
}

fn own_body(body: Full<Bytes>) -> UnsyncBoxBody<Bytes, BodyError> {
    body.map_err(|never| match never {}).boxed_unsync()
}

fn pass(
    response: Response<UnsyncBoxBody<Bytes, BodyError>>,
    limit: Option<(Until, Then)>,
    mark: Mark,
) -> Response<Passing> {
    mark.answered(response.status().as_u16());
    response.map(|body| Passing::new(body, limit, mark))
}

/// The same request for pages of another size, where it asks for pages.
fn with_limit(target: &str, size: usize) -> String {
    let Some((path, query)) = target.split_once('?') else {
        return target.to_owned();
    };
    let parameters = query.split('&').map(|parameter| {
        if parameter.starts_with("limit=") {
            format!("limit={size}")
        } else {
            parameter.to_owned()
        }
    });
    let parameters: Vec<_> = parameters.collect();
    format!("{path}?{}", parameters.join("&"))
}

/// The name of the user whose token this is.
fn user(authorization: &str) -> String {
    let prefix = format!("Bearer {}", TestHub::token_of(""));
    let name = authorization.strip_prefix(&prefix).unwrap_or(ADMIN);
    name.to_owned()
}

/// A stream, and a second handle of its socket.
fn twice(stream: TcpStream) -> std::io::Result<(TcpStream, std::net::TcpStream)> {
    let stream = stream.into_std()?;
    let handle = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, handle))
}
