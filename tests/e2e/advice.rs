//! Every command that a report suggests is run in the very situation in which it is suggested: the
//! objects of the findings' fixtures are on a hub, as they were, and writes are rehearsed there.
//! Nothing may refuse one: not KubeFleet's rules, not the API server, and not our own checks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::Timestamp;
use kubectl_fleet_stage::bundle::{self, Input};
use kubectl_fleet_stage::cli;
use kubectl_fleet_stage::diagnose::diagnose;
use kubectl_fleet_stage::kubefleet::Concept;
use kubectl_fleet_stage::kubefleet::object::Object;
use kubectl_fleet_stage::render::invocation::Invocation;
use kubectl_fleet_stage::report::{Effect, Finding, Report};
use serde_json::{Value, json};
use test_hub::{Crds, Error, Options, Ran, TestHub, kubectl, or_skip};

/// Our commands that write.
const OURS: [&str; 8] = [
    "approve", "delete", "init", "resume", "retry", "rollback", "run", "stop",
];
/// What kubectl can rehearse.
const REHEARSED: [&str; 5] = ["annotate", "delete", "label", "patch", "scale"];

/// Kinds that a hub has beside those of the test hub.
const NOT_HERE: [&str; 4] = [
    "clusterresourceoverride",
    "resourceoverride",
    "clusterresourceplacementeviction",
    "deployment",
];

/// Findings whose steps begin with a plan that may show what is missing yet: clusters, or stages for
/// them.
const PLANNED: [&str; 5] = ["FS101", "FS202", "FS203", "FS801", "FS803"];

/// Findings whose look asks whether something exists that was not read: that it does not is an answer.
const MAY_FIND_NOTHING: [&str; 5] = ["FS209", "FS503", "FS508", "FS511", "FS531"];

/// How many threads read fixtures.
const READERS: usize = 4;

/// One situation.
struct Situation {
    path: PathBuf,
    objects: Vec<Value>,
    /// Whether it holds what was seen in member clusters, which the test hub has not.
    has_looks: bool,
    now: String,
    reports: Vec<Report>,
}

/// A command that is suggested, and where.
struct Suggested {
    code: String,
    words: Vec<String>,
    /// Whether something else has to be done first that was not done.
    later: bool,
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/findings");
    let mut found = Vec::new();
    let folders = std::fs::read_dir(root).unwrap();
    for folder in folders.map(|entry| entry.unwrap().path()) {
        let Ok(files) = std::fs::read_dir(folder) else {
            continue;
        };
        let paths = files.map(|entry| entry.unwrap().path());
        found.extend(paths.filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("fires") && name.ends_with(".yaml")
        }));
    }
    found.sort();
    found
}

/// When a fixture was recorded, and what is said of its runs and placements.
fn reports(text: &str) -> Option<(Timestamp, Vec<Report>)> {
    let input = Input::Stdin(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())));
    let mut bundle = bundle::read(vec![input]).unwrap();
    let now = bundle.collected_at?;
    let hub = bundle.hub.clone();
    let objects = bundle.objects().iter().map(Object::reference);
    let is_target = |concept| matches!(concept, Concept::UpdateRun | Concept::Placement);
    let targets: Vec<_> = objects.filter(|it| is_target(it.kind.concept())).collect();
    let mut report = |target| diagnose(&mut bundle, &hub, target, now);
    Some((now, targets.iter().map(&mut report).collect()))
}

/// The codes for which a fixture's reports suggest a write on the hub; and the fixture, where its hub could
/// be listed in full, and is one of today.
fn read(path: &Path) -> (BTreeSet<String>, Option<Situation>) {
    let text = test_fixtures::read(path).unwrap();
    let Some((now, reports)) = reports(&text) else {
        return (BTreeSet::new(), None);
    };
    (written(&reports), situation(path, &text, (now, reports)))
}

