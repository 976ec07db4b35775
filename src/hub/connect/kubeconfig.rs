//! Kubeconfig files: what they say, read and merged by kubectl's rules.
//!
//! What cannot be read is told by its place and its kind. Values are never quoted: any of them may
//! be a secret that stands on a wrong line.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde_json::{Map, Value};

use crate::hub::connect::files::{self, unreadable};

/// What the files say together.
#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct Kubeconfig {
    pub current_context: String,
    pub contexts: Vec<(String, KubeContext)>,
    pub clusters: Vec<(String, KubeconfigCluster)>,
    pub users: Vec<(String, KubeconfigUser)>,
}

/// Which cluster, as whom, and where in it.
#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct KubeContext {
    pub cluster: String,
    pub user: String,
    pub namespace: String,
}

/// A server.
#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct KubeconfigCluster {
    pub server: String,
    pub tls_server_name: String,
    pub insecure: bool,
    pub authority: ConfigSource,
    pub proxy: String,
    pub disable_compression: bool,
    /// What the cluster tells plugins of itself.
    pub extension: Option<Value>,
}

/// Something that stands in the kubeconfig itself, in base64, or in a file.
#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct ConfigSource {
    pub data: SecretString,
    pub file: String,
}

/// Who asks.
#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct KubeconfigUser {
    pub certificate: ConfigSource,
    pub key: ConfigSource,
    pub token: SecretString,
    pub token_file: String,
    pub username: String,
    pub password: SecretString,
    pub impersonate: Impersonation,
    pub provider: Option<AuthProvider>,
    pub exec: Option<ExecConfig>,
}

/// As whom else.
#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct Impersonation {
    pub user: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: Vec<(String, Vec<String>)>,
}

/// A way to log in that was built into kubectl once.
#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct AuthProvider {
    pub name: String,
    pub id_token: SecretString,
}

/// A credential plugin.
#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct ExecConfig {
    pub command: String,
    pub args: Vec<SecretString>,
    pub env: Vec<(String, SecretString)>,
    pub api_version: String,
    pub install_hint: String,
    pub provide_cluster_info: bool,
    pub interactive_mode: String,
}

/// Why a file is none, without a word of what it holds.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::hub) enum KubeconfigFault {
    /// The file itself cannot be read.
    File(std::io::ErrorKind),
    /// It is not YAML.
    Syntax {
        line: u64,
        column: u64,
        kind: &'static str,
    },
    /// Something in it is not what it must be.
    Field { path: String, kind: &'static str },
}

impl std::fmt::Display for KubeconfigFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(kind) => f.write_str(&unreadable(*kind)),
            Self::Syntax { line: 0, kind, .. } => f.write_str(kind),
            Self::Syntax { line, column, kind } => {
                write!(f, "line {line}, column {column}: {kind}")
            }
            Self::Field { path, kind } if path.is_empty() => f.write_str(kind),
            Self::Field { path, kind } => write!(f, "{path} {kind}"),
        }
    }
}

impl Kubeconfig {
    /// Reads a file. Paths in it count from its folder.
    pub(in crate::hub) fn read(path: &Path) -> Result<Self, KubeconfigFault> {
        let bytes = files::read(path).map_err(|error| KubeconfigFault::File(error.kind()))?;
        let mut this = Self::parse(&bytes)?;
        if let Some(folder) = path.parent() {
            this.resolve(folder);
        }
        Ok(this)
    }

    /// Reads a text.
    pub(in crate::hub) fn parse(bytes: &[u8]) -> Result<Self, KubeconfigFault> {
        let value = first_document(bytes)?;
        let root = KubeconfigNode {
            value: &value,
            path: String::new(),
        };
        let Some(map) = root.map()? else {
            return Ok(Self::default());
        };
        for (key, wanted) in [("kind", "Config"), ("apiVersion", "v1")] {
            let found = root.text(map, key)?;
            if !found.is_empty() && found != wanted {
                return Err(KubeconfigFault::Field {
                    path: key.to_owned(),
                    kind: "is not a kubeconfig's",
                });
            }
        }
        Ok(Self {
            current_context: root.text(map, "current-context")?,
            contexts: root.named(map, "contexts", "context", KubeContext::read)?,
            clusters: root.named(map, "clusters", "cluster", KubeconfigCluster::read)?,
            users: root.named(map, "users", "user", KubeconfigUser::read)?,
        })
    }

    /// Adds what another file says; what is known already stays.
    pub(in crate::hub) fn merge(&mut self, next: Self) {
        if self.current_context.is_empty() {
            self.current_context = next.current_context;
        }
        add(&mut self.contexts, next.contexts);
        add(&mut self.clusters, next.clusters);
        add(&mut self.users, next.users);
    }

