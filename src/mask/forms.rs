//! Credentials that say by their form what they are.
//!
//! How tokens of each issuer begin, what they are made of and how long they are was taken from the
//! issuers' documentation and from the rules of gitleaks (config/gitleaks.toml), detect-secrets and
//! troubleshoot.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex_lite::Regex;

use super::names::STEMS;
use super::values::{decode, is_encoded_pair, is_harmless, is_mixed, is_object_name, looks_random};

/// Tokens: of what they are made behind their beginnings, how long that is at least, and the beginnings.
const TOKENS: &str = "\
hex 32 dapi SK key- shpat_ shpca_ shppa_ shpss_
hex 40 pul- squ_ sqp_ sqa_ sbp_ shippo_live_ shippo_test_ rubygems_
hex 64 sntryu_ dop_v1_ doo_v1_ dor_v1_
upper 16 AKIA ASIA ABIA ACCA
upper 26 API- GOOG1
alnum 10 sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ rzp_live_
alnum 16 LTAI sm_aat_ sm_pat_ sm_sat_
alnum 24 s. NRAK-
alnum 30 sk- cio p8e- ico- lin_api_ lin_oauth_ BBFF- hf_ api_org_
alnum 36 ghp_ gho_ ghu_ ghs_ ghr_ npm_ nfp_ pnu_ r8_ pplx- ntn_ gsk_ dp.pt. dp.sa. dp.ct. bkua_ CLOJARS_ secret_ oy2
alnum 50 AGE-SECRET-KEY-1 AKCp EZAK EZTK EAAC EAAM EAAG rdme_ xai- cmVmd
word 12 AVNS_ FLWSECK tskey- whsec_
word 20 sk-ant- sk-proj- sk-svcacct- sk-admin- sk-None- sk-or- dckr_pat_ dckr_oat_ hvs. hvb. hvr. github_pat_
word 20 gldt- glft- glffct- glimt- glrtr- glsoat- glcbt- glwt- glagent- gloas- glptt- GR1348941 A3- GOCSPX- NRII-
word 20 sb_secret_ sq0atp- sgp_ lsv2_pt_ lsv2_sk_
word 35 AIza 1//0 AQVN sdk- pat-na1- pat-eu1- HRKU- figd_ fo1_ glsa_ sha256~ pcsk_ sq0csp- dnkey- CCIPAT_ CCIPRJ_
word 35 CFPAT- tk-us- PMAK- pypi- s-s4t2 xkeysib- xsmtpsib-
word 58 EAAA
dotted 16 glpat- glrt- xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.xox xapp- snyk_uat. ya29. ATBB
dotted 32 pscale_tkn_ pscale_oauth_ pscale_pw_ dp.st. duffel_ ATATT3 ATCTT3 ATOA tfp_
dotted 60 SG. sk.eyJ fio-u- sat. pat. dt0c01. dt0s01. t1.9eu v1.0-
dotted 79 pat
base64 20 bedrock-api-key- sntrys_
base64 32 glc_ fm1r_ fm1a_ fm2_ ABSK ops_eyJ eyJrIjoi ZXlK {SSHA} {SHA}
hash 24 $2a$ $2b$ $2y$ $1$ $5$ $6$ $apr1$ $argon2 $scrypt$";

/// A form: how it begins, or words of which one is in each text that has it; its pattern, which begins
/// there with `^`, of which the group is secret, or all; and what else has to be true of the secret.
type SecretForm = (&'static str, &'static str, fn(&str) -> bool);

