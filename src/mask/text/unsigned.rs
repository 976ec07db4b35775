//! Values that have a name, but no sign before them: flags, sentences, elements, blocks.

use std::ops::Range;

use super::scan::{
    LONGEST_NAME, MOST_IN_QUOTES, begins_line, is_blank, is_name, is_quote, push, quoted, value_at,
};
use super::settings::{is_pair_name, judge};
use crate::mask::forms::run;
use crate::mask::names::{Says, names_a_credential, says};
use crate::mask::values::{is_no_word, is_object_name, looks_random};

/// Words that follow the name of a flag in a sentence about it.
const SENTENCES: &[&str] = &[
    "is", "was", "must", "cannot", "not", "or", "and", "flag", "flags", "to", "for", "in", "has",
    "the", "a", "should", "with", "requires", "required", "value", "option", "if", "when", "but",
    "of", "from", "as", "are", "can", "be", "instead", "may", "will", "needs", "on", "that",
    "which", "this",
];

/// `--password VALUE`, `-password VALUE`, also as two arguments of a list.
pub(super) fn flags(text: &str, found: &mut Vec<Range<usize>>) {
    let mut done = 0;
    for (at, _) in text.match_indices('-') {
        let before = text[..at].chars().next_back();
        let starts =
            before.is_none_or(|c| c.is_whitespace() || is_quote(c) || matches!(c, '[' | ',' | '('));
        if at < done || !starts {
            continue;
        }
        let dashes = run(text, at, |c| c == '-');
        let limit = text.floor_char_boundary(dashes.saturating_add(LONGEST_NAME));
        let end = run(&text[..limit], dashes, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
        });
        if dashes - at > 2 || end - dashes < 2 || !names_a_credential(&text[dashes..end]) {
            continue;
        }
        let between = |c: char| is_blank(c) || is_quote(c) || matches!(c, ',' | '\\' | '\n');
        let start = run(text, end, between);
        let gap = &text[end..start];
        if gap.is_empty() || gap.len() > 24 || text[start..].starts_with('-') {
            continue;
        }
        let open = gap.ends_with(is_quote)
            && gap
                .trim_end_matches(is_quote)
                .ends_with([' ', ',', '\n', '\\']);
        let slashes = gap.len() - gap.trim_end_matches(is_quote).trim_end_matches('\\').len();
        let range = value_at(text, if open { start - slashes } else { start });
        let value = &text[range.clone()];
        if SENTENCES.contains(&value)
            || says(value.trim_start_matches('-')) != Says::Nothing && open
        {
            continue;
        }
        done = range.end;
        push(text, range, found);
    }
}

/// `password VALUE`, where there is no sign between them: netrc, redis.conf, SQL, sentences.
pub(super) fn spoken(text: &str, found: &mut Vec<Range<usize>>) {
    const WORDS: &[(&str, bool)] = &[
        ("password ", false),
        ("passwd ", false),
        ("passphrase ", false),
        ("requirepass ", true),
        ("masterauth ", true),
        ("identified by ", true),
        ("token ", false),
        ("api key ", false),
        ("apikey ", false),
        ("access key ", false),
        ("secret key ", false),
        ("private key ", false),
        ("client secret ", false),
    ];
    let lower = text.to_ascii_lowercase();
    for (word, is_setting) in WORDS {
        for (at, _) in lower.match_indices(word) {
            if text[..at].ends_with(|c: char| c == '-' || c.is_ascii_alphanumeric()) {
                continue;
            }
            let mut start = run(text, at + word.len(), is_blank);
            for filler in ["is ", "was ", "of "] {
                if lower[start..].starts_with(filler) && !is_setting {
                    start += filler.len();
                }
            }
            let in_quotes = quoted(text, start).is_some();
            let range = value_at(text, start);
            let value = &text[range.clone()];
            let is = if *is_setting {
                !value.is_empty() && (in_quotes || begins_line(text, at) || is_no_word(value))
            } else if word.starts_with("pass") {
                in_quotes && !value.contains(' ')
                    || is_no_word(value)
                        && !value.contains(['(', '/'])
                        && (!is_object_name(value) || !value.contains('-'))
            } else {
                looks_random(value)
            };
            if is && value.len() >= 4 {
                push(text, range, found);
            }
        }
    }
}

