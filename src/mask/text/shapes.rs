//! Credentials that are known by their form: keys, tokens, and passwords in URLs.

use std::ops::Range;

use super::headers::MOST_OF_A_HEADER;
use super::scan::{is_quote, is_token};
use crate::mask::forms::run;
use crate::mask::values::{is_encoded_pair, is_harmless, is_object_name};

/// PEM blocks, from the first dash to the last; to the end of the text where it is cut off. Lines
/// may be joined by `\n`.
pub(super) fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(begin) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let label = run(text, begin + 11, |c| c != '-' && c != '\n');
        from = label;
        if !text[begin..label]
            .trim_end_matches(" BLOCK")
            .ends_with("PRIVATE KEY")
        {
            continue;
        }
        let end = text[label..].find("-----END ").map(|at| label + at + 9);
        from = end.map_or(text.len(), |end| {
            let end = run(text, end, |c| c != '-' && c != '\n');
            run(text, end, |c| c == '-')
        });
        found.push(begin..from);
    }
}

/// A JSON web token: three parts, of which the first two are JSON.
pub(super) fn web_token(text: &str, start: usize) -> Result<Range<usize>, usize> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let head = run(text, start, part);
    let Some(rest) = text[head..].strip_prefix('.') else {
        return Err(head);
    };
    let body = text.len() - rest.len();
    let end = run(text, body, part);
    let inside = text[..start].ends_with(|c: char| c.is_ascii_alphanumeric());
    if inside || head - start < 10 || end - body < 10 {
        return Err(head);
    }
    let end = match text[end..].strip_prefix('.') {
        Some(_) => run(text, end + 1, part),
        None => end,
    };
    Ok(start..end)
}

/// The longest that a user and a password in a URL are together.
const MOST_OF_A_URL: usize = 512;

/// `scheme://user:PASSWORD@host`, `https://TOKEN@host` and `user:PASSWORD@tcp(host)`; `at` is where
/// the `://` or the `@` stands.
pub(super) fn password_in_url(text: &str, at: usize) -> Option<Range<usize>> {
    if text[at..].starts_with('@') {
        let part = |c: char| !c.is_whitespace() && !is_quote(c) && !matches!(c, ',' | '\\');
        let before = text[..at].char_indices().rev().take(MOST_OF_A_URL);
        let start = before.take_while(|(_, c)| part(*c)).last()?.0;
        let colon = text[start..at].find(':')?;
        let range = start + colon + 1..at;
        return (!is_harmless(&text[range.clone()])).then_some(range);
    }
    let start = at + 3;
    let word =
        |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\' | ',');
    let most = text[start..].char_indices().take(MOST_OF_A_URL);
    let end = start
        + most
            .take_while(|(_, c)| word(*c))
            .last()
            .map_or(0, |(at, c)| at + c.len_utf8());
    let host = run(text, start, |c| word(c) && !matches!(c, '/' | '?' | '#')).min(end);
    let sign = text[start..host].rfind('@').or_else(|| {
        // A password with a slash in it is taken for the end of a host; a port is none.
        let (_, password) = text[start..host].split_once(':')?;
        let is_port = password.chars().all(|c| c.is_ascii_digit());
        let sign = text[start..end].rfind('@')?;
        let behind = text[start + sign + 1..end].chars().next()?;
        (!is_port && behind.is_ascii_alphanumeric()).then_some(sign)
    })?;
    let user = &text[start..start + sign];
    let scheme = text[..at]
        .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+')
        .next();
    let range = match user.find(':') {
        Some(colon) => start + colon + 1..start + sign,
        // A user alone is no credential, but tokens stand there for a registry or repository.
        None if user == "git" || !matches!(scheme, Some("http" | "https")) => return None,
        None => start..start + sign,
    };
    (!is_harmless(&text[range.clone()])).then_some(range)
}

/// `Bearer TOKEN` and `Basic TOKEN`, from behind the word. A word is no token: one has a digit, and
/// is long, or is `USER:PASSWORD` in base64.
pub(super) fn authorization(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = &text[end..];
    let start = end + rest.len() - rest.trim_start_matches([' ', ':', '"', '\'']).len();
    if start > end + 4 {
        return None;
    }
    let limit = text.floor_char_boundary(start.saturating_add(MOST_OF_A_HEADER));
    let near = run(
        &text[..text.floor_char_boundary(start + 256).min(limit)],
        start,
        is_token,
    );
    if !text[start..near].contains(|c: char| c.is_ascii_digit())
        && !is_encoded_pair(&text[start..near])
    {
        return None;
    }
    let end = run(&text[..limit], start, is_token);
    let token = &text[start..end];
    let long = token.len() >= 16 && token.contains(|c: char| c.is_ascii_digit());
    (long && !is_object_name(token) || token.len() >= 8 && is_encoded_pair(token))
        .then_some(start..end)
}
