//! What a hub serves, remembered between calls in kubectl's cache folder: for as long, and as little
//! trusted. What is in a file can only make a request fail, which then asks the hub again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::hub::read::served::ServedVersions;
use crate::kubefleet::object::OWN_API_VERSION;

/// How long kubectl believes what it has in its cache.
const AGE: Duration = Duration::from_hours(6);
/// The largest file that is read.
const LARGEST: u64 = 64 << 10;
const KIND: &str = "Discovery";
const FILE: &str = "fleet-stage.json";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryCache {
    server: String,
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RememberedServer {
    api_version: String,
    kind: String,
    server: String,
    /// Versions by `plural.group`.
    resources: BTreeMap<String, BTreeSet<String>>,
    other_engine: BTreeSet<String>,
}

impl DiscoveryCache {
    /// In the folder that kubectl would use for the server; `None` where there is none.
    pub fn of(server: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let cache = set("KUBECACHEDIR").map(PathBuf::from).or_else(|| {
            let home = set("HOME").or_else(|| set("USERPROFILE"))?;
            Some(Path::new(&home).join(".kube").join("cache"))
        })?;
        let host = server.split_once("://").map_or(server, |(_, host)| host);
        let host: String = host
            .chars()
            .map(|it| match it {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '/' | '.' => it,
                _ => '_',
            })
            .collect();
        let parts: PathBuf = Path::new(&host)
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        (!parts.as_os_str().is_empty()).then(|| Self {
            server: server.to_owned(),
            folder: cache.join("discovery").join(parts),
        })
    }

    /// What is remembered and may still be believed.
    pub fn recall(&self, now: SystemTime) -> Option<ServedVersions> {
        let path = self.folder.join(FILE);
        // A link may lead to anything, also to what never ends.
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let file = File::open(path).ok()?;
        let metadata = file.metadata().ok()?;
        if !is_ours(&metadata) || !is_young(&metadata, now) {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        let note: RememberedServer = serde_json::from_slice(&bytes).ok()?;
        let own = note.api_version == OWN_API_VERSION && note.kind == KIND;
        if !own || note.server != self.server {
            return None;
        }
        let served = ServedVersions::of_names(&note.resources, note.other_engine);
        served.is_hub().then_some(served)
    }

    /// Remembers. Where that is not possible, the next call asks again.
    pub fn note(&self, served: &ServedVersions) {
        if served.unknown || !served.is_hub() {
            return;
        }
        let note = RememberedServer {
            api_version: OWN_API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            server: self.server.clone(),
            resources: served.resources(),
            other_engine: served.elsewhere().clone(),
        };
        let _ = self.write(&note);
    }

    fn write(&self, note: &RememberedServer) -> Option<()> {
        let mut folders = DirBuilder::new();
        folders.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o750);
        folders.create(&self.folder).ok()?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).ok()?;
        file.write_all(&serde_json::to_vec(note).ok()?).ok()?;
        file.persist(self.folder.join(FILE)).ok().map(drop)
    }
}

fn is_young(metadata: &Metadata, now: SystemTime) -> bool {
    let modified = metadata.modified().ok();
    // One from the future would be believed for ever.
    modified.is_some_and(|then| now.duration_since(then).is_ok_and(|age| age < AGE))
}

/// Whether nobody else can have written the file.
#[cfg(unix)]
fn is_ours(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    metadata.uid() == own && metadata.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_ours(_: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::ffi::OsString;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    use super::{AGE, DiscoveryCache, FILE};
    use crate::hub::read::served::ServedVersions;
    use crate::kubefleet::Kind;

    fn served() -> ServedVersions {
        let run = Kind::ClusterStagedUpdateRun;
        let name = format!("{}.{}", run.plural(), run.group());
        let versions = BTreeSet::from(["v1beta1".to_owned()]);
        let other = BTreeSet::from(["x.rollout.kubefleet.dev".to_owned()]);
        ServedVersions::of_names(&BTreeMap::from([(name, versions)]), other)
    }

    fn memory(server: &str, cache: &Path) -> DiscoveryCache {
        let variable = |name: &str| (name == "KUBECACHEDIR").then(|| cache.as_os_str().to_owned());
        DiscoveryCache::of(server, &variable).unwrap()
    }

    #[test]
    fn the_folder_is_kubectls() {
        let variables = |name: &str| (name == "HOME").then(|| OsString::from("/home/me"));
        let folder = |server: &str| Some(DiscoveryCache::of(server, &variables)?.folder);
        let of = |host: &str| Some(Path::new("/home/me/.kube/cache/discovery").join(host));
        assert_eq!(folder("https://hub.example:6443"), of("hub.example_6443"));
        assert_eq!(folder("https://hub/k8s/c-1"), of("hub/k8s/c_1"));
        // Nothing leads out of it.
        assert_eq!(folder("https://hub/../../x"), of("hub/x"));
        assert_eq!(folder("https://"), None);
        assert_eq!(DiscoveryCache::of("https://hub", &|_| None), None);
    }

    #[test]
    fn what_was_noted_is_recalled_while_it_is_young_and_only_for_its_server() {
        let cache = tempfile::tempdir().unwrap();
        let memory = memory("https://hub", cache.path());
        let now = SystemTime::now() + Duration::from_secs(1);
        assert_eq!(memory.recall(now), None);
        memory.note(&served());
        assert_eq!(memory.recall(now), Some(served()));
        assert_eq!(memory.recall(now + AGE), None);
        assert_eq!(memory.recall(SystemTime::UNIX_EPOCH), None);
        let other = DiscoveryCache {
            server: "http://hub".to_owned(),
            ..memory.clone()
        };
        assert_eq!(other.recall(now), None);
        // What is not known is not noted.
        let mut unknown = served();
        unknown.unknown = true;
        fs::remove_file(memory.folder.join(FILE)).unwrap();
        memory.note(&unknown);
        memory.note(&ServedVersions::default());
        assert_eq!(memory.recall(now), None);
    }

    /// The memory of a server after it noted something, and where that stands.
    fn noted(cache: &Path) -> (DiscoveryCache, PathBuf, SystemTime) {
        let memory = memory("https://hub", cache);
        memory.note(&served());
        let path = memory.folder.join(FILE);
        (memory, path, SystemTime::now() + Duration::from_secs(5))
    }

    #[test]
    fn a_broken_or_hostile_file_is_no_file() {
        let cache = tempfile::tempdir().unwrap();
        let (memory, path, now) = noted(cache.path());
        let good = fs::read_to_string(&path).unwrap();
        let long = format!("{good}{}", " ".repeat(100_000));
        let more = good.replace("{\"apiVersion", "{\"more\":1,\"apiVersion");
        let elsewhere = good.replace("placement.kubernetes-fleet.io", "else.where");
        for (text, wanted) in [
            (good.clone(), true),
            (good[..good.len() - 3].to_owned(), false),
            (String::new(), false),
            ("null".to_owned(), false),
            (good.replace("Discovery", "Other"), false),
            (more, false),
            (elsewhere, false),
            (long, true),
        ] {
            fs::write(&path, &text).unwrap();
            assert_eq!(memory.recall(now).is_some(), wanted, "{text:.200}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_write_and_a_link_are_not_believed() {
        use std::os::unix::fs::PermissionsExt;
        let cache = tempfile::tempdir().unwrap();
        let (memory, path, now) = noted(cache.path());
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        mode(0o620);
        assert_eq!(memory.recall(now), None);
        mode(0o600);
        assert!(memory.recall(now).is_some());
        let elsewhere = cache.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert_eq!(memory.recall(now), None);
        // It is replaced, not followed.
        memory.note(&served());
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }
}
