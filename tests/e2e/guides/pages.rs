//! The objects on the pages are such that a hub takes them.

use std::path::Path;

use serde_json::Value;

use crate::harness::Harness;

/// The YAML blocks of a page.
fn blocks(text: &str) -> Vec<Value> {
    text.split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("\n```").next())
        .flat_map(serde_saphyr::from_str)
        .collect()
}

#[test]
fn the_server_takes_every_object_of_the_tasks() {
    let Some(hub) = Harness::get() else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tasks");
    let mut objects = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        objects.extend(blocks(
            &std::fs::read_to_string(entry.unwrap().path()).unwrap(),
        ));
    }
    // Settings are for the program alone.
    objects.retain(|object| object["kind"] != "Settings");
    assert!(objects.len() > 3, "{}", objects.len());
    for object in &objects {
        let path = test_hub::path_of(object, false).unwrap();
        let strict = "dryRun=All&fieldValidation=Strict";
        let request = http::Request::post(format!("{path}?{strict}"))
            .header("content-type", "application/json")
            .body(serde_json::to_vec(object).unwrap())
            .unwrap();
        let answer = hub.runtime.block_on(hub.client.request::<Value>(request));
        // A hub may have an object of that name; whether it is well formed is looked at before.
        let taken = match &answer {
            Ok(_) => true,
            Err(kube::Error::Api(status)) => status.reason == "AlreadyExists",
            Err(_) => false,
        };
        assert!(taken, "{answer:?}\n{object:#}");
    }
}
