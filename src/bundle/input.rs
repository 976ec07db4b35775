//! From what was given on the command line to texts: files, directories, gzip, archives.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::budget::ReadBudget;
use super::error::{FilePlace, ReadError};

pub enum Input {
    /// A file, or a directory whose files are read.
    Path(PathBuf),
    Stdin(Box<dyn Read + Send>),
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Self::Stdin(_) => f.write_str("Stdin"),
        }
    }
}

/// How deeply directories may nest, and how often data may be packed.
const MAX_DEPTH: usize = 32;
const MAX_PACKED: usize = 3;

/// The endings of the files that are read from directories and archives.
const TEXTS: [&str; 4] = [".yaml", ".yml", ".json", ".ndjson"];
const PACKED: [&str; 3] = [".gz", ".tgz", ".tar"];

/// Receives one text after the other, and what may be read.
pub(super) type InputSink<'s> =
    dyn FnMut(&FilePlace, &[u8], &mut ReadBudget) -> Result<(), ReadError> + 's;

/// Reads an input and hands its texts on, in an order that depends on their names only.
pub(super) fn read(
    input: Input,
    budget: &mut ReadBudget,
    sink: &mut InputSink<'_>,
) -> Result<(), ReadError> {
    match input {
        Input::Stdin(reader) => {
            let place = FilePlace {
                file: "standard input".to_owned(),
                member: None,
            };
            let bytes = limited(reader, &place, 0, budget)?;
            unpack(&place, bytes.into(), 0, budget, sink)
        }
        Input::Path(path) => {
            let place = file(&path);
            let metadata = fs::metadata(&path).map_err(|error| {
                let missing = error.kind() == io::ErrorKind::NotFound;
                if missing {
                    ReadError::new(&place, "no such file or directory")
                        .hint("use a bundle, a directory of manifests, or `-` for standard input")
                } else {
                    ReadError::io(&place, "cannot be read", error)
                }
            })?;
            if !metadata.is_dir() {
                return open(&path, metadata.len(), budget, sink);
            }
            let mut files = Vec::new();
            list(&path, 0, &mut files)?;
            if files.is_empty() {
                return Err(
                    ReadError::new(&place, "the directory has no YAML or JSON files").hint(
                        format!(
                            "only files that end in {} or {} are read; hidden files are not",
                            TEXTS.join(" "),
                            PACKED.join(" ")
                        ),
                    ),
                );
            }
            files
                .iter()
                .try_for_each(|(path, size)| open(path, *size, budget, sink))
        }
    }
}

fn file(path: &Path) -> FilePlace {
    FilePlace {
        file: path.display().to_string(),
        member: None,
    }
}

/// The files of a directory and of those in it, by name.
fn list(directory: &Path, depth: usize, files: &mut Vec<(PathBuf, u64)>) -> Result<(), ReadError> {
    let fail = |path: &Path, error| ReadError::io(&file(path), "cannot be read", error);
    let mut entries: Vec<_> = fs::read_dir(directory)
        .and_then(Iterator::collect::<io::Result<Vec<_>>>)
        .map_err(|error| fail(directory, error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        let kind = entry.file_type().map_err(|error| fail(&path, error))?;
        if kind.is_dir() {
            // A link to a directory is not followed: it may lead in a circle.
            if depth >= MAX_DEPTH {
                return Err(ReadError::new(
                    &file(&path),
                    "directories are nested too deeply",
                ));
            }
            list(&path, depth + 1, files)?;
        } else if wanted(&name, &PACKED) || wanted(&name, &TEXTS) {
            let metadata = fs::metadata(&path).map_err(|error| fail(&path, error))?;
            if metadata.is_file() {
                files.push((path, metadata.len()));
            }
        }
    }
    Ok(())
}

fn wanted(name: &str, endings: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

fn open(
    path: &Path,
    size: u64,
    budget: &mut ReadBudget,
    sink: &mut InputSink<'_>,
) -> Result<(), ReadError> {
    let place = file(path);
    let reader =
        fs::File::open(path).map_err(|error| ReadError::io(&place, "cannot be opened", error))?;
    let bytes = limited(reader, &place, size, budget)?;
    unpack(&place, bytes.into(), 0, budget, sink)
}

/// Everything that a reader delivers, up to the limit.
fn limited(
    reader: impl Read,
    place: &FilePlace,
    size: u64,
    budget: &mut ReadBudget,
) -> Result<Vec<u8>, ReadError> {
    let most = budget.left();
    let room = usize::try_from(size.min(most)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(room.saturating_add(1));
    reader
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                ReadError::new(place, "the compressed data is truncated")
                    .hint("copy or download the file again")
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                ReadError::io(place, "the compressed data is damaged", error)
                    .hint("copy or download the file again, in binary mode")
            }
            _ => ReadError::io(place, "cannot be read", error),
        })?;
    if bytes.len() as u64 > most {
        return Err(budget.too_long(place));
    }
    budget.take(bytes.len());
    Ok(bytes)
}

