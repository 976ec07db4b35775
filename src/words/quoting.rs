//! One word for a shell, whatever is in it.

use std::fmt::Write as _;

/// A word that POSIX shells read as it is, and that is safe to show: it holds no line break, no
/// control character, nothing that hides or reorders text, and no space but the plain one.
///
/// What no quotes can show is written as bytes in `$'…'`, which bash, zsh, ksh and busybox read.
pub fn quote(word: &str) -> String {
    let is_bare = !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('=');
    if is_bare {
        word.to_owned()
    } else if word.chars().any(needs_code) {
        coded(word)
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// What no shell reads as anything but itself. A word that begins with `=` is a path to zsh.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./:@=,+".contains(c)
}

fn needs_code(c: char) -> bool {
    is_harmful(c) || c.is_whitespace() && c != ' '
}

fn coded(word: &str) -> String {
    let mut out = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if needs_code(c) => {
                for byte in c.to_string().bytes() {
                    // Three digits: what follows is never read as part of the number.
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Adds a character so that it can be seen.
pub fn push_visible(out: &mut String, c: char) {
    if is_harmful(c) {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}

/// Control characters, those that reorder, hide or join text, and those that are none.
pub const fn is_harmful(c: char) -> bool {
    matches!(
        c,
        // C0, DEL, C1: escape sequences begin here.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Without a width of their own: they make two texts look like one.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        // Line and paragraph separators, embeddings and overrides of the direction.
        | '\u{2028}'..='\u{202e}'
        // Musical format characters, and tags.
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        // No characters at all: XML cannot hold the first two.
        | '\u{fffe}' | '\u{ffff}' | '\u{fdd0}'..='\u{fdef}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{is_harmful, is_plain, quote};

    #[test]
    fn words_stay_words() {
        for (word, wanted) in [
            ("a-b_c/d.yaml", "a-b_c/d.yaml"),
            ("--for=stage=canary,approval", "--for=stage=canary,approval"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
            ("rings; rm -rf ~", "'rings; rm -rf ~'"),
            ("~", "'~'"),
            ("=ls", "'=ls'"),
            ("a b", "'a b'"),
            ("a\\b", r"'a\b'"),
            ("a\nrm", r"$'a\012rm'"),
            ("a\n1'\\", r"$'a\0121\'\\'"),
            ("\u{202e}x", r"$'\342\200\256x'"),
            ("a\u{a0}b", r"$'a\302\240b'"),
            ("日本", "'日本'"),
        ] {
            assert_eq!(quote(word), wanted, "{word:?}");
        }
    }

    // That bash reads quoted words back is proven in `tests/attack/words.rs`.
    proptest! {
        #[test]
        fn every_word_is_one_word_and_safe_to_show(word in "[^\u{0}]*|[a-z'\\\\$`!\n\r\t 0-7\u{202e}]*") {
            let quoted = quote(&word);
            prop_assert!(!quoted.chars().any(|c| is_harmful(c) || c.is_whitespace() && c != ' '));
            let is_coded = quoted.starts_with('$');
            let escaped = if is_coded {
                quoted.replace(r"\\", "").replace(r"\'", "")
            } else {
                quoted.replace(r"'\''", "")
            };
            // Without those that are escaped, the quotes are around everything.
            let quotes: Vec<_> = escaped.match_indices('\'').map(|(at, _)| at).collect();
            let is_in_quotes = quotes == [usize::from(is_coded), escaped.len() - 1];
            prop_assert!(is_in_quotes || quoted == word && word.chars().all(is_plain), "{quoted}");
        }
    }
}