fn situation(path: &Path, text: &str, at: (Timestamp, Vec<Report>)) -> Option<Situation> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    let header = documents.iter().find(|it| it["kind"] == "Bundle")?;
    let kinds = header["kinds"].as_array()?;
    let states = header["hub"]["runStates"].as_array();
    let is_old = states.is_some_and(|states| !states.iter().any(|state| state == "Run"));
    if is_old || !kinds.iter().all(|kind| kind["outcome"] == "listed") {
        return None;
    }
    let (now, reports) = at;
    let on_hub = |it: &&Value| {
        let version = it["apiVersion"].as_str().unwrap_or_default();
        version.contains("kubernetes-fleet.io/")
    };
    Some(Situation {
        path: path.to_owned(),
        objects: documents.iter().filter(on_hub).cloned().collect(),
        has_looks: documents.iter().any(|it| it["kind"] == "MemberObjects"),
        now: now.to_string(),
        reports,
    })
}

/// What a finding suggests, with something in place of what a person is to fill in.
fn suggested(finding: &Value, strategy: &str) -> Vec<Suggested> {
    let cluster = finding["clusters"][0].as_str().unwrap_or("member1");
    let fill = |word: &Value| -> String {
        match word.as_str().unwrap() {
            "RUN" => "remedy".to_owned(),
            "STRATEGY" => strategy.to_owned(),
            "NAME" => cluster.to_owned(),
            "KEY=VALUE" => "remedy=1".to_owned(),
            word => {
                let word = word.replace("=NUMBER", "=1").replace("=COUNT", "=1");
                word.replace("=VALUE", "=x")
            }
        }
    };
    let mut found = Vec::new();
    let code = finding["code"].as_str().unwrap();
    let mut later = false;
    for remedy in finding["remedies"].as_array().unwrap() {
        if let Some(words) = remedy["argv"].as_array() {
            found.push(Suggested {
                code: code.to_owned(),
                words: words.iter().map(fill).collect(),
                later,
            });
        }
        // Of a look nothing follows; what is only rehearsed, or done by hand, is not done.
        let action = remedy["action"].as_str().unwrap();
        let names_another_fault = action.starts_with("Check what else makes a new run fail");
        let plans = remedy["argv"][2] == "plan" && (PLANNED.contains(&code) || names_another_fault);
        let waits = remedy["argv"][1] == "wait";
        later |= remedy["effect"] != "read-only" || remedy["argv"].is_null() || plans || waits;
    }
    found
}

impl Suggested {
    fn is_ours(&self) -> bool {
        self.words[1] == "fleet-stage"
    }

    fn verb(&self) -> &str {
        &self.words[if self.is_ours() { 2 } else { 1 }]
    }

    fn is_for_member(&self) -> bool {
        self.words[1] == "--context"
    }

    fn writes(&self) -> bool {
        if self.is_ours() {
            OURS.contains(&self.verb())
        } else {
            !["get", "describe", "logs", "wait"].contains(&self.verb())
        }
    }

    /// What makes it another command than one that was tried: a write is tried for each finding.
    fn shape(&self) -> String {
        let flags = self.words.iter().filter(|word| word.starts_with('-'));
        let flags: Vec<_> = flags.map(|flag| flag.split('=').next().unwrap()).collect();
        let kind = if self.is_ours() { "" } else { &self.words[2] };
        let code = if self.writes() { &self.code } else { "" };
        let verb = self.verb();
        format!("{code} {verb} {kind} {} {}", self.later, flags.join(" "))
    }

    /// The words that look, or rehearse it.
    fn rehearsal(&self) -> Vec<String> {
        let at = if self.is_ours() { 3 } else { 2 };
        let mut words = self.words.clone();
        let mut flags = Vec::new();
        if self.is_ours() && self.writes() {
            flags = vec!["--yes".to_owned(), "--dry-run=server".to_owned()];
        } else if self.verb() == "wait" {
            words.retain(|word| !word.starts_with("--timeout"));
            flags = vec!["--timeout=1s".to_owned()];
        } else if REHEARSED.contains(&self.verb()) {
            flags = vec!["--dry-run=server".to_owned()];
        } else if self.verb() == "edit" {
            // It is a person's; what is edited is there.
            "get".clone_into(&mut words[1]);
        }
        words.splice(at..at, flags);
        words
    }
}

