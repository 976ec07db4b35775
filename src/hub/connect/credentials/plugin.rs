//! Credential plugins: programs that print a token or a certificate, run as kubectl runs them.
//!
//! What a plugin is called with, its environment and its output are never shown: each may hold a
//! secret. What it says on standard error is the user's to read, and goes there directly.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use super::policy::PluginPolicy;
use crate::hub::connect::kubeconfig::ExecConfig;
use crate::hub::error::HubError;
use crate::hub::signals::{ChildProcesses, EndRequest, StartedProcess};
use crate::words::said_if;

/// How much a plugin may print: a token or a certificate takes some thousand bytes.
const MOST: u64 = 1 << 20;
/// How long a plugin has to end when it is asked to, and its output to end when it has.
const GRACE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Default)]
pub(in crate::hub) struct RunningPlugin {
    /// Whether standard input is a terminal that a plugin may read.
    pub terminal: bool,
    /// Whether what a plugin says on standard error is dropped.
    pub quiet: bool,
    /// How long a plugin may take; `None` for no limit.
    pub limit: Option<Duration>,
    /// What ends with us.
    pub ends: Arc<ChildProcesses>,
}

#[derive(Debug)]
pub(in crate::hub) struct Plugin {
    /// As the kubeconfig names it, for errors.
    name: String,
    file: PathBuf,
    exec: ExecConfig,
    info: SecretString,
    interactive: bool,
    running: RunningPlugin,
}

#[derive(Clone)]
pub(in crate::hub) struct PluginCredential {
    pub token: Option<SecretString>,
    /// A certificate and its key, in PEM.
    pub certificate: Option<(String, SecretString)>,
    pub until: Option<Timestamp>,
}

impl std::fmt::Debug for PluginCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Given {{ until: {:?} }}", self.until)
    }
}

impl Plugin {
    /// Checks a plugin's entry; `cluster` is what it is told of the server, where it asks for it.
    pub(in crate::hub) fn new(
        exec: &ExecConfig,
        cluster: Value,
        policy: &PluginPolicy,
        running: RunningPlugin,
        variable: &(dyn Fn(&str) -> Option<OsString> + Sync),
    ) -> Result<Self, String> {
        let name = printable_name(&exec.command);
        if exec.command.is_empty() {
            return Err("the user's exec entry has no command".to_owned());
        }
        let mode = match (exec.interactive_mode.as_str(), exec.api_version.as_str()) {
            ("", "client.authentication.k8s.io/v1beta1") => "IfAvailable",
            ("", _) => {
                return Err("the user's exec entry must set interactiveMode".to_owned());
            }
            (mode, _) => mode,
        };
        if !matches!(
            exec.api_version.as_str(),
            "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1"
        ) {
            return Err("the apiVersion of the user's exec entry is neither \
                 client.authentication.k8s.io/v1 nor client.authentication.k8s.io/v1beta1"
                .to_owned());
        }
        if exec.env.iter().any(|variable| variable.name.is_empty()) {
            return Err("a variable of the user's exec entry has no name".to_owned());
        }
        // What the system cannot pass on.
        let odd = |text: &str| text.contains('\0');
        let mut names = exec.env.iter().map(|variable| variable.name.as_str());
        let values = exec.env.iter().map(|variable| &variable.value);
        if names.any(|name| odd(name) || name.contains('='))
            || odd(&exec.command)
            || values
                .chain(&exec.args)
                .any(|value| odd(value.expose_secret()))
        {
            return Err(
                "the user's exec entry has a character that cannot be passed to a program"
                    .to_owned(),
            );
        }
        let interactive = match mode {
            "Never" => false,
            "IfAvailable" => running.terminal,
            "Always" if running.terminal => true,
            "Always" => {
                return Err(format!(
                    "the credential plugin {name} needs a terminal: its interactiveMode is Always"
                ));
            }
            _ => {
                return Err(
                    "interactiveMode of the user's exec entry is not Never, IfAvailable, or Always"
                        .to_owned(),
                );
            }
        };
        let file = look_up(&exec.command, variable);
        policy
            .allows(&exec.command, file.as_deref(), |entry| {
                look_up(entry, variable)
            })
            .map_err(|why| format!("the credential plugin {name} is not allowed to run: {why}"))?;
        let Some(file) = file else {
            let hint = exec.install_hint.trim();
            let hint = said_if(!hint.is_empty(), format!("; its installation hint: {hint}"));
            return Err(format!(
                "the credential plugin {name} is not installed{hint}"
            ));
        };
        let mut spec = json!({"interactive": interactive});
        if exec.provide_cluster_info {
            spec["cluster"] = cluster;
        }
        let info = json!({
            "kind": "ExecCredential",
            "apiVersion": exec.api_version,
            "spec": spec,
        });
        Ok(Self {
            name,
            file,
            exec: exec.clone(),
            info: info.to_string().into(),
            interactive,
            running,
        })
    }

    pub(super) async fn run(&self) -> Result<PluginCredential, HubError> {
        let fail = |why: String| {
            HubError::Credentials(format!("the credential plugin {} {why}", self.name))
        };
        let (success, code, bytes) = self.output().await?;
        if !success {
            return Err(fail(match code {
                Some(code) => format!("failed with exit code {code}"),
                None => "was killed by a signal".to_owned(),
            }));
        }
        answer(&bytes, &self.exec.api_version).map_err(|why| fail(why.to_owned()))
    }

