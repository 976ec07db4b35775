//! Objects put where the API server keeps them: with the times, generations and uids that they had
//! when they were recorded, which no request can set.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::{Error, TestHub, context, path_of};

/// Where the custom resources of a fleet are, below the server's own folder.
const GROUPS: [&str; 2] = [
    "placement.kubernetes-fleet.io",
    "cluster.kubernetes-fleet.io",
];
/// How many operations etcd takes at once.
const AT_ONCE: usize = 100;

impl TestHub {
    /// Puts custom resources of a fleet on the hub as they are. Nothing checks them.
    pub fn put(&self, objects: &[Value]) -> Result<(), Error> {
        let mut puts = Vec::new();
        for object in objects {
            let mut object = object.clone();
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("resourceVersion");
            }
            let key = key_of(&object)?;
            puts.push(json!({"requestPut": {
                "key": encoded(key.as_bytes()),
                "value": encoded(object.to_string().as_bytes()),
            }}));
        }
        for part in puts.chunks(AT_ONCE) {
            self.etcd("/v3/kv/txn", &json!({"success": part}))?;
        }
        Ok(())
    }

    /// Takes all custom resources of a fleet from the hub, finalizers or not.
    pub fn clear(&self) -> Result<(), Error> {
        for group in GROUPS {
            let (from, to) = (format!("/hub/{group}/"), format!("/hub/{group}0"));
            let range = json!({
                "key": encoded(from.as_bytes()), "range_end": encoded(to.as_bytes()),
            });
            self.etcd("/v3/kv/deleterange", &range)?;
        }
        Ok(())
    }

    fn etcd(&self, path: &str, body: &Value) -> Result<(), Error> {
        let doing = || format!("asking etcd for {path}");
        let body = body.to_string();
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.etcd_port())).map_err(context(doing()))?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: etcd\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let mut answer = String::new();
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .and_then(|()| stream.read_to_string(&mut answer))
            .map_err(context(doing()))?;
        if answer.starts_with("HTTP/1.1 200") {
            Ok(())
        } else {
            Err(Error::Failed(format!("{}: {answer}", doing())))
        }
    }
}

/// Where the hub's server keeps an object: `/hub/GROUP/PLURAL/NAMESPACE/NAME`.
fn key_of(object: &Value) -> Result<String, Error> {
    let path = path_of(object, true)?;
    let words: Vec<_> = path.split('/').collect();
    let words: Vec<_> = match words.as_slice() {
        ["", "apis", group, _, "namespaces", namespace, plural, name] => {
            vec![*group, *plural, *namespace, *name]
        }
        ["", "apis", group, _, plural, name] => vec![*group, *plural, *name],
        _ => return Err(Error::Failed(format!("no custom resource: {path}"))),
    };
    Ok(format!("/hub/{}", words.join("/")))
}

/// Base64, as etcd reads bytes in JSON.
fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let byte = |at: usize| u32::from(part.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at > part.len() { '=' } else { letter.into() });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{encoded, key_of};

    #[test]
    fn bytes_are_written_in_base64() {
        for (text, wanted) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj")] {
            assert_eq!(encoded(text.as_bytes()), wanted);
        }
    }

    #[test]
    fn keys_follow_from_the_object() {
        let work = json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "Work",
            "metadata": {"name": "web-0", "namespace": "fleet-member-a"},
        });
        let key = key_of(&work).unwrap();
        assert_eq!(
            key,
            "/hub/placement.kubernetes-fleet.io/works/fleet-member-a/web-0"
        );
    }
}
