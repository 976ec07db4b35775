//! Which credential plugins may run: kubectl's `kuberc`.
//!
//! A file that cannot be read allows nothing: what it forbids is not known.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::hub::connect::files::{self, unreadable};
use crate::hub::connect::kubeconfig::{mappings, nullable, read_document};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::hub) enum PluginPolicy {
    #[default]
    All,
    None,
    These(Vec<String>),
    /// The file says something that is no policy.
    Unknown(String),
}

pub(in crate::hub) fn read(variable: &(dyn Fn(&str) -> Option<OsString> + Sync)) -> PluginPolicy {
    let text = |name: &str| variable(name).filter(|value| !value.is_empty());
    let off = text("KUBECTL_KUBERC").is_some_and(|value| value.eq_ignore_ascii_case("false"));
    let named = text("KUBERC");
    if off || named.as_ref().is_some_and(|value| value == "off") {
        return PluginPolicy::All;
    }
    let home = || text("HOME").or_else(|| text("USERPROFILE"));
    let (path, must_exist) = match named {
        Some(path) => (PathBuf::from(path), true),
        None => match home() {
            Some(home) => (PathBuf::from(home).join(".kube").join("kuberc"), false),
            None => return PluginPolicy::All,
        },
    };
    let unknown = |why: String| PluginPolicy::Unknown(format!("{}: {why}", path.display()));
    match files::read(&path) {
        Ok(bytes) => parse(&bytes).unwrap_or_else(unknown),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
            PluginPolicy::All
        }
        Err(error) => unknown(unreadable(error.kind())),
    }
}

mappings! {
    /// The part of a `kuberc` that we read.
    #[serde(rename_all = "camelCase")]
    struct KubercFile {
        api_version: String,
        kind: String,
        credential_plugin_policy: String,
        credential_plugin_allowlist: Option<Vec<AllowedPlugin>>,
    }

    /// An entry of the list: its command has two names.
    struct AllowedPlugin {
        name: String,
        command: String,
    }
}

fn parse(bytes: &[u8]) -> Result<PluginPolicy, String> {
    let file: Option<KubercFile> = read_document(bytes).map_err(|fault| fault.to_string())?;
    let Some(file) = file else {
        return Ok(PluginPolicy::All);
    };
    if !file.api_version.starts_with("kubectl.config.k8s.io/") || file.kind != "Preference" {
        return Err("it has no kubectl Preference".to_owned());
    }
    let key = "credentialPluginAllowlist";
    let given = file.credential_plugin_allowlist.is_some();
    let list = file.credential_plugin_allowlist.unwrap_or_default();
    match file.credential_plugin_policy.as_str() {
        "" | "AllowAll" | "DenyAll" if given => {
            Err(format!("{key} needs credentialPluginPolicy: Allowlist"))
        }
        "" | "AllowAll" => Ok(PluginPolicy::All),
        "DenyAll" => Ok(PluginPolicy::None),
        "Allowlist" if list.is_empty() => Err(format!(
            "credentialPluginPolicy is Allowlist, but {key} has no command"
        )),
        "Allowlist" => {
            let commands = list
                .into_iter()
                .enumerate()
                .map(|(at, entry)| command(entry).map_err(|why| format!("{key}[{at}] has {why}")));
            Ok(PluginPolicy::These(commands.collect::<Result<_, _>>()?))
        }
        _ => Err("credentialPluginPolicy is not AllowAll, DenyAll, or Allowlist".to_owned()),
    }
}

fn command(entry: AllowedPlugin) -> Result<String, &'static str> {
    let command = match (entry.name, entry.command) {
        (name, command) if !name.is_empty() && !command.is_empty() && name != command => {
            return Err("two commands");
        }
        (name, command) if command.is_empty() => name,
        (_, command) => command,
    };
    match command.as_str() {
        "" => Err("no command"),
        text if clean(text) != text => Err("a path that is not in its shortest form"),
        _ => Ok(command),
    }
}

/// A path without what changes nothing in it.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

