//! What in a text looks like a credential.

use std::ops::Range;

use super::MASK;

/// The ends of names whose values are credentials, in lower case and without separators.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "apikey",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "privatekey",
    "accountkey",
    "sharedkey",
    "signingkey",
    "encryptionkey",
    "authkey",
    "credential",
    "credentials",
    "connectionstring",
];

/// Whether a key, variable or flag of this name holds a credential: `DB_PASSWORD`, `api-key`,
/// `spring.datasource.password`, but not `TOKEN_FILE` nor `secretName`.
pub(super) fn names_a_secret(name: &str) -> bool {
    if !name.chars().all(is_name) {
        return false;
    }
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let plain = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let plain = ["value", "base64", "b64"]
        .iter()
        .find_map(|end| plain.strip_suffix(end))
        .unwrap_or(plain);
    // The shell's own variables are folders.
    !matches!(plain, "pwd" | "oldpwd") && NAMES.iter().any(|end| plain.ends_with(end))
}

/// Whether a value under such a name is no credential: empty, a switch, a reference to another
/// variable, or masked already.
pub(super) fn is_harmless(value: &str) -> bool {
    let value = value.trim();
    matches!(value, "" | "true" | "false" | "null" | "~" | "{}" | "[]")
        || value.starts_with(MASK)
        || (value.starts_with("$(") && value.ends_with(')'))
        || (value.starts_with("${") && value.ends_with('}'))
        || (value.starts_with("{{") && value.ends_with("}}"))
}

/// The places of credentials in a text, in order and apart from each other. In prose, lines of the
/// form `key: value` are sentences.
pub(super) fn secrets(text: &str, prose: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.contains("PRIVATE KEY") {
        private_keys(text, &mut found);
    }
    if text.contains("eyJ") {
        web_tokens(text, &mut found);
    }
    if text.contains("://") {
        passwords_in_urls(text, &mut found);
    }
    if text.contains('=') {
        assignments(text, &mut found);
    }
    if text.contains("--") {
        flags(text, &mut found);
    }
    if !prose && text.contains('\n') {
        settings(text, &mut found);
    }
    authorizations(text, &mut found);
    well_known(text, &mut found);
    found.retain(|range| range.start < range.end && !text[range.clone()].starts_with(MASK));
    found.sort_by_key(|range| (range.start, range.end));
    found.into_iter().fold(Vec::new(), |mut apart, range| {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
        apart
    })
}

/// Where the characters that satisfy `part` end.
fn run(text: &str, start: usize, part: impl Fn(char) -> bool) -> usize {
    let rest = &text[start..];
    start + rest.find(|c| !part(c)).unwrap_or(rest.len())
}

/// Every place of a word.
fn places(text: &str, word: &str) -> impl Iterator<Item = usize> {
    text.match_indices(word).map(|(at, _)| at)
}

/// What names of settings, variables, flags and keys are made of.
const fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')
}

const fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=')
}

