//! Where the file of an `-o` leads, and how it is written.
//!
//! A file is replaced, whole or not at all. Everything else that has a name (a FIFO, a device, what
//! `>(…)` and `/dev/stdout` stand for) is opened and written to, and stays what it is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::ui::Ui;

/// How many links may lead from one to the next, as on Linux.
const MAX_LINKS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileDestination {
    /// The program's own standard output.
    StandardOutput,
    /// Something that is written to: a FIFO, a device, a file that a shell has opened.
    Stream(PathBuf),
    /// A file, which may not exist yet; links are followed, so that they stay.
    File(PathBuf),
}

impl FileDestination {
    /// Finds out where a name leads. Writes nothing.
    pub fn find(path: &Path) -> io::Result<Self> {
        let mut at = path.to_owned();
        for _ in 0..MAX_LINKS {
            let (folder, name) = split(&at)?;
            let real = folder.canonicalize()?;
            let full = real.join(&name);
            if is_descriptor(&full) {
                return Ok(if is_standard_output(&full) {
                    Self::StandardOutput
                } else {
                    Self::Stream(full)
                });
            }
            match fs::symlink_metadata(&full) {
                Ok(found) if found.is_symlink() => at = real.join(fs::read_link(&full)?),
                Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
                Ok(found) if !found.is_file() => return Ok(Self::Stream(full)),
                Ok(_) => return Ok(Self::File(full)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self::File(full));
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }
}

fn split(path: &Path) -> io::Result<(PathBuf, std::ffi::OsString)> {
    let name = path
        .file_name()
        .filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/"))
        .ok_or(io::ErrorKind::IsADirectory)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")).to_owned(), name.to_owned()))
}

/// Whether a path names an open file of a process: `/dev/fd/63` is `/proc/4711/fd/63` on Linux.
fn is_descriptor(full: &Path) -> bool {
    let folder = full.parent().unwrap_or(full);
    folder == Path::new("/dev/fd") || folder.starts_with("/proc") && folder.ends_with("fd")
}

fn is_standard_output(descriptor: &Path) -> bool {
    let own = Path::new("/proc")
        .join(std::process::id().to_string())
        .join("fd/1");
    descriptor == own || descriptor == Path::new("/dev/fd/1")
}

/// Fails where a text could not be saved, before it takes any time to have it.
pub fn check(path: &Path) -> anyhow::Result<()> {
    FileDestination::find(path)
        .map(drop)
        .with_context(|| failed(path))
}

/// Saves a text under a name, compressed where the name ends in `.gz`.
pub fn save(path: &Path, text: &str, ui: &mut Ui) -> anyhow::Result<()> {
    let failed = || self::failed(path);
    let packed = path.extension().is_some_and(|ending| ending == "gz");
    match FileDestination::find(path).with_context(failed)? {
        FileDestination::StandardOutput => ui.answer(text),
        FileDestination::Stream(stream) => {
            // Neither made nor cut off: who opened a file for it may have written to it before.
            let mut stream = OpenOptions::new()
                .append(true)
                .open(stream)
                .with_context(failed)?;
            write(&mut stream, text, packed).with_context(failed)?;
        }
        FileDestination::File(file) => {
            let (folder, _) = split(&file).with_context(failed)?;
            // Only its owner may read it.
            let mut new = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
            write(&mut new, text, packed).with_context(failed)?;
            new.persist(&file)
                .map_err(|error| error.error)
                .with_context(failed)?;
        }
    }
    Ok(())
}

fn write(to: &mut impl Write, text: &str, packed: bool) -> io::Result<()> {
    if packed {
        let mut gzip = flate2::write::GzEncoder::new(&mut *to, flate2::Compression::default());
        gzip.write_all(text.as_bytes())?;
        gzip.finish()?;
    } else {
        to.write_all(text.as_bytes())?;
    }
    to.flush()
}

fn failed(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}
