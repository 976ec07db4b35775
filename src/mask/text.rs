//! What in a text is a credential, because of the name before it.

use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::forms;
use super::names::{NameMeaning, says};
use super::values::{
    LONG, is_encoded_pair, is_harmless, is_masked, is_no_word, is_object_name, looks_random,
};

/// The places of credentials in a text, in order and apart from each other. In prose, `key: value`
/// may be a sentence.
pub(super) fn secrets(text: &str, prose: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let stems = forms::find(text, &mut found);
    find_named(text, prose, stems, &mut found);
    if text.contains("Secret") || text.contains("stringData") {
        find_data(text, &mut found);
    }
    found.retain(|range| !range.is_empty() && !is_masked(&text[range.clone()]));
    found.sort_by_key(|range| (range.start, range.end));
    found.into_iter().fold(Vec::new(), |mut apart, range| {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
        apart
    })
}

/// What is between a name and its value: a sign; `value:`, where the name is a value itself; the end of
/// a tag; or blanks.
static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?ix)^(?: (?<quote>\\*["'`])?\]?[\x20\t]*(?<sign>=>|:=|==?|:)[\x20\t]*(?<refused>(?:Invalid|Unsupported|Duplicate)\x20value:\x20)?
          | (?<pair>(?:</[a-z.]+>)?(?:[,;\s\\"'`]|\\n)+<?value\\*["'`]?\s*[:=>][\x20\t]*)
          | ["']?(?<tag>>)
          | (?<blank>(?:\\*["'`])?(?:[\x20\t,\n]|\\n)+)(?:(?:is|was|of|by)\x20)? )"#,
    )
    .ok()
});

/// What is before a name that is a value: `name: `, `<name>`.
static NAME_OF_PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:name|key|header|option|param|parameter|field|variable)\\*["'`]?\s*[:=>]\s*\\*["'`]?$"#).ok()
});

/// Words that follow the name of a flag in a sentence about it.
static SENTENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new("^(?:must|cannot|not|or|and|flags?|to|for|in|has|the|a|should|with|requires?|required|value|option|if|when|but|from|as|are|can|be|instead|may|will|needs|on|that|which|this)$").ok()
});

/// Another setting on the same line.
static ANOTHER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[ ;,][0-9A-Za-z_.-]+=").ok());

fn find_named(text: &str, prose: bool, stems: Vec<Range<usize>>, found: &mut Vec<Range<usize>>) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let mut done = 0;
    for stem in stems {
        if stem.start < done {
            continue;
        }
        let start = done + text[done..stem.start].trim_end_matches(is_name).len();
        let end = text[stem.end..]
            .find(|c| !is_name(c))
            .map_or(text.len(), |end| stem.end + end);
        done = end;
        if let Some(secret) = value_of(text, prose, start..end) {
            done = secret.end;
            found.push(secret);
        }
    }
}

/// The credential behind a name, if it is one.
fn value_of(text: &str, prose: bool, name: Range<usize>) -> Option<Range<usize>> {
    let (before, behind) = (&text[..name.start], name.end);
    let name = &text[name];
    let said = match says(name) {
        // `api key`, `client secret`
        said if matches!(name, "key" | "secret") && !text[behind..].starts_with('=') => {
            let word = before.strip_suffix(' ').unwrap_or_default();
            let word = word.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
            match says(&format!("{}-{name}", word.unwrap_or_default())) {
                NameMeaning::Credential => NameMeaning::Credential,
                _ => said,
            }
        }
        said => said,
    };
    if said == NameMeaning::Nothing {
        return None;
    }
    let found = BETWEEN.as_ref()?.captures(&text[behind..])?;
    let start = behind + found.get(0)?.end();
    let rest = &text[start..];
    if found.name("pair").is_some() {
        let near = &before[before.ceil_char_boundary(before.len().saturating_sub(40))..];
        let is_pair = NAME_OF_PAIR.as_ref()?.is_match(near);
        return judge(text, said, value_at(text, start, LONG), true).filter(|_| is_pair);
    }
    if found.name("tag").is_some() {
        let near = &rest[..rest.floor_char_boundary(1 << 11)];
        let end = near
            .find('<')
            .filter(|end| near[*end..].starts_with("</"))?;
        let in_tag = before.ends_with(['<', '"', '\'']) && !name.starts_with('/');
        return judge(text, said, start..start + end, in_tag).filter(|_| in_tag);
    }
    // The beginning tells what a value is.
    let range = value_at(text, start, LONG + 1);
    let all = |range: Range<usize>| match range.len() {
        ..=LONG => range,
        _ => value_at(text, start, 1 << 16),
    };
    let value = &text[range.clone()];
    let is_quoted = range.start > start;
    if let Some(gap) = found.name("blank") {
        if !matches!(said, NameMeaning::Credential | NameMeaning::SecretOrName) {
            return None;
        }
        let is = if name.starts_with('-') && !before.ends_with(|c: char| c.is_ascii_alphanumeric())
        {
            !rest.starts_with('-') && !SENTENCE.as_ref().is_some_and(|word| word.is_match(value))
        } else if said == NameMeaning::SecretOrName
            || !gap.as_str().trim_matches([' ', '\t']).is_empty()
        {
            false
        } else if matches!(name, "requirepass" | "masterauth") {
            is_quoted || begins_line(before) || is_no_word(value)
        } else if name.eq_ignore_ascii_case("identified") {
            is_quoted
        } else if !name.eq_ignore_ascii_case("pass") && name.to_ascii_lowercase().contains("pass") {
            is_quoted && !value.contains(' ')
                || is_no_word(value)
                    && !value.contains(['(', '/'])
                    && !(is_object_name(value) && value.contains('-'))
        } else {
            looks_random(value)
        };
        return (is && value.len() >= 4 && !is_harmless(value)).then(|| all(range));
    }
    let is_colon = found.name("sign").is_some_and(|sign| sign.as_str() == ":");
    let in_quotes = found.name("quote").is_some();
    let is_spaced = text[..start].ends_with([' ', '\t']);
    // A default, `${TOKEN:-none}`; a part of an ARN; the tag of an image, a port of a host.
    let glued = is_colon && !is_spaced && !in_quotes && !is_quoted;
    if glued
        && (before.ends_with([':', '{']) && rest.starts_with('-')
            || before.ends_with(':')
            || rest.starts_with(':')
            || is_tag(name, value))
    {
        return None;
    }
    if matches!(said, NameMeaning::Scheme | NameMeaning::Cookies) {
        return header(text, start, said);
    }
    if found.name("refused").is_some() {
        return judge(text, said, range, is_quoted).map(all);
    }
    if is_colon && !prose && rest.starts_with(['|', '>']) {
        return block(text, before, start).filter(|_| said != NameMeaning::Perhaps);
    }
    if rest.starts_with('[') && said == NameMeaning::Credential && !prose {
        let near = &rest[..rest.floor_char_boundary(LONG)];
        let end = start + near.find([']', '\n'])?;
        return judge(text, NameMeaning::SecretOrName, start + 1..end, true);
    }
    if rest.starts_with(['\n', '\r', '{', '[']) || rest.starts_with("map[") {
        return None;
    }
    if is_quoted {
        // `secret: "db-1"`, a sentence in quotes
        let is_sentence = is_colon && prose && !in_quotes && value.contains(' ');
        return judge(text, said, range, !is_sentence).map(all);
    }
    let is_line = !prose && !in_quotes && begins_line(before);
    if is_line {
        let line = rest.split(['\n', '\r']).next()?;
        let line = line.split(" #").next()?.trim_end();
        if !ANOTHER.as_ref()?.is_match(line) {
            let said = assigned(said, is_colon, line);
            return judge(text, said, start..start + line.len(), true);
        }
    }
    let said = assigned(said, is_colon, value);
    // In a sentence, what follows a colon is most often a word of a language.
    let certain = !is_colon || is_line || !is_spaced || in_quotes && !prose;
    judge(text, said, range, certain).map(all)
}

/// Who assigns gives the secret itself, if it is not plainly the name of an object.
fn assigned(said: NameMeaning, is_colon: bool, value: &str) -> NameMeaning {
    match said {
        NameMeaning::SecretOrName if !is_colon && !value.contains(['-', '.']) => {
            NameMeaning::Credential
        }
        said => said,
    }
}

/// Whether a value under a name that says this is a credential.
fn judge(
    text: &str,
    said: NameMeaning,
    range: Range<usize>,
    certain: bool,
) -> Option<Range<usize>> {
    let value = &text[range.clone()];
    match said {
        NameMeaning::Scheme | NameMeaning::Cookies => header(text, range.start, said),
        _ => ((certain || is_no_word(value)) && is_credential(said, value)).then_some(range),
    }
}

/// Whether a value is a credential under a name that says this.
pub(super) fn is_credential(said: NameMeaning, value: &str) -> bool {
    match said {
        NameMeaning::Nothing => false,
        NameMeaning::Perhaps => looks_random(value),
        NameMeaning::Pair => is_encoded_pair(value) || looks_random(value),
        NameMeaning::SecretOrName => !is_harmless(value) && !is_object_name(value),
        NameMeaning::Credential | NameMeaning::Scheme | NameMeaning::Cookies => !is_harmless(value),
    }
}

/// Whether a name and what is behind its colon are an image and its tag, or a host and its port.
fn is_tag(name: &str, value: &str) -> bool {
    let number = value.trim_start_matches('v');
    name.contains('/')
        || number.starts_with(|c: char| c.is_ascii_digit())
            && (number.contains('.') || number.len() <= 5 && number.parse::<u16>().is_ok())
}

/// Whether what is before a setting on its line is nothing, or the mark of a list.
fn begins_line(before: &str) -> bool {
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(200))..];
    let line = near.rsplit('\n').next().unwrap_or_default();
    let line = line.trim().trim_start_matches(['-', '?', '"', '\'']).trim();
    matches!(line, "" | "export" | "set" | "ENV" | "ARG")
}

