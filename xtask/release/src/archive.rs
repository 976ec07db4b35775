//! Archives whose bytes follow from what is in them: fixed owner, modes, times and order.

use std::io::{Read, Write};
use std::path::{Component, Path};

use anyhow::{Context as _, Result, bail};

pub use flate2::Compression;
use flate2::GzBuilder;
use flate2::read::GzDecoder;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place, with `/` between folders.
    pub path: String,
    /// Whether it can be run.
    pub executable: bool,
    /// What is in it.
    pub data: Vec<u8>,
}

impl Entry {
    /// A file of these bytes.
    pub fn new(path: impl Into<String>, executable: bool, data: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            executable,
            data: data.into(),
        }
    }
}

/// The bytes of a tar.gz with these files, all of which have this time. A release is compressed as
/// well as can be; without optimization that takes a minute for a hundred megabytes.
pub fn write(entries: &[Entry], time: u64, level: Compression) -> Result<Vec<u8>> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let failed = "an archive cannot be written";
    // 255: no operating system.
    let gzip = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), level);
    let mut tar = tar::Builder::new(gzip);
    for entry in sorted {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(if entry.executable { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(time);
        header.set_size(entry.data.len() as u64);
        tar.append_data(&mut header, &entry.path, entry.data.as_slice())
            .context(failed)?;
    }
    let mut gzip = tar.into_inner().context(failed)?;
    gzip.flush().context(failed)?;
    gzip.finish().context(failed)
}

/// The files in an archive, refused where krew would refuse them: anything but files and folders,
/// absolute paths, and paths that lead out.
pub fn read(archive: &[u8]) -> Result<Vec<Entry>> {
    let failed = "the archive cannot be read";
    let mut tar = tar::Archive::new(GzDecoder::new(archive));
    let mut entries = Vec::new();
    for entry in tar.entries().context(failed)? {
        let mut entry = entry.context(failed)?;
        let path = entry.path().context(failed)?.to_string_lossy().into_owned();
        let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.contains("..") || path.contains('\\') || !Path::new(&path).components().all(plain) {
            bail!("{path} would be unpacked somewhere else");
        }
        match entry.header().entry_type() {
            tar::EntryType::Directory => continue,
            tar::EntryType::Regular => {}
            other => bail!("{path} is no file: {other:?}"),
        }
        let executable = entry.header().mode().context(failed)? & 0o111 != 0;
        let mut data = Vec::new();
        entry.read_to_end(&mut data).context(failed)?;
        entries.push(Entry::new(path, executable, data));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_follow_from_the_contents() {
        let files = [
            Entry::new("b", true, b"program"),
            Entry::new("a/x", false, b"text"),
        ];
        let turned = [files[1].clone(), files[0].clone()];
        let archive = write(&files, 1_700_000_000, Compression::best()).unwrap();
        assert_eq!(
            archive,
            write(&turned, 1_700_000_000, Compression::best()).unwrap()
        );
        assert_ne!(
            archive,
            write(&files, 1_700_000_001, Compression::best()).unwrap()
        );
        assert_eq!(read(&archive).unwrap(), turned);
    }

    #[test]
    fn owners_and_times_are_fixed() {
        let archive = write(
            &[Entry::new("b", true, b"x"), Entry::new("c", false, b"")],
            42,
            Compression::none(),
        )
        .unwrap();
        let mut tar = tar::Archive::new(GzDecoder::new(archive.as_slice()));
        let mut modes = Vec::new();
        for entry in tar.entries().unwrap() {
            let header = entry.unwrap().header().clone();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
            assert_eq!(header.mtime().unwrap(), 42);
            modes.push(header.mode().unwrap());
        }
        assert_eq!(modes, [0o755, 0o644]);
    }

    #[test]
    fn what_leads_out_of_the_folder_is_refused() {
        for (name, kind) in [
            ("../x", tar::EntryType::Regular),
            ("/x", tar::EntryType::Regular),
            ("a\\x", tar::EntryType::Regular),
            ("x", tar::EntryType::Symlink),
        ] {
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(kind);
            header.set_size(0);
            // The builder itself would not write such a name.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            let mut tar =
                tar::Builder::new(GzBuilder::new().write(Vec::new(), Compression::fast()));
            tar.append(&header, &b""[..]).unwrap();
            let archive = tar.into_inner().unwrap().finish().unwrap();
            assert!(read(&archive).is_err(), "{name}");
        }
    }
}
