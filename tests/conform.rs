//! The model of the controller against recordings of the real one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "conform/recording.rs"]
mod recording;

use std::collections::BTreeMap;
use std::path::Path;

/// Of each version, 99 of 100 writes are foretold.
#[test]
fn the_writes_of_the_real_controller_are_foretold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/transitions");
    let mut scores: BTreeMap<String, (usize, usize, Vec<String>)> = BTreeMap::new();
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
        let (came, within) = score.ends;
        assert!(came > 10, "{}: {came} ends of stages", path.display());
        assert!(
            within * 100 >= came * 95,
            "{}: {within} of {came} ends within their range",
            path.display()
        );
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let version = name.trim_end_matches(".jsonl.gz").trim_end_matches("-walk");
        let of = scores.entry(version.to_owned()).or_default();
        of.0 += score.writes;
        of.1 += score.foretold;
        let misses = score.misses.into_iter();
        of.2.extend(misses.map(|it| format!("{} {}: {}", it.at, it.run, it.reason)));
    }
    assert!(!scores.is_empty());
    for (version, (writes, foretold, misses)) in scores {
        assert!(writes > 0, "{version} has no writes");
        assert!(
            foretold * 100 >= writes * 99,
            "{version}: {foretold} of {writes}\n{}",
            misses.join("\n")
        );
    }
}
