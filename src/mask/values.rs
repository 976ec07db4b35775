//! What a value is, by how it looks.

use base64::Engine;

use super::{ANOTHER, MASK};

/// Whether a value was masked already.
pub(super) fn is_masked(value: &str) -> bool {
    value
        .strip_prefix(MASK)
        .is_some_and(|rest| rest.is_empty() || rest == ANOTHER)
}

/// Longer values are not asked whether they are harmless.
const LONG: usize = 512;

/// Whether a value under the name of a credential is none: empty, a switch, a placeholder, a
/// reference, a path, or masked already.
pub(super) fn is_harmless(value: &str) -> bool {
    let value = value.trim();
    if value.len() > LONG {
        return false;
    }
    let framed = |start: &str, end: &str| {
        value.len() >= start.len() + end.len() && value.starts_with(start) && value.ends_with(end)
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    is_masked(value)
        || matches!(
            value.to_ascii_lowercase().as_str(),
            "" | "true"
                | "false"
                | "null"
                | "nil"
                | "<nil>"
                | "none"
                | "yes"
                | "no"
                | "on"
                | "off"
                | "~"
                | "{}"
                | "[]"
                | "redacted"
                | "[redacted]"
                | "***hidden***"
                | "(hidden)"
                | "undefined"
                | "optional"
                | "required"
                | "any"
        )
        || value.len() > 2
            && value
                .chars()
                .all(|c| matches!(c, '*' | '•' | '.' | 'x' | 'X' | '-' | '_'))
        || framed("$(", ")")
        || framed("${", "}")
        || framed("{{", "}}")
        || framed("%(", ")s")
        || framed("<", ">") && value[1..value.len() - 1].chars().all(is_word)
        || value.strip_prefix('$').is_some_and(|name| {
            name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        })
        || [
            "vault:",
            "arn:aws",
            "ref+",
            "secretref:",
            "op://",
            "gcp-sm:",
            "awssm:",
            "akv:",
            "sops:",
        ]
        .iter()
        .any(|scheme| value.starts_with(scheme))
        || is_path(value)
}

/// `/run/secrets/token`, `./ca.key`, `file:///etc/x`: where something is.
fn is_path(value: &str) -> bool {
    let value = value.strip_prefix("file://").unwrap_or(value);
    let value = value.strip_prefix('@').unwrap_or(value);
    let Some(rest) = value
        .strip_prefix("./")
        .or_else(|| value.strip_prefix("~/"))
        .or_else(|| value.strip_prefix('/'))
    else {
        return false;
    };
    // Random text with slashes has digits and capitals between the same two.
    rest.split('/').all(|part| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
        part.chars().all(plain)
            && !(part.contains(|c: char| c.is_ascii_uppercase())
                && part.contains(|c: char| c.is_ascii_digit()))
            && part.len() <= 64
    })
}

/// Whether it could be the name of an object: small letters and digits, in words. A random word of
/// letters and digits is none.
pub(super) fn is_object_name(value: &str) -> bool {
    let name = value.rsplit('/').next().unwrap_or(value);
    let dns =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '/');
    !value.is_empty()
        && value.len() <= 253
        && value.chars().all(dns)
        && name.contains(['-', '.'])
        && name.split(['-', '.']).all(|part| {
            !part.is_empty()
                && (part.chars().all(|c| c.is_ascii_lowercase())
                    || part.len() <= 10 && part.chars().filter(char::is_ascii_digit).count() <= 5)
        })
        || !value.is_empty() && value.len() <= 20 && value.chars().all(|c| c.is_ascii_lowercase())
}

/// Whether a word is more than a word of a language: it has a digit, capitals inside, or signs.
pub(super) fn is_no_word(value: &str) -> bool {
    let inside_capital = value.chars().skip(1).any(|c| c.is_ascii_uppercase())
        && value.contains(|c: char| c.is_ascii_lowercase());
    let sign = |c: char| {
        c.is_ascii_punctuation()
            && !matches!(
                c,
                '-' | '.' | ',' | ':' | '/' | '(' | ')' | '[' | ']' | '\'' | '"' | '_' | '{' | '}'
            )
    };
    // A sentence has no such words, pass phrases and names of objects do.
    let phrase = value.len() >= 16 && value.matches('-').count() >= 2;
    value.len() > 64
        || phrase
        || value.len() >= 4
            && (value.contains(|c: char| c.is_ascii_digit())
                || inside_capital
                || value.contains(sign))
}

/// Whether a value looks like one that a machine has made up: long, of one piece, with letters and
/// digits, and of no kind that says what it is.
pub(super) fn looks_random(value: &str) -> bool {
    let piece =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=');
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let letters = value.chars().filter(char::is_ascii_alphabetic).count();
    let mut seen = [false; 128];
    for c in value.chars() {
        if let Some(place) = usize::try_from(u32::from(c))
            .ok()
            .and_then(|at| seen.get_mut(at))
        {
            *place = true;
        }
    }
    let different = seen.iter().filter(|seen| **seen).count();
    (16..=LONG).contains(&value.len())
        && value.chars().all(piece)
        && digits >= 2
        && letters >= 2
        && different >= 8
        && !value.contains(['.', ':'])
        && !is_uuid(value)
        && !is_path(value)
        && !is_object_name(value)
        && !(value.contains('-')
            && value
                .split(['-', '_'])
                .all(|part| part.chars().all(|c| c.is_ascii_alphabetic()) || part.len() < 6))
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The hash of something that is a secret: `checksum/secret: 9f86d0…`.
pub(super) fn is_digest(value: &str) -> bool {
    matches!(value.len(), 32 | 40 | 56 | 64 | 96 | 128)
        && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a text is `USER:PASSWORD` in base64.
pub(super) fn is_encoded_pair(value: &str) -> bool {
    let plain = value.trim_end_matches('=');
    if plain.len() < 4 || plain.len() > LONG * 8 {
        return false;
    }
    let lenient = base64::engine::GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let engines = [
        base64::engine::GeneralPurpose::new(&base64::alphabet::STANDARD, lenient),
        base64::engine::GeneralPurpose::new(&base64::alphabet::URL_SAFE, lenient),
    ];
    engines.iter().any(|engine| {
        engine.decode(plain).is_ok_and(|bytes| {
            bytes.contains(&b':')
                && std::str::from_utf8(&bytes).is_ok_and(|text| !text.chars().any(char::is_control))
        })
    })
}
