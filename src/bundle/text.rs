//! One text into objects: which of YAML and JSON it is, where its documents start, and what it is
//! when it is neither.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::error::{FilePlace, ReadError};
use super::yaml;
use crate::kubefleet::meter::{LimitExceeded, Meter};
use crate::kubefleet::object::{KeptObjects, ParsedDocument};
use crate::words::{brief, count, without_place};

/// Characters of a line that is quoted.
const LINE: usize = 160;

/// What a text held, and what should be said about it.
#[derive(Debug, Default)]
pub(super) struct ReadText {
    pub parsed: ParsedDocument,
    pub warnings: Vec<String>,
}

/// Reads a whole text; what is to be kept is.
pub(super) fn read(
    place: &FilePlace,
    bytes: &[u8],
    keep: KeptObjects,
    meter: &Meter,
) -> Result<ReadText, ReadError> {
    let text = decode(place, bytes)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Err(ReadError::new(place, "it is empty").hint(
            "the command that wrote it may have failed: run it again without the redirection",
        ));
    }
    if let Some(offset) = text.as_bytes().iter().position(|byte| *byte == 0) {
        let (line, column) = line_and_column(text, offset);
        return Err(ReadError::new(place, "not text: it has a NUL character")
            .at(line, column)
            .hint("use YAML or JSON, as `kubectl get -o yaml` prints it"));
    }
    let mut read = ReadText::default();
    if is_json(text) {
        match json(text, keep, meter) {
            Ok(parsed) => read.parsed = parsed,
            // JSON documents between YAML's separators.
            Err(_) if text.contains("\n---") && !meter.is_over() => {
                documents(place, text, (keep, meter), &mut read)?;
            }
            Err(error) => return Err(json_error(place, text, &error)),
        }
    } else {
        documents(place, text, (keep, meter), &mut read)?;
    }
    let parsed = &read.parsed;
    if parsed.not_objects > 0 {
        let found_nothing =
            parsed.objects.is_empty() && parsed.ignored.is_empty() && parsed.own.is_empty();
        if found_nothing {
            let (message, hint) = guess(text).unwrap_or((
                "no Kubernetes objects: nothing in it has an apiVersion and a kind",
                "use YAML or JSON, as `kubectl get -o yaml` prints it",
            ));
            return Err(ReadError::new(place, message).hint(hint));
        }
        read.warnings.push(format!(
            "{place}: skipped {} without apiVersion and kind",
            count(parsed.not_objects, "document")
        ));
    }
    Ok(read)
}

/// The bytes as text: UTF-8, or UTF-16 with a byte order mark, as PowerShell's `>` writes it.
fn decode<'b>(place: &FilePlace, bytes: &'b [u8]) -> Result<Cow<'b, str>, ReadError> {
    if let Some(what) = packed(bytes) {
        return Err(
            ReadError::new(place, format!("{what}, which is not supported"))
                .hint("unpack it and use the directory or the files"),
        );
    }
    let order: fn([u8; 2]) -> u16 = match bytes.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => {
            return std::str::from_utf8(bytes)
                .map(Cow::Borrowed)
                .map_err(|error| {
                    let start = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                    let (line, column) = line_and_column(&start, start.len());
                    ReadError::new(place, "not UTF-8 text")
                        .at(line, column)
                        .hint("save it as UTF-8, or run the command that wrote it again")
                });
        }
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let text: Result<String, _> =
        char::decode_utf16(pairs.iter().map(|pair| order(*pair))).collect();
    match text {
        Ok(text) if rest.is_empty() => Ok(Cow::Owned(text)),
        _ => Err(ReadError::new(place, "not text: broken UTF-16")
            .hint("save it as UTF-8, or run the command that wrote it again")),
    }
}

/// Which packed format the bytes are in, among those that people try.
fn packed(bytes: &[u8]) -> Option<&'static str> {
    [
        (b"PK\x03\x04".as_slice(), "a zip archive"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"\xfd7zXZ\0", "xz data"),
        (b"BZh", "bzip2 data"),
    ]
    .into_iter()
    .find_map(|(magic, what)| bytes.starts_with(magic).then_some(what))
}

/// Line and column in characters, from 1, of a byte offset.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        before[start..].chars().count() + 1,
    )
}

/// Whether a text is JSON rather than YAML: YAML's own flow style starts with the same brackets,
/// but its keys have no quotes.
fn is_json(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with(['{', '['])
        && start
            .trim_start_matches(|c: char| c == '[' || c.is_ascii_whitespace())
            .strip_prefix('{')
            .is_none_or(|inner| {
                let inner = inner.trim_start();
                inner.is_empty() || inner.starts_with(['"', '}'])
            })
}

/// One JSON value, or any number of them one after the other.
fn json(text: &str, keep: KeptObjects, meter: &Meter) -> Result<ParsedDocument, serde_json::Error> {
    let before = meter.spent();
    let mut first = ParsedDocument::keeping(keep, meter);
    let mut reader = serde_json::Deserializer::from_str(text);
    first.document(&mut reader)?;
    if reader.end().is_ok() {
        return Ok(first);
    }
    // A stream's values cannot be told what they are read into: they are cut out first.
    drop(first);
    meter.give_back(before);
    let mut all = ParsedDocument::keeping(keep, meter);
    for document in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        all.document(&mut serde_json::Deserializer::from_str(document?.get()))?;
    }
    Ok(all)
}

