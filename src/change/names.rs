//! Names for new runs: valid, short enough for a label, and told apart by a suffix.

use crate::kubefleet::selector::is_domain;

/// The longest name of a run: it becomes a label of its approval requests.
pub const LONGEST: usize = 63;

/// What the names of rollbacks have that were not given one.
pub const ROLLBACK: &str = "rollback";

/// The part of a name before what says that it is a rollback's: what is made of one may be none.
pub fn forward(base: &str) -> &str {
    let (stem, _) = base
        .split_once(&format!("-{ROLLBACK}-"))
        .unwrap_or((base, ""));
    stem
}

/// A name from the parts, at most [`LONGEST`] characters: the first part is cut where the others
/// leave it no room. Whatever the parts are, the name is one that the API takes.
pub fn generate(base: &str, rest: &[&str]) -> String {
    let tail = rest
        .iter()
        .map(|part| valid(part))
        .filter(|part| !part.is_empty())
        .fold(String::new(), |tail, part| format!("{tail}-{part}"));
    let tail: String = tail.chars().take(LONGEST - 1).collect();
    let room = LONGEST.saturating_sub(tail.len());
    let base: String = valid(base).chars().take(room).collect();
    let base = base.trim_end_matches(['-', '.']);
    let base = if base.is_empty() { "run" } else { base };
    let base: String = base.chars().take(room.max(1)).collect();
    let name = format!("{base}{tail}");
    name.trim_end_matches(['-', '.']).to_owned()
}

/// The characters that a name may have, in lower case.
fn valid(part: &str) -> String {
    let text: String = part
        .chars()
        .map(|c| match c.to_ascii_lowercase() {
            c if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' => c,
            _ => '-',
        })
        .collect();
    // Dots divide a name into labels, none of which may begin or end with a dash.
    let labels: Vec<_> = text
        .split('.')
        .map(|label| label.trim_matches('-'))
        .filter(|label| !label.is_empty())
        .collect();
    labels.join("-")
}

/// Why a run cannot have a name, as a sentence without its full stop.
pub fn fault(name: &str) -> Option<String> {
    let length = name.chars().count();
    if length > LONGEST {
        return Some(format!(
            "the name of an update run has at most {LONGEST} characters, and this one has {length}"
        ));
    }
    (!is_domain(name)).then(|| {
        format!(
            "{name:?} is no name of an update run: it may have lower-case letters, digits, `-` and \
             `.`, and begins and ends with a letter or a digit"
        )
    })
}

/// A suffix from a number that no two commands share: six characters.
pub fn suffix(number: u128) -> String {
    const DIGITS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    const BASE: u128 = DIGITS.len() as u128;
    let mut number = number;
    let mut text = String::new();
    for _ in 0..6 {
        let digit = usize::try_from(number % BASE).unwrap_or_default();
        text.extend(DIGITS.get(digit).map(|digit| char::from(*digit)));
        number /= BASE;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, fault, forward, generate, suffix};
    use proptest::prelude::*;

    #[test]
    fn names_are_readable() {
        let back = generate("checkout", &["rollback", "3", "x7k2pq"]);
        assert_eq!(back, "checkout-rollback-3-x7k2pq");
        assert_eq!(generate("Web App!", &["run"]), "web-app-run");
        assert_eq!(generate("", &["", "1"]), "run-1");
    }

    #[test]
    fn what_is_made_of_a_rollback_is_not_called_one() {
        assert_eq!(forward("csur/checkout-rollback-3-x7k2pq"), "csur/checkout");
        assert_eq!(forward("rollback-3"), "rollback-3");
    }

    #[test]
    fn a_long_name_is_cut_and_keeps_its_suffix() {
        let name = generate(&"a".repeat(63), &["rollback", "12", "x7k2pq"]);
        assert_eq!(name.len(), LONGEST);
        assert!(name.ends_with("a-rollback-12-x7k2pq"), "{name}");
        // Cut at a dash, it does not end in one.
        let long = format!("{}-{}", "a".repeat(43), "b".repeat(20));
        let name = generate(&long, &["rollback-1234567890"]);
        assert!(!name.contains("--"), "{name}");
    }

    #[test]
    fn a_name_may_be_impossible() {
        for name in ["a", "0", "shop-2", "v1.2", &"r".repeat(LONGEST)] {
            assert_eq!(fault(name), None, "{name}");
        }
        for name in [
            "X Y", "Ünï", "a_b", "-x", "x-", ".x", "a..b", "a-.b", "", "A",
        ] {
            let why = fault(name).unwrap_or_default();
            assert!(why.contains("is no name"), "{name}");
        }
        let long = fault(&"r".repeat(LONGEST + 1)).unwrap_or_default();
        assert!(long.contains("and this one has 64"), "{long}");
    }

    #[test]
    fn suffixes_differ() {
        assert_ne!(suffix(1), suffix(2));
        assert_eq!(suffix(u128::MAX).len(), 6);
    }

    proptest! {
        #[test]
        fn any_input_gives_a_valid_name(base in ".{0,80}", rest in prop::collection::vec(".{0,70}", 0..3)) {
            let rest: Vec<_> = rest.iter().map(String::as_str).collect();
            let name = generate(&base, &rest);
            prop_assert_eq!(fault(&name), None);
        }
    }
}
