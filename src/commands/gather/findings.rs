//! Findings by what a user calls them.

use crate::diagnose::rules;
use crate::words::closest;

/// The code or name that `word` was probably meant to be.
pub(in crate::commands) fn near(word: &str) -> Option<&'static str> {
    let known = || rules::ALL.iter().flat_map(|rule| [rule.code, rule.name]);
    known()
        .find(|known| known.eq_ignore_ascii_case(word))
        .or_else(|| closest(&word.to_ascii_lowercase(), known()))
        .or_else(|| closest(&word.to_ascii_uppercase(), known()))
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn slips_are_understood() {
        assert_eq!(near("fs50"), Some("FS501"));
        assert_eq!(
            near("Workload-not-availabel"),
            Some("workload-not-available")
        );
        assert_eq!(near("pineapple"), None);
    }
}
