//! Reading on from a place: words, values, and the name before a sign.

use std::ops::Range;

use crate::mask::forms::run;
use crate::mask::values::is_harmless;

/// What names of settings, variables, flags and keys are made of.
pub(super) const fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')
}

pub(super) const fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=' | ':' | '|')
}

pub(super) const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

pub(super) const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

pub(super) fn push(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    if !is_harmless(&text[range.clone()]) {
        found.push(range);
    }
}

/// How long a value is at most.
pub(super) const MOST_IN_QUOTES: usize = 1 << 16;

/// The value in quotes that starts here, where one does. Quotes inside a text in quotes have a
/// backslash, and more of them deeper inside.
pub(super) fn quoted(text: &str, start: usize) -> Option<Range<usize>> {
    let open = run(text, start, |c| c == '\\');
    let slashes = open - start;
    let quote = text[open..].chars().next().filter(|c| is_quote(*c))?;
    let begin = open + 1;
    let limit = text.floor_char_boundary(begin.saturating_add(MOST_IN_QUOTES));
    let mut before = 0;
    for (at, c) in text[begin..limit].char_indices() {
        match c {
            '\\' => before += 1,
            '\n' if slashes > 0 || quote == '`' => return Some(begin..begin + at - before),
            c if c == quote && before <= slashes && (slashes > 0 || before == 0) => {
                return Some(begin..begin + at - before);
            }
            _ => before = 0,
        }
    }
    let line = text[begin..limit].find('\n').unwrap_or(limit - begin);
    Some(begin..begin + line)
}

/// The value that starts here: in quotes, or a word of a command line, of a connection string or of
/// a query.
pub(super) fn value_at(text: &str, start: usize) -> Range<usize> {
    value_within(text, start, MOST_IN_QUOTES)
}

/// The same, of at most so many bytes.
pub(super) fn value_within(text: &str, start: usize, most: usize) -> Range<usize> {
    let text = &text[..text.floor_char_boundary(start.saturating_add(most))];
    if let Some(range) = quoted(text, start) {
        return range;
    }
    let end = run(text, start, |c| {
        !c.is_whitespace() && !is_quote(c) && !matches!(c, ';' | '\\' | '<')
    });
    let end = match text[start..end].find(ends_a_word) {
        Some(_) => start + word_end(&text[start..end]),
        None => end,
    };
    start..end
}

const fn ends_a_word(c: char) -> bool {
    matches!(c, '&' | ',' | ')' | ']' | '}' | '.' | ':')
}

/// Where a word ends in which there are signs that may belong to it: behind a comma or an ampersand
/// comes the next setting, brackets are closed that were opened before.
fn word_end(word: &str) -> usize {
    let mut end = word.len();
    for (at, sign) in word.match_indices(['&', ',', '}']) {
        let rest = &word[at + 1..];
        let name = rest.trim_start_matches(is_name);
        if sign != "}" && rest.len() > name.len() && name.starts_with(['=', ':'])
            || sign == "&" && rest.is_empty()
            || rest.starts_with(['{', '}', ']'])
        {
            end = at;
            break;
        }
    }
    word[..end]
        .trim_end_matches([',', ')', ']', '}', '.', ':'])
        .len()
}

pub(super) const LONGEST_NAME: usize = 100;

/// A name, and where it stands.
pub(super) struct Name<'t> {
    pub text: &'t str,
    pub start: usize,
    pub quoted: bool,
}

/// The name that ends here, before a `=` or a `:`.
pub(super) fn name_before(text: &str, end: usize) -> Option<Name<'_>> {
    let back = |end: usize, part: fn(char) -> bool| {
        let most = text[..end].char_indices().rev().take(LONGEST_NAME);
        most.take_while(|(_, c)| part(*c))
            .last()
            .map_or(end, |(at, _)| at)
    };
    let mut stop = end;
    stop = back(stop, is_blank);
    let mut in_quotes = false;
    if let Some(rest) = text[..stop].strip_suffix(is_quote) {
        stop = rest.trim_end_matches('\\').len();
        in_quotes = true;
    } else if let Some(rest) = text[..stop].strip_suffix(']') {
        // `data[password]`, `env[0]`
        let inner = rest.trim_end_matches(is_quote).trim_end_matches('\\').len();
        let start = back(inner, is_name);
        let open = text[..start]
            .trim_end_matches(is_quote)
            .trim_end_matches('\\');
        let open = open.strip_suffix('[')?.len();
        if text[start..inner].chars().all(|c| c.is_ascii_digit()) {
            stop = open;
        } else {
            stop = inner;
        }
    }
    let start = back(stop, is_name);
    let name = text[start..stop].trim_start_matches('-');
    (!name.is_empty()).then_some(Name {
        text: name,
        start,
        quoted: in_quotes,
    })
}

/// What stands before a setting on its line is no longer.
const MOST_BEFORE: usize = 200;

/// What of a line is before a place is nothing, or the mark of a list.
pub(super) fn begins_line(text: &str, start: usize) -> bool {
    let from = text.ceil_char_boundary(start.saturating_sub(MOST_BEFORE));
    let before = &text[from..start];
    let line = before.rfind('\n').map(|at| &before[at + 1..]);
    line.or((from == 0).then_some(before)).is_some_and(|line| {
        matches!(
            line.trim().trim_start_matches(['-', '?', '"', '\'']).trim(),
            "" | "export" | "set" | "ENV" | "ARG"
        )
    })
}
