//! What a name says about its value: names of keys, variables, flags, headers and elements.

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Nothing,
    /// A credential, if the value looks random.
    Perhaps,
    /// A user and a password in base64, as in a Docker configuration.
    Pair,
    Credential,
    /// A credential, or the name of the Secret that has it: `secret: web-tls`.
    SecretOrName,
    /// The hash of something that is secret: `checksum/secret`.
    Hash,
    /// A credential behind the name of its scheme: `Authorization`.
    Scheme,
    Cookies,
}

/// No name is longer; of those that are, the end counts.
const LONGEST: usize = 128;

/// Parts of names of credentials.
pub(super) const STEMS: &[&str] = &[
    "pass", "pwd", "pw", "psk", "token", "secret", "key", "cred", "auth", "bearer", "cookie",
    "jwt", "salt", "pepper", "otp", "sas", "session", "connstr", "mnemonic", "license", "netrc",
];

/// More of them, which are too common in texts to look for.
const IN_NAMES: &[&str] = &["signature", "connect"];

/// Ends of a name, without separators, whose values are credentials.
const CREDENTIALS: &[&str] = &[
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "passcode",
    "passw",
    "token",
    "secret",
    "secretid",
    "accesskeyid",
    "credential",
    "credentials",
    "creds",
    "connectionstring",
    "connstring",
    "connstr",
    "mnemonic",
    "bearer",
    "netrc",
    "htpasswd",
    "pgpass",
];

/// Last words of a name, whole, whose values are credentials.
const WORDS: &[&str] = &["pass", "pw", "psk", "pswd", "cred", "masterauth"];

/// What makes of `pass` at the end of one word a password: `dbpass`.
const BEFORE_PASS: &[&str] = &[
    "db", "user", "smtp", "mail", "admin", "root", "key", "store", "require", "redis", "mysql",
    "ldap", "ssh", "http", "ftp", "auth", "bind", "proxy", "my", "api", "pg", "sql",
];

/// What makes of a `pass` something else: directives of web servers, filters, tests.
const NO_PASSWORDS: &[&str] = &[
    "proxy",
    "fastcgi",
    "uwsgi",
    "scgi",
    "grpc",
    "memcached",
    "by",
    "low",
    "high",
    "band",
    "all",
    "first",
    "second",
    "one",
    "two",
    "single",
    "multi",
    "next",
    "must",
    "test",
    "tests",
    "day",
];

/// What makes a key a credential.
const KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "priv",
    "account",
    "shared",
    "signing",
    "sign",
    "encryption",
    "encrypt",
    "decryption",
    "enc",
    "auth",
    "authentication",
    "client",
    "master",
    "ssh",
    "rsa",
    "dsa",
    "ed25519",
    "ed",
    "gpg",
    "pgp",
    "hmac",
    "jwt",
    "aes",
    "session",
    "cookie",
    "deploy",
    "license",
    "licence",
    "subscription",
    "consumer",
    "webhook",
    "integration",
    "ingestion",
    "ingest",
    "cipher",
    "crypto",
    "wrapping",
    "unseal",
    "recovery",
    "vapid",
    "sas",
    "bearer",
    "tls",
    "ssl",
    "admin",
    "storage",
    "service",
    "app",
    "application",
    "preshared",
    "validation",
    "security",
    "root",
    "gossip",
    "pass",
];

/// What makes a secret the secret itself, and not the object that has it.
const SECRETS: &[&str] = &[
    "client", "app", "shared", "consumer", "jwt", "cookie", "oauth", "session", "webhook",
    "signing",
];

/// What makes a key something else, however random its value.
const NO_KEYS: &[&str] = &[
    "public",
    "pub",
    "partition",
    "sort",
    "primary",
    "foreign",
    "label",
    "annotation",
    "topology",
    "cache",
    "routing",
    "row",
    "group",
    "index",
    "map",
    "object",
    "lookup",
    "idempotency",
    "dedup",
    "data",
    "metric",
    "property",
    "translation",
    "feature",
    "selector",
    "field",
    "json",
    "hash",
    "ref",
    "name",
];

/// What makes a token a place in a list, or a word of a language model.
const NO_TOKENS: &[&str] = &[
    "continue",
    "continuation",
    "page",
    "next",
    "sync",
    "resume",
    "cursor",
    "eos",
    "bos",
    "pad",
    "unk",
    "stop",
    "sep",
    "cls",
    "mask",
    "max",
    "min",
];

/// Last words whose values are credentials if they look random.
const PERHAPS: &[&str] = &[
    "jwt",
    "salt",
    "pepper",
    "otp",
    "totp",
    "sas",
    "signature",
    "tokens",
    "secrets",
    "passwords",
    "keys",
    "session",
    "license",
    "key",
    "auth",
];

/// What may stand behind the word that counts: `SECRET_KEY_BASE`, `client-key-data`.
const DECORATIONS: &[&str] = &[
    "value",
    "base",
    "b",
    "data",
    "pem",
    "der",
    "text",
    "txt",
    "string",
    "str",
    "raw",
    "plain",
    "plaintext",
    "cleartext",
    "encoded",
    "hash",
    "hashed",
    "current",
    "old",
    "new",
    "previous",
    "env",
    "json",
    "content",
    "contents",
    "in",
    "arg",
    "prod",
    "production",
    "staging",
    "stage",
    "dev",
    "test",
    "live",
    "local",
    "default",
    "secondary",
];

