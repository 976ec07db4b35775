//! The CRDs of a hub: our own, or those that KubeFleet publishes.

mod own;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures::future;
use kube::Client;
use serde_json::Value;

use crate::{Error, TestHub, context, waiting};
use own::Like;

/// Names the folder that holds KubeFleet's published CRDs, one folder for each version.
pub const FOLDER: &str = "FLEET_STAGE_CRDS_DIR";
/// Names the version whose published CRDs a hub gets instead of our own, or `old` or `alpha`
/// for ours of that time.
pub const VERSION: &str = "FLEET_STAGE_CRDS";

/// Which CRDs a hub has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crds {
    /// Ours: as at KubeFleet's current main branch, as far as a client depends on it.
    Own,
    /// Ours, with staged update runs as at v0.1.2: `spec.state` has other values, which its
    /// controllers ignore.
    OwnOld,
    /// Ours, with staged update runs at v1alpha1 alone, which knows no `spec.state`.
    OwnAlphaOnly,
    /// KubeFleet's, of a version: `head`, `v0.3.1`, `v0.1.2`.
    Published(String),
}

impl Crds {
    /// What the environment asks for; ours when it asks for nothing.
    pub fn from_environment() -> Self {
        match std::env::var(VERSION) {
            Err(_) => Self::Own,
            Ok(version) if version.is_empty() => Self::Own,
            Ok(version) if version == "old" => Self::OwnOld,
            Ok(version) if version == "alpha" => Self::OwnAlphaOnly,
            Ok(version) => Self::Published(version),
        }
    }

    /// The manifests.
    pub fn manifests(&self) -> Result<Vec<Value>, Error> {
        match self {
            Self::Own => own::manifests(Like::Main),
            Self::OwnOld => own::manifests(Like::Old),
            Self::OwnAlphaOnly => own::manifests(Like::AlphaOnly),
            Self::Published(version) => published(version),
        }
    }
}

impl TestHub {
    /// Installs CRDs on the hub, and waits until it serves them.
    pub async fn install(&self, crds: &Crds) -> Result<(), Error> {
        install(&self.client().await?, &crds.manifests()?).await
    }
}

/// Installs CRDs, and waits until they are served.
pub async fn install(client: &Client, manifests: &[Value]) -> Result<(), Error> {
    const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for manifest in manifests {
        let name = manifest["metadata"]["name"].as_str().unwrap_or_default();
        let doing = || format!("installing {name}");
        let body = serde_json::to_vec(manifest).map_err(context(doing()))?;
        let request = http::Request::post(PATH)
            .header("content-type", "application/json")
            .body(body)
            .map_err(context(doing()))?;
        client
            .request::<Value>(request)
            .await
            .map_err(context(doing()))?;
    }
    // The first request for a kind takes a second, in which the server sets up its storage.
    future::try_join_all(manifests.iter().map(|manifest| served(client, manifest))).await?;
    Ok(())
}

/// Waits until the kind of a CRD is served.
async fn served(client: &Client, manifest: &Value) -> Result<(), Error> {
    let spec = &manifest["spec"];
    let version = items(&spec["versions"]).find(|version| version["storage"] == true);
    let path = format!(
        "/apis/{}/{}/{}",
        text(&spec["group"]),
        text(&version.unwrap_or(&Value::Null)["name"]),
        text(&spec["names"]["plural"])
    );
    let begun = Instant::now();
    loop {
        let request = http::Request::get(&path).body(Vec::new());
        let request = request.map_err(context(format!("asking for {path}")))?;
        match client.request::<Value>(request).await {
            Ok(_) => return Ok(()),
            Err(error) if begun.elapsed() > waiting::HANGS => {
                return Err(Error::Failed(format!("{path} is not served: {error}")));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// The folder of a version's published CRDs, when it is there.
pub fn published_folder(version: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(FOLDER).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/crds"),
        PathBuf::from,
    );
    Some(folder.join(version)).filter(|folder| folder.is_dir())
}

fn published(version: &str) -> Result<Vec<Value>, Error> {
    let Some(folder) = published_folder(version) else {
        return Err(Error::Missing(format!(
            "KubeFleet's published CRDs of {version} are not there; {FOLDER} names their folder"
        )));
    };
    let doing = || format!("reading {}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(context(doing()))? {
        let path = entry.map_err(context(doing()))?.path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let doing = || format!("reading {}", path.display());
            let text = std::fs::read_to_string(path).map_err(context(doing()))?;
            let mut manifest: Value = serde_saphyr::from_str(&text).map_err(context(doing()))?;
            if let Some(fields) = manifest.as_object_mut() {
                fields.remove("status");
            }
            Ok(manifest)
        })
        .collect()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
