//! etcd and API servers on loopback, which end with the test.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use rcgen::KeyPair;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::certificates::Certificates;
use crate::{Components, Error, context, waiting};

/// The user who may do everything.
pub const ADMIN: &str = "admin";
/// How many users there are beside the admin, `user-000` and so on, who may do nothing yet.
pub const USERS: usize = 512;

/// How often a start is tried: another program may take a port between our look and the server's.
const TRIES: usize = 3;
/// What the log of a server says whose port was taken.
const TAKEN: &str = "address already in use";
/// How many lines of a server's log an error shows.
const LINES: usize = 20;

/// What a test hub consists of.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The names of the member clusters that have an API server of their own.
    pub members: Vec<String>,
    /// Whether the servers read etcd for each list, and keep no copy: a copy asks etcd every 100 ms whether
    /// it is up to date, and whoever lists behind a change waits for that. Slow on a hub of many objects.
    pub without_copies: bool,
}

/// A running hub. Everything ends when it is dropped, and when the process is killed.
pub struct TestHub {
    // In the order in which they end: what is served, what serves it, and where both write.
    servers: Vec<Server>,
    etcd: Program,
    etcd_port: u16,
    folder: TempDir,
}

struct Server {
    name: String,
    port: u16,
    program: Program,
}

impl TestHub {
    /// Starts the servers and waits until they answer.
    pub async fn start(options: &Options) -> Result<Self, Error> {
        let components = Components::find()?;
        let mut tries = 1;
        loop {
            match Self::try_start(&components, options).await {
                Err(Error::Failed(why)) if tries < TRIES && why.contains(TAKEN) => tries += 1,
                result => return result,
            }
        }
    }

    async fn try_start(components: &Components, options: &Options) -> Result<Self, Error> {
        let folder = TempDir::new().map_err(context("creating a folder".to_owned()))?;
        write_keys(folder.path())?;
        let etcd_port = free_port()?;
        let etcd = etcd(components, folder.path(), etcd_port)?;
        let names = std::iter::once("hub").chain(options.members.iter().map(String::as_str));
        let mut servers = Vec::new();
        for name in names {
            let port = free_port()?;
            let mut arguments = arguments(folder.path(), name, port, etcd_port);
            if options.without_copies {
                arguments.push("--watch-cache=false".to_owned());
            }
            let log = folder.path().join(format!("{name}.log"));
            let program = Program::start(&components.apiserver, &arguments, &log, None)?;
            servers.push(Server {
                name: name.to_owned(),
                port,
                program,
            });
        }
        let mut this = Self {
            servers,
            etcd,
            etcd_port,
            folder,
        };
        this.write_kubeconfigs()?;
        for number in 0..this.servers.len() {
            this.wait_for(number).await?;
        }
        Ok(this)
    }

    /// Where etcd listens.
    pub(crate) const fn etcd_port(&self) -> u16 {
        self.etcd_port
    }

    /// The address of the hub's API server.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.servers[0].port)
    }

    /// A kubeconfig for the admin, with a context for each server: `hub`, and the members' names.
    pub fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig_of(ADMIN)
    }

    /// The same for another user: `user-000` to `user-511`.
    pub fn kubeconfig_of(&self, user: &str) -> PathBuf {
        self.folder.path().join(format!("kubeconfig-{user}"))
    }

    /// A user's bearer token.
    pub fn token_of(user: &str) -> String {
        format!("token-of-{user}")
    }

    /// The certificate of the servers' authority, as PEM.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// A client of the hub for the admin.
    pub async fn client(&self) -> Result<Client, Error> {
        self.client_of("hub", ADMIN).await
    }

    /// A client of a server for a user.
    pub async fn client_of(&self, server: &str, user: &str) -> Result<Client, Error> {
        client(&self.kubeconfig_of(user), server).await
    }

    /// A folder that goes away with the hub.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn write_kubeconfigs(&self) -> Result<(), Error> {
        let users = (0..USERS).map(|number| format!("user-{number:03}"));
        for user in users.chain([ADMIN.to_owned()]) {
            let servers: Vec<_> = self.servers.iter().collect();
            let config = kubeconfig(&servers, &user, &self.authority());
            let path = self.kubeconfig_of(&user);
            fs::write(&path, config.to_string())
                .map_err(context(format!("writing {}", path.display())))?;
        }
        Ok(())
    }

    async fn wait_for(&mut self, number: usize) -> Result<(), Error> {
        let name = self.servers[number].name.clone();
        let client = self.client_of(&name, ADMIN).await?;
        let begun = Instant::now();
        loop {
            let request = http::Request::get("/readyz").body(Vec::new());
            let request = request.map_err(context("asking for readiness".to_owned()))?;
            let Err(error) = client.request_text(request).await else {
                return Ok(());
            };
            let culprit = if self.etcd.has_ended() {
                Some("etcd")
            } else if self.servers[number].program.has_ended() || begun.elapsed() > waiting::HANGS {
                Some(name.as_str())
            } else {
                None
            };
            if let Some(culprit) = culprit {
                return Err(Error::Failed(format!(
                    "the API server {name} does not get ready: {error}\n{}",
                    self.end_of_log(culprit)
                )));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The last lines that a program wrote, below its name.
    fn end_of_log(&self, program: &str) -> String {
        let log = self.folder.path().join(format!("{program}.log"));
        let log = fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        let end = &lines[lines.len().saturating_sub(LINES)..];
        format!("the end of the log of {program}:\n{}", end.join("\n"))
    }
}

/// A client for a context of a kubeconfig.
pub async fn client(kubeconfig: &Path, context_name: &str) -> Result<Client, Error> {
    let doing = || format!("connecting to {context_name} of {}", kubeconfig.display());
    let config = config(kubeconfig, context_name).await?;
    Client::try_from(config).map_err(context(doing()))
}

/// What a kubeconfig says for a context.
pub async fn config(kubeconfig: &Path, context_name: &str) -> Result<Config, Error> {
    let doing = || format!("reading {context_name} of {}", kubeconfig.display());
    let options = KubeConfigOptions {
        context: Some(context_name.to_owned()),
        ..KubeConfigOptions::default()
    };
    let read = Kubeconfig::read_from(kubeconfig).map_err(context(doing()))?;
    Config::from_custom_kubeconfig(read, &options)
        .await
        .map_err(context(doing()))
}

fn kubeconfig(servers: &[&Server], user: &str, authority: &Path) -> Value {
    let named = |key: &str, make: &dyn Fn(&Server) -> Value| -> Vec<Value> {
        servers
            .iter()
            .map(|server| json!({"name": server.name, key: make(server)}))
            .collect()
    };
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "hub",
        "clusters": named("cluster", &|server| json!({
            "server": format!("https://127.0.0.1:{}", server.port),
            "certificate-authority": authority,
        })),
        "contexts": named("context", &|server| json!({"cluster": server.name, "user": user})),
        "users": [{"name": user, "user": {"token": TestHub::token_of(user)}}],
    })
}

