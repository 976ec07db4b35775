//! Where the API serves an object.

use super::kind::Kind;

/// The path of a kind, or of one of its objects.
pub fn path(kind: Kind, version: &str, namespace: Option<&str>, name: Option<&str>) -> String {
    let mut path = format!("/apis/{}/{version}", kind.group());
    if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
        path.push_str("/namespaces/");
        path.push_str(&encode(namespace));
    }
    path.push('/');
    path.push_str(kind.plural());
    if let Some(name) = name {
        path.push('/');
        path.push_str(&encode(name));
    }
    path
}

/// A word inside a URL.
pub fn encode(word: &str) -> String {
    word.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let escaped = format!("%{byte:02X}");
            text.push_str(&escaped);
        }
        text
    })
}
