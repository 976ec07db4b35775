//! A proxy in front of an API server that makes things go wrong, and writes down what came by.
//!
//! It shows the server's own certificate, so that a client cannot tell it from the server, and runs
//! on threads of its own: a test may block while a program talks to it.

mod answers;
mod body;
mod exchange;
mod record;
mod rules;

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::{ADMIN, Error, TestHub, context};
use exchange::{Door, Front, Upstream};
pub use record::Seen;
pub use rules::{Fault, Rule};

/// How long it may take to stop listening.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running proxy; it ends when it is dropped.
pub struct FaultProxy {
    address: SocketAddr,
    folder: PathBuf,
    authority: PathBuf,
    front: Front,
    // Ended in the background: it may be dropped on a thread of another runtime.
    runtime: Option<Runtime>,
}

impl FaultProxy {
    /// Starts a proxy in front of a hub's API server. Without rules it changes nothing.
    pub fn start(hub: &TestHub) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(context("starting a thread for the proxy".to_owned()))?;
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .map_err(context("listening for the proxy".to_owned()))?;
        let address = listener
            .local_addr()
            .map_err(context("asking for the proxy's port".to_owned()))?;
        let front = Front {
            acceptor: acceptor(hub)?,
            upstream: Upstream::new(hub.url(), client_config(&hub.authority())?),
            record: record::Record::default(),
            door: Arc::new(watch::Sender::new(Door::Open)),
            holds: Arc::new(watch::Sender::new(true)),
        };
        let this = Self {
            address,
            folder: hub.folder().to_owned(),
            authority: hub.authority(),
            front,
            runtime: Some(runtime),
        };
        this.write_kubeconfig(ADMIN)?;
        this.listen(listener)?;
        Ok(this)
    }

    /// The proxy's address.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// A kubeconfig for the admin with the context `proxy`, which is also called `hub`: it stands in
    /// for the hub's own.
    pub fn kubeconfig(&self) -> PathBuf {
        self.path_of(ADMIN)
    }

    /// The same for another user of the hub.
    pub fn kubeconfig_of(&self, user: &str) -> Result<PathBuf, Error> {
        self.write_kubeconfig(user)?;
        Ok(self.path_of(user))
    }

    /// Makes these things go wrong, and no others; counts from now on.
    pub fn rules(&self, rules: Vec<Rule>) {
        self.front.holds.send_replace(true);
        self.front.record.lock().rules = rules;
    }

    /// Lets go on what is held, and from now on holds nothing.
    pub fn release(&self) {
        self.front.holds.send_replace(false);
    }

    /// What came by since the start or the last `clear`.
    pub fn requests(&self) -> Vec<Seen> {
        self.front.record.seen()
    }

    /// Forgets the rules and what came by, and listens again.
    pub fn clear(&self) -> Result<(), Error> {
        self.front.record.clear();
        if *self.front.door.borrow() == Door::Open {
            return Ok(());
        }
        self.wait_until_closed();
        self.front.door.send_replace(Door::Open);
        let doing = || format!("listening again at {}", self.address);
        self.listen(TcpListener::bind(self.address).map_err(context(doing()))?)
    }

    /// Goes away: every connection is reset, and none is accepted until `clear`.
    pub fn leave(&self) {
        self.front.close();
        self.wait_until_closed();
    }

    /// The listener is closed on another thread.
    fn wait_until_closed(&self) {
        let begun = std::time::Instant::now();
        while *self.front.door.borrow() != Door::Closed && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn listen(&self, listener: TcpListener) -> Result<(), Error> {
        let doing = || format!("listening at {}", self.address);
        let Some(runtime) = &self.runtime else {
            return Ok(());
        };
        listener.set_nonblocking(true).map_err(context(doing()))?;
        let _inside = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener).map_err(context(doing()))?;
        runtime.spawn(self.front.clone().accept(listener));
        Ok(())
    }

    fn path_of(&self, user: &str) -> PathBuf {
        let port = self.address.port();
        self.folder.join(format!("kubeconfig-proxy-{port}-{user}"))
    }

    fn write_kubeconfig(&self, user: &str) -> Result<(), Error> {
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "proxy",
            "clusters": [{"name": "proxy", "cluster": {
                "server": self.url(),
                "certificate-authority": self.authority,
            }}],
            "contexts": [
                {"name": "proxy", "context": {"cluster": "proxy", "user": user}},
                {"name": "hub", "context": {"cluster": "proxy", "user": user}},
            ],
            "users": [{"name": user, "user": {"token": TestHub::token_of(user)}}],
        });
        let path = self.path_of(user);
        fs::write(&path, config.to_string()).map_err(context(format!("writing {}", path.display())))
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn acceptor(hub: &TestHub) -> Result<TlsAcceptor, Error> {
    let (certificate, key) = hub.server_identity();
    let doing = || format!("reading {}", certificate.display());
    let chain = CertificateDer::pem_file_iter(&certificate)
        .and_then(Iterator::collect)
        .map_err(context(doing()))?;
    let key = PrivateKeyDer::from_pem_file(&key)
        .map_err(context(format!("reading {}", key.display())))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(context("taking the server's certificate".to_owned()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn client_config(authority: &Path) -> Result<ClientConfig, Error> {
    let doing = || format!("trusting {}", authority.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(authority).map_err(context(doing()))? {
        let certificate = certificate.map_err(context(doing()))?;
        roots.add(certificate).map_err(context(doing()))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(context(doing()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
