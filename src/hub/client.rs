//! The HTTP client of an API server.

use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::ConfigExt;
use kube::{Client, Config, Error};
use tower::ServiceBuilder;
use tower_http::decompression::DecompressionLayer;

/// A client for a resolved configuration. Must be called within a Tokio runtime.
///
/// kube's own client lets small packets wait for the server's acknowledgement (Nagle's algorithm),
/// which costs each new connection up to 40 ms between the end of the TLS handshake and its first
/// request: for a command of some connections that is most of its time. This one sends at once.
/// Behind a proxy it is kube's own.
pub(super) fn client(config: Config) -> Result<Client, Error> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(config.connect_timeout);
    let connector = config.rustls_https_connector_with_connector(connector)?;
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new().gzip(!config.disable_compression))
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(tower::BoxError::from)
        .service(HttpClient::builder(TokioExecutor::new()).build(connector));
    Ok(Client::new(service, config.default_namespace))
}