fn unpack(
    place: &FilePlace,
    bytes: Cow<'_, [u8]>,
    depth: usize,
    budget: &mut ReadBudget,
    sink: &mut InputSink<'_>,
) -> Result<(), ReadError> {
    let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
    let is_tar = bytes.get(257..262) == Some(b"ustar");
    if (is_gzip || is_tar) && depth >= MAX_PACKED {
        return Err(ReadError::new(place, "archives are nested too deeply"));
    }
    if is_gzip {
        let text = limited(MultiGzDecoder::new(&*bytes), place, 0, budget)?;
        drop(bytes);
        unpack(place, text.into(), depth + 1, budget, sink)
    } else if is_tar {
        members(place, &bytes, depth, budget, sink)
    } else {
        sink(place, &bytes, budget)
    }
}

fn members(
    place: &FilePlace,
    bytes: &[u8],
    depth: usize,
    budget: &mut ReadBudget,
    sink: &mut InputSink<'_>,
) -> Result<(), ReadError> {
    let damaged = |error| {
        ReadError::io(place, "the archive is damaged or truncated", error)
            .hint("copy or download the file again")
    };
    let cut_off = || {
        ReadError::new(place, "the archive is truncated").hint("copy or download the file again")
    };
    let mut members = Vec::new();
    let mut end = 0;
    let mut archive = tar::Archive::new(bytes);
    for entry in archive.entries().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let start = usize::try_from(entry.raw_file_position()).unwrap_or(usize::MAX);
        let size = usize::try_from(entry.size()).unwrap_or(usize::MAX);
        let content = start
            .checked_add(size)
            .and_then(|end| bytes.get(start..end))
            .ok_or_else(cut_off)?;
        end = start + content.len();
        let base = name.rsplit('/').next().unwrap_or_default();
        let hidden = name
            .split('/')
            .any(|part| part.starts_with('.') && part != "." && part != "..");
        if entry.header().entry_type().is_file()
            && !hidden
            && (wanted(base, &TEXTS) || wanted(base, &PACKED))
        {
            members.push((name, content));
        }
    }
    // Two empty blocks end an archive: without them it was cut off between two members.
    let last = bytes.get(end.next_multiple_of(512)..).unwrap_or_default();
    if last.len() < 1024 || last[..1024].iter().any(|byte| *byte != 0) {
        return Err(cut_off());
    }
    if members.is_empty() {
        return Err(
            ReadError::new(place, "the archive has no YAML or JSON files").hint(format!(
                "only files that end in {} are read; hidden files are not",
                TEXTS.join(" ")
            )),
        );
    }
    members.sort();
    for (name, content) in members {
        let member = FilePlace {
            file: place.file.clone(),
            member: Some(match &place.member {
                Some(outer) => format!("{outer}: {name}"),
                None => name,
            }),
        };
        unpack(&member, content.into(), depth + 1, budget, sink)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::budget::ReadLimits;
    use super::*;

    #[test]
    fn endless_input_ends_at_the_limit() {
        let place = FilePlace::default();
        let mut budget = ReadBudget::new(ReadLimits::new(4 << 20));
        let mut read = |bytes| limited(io::repeat(b'x').take(bytes), &place, 0, &mut budget);
        assert_eq!(read(3 << 20).unwrap().len(), 3 << 20);
        // All inputs together.
        let error = read(u64::MAX).unwrap_err();
        let message = "all files together have more than 4Mi, unpacked";
        assert_eq!(error.message, message);
        assert!(error.hint.unwrap().ends_with("--max-input 16Mi"));
    }

    #[test]
    fn files_are_listed_by_name() {
        let directory = tempfile::tempdir().unwrap();
        for name in [
            "b/z.json", "b/a.yml", "a.yaml", "C.YAML", "x.tar.gz", "x.txt", ".a.yaml",
        ] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut files = Vec::new();
        list(directory.path(), 0, &mut files).unwrap();
        let names = files.iter();
        let names = names.map(|(path, _)| path.strip_prefix(directory.path()).unwrap());
        let names: Vec<_> = names.map(|name| name.to_str().unwrap()).collect();
        let wanted = ["C.YAML", "a.yaml", "b/a.yml", "b/z.json", "x.tar.gz"];
        assert_eq!(names, wanted);
    }
}
