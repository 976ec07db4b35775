//! The settings file: values of flags, the ways into member clusters, and groups of hubs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::kubefleet::object::OWN_API_VERSION;
use crate::words::without_place;

/// Names the file, or is `off`.
pub const VARIABLE: &str = "FLEET_STAGE_SETTINGS";
/// The kind of the file's only document.
const KIND: &str = "Settings";
/// No settings are as large.
const MOST: u64 = 1 << 20;

/// What the user wants of every call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    api_version: String,
    kind: String,
    /// Values of flags that were not given.
    #[serde(default)]
    pub defaults: Vec<FlagDefaults>,
    /// The context that leads into each member cluster.
    #[serde(default)]
    pub member_contexts: BTreeMap<String, String>,
    /// Hubs that are asked together, by the name of the group.
    #[serde(default)]
    pub hub_groups: BTreeMap<String, Vec<String>>,
}

/// The values of one command's flags.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlagDefaults {
    /// Words such as `snapshots diff`; absent for the flags of all commands.
    pub command: Option<String>,
    pub options: Vec<SettingValue>,
}

/// The value of one flag.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingValue {
    /// Without dashes.
    pub name: String,
    pub default: String,
}

/// The settings in force.
#[derive(Debug, Default)]
pub struct InForce {
    /// Where the file is, or would be; `None` where there is no place for it, or none is wanted.
    pub path: Option<PathBuf>,
    /// What it says; nothing where there is none.
    pub settings: Settings,
    pub exists: bool,
}

impl InForce {
    /// That something in the file cannot be.
    pub fn unusable(&self, why: String) -> UnusableSettings {
        UnusableSettings::of(self.path.clone().unwrap_or_default(), why)
    }
}

/// Why a file is of no use.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("settings file {}: {why}", path.display())]
pub struct UnusableSettings {
    path: PathBuf,
    why: String,
    /// What to do about it.
    pub hint: String,
}

impl UnusableSettings {
    fn of(path: PathBuf, why: String) -> Self {
        Self {
            path,
            why,
            hint: format!("correct it, or set {VARIABLE}=off to do without it"),
        }
    }
}

/// Reads the file that the environment names, or the one in its usual place.
pub fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<InForce, UnusableSettings> {
    let Some((path, is_named)) = place(variable) else {
        return Ok(InForce::default());
    };
    let unusable = |why: String, hint: String| UnusableSettings {
        path: path.clone(),
        why,
        hint,
    };
    let bytes = match load(&path) {
        Ok(bytes) => bytes,
        Err(error) if !is_named && is_nowhere(&path, error.kind()) => {
            return Ok(InForce {
                path: Some(path),
                ..InForce::default()
            });
        }
        Err(error) => {
            let why = match error.kind() {
                ErrorKind::NotFound => "it does not exist".to_owned(),
                _ => error.to_string(),
            };
            let hint = format!("set {VARIABLE} to a file that can be read, or to off");
            return Err(unusable(why, hint));
        }
    };
    let Some(bytes) = bytes else {
        let hint = format!("run: chmod go-w {}", path.display());
        return Err(unusable("other users may change it".to_owned(), hint));
    };
    match parse(&bytes) {
        Ok(settings) => Ok(InForce {
            path: Some(path),
            settings,
            exists: true,
        }),
        Err(why) => Err(UnusableSettings::of(path, why)),
    }
}

/// Where the file is, and whether someone named it.
fn place(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<(PathBuf, bool)> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match set(VARIABLE) {
        Some(off) if off == "off" => return None,
        Some(path) => return Some((path.into(), true)),
        None => {}
    }
    // XDG: a path that is not absolute is as good as none.
    let configured = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = configured.filter(|path| path.is_absolute()).or_else(|| {
        let home = set("HOME").map(|home| PathBuf::from(home).join(".config"));
        home.or_else(|| set("APPDATA").map(PathBuf::from))
    })?;
    Some((folder.join("kubectl-fleet-stage/settings.yaml"), false))
}

/// Whether there is no file, as far as this user can get: a home may be another's.
fn is_nowhere(path: &Path, kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::NotFound | ErrorKind::NotADirectory => true,
        ErrorKind::PermissionDenied => path
            .parent()
            .is_none_or(|folder| folder.metadata().is_err()),
        _ => false,
    }
}

/// The text of the file; `None` where other users may change it.
fn load(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    // A pipe has no end that is known, and a device may have none.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.len() > MOST {
        let why = format!("it has {} bytes, more than {MOST}", meta.len());
        return Err(std::io::Error::other(why));
    }
    let folder = path.canonicalize()?;
    let folder = folder.parent().map(std::fs::metadata).transpose()?;
    if others_may_write(&meta) || folder.is_some_and(|folder| others_may_replace(&folder)) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Whether others than the owner may: a group of the owner's own number is the owner's alone.
#[cfg(unix)]
fn others_may_write(meta: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let mode = meta.mode();
    mode & 0o002 != 0 || mode & 0o020 != 0 && meta.gid() != meta.uid()
}

/// The same of what a folder holds. In a sticky one each has only their own.
#[cfg(unix)]
fn others_may_replace(folder: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    folder.mode() & 0o1000 == 0 && others_may_write(folder)
}