/// The value that starts here, of at most so many bytes: in quotes, or a word of a command line, of a
/// connection string or of a query.
fn value_at(text: &str, start: usize, most: usize) -> Range<usize> {
    let near = &text[start..text.floor_char_boundary(start.saturating_add(most))];
    if let Some(range) = quoted(near) {
        return start + range.start..start + range.end;
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '\\' | '<');
    let word = near.split(ends).next().unwrap_or_default();
    let next = NEXT.as_ref().and_then(|next| next.find(word));
    let word = &word[..next.map_or(word.len(), |next| next.start())];
    start
        ..start
            + word
                .trim_end_matches([',', ')', ']', '}', '.', ':', '&'])
                .len()
}

/// What ends a word although it may belong to it: the next setting behind a comma or an ampersand, and
/// brackets that are closed together.
static NEXT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[&,][0-9A-Za-z_./-]+[=:]|[&,}][{}\]]").ok());

/// The value in quotes that a text begins with. Quotes inside a text in quotes have a backslash, and
/// more of them deeper inside.
fn quoted(text: &str) -> Option<Range<usize>> {
    let slashes = text.len() - text.trim_start_matches('\\').len();
    let quote = text[slashes..]
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let begin = slashes + 1;
    let mut before = 0;
    for (at, c) in text[begin..].char_indices() {
        let ends = c == quote && before <= slashes && (slashes > 0 || before == 0);
        if ends || c == '\n' && (slashes > 0 || quote == '`') {
            return Some(begin..begin + at - before);
        }
        before = if c == '\\' { before + 1 } else { 0 };
    }
    Some(begin..begin + text[begin..].find('\n').unwrap_or(text.len() - begin))
}

