//! What a value is, by how it looks.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use regex_lite::Regex;

use super::{ANOTHER, MASK};

pub(super) fn is_masked(value: &str) -> bool {
    value
        .strip_prefix(MASK)
        .is_some_and(|rest| rest.is_empty() || rest == ANOTHER)
}

/// Longer values are not asked whether they are harmless.
pub(super) const LONG: usize = 512;

/// A switch, a placeholder, a reference, or a path. Random text with slashes has digits and capitals
/// between the same two.
static HARMLESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ixs)^(?:
            | true|false|null|nil|<nil>|none|yes|no|on|off|~|\{\}|\[\]|\[?redacted\]?|\*+hidden\*+|\(hidden\)
            | undefined|optional|required|any
            | [*•.x_-]{3,}
            | \$\(.*\) | \$\{.*\} | \{\{.*\}\} | %\(.*\)s | <[a-z0-9_.\x20-]+> | (?-i:\$[A-Z_]{3,})
            | (?:vault:|arn:aws|ref\+|secretref:|op://|gcp-sm:|awssm:|akv:|sops:).*
            | (?:file://)?@?[.~]?(?-i:/(?:[A-Za-z._\x20-]*|[a-z0-9._\x20-]*))+
        )$",
    )
    .ok()
});

/// Small letters and digits, in words. A random word of letters and digits is none.
static OBJECT_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:[a-z0-9./-]*/)?(?:[a-z]+|[a-z0-9]{1,10})(?:[.-](?:[a-z]+|[a-z0-9]{1,10}))+$
            | ^[a-z]{1,20}$",
    )
    .ok()
});

/// A digit, capitals inside, or signs.
static NO_WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?s)[0-9]|[a-z].*[A-Z]|.[A-Z].*[a-z]|[!\#$%&*+;<=>?@\\^`|~]").ok()
});

static UUID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$").ok());

fn matches_form(form: &LazyLock<Option<Regex>>, value: &str) -> bool {
    form.as_ref().is_some_and(|form| form.is_match(value))
}

/// Whether a value under the name of a credential is none.
pub(super) fn is_harmless(value: &str) -> bool {
    let value = value.trim();
    value.len() <= LONG && (is_masked(value) || matches_form(&HARMLESS, value))
}

pub(super) fn is_object_name(value: &str) -> bool {
    value.len() <= 253 && matches_form(&OBJECT_NAME, value)
}

/// Whether a word is more than a word of a language. A sentence has no words with dashes as long as
/// a pass phrase.
pub(super) fn is_no_word(value: &str) -> bool {
    value.len() > 64
        || value.len() >= 16 && value.matches('-').count() >= 2
        || value.len() >= 4 && matches_form(&NO_WORD, value)
}

/// Whether a value looks like one that a machine has made up: long, of one piece, with letters and
/// digits, and of no kind that says what it is.
pub(super) fn looks_random(value: &str) -> bool {
    let piece = |c: char| c.is_ascii_alphanumeric() || "-_~+/=".contains(c);
    let many = |part: fn(&char) -> bool| value.chars().filter(part).count() >= 2;
    (16..=LONG).contains(&value.len())
        && value.chars().all(piece)
        && many(char::is_ascii_digit)
        && many(char::is_ascii_alphabetic)
        && value.chars().collect::<BTreeSet<_>>().len() >= 8
        && !matches_form(&UUID, value)
        && !is_harmless(value)
        && !is_object_name(value)
        && !(value.contains('-')
            && value
                .split(['-', '_'])
                .all(|part| part.chars().all(|c| c.is_ascii_alphabetic()) || part.len() < 6))
}

/// A token has digits, or capitals and small letters: it is no word.
pub(super) fn is_mixed(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
        || text.contains(|c: char| c.is_ascii_uppercase())
            && text.contains(|c: char| c.is_ascii_lowercase())
}

/// What is encoded in base64, however it ends.
pub(super) fn decode(value: &str) -> Option<String> {
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let value = value.trim_end_matches('=').replace('-', "+");
    let bytes = GeneralPurpose::new(&STANDARD, lenient).decode(value.replace('_', "/"));
    String::from_utf8(bytes.ok()?).ok()
}

pub(super) fn is_encoded_pair(value: &str) -> bool {
    let plain =
        || decode(value).is_some_and(|text| text.contains(':') && !text.contains(char::is_control));
    (4..=LONG * 8).contains(&value.len()) && plain()
}
