//! What a name says about its value: names of keys, variables, flags, headers and elements.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameMeaning {
    Nothing,
    /// A credential, if the value looks random.
    Perhaps,
    /// A user and a password in base64, as in a Docker configuration.
    Pair,
    Credential,
    /// A credential, or the name of the Secret that has it: `secret: web-tls`.
    SecretOrName,
    /// A credential behind the name of its scheme: `Authorization`.
    Scheme,
    Cookies,
}

/// A name without one of these says nothing.
pub(super) const STEMS: &str = "pass pwd pw psk token secret key cred auth bearer cookie jwt salt pepper otp sas session \
    conn mnemonic license netrc signature identified";

/// Ends of a name, without separators, whose values are credentials.
const CREDENTIALS: &str = "password passwort passwd passphrase passcode passw pwd token secret secretid accesskeyid \
    credential credentials creds connectionstring connstring connstr mnemonic bearer netrc pgpass identified";

/// Last words of a name, whole, whose values are credentials.
const WORDS: &str = "pass pw psk pswd cred masterauth";

/// What makes of `pass` at the end of one word a password: `dbpass`.
const BEFORE_PASS: &str = "db user smtp mail admin root key store require redis mysql ldap ssh http ftp auth bind proxy my api sql";

/// What makes of a `pass` something else: directives of web servers, filters, tests.
const NO_PASSWORDS: &str = "proxy fastcgi uwsgi scgi grpc memcached by low high band all first second one two single \
    multi next must test tests day";

/// What makes a key a credential.
const KEYS: &str = "api access secret private priv account shared signing sign encryption encrypt decryption enc auth \
    authentication client master ssh rsa dsa ed gpg pgp hmac jwt aes session cookie deploy license licence \
    subscription consumer webhook integration ingestion ingest cipher crypto wrapping unseal recovery vapid sas bearer \
    tls ssl admin storage service app application preshared validation security root gossip pass";

/// What makes a key something else, however random its value.
const NO_KEYS: &str = "public pub partition sort primary foreign label annotation topology cache routing row group \
    index map object lookup idempotency dedup data metric property translation feature selector field json hash ref name";

/// What makes a secret the secret itself, and not the object that has it.
const SECRETS: &str = "client app shared consumer jwt cookie oauth session webhook signing";

/// What makes a token a place in a list, or a word of a language model.
const NO_TOKENS: &str =
    "continue continuation page next sync resume cursor eos bos pad unk stop sep cls mask max min";

/// Last words whose values are credentials if they look random.
const PERHAPS: &str =
    "jwt salt pepper otp totp sas signature tokens secrets passwords keys session license auth";

/// What may stand behind the word that counts: `SECRET_KEY_BASE`, `client-key-data`.
const DECORATIONS: &str = "value base b data pem der text txt string str raw plain plaintext cleartext encoded hash \
    hashed current old new previous env json content contents in arg prod production staging stage dev test live local \
    default secondary";

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

fn ends_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|end| word.ends_with(end))
}

/// No name is longer; of those that are, the end counts.
const LONGEST: usize = 128;

/// What the values of such a name are: `DB_PASSWORD`, `api-key`, `spring.datasource.password` hold
/// credentials, `TOKEN_FILE` and `secretName` do not.
pub(super) fn says(name: &str) -> NameMeaning {
    let name = &name[name.ceil_char_boundary(name.len().saturating_sub(LONGEST))..];
    // The shell's own variables are folders.
    let is_folder = matches!(name.trim_start_matches('$'), "PWD" | "OLDPWD");
    let lower = name.to_ascii_lowercase();
    if is_folder || !STEMS.split(' ').any(|stem| lower.contains(stem)) {
        return NameMeaning::Nothing;
    }
    let words = words(name);
    let mut words: Vec<&str> = words.split('-').collect();
    loop {
        match says_in_words(&words) {
            // An environment variable holds the secret itself.
            Some(NameMeaning::SecretOrName) if !name.contains(|c: char| c.is_ascii_lowercase()) => {
                return NameMeaning::Credential;
            }
            Some(said) => return said,
            None if words.pop().is_some_and(|last| is_in(DECORATIONS, last)) => {}
            None => return NameMeaning::Nothing,
        }
    }
}