/// The scheme of `Authorization`, and what is behind it.
static SCHEME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:basic|bearer|token|api-?key|key|digest|negotiate|ntlm|splunk|sso-key|bot|hmac|signature|geniekey|aws4-hmac-sha256|sharedkey|oauth) +)?(\S+)").ok()
});

/// What is secret in the value of `Authorization` or `Cookie`: its beginning tells.
pub(super) fn header(text: &str, start: usize, said: NameMeaning) -> Option<Range<usize>> {
    let ends = |c: char| matches!(c, '\n' | '\r' | '"' | '\'' | '`' | '\\');
    let near = &text[start..text.floor_char_boundary(start.saturating_add(LONG))];
    let start = start + quoted(near).map_or(0, |within| within.start);
    let near = text[start..].get(..near.len()).unwrap_or(&text[start..]);
    let near = near.split(ends).next()?;
    let until = |from: usize, ends: &dyn Fn(char) -> bool| {
        from..text[from..].find(ends).map_or(text.len(), |end| from + end)
    };
    if said == NameMeaning::Cookies {
        return (near.contains('=') && !is_harmless(near)).then(|| until(start, &ends));
    }
    let word = SCHEME.as_ref()?.captures(near)?.get(1)?;
    let from = start + word.start();
    if near.contains("ignature=") || near.contains("response=") {
        return Some(until(from, &ends));
    }
    let word = word.as_str().trim_end_matches([',', ';', ')', '}', ']']);
    let is = word.len() >= 6 && is_no_word(word) && !is_harmless(word);
    is.then(|| {
        until(from, &|c| {
            c.is_whitespace() || ends(c) || ",;)}]".contains(c)
        })
    })
}

/// The lines of a block that belongs to the name of a credential: `password: |`.
fn block(text: &str, before: &str, start: usize) -> Option<Range<usize>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let outer = indent(before.rsplit('\n').next()?);
    let first = start + text[start..].find('\n')? + 1;
    let inside = |line: &&str| line.trim().is_empty() || indent(line) > outer;
    let lines = text[first..]
        .split_inclusive('\n')
        .take_while(inside)
        .map(str::len)
        .sum::<usize>();
    let body = &text[first..first + lines];
    let from = first + indent(body);
    Some(from..from + body.trim().len()).filter(|range| !range.is_empty())
}

/// Where the data of a Secret begins.
static DATA: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\b(?:string)?data\\*["'`]?[ \t]*:[ \t]*(?:\{|map\[)"#).ok());

/// The data of Secrets in a text that is no whole manifest: `… "data":{…}` behind other words, or
/// how Go prints it: `data:map[…]`.
fn find_data(text: &str, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(data) = DATA.as_ref().and_then(|data| data.find_at(text, at)) {
        let start = data.end();
        let is_map = data.as_str().ends_with('[');
        let (open, close) = if is_map { ('[', ']') } else { ('{', '}') };
        let mut depth = 1;
        let ends = |c: char| {
            depth += i32::from(c == open) - i32::from(c == close);
            depth == 0
        };
        at = text[start..]
            .find(ends)
            .map_or(text.len(), |end| start + end);
        found.extend(Some(start..at).filter(|range| !is_harmless(&text[range.clone()])));
    }
}
