//! Values that have a name and a sign before them.

use std::ops::Range;

use super::headers::{MOST_OF_A_HEADER, header};
use super::scan::{
    LONGEST_NAME, MOST_IN_QUOTES, Name, begins_line, is_blank, is_name, is_quote, name_before,
    push, quoted, value_at, value_within,
};
use crate::mask::forms::run;
use crate::mask::names::{Says, says};
use crate::mask::values::{
    is_digest, is_encoded_pair, is_harmless, is_no_word, is_object_name, looks_random,
};

/// `password=VALUE`, `password: VALUE` and `"password": "VALUE"`: in command lines, settings, JSON,
/// YAML, headers, connection strings and queries. Also `name: PASSWORD` before `value: VALUE`.
pub(super) fn named(text: &str, prose: bool, found: &mut Vec<Range<usize>>) {
    let mut done = 0;
    for (sign, kind) in text.match_indices(['=', ':']) {
        if sign < done {
            continue;
        }
        let is_colon = kind == ":";
        let Some(name) = name_before(text, sign) else {
            continue;
        };
        // A default: `${TOKEN:-none}`.
        if is_colon && text[..name.start].ends_with("${") {
            continue;
        }
        // A part of an ARN or a URN.
        if is_colon
            && !name.quoted
            && text[..name.start].ends_with(':')
            && !text[sign + 1..].starts_with([' ', '"', '\\'])
        {
            continue;
        }
        let in_query = text[..name.start].ends_with(['?', '&']);
        let said = match says(name.text) {
            // `api key: …`
            Says::Nothing if is_colon && name.text.eq_ignore_ascii_case("key") => {
                let before = text[..name.start].trim_end_matches(' ');
                let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
                says(&format!("{}-key", word.unwrap_or_default()))
            }
            said => said,
        };
        let mut start = sign + 1;
        // `=>`, `==`, `:=`
        start += usize::from(text[start..].starts_with(['>', '=']));
        let blanks = run(text, start, is_blank);
        let spaced = blanks > start;
        start = blanks;
        if start >= text.len() {
            continue;
        }
        if said == Says::Nothing {
            if in_query && !is_colon && is_signature(name.text) {
                let near =
                    &text[..text.floor_char_boundary(start.saturating_add(MOST_OF_A_HEADER))];
                let part = |c: char| {
                    !c.is_whitespace() && !is_quote(c) && !matches!(c, '&' | '#' | '\\' | ':')
                };
                let range = start..run(near, start, part);
                let value = &text[range.clone()];
                let vague = matches!(name.text, "key" | "code" | "hash");
                if name.text == "sig" || value.len() >= 10 && !vague || looks_random(value) {
                    done = range.end;
                    push(text, range, found);
                }
            } else if is_pair_name(name.text) {
                let range = value_within(text, start, LONGEST_NAME);
                if !range.is_empty()
                    && let Some(value) = value_behind(text, range.end)
                    && let Some(secret) = judge(text, says(&text[range]), value, true)
                {
                    done = secret.end;
                    found.push(secret);
                }
            }
            continue;
        }
        let line = !prose && !in_query && begins_line(text, name.start) && !name.quoted;
        if is_colon && !spaced && !name.quoted && is_tag(&name, &text[start..]) {
            continue;
        }
        let Some(secret) = value_of(text, start, &name, said, is_colon, spaced, line, prose) else {
            continue;
        };
        done = secret.end;
        found.push(secret);
    }
}

/// Names of what is secret in a query only.
fn is_signature(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(
        name.as_str(),
        "sig"
            | "signature"
            | "x-amz-signature"
            | "x-goog-signature"
            | "x-amz-credential"
            | "hash"
            | "key"
            | "code"
            | "access_key"
            | "client_secret"
            | "assertion"
    )
}