/// PEM blocks, from the first dash to the last; to the end of the text where it is cut off.
fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(begin) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let label = run(text, begin + 11, |c| c != '-' && c != '\n');
        from = label;
        if !text[begin..label].ends_with("PRIVATE KEY") {
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

/// JSON web tokens: three parts, of which the first two are JSON.
fn web_tokens(text: &str, found: &mut Vec<Range<usize>>) {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    for start in places(text, "eyJ") {
        let head = run(text, start, part);
        let Some(body) = text[head..].strip_prefix('.').map(|_| head + 1) else {
            continue;
        };
        let end = run(text, body, part);
        if head - start < 10 || end - body < 10 {
            continue;
        }
        let end = match text[end..].strip_prefix('.') {
            Some(_) => run(text, end + 1, part),
            None => end,
        };
        found.push(start..end);
    }
}

/// `scheme://user:PASSWORD@host`, and `scheme://TOKEN@host`.
fn passwords_in_urls(text: &str, found: &mut Vec<Range<usize>>) {
    for scheme in places(text, "://") {
        let start = scheme + 3;
        let end = run(text, start, |c| {
            !c.is_whitespace() && !matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>')
        });
        let Some(at) = text[start..end].rfind('@') else {
            continue;
        };
        let user = &text[start..start + at];
        match user.find(':') {
            Some(colon) => found.push(start + colon + 1..start + at),
            // The user of a repository, not a credential.
            None if user == "git" || text[..scheme].ends_with("ssh") => {}
            None => found.push(start..start + at),
        }
    }
}

/// Where the value ends that starts here: at its quote, else where a word of a command line, of a
/// connection string or of a query ends.
fn value_at(text: &str, start: usize) -> Range<usize> {
    match text[start..].chars().next() {
        Some(quote @ ('"' | '\'')) => start + 1..run(text, start + 1, |c| c != quote && c != '\n'),
        _ => {
            start..run(text, start, |c| {
                !c.is_whitespace() && !matches!(c, ';' | '&' | ',' | '"' | '\'')
            })
        }
    }
}

/// The name that ends here.
fn name_before(text: &str, end: usize) -> &str {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let start = text[..end].rfind(|c| !part(c)).map_or(0, |at| {
        at + text[at..].chars().next().map_or(1, char::len_utf8)
    });
    text[start..end].trim_start_matches('-')
}

/// `password=VALUE`, in command lines, properties, connection strings and queries.
fn assignments(text: &str, found: &mut Vec<Range<usize>>) {
    for at in places(text, "=") {
        let name = name_before(text, at);
        if !name.is_empty() && (names_a_secret(name) || name == "sig") {
            push_value(text, value_at(text, at + 1), found);
        }
    }
}

/// `--password VALUE`.
fn flags(text: &str, found: &mut Vec<Range<usize>>) {
    for at in places(text, "--") {
        let end = run(text, at + 2, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
        });
        let start = run(text, end, |c| c == ' ');
        if start > end
            && names_a_secret(&text[at + 2..end])
            && !text[start..].starts_with('-')
            && text[..at].chars().next_back().is_none_or(|c| c != '-')
        {
            push_value(text, value_at(text, start), found);
        }
    }
}

fn push_value(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    if !is_harmless(&text[range.clone()]) {
        found.push(range);
    }
}

/// `password: VALUE` and `password = VALUE` on a line of its own, and the lines of a block that
/// belongs to such a name.
fn settings(text: &str, found: &mut Vec<Range<usize>>) {
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
        let Some(at) = body.find([':', '=']) else {
            continue;
        };
        let name = body[..at].trim().trim_start_matches("- ");
        let name = name.trim_matches(['"', '\'', ' ']);
        if name.contains(char::is_whitespace) || !names_a_secret(name) {
            continue;
        }
        let value = body[at + 1..].trim_start();
        let begin = start + body.len() - value.len();
        if value.starts_with(['|', '>']) {
            block = Some(indent);
        } else if value.starts_with(['"', '\'']) {
            push_value(text, value_at(text, begin), found);
        } else {
            push_value(text, begin..start + body.len(), found);
        }
    }
}

/// `Bearer TOKEN` and `Basic TOKEN`. A word is no token: one has a digit, and is long.
fn authorizations(text: &str, found: &mut Vec<Range<usize>>) {
    for word in ["earer ", "asic ", "EARER ", "ASIC "] {
        for at in places(text, word) {
            if !text[..at].ends_with(['b', 'B']) {
                continue;
            }
            let start = run(text, at + word.len(), |c| c == ' ');
            let end = run(text, start, is_token);
            let token = &text[start..end];
            if token.len() >= 16 && token.contains(|c: char| c.is_ascii_digit()) {
                found.push(start..end);
            }
        }
    }
}

/// How tokens of common issuers begin, and how long they are at least.
const BEGINNINGS: &[(&str, usize)] = &[
    ("ghp_", 36),
    ("gho_", 36),
    ("ghu_", 36),
    ("ghs_", 36),
    ("ghr_", 36),
    ("github_pat_", 40),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("xapp-", 20),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 35),
    ("ya29.", 30),
    ("hvs.", 24),
    ("npm_", 36),
    ("dckr_pat_", 27),
    ("sk_live_", 24),
    ("rk_live_", 24),
];

/// Tokens of common issuers, by how they begin.
fn well_known(text: &str, found: &mut Vec<Range<usize>>) {
    for (beginning, least) in BEGINNINGS {
        for start in places(text, beginning) {
            let inside_a_word = text[..start]
                .chars()
                .next_back()
                .is_some_and(|c| c.is_ascii_alphanumeric());
            let end = run(text, start, |c| {
                c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.'
            });
            let has_digit = text[start..end].contains(|c: char| c.is_ascii_digit());
            if !inside_a_word && has_digit && end - start >= *least {
                found.push(start..end);
            }
        }
    }
}