    fn resolve(&mut self, folder: &Path) {
        let absolute = |file: &mut String| {
            if !file.is_empty() && Path::new(file.as_str()).is_relative() {
                let joined: PathBuf = folder.join(file.as_str());
                *file = joined.to_string_lossy().into_owned();
            }
        };
        for (_, cluster) in &mut self.clusters {
            absolute(&mut cluster.authority.file);
        }
        for (_, user) in &mut self.users {
            absolute(&mut user.certificate.file);
            absolute(&mut user.key.file);
            absolute(&mut user.token_file);
            // A command without a folder is looked for in PATH.
            if let Some(exec) = &mut user.exec
                && exec.command.contains(std::path::MAIN_SEPARATOR)
            {
                absolute(&mut exec.command);
            }
        }
    }
}

pub(in crate::hub) fn named<'e, T>(entries: &'e [(String, T)], name: &str) -> Option<&'e T> {
    let entry = entries.iter().find(|(known, _)| known == name);
    entry.map(|(_, entry)| entry)
}

fn add<T>(known: &mut Vec<(String, T)>, next: Vec<(String, T)>) {
    for (name, entry) in next {
        if named(known, &name).is_none() {
            known.push((name, entry));
        }
    }
}

/// The first document, as kubectl reads it; of a key that is given twice, the last counts.
pub(in crate::hub) fn first_document(bytes: &[u8]) -> Result<Value, KubeconfigFault> {
    let text = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => std::str::from_utf8(rest),
        all => std::str::from_utf8(all),
    };
    let text = text.map_err(|_| KubeconfigFault::Syntax {
        line: 0,
        column: 0,
        kind: "it is not UTF-8",
    })?;
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
    };
    let documents: Result<Vec<Value>, _> = serde_saphyr::from_multiple_with_options(text, options);
    let documents = documents.map_err(|error| {
        let place = error.location();
        KubeconfigFault::Syntax {
            line: place.map_or(0, |place| place.line()),
            column: place.map_or(0, |place| place.column()),
            kind: "it is not YAML",
        }
    })?;
    Ok(documents.into_iter().next().unwrap_or_default())
}

/// A value and where it stands.
pub(in crate::hub) struct KubeconfigNode<'v> {
    pub value: &'v Value,
    pub path: String,
}

impl<'v> KubeconfigNode<'v> {
    fn at(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    fn wrong(path: String, kind: &'static str) -> KubeconfigFault {
        KubeconfigFault::Field { path, kind }
    }

    /// A mapping; `None` for nothing.
    pub(in crate::hub) fn map(&self) -> Result<Option<&'v Map<String, Value>>, KubeconfigFault> {
        match self.value {
            Value::Null => Ok(None),
            Value::Object(map) => Ok(Some(map)),
            _ => Err(Self::wrong(self.path.clone(), "must be a mapping")),
        }
    }

    /// A text; empty for nothing.
    pub(in crate::hub) fn text(
        &self,
        map: &Map<String, Value>,
        key: &str,
    ) -> Result<String, KubeconfigFault> {
        match map.get(key) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(Self::wrong(self.at(key), "must be text")),
        }
    }

    fn secret(&self, map: &Map<String, Value>, key: &str) -> Result<SecretString, KubeconfigFault> {
        self.text(map, key).map(SecretString::from)
    }

    fn flag(&self, map: &Map<String, Value>, key: &str) -> Result<bool, KubeconfigFault> {
        match map.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Self::wrong(self.at(key), "must be true or false")),
        }
    }

    /// The elements of a list; none for nothing.
    pub(in crate::hub) fn list(
        &self,
        map: &'v Map<String, Value>,
        key: &str,
    ) -> Result<Vec<KubeconfigNode<'v>>, KubeconfigFault> {
        let place = self.at(key);
        match map.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let nodes = items
                    .iter()
                    .enumerate()
                    .map(|(index, value)| KubeconfigNode {
                        value,
                        path: format!("{place}[{index}]"),
                    });
                Ok(nodes.collect())
            }
            Some(_) => Err(Self::wrong(place, "must be a list")),
        }
    }

    fn child(&self, map: &'v Map<String, Value>, key: &str) -> KubeconfigNode<'v> {
        KubeconfigNode {
            value: map.get(key).unwrap_or(&Value::Null),
            path: self.at(key),
        }
    }

    fn texts(
        &self,
        map: &'v Map<String, Value>,
        key: &str,
    ) -> Result<Vec<String>, KubeconfigFault> {
        let nodes = self.list(map, key)?;
        nodes.iter().map(KubeconfigNode::as_text).collect()
    }

    fn as_text(&self) -> Result<String, KubeconfigFault> {
        match self.value {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text.clone()),
            _ => Err(Self::wrong(self.path.clone(), "must be text")),
        }
    }

    /// The entries of a list, each with its name, which no other may have.
    fn named<T: Default>(
        &self,
        map: &'v Map<String, Value>,
        list: &str,
        inner: &str,
        read: impl Fn(&KubeconfigNode<'_>, &Map<String, Value>) -> Result<T, KubeconfigFault>,
    ) -> Result<Vec<(String, T)>, KubeconfigFault> {
        let mut entries: Vec<(String, T)> = Vec::new();
        for node in self.list(map, list)? {
            let Some(entry) = node.map()? else { continue };
            let name = node.text(entry, "name")?;
            if named(&entries, &name).is_some() {
                return Err(Self::wrong(node.at("name"), "is set twice"));
            }
            let child = node.child(entry, inner);
            let read = match child.map()? {
                Some(map) => read(&child, map)?,
                None => T::default(),
            };
            entries.push((name, read));
        }
        Ok(entries)
    }
}

