//! A write that was done and is answered by something else: a proxy's page, a `Status`, another kind.

use http::Method;
use test_hub::{Fault, Rule};

use super::desk::Desk;
use super::{ALL, BEFORE, condition, gated, play};

const PAGE: &str = "<html><head><title>Sign in</title></head></html>";
const FAILED: &str =
    r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"no","code":500}"#;
const OTHER: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}"#;

#[test]
fn what_was_done_is_seen_whatever_the_answer_says() {
    play("answers", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(0, BEFORE), (1, BEFORE)]), &ALL);
        let run = &scene.name;
        scene.run_to_gate(run);
        let path = scene.run_path(run);
        let request = scene.request_path(&format!("{run}-before-staging"));
        scene.until(&request, "there", |_| true);
        for (verb, path, method, answer) in [
            ("approve", &request, Method::PATCH, OTHER),
            ("stop", &path, Method::PATCH, FAILED),
            ("delete", &path, Method::DELETE, PAGE),
        ] {
            desk.proxy.clear().unwrap();
            let instead = Fault::Instead(answer.to_owned());
            desk.proxy
                .rules(vec![Rule::new(path, instead).method(method)]);
            let did = desk.does(&[verb, run, "--yes", "--wait=false"]);
            assert_eq!(desk.writes().len(), 1, "{verb}");
            if verb == "approve" {
                assert!(
                    !condition(&scene.asked(&format!("{run}-before-staging")), "Approved")
                        .is_null()
                );
            }
            did.ends(0).says("shows that it was done");
        }
    });
}
