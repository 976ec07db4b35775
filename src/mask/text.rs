//! What in a text looks like a credential.

mod headers;
mod programs;
mod scan;
mod settings;
mod shapes;
mod unsigned;

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::forms;
use super::names::STEMS;
use super::values::is_masked;
pub(super) use headers::header;
use programs::{PROGRAMS, command};
pub(super) use settings::is_credential;
use settings::named;
use shapes::{authorization, password_in_url, private_keys, web_token};
use unsigned::{blocks, data_of_secrets, elements, flags, spoken};

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
