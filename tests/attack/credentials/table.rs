//! What becomes of a kubeconfig: the same with kubectl and with us, or a reason.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use test_hub::{Ran, or_skip};

use super::cases::{CASES, Case};
use super::server::{
    Asked, Papers, Server, alone, as_authority, early, elsewhere, expired, for_clients, forbid,
    nameless,
};

/// The page with the table.
const PAGE: &str = "docs/reference/kubeconfig.md";
/// Writes the page instead of comparing it.
const WRITE: &str = "FLEET_STAGE_KUBECONFIGS";

/// The servers, and what kubeconfigs name.
struct Place {
    folder: tempfile::TempDir,
    servers: Vec<(&'static str, Server)>,
    words: Vec<(String, String)>,
}

impl Place {
    fn new() -> Self {
        let papers = Papers::issue();
        let own = papers.signed(|_| {});
        let (simple, signing) = (alone(|_| {}), alone(as_authority));
        let secure = |shown| Server::secure(papers.config(shown), forbid);
        let servers = vec![
            ("plain", Server::plain(forbid)),
            ("tls", secure(&own)),
            ("alone", secure(&simple)),
            ("signing", secure(&signing)),
            ("expired", secure(&papers.signed(expired))),
            ("early", secure(&papers.signed(early))),
            ("elsewhere", secure(&papers.signed(elsewhere))),
            ("nameless", secure(&papers.signed(nameless))),
            ("for-clients", secure(&papers.signed(for_clients))),
        ];
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_string_lossy().into_owned();
        let encoded = |text: &str| STANDARD.encode(text);
        let mut words = vec![
            ("dir".to_owned(), dir),
            ("ca".to_owned(), encoded(&papers.authority)),
            ("other-ca".to_owned(), encoded(&papers.other)),
            ("server-ca".to_owned(), encoded(&own.certificate)),
            ("alone-ca".to_owned(), encoded(&simple.certificate)),
            ("signing-ca".to_owned(), encoded(&signing.certificate)),
            ("client".to_owned(), encoded(&papers.client)),
            ("key".to_owned(), encoded(&papers.client_key)),
            ("other-key".to_owned(), encoded(&own.key)),
            (
                "plugin".to_owned(),
                "{command: login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"
                    .to_owned(),
            ),
        ];
        for (name, server) in &servers {
            let place = format!("127.0.0.1:{}", server.port);
            let scheme = if *name == "plain" { "http" } else { "https" };
            words.push(((*name).to_owned(), format!("'{scheme}://{place}'")));
            words.push((format!("{name}-place"), place));
        }
        // The longest first: some begin like others.
        words.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let this = Self {
            folder,
            servers,
            words,
        };
        this.fill(&papers);
        this
    }