const FORMS: &[SecretForm] = &[
    // Tokens that are known by what is in their middle: Entra ID, Terraform, Telegram, MaxMind, Mailchimp
    (
        "Q~ .atlasv1. :AA _mmk -us",
        r"(?x)\b(?:[0-9A-Za-z_~.-]{4}Q~[0-9A-Za-z_~.-]{31,40} | [0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_-]{60,80}
            | [0-9]{8,10}:AA[0-9A-Za-z_-]{33} | [0-9A-Za-z_]{36}_mmk | [0-9a-f]{32}-us[0-9]{1,2})",
        is_mixed,
    ),
    // JSON web tokens: three parts, of which the first two are JSON
    (
        "eyJ",
        r"^eyJ[0-9A-Za-z_-]{7,}\.[0-9A-Za-z_-]{10,}(?:\.[0-9A-Za-z_-]*)*",
        |_| true,
    ),
    // PEM, to the end of the text where it is cut off. Lines may be joined by `\n`.
    (
        "-----BEGIN",
        r"^(?s)-----BEGIN [^\n-]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [^\n-]*-*|$)",
        |_| true,
    ),
    (
        "LS0tLS1CRUdJTi",
        r"^LS0tLS1CRUdJTi[0-9A-Za-z_+/=-]{20,}",
        |key| {
            decode(&key[..key.len().min(64) / 4 * 4]).is_some_and(|key| key.contains("PRIVATE KEY"))
        },
    ),
    // Addresses with a credential in their path
    (
        "hooks.slack.com/ hooks.slack-gov.com/ discord.com/api/ discordapp.com/api/ .webhook.office.com/ outlook.office.com/webhook/ api.telegram.org/bot hooks.zapier.com/ maker.ifttt.com/ events.pagerduty.com/ open.feishu.cn/open-apis/ open.larksuite.com/open-apis/ hc-ping.com/ alert.victorops.com/ hooks.mattermost.com/",
        r"^[a-z.-]+/(?:services/|workflows/|triggers?/|api/webhooks/|webhookb2/|webhook/|bot|hooks/(?:catch/)?|integrations?/|open-apis/bot/v2/hook/)?([0-9A-Za-z_+/=@.~:-]{10,})",
        |_| true,
    ),
    // `scheme://user:PASSWORD@host`, also with a slash in it, where it is no port; `https://TOKEN@host`.
    // A user alone is no credential, but tokens stand there for a registry or repository.
    (
        "://",
        r#"^(?x)://[^\s/?\#"'<>`\\,:]*:(?: ([^\s/?\#"'<>`\\,]*)@
            | ([0-9]*[^\s0-9/?\#"'<>`\\,][^\s"'<>`\\,]*)@[0-9A-Za-z])"#,
        |password| !is_harmless(password),
    ),
    (
        "http:// https://",
        r#"^https?://([^\s/?\#"'<>`\\,:]+)@"#,
        |token| token != "git" && !is_harmless(token),
    ),
    (
        "@tcp( @unix(",
        r#"[0-9A-Za-z_.-]+:([^\s,"'`\\@][^\s,"'`\\]*)@(?:tcp|unix)\("#,
        |password| !is_harmless(password),
    ),
    // A word is no token: one has a digit, and is long, or is `USER:PASSWORD` in base64.
    (
        "bearer basic",
        r#"^(?i)(?:bearer|basic)[ :"']{1,4}([0-9A-Za-z_.~+/=:|-]{8,})"#,
        |token| {
            token.len() >= 16
                && token.contains(|c: char| c.is_ascii_digit())
                && !is_object_name(token)
                || is_encoded_pair(token)
        },
    ),
    // What is secret in a query only
    (
        "?sig &sig ?x- &x- ?assertion &assertion",
        r#"^(?i)[?&](?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token)|assertion)=([^\s&"'\#\\:]+)"#,
        |value| !is_harmless(value),
    ),
    (
        "?key= &key= ?code= &code= ?hash= &hash=",
        r#"^(?i)[?&](?:key|code|hash)=([^\s&"'\#\\:]{16,})"#,
        looks_random,
    ),
    // Programs whose flags say nothing by their names
    (
        "curl",
        r#"\bcurl\b[^\n]*?[ "',](?:-u|-U|--user|--proxy-user)["', =\\]*[^\s:"',=]+:([^\s"'\\]+)"#,
        |value| !is_harmless(value),
    ),
    (
        "mysql mariadb sshpass",
        r#"\b(?:mysql|mariadb|sshpass)\b[^\n]*?[ "',]-p([^\s"',\\]+)"#,
        |value| !is_harmless(value),
    ),
    (
        "sshpass redis-cli login ldap mongo",
        r#"\b(?:sshpass|redis-cli|(?:docker|podman|registry|az) login|ldap(?:search|add|modify)|mongo(?:sh|dump)?)\b[^\n]*?[ "',]-[paw]["', =\\]+([^\s"'\\]+)"#,
        |value| !is_harmless(value),
    ),
];

/// What a word in a text may lead to.
#[derive(Clone, Copy)]
enum CredentialLead {
    /// A token: of what it is made, and how long that is at least.
    Token(&'static str, usize),
    Form(usize),
    Name,
}

/// All words that lead to a credential, found in one pass. A text without any is done.
struct CredentialLeads {
    words: AhoCorasick,
    of: Vec<(CredentialLead, &'static str)>,
}

static LEADS: LazyLock<Option<CredentialLeads>> = LazyLock::new(|| {
    let tokens = TOKENS.lines().filter_map(|row| {
        let (part, row) = row.split_once(' ')?;
        let (least, words) = row.split_once(' ')?;
        Some((CredentialLead::Token(part, least.parse().ok()?), words))
    });
    let forms = FORMS.iter().enumerate();
    let of: Vec<_> = tokens
        .chain(forms.map(|(at, form)| (CredentialLead::Form(at), form.0)))
        .chain([(CredentialLead::Name, STEMS)])
        .flat_map(|(lead, words)| words.split(' ').map(move |word| (lead, word)))
        .collect();
    let words = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(true)
        .build(of.iter().map(|(_, word)| word));
    Some(CredentialLeads {
        words: words.ok()?,
        of,
    })
});

/// The patterns of forms, each built when a text may have it.
static PATTERNS: [OnceLock<Option<Regex>>; FORMS.len()] = [const { OnceLock::new() }; FORMS.len()];

/// Whether a text may hold a credential at all.
pub(super) fn is_suspect(text: &str) -> bool {
    LEADS
        .as_ref()
        .is_none_or(|leads| leads.words.is_match(text))
}

/// Finds the credentials in a text that have one of the forms, and the parts of names of others.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut stems = Vec::new();
    let Some(leads) = LEADS.as_ref() else {
        found.push(0..text.len());
        return stems;
    };
    // Up to where tokens and forms were looked for.
    let (mut token, mut done) = (0, [0; FORMS.len()]);
    for word in leads.words.find_overlapping_iter(text) {
        let (lead, known) = leads.of[word.pattern().as_usize()];
        let is_inside =
            text[word.range()].starts_with(is_alnum) && text[..word.start()].ends_with(is_alnum);
        match lead {
            CredentialLead::Name => stems.push(word.range()),
            CredentialLead::Token(part, least)
                if word.start() >= token && !is_inside && text[word.range()] == *known =>
            {
                let end = token_end(text, word.end(), part, least);
                found.extend(end.map(|end| word.start()..end));
                token = end.unwrap_or(token);
            }
            CredentialLead::Form(at) if word.start() >= done[at] => {
                let is_anchored = FORMS[at].1.starts_with('^');
                if !is_inside || !is_anchored {
                    let from = if is_anchored { word.start() } else { 0 };
                    done[at] = find_form(text, from, at, found);
                }
            }
            CredentialLead::Token(..) | CredentialLead::Form(_) => {}
        }
    }
    stems
}

fn is_alnum(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// Finds the secrets of a form from here on. Returns up to where there are no others.
fn find_form(text: &str, from: usize, at: usize, found: &mut Vec<Range<usize>>) -> usize {
    let (_, pattern, is_secret) = FORMS[at];
    let form = PATTERNS[at].get_or_init(|| Regex::new(pattern).ok());
    let rest = &text[from..];
    let mut end = None;
    for place in form.iter().flat_map(|form| form.captures_iter(rest)) {
        let secret = place.iter().flatten().last();
        let secret = secret.map(|secret| from + secret.start()..from + secret.end());
        end = secret.as_ref().map(|secret| secret.end);
        found.extend(secret.filter(|secret| is_secret(&text[secret.clone()])));
    }
    if !pattern.starts_with('^') {
        return text.len();
    }
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\' | ',');
    end.unwrap_or_else(|| from + rest.find(ends).unwrap_or(rest.len()))
}

/// Where a token ends whose beginning ends here, if it is one: no part of a word.
fn token_end(text: &str, start: usize, part: &str, least: usize) -> Option<usize> {
    let signs = match part {
        "word" => "-_",
        "dotted" => "-_.=%",
        "base64" => "-_+/=",
        "hash" => "-_+/=@.~:$,",
        _ => "",
    };
    let is_part = |c: char| match part {
        "hex" => c.is_ascii_hexdigit(),
        "upper" => c.is_ascii_uppercase() || c.is_ascii_digit(),
        _ => c.is_ascii_alphanumeric() || signs.contains(c),
    };
    let body = text[start..].split(|c| !is_part(c)).next()?;
    let end = start + body.len();
    // Of capitals alone, the length tells.
    let is_whole = is_mixed(body) || part == "upper" && body.len() == least;
    (body.len() >= least && is_whole && !text[end..].starts_with(is_alnum)).then_some(end)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use regex_lite::Regex;

    use super::{FORMS, find};

    #[test]
    fn all_forms_are_patterns_and_have_a_word_that_leads_to_them() {
        for (words, pattern, _) in FORMS {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
            assert!(!words.split(' ').any(str::is_empty), "{words}");
        }
    }

    #[test]
    fn keys_in_base64_are_found_and_certificates_are_not() {
        for kind in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "] {
            let key =
                format!("-----BEGIN {kind}PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKc");
            let text = STANDARD.encode(key);
            let mut found = Vec::new();
            find(&text, &mut found);
            let whole = 0..text.len();
            assert_eq!(found, [whole], "{kind}{text}");
        }
        let mut found = Vec::new();
        find(
            &STANDARD.encode("-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKc"),
            &mut found,
        );
        assert!(found.is_empty());
    }
}