/// Whether a name and what is behind its colon are an image and its tag, or a host and its port.
fn is_tag(name: &Name<'_>, rest: &str) -> bool {
    let near = &rest[..rest.floor_char_boundary(128)];
    let tag = &near[..run(near, 0, |c| {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
    })];
    let number = tag.trim_start_matches('v');
    name.text.contains('/')
        || number.starts_with(|c: char| c.is_ascii_digit())
            && (number.contains('.') && number.split('.').take(2).all(|part| part.len() <= 4)
                || number.len() <= 5 && number.chars().all(|c| c.is_ascii_digit()))
}

/// Keys that have a name as their value, beside one that has the value.
pub(super) fn is_pair_name(name: &str) -> bool {
    let last = name.rsplit(['.', '/']).next().unwrap_or_default();
    [
        "name",
        "key",
        "header",
        "option",
        "param",
        "parameter",
        "field",
        "variable",
    ]
    .iter()
    .any(|word| last.eq_ignore_ascii_case(word))
}

/// The value of a `value` that follows here.
fn value_behind(text: &str, end: usize) -> Option<Range<usize>> {
    let filler = |c: char| c.is_whitespace() || is_quote(c) || matches!(c, ',' | ';' | '\\');
    let limit = text.floor_char_boundary(end.saturating_add(200));
    let near = &text[end..limit];
    // Where lines are joined by `\n`, it is a letter.
    let mut at = end + near.len() - near.trim_start_matches(filler).len();
    if text[..at].ends_with('\\') && text[at..].starts_with('n') {
        at += 1 + text[at + 1..limit].len() - text[at + 1..limit].trim_start_matches(filler).len();
    }
    let word = text.get(at..at + 5)?;
    if !word.eq_ignore_ascii_case("value") {
        return None;
    }
    let sign = run(text, at + 5, |c| is_blank(c) || is_quote(c) || c == '\\');
    if !text[sign..].starts_with([':', '=']) {
        return None;
    }
    let start = run(text, sign + 1, is_blank);
    Some(value_at(text, start))
}

/// How long one is whose name leaves a doubt.
const MOST_IN_DOUBT: usize = 1 << 8;

/// The credential behind a name and its sign, if it is one.
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // what is known of one place
fn value_of(
    text: &str,
    start: usize,
    name: &Name<'_>,
    said: Says,
    is_colon: bool,
    spaced: bool,
    line: bool,
    prose: bool,
) -> Option<Range<usize>> {
    let rest = &text[start..];
    if matches!(said, Says::Scheme | Says::Cookies) {
        return header(text, start, said);
    }
    // How Kubernetes quotes what it refuses.
    for words in [
        "Invalid value: ",
        "Unsupported value: ",
        "Duplicate value: ",
    ] {
        if rest.starts_with(words) {
            let start = start + words.len();
            let is_quoted = quoted(text, start).is_some();
            return judge(text, said, value_at(text, start), is_quoted);
        }
    }
    let is_quoted = quoted(text, start).is_some();
    if rest.starts_with(['\n', '\r', '{', '|', '>', '&', '!']) && is_colon && !prose
        || rest.starts_with(['\n', '\r', '{'])
        || rest.starts_with("map[")
    {
        return None;
    }
    if rest.starts_with('[') && !prose {
        if said != Says::Credential {
            return None;
        }
        let end = run(text, start + 1, |c| c != ']' && c != '\n');
        let range = start + 1..end;
        let is_names = text[range.clone()]
            .split(',')
            .all(|one| is_object_name(one.trim().trim_matches(is_quote)));
        return (!is_names && !is_harmless(&text[range.clone()])).then_some(range);
    }
    if is_quoted {
        let range = quoted(text, start)?;
        // `secret: "db-1"`, a sentence in quotes
        let is_sentence = is_colon && prose && !name.quoted && text[range.clone()].contains(' ');
        return judge(text, said, range, !is_sentence);
    }
    if line {
        let body = text[start..].split(['\n', '\r']).next().unwrap_or_default();
        let body = body.split(" #").next().unwrap_or_default();
        // Several settings on one line are read one by one.
        let several = body.split_whitespace().skip(1).any(|word| {
            word.split_once('=')
                .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_name))
        });
        let semicolon = body.contains(';')
            && !is_colon
            && body.matches('=').count() > body.matches("==").count();
        if !several && !semicolon {
            let end = start + body.trim_end().len();
            let said = assigned(said, is_colon, &text[start..end]);
            return judge(text, said, start..end, true);
        }
    }
    let most = match said {
        Says::Perhaps | Says::Pair => MOST_IN_DOUBT,
        _ => MOST_IN_QUOTES,
    };
    let range = value_within(text, start, most);
    let word = &text[range.clone()];
    // In a sentence, what follows a colon is most often a word of a language.
    let certain = !is_colon || !spaced && name.quoted || !prose && name.quoted;
    let glued = is_colon && !spaced && !STATES.contains(&word);
    let certain = certain || said == Says::Credential && (glued || is_last_word(text, &range));
    let said = assigned(said, is_colon, word);
    if !certain && said == Says::SecretOrName && is_object_name(word) {
        return None;
    }
    let secret = judge(text, said, range, certain)?;
    // All of it, where only its beginning was looked at.
    Some(secret.start..secret.end.max(value_at(text, start).end))
}

