//! Credentials that say by their form what they are.
//!
//! How tokens of each issuer begin, what they are made of and how long they are was taken from the
//! issuers' documentation and from the rules of gitleaks (config/gitleaks.toml), detect-secrets and
//! troubleshoot.

use std::ops::Range;

/// What a token is made of behind its beginning.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    /// `0-9a-fA-F`
    Hex,
    /// `0-9a-zA-Z`
    Alnum,
    /// `A-Z0-9`
    Upper,
    /// Letters, digits, `-` and `_`
    Word,
    /// The same with `.`, `=` and `%`
    Dotted,
    /// Letters, digits, `+`, `/`, `=`, `-` and `_`
    Base64,
    /// What may stand in the path of a URL
    Path,
}

impl Of {
    fn has(self, c: char) -> bool {
        match self {
            Self::Hex => c.is_ascii_hexdigit(),
            Self::Alnum => c.is_ascii_alphanumeric(),
            Self::Upper => c.is_ascii_uppercase() || c.is_ascii_digit(),
            Self::Word => c.is_ascii_alphanumeric() || matches!(c, '-' | '_'),
            Self::Dotted => c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=' | '%'),
            Self::Base64 => c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '/' | '='),
            Self::Path => {
                c.is_ascii_alphanumeric()
                    || matches!(c, '-' | '_' | '+' | '/' | '=' | '@' | '.' | '~' | ':')
            }
        }
    }
}

