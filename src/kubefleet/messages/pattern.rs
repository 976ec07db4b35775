//! Matches a template with `{}` placeholders against a text, so that the wordings are data.

/// The texts found for the placeholders of a template, in order.
#[derive(Debug)]
pub(super) struct PatternCaptures<'t>(Vec<&'t str>);

impl<'t> PatternCaptures<'t> {
    /// The text of the placeholder at `index`, empty when the template has fewer.
    pub(super) fn get(&self, index: usize) -> &'t str {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// The first word of a placeholder, without quotes and closing punctuation.
    pub(super) fn word(&self, index: usize) -> String {
        word(self.get(index)).to_owned()
    }

    /// The whole text of a placeholder.
    pub(super) fn text(&self, index: usize) -> String {
        self.get(index).trim().to_owned()
    }

    /// The number a placeholder begins with.
    pub(super) fn number<N: std::str::FromStr>(&self, index: usize) -> Option<N> {
        number(self.get(index))
    }
}

/// Matches `template` at the beginning of `text`.
///
/// Literals are compared without regard to ASCII case. A placeholder takes as little as possible,
/// the last one everything that is left when nothing follows it; text after a closing literal is
/// ignored.
pub(super) fn capture<'t>(template: &str, text: &'t str) -> Option<PatternCaptures<'t>> {
    let mut literals = template.split("{}");
    let mut rest = strip_prefix(text, literals.next()?)?;
    let mut found = Vec::new();
    let mut literals = literals.peekable();
    while let Some(literal) = literals.next() {
        if literal.is_empty() && literals.peek().is_none() {
            found.push(rest);
            break;
        }
        let at = find(rest, literal)?;
        found.push(rest.get(..at)?);
        rest = rest.get(at + literal.len()..)?;
    }
    Some(PatternCaptures(found))
}

/// Matches `template` at its first occurrence anywhere in `text`.
pub(super) fn capture_within<'t>(template: &str, text: &'t str) -> Option<PatternCaptures<'t>> {
    let start = template.split("{}").next()?;
    let mut rest = text;
    loop {
        let at = find(rest, start)?;
        let candidate = rest.get(at..)?;
        if let Some(captures) = capture(template, candidate) {
            return Some(captures);
        }
        rest = rest.get(at + start.len().max(1)..)?;
    }
}

/// Whether `needle` occurs in `text`, without regard to ASCII case.
pub(super) fn contains(text: &str, needle: &str) -> bool {
    find(text, needle).is_some()
}

/// `text` without an ASCII prefix, without regard to case.
pub(super) fn strip_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    if head.eq_ignore_ascii_case(prefix) {
        text.get(prefix.len()..)
    } else {
        None
    }
}

/// The position of `needle` (ASCII) in `text`, without regard to ASCII case.
pub(super) fn find(text: &str, needle: &str) -> Option<usize> {
    let needle = needle.as_bytes();
    let Some((first, tail)) = needle.split_first() else {
        return Some(0);
    };
    let text = text.as_bytes();
    let last = text.len().checked_sub(needle.len())?;
    let candidates = text.get(..=last)?.iter().enumerate();
    candidates
        .filter(|(_, byte)| byte.eq_ignore_ascii_case(first))
        .map(|(at, _)| at)
        .find(|at| {
            text.get(at + 1..at + needle.len())
                .is_some_and(|window| window.eq_ignore_ascii_case(tail))
        })
}

/// Folds every run of white space to one space and drops it at both ends.
pub(super) fn normalise(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for part in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(part);
    }
    folded
}

/// The first word, without the quotes around it and punctuation after it.
pub(super) fn word(text: &str) -> &str {
    text.split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_start_matches(['`', '"', '\''])
        .trim_end_matches(['`', '"', '\'', ',', ';', ':', '.', ')', ']'])
}

/// The number a text begins with; quotes before it are skipped.
pub(super) fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    let text = text.trim_start_matches(['`', '"', '\'', ' ', '=']);
    let signed = usize::from(text.starts_with('-'));
    let digits = text
        .bytes()
        .skip(signed)
        .take_while(u8::is_ascii_digit)
        .count();
    text.get(..signed + digits)?.parse().ok()
}

/// The names of a comma-separated list; it ends with the first entry that is more than one word.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in text.split(',') {
        let entry = entry.trim();
        let name = word(entry);
        if !name.is_empty() {
            found.push(name.to_owned());
        }
        if entry.contains(' ') {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_take_as_little_as_possible() {
        let captures = capture("cluster `{}` in {}: {}", "Cluster `a` in b: c: d").unwrap();
        assert_eq!(captures.get(0), "a");
        assert_eq!(captures.get(1), "b");
        assert_eq!(captures.get(2), "c: d");
        assert_eq!(captures.get(3), "");
    }

    #[test]
    fn a_closing_literal_tolerates_more_text() {
        assert!(capture("policy is nil", "policy is nil, again").is_some());
        assert!(capture("policy is nil", "the policy is nil").is_none());
        assert!(capture_within("policy is nil", "the policy is nil").is_some());
    }

    #[test]
    fn multibyte_text_is_safe() {
        assert!(capture("a{}b", "aé").is_none());
        assert_eq!(capture("a{}b", "aéb").unwrap().get(0), "é");
        assert!(capture("ab", "é").is_none());
        assert!(capture_within("{}x", "ééx").is_some());
    }

    #[test]
    fn numbers_and_names() {
        assert_eq!(number::<i64>("-1`"), Some(-1));
        assert_eq!(number::<u32>("`7"), Some(7));
        assert_eq!(number::<u32>("x"), None);
        assert_eq!(names("a, b, c and more, d"), ["a", "b", "c"]);
        assert!(names("").is_empty());
    }
}
