//! The model of the controller against recordings of the real one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "conform/recording.rs"]
mod recording;

use std::collections::BTreeMap;
use std::path::Path;

/// What the recordings of one version come to.
#[derive(Default)]
struct VersionScore {
    writes: usize,
    foretold: usize,
    ends: usize,
    ends_within: usize,
    misses: Vec<String>,
}

/// Of each version, 99 of 100 writes are foretold.
#[test]
fn the_writes_of_the_real_controller_are_foretold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/transitions");
    let mut scores: BTreeMap<String, VersionScore> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let score = recording::conform(&path).unwrap();
        assert!(score.same_texts <= score.foretold);
        // The others came after errors that left no trace, for which the controller paused.
        assert!(
            score.in_time * 100 >= score.foretold * 97,
            "{}: {} of {} in time",
            path.display(),
            score.in_time,
            score.foretold
        );
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let version = name
            .trim_end_matches(".jsonl.gz")
            .split('-')
            .next()
            .unwrap();
        let of = scores.entry(version.to_owned()).or_default();
        of.writes += score.writes;
        of.foretold += score.foretold;
        of.ends += score.ends.0;
        of.ends_within += score.ends.1;
        let misses = score.misses.into_iter();
        of.misses
            .extend(misses.map(|it| format!("{} {}: {}", it.at, it.run, it.reason)));
    }
    assert!(!scores.is_empty());
    for (version, score) in scores {
        let (writes, foretold) = (score.writes, score.foretold);
        assert!(writes > 0, "{version} has no writes");
        assert!(
            foretold * 100 >= writes * 99,
            "{version}: {foretold} of {writes}\n{}",
            score.misses.join("\n")
        );
        let (came, within) = (score.ends, score.ends_within);
        assert!(came > 10, "{version}: {came} ends of stages");
        assert!(
            within * 100 >= came * 95,
            "{version}: {within} of {came} ends within their range"
        );
    }
}
