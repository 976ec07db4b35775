//! What in a text looks like a credential.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::forms::{self, run};
use super::names::{STEMS, Says, names_a_credential, says};
use super::values::{
    is_digest, is_encoded_pair, is_harmless, is_masked, is_no_word, is_object_name, looks_random,
};

/// What a word in a text may lead to.
#[derive(Debug, Clone, Copy)]
enum Lead {
    Token(usize),
    Address(usize),
    Middle(usize),
    WebToken,
    PrivateKey,
    Url,
    Authorization,
    Command(usize),
    /// A word of which names of credentials are made.
    Name,
    /// What stands between the two of a name and a value.
    Data,
}

/// What leads to a name beside the stems of names: one of all these is in each that says that its
/// value is a credential.
const IN_TEXT: &[&str] = &["sig", "connectionstring", "identified"];

/// Programs whose flags say nothing by their names: a flag, whether its value may be glued to it,
/// and whether it is `USER:PASSWORD`.
const PROGRAMS: &[(&str, &str, bool, bool)] = &[
    ("curl", "-u", true, true),
    ("curl", "--user", false, true),
    ("curl", "-U", true, true),
    ("curl", "--proxy-user", false, true),
    ("mysql", "-p", true, false),
    ("mariadb", "-p", true, false),
    ("sshpass", "-p", true, false),
    ("redis-cli", "-a", false, false),
    ("docker login", "-p", false, false),
    ("podman login", "-p", false, false),
    ("registry login", "-p", false, false),
    ("az login", "-p", false, false),
    ("ldapsearch", "-w", false, false),
    ("ldapadd", "-w", false, false),
    ("ldapmodify", "-w", false, false),
    ("mongo", "-p", false, false),
    ("htpasswd", "-b", false, false),
    ("smbclient", "-U", false, true),
];

/// All words that lead to a credential, found in one pass. A text without any is done.
struct Leads {
    words: AhoCorasick,
    of: Vec<Lead>,
}

static LEADS: LazyLock<Option<Leads>> = LazyLock::new(|| {
    let mut words: Vec<&str> = Vec::new();
    let mut of = Vec::new();
    let mut add = |word, lead| {
        words.push(word);
        of.push(lead);
    };
    for (at, form) in forms::TOKENS.iter().enumerate() {
        add(form.0, Lead::Token(at));
    }
    for (at, form) in forms::ADDRESSES.iter().enumerate() {
        add(form.0, Lead::Address(at));
    }
    for (at, form) in forms::MIDDLES.iter().enumerate() {
        add(form.0, Lead::Middle(at));
    }
    add("eyJ", Lead::WebToken);
    add("PRIVATE KEY", Lead::PrivateKey);
    add("://", Lead::Url);
    add("@tcp(", Lead::Url);
    add("@unix(", Lead::Url);
    add("earer", Lead::Authorization);
    add("asic ", Lead::Authorization);
    for (at, program) in PROGRAMS.iter().enumerate() {
        add(program.0, Lead::Command(at));
    }
    for stem in STEMS.iter().chain(IN_TEXT) {
        add(stem, Lead::Name);
    }
    add("data", Lead::Data);
    let words = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(true)
        .build(words);
    Some(Leads {
        words: words.ok()?,
        of,
    })
});

/// Whether a text may hold a credential at all.
pub(super) fn is_suspect(text: &str) -> bool {
    LEADS
        .as_ref()
        .is_none_or(|leads| leads.words.is_match(text))
}

