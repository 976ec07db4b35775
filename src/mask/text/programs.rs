//! Programs whose flags say nothing by their names.

use std::ops::Range;

use super::scan::{is_blank, is_quote, push, value_at};
use crate::mask::forms::run;

/// Programs whose flags say nothing by their names: a flag, whether its value may be glued to it,
/// and whether it is `USER:PASSWORD`.
pub(super) const PROGRAMS: &[(&str, &str, bool, bool)] = &[
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

/// How far a program's flags are looked for.
const MOST_OF_A_COMMAND: usize = 2000;

/// What the flags of a program give away, on its line. Returns how far was read.
pub(super) fn command(
    text: &str,
    start: usize,
    program: usize,
    found: &mut Vec<Range<usize>>,
) -> usize {
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
