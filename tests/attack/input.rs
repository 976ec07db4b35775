//! Files that are not what they seem.

use std::io::Write as _;

use super::{ends, program, tries};

const BUNDLE: &str = "tests/real/C21-stuck-workload.yaml";

/// A bundle that was cut off or of which bytes are wrong ends with an answer or with one error.
#[test]
fn damaged_bundles_have_an_end() {
    let whole = std::fs::read(BUNDLE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle.yaml");
    let path = file.to_str().unwrap();
    let tries = tries(8);
    for number in 0..tries {
        let mut bytes = whole.clone();
        let at = bytes.len() * number / tries;
        match number % 3 {
            0 => bytes.truncate(at),
            1 => bytes[at] = b'{',
            _ => {
                bytes.remove(at);
            }
        }
        std::fs::File::create(&file)
            .unwrap()
            .write_all(&bytes)
            .unwrap();
        let output = ends(&mut program(&["diagnose", "-f", path]));
        let errors = String::from_utf8_lossy(&output.stderr);
        let errors = errors.lines().filter(|line| line.starts_with("error:"));
        assert!(errors.count() <= 1, "{at}");
    }
}
