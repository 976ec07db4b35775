//! The examples in the help of every command, run as they are shown, on rollouts that exist.

use kubectl_fleet_stage::cli;
use kubectl_fleet_stage::render::invocation::Invocation;
use test_hub::Ran;

use crate::setting::Setting;

/// What the names in examples stand for, and where there is one, the exit code.
const NAMES: [(&str, &str); 25] = [
    ("example-run-after-canary", "checkout-2-before-canary"),
    ("example-run-2", "checkout-3"),
    ("web-app-rollout", "web-1"),
    ("web-7 search-3", "checkout-2 search-1"),
    // Nothing is pending there.
    ("example-run -n my-app-namespace --all", "checkout-2 --all"),
    ("example-run -n my-app-namespace", "web-1 -n team-a"),
    (
        "example-run --placement web-app --strategy rings -n",
        "web-2 --placement web --strategy web -n",
    ),
    ("team-a-strategy", "web"),
    ("my-app-namespace", "team-a"),
    // The snapshots that there are.
    ("rp/web-app 1 2", "rp/web 0 0"),
    ("rp/web-app 3", "rp/web 0"),
    ("example-placement 1 2", "checkout 0 1"),
    ("example-placement 3", "checkout 1"),
    ("--to 3", "--to 0"),
    ("--snapshot 3", "--snapshot 1"),
    ("rp/web-app", "rp/web"),
    ("--placement web-app", "--placement web"),
    ("example-placement", "checkout"),
    ("example-strategy", "checkout"),
    ("member-1=CONTEXT", "staging-1=hub"),
    ("/etc/bash_completion.d/", "./"),
    ("~/.local/bin", "."),
    ("hub.yaml", "bundle.yaml"),
    ("--contexts eu,us", "--contexts hub"),
    // Not every context leads to a server.
    ("doctor --all-contexts", "doctor --contexts hub"),
];

/// Commands that change something are only shown: nobody confirms.
const WRITES: [&str; 8] = [
    "init", "run", "retry", "approve", "stop", "resume", "rollback", "delete",
];

/// The commands below `Examples:`, those that go on in the next line joined.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let block: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let block = block.join("\n").replace(" \\\n    ", " ");
    block.lines().map(|line| line.trim().to_owned()).collect()
}

fn collect(command: &mut clap::Command, all: &mut Vec<(String, String)>) {
    let name = command.get_name().to_owned();
    let found = examples(&command.render_long_help().to_string());
    assert!(!found.is_empty() || name == "help", "{name} has no example");
    all.extend(found.into_iter().map(|example| (name.clone(), example)));
    let subs = command.get_subcommands_mut();
    for sub in subs.filter(|sub| sub.get_name() != "help") {
        collect(sub, all);
    }
}

#[test]
fn every_example_works() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let mut all = Vec::new();
    let mut command = cli::command(&Invocation::default());
    command.build();
    collect(&mut command, &mut all);
    assert!(all.len() > 60, "{}", all.len());
    let folder = setting.folder("examples");
    let prepared = Ran::of(
        setting
            .line(
                "kubectl fleet-stage collect crp/checkout --output-file bundle.yaml && \
                 kubectl get clusterstagedupdatestrategies checkout -o yaml > strategy.yaml",
            )
            .current_dir(&folder),
    );
    assert_eq!(prepared.code, 0, "{prepared:?}");
    let failed: Vec<_> = std::thread::scope(|scope| {
        let halves: Vec<_> = all
            .chunks(all.len().div_ceil(4))
            .map(|part| {
                let folder = &folder;
                scope.spawn(move || {
                    let tried = part
                        .iter()
                        .map(|(name, line)| try_example(setting, folder, name, line));
                    tried.filter_map(Result::err).collect::<Vec<_>>()
                })
            })
            .collect();
        halves
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn try_example(
    setting: &Setting,
    folder: &std::path::Path,
    name: &str,
    example: &str,
) -> Result<(), String> {
    // The program's own examples are of its verbs.
    let verb = example.split(' ').nth(2).unwrap_or_default();
    let name = if WRITES.contains(&verb) { verb } else { name };
    let mut line = example.to_owned();
    for (word, real) in NAMES {
        line = line.replace(word, real);
    }
    if name == "diagnose" || example.contains("diagnose example-run -f") {
        line = line.replace("example-run", "checkout-2");
    }
    if matches!(name, "render" | "trace") {
        line = line
            .replace("member-1", "staging-1")
            .replace("member-2", "canary-1")
            .replace("-n shop", "-n checkout")
            .replace("namespace/shop", "namespace/checkout")
            .replace("deployment/web", "deployment/app")
            .replace(
                "--member-context CONTEXT",
                "--member staging-1 --member-context hub",
            );
    }
    // Another run is where a stop, a start and the like are possible.
    let run = match name {
        "resume" => "gateway-1",
        "delete" => "orders-1",
        "retry" => "telemetry-1",
        _ => "checkout-2",
    };
    if name == "collect" {
        // Others read that one.
        line = line.replace("bundle.yaml", "collected.yaml");
    }
    let new = matches!(name, "init" | "run") && line.contains("--placement");
    line = line.replace("example-run", if new { "checkout-9" } else { run });
    if WRITES.contains(&name) && !line.contains("--dry-run") {
        line.push_str(" --dry-run=client");
    }
    if name == "wait" {
        let begin = line.split(" --timeout").next().unwrap_or_default();
        line = format!("{begin} --timeout 0");
    }
    if line.ends_with(" --watch") {
        // It is meant to go on.
        line = format!("timeout --preserve-status --signal INT 3 {line}");
    }
    let mut command = setting.line(&line);
    let ran = Ran::of(command.current_dir(folder));
    // A state of the rollout is an answer; that the command is wrong, or finds nothing, is none.
    let expected = [0, 3, 4, 5, 8, 9];
    let interrupted = line.ends_with(" --watch") && ran.code == 130;
    if expected.contains(&ran.code) || interrupted {
        Ok(())
    } else {
        Err(format!("{example}\n{line}: {}\n{}", ran.code, ran.err))
    }
}
