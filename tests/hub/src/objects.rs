//! Where an API server keeps an object.

use serde_json::Value;

use crate::Error;

/// The path of an object that carries `apiVersion`, `kind` and `metadata`: of its list, for
/// creating it, or of itself.
pub fn path_of(object: &Value, itself: bool) -> Result<String, Error> {
    let text = |value: &Value, what: &str| {
        value
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| Error::Failed(format!("an object without {what}: {object}")))
    };
    let version = text(&object["apiVersion"], "apiVersion")?;
    let kind = text(&object["kind"], "kind")?.to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{kind}s"),
    };
    let root = if version.contains('/') {
        "/apis"
    } else {
        "/api"
    };
    let namespace = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/namespaces/{namespace}"),
        None => String::new(),
    };
    let name = if itself {
        format!("/{}", text(&object["metadata"]["name"], "a name")?)
    } else {
        String::new()
    };
    Ok(format!("{root}/{version}{namespace}/{plural}{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::path_of;

    #[test]
    fn paths_follow_from_the_object() {
        let strategy = json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "StagedUpdateStrategy",
            "metadata": {"name": "slow", "namespace": "shop"},
        });
        assert_eq!(
            path_of(&strategy, true).ok().as_deref(),
            Some(
                "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/shop/stagedupdatestrategies/slow"
            )
        );
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
        assert_eq!(
            path_of(&namespace, false).ok().as_deref(),
            Some("/api/v1/namespaces")
        );
    }
}