struct Hub {
    server: TestHub,
    kubectl: PathBuf,
    strategies: BTreeMap<String, String>,
}

impl Hub {
    fn start() -> Option<Self> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let crds = match Crds::from_environment() {
            // What the fixtures are of.
            Crds::OwnOld | Crds::OwnAlphaOnly => return None,
            crds => crds,
        };
        let server = or_skip(runtime.block_on(async {
            // It has a few objects at a time, and others all the time.
            let options = Options {
                without_copies: true,
                ..Options::default()
            };
            let server = TestHub::start(&options).await?;
            server.install(&crds).await?;
            Ok::<_, Error>(server)
        }))?;
        Some(Self {
            server,
            kubectl: kubectl().unwrap(),
            strategies: BTreeMap::new(),
        })
    }

    /// Makes namespaces, which requests in them need.
    fn namespaces(&self, names: &BTreeSet<String>) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let list: Vec<_> = names
            .iter()
            .map(
                |name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}),
            )
            .collect();
        runtime.block_on(async {
            let fleet = test_hub::fleet::Fleet::new(self.server.client().await.unwrap());
            fleet.create_all(&list).await.unwrap();
        });
    }

    fn load(&mut self, situation: &Situation) {
        self.server.clear().unwrap();
        self.server.put(&situation.objects).unwrap();
        self.strategies.clear();
        for object in &situation.objects {
            if object["kind"].as_str().unwrap().ends_with("Strategy") {
                let meta = &object["metadata"];
                let namespace = meta["namespace"].as_str().unwrap_or_default();
                let name = meta["name"].as_str().unwrap();
                self.strategies
                    .insert(namespace.to_owned(), name.to_owned());
            }
        }
    }

    fn run(&self, words: &[String]) -> Ran {
        let ours = words[1] == "fleet-stage";
        let mut command = if ours {
            Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
        } else {
            Command::new(&self.kubectl)
        };
        let (verb, rest) = words[if ours { 2 } else { 1 }..].split_at(1);
        command.args(verb);
        // What a report of this hub suggests leads there by itself.
        if !words.iter().any(|word| word == "--kubeconfig") {
            command.arg("--kubeconfig").arg(self.server.kubeconfig());
        }
        if !words.iter().any(|word| word == "--context") {
            command.args(["--context", "hub"]);
        }
        Ran::of(
            command
                .args(rest)
                .env_clear()
                .env("HOME", self.server.folder())
                .env("PATH", std::env::var_os("PATH").unwrap_or_default()),
        )
    }

    /// The report as the hub gives it; for what is seen in member clusters, that of the fixture.
    /// `None` where the hub is another than the fixture's: one of old times.
    fn report(&self, situation: &Situation, report: &Report) -> Option<Value> {
        if situation.has_looks {
            return serde_json::to_value(report).ok();
        }
        let target = &report.target;
        let placement = if target.kind.ends_with("Placement") {
            if target.namespace.is_empty() {
                "crp/"
            } else {
                "rp/"
            }
        } else {
            ""
        };
        let mut words: Vec<String> = ["kubectl", "fleet-stage", "diagnose", "-o", "json", "--now"]
            .map(str::to_owned)
            .into();
        words.push(situation.now.clone());
        if !target.namespace.is_empty() {
            words.extend(["-n".to_owned(), target.namespace.clone()]);
        }
        words.push(format!("{placement}{}", target.name));
        let live = self.run(&words).json();
        let codes = |report: &Value| -> Vec<Value> {
            let findings = report["findings"].as_array().unwrap().iter();
            findings.map(|finding| finding["code"].clone()).collect()
        };
        let wanted = serde_json::to_value(report).unwrap();
        let same = (&live["verdict"], codes(&live)) == (&wanted["verdict"], codes(&wanted));
        same.then_some(live)
    }

    /// What `status` and `approvals` suggest there.
    fn also_suggested(&self, situation: &Situation, report: &Report) -> Vec<Suggested> {
        let target = &report.target;
        let ask = |verb: &str, name: Option<String>| {
            let mut words = vec![
                "kubectl".to_owned(),
                "fleet-stage".to_owned(),
                verb.to_owned(),
            ];
            words.extend(name);
            words.extend(["-o", "json", "--now", &situation.now].map(str::to_owned));
            if !target.namespace.is_empty() {
                words.extend(["-n".to_owned(), target.namespace.clone()]);
            }
            self.run(&words).json()
        };
        if target.kind.ends_with("Placement") {
            return Vec::new();
        }
        let root = report.findings.iter().find(|finding| finding.root_cause);
        let root = root.map_or("", |finding| finding.code.as_str());
        let mut found = Vec::new();
        for (verb, name) in [("status", Some(target.name.clone())), ("approvals", None)] {
            collect(&format!("{verb} {root}"), &ask(verb, name), &mut found);
        }
        found
    }

    /// Why a command is refused.
    fn refused(&self, suggested: &Suggested) -> Option<String> {
        let words = suggested.rehearsal();
        let ran = self.run(&words);
        let why = format!(
            "{}\n    ended with {}: {}",
            words.join(" "),
            ran.code,
            ran.err.trim()
        );
        let is_missing = ran.code == 6 || ran.err.contains("(NotFound)");
        let may_miss = MAY_FIND_NOTHING.contains(&suggested.code.as_str());
        let fine = if may_miss && is_missing && !suggested.writes() {
            true
        } else if !suggested.is_ours() {
            ran.code == 0 || suggested.verb() == "wait" && ran.err.contains("timed out")
        } else if suggested.writes() {
            // What KubeFleet would refuse as things are now is fine after the step before it.
            let until = [
                "wait until it is gone",
                "approve it at a terminal",
                "would be stuck: ",
            ];
            let waits = ran.code == 1 && until.iter().any(|words| ran.err.contains(words));
            // This hub has nothing of what the placements select.
            let no_content = ["would delete everything from", "would go too far: "];
            let lacks = ran.code == 1 && no_content.iter().any(|words| ran.err.contains(words));
            ran.code == 0 || lacks || (ran.code == 3 || waits) && suggested.later
        } else {
            // A look tells how things are; the doctor that there is no hub agent.
            ![1, 2, 6, 7].contains(&ran.code) || suggested.verb() == "doctor" && ran.code == 1
        };
        (!fine).then_some(why)
    }
}

