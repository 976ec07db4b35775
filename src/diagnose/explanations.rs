//! The long explanations, embedded. Written by `cargo xtask gen`.

/// Code and explanation of every finding, sorted.
pub static ALL: &[(&str, &str)] = &[
    ("FS101", include_str!("../../docs/findings/FS101.md")),
    ("FS102", include_str!("../../docs/findings/FS102.md")),
    ("FS103", include_str!("../../docs/findings/FS103.md")),
    ("FS104", include_str!("../../docs/findings/FS104.md")),
    ("FS105", include_str!("../../docs/findings/FS105.md")),
    ("FS106", include_str!("../../docs/findings/FS106.md")),
    ("FS107", include_str!("../../docs/findings/FS107.md")),
    ("FS108", include_str!("../../docs/findings/FS108.md")),
    ("FS109", include_str!("../../docs/findings/FS109.md")),
    ("FS110", include_str!("../../docs/findings/FS110.md")),
    ("FS111", include_str!("../../docs/findings/FS111.md")),
    ("FS112", include_str!("../../docs/findings/FS112.md")),
    ("FS113", include_str!("../../docs/findings/FS113.md")),
    ("FS114", include_str!("../../docs/findings/FS114.md")),
    ("FS115", include_str!("../../docs/findings/FS115.md")),
    ("FS116", include_str!("../../docs/findings/FS116.md")),
    ("FS117", include_str!("../../docs/findings/FS117.md")),
    ("FS118", include_str!("../../docs/findings/FS118.md")),
    ("FS119", include_str!("../../docs/findings/FS119.md")),
    ("FS120", include_str!("../../docs/findings/FS120.md")),
    ("FS121", include_str!("../../docs/findings/FS121.md")),
    ("FS122", include_str!("../../docs/findings/FS122.md")),
    ("FS123", include_str!("../../docs/findings/FS123.md")),
    ("FS124", include_str!("../../docs/findings/FS124.md")),
    ("FS201", include_str!("../../docs/findings/FS201.md")),
    ("FS202", include_str!("../../docs/findings/FS202.md")),
    ("FS203", include_str!("../../docs/findings/FS203.md")),
    ("FS204", include_str!("../../docs/findings/FS204.md")),
    ("FS205", include_str!("../../docs/findings/FS205.md")),
    ("FS206", include_str!("../../docs/findings/FS206.md")),
    ("FS207", include_str!("../../docs/findings/FS207.md")),
    ("FS208", include_str!("../../docs/findings/FS208.md")),
    ("FS209", include_str!("../../docs/findings/FS209.md")),
    ("FS301", include_str!("../../docs/findings/FS301.md")),
    ("FS302", include_str!("../../docs/findings/FS302.md")),
    ("FS303", include_str!("../../docs/findings/FS303.md")),
    ("FS304", include_str!("../../docs/findings/FS304.md")),
    ("FS501", include_str!("../../docs/findings/FS501.md")),
    ("FS502", include_str!("../../docs/findings/FS502.md")),
    ("FS503", include_str!("../../docs/findings/FS503.md")),
    ("FS504", include_str!("../../docs/findings/FS504.md")),
    ("FS505", include_str!("../../docs/findings/FS505.md")),
    ("FS506", include_str!("../../docs/findings/FS506.md")),
    ("FS507", include_str!("../../docs/findings/FS507.md")),
    ("FS508", include_str!("../../docs/findings/FS508.md")),
    ("FS509", include_str!("../../docs/findings/FS509.md")),
    ("FS510", include_str!("../../docs/findings/FS510.md")),
    ("FS511", include_str!("../../docs/findings/FS511.md")),
    ("FS512", include_str!("../../docs/findings/FS512.md")),
    ("FS513", include_str!("../../docs/findings/FS513.md")),
    ("FS514", include_str!("../../docs/findings/FS514.md")),
    ("FS515", include_str!("../../docs/findings/FS515.md")),
    ("FS516", include_str!("../../docs/findings/FS516.md")),
    ("FS517", include_str!("../../docs/findings/FS517.md")),
    ("FS518", include_str!("../../docs/findings/FS518.md")),
    ("FS520", include_str!("../../docs/findings/FS520.md")),
    ("FS521", include_str!("../../docs/findings/FS521.md")),
    ("FS522", include_str!("../../docs/findings/FS522.md")),
    ("FS523", include_str!("../../docs/findings/FS523.md")),
    ("FS524", include_str!("../../docs/findings/FS524.md")),
    ("FS525", include_str!("../../docs/findings/FS525.md")),
    ("FS601", include_str!("../../docs/findings/FS601.md")),
    ("FS602", include_str!("../../docs/findings/FS602.md")),
    ("FS603", include_str!("../../docs/findings/FS603.md")),
    ("FS604", include_str!("../../docs/findings/FS604.md")),
    ("FS605", include_str!("../../docs/findings/FS605.md")),
    ("FS606", include_str!("../../docs/findings/FS606.md")),
    ("FS607", include_str!("../../docs/findings/FS607.md")),
    ("FS608", include_str!("../../docs/findings/FS608.md")),
    ("FS609", include_str!("../../docs/findings/FS609.md")),
    ("FS610", include_str!("../../docs/findings/FS610.md")),
    ("FS611", include_str!("../../docs/findings/FS611.md")),
];

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