fn json_error(place: &FilePlace, text: &str, error: &serde_json::Error) -> ReadError {
    let message = error.to_string();
    let message = without_place(&message);
    // serde_json counts bytes.
    let line = error.line().max(1);
    let column = text
        .split('\n')
        .nth(line - 1)
        .and_then(|text| text.get(..error.column().saturating_sub(1)))
        .map_or(error.column().max(1), |before| before.chars().count() + 1);
    if error.is_eof() {
        ReadError::new(place, "the JSON is truncated")
            .at(line, column)
            .hint("run the command that wrote it again, or copy the file again")
    } else {
        ReadError::new(place, format!("invalid JSON: {message}")).at(line, column)
    }
}

/// Reads the documents between `---` and `...` lines, each as what it is.
fn documents(
    place: &FilePlace,
    text: &str,
    (keep, meter): (KeptObjects, &Meter),
    read: &mut ReadText,
) -> Result<(), ReadError> {
    let chunks = split(text, meter).map_err(|over| ReadError::new(place, over.to_string()))?;
    let count = chunks.len();
    for (number, document) in chunks.into_iter().enumerate() {
        let body = document.text;
        let first = body
            .lines()
            .enumerate()
            .map(|(index, line)| (index, line.trim_start_matches("---").trim()))
            .find(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((index, first)) = first else {
            continue;
        };
        if let Some((message, hint)) = said_by_kubectl(first) {
            return Err(ReadError::new(place, message)
                .at(document.line + index, 1)
                .hint(hint));
        }
        let inner = body.strip_prefix("---").unwrap_or(body);
        if is_json(inner) {
            match json(inner, keep, meter) {
                Ok(parsed) => {
                    read.parsed.absorb(parsed);
                    continue;
                }
                Err(error) => {
                    let lines_before = u32::try_from(document.line - 1).unwrap_or(u32::MAX);
                    let mut error = json_error(place, inner, &error);
                    error.line = error.line.map(|line| line.saturating_add(lines_before));
                    return Err(error);
                }
            }
        }
        let parsed = yaml::parse(body, keep, meter)
            .map_err(|fault| yaml_error(place, text, &document, number + 1 == count, &fault))?;
        if parsed.unnamed_lists > 0 {
            return Err(ReadError::new(
                place,
                "a list of objects ends without its kind: it was truncated",
            )
            .at(document.line + body.lines().count().saturating_sub(1), 1)
            .hint("run the command that wrote it again, or add `kind: List`"));
        }
        let nameless = || {
            let mut metas = parsed.objects.iter().map(|object| object.body.meta());
            metas.any(|meta| meta.name.is_empty())
        };
        let whole_lines = body.ends_with(['\n', '\r']);
        let half = first.starts_with("apiVersion:")
            && (parsed.not_objects > 0 || !whole_lines && !body.contains("metadata:"));
        if number + 1 == count && number > 0 && (half || nameless()) {
            return Err(ReadError::new(
                place,
                "the last document has no kind or no name: it was truncated",
            )
            .at(document.line, 1)
            .hint("run the command that wrote it again, or copy the file again"));
        }
        read.parsed.absorb(parsed);
    }
    if !text.ends_with(['\n', '\r']) && !text.trim_end().ends_with(['}', ']']) {
        read.warnings.push(format!(
            "{place}: the last line has no line break: if the file was truncated, objects are \
             missing"
        ));
    }
    Ok(())
}

struct YamlChunk<'t> {
    /// The line on which it starts, from 1.
    line: usize,
    text: &'t str,
}

/// Cuts a stream at its `---` and `...` lines. A `---` line stays with the document that follows;
/// directives and comments before it do too.
fn split<'t>(text: &'t str, meter: &Meter) -> Result<Vec<YamlChunk<'t>>, LimitExceeded> {
    let mut documents = Vec::new();
    let (mut start, mut start_line) = (0, 1);
    // Whether there is content between `start` and the current line.
    let mut content = false;
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let marker = |mark: &str| {
            line.strip_prefix(mark)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
        };
        let (begins, ends) = (marker("---"), marker("..."));
        if begins || ends {
            if content {
                meter.charge(3 * size_of::<YamlChunk<'_>>())?;
                documents.push(YamlChunk {
                    line: start_line,
                    text: &text[start..offset],
                });
                (start, start_line) = (offset, index + 1);
            }
            if ends {
                (start, start_line) = (offset + line.len(), index + 2);
            }
            content = begins;
        } else if !content {
            content = !matches!(line.trim_start().bytes().next(), None | Some(b'#' | b'%'));
        }
        offset += line.len();
    }
    documents.push(YamlChunk {
        line: start_line,
        text: &text[start..],
    });
    Ok(documents)
}

