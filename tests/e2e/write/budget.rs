//! How many requests a write takes, as the API server counts them.

use http::Method;
use test_hub::Seen;

use super::desk::Desk;
use super::play;

/// Whether a request only asks what the hub serves.
fn is_discovery(seen: &Seen) -> bool {
    let path = seen.target.split('?').next().unwrap_or_default();
    let depth = path.matches('/').count();
    path.starts_with("/openapi") || (path.starts_with("/api") && depth <= 3)
}

#[test]
fn an_approval_is_one_read_and_one_write() {
    play("budget", |scene| {
        let desk = Desk::at(scene);
        let request = scene.at_gate();
        desk.proxy.clear().unwrap();
        desk.does(&["approve", &request, "--yes"]).ends(0);
        let seen = desk.proxy.requests();
        let list: Vec<_> = seen
            .iter()
            .map(|seen| format!("{} {}", seen.method, seen.target))
            .collect();
        let list = list.join("\n");
        let write = seen.iter().position(|seen| seen.method == Method::PATCH);
        let write = write.expect("it is approved");
        let of_request = |seen: &&Seen| {
            seen.method == Method::GET && seen.target.starts_with(&scene.request_path(&request))
        };
        let before: Vec<_> = seen[..write]
            .iter()
            .filter(|seen| !is_discovery(seen))
            .collect();
        let reads = before.iter().copied().filter(of_request).count();
        assert_eq!(reads, 1, "reads of the request:\n{list}");
        // Of the first clusters that get something new, what is in the way there.
        let of_works = |seen: &&Seen| seen.target.contains("/works?");
        let works = before.iter().copied().filter(of_works).count();
        assert!(works <= 3, "{works} lists of Works:\n{list}");
        let safety = before.len() - reads - works;
        // Decision 9: why they are more than five, with up to five for what changes.
        assert!(safety <= 12, "{safety} safety reads:\n{list}");
        // Behind it only what follows the run.
        let after = &seen[write + 1..];
        let writes = after
            .iter()
            .filter(|seen| super::desk::is_write(seen))
            .count();
        assert_eq!(writes, 0, "{list}");
        assert!(
            after.iter().any(|seen| seen.target.contains("watch=")),
            "{list}"
        );
        // The whole of it, with the watches and the lists from which they go on.
        assert!(
            after.len() <= 8,
            "{} requests to follow:\n{list}",
            after.len()
        );
    });
}
