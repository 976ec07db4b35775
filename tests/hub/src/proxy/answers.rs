//! Answers as an API server gives them when it refuses.

use bytes::Bytes;
use http::{Method, Response, StatusCode, header};
use http_body_util::Full;
use serde_json::{Value, json};

use super::Fault;

/// What a fault answers instead of the server; `None` for a fault of another kind.
pub(super) fn refusal(
    fault: &Fault,
    method: &Method,
    target: &str,
    user: &str,
) -> Option<Response<Full<Bytes>>> {
    let resource = Resource::of(method, target);
    let named = resource.named();
    let about =
        |code, reason: &str, message: &str| status(code, reason, message, Some(resource.details()));
    let answer = match fault {
        Fault::Unauthorized => status(401, "Unauthorized", "Unauthorized", None),
        Fault::Forbidden => about(403, "Forbidden", &resource.forbidden(user)),
        Fault::NotServed => text(404, "404 page not found\n", None),
        // What an object would be created in.
        Fault::Missing if method == Method::POST => status(
            404,
            "NotFound",
            &format!("namespaces {:?} not found", resource.namespace),
            Some(json!({"name": resource.namespace, "kind": "namespaces"})),
        ),
        Fault::Missing => about(404, "NotFound", &format!("{named} not found")),
        Fault::Conflict if method == Method::POST => {
            about(409, "AlreadyExists", &format!("{named} already exists"))
        }
        Fault::Conflict => about(
            409,
            "Conflict",
            &format!(
                "Operation cannot be fulfilled on {named}: the object has been modified; please \
                 apply your changes to the latest version and try again"
            ),
        ),
        Fault::Invalid => about(
            422,
            "Invalid",
            &format!(
                "{named} is invalid: spec: Invalid value: \"object\": no change is allowed today"
            ),
        ),
        Fault::Expired => status(
            410,
            "Expired",
            "The provided continue parameter is too old to display a consistent list result.",
            None,
        ),
        Fault::TooMany(wait) => text(429, "Too many requests, please try again later.\n", *wait),
        Fault::Internal => status(
            500,
            "InternalError",
            "Internal error occurred: etcdserver: leader changed",
            Some(json!({"causes": [{"message": "etcdserver: leader changed"}]})),
        ),
        Fault::Unavailable(wait) => text(503, "apiserver is shutting down\n", *wait),
        Fault::Page(code) => {
            let mut page = text(
                *code,
                "<html>\n<head><title>Proxy</title></head></html>\n",
                None,
            );
            let kind = header::HeaderValue::from_static("text/html");
            page.headers_mut().insert(header::CONTENT_TYPE, kind);
            page
        }
        Fault::OtherKind => {
            let mut failed = status(500, "InternalError", "storage is (re)initializing", None);
            *failed.status_mut() = StatusCode::OK;
            failed
        }
        Fault::NoJson => text(200, "<html>please log in</html>\n", None),
        _ => return None,
    };
    Some(answer)
}

/// A success that says something else.
pub(super) fn instead(words: &str) -> Response<Full<Bytes>> {
    let kind = if words.starts_with('<') {
        "text/html"
    } else {
        "application/json"
    };
    answer(200, kind, words.to_owned(), None)
}

fn text(code: u16, body: &str, wait: Option<u64>) -> Response<Full<Bytes>> {
    answer(code, "text/plain; charset=utf-8", body.to_owned(), wait)
}

fn status(code: u16, reason: &str, message: &str, details: Option<Value>) -> Response<Full<Bytes>> {
    let mut status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    });
    if let Some(details) = details {
        status["details"] = details;
    }
    answer(code, "application/json", status.to_string(), None)
}

fn answer(code: u16, kind: &'static str, body: String, wait: Option<u64>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    if let Some(wait) = wait {
        headers.insert(header::RETRY_AFTER, wait.into());
    }
    response
}

/// What a path names.
#[derive(Debug, PartialEq, Eq)]
struct Resource<'t> {
    verb: &'static str,
    group: &'t str,
    namespace: &'t str,
    plural: &'t str,
    name: &'t str,
    path: &'t str,
}

impl<'t> Resource<'t> {
    fn of(method: &Method, target: &'t str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut words: Vec<_> = path.split('/').filter(|word| !word.is_empty()).collect();
        let group = match words.first() {
            Some(&"api") => {
                words.drain(..2.min(words.len()));
                ""
            }
            Some(&"apis") if words.len() > 3 => {
                let group = words[1];
                words.drain(..3);
                group
            }
            _ => {
                words.clear();
                ""
            }
        };
        let mut namespace = "";
        if words.len() > 2 && words[0] == "namespaces" {
            namespace = words[1];
            words.drain(..2);
        }
        let name = words.get(1).copied().unwrap_or_default();
        let verb = match (method.as_str(), name) {
            ("GET", _) if query.contains("watch=") => "watch",
            ("GET", "") if !words.is_empty() => "list",
            ("GET", _) => "get",
            ("POST", _) => "create",
            ("PUT", _) => "update",
            ("PATCH", _) => "patch",
            _ => "delete",
        };
        Self {
            verb,
            group,
            namespace,
            plural: words.first().copied().unwrap_or_default(),
            name,
            path,
        }
    }

    fn forbidden(&self, user: &str) -> String {
        let Self {
            verb,
            group,
            plural,
            namespace,
            name,
            path,
        } = self;
        if plural.is_empty() {
            return format!("forbidden: User {user:?} cannot {verb} path {path:?}");
        }
        let kind = if group.is_empty() {
            (*plural).to_owned()
        } else {
            format!("{plural}.{group}")
        };
        let object = if name.is_empty() {
            String::new()
        } else {
            format!(" {name:?}")
        };
        let scope = if namespace.is_empty() {
            "at the cluster scope".to_owned()
        } else {
            format!("in the namespace {namespace:?}")
        };
        format!(
            "{kind}{object} is forbidden: User {user:?} cannot {verb} resource {plural:?} \
             in API group {group:?} {scope}"
        )
    }

    /// The object in the server's words.
    fn named(&self) -> String {
        format!("{}.{} {:?}", self.plural, self.group, self.name)
    }

    fn details(&self) -> Value {
        let mut details = json!({});
        for (key, value) in [
            ("name", self.name),
            ("group", self.group),
            ("kind", self.plural),
        ] {
            if !value.is_empty() {
                details[key] = value.into();
            }
        }
        details
    }
}

#[cfg(test)]
mod tests {
    use super::Resource;
    use http::Method;

    #[test]
    fn a_refusal_names_what_was_asked_for() {
        for (target, words) in [
            (
                "/apis/g.io/v1/runs?limit=5",
                r#"runs.g.io is forbidden: User "u" cannot list resource "runs" in API group "g.io" at the cluster scope"#,
            ),
            (
                "/apis/g.io/v1/namespaces/a/runs/r",
                r#"runs.g.io "r" is forbidden: User "u" cannot get resource "runs" in API group "g.io" in the namespace "a""#,
            ),
            (
                "/api/v1/namespaces?watch=1",
                r#"namespaces is forbidden: User "u" cannot watch resource "namespaces" in API group "" at the cluster scope"#,
            ),
            ("/apis", r#"forbidden: User "u" cannot get path "/apis""#),
        ] {
            assert_eq!(Resource::of(&Method::GET, target).forbidden("u"), words);
        }
    }
}
