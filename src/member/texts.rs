//! Texts of the kubelet, the container runtime and the scheduler, as far as they tell what to do.

/// Why an image cannot be pulled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PullProblem {
    /// The name cannot be one of an image.
    InvalidName,
    /// It is not on the node, and must not be pulled.
    NeverPull,
    /// The image has no variant for the nodes' platform.
    Platform,
    /// The registry's certificate is not trusted.
    Certificate,
    /// The registry has had too many requests.
    RateLimit,
    /// The registry does not answer.
    Unreachable,
    /// The registry wants other credentials, or has no such image and does not say so.
    Denied,
    /// The registry has no such image.
    NotFound,
    /// Something else, or nothing that the text tells.
    Other,
}

/// What each problem shows by; the more telling come first, since texts contain the others.
const PULL: [(PullProblem, &[&str]); 6] = [
    (
        PullProblem::Platform,
        &["no match for platform", "no matching manifest for"],
    ),
    (
        PullProblem::Certificate,
        &["x509:", "certificate signed by unknown authority"],
    ),
    (
        PullProblem::RateLimit,
        &["toomanyrequests", "too many requests", "429 "],
    ),
    (
        PullProblem::Unreachable,
        &[
            "no such host",
            "i/o timeout",
            "connection refused",
            "connection reset",
            "tls handshake timeout",
            "context deadline exceeded",
            "network is unreachable",
            "no route to host",
        ],
    ),
    (
        PullProblem::Denied,
        &[
            "pull access denied",
            "unauthorized",
            "authentication required",
            "authorization failed",
            "no basic auth credentials",
            "401 ",
            "403 ",
            "forbidden",
            "denied:",
        ],
    ),
    (
        PullProblem::NotFound,
        &["not found", "manifest unknown", "does not exist"],
    ),
];

/// Why an image cannot be pulled, by the kubelet's reason and text.
pub fn pull_problem(reason: &str, message: &str) -> PullProblem {
    match reason {
        "InvalidImageName" => return PullProblem::InvalidName,
        "ErrImageNeverPull" => return PullProblem::NeverPull,
        _ => {}
    }
    let message = message.to_ascii_lowercase();
    PULL.iter()
        .find(|(_, words)| words.iter().any(|word| message.contains(word)))
        .map_or(PullProblem::Other, |(problem, _)| *problem)
}

/// Why no node takes a pod.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnschedulableReason {
    /// The scheduler's reasons, without what it tried beside them.
    pub reasons: String,
    pub no_nodes: bool,
    /// The nodes have too little of something.
    pub insufficient: bool,
    /// The nodes have taints that the pod does not tolerate.
    pub taints: bool,
    /// The nodes do not match what the pod asks for.
    pub placement: bool,
}

/// Reads the text of `PodScheduled`:
/// `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {…}. preemption: …`
pub fn unschedulable(message: &str) -> UnschedulableReason {
    let reasons = message
        .split_once("nodes are available: ")
        .map_or(message, |(_, rest)| rest);
    let reasons = [". preemption: ", " preemption: "]
        .iter()
        .find_map(|end| reasons.split_once(end))
        .map_or(reasons, |(reasons, _)| reasons)
        .trim_end_matches(['.', ' ']);
    let contains = |words: &[&str]| words.iter().any(|word| message.contains(word));
    UnschedulableReason {
        reasons: reasons.to_owned(),
        no_nodes: contains(&["no nodes available to schedule pods", "0/0 nodes"]),
        insufficient: contains(&["Insufficient ", "Too many pods"]),
        taints: contains(&["taint"]),
        placement: contains(&["affinity", "selector", "topology spread"]),
    }
}

/// What an exit code means, where it has a meaning of its own.
pub const fn exit_code(code: i64) -> Option<&'static str> {
    Some(match code {
        0 => "it exits without an error",
        126 => "its command cannot be executed",
        127 => "its command was not found",
        134 => "it aborted",
        137 => "it was killed",
        139 => "it crashed with a segmentation fault",
        143 => "it was asked to stop",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{PullProblem as P, pull_problem, unschedulable};

    /// Texts of containerd, CRI-O and the kubelet, and what each tells.
    const TEXTS: &str = r#"
NotFound <= Back-off pulling image "nginx:1.20-nope": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/nginx:1.20-nope": failed to resolve reference "docker.io/library/nginx:1.20-nope": docker.io/library/nginx:1.20-nope: not found
Denied <= pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed
Denied <= failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://registry.example/token: 401 Unauthorized
Unreachable <= failed to do request: Head "https://registry.example/v2/web/manifests/1": dial tcp: lookup registry.example on 10.0.0.10:53: no such host
Certificate <= tls: failed to verify certificate: x509: certificate signed by unknown authority
RateLimit <= 429 Too Many Requests - Server message: toomanyrequests: You have reached your unauthenticated pull rate limit
Platform <= no match for platform in manifest: not found
Other <= Back-off pulling image "nginx:1.20-nope"
"#;

    #[test]
    fn pull_problems_are_told_apart() {
        for line in TEXTS.trim().lines() {
            let (problem, message) = line.split_once(" <= ").unwrap();
            let found = pull_problem("ImagePullBackOff", message);
            assert_eq!(format!("{found:?}"), problem, "{message}");
        }
        assert_eq!(pull_problem("InvalidImageName", "x"), P::InvalidName);
        assert_eq!(pull_problem("ErrImageNeverPull", "x"), P::NeverPull);
    }

    #[test]
    fn the_schedulers_reasons_are_kept_and_its_attempts_are_not() {
        let read = unschedulable(
            "0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: gpu}, 2 Insufficient \
             cpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 \
             No preemption victims found for incoming pod.",
        );
        let reasons = "1 node(s) had untolerated taint {dedicated: gpu}, 2 Insufficient cpu";
        assert_eq!(read.reasons, reasons);
        assert!(read.insufficient && read.taints && !read.placement && !read.no_nodes);
        let read = unschedulable("no nodes available to schedule pods");
        assert!(read.no_nodes);
        assert_eq!(read.reasons, "no nodes available to schedule pods");
    }
}
