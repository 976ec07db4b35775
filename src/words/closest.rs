//! Names that may be meant.

/// How alike two names are that mean the same.
const CLOSE: f64 = 0.75;
/// Letters that are the beginning of a name, and not any name's.
const BEGUN: usize = 3;

/// The name among `names` that is closest to `wanted`, when it is close enough to be meant: a slip,
/// or its beginning. An equal name is not searched.
pub fn closest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let likeness = |name: &str| {
        let alike = strsim::normalized_damerau_levenshtein(wanted, name);
        let is_begun = wanted.len() >= BEGUN && name.starts_with(wanted);
        if is_begun { alike.max(CLOSE) } else { alike }
    };
    names
        .into_iter()
        .filter(|name| *name != wanted)
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}