impl PluginPolicy {
    /// Whether a command may run, of which the file is known; why not, where it may not.
    pub(super) fn allows(
        &self,
        command: &str,
        file: Option<&Path>,
        look_up: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<(), String> {
        let command = clean(command);
        match self {
            Self::All => Ok(()),
            Self::None => Err("kuberc allows no credential plugin".to_owned()),
            Self::Unknown(why) => Err(format!(
                "the rules for credential plugins cannot be read: {why}"
            )),
            Self::These(list) => {
                let same = |entry: &String| {
                    *entry == command
                        || file.is_some_and(|file| {
                            Path::new(entry) == file || look_up(entry).as_deref() == Some(file)
                        })
                };
                let listed = list.iter().any(same);
                let why = || "it is not in the allowlist of credential plugins in kuberc";
                listed.then_some(()).ok_or_else(|| why().to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PluginPolicy, clean, parse, read};
    use std::path::{Path, PathBuf};

    fn preference(rest: &str) -> Result<PluginPolicy, String> {
        let text = format!("apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n{rest}");
        parse(text.as_bytes())
    }

    #[test]
    fn a_policy_is_read() {
        assert_eq!(parse(b""), Ok(PluginPolicy::All));
        let these = Vec::from(["a", "/b/c", "d"].map(str::to_owned));
        for (rest, policy) in [
            ("aliases: []", PluginPolicy::All),
            ("credentialPluginPolicy: AllowAll", PluginPolicy::All),
            ("credentialPluginPolicy: DenyAll", PluginPolicy::None),
            (
                "credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n\
                 - name: a\n- command: /b/c\n- {name: d, command: d}",
                PluginPolicy::These(these),
            ),
        ] {
            assert_eq!(preference(rest), Ok(policy), "{rest}");
        }
        for wrong in [
            "credentialPluginPolicy: Some",
            "credentialPluginPolicy: Allowlist",
            "credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: []",
            "credentialPluginAllowlist: [{name: a}]",
            "credentialPluginPolicy: DenyAll\ncredentialPluginAllowlist: []",
            "credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{}]",
            "credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{name: a, command: b}]",
            "credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{name: ./a}]",
            "credentialPluginPolicy: 1",
        ] {
            assert!(preference(wrong).is_err(), "{wrong}");
        }
        assert!(parse(b"kind: Config\napiVersion: v1").is_err());
        assert!(parse(b"{").is_err());
    }

    #[test]
    fn only_what_is_listed_runs() {
        let list = PluginPolicy::These(vec!["login".into(), "/opt/other".into()]);
        let look_up = |name: &str| match name {
            "login" => Some(PathBuf::from("/usr/bin/login")),
            "/opt/other" => Some(PathBuf::from("/opt/other")),
            _ => None,
        };
        let may = |command: &str, file: &str| {
            let file = (!file.is_empty()).then(|| Path::new(file));
            list.allows(command, file, look_up).is_ok()
        };
        assert!(may("login", "/usr/bin/login"));
        assert!(may("/usr/bin/login", "/usr/bin/login"));
        assert!(may("/usr/bin/../bin/login", "/usr/bin/login"));
        assert!(may("/opt/other", "/opt/other"));
        assert!(!may("/tmp/login", "/tmp/login"));
        assert!(!may("other", "/usr/bin/other"));
        assert!(!may("missing", ""));
        assert!(PluginPolicy::All.allows("x", None, look_up).is_ok());
        assert!(PluginPolicy::None.allows("login", None, look_up).is_err());
        let unknown = PluginPolicy::Unknown("x".into());
        assert!(unknown.allows("login", None, look_up).is_err());
    }

    #[test]
    fn paths_are_cleaned() {
        for (path, cleaned) in [
            ("a", "a"),
            ("./a", "a"),
            ("/a//b/./c/..", "/a/b"),
            ("/..", "/"),
            ("../a", "../a"),
            ("a/../..", ".."),
            ("", "."),
        ] {
            assert_eq!(clean(path), cleaned, "{path}");
        }
    }

    #[test]
    fn the_environment_says_which_file() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir_all(home.join(".kube")).unwrap();
        let denies = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n\
                      credentialPluginPolicy: DenyAll\n";
        let of = |pairs: &[(&str, &Path)]| {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.as_os_str().to_owned()))
                .collect();
            read(&move |name: &str| {
                let pair = pairs.iter().find(|(known, _)| known == name);
                pair.map(|(_, value)| value.clone())
            })
        };
        assert_eq!(of(&[]), PluginPolicy::All);
        assert_eq!(of(&[("HOME", &home)]), PluginPolicy::All);
        std::fs::write(home.join(".kube/kuberc"), denies).unwrap();
        assert_eq!(of(&[("HOME", &home)]), PluginPolicy::None);
        for (name, value) in [("KUBERC", "off"), ("KUBECTL_KUBERC", "False")] {
            let found = of(&[("HOME", &home), (name, Path::new(value))]);
            assert_eq!(found, PluginPolicy::All, "{name}");
        }
        let missing = folder.path().join("missing");
        let found = of(&[("HOME", &home), ("KUBERC", &missing)]);
        assert!(matches!(found, PluginPolicy::Unknown(_)));
    }
}
