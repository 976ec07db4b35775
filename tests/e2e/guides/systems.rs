//! The pipelines of the pages for CI systems: their scripts, run as they stand there. What the
//! systems themselves do with them is left to the systems.

use std::path::Path;

use serde_json::Value;

use super::pipeline::Job;
use crate::scene::{ALL, BEFORE, gated, play};

/// A pipeline: the script that releases, and the one that approves.
struct Pipeline {
    system: &'static str,
    release: String,
    approve: String,
    /// How the first ends when the release waits for an approval.
    waits: i32,
}

/// The objects in the YAML of a page.
fn objects(page: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/ci")
        .join(page);
    let text = std::fs::read_to_string(path).unwrap();
    text.split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("\n```").next())
        .flat_map(|block| block.split("\n---\n"))
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect()
}

/// The only text in a value that has these words.
fn script(value: &Value, words: &str) -> String {
    fn collect<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(fields) => fields.values().for_each(|field| collect(field, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, &mut found);
    found.retain(|text| text.contains(words));
    let [script] = &found[..] else {
        panic!("{words}: {found:?}");
    };
    (*script).to_owned()
}

fn pipelines() -> Vec<Pipeline> {
    let [github, gitlab, argo, tekton] = [
        "github-actions.md",
        "gitlab.md",
        "argo-workflows.md",
        "tekton.md",
    ]
    .map(objects);
    let lines = |job: &Value| {
        let lines = job["script"].as_array().unwrap().iter();
        let lines: Vec<_> = lines.map(|line| line.as_str().unwrap()).collect();
        // As a runner does it: a line that fails ends the job.
        format!("set -e\n{}\n", lines.join("\n"))
    };
    let (release, approve) = ("fleet-stage run ", "fleet-stage approve ");
    vec![
        Pipeline {
            system: "GitHub Actions",
            release: script(&github[0]["jobs"]["release"], release),
            approve: script(&github[0]["jobs"]["prod"], approve),
            waits: 0,
        },
        Pipeline {
            system: "GitLab",
            release: lines(&gitlab[0]["release"]),
            approve: lines(&gitlab[0]["prod"]),
            waits: 4,
        },
        Pipeline {
            system: "Argo Workflows",
            release: script(&argo[0], release),
            approve: script(&argo[0], approve),
            waits: 0,
        },
        Pipeline {
            system: "Tekton",
            release: script(&tekton[0], release),
            approve: script(&tekton[1], approve),
            waits: 0,
        },
    ]
}

#[test]
fn every_system_releases_up_to_the_gate_and_beyond() {
    play("guide-systems", |scene| {
        if scene.namespaced {
            return;
        }
        let stages = gated(&[(2, BEFORE)]);
        assert_eq!(stages[2]["name"], "prod");
        scene.set(&stages, &ALL);
        let name = &scene.name;
        let job = Job::without_script(scene);
        let (output, code) = (job.path("output"), job.path("code"));
        for (at, pipeline) in pipelines().iter().enumerate() {
            let system = pipeline.system;
            let run = format!("{name}-{at}");
            let own = |script: &str, strategy: &str| {
                script
                    .replace(
                        "--placement shop --strategy rings",
                        &format!("--placement {name} --strategy {strategy}"),
                    )
                    .replace("/tmp/code", "$CODE")
                    .replace("$(results.code.path)", "$CODE")
            };
            job.write("wrong.sh", &own(&pipeline.release, "nothing-of-it"));
            job.write("release.sh", &own(&pipeline.release, name));
            job.write("approve.sh", &own(&pipeline.approve, name));
            let variables = [
                ("RUN", run.as_str()),
                ("STAGE", "prod"),
                ("REASON", "it's \"good\""),
                ("CODE", code.to_str().unwrap()),
                ("GITHUB_OUTPUT", output.to_str().unwrap()),
                ("GITHUB_RUN_ID", "4711"),
                ("GITHUB_ACTOR", "jane"),
                ("CI_PIPELINE_URL", "https://gitlab.example/1"),
                ("GITLAB_USER_LOGIN", "jane"),
            ];
            let (exit, said) = job.run(&["wrong.sh"], &variables);
            assert_eq!(exit, 3, "{system}: {said}");
            let (exit, said) = job.run(&["release.sh"], &variables);
            assert_eq!(exit, pipeline.waits, "{system}: {said}");
            assert!(said.contains("approve"), "{system}: {said}");
            if pipeline.waits == 0 {
                let read = |path| std::fs::read_to_string(path).unwrap_or_default();
                let told = read(&output) + &read(&code);
                assert!(
                    told == "waits=true\n" || told.trim() == "4",
                    "{system}: {told}"
                );
                let _ = std::fs::remove_file(&output);
            }
            let (exit, said) = job.run(&["approve.sh"], &variables);
            assert_eq!(exit, 0, "{system}: {said}");
            let seen = scene.hub.read(&scene.run_path(&run)).unwrap();
            let succeeded = crate::scene::has(&seen, "Succeeded", "True");
            assert!(succeeded, "{system}: {said}");
            let _ = std::fs::remove_file(&code);
        }
    });
}