    async fn output(&self) -> Result<(bool, Option<i32>, Vec<u8>), HubError> {
        let fail =
            |why: &str| HubError::Credentials(format!("the credential plugin {} {why}", self.name));
        let ends = &self.running.ends;
        ends.listen();
        let variables = self.exec.env.iter();
        let mut command = Command::new(&self.file);
        command
            .args(self.exec.args.iter().map(ExposeSecret::expose_secret))
            .envs(variables.map(|it| (&it.name, it.value.expose_secret())))
            .env("KUBERNETES_EXEC_INFO", self.info.expose_secret())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        command.stdin(if self.interactive {
            Stdio::inherit()
        } else {
            Stdio::null()
        });
        command.stderr(if self.running.quiet {
            Stdio::null()
        } else {
            Stdio::inherit()
        });
        // In a group of its own it ends with all that it has started. What may read the terminal
        // must stay in the terminal's group, which its interrupts reach.
        #[cfg(unix)]
        if !self.interactive {
            command.process_group(0);
        }
        let (mut child, started, mut since) = ends
            .start(|| {
                let child = command.spawn()?;
                let leads = !self.interactive;
                let started = child.id().map(|id| StartedProcess { id, leads });
                Ok((child, started))
            })
            .map_err(|error| fail(&format!("cannot be started: {}", error.kind())))?;
        let stdout = child.stdout.take();
        let read = async {
            let mut bytes = Vec::new();
            if let Some(stdout) = stdout {
                // What cannot be read is missing from the answer, which says so.
                let _ = stdout.take(MOST + 1).read_to_end(&mut bytes).await;
            }
            bytes
        };
        let mut read = std::pin::pin!(read);
        let over = async {
            let mut bytes = None;
            let status = loop {
                tokio::select! {
                    status = child.wait() => break status,
                    read = &mut read, if bytes.is_none() => bytes = Some(read),
                }
            };
            // What it has left behind may hold its output open.
            let bytes = match bytes {
                Some(bytes) => bytes,
                None => timeout(GRACE, read).await.unwrap_or_default(),
            };
            (status, bytes)
        };
        let limit = self.running.limit;
        let late = async {
            match limit {
                Some(limit) => sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let failed = tokio::select! {
            (status, bytes) = over => {
                if let Some(started) = started {
                    started.over();
                }
                let status = status.map_err(|error| fail(&format!("cannot be waited for: {}", error.kind())))?;
                if bytes.len() as u64 > MOST {
                    return Err(fail("printed more data than any credential needs"));
                }
                return Ok((status.success(), status.code(), bytes));
            }
            () = since.signal() => HubError::Interrupted,
            () = late => fail(&format!(
                "did not answer within {}s",
                limit.unwrap_or_default().as_secs_f64()
            )),
        };
        if let Some(started) = started {
            started.end(EndRequest::Politely);
            let _ = timeout(GRACE, child.wait()).await;
            // Dropped here, it ends what is left of it at once.
            drop(started);
        }
        Err(failed)
    }
}

/// A command's name as an error may show it.
fn printable_name(command: &str) -> String {
    let name = Path::new(command).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The file of a command: as it is where it names a folder, else from `PATH`.
fn look_up(command: &str, variable: &(dyn Fn(&str) -> Option<OsString> + Sync)) -> Option<PathBuf> {
    let endings: Vec<String> = if cfg!(windows) {
        let list = variable("PATHEXT").unwrap_or_else(|| ".COM;.EXE;.BAT;.CMD".into());
        let list = list.to_string_lossy().into_owned();
        std::iter::once(String::new())
            .chain(list.split(';').map(str::to_owned))
            .collect()
    } else {
        vec![String::new()]
    };
    let found = |folder: &Path| {
        endings.iter().find_map(|ending| {
            let file = folder.join(format!("{command}{ending}"));
            is_program(&file).then_some(file)
        })
    };
    if command.contains(std::path::MAIN_SEPARATOR) || command.contains('/') {
        return found(Path::new(""));
    }
    let path = variable("PATH")?;
    // A program of the folder that one happens to be in is not run.
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| found(&folder))
}

fn is_program(file: &Path) -> bool {
    let Ok(about) = file.metadata() else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        about.is_file() && about.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    about.is_file()
}

/// What a plugin's output says, by kubectl's rules. The reasons quote nothing of it.
fn answer(bytes: &[u8], version: &str) -> Result<PluginCredential, &'static str> {
    let value = crate::hub::connect::kubeconfig::first_document(bytes)
        .map_err(|_| "printed neither JSON nor YAML")?;
    if value["kind"] != "ExecCredential" {
        return Err("did not print an ExecCredential");
    }
    if value["apiVersion"] != version {
        return Err("printed a different apiVersion than the kubeconfig requests");
    }
    let status = &value["status"];
    if status.is_null() {
        return Err("printed no status");
    }
    if !status.is_object() {
        return Err("printed a status that is not a mapping");
    }
    let text = |key: &str| match &status[key] {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err("printed a status with a field that is not text"),
    };
    let token = text("token")?.map(SecretString::from);
    let certificate = match (text("clientCertificateData")?, text("clientKeyData")?) {
        (Some(certificate), Some(key)) => Some((certificate, SecretString::from(key))),
        (None, None) => None,
        _ => return Err("printed a certificate without its key, or a key without its certificate"),
    };
    if token.is_none() && certificate.is_none() {
        return Err("printed neither a token nor a certificate");
    }
    let until = text("expirationTimestamp")?
        .map(|text| {
            text.parse()
                .map_err(|_| "printed an expirationTimestamp that is not a time")
        })
        .transpose()?;
    Ok(PluginCredential {
        token,
        certificate,
        until,
    })
}

#[cfg(test)]
mod tests;
