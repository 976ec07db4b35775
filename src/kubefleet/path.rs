//! Where the API serves an object.

use super::kind::Kind;

/// A kind as an API server serves it.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'r> {
    /// Empty for the core group.
    pub group: &'r str,
    pub version: &'r str,
    pub plural: &'r str,
}

impl Resource<'_> {
    /// The path of the kind, or of one of its objects.
    pub fn path(&self, namespace: Option<&str>, name: Option<&str>) -> String {
        let mut path = match self.group {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
            path.push_str("/namespaces/");
            path.push_str(&encode(namespace));
        }
        path.push('/');
        path.push_str(self.plural);
        if let Some(name) = name {
            path.push('/');
            path.push_str(&encode(name));
        }
        path
    }
}

pub fn path(kind: Kind, version: &str, namespace: Option<&str>, name: Option<&str>) -> String {
    let resource = Resource {
        group: kind.group(),
        version,
        plural: kind.plural(),
    };
    resource.path(namespace, name)
}

pub fn parameter(path: &mut String, name: &str, value: &str) {
    path.push(if path.contains('?') { '&' } else { '?' });
    path.push_str(name);
    path.push('=');
    path.push_str(&encode(value));
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
