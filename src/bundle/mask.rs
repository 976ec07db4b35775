//! Masking: what must not leave a hub in a bundle, or stand in a terminal unasked.

use serde_json::Value;

/// What stands in place of a masked value.
pub const MASK: &str = "••••";

/// The annotation in which kubectl keeps a copy of what was applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A value that was masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// Where it stood in the object.
    pub path: String,
}

/// Masks the data of Secrets and what looks like a credential, wherever it stands in an object:
/// also in the manifests of resource snapshots and Works.
pub fn mask(object: &mut Value) -> Vec<Masked> {
    let mut masked = Vec::new();
    walk(object, "", &mut masked);
    masked
}

fn walk(value: &mut Value, path: &str, masked: &mut Vec<Masked>) {
    match value {
        Value::Object(fields) => {
            if fields.get("kind").is_some_and(|kind| kind == "Secret")
                && fields.contains_key("apiVersion")
            {
                for key in ["data", "stringData"] {
                    let Some(Value::Object(data)) = fields.get_mut(key) else {
                        continue;
                    };
                    for (name, value) in data {
                        hide(value, &format!("{path}{key}.{name}"), masked);
                    }
                }
                if let Some(applied) = fields
                    .get_mut("metadata")
                    .and_then(|meta| meta.get_mut("annotations")?.get_mut(LAST_APPLIED))
                {
                    let path = format!("{path}metadata.annotations[{LAST_APPLIED}]");
                    hide(applied, &path, masked);
                }
            }
            // An environment variable says by its name what its value is.
            let named = fields.get("name").and_then(Value::as_str);
            if named.is_some_and(names_a_credential)
                && fields.get("value").is_some_and(Value::is_string)
                && let Some(value) = fields.get_mut("value")
            {
                hide(value, &format!("{path}value"), masked);
            }
            for (key, value) in fields {
                walk_into(value, &format!("{path}{key}"), masked);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter_mut().enumerate() {
                let path = path.trim_end_matches('.');
                walk_into(item, &format!("{path}[{place}]"), masked);
            }
        }
        Value::String(text) if looks_like_a_credential(text) => {
            let path = path.trim_end_matches('.').to_owned();
            hide(value, &path, masked);
        }
        _ => {}
    }
}

fn walk_into(value: &mut Value, path: &str, masked: &mut Vec<Masked>) {
    walk(value, &format!("{path}."), masked);
}

fn hide(value: &mut Value, path: &str, masked: &mut Vec<Masked>) {
    if *value != MASK && !value.is_null() {
        *value = Value::String(MASK.to_owned());
        masked.push(Masked {
            path: path.to_owned(),
        });
    }
}

/// Whether an environment variable of this name holds a credential.
fn names_a_credential(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // As a word of its own: `TOKEN_TTL` is masked too, `TOKENIZER` is not.
    name.split(['_', '-', '.']).any(|word| {
        matches!(
            word,
            "PASSWORD"
                | "PASSWD"
                | "PASSPHRASE"
                | "SECRET"
                | "TOKEN"
                | "APIKEY"
                | "CREDENTIAL"
                | "CREDENTIALS"
        )
    }) || name.contains("API_KEY")
        || name.contains("ACCESS_KEY")
        || name.contains("PRIVATE_KEY")
        || name.contains("CONNECTION_STRING")
}

/// Whether a text is, or holds, something that opens a door.
fn looks_like_a_credential(text: &str) -> bool {
    text.contains("PRIVATE KEY-----")
        || text.split_whitespace().any(is_jwt)
        || has_password_in_url(text)
        || ["Bearer ", "Basic "].iter().any(|scheme| {
            text.split(scheme).skip(1).any(|rest| {
                rest.split_whitespace()
                    .next()
                    .is_some_and(|word| word.len() >= 16)
            })
        })
        || [
            "AKIA",
            "ghp_",
            "gho_",
            "github_pat_",
            "xoxb-",
            "xoxp-",
            "glpat-",
        ]
        .iter()
        .any(|prefix| {
            text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
                .any(|word| word.starts_with(prefix) && word.len() >= 20)
        })
}

/// Three parts of base64, of which the first begins like a JSON object.
fn is_jwt(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let mut parts = word.split('.');
    let base64 = |part: Option<&str>| {
        part.is_some_and(|part| {
            part.len() >= 10
                && part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        })
    };
    word.starts_with("eyJ")
        && base64(parts.next())
        && base64(parts.next())
        && base64(parts.next())
        && parts.next().is_none()
}

/// `scheme://user:password@host`.
fn has_password_in_url(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let authority = rest
            .split(|c: char| c == '/' || c.is_whitespace() || c == '"')
            .next()
            .unwrap_or_default();
        authority
            .rsplit_once('@')
            .and_then(|(user, _)| user.split_once(':'))
            .is_some_and(|(_, password)| !password.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MASK, mask};

    #[test]
    fn secrets_are_masked_wherever_they_are() {
        let mut snapshot = json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourceSnapshot",
            "spec": {"selectedResources": [
                {"apiVersion": "v1", "kind": "Secret",
                 "metadata": {"name": "db", "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": "{\"data\":{}}", "team": "a"}},
                 "data": {"password": "aHVudGVyMg=="}, "stringData": {"user": "jane"}},
                {"apiVersion": "v1", "kind": "ConfigMap", "data": {"color": "blue"}},
            ]},
        });
        let paths: Vec<_> = mask(&mut snapshot)
            .into_iter()
            .map(|one| one.path)
            .collect();
        assert_eq!(
            paths,
            [
                "spec.selectedResources[0].data.password",
                "spec.selectedResources[0].stringData.user",
                "spec.selectedResources[0].metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]",
            ]
        );
        let secret = &snapshot["spec"]["selectedResources"][0];
        assert_eq!(secret["data"]["password"], MASK);
        assert_eq!(secret["metadata"]["annotations"]["team"], "a");
        assert_eq!(
            snapshot["spec"]["selectedResources"][1]["data"]["color"],
            "blue"
        );
        assert!(mask(&mut snapshot).is_empty(), "masked twice");
    }

    #[test]
    fn what_looks_like_a_credential_is_masked() {
        for text in [
            "-----BEGIN RSA PRIVATE KEY-----\nMII",
            "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJlLWhlcmU",
            "Authorization: Bearer 0123456789abcdef0123",
            "postgres://app:hunter2@db:5432/shop",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        ] {
            let mut value = json!({"data": {"x": text}});
            assert_eq!(mask(&mut value).len(), 1, "{text}");
            assert_eq!(value["data"]["x"], MASK);
        }
        for text in [
            "Bearer of bad news",
            "https://example.com/a:b@c",
            "postgres://db:5432/shop",
            "a.b.c",
            "eyJ",
            "Failed to apply: the token is missing",
        ] {
            let mut value = json!({"data": {"x": text}});
            assert!(mask(&mut value).is_empty(), "{text}");
        }
    }

    #[test]
    fn variables_say_what_they_hold() {
        let mut value = json!({"env": [
            {"name": "DB_PASSWORD", "value": "x"},
            {"name": "TOKENIZER", "value": "y"},
            {"name": "API_TOKEN", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}},
        ]});
        let masked = mask(&mut value);
        assert_eq!(masked.len(), 1);
        assert_eq!(masked[0].path, "env[0].value");
    }
}