/// A form: how it begins, what follows, and how much of it at least.
pub type SecretForm = (&'static str, Of, usize);

/// Tokens, by how they begin.
pub const TOKENS: &[SecretForm] = &[
    // 1Password, Adobe, age, Aiven, Airtable
    ("ops_eyJ", Of::Base64, 100),
    ("A3-", Of::Word, 27),
    ("p8e-", Of::Alnum, 32),
    ("AGE-SECRET-KEY-1", Of::Alnum, 50),
    ("AVNS_", Of::Word, 15),
    ("pat", Of::Dotted, 79),
    // Alibaba, Amazon
    ("LTAI", Of::Alnum, 16),
    ("AKIA", Of::Upper, 16),
    ("ASIA", Of::Upper, 16),
    ("ABIA", Of::Upper, 16),
    ("ACCA", Of::Upper, 16),
    ("ABSK", Of::Base64, 100),
    ("bedrock-api-key-", Of::Base64, 20),
    // Anthropic, OpenAI and others who begin like them
    ("sk-ant-", Of::Word, 20),
    ("sk-proj-", Of::Word, 20),
    ("sk-svcacct-", Of::Word, 20),
    ("sk-admin-", Of::Word, 20),
    ("sk-None-", Of::Word, 20),
    ("sk-or-", Of::Word, 32),
    ("sk-", Of::Alnum, 32),
    // Artifactory, Atlassian, Bitbucket
    ("AKCp", Of::Alnum, 60),
    ("cmVmd", Of::Alnum, 59),
    ("ATATT3", Of::Dotted, 40),
    ("ATCTT3", Of::Dotted, 40),
    ("ATBB", Of::Dotted, 24),
    ("ATOA", Of::Dotted, 40),
    // Buildkite, CircleCI, Clojars, Cloudflare, Contentful, Cargo
    ("bkua_", Of::Alnum, 40),
    ("CCIPAT_", Of::Word, 40),
    ("CCIPRJ_", Of::Word, 40),
    ("CLOJARS_", Of::Alnum, 40),
    ("v1.0-", Of::Word, 100),
    ("CFPAT-", Of::Word, 40),
    ("cio", Of::Alnum, 32),
    // Databricks, Defined, DigitalOcean, Docker, Doppler, Duffel, Dynatrace
    ("dapi", Of::Hex, 32),
    ("dnkey-", Of::Word, 40),
    ("dop_v1_", Of::Hex, 64),
    ("doo_v1_", Of::Hex, 64),
    ("dor_v1_", Of::Hex, 64),
    ("dckr_pat_", Of::Word, 20),
    ("dckr_oat_", Of::Word, 20),
    ("dp.pt.", Of::Alnum, 40),
    ("dp.st.", Of::Dotted, 40),
    ("dp.sa.", Of::Alnum, 40),
    ("dp.ct.", Of::Alnum, 40),
    ("duffel_", Of::Dotted, 43),
    ("dt0c01.", Of::Dotted, 80),
    ("dt0s01.", Of::Dotted, 80),
    // EasyPost, Facebook, Figma, Flutterwave, Fly, Frame.io
    ("EZAK", Of::Alnum, 54),
    ("EZTK", Of::Alnum, 54),
    ("EAAC", Of::Alnum, 80),
    ("EAAM", Of::Alnum, 80),
    ("EAAG", Of::Alnum, 80),
    ("figd_", Of::Word, 40),
    ("FLWSECK", Of::Word, 12),
    ("fo1_", Of::Word, 43),
    ("fm1r_", Of::Base64, 100),
    ("fm1a_", Of::Base64, 100),
    ("fm2_", Of::Base64, 100),
    ("fio-u-", Of::Dotted, 64),
    // GitHub, GitLab
    ("ghp_", Of::Alnum, 36),
    ("gho_", Of::Alnum, 36),
    ("ghu_", Of::Alnum, 36),
    ("ghs_", Of::Alnum, 36),
    ("ghr_", Of::Alnum, 36),
    ("github_pat_", Of::Word, 36),
    ("glpat-", Of::Dotted, 20),
    ("gldt-", Of::Word, 20),
    ("glft-", Of::Word, 20),
    ("glffct-", Of::Word, 20),
    ("glimt-", Of::Word, 20),
    ("glagent-", Of::Word, 40),
    ("gloas-", Of::Word, 40),
    ("glptt-", Of::Word, 40),
    ("glrt-", Of::Dotted, 20),
    ("glrtr-", Of::Word, 20),
    ("glsoat-", Of::Word, 20),
    ("glcbt-", Of::Word, 20),
    ("glwt-", Of::Word, 20),
    ("GR1348941", Of::Word, 20),
    // Google, Grafana, Groq
    ("AIza", Of::Word, 35),
    ("ya29.", Of::Dotted, 20),
    ("GOCSPX-", Of::Word, 28),
    ("1//0", Of::Word, 35),
    ("GOOG1", Of::Upper, 40),
    ("glc_", Of::Base64, 32),
    ("glsa_", Of::Word, 40),
    ("eyJrIjoi", Of::Base64, 40),
    ("gsk_", Of::Alnum, 40),
    // Harness, HashiCorp, Heroku, Hubspot, Hugging Face
    ("sat.", Of::Dotted, 60),
    ("pat.", Of::Dotted, 60),
    ("hvs.", Of::Word, 20),
    ("hvb.", Of::Word, 20),
    ("hvr.", Of::Word, 20),
    ("s.", Of::Alnum, 24),
    ("HRKU-", Of::Word, 36),
    ("pat-na1-", Of::Word, 36),
    ("pat-eu1-", Of::Word, 36),
    ("hf_", Of::Alnum, 30),
    ("api_org_", Of::Alnum, 30),
    // Infracost, Intra42, LangSmith, LaunchDarkly, Linear
    ("ico-", Of::Alnum, 32),
    ("s-s4t2", Of::Word, 60),
    ("lsv2_pt_", Of::Word, 32),
    ("lsv2_sk_", Of::Word, 32),
    ("sdk-", Of::Word, 36),
    ("lin_api_", Of::Alnum, 32),
    ("lin_oauth_", Of::Alnum, 32),
    // Mailgun, Mapbox, MessageBird, Netlify, New Relic, Notion, npm, NuGet
    ("key-", Of::Hex, 32),
    ("sk.eyJ", Of::Dotted, 60),
    ("nfp_", Of::Alnum, 36),
    ("NRAK-", Of::Alnum, 27),
    ("NRII-", Of::Word, 30),
    ("ntn_", Of::Alnum, 40),
    ("secret_", Of::Alnum, 43),
    ("npm_", Of::Alnum, 36),
    ("oy2", Of::Alnum, 43),
    // Octopus, OpenShift, Perplexity, Pinecone, PlanetScale, Postman, Prefect, Pulumi, PyPI
    ("API-", Of::Upper, 26),
    ("sha256~", Of::Word, 43),
    ("pplx-", Of::Alnum, 40),
    ("pcsk_", Of::Word, 40),
    ("pscale_tkn_", Of::Dotted, 32),
    ("pscale_oauth_", Of::Dotted, 32),
    ("pscale_pw_", Of::Dotted, 32),
    ("PMAK-", Of::Word, 50),
    ("pnu_", Of::Alnum, 36),
    ("pul-", Of::Hex, 40),
    ("pypi-", Of::Word, 50),
    // Readme, Replicate, RubyGems, Scalingo, Sendgrid, Sendinblue, Sentry, Settlemint
    ("rdme_", Of::Alnum, 60),
    ("r8_", Of::Alnum, 37),
    ("rubygems_", Of::Hex, 48),
    ("tk-us-", Of::Word, 48),
    ("SG.", Of::Dotted, 60),
    ("xkeysib-", Of::Word, 64),
    ("xsmtpsib-", Of::Word, 64),
    ("sntrys_", Of::Base64, 60),
    ("sntryu_", Of::Hex, 64),
    ("sm_aat_", Of::Alnum, 16),
    ("sm_pat_", Of::Alnum, 16),
    ("sm_sat_", Of::Alnum, 16),
    // Shippo, Shopify, Slack, Snyk, Sonar, Sourcegraph, Square, Stripe, Supabase
    ("shippo_live_", Of::Hex, 40),
    ("shippo_test_", Of::Hex, 40),
    ("shpat_", Of::Hex, 32),
    ("shpca_", Of::Hex, 32),
    ("shppa_", Of::Hex, 32),
    ("shpss_", Of::Hex, 32),
    ("xoxb-", Of::Dotted, 16),
    ("xoxp-", Of::Dotted, 16),
    ("xoxa-", Of::Dotted, 16),
    ("xoxr-", Of::Dotted, 16),
    ("xoxs-", Of::Dotted, 16),
    ("xoxo-", Of::Dotted, 16),
    ("xoxc-", Of::Dotted, 16),
    ("xoxd-", Of::Dotted, 16),
    ("xoxe-", Of::Dotted, 16),
    ("xoxe.xox", Of::Dotted, 16),
    ("xapp-", Of::Dotted, 16),
    ("snyk_uat.", Of::Dotted, 30),
    ("squ_", Of::Hex, 40),
    ("sqp_", Of::Hex, 40),
    ("sqa_", Of::Hex, 40),
    ("sgp_", Of::Word, 40),
    ("sq0atp-", Of::Word, 22),
    ("sq0csp-", Of::Word, 40),
    ("EAAA", Of::Word, 58),
    ("sk_live_", Of::Alnum, 10),
    ("sk_test_", Of::Alnum, 10),
    ("sk_prod_", Of::Alnum, 10),
    ("rk_live_", Of::Alnum, 10),
    ("rk_test_", Of::Alnum, 10),
    ("rk_prod_", Of::Alnum, 10),
    ("rzp_live_", Of::Alnum, 14),
    ("whsec_", Of::Base64, 24),
    ("sbp_", Of::Hex, 40),
    ("sb_secret_", Of::Word, 20),
    // Tailscale, Twilio, Typeform, Ubidots, xAI, Yandex
    ("tskey-", Of::Word, 16),
    ("SK", Of::Hex, 32),
    ("tfp_", Of::Dotted, 50),
    ("BBFF-", Of::Alnum, 30),
    ("xai-", Of::Alnum, 60),
    ("AQVN", Of::Word, 35),
    ("t1.9eu", Of::Dotted, 80),
    // Private keys and web tokens in base64
    ("LS0tLS1CRUdJTiBQUklWQVRFIEtF", Of::Base64, 20),
    ("LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBL", Of::Base64, 20),
    ("LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtF", Of::Base64, 20),
    ("LS0tLS1CRUdJTiBEU0EgUFJJVkFURSBL", Of::Base64, 20),
    ("LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg", Of::Base64, 20),
    ("LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBL", Of::Base64, 20),
    ("LS0tLS1CRUdJTiBQR1AgUFJJVkFURSBL", Of::Base64, 20),
    ("ZXlKaGJHY2lPaU", Of::Base64, 40),
    ("ZXlKMGVYQWlPaU", Of::Base64, 40),
    ("ZXlKcmFXUWlPaU", Of::Base64, 40),
    // Hashes of passwords: bcrypt, crypt, Apache, argon2, scrypt
    ("$2a$", Of::HASH, 50),
    ("$2b$", Of::HASH, 50),
    ("$2y$", Of::HASH, 50),
    ("$6$", Of::HASH, 40),
    ("$5$", Of::HASH, 30),
    ("$1$", Of::HASH, 24),
    ("$apr1$", Of::HASH, 24),
    ("$argon2", Of::HASH, 30),
    ("$scrypt$", Of::HASH, 30),
    ("{SSHA}", Of::Base64, 24),
    ("{SHA}", Of::Base64, 24),
];

/// Addresses with a credential in their path: everything behind the marker.
pub const ADDRESSES: &[SecretForm] = &[
    ("hooks.slack.com/services/", Of::Path, 20),
    ("hooks.slack.com/workflows/", Of::Path, 20),
    ("hooks.slack.com/triggers/", Of::Path, 20),
    ("hooks.slack-gov.com/services/", Of::Path, 20),
    ("discord.com/api/webhooks/", Of::Path, 20),
    ("discordapp.com/api/webhooks/", Of::Path, 20),
    (".webhook.office.com/webhookb2/", Of::Path, 20),
    ("outlook.office.com/webhook/", Of::Path, 20),
    ("api.telegram.org/bot", Of::Path, 20),
    ("hooks.zapier.com/hooks/catch/", Of::Path, 10),
    ("maker.ifttt.com/trigger/", Of::Path, 20),
    ("events.pagerduty.com/integration/", Of::Path, 20),
    ("open.feishu.cn/open-apis/bot/v2/hook/", Of::Path, 20),
    ("open.larksuite.com/open-apis/bot/v2/hook/", Of::Path, 20),
    ("hc-ping.com/", Of::Path, 20),
    ("alert.victorops.com/integrations/", Of::Path, 20),
    ("hooks.mattermost.com/hooks/", Of::Path, 20),
];

/// What is on one side of a middle: of what it is made, how much there is at least and at most.
type Side = (Of, usize, usize);
/// The middle of a token, what comes before it, and what behind it.
pub type Middle = (&'static str, Side, Side);

/// Tokens that are known by what is in their middle: what comes before it and how much of it, and
/// the same behind it.
pub const MIDDLES: &[Middle] = &[
    // The secret of an application in Entra ID
    ("Q~", (Of::Dotted, 4, 4), (Of::Dotted, 31, 40)),
    // Terraform Cloud
    (".atlasv1.", (Of::Alnum, 14, 14), (Of::Dotted, 60, 80)),
    // A bot of Telegram
    (":AA", (Of::Alnum, 8, 10), (Of::Word, 33, 33)),
    // MaxMind
    ("_mmk", (Of::Word, 36, 36), (Of::Alnum, 0, 0)),
    // Mailchimp
    ("-us", (Of::Hex, 32, 32), (Of::Alnum, 1, 2)),
    // Keys of Azure's services have a signature in them
    ("+ASt", (Of::Base64, 76, 80), (Of::Base64, 4, 8)),
    ("AzSe", (Of::Base64, 42, 44), (Of::Base64, 6, 8)),
    ("ACDb", (Of::Base64, 76, 80), (Of::Base64, 4, 8)),
];

impl Of {
    /// What the hash of a password is made of.
    const HASH: Self = Self::Path;
}

/// The token of a form that begins here; else how far there is none that begins like it.
pub fn token(text: &str, start: usize, form: SecretForm) -> Result<Range<usize>, usize> {
    let (beginning, of, least) = form;
    let body = start + beginning.len();
    if !text[start..].starts_with(beginning) || !begins_here(text, start) {
        return Err(start);
    }
    let is_hash = beginning.starts_with('$');
    let end = run(text, body, |c| {
        of.has(c) || is_hash && matches!(c, '$' | ',' | '=')
    });
    let made_of = &text[body..end];
    // A longer word of hexadecimal digits, of capitals or of small letters is another thing.
    let goes_on = text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
    let fits = made_of.len() >= least && (!goes_on || matches!(of, Of::Path));
    // Of capitals alone, the length tells.
    let exact = matches!(of, Of::Upper) && made_of.len() == least;
    if fits && (exact || is_mixed(made_of)) {
        Ok(start..end)
    } else {
        Err(end)
    }
}

/// What is secret in an address with this marker.
pub fn address(text: &str, start: usize, form: SecretForm) -> Option<Range<usize>> {
    let (marker, of, least) = form;
    let body = start + marker.len();
    let end = run(text, body, |c| of.has(c));
    let end = body + text[body..end].trim_end_matches(['.', ':']).len();
    (end - body >= least).then_some(body..end)
}

/// The token around its middle.
pub fn around(text: &str, start: usize, (middle, before, behind): Middle) -> Option<Range<usize>> {
    let (of, least, most) = before;
    let mut begin = start;
    for (at, c) in text[..start].char_indices().rev().take(most) {
        if !of.has(c) {
            break;
        }
        begin = at;
    }
    let length = start - begin;
    let (of, least_behind, most_behind) = behind;
    let after = start + middle.len();
    let most = text[after..].char_indices().take(most_behind + 1);
    let end = after + most.take_while(|(_, c)| of.has(*c)).count();
    let fits = length >= least
        && begins_here(text, begin)
        && (least_behind..=most_behind).contains(&(end - after));
    (fits && is_mixed(&text[begin..end])).then_some(begin..end)
}

/// Whether a token can begin here: not inside a word.
fn begins_here(text: &str, start: usize) -> bool {
    let before = text[..start].chars().next_back();
    !before.is_some_and(|c| c.is_ascii_alphanumeric())
}

/// A token has digits, or capitals between small letters: it is no word.
fn is_mixed(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
        || text.contains(|c: char| c.is_ascii_uppercase())
            && text.contains(|c: char| c.is_ascii_lowercase())
}

/// Where the characters that satisfy `part` end.
pub fn run(text: &str, start: usize, part: impl Fn(char) -> bool) -> usize {
    let rest = &text[start..];
    start + rest.find(|c| !part(c)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::{TOKENS, token};

    #[test]
    fn keys_in_base64_begin_as_the_table_says() {
        for kind in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "] {
            let key =
                format!("-----BEGIN {kind}PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKc");
            let text = STANDARD.encode(key);
            let found = TOKENS.iter().find_map(|form| token(&text, 0, *form).ok());
            assert_eq!(found, Some(0..text.len()), "{kind}{text}");
        }
        let text =
            STANDARD.encode("-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKc");
        assert!(TOKENS.iter().all(|form| token(&text, 0, *form).is_err()));
    }

    #[test]
    fn forms_are_named_once() {
        let mut beginnings: Vec<_> = TOKENS.iter().map(|form| form.0).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        assert_eq!(beginnings.len(), TOKENS.len());
    }
}
