//! The values of headers.

use std::ops::Range;

use super::scan::{is_quote, quoted};
use crate::mask::forms::run;
use crate::mask::names::Says;
use crate::mask::values::{is_harmless, is_no_word};

/// Schemes of the header `Authorization`.
const SCHEMES: &[&str] = &[
    "basic",
    "bearer",
    "token",
    "apikey",
    "api-key",
    "key",
    "digest",
    "negotiate",
    "ntlm",
    "splunk",
    "sso-key",
    "bot",
    "hmac",
    "signature",
    "geniekey",
    "aws4-hmac-sha256",
    "sharedkey",
    "oauth",
];

/// How long the value of a header is at most.
pub(super) const MOST_OF_A_HEADER: usize = 1 << 13;

/// What is secret in the value of `Authorization` or `Cookie`.
pub(in crate::mask) fn header(text: &str, start: usize, said: Says) -> Option<Range<usize>> {
    let within = quoted(text, start);
    let start = within.as_ref().map_or(start, |range| range.start);
    let near = &text[start..text.floor_char_boundary(start.saturating_add(200))];
    if said == Says::Cookies && !near.contains('=') {
        return None;
    }
    let limit = within.map_or_else(
        || {
            let text = &text[..text.floor_char_boundary(start.saturating_add(MOST_OF_A_HEADER))];
            run(text, start, |c| {
                c != '\n' && c != '\r' && !is_quote(c) && c != '\\'
            })
        },
        |range| range.end,
    );
    let value = &text[start..limit];
    if said == Says::Cookies {
        let secret = !is_harmless(value);
        return secret.then_some(start..limit);
    }
    let (scheme, rest) = value.split_once(' ').unwrap_or(("", value));
    let (from, token) = if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) {
        (limit - rest.len(), rest.trim_start())
    } else {
        (start, value)
    };
    let from = from + (limit - from - token.len());
    if scheme.len() > 2 && (token.contains("ignature=") || token.contains("response=")) {
        return Some(from..limit);
    }
    let word = token.split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches([',', ';', ')', '}', ']']);
    let is = word.len() >= 6 && is_no_word(word) && !is_harmless(word);
    is.then_some(from..from + word.len())
}