/// Writes the servers' certificates, the key of their service accounts, and the users' tokens.
fn write_keys(folder: &Path) -> Result<(), Error> {
    let certificates = Certificates::issue()?;
    let accounts = KeyPair::generate()
        .map_err(context("making the key of the service accounts".to_owned()))?;
    let users = (0..USERS)
        .map(|number| format!("user-{number:03}"))
        .map(|user| format!("{},{user},{user},\n", TestHub::token_of(&user)));
    let tokens: String = users.collect();
    let tokens = format!(
        "{},{ADMIN},{ADMIN},system:masters\n{tokens}",
        TestHub::token_of(ADMIN)
    );
    for (name, text) in [
        ("ca.crt", certificates.authority),
        ("server.crt", certificates.server),
        ("server.key", certificates.key),
        ("accounts.key", accounts.serialize_pem()),
        ("accounts.pub", accounts.public_key_pem()),
        ("tokens.csv", tokens),
    ] {
        fs::write(folder.join(name), text).map_err(context(format!("writing {name}")))?;
    }
    Ok(())
}

/// Ends a program when our end of a pipe closes, which it does however we end, and removes the
/// folder that is its first argument, if any. Ends itself when the program does.
const WATCH: &str = r#"exec 3<&0
folder=$1
shift
"$@" 3<&- &
child=$!
{
    read -r _ <&3
    trap '' TERM
    kill -9 $child 2>/dev/null
    [ -z "$folder" ] || rm -rf "$folder"
} &
watcher=$!
wait $child
# Its number may be given to another program from here on.
kill $watcher 2>/dev/null"#;

/// A program that ends with us.
struct Program {
    watcher: Child,
}

impl Program {
    /// Starts a program and its watcher, which removes `folder` when we were killed.
    fn start(
        program: &Path,
        arguments: &[String],
        log: &Path,
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let doing = || format!("starting {}", program.display());
        let log = File::create(log).map_err(context(doing()))?;
        let also = log.try_clone().map_err(context(doing()))?;
        let watcher = Command::new("sh")
            .args(["-c", WATCH, "sh"])
            .arg(folder.unwrap_or(Path::new("")))
            .arg(program)
            .args(arguments)
            // Their heaps are small and short-lived: collecting them was a quarter of their time.
            .env("GOGC", "400")
            // As long as there is memory: a large hub would take all of it.
            .env("GOMEMLIMIT", "14GiB")
            .stdin(Stdio::piped())
            .stdout(log)
            .stderr(also)
            .spawn()
            .map_err(context(doing()))?;
        Ok(Self { watcher })
    }

    fn has_ended(&mut self) -> bool {
        matches!(self.watcher.try_wait(), Ok(Some(_)))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.watcher.stdin.take());
        // Nothing can be done about a watcher that does not end.
        let _ = self.watcher.wait();
    }
}

fn etcd(components: &Components, folder: &Path, port: u16) -> Result<Program, Error> {
    let client = format!("http://127.0.0.1:{port}");
    let peer = format!("http://127.0.0.1:{}", free_port()?);
    let data = folder.join("etcd");
    let arguments = [
        format!("--data-dir={}", data.display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=error".to_owned(),
    ];
    let log = folder.join("etcd.log");
    Program::start(&components.etcd, &arguments, &log, Some(folder))
}

/// What an API server is called with.
fn arguments(folder: &Path, name: &str, port: u16, etcd: u16) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        format!("--etcd-prefix=/{name}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--tls-cert-file={}", file("server.crt")),
        format!("--tls-private-key-file={}", file("server.key")),
        format!("--cert-dir={}", file(&format!("{name}-certificates"))),
        format!("--token-auth-file={}", file("tokens.csv")),
        "--authorization-mode=RBAC".to_owned(),
        "--service-account-issuer=https://test-hub.invalid".to_owned(),
        format!("--service-account-key-file={}", file("accounts.pub")),
        format!(
            "--service-account-signing-key-file={}",
            file("accounts.key")
        ),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        // There is no controller that makes the service accounts that Pods would want.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
    ]
}

/// A port that nobody listens on. Someone may take it before we do: then we start again.
fn free_port() -> Result<u16, Error> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(context("looking for a free port".to_owned()))
}
