//! Numbers and lists in a sentence.

use std::collections::{BTreeMap, BTreeSet};

/// Names in a sentence: `a`, `a and b`, `a, b and c`, `a, b, c and 7 more`.
pub fn enumerate<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<S> = names.into_iter().collect();
    let name = |at: usize| names.get(at).map_or("", AsRef::as_ref);
    match names.len() {
        0 => "none".to_owned(),
        1 => name(0).to_owned(),
        count if count <= SHOWN => {
            let first: Vec<_> = names.iter().take(count - 1).map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), name(count - 1))
        }
        _ => list(&names, 3),
    }
}

/// `a, b, c`, and how many more there are when not all are wanted.
pub fn list(names: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<_> = names.iter().take(most).map(AsRef::as_ref).collect();
    let mut text = shown.join(", ");
    if names.len() > most {
        text = format!("{text} and {} more", names.len() - most);
    }
    text
}

/// Each once, in order.
pub fn distinct<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let once: BTreeSet<T> = items.into_iter().collect();
    once.into_iter().collect()
}

/// `1 cluster`, `2 clusters`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// The words for one thing, or those for several.
pub const fn by_number<W: Copy>(number: usize, one: W, several: W) -> W {
    if number == 1 { one } else { several }
}

/// The words, where it holds; else none.
pub fn said_if<W: Default>(holds: bool, words: W) -> W {
    if holds { words } else { W::default() }
}

/// The indexes that there are, in the middle of a sentence: `only index 0 exists`,
/// `existing indexes: 2, 3, 4`, `the newest of 12 indexes: 8, 9, 10, 11, 12`.
pub fn existing_indexes(indexes: impl IntoIterator<Item = String>) -> String {
    const SHOWN: usize = 5;
    let indexes: Vec<String> = indexes.into_iter().collect();
    match indexes.as_slice() {
        [] => "no index exists".to_owned(),
        [one] => format!("only index {one} exists"),
        few if few.len() <= SHOWN => format!("existing indexes: {}", few.join(", ")),
        many => {
            let skipped = many.len().saturating_sub(SHOWN);
            let newest = many.get(skipped..).unwrap_or_default();
            format!(
                "the newest of {} indexes: {}",
                many.len(),
                newest.join(", ")
            )
        }
    }
}

/// What stands together under the same key, in the order in which the keys came.
pub fn together<K: PartialEq, T>(found: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, one) in found {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, all)) => all.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups
}

/// The same in the order of the keys.
pub fn by_key<K: Ord, T>(found: impl IntoIterator<Item = (K, T)>) -> BTreeMap<K, Vec<T>> {
    let mut groups: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for (key, one) in found {
        groups.entry(key).or_default().push(one);
    }
    groups
}

/// The text with a capital letter first.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::existing_indexes;

    #[test]
    fn a_list_of_one_reads_as_one() {
        let says = |count: u64| existing_indexes((0..count).map(|index| index.to_string()));
        assert_eq!(says(0), "no index exists");
        assert_eq!(says(1), "only index 0 exists");
        assert_eq!(says(2), "existing indexes: 0, 1");
        assert_eq!(says(5), "existing indexes: 0, 1, 2, 3, 4");
        assert_eq!(says(7), "the newest of 7 indexes: 2, 3, 4, 5, 6");
    }
}