/// Who assigns gives the secret itself, if it is not plainly the name of an object.
fn assigned(said: Says, is_colon: bool, value: &str) -> Says {
    match said {
        Says::SecretOrName if !is_colon && !value.contains(['-', '.']) => Says::Credential,
        said => said,
    }
}

/// What is said of a credential in one word.
const STATES: &[&str] = &[
    "accepted",
    "authenticated",
    "cached",
    "changed",
    "configured",
    "created",
    "default",
    "deleted",
    "disabled",
    "disallowed",
    "duplicate",
    "enabled",
    "expired",
    "external",
    "forbidden",
    "generated",
    "ignored",
    "incorrect",
    "internal",
    "malformed",
    "mandatory",
    "mismatch",
    "mismatched",
    "not-found",
    "permitted",
    "rejected",
    "refreshed",
    "removed",
    "required",
    "revoked",
    "rotated",
    "supported",
    "unauthenticated",
    "unauthorized",
    "unavailable",
    "unchanged",
    "unexpected",
    "unknown",
    "unspecified",
    "unsupported",
    "untrusted",
    "validated",
    "verified",
];

/// Whether a word ends what is said, and is none that says something of a credential: behind
/// `password:` it is one.
fn is_last_word(text: &str, range: &Range<usize>) -> bool {
    let word = text[range.clone()].to_ascii_lowercase();
    let rest = &text[range.end..];
    word.len() >= 8
        && !STATES.contains(&word.as_str())
        && (rest.is_empty()
            || rest.starts_with(['\n', ',', ';', ')', '"', '}', '\\'])
            || rest == ".")
}

/// Whether a value under a name that says this is a credential.
pub(super) fn judge(
    text: &str,
    said: Says,
    range: Range<usize>,
    certain: bool,
) -> Option<Range<usize>> {
    let value = &text[range.clone()];
    let is = match said {
        Says::Scheme | Says::Cookies => return header(text, range.start, said),
        _ if !certain && !is_no_word(value) => false,
        _ => is_credential(said, value),
    };
    is.then_some(range)
}

/// Whether a value is a credential under a name that says this.
pub(in crate::mask) fn is_credential(said: Says, value: &str) -> bool {
    match said {
        Says::Nothing => false,
        Says::Perhaps => looks_random(value) && !is_harmless(value),
        Says::Pair => is_encoded_pair(value) || looks_random(value),
        Says::SecretOrName => !is_harmless(value) && !is_object_name(value),
        Says::Hash => !is_harmless(value) && !is_digest(value),
        Says::Credential => !is_harmless(value),
        Says::Scheme | Says::Cookies => {
            let text = value.trim();
            header(text, 0, said).is_some()
        }
    }
}
