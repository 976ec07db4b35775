//! Names that may be meant.

/// How alike two names are that mean the same.
const CLOSE: f64 = 0.75;
const CLOSER: f64 = 0.85;
/// Letters that are the beginning of a name, and not any name's.
const BEGUN: usize = 3;

/// The name among `names` that is closest to `wanted`, when it is close enough to be meant: a slip,
/// or its beginning. An equal name is not searched.
pub fn closest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let likeness = |name: &str| {
        let alike = strsim::normalized_damerau_levenshtein(wanted, name);
        let rest = name.strip_prefix(wanted).filter(|_| wanted.len() >= BEGUN);
        match rest {
            // Made from it, or for it.
            Some(rest) if rest.starts_with('-') => alike.max(CLOSER),
            Some(_) => alike.max(CLOSE),
            None if is_swapped(wanted, name) => alike.max(CLOSE),
            None => alike,
        }
    };
    names
        .into_iter()
        .filter(|name| *name != wanted)
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}

/// The names that there are, behind the one that may be meant: `did you mean prod? existing stages: canary, prod`.
pub fn existing_names(what: &str, wanted: &str, names: &[&str]) -> String {
    let near = closest(wanted, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    format!("{near}existing {what}: {}", names.join(", "))
}

/// Whether two neighbouring letters have changed places, which counts more in a short name than it should.
fn is_swapped(wanted: &str, name: &str) -> bool {
    wanted.len() == name.len()
        && wanted.len() >= BEGUN
        && strsim::damerau_levenshtein(wanted, name) == 1
        && strsim::levenshtein(wanted, name) == 2
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn what_was_made_from_a_name_is_closer_than_a_slip() {
        for (word, names, found) in [
            ("c2-1", ["c1-1", "c2-1-bchstq"], Some("c2-1-bchstq")),
            ("c2-1", ["c1-1", "c2-1bcd"], Some("c1-1")),
            ("web-rollot", ["web-rollout", "web"], Some("web-rollout")),
            ("c2-1", ["c2-1", "else"], None),
            ("wbe", ["wob", "web"], Some("web")),
            ("wxe", ["wob", "web"], None),
        ] {
            assert_eq!(closest(word, names), found, "{word} {names:?}");
        }
    }
}