    fn fill(&self, papers: &Papers) {
        let write = |name: &str, text: &str| {
            let path = self.folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        write("token", "from-file\n");
        write("empty", "\n");
        write("ca.crt", &papers.authority);
        write("client.crt", &papers.client);
        write("client.key", &papers.client_key);
        let preference = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n";
        write(
            "deny",
            &format!("{preference}credentialPluginPolicy: DenyAll\n"),
        );
        write(
            "list",
            &format!(
                "{preference}credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{{name: login}}]\n"
            ),
        );
        write("odd", &format!("{preference}credentialPluginPolicy: Odd\n"));
        write("home/.kube/unused", "");
        let version = "client.authentication.k8s.io/v1";
        let gives = |version: &str, token: &str| {
            format!(
                "echo '{{\"kind\":\"ExecCredential\",\"apiVersion\":\"{version}\",\"status\":{{\"token\":\"'{token}'\"}}}}'"
            )
        };
        let pem = |text: &str| text.replace("\r\n", "\n").replace('\n', "\\n");
        let certify = format!(
            "cat <<'END'\n{{\"kind\":\"ExecCredential\",\"apiVersion\":\"{version}\",\"status\":{{\"clientCertificateData\":\"{}\",\"clientKeyData\":\"{}\"}}}}\nEND",
            pem(&papers.client),
            pem(&papers.client_key)
        );
        // What it is told, in an order of its own.
        let told = "\"$(echo \"$KUBERNETES_EXEC_INFO\" | tr -d ' \\n' | tr '\"' '_' \
                    | sed -e 's/127.0.0.1:[0-9]*/SERVER/' -e 's/data_:_[^_]*_/data_:DATA/' \
                    | tr ',{}' '\\n\\n\\n' | grep . | sort | tr -d '_' | tr '\\n' ' ')\"";
        let scripts = [
            ("login", gives(version, "plugin")),
            (
                "beta",
                gives("client.authentication.k8s.io/v1beta1", "beta"),
            ),
            ("certify", certify),
            (
                "nothing",
                format!(
                    "echo '{{\"kind\":\"ExecCredential\",\"apiVersion\":\"{version}\",\"status\":{{}}}}'"
                ),
            ),
            ("fails", "echo secret; exit 3".to_owned()),
            ("repeat", gives(version, "\"$1-$WHAT\"")),
            ("tell", gives(version, told)),
        ];
        for (name, script) in scripts {
            let path = write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    fn expand(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.words {
            // An address within an address is not quoted once more.
            let quoted = format!("'@{name}");
            let bare = value.trim_matches('\'');
            text = text.replace(&quoted, &format!("'{bare}"));
            if name == "tls" {
                text = text.replace("@tls/a/b", &format!("{bare}/a/b"));
                text = text.replace("=@tls", &format!("={bare}"));
            }
            text = text.replace(&format!("@{name}"), value);
        }
        text
    }

    fn write(&self, case: &Case) {
        let text = match case.text {
            "" if case.cluster.is_empty() => String::new(),
            "" => format!(
                "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
                 contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
                 clusters: [{{name: c, cluster: {{{}}}}}]\nusers: [{{name: u, user: {{{}}}}}]\n",
                case.cluster, case.user
            ),
            text => text.to_owned(),
        };
        fs::write(self.folder.path().join("config"), self.expand(&text)).unwrap();
    }

    /// Runs a program, and says what became of the kubeconfig.
    fn outcome(&self, case: &Case, program: &Path, words: &[&str]) -> (String, Ran) {
        for (_, server) in &self.servers {
            server.take();
        }
        let mut command = Command::new(program);
        let folder = self.folder.path();
        command
            .args(words)
            .args(case.flags.iter().map(|flag| self.expand(flag)))
            .arg("--kubeconfig")
            .arg(folder.join("config"))
            .arg("--request-timeout=10s")
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder.join("home"))
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", folder.join("bin").display()),
            )
            .envs(
                case.variables
                    .iter()
                    .map(|(name, value)| (*name, self.expand(value))),
            );
        let ran = Ran::of(&mut command);
        let asked: Vec<_> = self
            .servers
            .iter()
            .flat_map(|(_, server)| server.take())
            .collect();
        (asked.first().map_or_else(|| "refused".to_owned(), who), ran)
    }
}

/// Who asked, in words.
fn who(asked: &Asked) -> String {
    let mut parts = Vec::new();
    parts.extend(asked.authorization.clone());
    parts.extend(
        asked
            .certificate
            .as_ref()
            .map(|name| format!("the certificate {name}")),
    );
    if parts.is_empty() {
        parts.push("nobody".to_owned());
    }
    let mut text = parts.join(" and ");
    if !asked.impersonated.is_empty() {
        let _ = write!(text, " as {}", asked.impersonated.join(", "));
    }
    if !asked.secure {
        text.push_str(", over http://");
    }
    text
}

/// A program's error in one line without what differs from run to run.
fn said(place: &Place, ran: &Ran) -> String {
    let line = ran
        .err
        .lines()
        .find_map(|line| line.strip_prefix("error: "));
    let mut line = line.unwrap_or_default().to_owned();
    line = line.replace(&*place.folder.path().to_string_lossy(), "DIR");
    for (_, server) in &place.servers {
        line = line.replace(&server.port.to_string(), "PORT");
    }
    // "expired 2102d3h ago"
    if let (Some(from), Some(to)) = (line.find(" expired "), line.find(" ago")) {
        line.replace_range(from + " expired ".len()..to, "…");
    }
    if let (Some(from), Some(to)) = (line.find(" valid in "), line.find(", at ")) {
        line.replace_range(from + " valid in ".len()..to, "…");
    }
    line.replace('|', "\\|")
}

#[test]
fn kubeconfigs_are_taken_as_kubectl_takes_them() {
    let Some(kubectl) = or_skip(test_hub::kubectl()) else {
        return;
    };
    let place = Place::new();
    let ours = Path::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
    let mut rows = String::new();
    let mut wrong = Vec::new();
    for case in CASES {
        place.write(case);
        let (theirs, their_ran) = place.outcome(case, &kubectl, &["get", "--raw", "/version"]);
        let (own, ran) = place.outcome(case, ours, &["list", "-A"]);
        if (theirs == own) != case.differs.is_empty() {
            wrong.push(format!(
                "{}: kubectl: {theirs}, we: {own}\n  {}\n  {}",
                case.name,
                their_ran.err.lines().last().unwrap_or_default(),
                said(&place, &ran)
            ));
        }
        if ran.code < 0 || ran.code > 8 {
            wrong.push(format!(
                "{}: ended with {}: {}",
                case.name, ran.code, ran.err
            ));
        }
        let detail = match own.as_str() {
            "refused" => said(&place, &ran),
            _ => String::new(),
        };
        let reason = match case.differs {
            "" => detail,
            why if detail.is_empty() => format!("differs: {why}"),
            why => format!("{detail}; differs: {why}"),
        };
        let _ = writeln!(rows, "| {} | {theirs} | {own} | {reason} |", case.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let page = page(&rows);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os(WRITE).is_some() {
        fs::write(path, page).unwrap();
        return;
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, page, "write {PAGE} anew with {WRITE}=1");
}

fn page(rows: &str) -> String {
    format!(
        "# Kubeconfigs, compared with kubectl\n\n\
         The plugin reads a kubeconfig as kubectl does, with a few exceptions. Each kubeconfig in this table was given to both, and \
         test servers recorded who sent the requests. A cell says how the first request was authenticated (`nobody`: without \
         credentials), or that the program refused and sent none.\n\n\
         | kubeconfig | kubectl | kubectl fleet-stage | what it says, and why it differs |\n|---|---|---|---|\n{rows}\n\
         Measured by `FLEET_STAGE_KUBECONFIGS=1 cargo test --test attack credentials::table`.\n"
    )
}
