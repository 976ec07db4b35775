//! Words and phrases at which a native speaker stops.

const PHRASES: &str = include_str!("phrases.txt");

/// The lines of a list that are no comments.
pub fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = list.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The banned phrases in a text: whole words, in any case, also over the end of a line.
pub fn banned(text: &str) -> Vec<&'static str> {
    let words: Vec<_> = text
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let text = format!(" {} ", words.join(" "));
    lines(PHRASES)
        .filter(|phrase| match phrase.strip_suffix('*') {
            Some(start) => text.contains(&format!(" {start}")),
            None => text.contains(&format!(" {phrase} ")),
        })
        .collect()
}

#[test]
fn phrases_are_found_as_whole_words() {
    assert_eq!(
        banned("It is Mended.\nGo\non: recommend it."),
        ["go on", "mend*"]
    );
    assert!(banned("Recommend it, and ongoing work.").is_empty());
}