/// What the values of such a name are: `DB_PASSWORD`, `api-key`, `spring.datasource.password` hold
/// credentials, `TOKEN_FILE` and `secretName` do not.
pub(super) fn says(name: &str) -> Says {
    let start = name.ceil_char_boundary(name.len().saturating_sub(LONGEST));
    let name = &name[start..];
    let lower = name.to_ascii_lowercase();
    // Without one of these in it, a name says nothing.
    if !STEMS
        .iter()
        .chain(IN_NAMES)
        .any(|stem| lower.contains(stem))
    {
        return Says::Nothing;
    }
    let words = words(name);
    // The shell's own variables are folders.
    if matches!(lower.trim_start_matches('$'), "pwd" | "oldpwd") && name != "Pwd" && name != "pwd" {
        return Says::Nothing;
    }
    let mut words: &[String] = &words;
    while let [front @ .., last] = words
        && !front.is_empty()
        && DECORATIONS.contains(&last.as_str())
        && !front.last().is_some_and(|word| word.starts_with("conn"))
    {
        words = front;
    }
    let [front @ .., last] = words else {
        return Says::Nothing;
    };
    let before = front.last().map_or("", String::as_str);
    let joined = words.concat();
    match last.as_str() {
        "authorization" => return Says::Scheme,
        "cookie" => return Says::Cookies,
        "auth" if before.is_empty() => return Says::Pair,
        "token" if NO_TOKENS.contains(&before) => return Says::Nothing,
        "pass" if NO_PASSWORDS.contains(&before) => return Says::Nothing,
        _ => {}
    }
    if let Some(stem) = joined.strip_suffix("key") {
        return match before {
            _ if KEYS.iter().any(|key| stem.ends_with(key)) => Says::Credential,
            _ if stem.is_empty() || last != "key" || NO_KEYS.contains(&before) => Says::Nothing,
            _ => Says::Perhaps,
        };
    }
    let glued = last
        .strip_suffix("pass")
        .is_some_and(|stem| BEFORE_PASS.contains(&stem));
    let is_credential = CREDENTIALS.iter().any(|end| joined.ends_with(end))
        || last.ends_with("pwd")
        || WORDS.contains(&last.as_str())
        || glued;
    if is_credential {
        if words
            .iter()
            .any(|word| matches!(word.as_str(), "checksum" | "digest" | "sha"))
        {
            return Says::Hash;
        }
        // An environment variable holds the secret itself.
        let may_be_a_name = matches!(
            last.as_str(),
            "secret" | "credential" | "credentials" | "creds"
        ) && !SECRETS.contains(&before)
            && name.contains(|c: char| c.is_ascii_lowercase());
        return if may_be_a_name {
            Says::SecretOrName
        } else {
            Says::Credential
        };
    }
    if PERHAPS.contains(&last.as_str()) {
        Says::Perhaps
    } else {
        Says::Nothing
    }
}

/// Whether a key, variable or flag of this name holds a credential, whatever it looks like.
pub(super) fn names_a_credential(name: &str) -> bool {
    matches!(says(name), Says::Credential | Says::SecretOrName)
}

/// The words of a name, in lower case: `awsSecretAccess_Key2` has aws, secret, access and key.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_alphabetic() {
            let begins = !before.is_ascii_alphabetic()
                || c.is_ascii_uppercase()
                    && (before.is_ascii_lowercase()
                        || before.is_ascii_uppercase() && next_is_lower);
            match words.last_mut() {
                Some(word) if !begins => word.push(c.to_ascii_lowercase()),
                _ => words.push(c.to_ascii_lowercase().to_string()),
            }
        }
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Says, says, words};

    #[test]
    fn names_are_read_word_by_word() {
        for (name, wanted) in [
            ("awsSecretAccess_Key2", "aws secret access key"),
            ("XMLHttpAPIKey", "xml http api key"),
            ("DB-PASS", "db pass"),
            ("", ""),
            ("12", ""),
        ] {
            assert_eq!(words(name).join(" "), wanted, "{name}");
        }
    }

    #[test]
    fn what_a_name_says() {
        let table: &[(Says, &str)] = &[
            (
                Says::Credential,
                "DB_PASSWORD DB_PASS db-pass dbpass PGPASSWORD PASSWD Pwd pwd DB_PW API_TOKEN_1 apiKey \
                 X-Api-Key api_key API_KEY SECRET_KEY_BASE AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID \
                 AZURE_CREDS REGISTRY_CREDENTIALS client-key-data clientSecretValue clientSecret CLIENT_SECRET \
                 STRIPE_SECRET spring.datasource.password passphrase storepass requirepass _authToken \
                 ssh-key tls.key private_key sshKey sharedAccessKey ConnectionStrings.ConnectionString \
                 sentry/auth-token GITHUB_TOKEN oauth2Token vault-secret-id password.txt \
                 PASSWORD_HASH --token encryption-key-base64 LICENSE_KEY userPassword2",
            ),
            (
                Says::SecretOrName,
                "secret tlsSecret existingSecret credentials aws-creds nginx.ingress.kubernetes.io/auth-secret",
            ),
            (
                Says::Perhaps,
                "datadogKey write_key tokens passwords JWT user-salt",
            ),
            (Says::Pair, "auth _auth"),
            (Says::Hash, "checksum/secret sha-of-token"),
            (Says::Scheme, "Authorization proxy-authorization"),
            (Says::Cookies, "Cookie Set-Cookie"),
            (
                Says::Nothing,
                "TOKEN_FILE token-sha256 secretName secretKeyRef PWD OLDPWD tokenExpirationSeconds password_policy \
                 public_key publicKey topologyKey key partition-key sortingLabelKey \
                 automountServiceAccountTokens_enabled proxy_pass fastcgi_pass nextPageToken eos_token \
                 monkey bypass compass keyboard author authority passed tokenizer secretary",
            ),
        ];
        for (wanted, names) in table {
            for name in names.split_whitespace() {
                assert_eq!(says(name), *wanted, "{name}");
            }
        }
    }
}
