//! Texts that are too long: the one place where they are shortened.

use std::borrow::Cow;

/// What replaces what was left out.
const GAP: &str = " … ";

/// How far from where it would be cut a text is cut between two words.
const WORD: usize = 28;

/// At most so many characters of a text. A controller's words end with what was wrong: of a longer
/// text the middle goes, and twice as much of its end is kept as of its beginning.
pub fn brief(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return Cow::Borrowed(text);
    }
    let room = most.saturating_sub(GAP.chars().count());
    let head = room / 3;
    let head: String = text.chars().take(head).collect();
    let tail: String = text
        .chars()
        .skip(count.saturating_sub(room.saturating_sub(room / 3)))
        .collect();
    Cow::Owned(format!("{}{GAP}{}", before_word(&head), after_word(&tail)))
}

/// What somebody said, behind a colon and without its full stop; empty where that is nothing.
pub fn after_colon(said: &str) -> String {
    match said.trim_end_matches(['.', ' ']) {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

/// Without the beginning of a word at its end, where that is short.
fn before_word(head: &str) -> &str {
    match head.rsplit_once(' ') {
        Some((whole, part)) if part.chars().count() < WORD => whole.trim_end(),
        _ => head.trim_end(),
    }
}

/// Without the end of a word at its beginning, where that is short.
fn after_word(tail: &str) -> &str {
    match tail.split_once(' ') {
        Some((part, whole)) if part.chars().count() < WORD && !whole.is_empty() => {
            whole.trim_start()
        }
        _ => tail.trim_start(),
    }
}

/// The words of a parser's error without the place that it ends with: the place is said first.
pub fn without_place(error: &str) -> &str {
    error.rfind(" at line ").map_or(error, |end| &error[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{WORD, brief};

    #[test]
    fn the_middle_goes() {
        assert_eq!(brief("short enough", 12), "short enough");
        let long = "failed to apply the manifest: failed to patch: images must have a digest";
        assert_eq!(brief(long, 40), "failed to … must have a digest");
        assert_eq!(brief("日本語日本語日本語日本語", 9), "日本 … 語日本語");
        assert_eq!(brief("abcdef", 3), " … ");
    }

    proptest! {
        #[test]
        fn the_end_stays(text in "[a-z日 :]{0,300}", most in 60usize..200) {
            let shown = brief(&text, most);
            prop_assert!(shown.chars().count() <= most);
            let text = text.trim_end();
            let count = text.chars().count();
            let sure = ((most - 3) * 2 / 3).saturating_sub(WORD + 4);
            let end: String = text.chars().skip(count.saturating_sub(sure)).collect();
            prop_assert!(shown.trim_end().ends_with(end.trim()), "{shown:?} {end:?}");
        }
    }
}
