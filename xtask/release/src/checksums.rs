//! SHA-256 sums, and the file that lists them.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

/// The name of the file.
pub const FILE: &str = "checksums.txt";
/// The endings of the files that are listed.
const LISTED: [&str; 3] = [".tar.gz", ".cdx.json", ".deb"];

/// The SHA-256 sum, as `sha256sum` prints it.
pub fn sha256(data: &[u8]) -> String {
    let sum = ring::digest::digest(&ring::digest::SHA256, data);
    sum.as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The sums of what a release has in this folder, by file name.
pub fn list(folder: &Path) -> Result<String> {
    let mut names = crate::files(folder)?;
    names.retain(|name| LISTED.iter().any(|ending| name.ends_with(ending)));
    let mut text = String::new();
    for name in names {
        let data = crate::read(&folder.join(&name))?;
        let _ = writeln!(text, "{}  {name}", sha256(&data));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_what_sha256sum_reads() {
        let folder = tempfile::tempdir().unwrap();
        for (name, data) in [("b.tar.gz", "abc"), ("a.cdx.json", ""), ("notes", "x")] {
            std::fs::write(folder.path().join(name), data).unwrap();
        }
        assert_eq!(
            list(folder.path()).unwrap(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.cdx.json\n\
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b.tar.gz\n"
        );
    }
}