/// What kubectl's own words on standard output or error mean.
fn said_by_kubectl(line: &str) -> Option<(String, &'static str)> {
    let failed = [
        "Error from server",
        "error: ",
        "Unable to connect to the server",
    ];
    if failed.iter().any(|start| line.starts_with(start)) {
        Some((
            format!("this is an error message of kubectl: {}", brief(line, LINE)),
            "run the command again until it succeeds, without `2>&1`",
        ))
    } else if line.starts_with("No resources found") {
        Some((
            format!("kubectl found nothing: {}", brief(line, LINE)),
            "check the namespace (-n) and the context of the command that wrote it",
        ))
    } else if line.starts_with("NAME ") || line.starts_with("NAMESPACE ") {
        Some((
            "this is a table printed by kubectl, which has no details".to_owned(),
            "add `-o yaml` to the command that wrote it",
        ))
    } else {
        None
    }
}

/// What a text is that holds no object.
fn guess(text: &str) -> Option<(&'static str, &'static str)> {
    let start = text.trim_start();
    let head = start
        .get(..start.floor_char_boundary(200))
        .unwrap_or_default()
        .to_ascii_lowercase();
    if head.starts_with("<!doctype") || head.starts_with("<html") || head.starts_with("<?xml") {
        return Some((
            "this is HTML or XML, not YAML",
            "a proxy or a login page may have answered: download the file itself",
        ));
    }
    if is_log(start) {
        return Some((
            "this is a log, not a bundle",
            "use objects, as `kubectl get -o yaml` or `kubectl fleet-stage collect` print them",
        ));
    }
    None
}

/// Whether the first line looks like one of a log: klog's header, or a time stamp.
fn is_log(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().as_bytes();
    let digits = |from: usize, to: usize| {
        line.get(from..to)
            .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let klog = matches!(line.first(), Some(b'I' | b'W' | b'E' | b'F'))
        && digits(1, 5)
        && line.get(5) == Some(&b' ');
    let stamped = digits(0, 4)
        && line.get(4).is_some_and(|byte| matches!(byte, b'-' | b'/'))
        && digits(5, 7)
        && line.get(10).is_some_and(|byte| matches!(byte, b'T' | b' '));
    // zap's and logr's JSON, and systemd's.
    let json = text.starts_with('{')
        && ["\"level\":", "\"msg\":", "\"MESSAGE\":"]
            .iter()
            .any(|key| text.lines().next().is_some_and(|line| line.contains(key)));
    klog || stamped || json
}

fn yaml_error(
    place: &FilePlace,
    text: &str,
    chunk: &YamlChunk<'_>,
    last: bool,
    fault: &yaml::YamlFault,
) -> ReadError {
    let (line, column) = (fault.line + chunk.line - 1, fault.column);
    if let Some((message, hint)) = guess(text) {
        return ReadError::new(place, message).at(line, column).hint(hint);
    }
    let error = ReadError::new(place, format!("invalid YAML: {}", fault.message)).at(line, column);
    let there = chunk.text.lines().nth(fault.line - 1).unwrap_or_default();
    let indent = &there[..there.len() - there.trim_start().len()];
    if there.contains("{{") {
        error.hint("this looks like a template: render it first")
    } else if indent.contains('\t') || fault.message.contains(" tab") {
        error.hint("YAML is indented with spaces: replace the tabs")
    } else if fault.message.contains("mapping values") {
        error.hint("put a value that contains `: ` in quotes, and check the indentation")
    } else if last
        && fault.line >= chunk.text.lines().count()
        && (fault.message.contains("unclosed") || !chunk.text.ends_with(['\n', '\r']))
    {
        error.hint("if it was truncated, run the command that wrote it again")
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_keep_their_lines_and_lose_nothing() {
        let text = "# a\n%YAML 1.2\n--- # b\nc: 1\n...\n\nd: 2\n---\n---e: 3\n----\n--- |\n f\n";
        let found = split(text, &Meter::default()).unwrap();
        let found: Vec<_> = found.iter().map(|it| (it.line, it.text)).collect();
        let wanted = [
            (1, "# a\n%YAML 1.2\n--- # b\nc: 1\n"),
            (6, "\nd: 2\n"),
            (8, "---\n---e: 3\n----\n"),
            (11, "--- |\n f\n"),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn json_is_told_from_flow_style() {
        for json in ["{\"a\": 1}", " {\n}", "[]", "[ [ {\"a\"", "{"] {
            assert!(is_json(json), "{json}");
        }
        for yaml in ["{a: 1}", "[{a: 1}]", "a: {}", "- a", "\"a\""] {
            assert!(!is_json(yaml), "{yaml}");
        }
    }

    #[test]
    fn logs_are_told_by_their_first_line() {
        for log in [
            "E0102 03:04:05.6 7 a.go:8] b",
            "2026-01-02T03:04:05Z b",
            "2026/01/02 03:04:05 b",
        ] {
            assert!(is_log(log), "{log}");
        }
        for other in ["", "Event: 1", "2026", "{}", "kind: List"] {
            assert!(!is_log(other), "{other}");
        }
    }
}
