//! What of an object's own settings keeps its pods from getting a new template.

use serde_json::Value;

use super::defaults::may_be_same;
use crate::contents::text;
use crate::kubefleet::kind::group_of;
use crate::kubefleet::snapshot::{RollingUpdate, UpdateStrategy};
use crate::member::PodHold;

/// What keeps the pods of a workload that changes from being replaced.
pub(super) fn held(before: &Value, after: &Value) -> Option<PodHold> {
    let template = |object| Value::pointer(object, "/spec/template");
    let is_same = match (template(before), template(after)) {
        (Some(old), Some(new)) => may_be_same(old, new),
        (old, new) => old == new,
    };
    let is_workload = group_of(text(after, &["apiVersion"])) == "apps";
    // Without pods, all of them are the newest.
    let is_empty = after.pointer("/spec/replicas").and_then(Value::as_i64) == Some(0);
    if !is_workload || is_same || is_empty {
        return None;
    }
    let paused = after.pointer("/spec/paused") == Some(&Value::Bool(true));
    let partition = after.pointer("/spec/updateStrategy/rollingUpdate/partition");
    let update = UpdateStrategy {
        kind: text(after, &["spec", "updateStrategy", "type"]).to_owned(),
        rolling: RollingUpdate {
            partition: partition.and_then(Value::as_i64),
            ..RollingUpdate::default()
        },
    };
    PodHold::of_settings(text(after, &["kind"]), paused, &update)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::held;
    use crate::member::PodHold;

    #[test]
    fn only_a_new_template_is_held() {
        let object = |kind: &str, image: &str, settings: Value| {
            let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "spec": settings});
            object["spec"]["template"] = json!({"image": image});
            object
        };
        let paused = || json!({"paused": true});
        let old = object("Deployment", "a", paused());
        assert_eq!(
            held(&old, &object("Deployment", "b", paused())),
            Some(PodHold::Paused)
        );
        assert_eq!(held(&old, &object("Deployment", "a", paused())), None);
        assert_eq!(held(&old, &object("Deployment", "b", json!({}))), None);
        let none = json!({"paused": true, "replicas": 0});
        assert_eq!(held(&old, &object("Deployment", "b", none)), None);
        let partition = json!({"updateStrategy": {"rollingUpdate": {"partition": 1}}});
        let part = object("StatefulSet", "b", partition);
        assert_eq!(held(&old, &part), Some(PodHold::Partition(1)));
        let manual = object(
            "DaemonSet",
            "b",
            json!({"updateStrategy": {"type": "OnDelete"}}),
        );
        assert_eq!(held(&old, &manual), Some(PodHold::OnDelete));
        let mut other = manual.clone();
        other["apiVersion"] = json!("x.io/v1");
        assert_eq!(held(&old, &other), None);
    }
}
