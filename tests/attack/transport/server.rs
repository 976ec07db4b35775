//! A server that says what it is told to: the objects of an example, except where it lies.

use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kubectl_fleet_stage::kubefleet::Kind;
use serde_json::{Value, json};
use test_hub::waiting;

/// How much is written at once.
const PART: usize = 64 << 10;

/// What is answered to a request: the head's further lines, and what is written behind it.
pub struct Reply {
    pub status: &'static str,
    pub headers: String,
    pub body: Body,
}

/// The body of an answer.
pub enum Body {
    /// All at once.
    Whole(Vec<u8>),
    /// One piece after the other, until the client has enough or `None`.
    Pieces(Box<dyn FnMut() -> Option<Vec<u8>> + Send>),
}

impl Reply {
    pub fn json(body: &Value) -> Self {
        let is_missing = body["code"] == 404;
        Self {
            status: if is_missing {
                "404 Not Found"
            } else {
                "200 OK"
            },
            ..Self::text(body.to_string())
        }
    }

    pub fn text(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: "200 OK",
            headers: "Content-Type: application/json\r\n".to_owned(),
            body: Body::Whole(body.into()),
        }
    }

    /// A stream that never ends by itself.
    pub fn pieces(next: impl FnMut() -> Option<Vec<u8>> + Send + 'static) -> Self {
        Self {
            body: Body::Pieces(Box::new(next)),
            ..Self::text("")
        }
    }
}

/// A request: the method, and the path with its query.
pub struct Asked {
    pub method: String,
    pub target: String,
    pub body: Vec<u8>,
}

impl Asked {
    /// Whether it writes; who asks about itself does not.
    pub fn is_write(&self) -> bool {
        !(self.method == "GET" || self.target.contains("/selfsubject"))
    }
}

type Lie = dyn Fn(&Asked, &dyn Fn() -> Value) -> Option<Reply> + Send + Sync;

/// A server that lies.
pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    sent: Arc<AtomicUsize>,
}

impl Server {
    /// `lie` is asked first, with what would be right; where it has nothing to say, that is
    /// answered.
    pub fn lying(
        lie: impl Fn(&Asked, &dyn Fn() -> Value) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        Self::of("waiting-for-approval", lie)
    }

    /// The same with the objects of another example.
    pub fn of(
        example: &str,
        lie: impl Fn(&Asked, &dyn Fn() -> Value) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let lie: Arc<Lie> = Arc::new(lie);
        let objects = Arc::new(objects(example));
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let seen = Arc::clone(&asked);
        let sent = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&sent);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (lie, objects, seen) =
                    (Arc::clone(&lie), Arc::clone(&objects), Arc::clone(&seen));
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || {
                    // Whoever has had enough hangs up.
                    let _ = serve(stream, &*lie, &objects, &seen, &counted);
                });
            }
        });
        Self { url, asked, sent }
    }

    /// How many bytes of bodies were sent.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// How often something was asked that this holds for.
    pub fn count(&self, is: impl Fn(&Asked) -> bool) -> usize {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|one| is(one))
            .count()
    }

    /// What the last patch sent.
    pub fn patched(&self) -> Value {
        let asked = self.asked.lock().unwrap();
        let patch = asked.iter().rfind(|one| one.method == "PATCH").unwrap();
        serde_json::from_slice(&patch.body).unwrap()
    }
}

fn serve(
    mut stream: TcpStream,
    lie: &Lie,
    objects: &[Value],
    seen: &Mutex<Vec<Asked>>,
    sent: &AtomicUsize,
) -> std::io::Result<()> {
    // A head and its body are two writes: nothing waits for the other.
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line.trim().is_empty() {
                break;
            }
            lines.push(line);
        }
        let mut words = lines[0].split(' ').map(str::to_owned);
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let length = lines.iter().find_map(|line| {
            let line = line.to_lowercase();
            line.strip_prefix("content-length:")?.trim().parse().ok()
        });
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let asked = Asked {
            method,
            target,
            body,
        };
        let right = || right(&asked, objects);
        let reply = lie(&asked, &right);
        let watches = asked.target.contains("watch=true");
        let reply = reply.unwrap_or_else(|| {
            if watches {
                return Reply::pieces(|| {
                    waiting::pass(Duration::from_secs(1));
                    Some(Vec::new())
                });
            }
            Reply::json(&right())
        });
        seen.lock().unwrap().push(asked);
        write(&mut stream, reply, sent)?;
    }
}

