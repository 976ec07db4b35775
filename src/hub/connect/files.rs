//! Files that a kubeconfig consists of or names. They are read to their end only if they have one.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// No kubeconfig, token, certificate or key is as large.
const MOST: u64 = 16 << 20;
/// How long what a shell passes as a file may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads a regular file, or the pipe that a shell passes as one: `<(…)`, or standard input.
pub(in crate::hub) fn read(path: &Path) -> Result<Vec<u8>> {
    if std::fs::metadata(path)?.is_file() {
        return up_to_most(path);
    }
    let passed = ["/dev/fd/", "/proc/self/fd/", "/dev/stdin"];
    let is_passed = |path: &str| passed.iter().any(|start| path.starts_with(start));
    if !path.to_str().is_some_and(is_passed) {
        return Err(ErrorKind::InvalidInput.into());
    }
    let (tell, told) = channel();
    let path = path.to_owned();
    // Who writes may never end: nobody waits for this thread.
    thread::spawn(move || tell.send(up_to_most(&path)));
    told.recv_timeout(PATIENCE)
        .unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

fn up_to_most(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= MOST) {
        Ok(bytes)
    } else {
        Err(ErrorKind::FileTooLarge.into())
    }
}

pub(in crate::hub) fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Error::from(ErrorKind::InvalidData))
}

/// Why a file cannot be read.
pub(in crate::hub) fn unreadable(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::NotFound => "it does not exist".to_owned(),
        ErrorKind::InvalidInput => "it is not a regular file".to_owned(),
        ErrorKind::FileTooLarge => format!("it has more than {} MiB", MOST >> 20),
        ErrorKind::TimedOut => format!("it did not end within {}s", PATIENCE.as_secs()),
        other => other.to_string(),
    }
}