/// What these words say at the end of a name; `None` where the last says nothing.
fn says_in_words(words: &[&str]) -> Option<NameMeaning> {
    let [front @ .., last] = words else {
        return None;
    };
    let before = front.last().copied().unwrap_or_default();
    let joined = words.concat();
    Some(match *last {
        "authorization" => NameMeaning::Scheme,
        "cookie" => NameMeaning::Cookies,
        "auth" if before.is_empty() => NameMeaning::Pair,
        "token" if is_in(NO_TOKENS, before) => NameMeaning::Nothing,
        "pass" if is_in(NO_PASSWORDS, before) => NameMeaning::Nothing,
        "key" if is_in(NO_KEYS, before) => NameMeaning::Nothing,
        _ if words.iter().any(|word| is_in("checksum digest sha", word)) => NameMeaning::Nothing,
        _ if joined
            .strip_suffix("key")
            .is_some_and(|stem| ends_in(KEYS, stem)) =>
        {
            NameMeaning::Credential
        }
        "key" if !before.is_empty() => NameMeaning::Perhaps,
        "secret" if is_in(SECRETS, before) => NameMeaning::Credential,
        "secret" | "credential" | "credentials" | "creds" => NameMeaning::SecretOrName,
        _ if ends_in(CREDENTIALS, &joined) || is_in(WORDS, last) => NameMeaning::Credential,
        _ if last
            .strip_suffix("pass")
            .is_some_and(|stem| is_in(BEFORE_PASS, stem)) =>
        {
            NameMeaning::Credential
        }
        _ if is_in(PERHAPS, last) => NameMeaning::Perhaps,
        _ => return None,
    })
}

/// Whether a key, variable or flag of this name holds a credential, whatever it looks like.
pub(super) fn names_a_credential(name: &str) -> bool {
    matches!(
        says(name),
        NameMeaning::Credential | NameMeaning::SecretOrName
    )
}

/// The words of a name: `awsSecretAccess_Key2` is `aws-secret-access-key`.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_alphabetic() {
            let begins = !before.is_ascii_alphabetic()
                || c.is_ascii_uppercase() && (before.is_ascii_lowercase() || next_is_lower);
            if begins && !words.is_empty() {
                words.push('-');
            }
            words.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{NameMeaning, says, words};

    #[test]
    fn names_are_read_word_by_word() {
        for (name, wanted) in [
            ("awsSecretAccess_Key2", "aws-secret-access-key"),
            ("XMLHttpAPIKey", "xml-http-api-key"),
            ("DB-PASS", "db-pass"),
            ("", ""),
            ("12", ""),
        ] {
            assert_eq!(words(name), wanted, "{name}");
        }
    }

    #[test]
    fn what_a_name_says() {
        let table: &[(NameMeaning, &str)] = &[
            (
                NameMeaning::Credential,
                "DB_PASSWORD DB_PASS db-pass dbpass PGPASSWORD PASSWD Pwd pwd DB_PW API_TOKEN_1 apiKey \
                 X-Api-Key api_key API_KEY SECRET_KEY_BASE AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID \
                 AZURE_CREDS REGISTRY_CREDENTIALS client-key-data clientSecretValue clientSecret CLIENT_SECRET \
                 STRIPE_SECRET spring.datasource.password passphrase storepass requirepass _authToken \
                 ssh-key tls.key private_key sshKey sharedAccessKey ConnectionStrings.ConnectionString \
                 sentry/auth-token GITHUB_TOKEN oauth2Token vault-secret-id password.txt \
                 PASSWORD_HASH --token encryption-key-base64 LICENSE_KEY userPassword2",
            ),
            (
                NameMeaning::SecretOrName,
                "secret tlsSecret existingSecret credentials aws-creds nginx.ingress.kubernetes.io/auth-secret",
            ),
            (
                NameMeaning::Perhaps,
                "datadogKey write_key tokens passwords JWT user-salt",
            ),
            (NameMeaning::Pair, "auth _auth"),
            (NameMeaning::Scheme, "Authorization proxy-authorization"),
            (NameMeaning::Cookies, "Cookie Set-Cookie"),
            (
                NameMeaning::Nothing,
                "TOKEN_FILE token-sha256 secretName secretKeyRef PWD OLDPWD tokenExpirationSeconds password_policy \
                 public_key publicKey topologyKey key partition-key sortingLabelKey checksum/secret \
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