/// Writes an answer, and counts what goes out of its body.
fn write(stream: &mut TcpStream, reply: Reply, sent: &AtomicUsize) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {}\r\n{}", reply.status, reply.headers)?;
    match reply.body {
        Body::Whole(body) => {
            write!(stream, "Content-Length: {}\r\n\r\n", body.len())?;
            for part in body.chunks(PART) {
                stream.write_all(part)?;
                sent.fetch_add(part.len(), Ordering::Relaxed);
            }
            Ok(())
        }
        Body::Pieces(mut next) => {
            write!(stream, "Transfer-Encoding: chunked\r\n\r\n")?;
            while let Some(piece) = next() {
                if !piece.is_empty() {
                    write!(stream, "{:x}\r\n", piece.len())?;
                    stream.write_all(&piece)?;
                    write!(stream, "\r\n")?;
                    sent.fetch_add(piece.len(), Ordering::Relaxed);
                }
                stream.flush()?;
            }
            write!(stream, "0\r\n\r\n")
        }
    }
}

/// The objects of an example.
fn objects(example: &str) -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(format!("examples/cluster/{example}.yaml"));
    let text = std::fs::read_to_string(path).unwrap();
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    documents
        .into_iter()
        .filter(|object| object["metadata"]["name"].is_string())
        .collect()
}

/// What a hub answers.
fn right(asked: &Asked, objects: &[Value]) -> Value {
    let path = asked.target.split('?').next().unwrap_or_default();
    let words: Vec<_> = path.split('/').skip(1).collect();
    match words.as_slice() {
        ["apis"] => discovery(),
        ["version"] => json!({"major": "1", "minor": "34", "gitVersion": "v1.34.0"}),
        ["openapi", ..] => schemas(),
        ["apis", group, version, resource] if resource.starts_with("selfsubject") => {
            let kind = if resource.starts_with("selfsubjecta") {
                "SelfSubjectAccessReview"
            } else {
                "SelfSubjectReview"
            };
            json!({
                "apiVersion": format!("{group}/{version}"),
                "kind": kind,
                "status": {"allowed": true, "userInfo": {"username": "someone"}},
            })
        }
        ["api", "v1", .., plural] => {
            let kind = if *plural == "pods" {
                "Pod"
            } else {
                "Namespace"
            };
            json!({"apiVersion": "v1", "kind": format!("{kind}List"), "metadata": {"resourceVersion": "9"}, "items": []})
        }
        ["apis", group, version, rest @ ..] => {
            let rest = if rest.first() == Some(&"namespaces") && rest.len() > 2 {
                &rest[2..]
            } else {
                rest
            };
            let known =
                |kind: &&Kind| kind.group() == *group && rest.first() == Some(&kind.plural());
            let Some(kind) = Kind::ALL.iter().find(known) else {
                return missing();
            };
            let of_kind = objects
                .iter()
                .filter(|object| object["kind"] == kind.name());
            match rest.get(1) {
                Some(name) => {
                    let mut named = of_kind.filter(|object| object["metadata"]["name"] == *name);
                    named.next().cloned().unwrap_or_else(missing)
                }
                None => json!({
                    "apiVersion": format!("{group}/{version}"),
                    "kind": format!("{}List", kind.name()),
                    "metadata": {"resourceVersion": "9000"},
                    "items": of_kind.collect::<Vec<_>>(),
                }),
            }
        }
        _ => missing(),
    }
}

fn missing() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound",
        "message": "it was not found", "details": {"name": "it"}, "code": 404,
    })
}

fn discovery() -> Value {
    let mut groups = Vec::new();
    for group in [
        "placement.kubernetes-fleet.io",
        "cluster.kubernetes-fleet.io",
    ] {
        let own = Kind::ALL.iter().filter(|kind| kind.group() == group);
        let resources: Vec<_> = own.map(|kind| json!({"resource": kind.plural()})).collect();
        groups.push(json!({
            "metadata": {"name": group},
            "versions": [{"version": "v1beta1", "resources": resources}],
        }));
    }
    json!({"apiVersion": "apidiscovery.k8s.io/v2", "kind": "APIGroupDiscoveryList", "items": groups})
}

fn schemas() -> Value {
    let schema = |kind: &str| {
        json!({
            "properties": {"spec": {"properties": {"state": {"enum": ["Initialize", "Run", "Stop"]}}}},
            "x-kubernetes-group-version-kind": [
                {"group": "placement.kubernetes-fleet.io", "kind": kind, "version": "v1beta1"},
            ],
        })
    };
    json!({"openapi": "3.0.0", "components": {"schemas": {
        "a": schema("ClusterStagedUpdateRun"), "b": schema("StagedUpdateRun"),
    }}})
}