/// The places of credentials in a text, in order and apart from each other. In prose, `key: value`
/// may be a sentence.
pub(super) fn secrets(text: &str, prose: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(leads) = LEADS.as_ref() else {
        return std::iter::once(0..text.len()).collect();
    };
    let (mut names, mut data, mut keys) = (false, false, false);
    // Where forms were looked for in vain, and where flags of programs were read.
    let (mut tokens, mut commands, mut authorized) = (0, 0, 0);
    for lead in leads.words.find_overlapping_iter(text) {
        let start = lead.start();
        match leads.of[lead.pattern().as_usize()] {
            Lead::Token(at) if start >= tokens => {
                match forms::token(text, start, forms::TOKENS[at]) {
                    Ok(range) => {
                        tokens = range.end;
                        found.push(range);
                    }
                    Err(end) if end - start > 256 => tokens = end,
                    Err(_) => {}
                }
            }
            Lead::Address(at) => found.extend(forms::address(text, start, forms::ADDRESSES[at])),
            Lead::Middle(at) if text[start..].starts_with(forms::MIDDLES[at].0) => {
                found.extend(forms::around(text, start, forms::MIDDLES[at]));
            }
            Lead::WebToken if start >= tokens => match web_token(text, start) {
                Ok(range) => {
                    tokens = range.end;
                    found.push(range);
                }
                Err(end) if end - start > 256 => tokens = end,
                Err(_) => {}
            },
            Lead::PrivateKey => keys = true,
            Lead::Url => found.extend(password_in_url(text, start)),
            Lead::Authorization if start >= authorized => {
                if let Some(range) = authorization(text, lead.end()) {
                    authorized = range.end;
                    found.push(range);
                }
            }
            Lead::Command(at) if start >= commands => {
                commands = command(text, start, at, &mut found);
            }
            Lead::Name => names = true,
            Lead::Data => data = true,
            Lead::Token(_)
            | Lead::Middle(_)
            | Lead::WebToken
            | Lead::Authorization
            | Lead::Command(_) => {}
        }
    }
    if keys {
        private_keys(text, &mut found);
    }
    if names {
        named(text, prose, &mut found);
        flags(text, &mut found);
        spoken(text, &mut found);
        if text.contains("</") {
            elements(text, &mut found);
        }
        if !prose && text.contains('\n') {
            blocks(text, &mut found);
        }
    }
    if data && (text.contains("Secret") || text.contains("stringData")) {
        data_of_secrets(text, &mut found);
    }
    apart(text, found)
}

/// Ranges in order, none of them empty, masked already or inside another.
fn apart(text: &str, mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.retain(|range| range.start < range.end && !is_masked(&text[range.clone()]));
    found.sort_by_key(|range| (range.start, range.end));
    found.into_iter().fold(Vec::new(), |mut apart, range| {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
        apart
    })
}

/// What names of settings, variables, flags and keys are made of.
const fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')
}

const fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=' | ':' | '|')
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// PEM blocks, from the first dash to the last; to the end of the text where it is cut off. Lines
/// may be joined by `\n`.
fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
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
fn web_token(text: &str, start: usize) -> Result<Range<usize>, usize> {
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
fn password_in_url(text: &str, at: usize) -> Option<Range<usize>> {
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
fn authorization(text: &str, end: usize) -> Option<Range<usize>> {
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

/// How far a program's flags are looked for.
const MOST_OF_A_COMMAND: usize = 2000;

/// What the flags of a program give away, on its line. Returns how far was read.
fn command(text: &str, start: usize, program: usize, found: &mut Vec<Range<usize>>) -> usize {
    let (name, ..) = PROGRAMS[program];
    let before = text[..start].chars().next_back();
    if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
        return start;
    }
    let begin = start + name.len();
    let limit = text.floor_char_boundary(begin.saturating_add(MOST_OF_A_COMMAND));
    let line = &text[begin..limit];
    let end = begin + line.find('\n').unwrap_or(line.len());
    let mut at = begin;
    while at < end {
        let word = run(text, at, |c| {
            is_blank(c) || is_quote(c) || matches!(c, ',' | '[' | ']' | '\\')
        });
        let stop = run(text, word, |c| {
            !c.is_whitespace() && !is_quote(c) && c != ','
        })
        .min(end);
        if word >= end || stop <= word {
            at = word.max(stop)
                + text[word.min(end)..]
                    .chars()
                    .next()
                    .map_or(1, char::len_utf8);
            continue;
        }
        let flag = &text[word..stop];
        at = stop;
        for (_, known, glued, pair) in PROGRAMS.iter().filter(|other| other.0 == name) {
            let value = match flag.strip_prefix(known) {
                Some("") => {
                    let next = run(text, stop, |c| {
                        is_blank(c) || is_quote(c) || matches!(c, ',' | '=' | '\\')
                    });
                    let between = &text[stop..next];
                    if next >= end || between.is_empty() || text[next..].starts_with('-') {
                        continue;
                    }
                    // A quote that opens is closed by the same.
                    value_at(text, next - usize::from(between.ends_with(is_quote)))
                }
                Some(rest) if *glued || rest.starts_with('=') => {
                    let range = word + known.len()..stop;
                    let skip = usize::from(rest.starts_with('='));
                    range.start + skip..range.end
                }
                _ => continue,
            };
            at = at.max(value.end);
            let value = if *pair {
                match text[value.clone()].find(':') {
                    Some(colon) => value.start + colon + 1..value.end,
                    None => continue,
                }
            } else if name == "htpasswd" {
                // `-b FILE USER PASSWORD`
                let user = run(text, value.end, is_blank);
                let user = run(text, user, |c| !c.is_whitespace());
                value_at(text, run(text, user, is_blank))
            } else {
                value
            };
            push(text, value, found);
            break;
        }
    }
    end
}

fn push(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    if !is_harmless(&text[range.clone()]) {
        found.push(range);
    }
}

/// How long a value is at most.
const MOST_IN_QUOTES: usize = 1 << 16;
/// How long one is whose name leaves a doubt.
const MOST_IN_DOUBT: usize = 1 << 8;

/// The value in quotes that starts here, where one does. Quotes inside a text in quotes have a
/// backslash, and more of them deeper inside.
fn quoted(text: &str, start: usize) -> Option<Range<usize>> {
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
fn value_at(text: &str, start: usize) -> Range<usize> {
    value_within(text, start, MOST_IN_QUOTES)
}

/// The same, of at most so many bytes.
fn value_within(text: &str, start: usize, most: usize) -> Range<usize> {
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

/// A name, and where it stands.
struct Name<'t> {
    text: &'t str,
    start: usize,
    quoted: bool,
}

const LONGEST_NAME: usize = 100;

/// The name that ends here, before a `=` or a `:`.
fn name_before(text: &str, end: usize) -> Option<Name<'_>> {
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

/// What of a line is before a place is nothing, or the mark of a list.
fn begins_line(text: &str, start: usize) -> bool {
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

/// What stands before a setting on its line is no longer.
const MOST_BEFORE: usize = 200;

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

/// `password=VALUE`, `password: VALUE` and `"password": "VALUE"`: in command lines, settings, JSON,
/// YAML, headers, connection strings and queries. Also `name: PASSWORD` before `value: VALUE`.
fn named(text: &str, prose: bool, found: &mut Vec<Range<usize>>) {
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
fn judge(text: &str, said: Says, range: Range<usize>, certain: bool) -> Option<Range<usize>> {
    let value = &text[range.clone()];
    let is = match said {
        Says::Scheme | Says::Cookies => return header(text, range.start, said),
        _ if !certain && !is_no_word(value) => false,
        _ => is_credential(said, value),
    };
    is.then_some(range)
}

/// Whether a value is a credential under a name that says this.
pub(super) fn is_credential(said: Says, value: &str) -> bool {
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
const MOST_OF_A_HEADER: usize = 1 << 13;

/// What is secret in the value of `Authorization` or `Cookie`.
pub(super) fn header(text: &str, start: usize, said: Says) -> Option<Range<usize>> {
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

/// Keys that have a name as their value, beside one that has the value.
fn is_pair_name(name: &str) -> bool {
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

/// Words that follow the name of a flag in a sentence about it.
const SENTENCES: &[&str] = &[
    "is", "was", "must", "cannot", "not", "or", "and", "flag", "flags", "to", "for", "in", "has",
    "the", "a", "should", "with", "requires", "required", "value", "option", "if", "when", "but",
    "of", "from", "as", "are", "can", "be", "instead", "may", "will", "needs", "on", "that",
    "which", "this",
];

/// `--password VALUE`, `-password VALUE`, also as two arguments of a list.
fn flags(text: &str, found: &mut Vec<Range<usize>>) {
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
fn spoken(text: &str, found: &mut Vec<Range<usize>>) {
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
fn elements(text: &str, found: &mut Vec<Range<usize>>) {
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
fn blocks(text: &str, found: &mut Vec<Range<usize>>) {
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
fn data_of_secrets(text: &str, found: &mut Vec<Range<usize>>) {
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