/// `<password>VALUE</password>`, and `<name>password</name><value>VALUE</value>`.
pub(super) fn elements(text: &str, found: &mut Vec<Range<usize>>) {
    let mut said = Says::Nothing;
    for (at, _) in text.match_indices('<') {
        let end = run(text, at + 1, is_name);
        let name = &text[at + 1..end];
        if name.is_empty() || name.starts_with('/') {
            continue;
        }
        // Attributes are read as settings are; that of a name counts here.
        let limit = text.floor_char_boundary(end.saturating_add(200));
        let Some(close) = text[end..limit].find('>') else {
            continue;
        };
        let attributes = &text[end..end + close];
        let of_attribute = attributes
            .split(['"', '\''])
            .nth(1)
            .map_or(Says::Nothing, says);
        let start = end + close + 1;
        let stop = text[start..].find('<').map_or(text.len(), |at| start + at);
        if stop - start > MOST_IN_QUOTES {
            continue;
        }
        let content = start..stop;
        let own = if name.eq_ignore_ascii_case("value") {
            said
        } else {
            says(name)
        };
        let own = if own == Says::Nothing {
            of_attribute
        } else {
            own
        };
        if own != Says::Nothing {
            found.extend(judge(text, own, content, true));
            said = Says::Nothing;
        } else if is_pair_name(name) {
            said = says(text[content].trim());
        }
    }
}

/// The lines of a block that belongs to the name of a credential: `password: |`.
pub(super) fn blocks(text: &str, found: &mut Vec<Range<usize>>) {
    let mut offset = 0;
    // The indent of a name whose block is being read.
    let mut block: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let body = line.trim_end();
        let indent = body.len() - body.trim_start().len();
        if let Some(outer) = block {
            if body.is_empty() {
                continue;
            }
            if indent > outer {
                found.push(start + indent..start + body.len());
                continue;
            }
            block = None;
        }
        let Some((name, value)) = body.split_once(':') else {
            continue;
        };
        let name = name
            .trim()
            .trim_start_matches("- ")
            .trim_matches(['"', '\'', ' ']);
        let value = value.trim();
        let begins = matches!(value, "|" | ">" | "|-" | ">-" | "|+" | ">+");
        if begins && !name.contains(char::is_whitespace) && names_a_credential(name) {
            block = Some(indent);
        }
    }
}

/// The data of Secrets in a text that is no whole manifest: `… "data":{…}` behind other words, or
/// how Go prints it: `data:map[…]`.
pub(super) fn data_of_secrets(text: &str, found: &mut Vec<Range<usize>>) {
    let mut done = 0;
    for (at, word) in text.match_indices("ata") {
        let name = text[..at].strip_suffix(['d', 'D']);
        let is_own = name.is_some_and(|name| {
            !name.ends_with(|c: char| c.is_ascii_alphanumeric())
                || name.ends_with("string")
                || name.ends_with("String")
        });
        if at < done || !is_own {
            continue;
        }
        let sign = run(text, at + word.len(), |c| {
            is_blank(c) || is_quote(c) || c == '\\'
        });
        let Some(rest) = text[sign..].strip_prefix(':') else {
            continue;
        };
        let open = rest.trim_start_matches([' ', '\t']);
        let (open, close, skip) = if open.starts_with('{') {
            ('{', '}', 1)
        } else if open.starts_with("map[") {
            ('[', ']', 4)
        } else {
            continue;
        };
        let start = run(text, sign + 1, is_blank) + skip;
        let mut depth = 1_usize;
        let mut end = text.len();
        for (at, c) in text[start..].char_indices() {
            if c == open {
                depth += 1;
            } else if c == close {
                depth -= 1;
                if depth == 0 {
                    end = start + at;
                    break;
                }
            }
        }
        done = end;
        push(text, start..end, found);
    }
}
