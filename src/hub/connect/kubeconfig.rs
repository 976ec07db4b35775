//! Kubeconfig files: what they say, read and merged by kubectl's rules.
//!
//! What cannot be read is told by its place and its kind. Values are never quoted: any of them may
//! be a secret that stands on a wrong line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::hub::connect::files::{self, unreadable};

/// What the files say together.
#[derive(Debug, Clone, Default)]
pub struct Kubeconfig {
    pub current_context: String,
    pub contexts: Vec<(String, KubeContext)>,
    pub clusters: Vec<(String, KubeconfigCluster)>,
    pub users: Vec<(String, KubeconfigUser)>,
}

/// Mappings as Go reads them: a field that is null is one that is missing, and others are passed
/// over. Without what is flattened, serde would take a list for the fields in their order.
macro_rules! mappings {
    ($($(#[$about:meta])* struct $name:ident { $($(#[$written:meta])* $field:ident: $kind:ty,)* })*) => {$(
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(default)]
        $(#[$about])*
        pub struct $name {
            $($(#[$written])* #[serde(deserialize_with = "nullable")] pub $field: $kind,)*
            #[serde(flatten)]
            pub _others: (),
        }
    )*};
}
pub(super) use mappings;

mappings! {
    #[serde(rename_all = "kebab-case")]
    struct KubeconfigFile {
        kind: String,
        #[serde(rename = "apiVersion")]
        api_version: String,
        current_context: String,
        contexts: Vec<NamedContext>,
        clusters: Vec<NamedCluster>,
        users: Vec<NamedUser>,
    }

    struct NamedContext {
        name: String,
        context: KubeContext,
    }

    struct NamedCluster {
        name: String,
        cluster: KubeconfigCluster,
    }

    struct NamedUser {
        name: String,
        user: KubeconfigUser,
    }

    struct KubeContext {
        cluster: String,
        user: String,
        namespace: String,
    }

    #[serde(rename_all = "kebab-case")]
    struct KubeconfigCluster {
        server: String,
        tls_server_name: String,
        insecure_skip_tls_verify: bool,
        certificate_authority: String,
        certificate_authority_data: SecretString,
        proxy_url: String,
        disable_compression: bool,
        extensions: Vec<ClusterExtension>,
    }

    /// What a cluster tells others of itself.
    struct ClusterExtension {
        name: String,
        extension: Value,
    }

    #[serde(rename_all = "kebab-case")]
    struct KubeconfigUser {
        client_certificate: String,
        client_certificate_data: SecretString,
        client_key: String,
        client_key_data: SecretString,
        token: SecretString,
        #[serde(rename = "tokenFile")]
        token_file: String,
        username: String,
        password: SecretString,
        #[serde(rename = "as")]
        as_user: String,
        as_uid: String,
        as_groups: Vec<String>,
        as_user_extra: BTreeMap<String, Vec<String>>,
        auth_provider: Option<AuthProvider>,
        exec: Option<ExecConfig>,
    }

    /// A way to log in that was built into kubectl once.
    struct AuthProvider {
        name: String,
        config: AuthProviderConfig,
    }

    #[serde(rename_all = "kebab-case")]
    struct AuthProviderConfig {
        id_token: SecretString,
    }

    #[serde(rename_all = "camelCase")]
    struct ExecConfig {
        command: String,
        args: Vec<SecretString>,
        env: Vec<ExecVariable>,
        api_version: String,
        install_hint: String,
        provide_cluster_info: bool,
        interactive_mode: String,
    }

    struct ExecVariable {
        name: String,
        value: SecretString,
    }
}

/// Why a file is none, without a word of what it holds.
#[derive(Debug, PartialEq, Eq)]
pub enum KubeconfigFault {
    /// The file itself cannot be read.
    File(std::io::ErrorKind),
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
    pub fn read(path: &Path) -> Result<Self, KubeconfigFault> {
        let bytes = files::read(path).map_err(|error| KubeconfigFault::File(error.kind()))?;
        let mut this = Self::parse(&bytes)?;
        if let Some(folder) = path.parent() {
            this.resolve(folder);
        }
        Ok(this)
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, KubeconfigFault> {
        let file: KubeconfigFile = read_document(bytes)?;
        for (key, found, wanted) in [
            ("kind", file.kind, "Config"),
            ("apiVersion", file.api_version, "v1"),
        ] {
            if !found.is_empty() && found != wanted {
                return Err(KubeconfigFault::Field {
                    path: key.to_owned(),
                    kind: "is not a kubeconfig's",
                });
            }
        }
        let contexts = file.contexts.into_iter().map(|it| (it.name, it.context));
        let clusters = file.clusters.into_iter().map(|it| (it.name, it.cluster));
        let users = file.users.into_iter().map(|it| (it.name, it.user));
        Ok(Self {
            current_context: file.current_context,
            contexts: by_name("contexts", contexts)?,
            clusters: by_name("clusters", clusters)?,
            users: by_name("users", users)?,
        })
    }

    /// Adds what another file says; what is known already stays.
    pub fn merge(&mut self, next: Self) {
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
            absolute(&mut cluster.certificate_authority);
        }
        for (_, user) in &mut self.users {
            absolute(&mut user.client_certificate);
            absolute(&mut user.client_key);
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

pub fn named<'e, T>(entries: &'e [(String, T)], name: &str) -> Option<&'e T> {
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

/// The entries of a list, each with its name, which no other may have.
fn by_name<T>(
    list: &str,
    entries: impl Iterator<Item = (String, T)>,
) -> Result<Vec<(String, T)>, KubeconfigFault> {
    let mut known = Vec::new();
    for (at, (name, entry)) in entries.enumerate() {
        if named(&known, &name).is_some() {
            return Err(KubeconfigFault::Field {
                path: format!("{list}[{at}].name"),
                kind: "is set twice",
            });
        }
        known.push((name, entry));
    }
    Ok(known)
}

/// Reads the first document. What is not as it must be is told by its path.
pub fn read_document<T: DeserializeOwned + Default>(bytes: &[u8]) -> Result<T, KubeconfigFault> {
    let value = first_document(bytes)?;
    let read: Result<Option<T>, _> = serde_path_to_error::deserialize(value);
    read.map(Option::unwrap_or_default)
        .map_err(|error| KubeconfigFault::Field {
            path: match error.path().iter().next() {
                Some(_) => error.path().to_string(),
                None => String::new(),
            },
            kind: wanted_kind(&error.into_inner()),
        })
}

/// What should be there. serde quotes what is: only its last words are ours.
fn wanted_kind(error: &serde_json::Error) -> &'static str {
    match error.to_string().rsplit(", expected ").next() {
        Some("a string") => "must be text",
        Some("a boolean") => "must be true or false",
        Some("a sequence") => "must be a list",
        _ => "must be a mapping",
    }
}

/// A value that is the default one where it is null.
pub(super) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// The first document, as kubectl reads it; of a key that is given twice, the last counts.
pub fn first_document(bytes: &[u8]) -> Result<Value, KubeconfigFault> {
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

#[cfg(test)]
mod tests;
