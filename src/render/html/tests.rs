use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::{POLICY, STYLE, report};
use crate::render::invocation::Invocation;
use crate::report::{Report, Subject, Verdict};

#[test]
fn the_policy_allows_this_style_sheet_and_nothing_else() {
    let hash = ring::digest::digest(&ring::digest::SHA256, STYLE.as_bytes());
    let hash = format!("style-src 'sha256-{}'", STANDARD.encode(hash));
    assert!(POLICY.contains(&hash), "the policy needs {hash}");
    for word in ["unsafe", "http", "data:", "*"] {
        assert!(!POLICY.contains(word), "{word}");
    }
    // It is put in as it is.
    assert!(!STYLE.contains('<') && !STYLE.contains("url("));
    assert_eq!(STYLE, crate::render::escape::lines(STYLE));
}

fn page(text: &str) -> String {
    let target = Subject::new("ClusterStagedUpdateRun", "", text);
    let report_of = Report::new(target, Verdict::Stuck, text.to_owned());
    report(&report_of, &Invocation::default())
}

proptest! {
    #[test]
    fn no_text_opens_an_element(text in ".*|(?s).*<[a-z/!].*|\\PC*[\"'<>&]\\PC*") {
        let plain = page("x");
        let hostile = page(&text);
        prop_assert_eq!(hostile.matches('<').count(), plain.matches('<').count());
        prop_assert_eq!(hostile.matches('"').count(), plain.matches('"').count());
        prop_assert!(!hostile.chars().any(|c| c.is_control() && c != '\n'));
    }
}
