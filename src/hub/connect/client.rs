//! The HTTP client of an API server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, Uri, header};
use hyper::body::Incoming;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::ResponseFuture;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::Client;
use kube::client::Body;
use rustls::pki_types::ServerName;
use tower::{BoxError, ServiceBuilder, service_fn};
use tower_http::decompression::DecompressionLayer;

use crate::hub::connect::address::ServerAddress;
use crate::hub::connect::config::{ConnectionSettings, Tls};
use crate::hub::connect::credentials::CurrentCredentials;
use crate::hub::connect::tls::{self, ClientIdentity};
use crate::hub::error::HubError;

/// How long a connection may take to stand.
const CONNECTING: Duration = Duration::from_secs(30);

/// A client for a connection's settings. Must be called within a Tokio runtime.
///
/// A client as it usually comes lets small packets wait for the server's acknowledgement (Nagle's
/// algorithm), which costs each new connection up to 40 ms between the end of the TLS handshake and
/// its first request: for a command of some connections that is most of its time. This one sends at
/// once.
pub(in crate::hub) fn client(settings: ConnectionSettings) -> Result<Client, HubError> {
    let namespace = settings.namespace.clone();
    let compressed = settings.compressed;
    let server = Arc::new(HubServer::new(settings)?);
    let send = service_fn(move |request: Request<Body>| {
        let server = Arc::clone(&server);
        async move { server.send(request).await }
    });
    let service = ServiceBuilder::new()
        .layer(DecompressionLayer::new().gzip(compressed))
        .service(send);
    Ok(Client::new(service, namespace))
}

/// Connections that show the same certificate.
type ConnectionPool = Arc<dyn Fn(Request<Body>) -> ResponseFuture + Send + Sync>;

struct HubServer {
    settings: ConnectionSettings,
    /// The connections, and the certificate of a plugin that they show. Another certificate needs
    /// others: a server asks for it once for each.
    pool: Mutex<(Option<ClientIdentity>, ConnectionPool)>,
}

impl HubServer {
    fn new(settings: ConnectionSettings) -> Result<Self, HubError> {
        let pool = Mutex::new((None, pool(&settings, None)?));
        Ok(Self { settings, pool })
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, BoxError> {
        let (mut parts, body) = request.into_parts();
        parts.uri = self.address_of(&parts.uri)?;
        for (name, value) in &self.settings.headers {
            parts.headers.append(name, value.clone());
        }
        let credentials = &self.settings.credentials;
        let current = credentials.get(None).await?;
        // What may be sent again where the credentials are old.
        let again =
            (parts.method == Method::GET && credentials.may_change()).then(|| parts.clone());
        let response = self
            .send_as(&current, Request::from_parts(parts, body))
            .await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            current.serves();
            return Ok(response);
        }
        // What a server has never accepted is not better the next time.
        let Some(parts) = again.filter(|_| current.has_served()) else {
            credentials.forget(&current).await;
            return Ok(response);
        };
        let newer = credentials.get(Some(current.number)).await?;
        let request = Request::from_parts(parts, Body::empty());
        self.send_as(&newer, request).await
    }

    async fn send_as(
        &self,
        current: &CurrentCredentials,
        mut request: Request<Body>,
    ) -> Result<Response<Incoming>, BoxError> {
        current.shows();
        if let Some(value) = &current.header {
            request
                .headers_mut()
                .insert(header::AUTHORIZATION, value.clone());
        }
        let pool = self.pool(current.identity.as_ref())?;
        Ok(pool(request).await?)
    }

    /// The connections that show what is to be shown.
    fn pool(&self, identity: Option<&ClientIdentity>) -> Result<ConnectionPool, HubError> {
        let mut known = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0.as_ref() != identity {
            *known = (identity.cloned(), pool(&self.settings, identity)?);
        }
        Ok(Arc::clone(&known.1))
    }

    fn address_of(&self, path: &Uri) -> Result<Uri, HubError> {
        let server = &self.settings.address.uri;
        let before = server.path().trim_end_matches('/');
        let path = path.path_and_query().map_or("/", |path| path.as_str());
        let mut parts = server.clone().into_parts();
        let whole = format!("{before}{path}").parse();
        parts.path_and_query = Some(whole.map_err(|_| unusable())?);
        Uri::from_parts(parts).map_err(|_| unusable())
    }
}

fn unusable() -> HubError {
    HubError::Broken("a request has an invalid address".to_owned())
}

fn pool(
    settings: &ConnectionSettings,
    identity: Option<&ClientIdentity>,
) -> Result<ConnectionPool, HubError> {
    let mut plain = HttpConnector::new();
    plain.enforce_http(false);
    plain.set_nodelay(true);
    plain.set_connect_timeout(Some(CONNECTING));
    let tls = settings.tls.as_ref();
    let Some(proxy) = &settings.proxy else {
        return secure(plain, tls, identity);
    };
    let uri = proxy.uri.clone();
    match proxy.uri.scheme_str() {
        Some("socks5") => {
            let mut socks = SocksV5::new(uri, plain);
            if let Some(login) = &proxy.login {
                socks = socks.with_auth(login.name.clone(), login.password.clone());
            }
            secure(socks, tls, identity)
        }
        Some("https") => {
            let name = ServerName::try_from(proxy.host().to_owned())
                .map_err(|_| config("the proxy's host is not a valid name for a certificate"))?;
            let trust = tls.map_or(&tls::Trust::System, |tls| &tls.trust);
            // Who asks is the server's to know, not the proxy's.
            let outer = encrypted(plain, trust, name, None)?;
            secure(tunnel(uri, outer, proxy), tls, identity)
        }
        _ => secure(tunnel(uri, plain, proxy), tls, identity),
    }
}

fn tunnel<C>(uri: Uri, connector: C, proxy: &ServerAddress) -> Tunnel<C> {
    let tunnel = Tunnel::new(uri, connector);
    match &proxy.login {
        Some(login) => tunnel.with_auth(login.header()),
        None => tunnel,
    }
}

fn encrypted<C>(
    connector: C,
    trust: &tls::Trust,
    name: ServerName<'static>,
    identity: Option<&ClientIdentity>,
) -> Result<HttpsConnector<C>, HubError> {
    let config = tls::config(trust, identity).map_err(config)?;
    let resolver = Arc::new(FixedServerNameResolver::new(name));
    Ok(HttpsConnector::new(connector, config, true, resolver))
}

fn secure<C>(
    connector: C,
    tls: Option<&Tls>,
    identity: Option<&ClientIdentity>,
) -> Result<ConnectionPool, HubError>
where
    C: Clone + Send + Sync + 'static,
    C: Connect,
    HttpsConnector<C>: Connect,
{
    match tls {
        None => Ok(pooled(connector)),
        Some(tls) => {
            let identity = identity.or(tls.identity.as_ref());
            Ok(pooled(encrypted(
                connector,
                &tls.trust,
                tls.name.clone(),
                identity,
            )?))
        }
    }
}

fn pooled<C: Connect + Clone + Send + Sync + 'static>(connector: C) -> ConnectionPool {
    let client = HttpClient::builder(TokioExecutor::new()).build(connector);
    Arc::new(move |request| client.request(request))
}

fn config(why: &str) -> HubError {
    HubError::Config(why.to_owned())
}
