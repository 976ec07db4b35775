//! Names that may be meant.

/// The name among `names` that is closest to `wanted`, when it is close enough to be meant.
/// An equal name is not searched.
pub fn closest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    const CLOSE: f64 = 0.75;
    names
        .into_iter()
        .filter(|name| *name != wanted)
        .map(|name| (strsim::normalized_damerau_levenshtein(wanted, name), name))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}
