//! The long explanations, embedded. Written by `cargo xtask gen`.

/// Code and explanation of every finding, sorted.
pub static ALL: &[(&str, &str)] = &[];

/// The explanation of a code, in markdown.
pub fn of(code: &str) -> Option<&'static str> {
    ALL.iter()
        .find(|(known, _)| *known == code)
        .map(|(_, text)| *text)
}

/// The one sentence of an explanation: its first paragraph in bold.
pub fn summary(explanation: &str) -> Option<String> {
    let line = explanation.lines().find(|line| line.starts_with("**"))?;
    Some(line.trim_matches('*').to_owned())
}