impl KubeContext {
    fn read(node: &KubeconfigNode<'_>, map: &Map<String, Value>) -> Result<Self, KubeconfigFault> {
        Ok(Self {
            cluster: node.text(map, "cluster")?,
            user: node.text(map, "user")?,
            namespace: node.text(map, "namespace")?,
        })
    }
}

impl KubeconfigCluster {
    fn read(node: &KubeconfigNode<'_>, map: &Map<String, Value>) -> Result<Self, KubeconfigFault> {
        let extensions = map.get("extensions").and_then(Value::as_array);
        let extension = extensions.into_iter().flatten().find_map(|extension| {
            let own = extension["name"] == "client.authentication.k8s.io/exec";
            own.then(|| extension["extension"].clone())
        });
        Ok(Self {
            server: node.text(map, "server")?,
            tls_server_name: node.text(map, "tls-server-name")?,
            insecure: node.flag(map, "insecure-skip-tls-verify")?,
            authority: ConfigSource::read(node, map, "certificate-authority")?,
            proxy: node.text(map, "proxy-url")?,
            disable_compression: node.flag(map, "disable-compression")?,
            extension,
        })
    }
}

impl ConfigSource {
    fn read(
        node: &KubeconfigNode<'_>,
        map: &Map<String, Value>,
        key: &str,
    ) -> Result<Self, KubeconfigFault> {
        Ok(Self {
            data: node.secret(map, &format!("{key}-data"))?,
            file: node.text(map, key)?,
        })
    }
}

impl KubeconfigUser {
    fn read(node: &KubeconfigNode<'_>, map: &Map<String, Value>) -> Result<Self, KubeconfigFault> {
        let mut extra = Vec::new();
        let node_of_extra = node.child(map, "as-user-extra");
        if let Some(map) = node_of_extra.map()? {
            for key in map.keys() {
                extra.push((key.clone(), node_of_extra.texts(map, key)?));
            }
        }
        let provider = node.child(map, "auth-provider");
        let provider = match provider.map()? {
            None => None,
            Some(map) => {
                let config = provider.child(map, "config");
                let id_token = match config.map()? {
                    Some(map) => config.secret(map, "id-token")?,
                    None => SecretString::default(),
                };
                Some(AuthProvider {
                    name: provider.text(map, "name")?,
                    id_token,
                })
            }
        };
        let exec = node.child(map, "exec");
        let exec = match exec.map()? {
            Some(map) => Some(ExecConfig::read(&exec, map)?),
            None => None,
        };
        Ok(Self {
            certificate: ConfigSource::read(node, map, "client-certificate")?,
            key: ConfigSource::read(node, map, "client-key")?,
            token: node.secret(map, "token")?,
            token_file: node.text(map, "tokenFile")?,
            username: node.text(map, "username")?,
            password: node.secret(map, "password")?,
            impersonate: Impersonation {
                user: node.text(map, "as")?,
                uid: node.text(map, "as-uid")?,
                groups: node.texts(map, "as-groups")?,
                extra,
            },
            provider,
            exec,
        })
    }
}

impl ExecConfig {
    fn read(node: &KubeconfigNode<'_>, map: &Map<String, Value>) -> Result<Self, KubeconfigFault> {
        let mut env = Vec::new();
        for node in node.list(map, "env")? {
            if let Some(map) = node.map()? {
                env.push((node.text(map, "name")?, node.secret(map, "value")?));
            }
        }
        let args = node.texts(map, "args")?;
        Ok(Self {
            command: node.text(map, "command")?,
            args: args.into_iter().map(SecretString::from).collect(),
            env,
            api_version: node.text(map, "apiVersion")?,
            install_hint: node.text(map, "installHint")?,
            provide_cluster_info: node.flag(map, "provideClusterInfo")?,
            interactive_mode: node.text(map, "interactiveMode")?,
        })
    }
}

#[cfg(test)]
mod tests;