/// The commands of a document.
fn collect(from: &str, value: &Value, found: &mut Vec<Suggested>) {
    match value {
        Value::Object(fields) => {
            for key in ["argv", "nextArgv"] {
                if let Some(argv) = fields.get(key).and_then(Value::as_array) {
                    let words = argv.iter().map(|word| word.as_str().unwrap().to_owned());
                    found.push(Suggested {
                        code: from.to_owned(),
                        words: words.collect(),
                        later: false,
                    });
                }
            }
            fields
                .values()
                .for_each(|value| collect(from, value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(from, value, found)),
        _ => {}
    }
}

/// Whether our own command line takes it, or kubectl has such a command.
fn parsed(suggested: &Suggested) -> Result<(), String> {
    let words = &suggested.words;
    if suggested.is_ours() {
        let command = cli::command(&Invocation::default());
        return match command.try_get_matches_from(&words[1..]) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{}: {error}", words.join(" "))),
        };
    }
    let mut rest = words[1..].iter();
    let verb = loop {
        match rest.next().map(String::as_str) {
            Some("--context" | "-n") => drop(rest.next()),
            Some(verb) => break verb,
            None => return Err(format!("{}: no verb", words.join(" "))),
        }
    };
    let known = [
        "annotate",
        "api-resources",
        "create",
        "delete",
        "describe",
        "edit",
        "get",
        "label",
        "logs",
        "patch",
        "rollout",
        "scale",
        "top",
        "wait",
    ];
    if known.contains(&verb) {
        Ok(())
    } else {
        Err(format!("{}: kubectl has no {verb}", words.join(" ")))
    }
}

/// The codes for which reports suggest a write on the hub.
fn written(reports: &[Report]) -> BTreeSet<String> {
    let findings = reports.iter().flat_map(|report| &report.findings);
    let values = findings.map(|finding| serde_json::to_value(finding).unwrap());
    values
        .flat_map(|finding| suggested(&finding, "x"))
        .filter(|one| !one.is_for_member() && one.writes())
        .map(|one| one.code)
        .collect()
}

fn writes(finding: &Finding) -> bool {
    finding
        .remedies
        .iter()
        .any(|it| it.effect != Effect::ReadOnly && it.command.is_some())
}

#[test]
fn every_remedy_can_be_carried_out_where_it_is_suggested() {
    let Some(mut hub) = Hub::start() else { return };
    let fixtures = fixtures();
    let read: Vec<_> = std::thread::scope(|scope| {
        let parts = fixtures.chunks(fixtures.len().div_ceil(READERS));
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(|path| read(path)).collect::<Vec<_>>()))
            .collect();
        let parts = parts.into_iter().map(|part| part.join().unwrap());
        parts.flatten().collect()
    });
    let (written, situations): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    let situations: Vec<_> = situations.into_iter().flatten().collect();
    let objects = || situations.iter().flat_map(|it| &it.objects);
    let namespace = |it: &Value| it["metadata"]["namespace"].as_str().map(str::to_owned);
    let mut namespaces: BTreeSet<_> = objects().filter_map(namespace).collect();
    namespaces.insert("fleet-system".to_owned());
    for member in objects().filter(|it| it["kind"] == "MemberCluster") {
        let name = member["metadata"]["name"].as_str().unwrap();
        namespaces.insert(format!("fleet-member-{name}"));
    }
    hub.namespaces(&namespaces);
    let mut tried = BTreeSet::new();
    let mut table: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for situation in &situations {
        let mut loaded = false;
        for report in &situation.reports {
            // What a report has that no other had, as far as the fixture tells.
            let value = serde_json::to_value(report).unwrap();
            let findings = value["findings"].as_array().unwrap();
            let new = findings
                .iter()
                .flat_map(|finding| suggested(finding, "x"))
                .any(|it| !tried.contains(&it.shape()));
            if !new || !report.findings.iter().any(writes) {
                continue;
            }
            if !loaded {
                hub.load(situation);
                loaded = true;
            }
            let Some(live) = hub.report(situation, report) else {
                continue;
            };
            for one in hub.also_suggested(situation, report) {
                if let Err(why) = parsed(&one) {
                    wrong.push(format!("{}: {why}", situation.path.display()));
                } else if tried.insert(one.shape())
                    && let Some(why) = hub.refused(&one)
                {
                    wrong.push(format!("{}: {}: {why}", situation.path.display(), one.code));
                }
            }
            let strategy = hub.strategies.get(&report.target.namespace);
            let strategy = strategy.map_or("missing", String::as_str);
            for finding in live["findings"].as_array().unwrap() {
                for one in suggested(finding, strategy) {
                    if let Err(why) = parsed(&one) {
                        wrong.push(format!("{}: {}: {why}", situation.path.display(), one.code));
                    }
                    let of = |word: &String, kind: &str| {
                        let kinds = word.split(['.', ',']).next().unwrap_or_default();
                        kinds.trim_end_matches('s') == kind
                    };
                    let mut words = one.words.iter();
                    let not_here = words.any(|word| NOT_HERE.iter().any(|kind| of(word, kind)));
                    if one.is_for_member() || not_here || !tried.insert(one.shape()) {
                        continue;
                    }
                    if let Some(why) = hub.refused(&one) {
                        let folder = situation.path.strip_prefix(env!("CARGO_MANIFEST_DIR"));
                        let path = folder.unwrap().display();
                        wrong.push(format!("{path}: {}: {why}", one.code));
                    } else if one.writes() {
                        let line = one.words[1..].join(" ");
                        table.entry(one.code.clone()).or_default().insert(line);
                    }
                }
            }
        }
    }
    let all = written.into_iter().flatten();
    let missed: BTreeSet<_> = all.filter(|code| !table.contains_key(code)).collect();
    for (code, lines) in &table {
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        eprintln!("{code}  {}", lines.join(" | "));
    }
    assert!(
        wrong.is_empty(),
        "{} refused:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(missed.is_empty(), "never tried: {missed:?}");
}
