//! What can be wrong with a member cluster, on demand.

use std::fmt;
use std::time::Duration;

use super::selector;

/// The annotation on a MemberCluster that asks for trouble: `apply-fails: TEXT`, `not-available`,
/// `slow: 30s` or `gone`. What a handle asks for stands above it.
pub const TROUBLE: &str = "test-hub/trouble";

/// Something that is wrong with a member cluster. It shows in what the cluster reports from now
/// on, also about content that it has already; without it everything recovers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The last object of each Work cannot be applied, and the API server there says this.
    ApplyFails(String),
    /// The last workload of each Work does not become available; without one, the last object.
    NotAvailable,
    /// The same for this long after the content came, then it is.
    Slow(Duration),
    /// The member agent is gone: no heartbeat, no report.
    Gone,
}

impl Trouble {
    /// Reads the annotation.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match (word.trim(), rest.trim()) {
            ("apply-fails", "") => Some(Self::ApplyFails("the object is not valid".to_owned())),
            ("apply-fails", text) => Some(Self::ApplyFails(text.to_owned())),
            ("not-available", _) => Some(Self::NotAvailable),
            ("slow", time) => selector::duration(time).map(Self::Slow),
            ("gone", _) => Some(Self::Gone),
            _ => None,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApplyFails(text) => write!(out, "apply-fails: {text}"),
            Self::NotAvailable => out.write_str("not-available"),
            Self::Slow(time) => write!(out, "slow: {}", selector::print_duration(*time)),
            Self::Gone => out.write_str("gone"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again() {
        for trouble in [
            Trouble::ApplyFails("namespaces \"x\" not found: no".to_owned()),
            Trouble::NotAvailable,
            Trouble::Slow(Duration::from_secs(90)),
            Trouble::Gone,
        ] {
            assert_eq!(Trouble::parse(&trouble.to_string()), Some(trouble));
        }
        assert_eq!(Trouble::parse("nice weather"), None);
        assert_eq!(Trouble::parse("slow"), None);
    }
}
