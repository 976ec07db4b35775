//! A proxy in front of an API server that makes things go wrong, and writes down what came by.
//!
//! It shows a certificate of its own, which its kubeconfig trusts, so that it can stand in front of
//! any server, and runs on threads of its own: a test may block while a program talks to it.

mod answers;
mod body;
mod exchange;
mod record;
mod rules;

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use kube::Config;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::certificates::Certificates;
use crate::servers::config;
use crate::{ADMIN, Error, TestHub, context, waiting};
use exchange::{Door, Front, Upstream};
pub use record::Seen;
pub use rules::{Fault, Rule};

/// The context that the proxy stands in for.
const HUB: &str = "hub";
/// The file of the authority in the proxy's folder.
const AUTHORITY: &str = "ca.crt";

/// A running proxy; it ends when it is dropped.
pub struct FaultProxy {
    address: SocketAddr,
    folder: TempDir,
    front: Front,
    // Ended in the background: it may be dropped on a thread of another runtime.
    runtime: Option<Runtime>,
}

impl FaultProxy {
    /// Starts a proxy in front of the server of the context `hub`, for the user of that context, who
    /// needs a token: what else a client shows a server cannot be passed on. Without rules it
    /// changes nothing.
    pub fn start(kubeconfig: &Path) -> Result<Self, Error> {
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
        let behind = behind(&runtime, kubeconfig.to_owned())?;
        let shown = shown(&behind)?;
        let certificates = Certificates::issue()?;
        let folder = TempDir::new().map_err(context("creating a folder".to_owned()))?;
        fs::write(folder.path().join(AUTHORITY), &certificates.authority)
            .map_err(context(format!("writing {AUTHORITY}")))?;
        let url = behind.cluster_url.to_string();
        let url = url.trim_end_matches('/').to_owned();
        let front = Front {
            acceptor: acceptor(&certificates)?,
            upstream: Upstream::new(url, client_config(&behind)?),
            record: record::Record::default(),
            door: Arc::new(watch::Sender::new(Door::Open)),
            holds: Arc::new(watch::Sender::new(true)),
            ahead: Arc::new(watch::Sender::new(Duration::ZERO)),
        };
        let this = Self {
            address,
            folder,
            front,
            runtime: Some(runtime),
        };
        this.write_kubeconfig(ADMIN, &shown)?;
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

    /// The same for another user of a [`TestHub`].
    pub fn kubeconfig_of(&self, user: &str) -> Result<PathBuf, Error> {
        self.write_kubeconfig(user, &json!({"token": TestHub::token_of(user)}))?;
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

    /// From now on the server's clock is ahead by this, as far as the dates of its answers tell: what
    /// takes time has taken it for whoever goes by them.
    pub fn ahead(&self, by: Duration) {
        self.front.ahead.send_replace(by);
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
        let is_closed = || *self.front.door.borrow() == Door::Closed;
        waiting::until_so(|| "the proxy is closed".to_owned(), is_closed);
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
        self.folder.path().join(format!("kubeconfig-{user}"))
    }

    fn write_kubeconfig(&self, user: &str, shows: &Value) -> Result<(), Error> {
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "proxy",
            "clusters": [{"name": "proxy", "cluster": {
                "server": self.url(),
                "certificate-authority": self.folder.path().join(AUTHORITY),
            }}],
            "contexts": [
                {"name": "proxy", "context": {"cluster": "proxy", "user": user}},
                {"name": HUB, "context": {"cluster": "proxy", "user": user}},
            ],
            "users": [{"name": user, "user": shows}],
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

/// The server that a kubeconfig leads to, found on the proxy's own threads: the caller's may be
/// those of a runtime, which must not wait for another.
fn behind(runtime: &Runtime, kubeconfig: PathBuf) -> Result<Config, Error> {
    let (sender, receiver) = mpsc::channel();
    runtime.spawn(async move { sender.send(config(&kubeconfig, HUB).await) });
    receiver.recv().map_err(context(
        "looking for the server behind the proxy".to_owned(),
    ))?
}

/// What the user shows the server.
fn shown(behind: &Config) -> Result<Value, Error> {
    let user = &behind.auth_info;
    if user.token.is_none() && user.token_file.is_none() {
        let why = format!("the user of {} has no token to pass on", behind.cluster_url);
        return Err(Error::Failed(why));
    }
    serde_json::to_value(user).map_err(context("writing what the user shows".to_owned()))
}

fn acceptor(certificates: &Certificates) -> Result<TlsAcceptor, Error> {
    let doing = || "taking the proxy's certificate".to_owned();
    let chain = CertificateDer::pem_slice_iter(certificates.server.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(context(doing()))?;
    let key =
        PrivateKeyDer::from_pem_slice(certificates.key.as_bytes()).map_err(context(doing()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(context(doing()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn client_config(behind: &Config) -> Result<ClientConfig, Error> {
    let doing = || format!("trusting {}", behind.cluster_url);
    let mut roots = RootCertStore::empty();
    for certificate in behind.root_cert.iter().flatten() {
        let certificate = CertificateDer::from(certificate.clone());
        roots.add(certificate).map_err(context(doing()))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(context(doing()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
