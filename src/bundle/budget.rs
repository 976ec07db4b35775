//! How much a command reads, of all its files together.

use super::error::{FilePlace, ReadError};
use crate::kubefleet::meter::Meter;

const MIB: u64 = 1 << 20;

/// What a command may read, in bytes, unpacked: 5 000 clusters are 85 MB.
const BYTES: u64 = 256 * MIB;

/// What objects may take in memory, as a multiple of the most that may be read: beside the text
/// that they are read from that makes less than 1 GB.
const MEMORY: u64 = 3;

/// What they may take of what was read, where nobody gave a limit: with their text that makes ten
/// times as much at most. And what they may take anyway.
const DENSITY: u64 = 9;
const ANYWAY: u64 = 4 * MIB;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    bytes: u64,
    /// Whether someone asked for it, and so knows what is read.
    given: bool,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            bytes: BYTES,
            given: false,
        }
    }
}

impl ReadLimits {
    pub const fn new(bytes: u64) -> Self {
        Self { bytes, given: true }
    }

    /// What objects may take in memory once so much was read.
    fn memory(self, read: u64) -> u64 {
        let most = self.bytes.saturating_mul(MEMORY).max(ANYWAY);
        if self.given {
            return most;
        }
        let by_text = read.saturating_mul(DENSITY).saturating_add(ANYWAY);
        by_text.min(most)
    }
}

#[derive(Debug)]
pub(super) struct ReadBudget {
    limits: ReadLimits,
    read: u64,
    pub meter: Meter,
}

impl ReadBudget {
    pub(super) fn new(limits: ReadLimits) -> Self {
        Self {
            limits,
            read: 0,
            meter: Meter::new(limits.memory(0)),
        }
    }

    pub(super) const fn left(&self) -> u64 {
        self.limits.bytes.saturating_sub(self.read)
    }

    /// Counts what was read. What was packed counts packed and unpacked: both are held at once.
    pub(super) fn take(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.read = self.read.saturating_add(bytes);
        self.meter.allow(self.limits.memory(self.read));
    }

    /// That there is more to read than may be.
    pub(super) fn too_long(&self, place: &FilePlace) -> ReadError {
        let limit = size(self.limits.bytes);
        ReadError::new(
            place,
            format!("all files together have more than {limit}, unpacked"),
        )
        .hint(format!(
            "pass only the objects of one rollout, as `collect` writes them, or raise the limit \
             with --max-input {}",
            size(self.limits.bytes.saturating_mul(4))
        ))
    }

    /// That what was read takes more memory than it may.
    pub(super) fn too_large(&self, place: &FilePlace) -> ReadError {
        let limit = self.limits.memory(self.read);
        ReadError::new(
            place,
            format!(
                "its objects need more than {} of memory, too much for a bundle of this size",
                size(limit)
            ),
        )
        .hint(format!(
            "to read it anyway, raise the limit with --max-input {}",
            size(if self.limits.given {
                self.limits.bytes.saturating_mul(4)
            } else {
                BYTES
            })
        ))
    }
}

/// A number of bytes as `--max-input` takes it, rounded down: `256Mi`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => bytes.to_string(),
        1024..MIB => format!("{}Ki", bytes >> 10),
        _ if bytes.is_multiple_of(1 << 30) => format!("{}Gi", bytes >> 30),
        _ => format!("{}Mi", bytes >> 20),
    }
}

/// Reads a number of bytes as Kubernetes writes it: `512Mi`, `1G`, `4096`.
pub fn parse(text: &str) -> Result<u64, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor: u64 = match unit {
        "" => 1,
        "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => MIB,
        "Gi" => 1 << 30,
        _ => 0,
    };
    let number: Option<u64> = number.parse().ok();
    number
        .and_then(|number| number.checked_mul(factor))
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "a size looks like 512Mi or 2Gi".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (text, bytes) in [
            ("1", 1),
            ("1k", 1_000),
            ("3Ki", 3 << 10),
            ("5M", 5_000_000),
            ("256Mi", BYTES),
            ("2G", 2_000_000_000),
            ("2Gi", 2 << 30),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "Mi", "1Ti", "1 Mi", "1.5Gi", "99999999999Gi"] {
            assert!(parse(text).is_err(), "{text}");
        }
        for bytes in [1, 3 << 10, BYTES, 1 << 30, 5 << 30] {
            assert_eq!(parse(&size(bytes)), Ok(bytes));
        }
    }

    #[test]
    fn memory_follows_what_was_read() {
        let limits = ReadLimits::default();
        assert_eq!(limits.memory(0), 4 * MIB);
        assert_eq!(limits.memory(10 * MIB), 94 * MIB);
        assert_eq!(limits.memory(u64::MAX), 768 * MIB);
        let given = ReadLimits::new(400 * MIB);
        assert_eq!(given.memory(0), 1_200 * MIB);
        assert_eq!(ReadLimits::new(1).memory(0), 4 * MIB);
        let mut budget = ReadBudget::new(ReadLimits::new(10));
        budget.take(7);
        assert_eq!(budget.left(), 3);
        budget.take(7);
        assert_eq!(budget.left(), 0);
    }
}