#[cfg(not(unix))]
fn others_may_replace(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn others_may_write(_: &Metadata) -> bool {
    false
}

/// What a file says.
fn parse(bytes: &[u8]) -> Result<Settings, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let settings: Settings = serde_saphyr::from_str(text).map_err(|error| {
        let place = error.location();
        let line = place.map_or_else(String::new, |place| format!("line {}: ", place.line()));
        let plain = error.without_snippet().to_string();
        let words = plain.lines().next().unwrap_or_default();
        format!("{line}{}", without_place(words))
    })?;
    if settings.api_version != OWN_API_VERSION || settings.kind != KIND {
        return Err(format!(
            "it must begin with apiVersion: {OWN_API_VERSION} and kind: {KIND}"
        ));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::{InForce, UnusableSettings, VARIABLE, parse, place, read};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    const WHOLE: &str = "
apiVersion: kubectl-fleet-stage/v1
kind: Settings
defaults:
- command: list
  options:
  - name: output
    default: wide
- options:
  - name: request-timeout
    default: 10s
memberContexts:
  member-1: aks-1
hubGroups:
  prod: [eu, us]
";

    #[test]
    fn all_that_a_file_may_say() {
        let settings = parse(WHOLE.as_bytes()).unwrap();
        assert_eq!(settings.defaults[0].command.as_deref(), Some("list"));
        assert_eq!(settings.defaults[0].options[0].default, "wide");
        assert_eq!(settings.defaults[1].command, None);
        assert_eq!(settings.member_contexts["member-1"], "aks-1");
        assert_eq!(settings.hub_groups["prod"], ["eu", "us"]);
        let least = "apiVersion: kubectl-fleet-stage/v1\nkind: Settings\n";
        assert!(parse(least.as_bytes()).unwrap().defaults.is_empty());
    }

    #[test]
    fn what_is_odd_is_told_with_its_line() {
        for (from, to, wanted) in [
            ("memberContexts", "membercontexts", "line 12: unknown field"),
            ("default: wide", "value: wide", "line 8: unknown field"),
            ("member-1: aks-1", "member-1: [aks-1", "line "),
            ("kind: Settings", "kind: Other", "it must begin with"),
            ("/v1\n", "/v2\n", "it must begin with"),
            ("default: wide", "default: [wide]", "line 8: "),
        ] {
            let text = WHOLE.replacen(from, to, 1);
            assert_ne!(text, WHOLE, "{from}");
            let why = parse(text.as_bytes()).unwrap_err();
            assert!(why.contains(wanted), "{to}: {why}");
            assert!(!why.contains('\n') && !why.contains(" at line "), "{why}");
        }
        assert_eq!(parse(&[0xFF]).unwrap_err(), "it is not UTF-8");
    }

    fn of(set: &[(&str, &Path)]) -> Option<(PathBuf, bool)> {
        place(&|name| {
            let own = set.iter().find(|(own, _)| *own == name);
            own.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_place_follows_the_environment() {
        let at = |path: &str, named| Some((PathBuf::from(path), named));
        let (home, folder) = (("HOME", Path::new("/h")), Path::new("/x"));
        let usual = at("/h/.config/kubectl-fleet-stage/settings.yaml", false);
        assert_eq!(of(&[home]), usual);
        assert_eq!(of(&[home, ("XDG_CONFIG_HOME", Path::new("x"))]), usual);
        let own = at("/x/kubectl-fleet-stage/settings.yaml", false);
        assert_eq!(of(&[home, ("XDG_CONFIG_HOME", folder)]), own);
        assert_eq!(of(&[home, (VARIABLE, Path::new("s"))]), at("s", true));
        assert_eq!(of(&[home, (VARIABLE, Path::new("off"))]), None);
        assert_eq!(of(&[]), None);
    }

    fn read_at(path: &Path) -> Result<InForce, UnusableSettings> {
        read(&|name| (name == VARIABLE).then(|| path.into()))
    }

    #[test]
    fn a_file_that_was_named_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let error = read_at(&folder.path().join("none")).unwrap_err();
        assert!(error.to_string().ends_with("it does not exist"), "{error}");
        let unnamed = read(&|name| (name == "XDG_CONFIG_HOME").then(|| folder.path().into()));
        let unnamed = unnamed.unwrap();
        assert!(unnamed.path.is_some() && !unnamed.exists);
        let large = folder.path().join("large");
        std::fs::write(&large, vec![b' '; (1 << 20) + 1]).unwrap();
        assert!(read_at(&large).unwrap_err().to_string().contains("bytes"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_everyone_may_change_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.yaml");
        std::fs::write(&path, WHOLE).unwrap();
        let own = std::os::unix::fs::MetadataExt::gid(&path.metadata().unwrap());
        let is_own = own == std::os::unix::fs::MetadataExt::uid(&path.metadata().unwrap());
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for (mode, fine) in [
            (0o600, true),
            (0o644, true),
            (0o664, is_own),
            (0o666, false),
        ] {
            set(&path, mode);
            assert_eq!(read_at(&path).is_ok(), fine, "{mode:o}");
        }
        set(&path, 0o600);
        for (mode, fine) in [(0o777, false), (0o1777, true), (0o755, true)] {
            set(folder.path(), mode);
            assert_eq!(read_at(&path).is_ok(), fine, "{mode:o}");
        }
    }

    #[test]
    fn what_has_no_end_is_no_file() {
        for path in ["/dev/zero", "/dev/null", "/"] {
            let error = read_at(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
        let home = read(&|name| (name == "HOME").then(|| "/dev/null".into())).unwrap();
        assert!(!home.exists);
    }
}
