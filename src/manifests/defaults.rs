//! Values that the API server fills in: what is in an envelope has never seen one.

use serde_json::Value;

/// Fields and the JSON text of the value that they get where they are left out.
/// Source: k8s.io/kubernetes/pkg/apis/{core,apps,batch,rbac}/v1/defaults.go.
#[rustfmt::skip]
const FILLED_IN: &[(&str, &str)] = &[
    ("apiGroup", r#""rbac.authorization.k8s.io""#),
    ("apiVersion", r#""v1""#),
    ("defaultMode", "420"),
    ("dnsPolicy", r#""ClusterFirst""#),
    ("failureThreshold", "3"),
    ("imagePullPolicy", r#""Always""#),
    ("imagePullPolicy", r#""IfNotPresent""#),
    ("kind", r#""PersistentVolumeClaim""#),
    ("periodSeconds", "10"),
    ("protocol", r#""TCP""#),
    ("restartPolicy", r#""Always""#),
    ("schedulerName", r#""default-scheduler""#),
    ("scheme", r#""HTTP""#),
    ("status", r#"{"phase":"Pending"}"#),
    ("successThreshold", "1"),
    ("terminationGracePeriodSeconds", "30"),
    ("terminationMessagePath", r#""/dev/termination-log""#),
    ("terminationMessagePolicy", r#""File""#),
    ("timeoutSeconds", "1"),
    ("volumeMode", r#""Filesystem""#),
];

/// Whether two values may be the same once what they leave out is filled in.
pub(super) fn may_be_same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let kept = before.iter().all(|(key, old)| match after.get(key) {
                Some(new) => may_be_same(old, new),
                None => is_filled_in(key, old),
            });
            let mut added = after.iter().filter(|(key, _)| !before.contains_key(*key));
            kept && added.all(|(key, new)| is_filled_in(key, new))
        }
        (Value::Array(before), Value::Array(after)) => {
            let mut both = before.iter().zip(after);
            before.len() == after.len() && both.all(|(old, new)| may_be_same(old, new))
        }
        _ => before == after,
    }
}

/// Whether a field has this value where it is left out.
fn is_filled_in(key: &str, value: &Value) -> bool {
    let is_empty = match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.iter().all(|(key, value)| is_filled_in(key, value)),
        _ => false,
    };
    let text = value.to_string();
    is_empty || FILLED_IN.contains(&(key, text.as_str()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::may_be_same;

    #[test]
    fn only_what_is_filled_in_does_not_tell_values_from_each_other() {
        let short = json!({"spec": {"containers": [{"image": "a"}]}, "x": [1]});
        let long = json!({"metadata": {"creationTimestamp": null}, "x": [1], "spec": {
            "restartPolicy": "Always", "containers": [{"image": "a", "imagePullPolicy": "Always"}]}});
        assert!(may_be_same(&short, &long) && may_be_same(&long, &short));
        for other in [
            json!({"spec": {"containers": [{"image": "b"}]}, "x": [1]}),
            json!({"spec": {"containers": [{"image": "a"}], "restartPolicy": "Never"}, "x": [1]}),
            json!({"spec": {"containers": [{"image": "a"}]}, "x": [1, 2]}),
            json!({"spec": {"containers": [{"image": "a", "args": ["x"]}]}, "x": [1]}),
        ] {
            assert!(
                !may_be_same(&short, &other) && !may_be_same(&other, &short),
                "{other}"
            );
        }
    }
}
