//! Addresses of servers and proxies, as kubectl reads them.
//!
//! What stands before an `@` in an address is a name and a password: it is taken out of the address
//! here, so that no text can show it. The reasons never quote the address.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};

/// An address without what must not be shown.
#[derive(Debug, Clone)]
pub(in crate::hub) struct ServerAddress {
    pub uri: Uri,
    /// The name and the password that stood in it.
    pub login: Option<UrlLogin>,
}

#[derive(Clone)]
pub(in crate::hub) struct UrlLogin {
    pub name: String,
    pub password: String,
}

impl std::fmt::Debug for UrlLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Login")
    }
}

impl UrlLogin {
    pub(in crate::hub) fn header(&self) -> HeaderValue {
        basic(&self.name, &self.password)
    }
}

pub(in crate::hub) fn basic(name: &str, password: &str) -> HeaderValue {
    let text = format!("Basic {}", STANDARD.encode(format!("{name}:{password}")));
    // Base64 has no character that a header cannot carry.
    let mut value = HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("Basic"));
    value.set_sensitive(true);
    value
}

impl ServerAddress {
    /// The address of an API server: a URL, or a host with a port, which kubectl takes for plain
    /// HTTP.
    pub(in crate::hub) fn server(text: &str) -> Result<Self, &'static str> {
        let this = match with_scheme(text) {
            Some((scheme, rest)) => Self::read(&scheme, rest)?,
            None if text
                .split_once('/')
                .is_some_and(|(_, path)| !path.is_empty()) =>
            {
                return Err("it is not a URL: it does not start with https://");
            }
            None => Self::read("http", text)?,
        };
        match this.uri.scheme_str() {
            Some("http" | "https") => Ok(this),
            _ => Err("its scheme is neither https nor http"),
        }
    }

    pub(in crate::hub) fn proxy(text: &str) -> Result<Self, &'static str> {
        let (scheme, rest) = with_scheme(text).ok_or("it is not a URL")?;
        match scheme.as_str() {
            "http" | "https" | "socks5" => Self::read(&scheme, rest),
            _ => Err("its scheme is not http, https, or socks5"),
        }
    }

    fn read(scheme: &str, rest: &str) -> Result<Self, &'static str> {
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        let rest = &rest[..end];
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (login, place) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(decode_login(login)?), place),
            None => (None, authority),
        };
        check_place(place)?;
        let path: String = path.bytes().map(path_byte).collect();
        let text = format!("{scheme}://{place}{path}");
        let uri: Uri = text.parse().map_err(|_| "it is not a URL")?;
        if uri.host().is_none_or(str::is_empty) {
            return Err("it has no host");
        }
        Ok(Self { uri, login })
    }

    pub(in crate::hub) fn is_secure(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }

    /// The host without the brackets of an IPv6 address.
    pub(in crate::hub) fn host(&self) -> &str {
        let host = self.uri.host().unwrap_or_default();
        host.trim_matches(['[', ']'])
    }

    pub(in crate::hub) fn shown(&self) -> String {
        let text = self.uri.to_string();
        text.trim_end_matches('/').to_owned()
    }
}

/// Splits off a scheme; `None` where the text has none, or nothing behind it.
fn with_scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let letters = scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let first = scheme.bytes().next()?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    (letters && first.is_ascii_alphabetic() && !host.is_empty())
        .then(|| (scheme.to_ascii_lowercase(), rest))
}

fn check_place(place: &str) -> Result<(), &'static str> {
    if place.is_empty() {
        return Err("it has no host");
    }
    if place.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("it has a blank or a control character");
    }
    if !place.is_ascii() {
        return Err("its host has a non-ASCII character: use the ASCII form");
    }
    let port = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest
                .split_once(']')
                .ok_or("its closing bracket is missing")?;
            if host.parse::<std::net::Ipv6Addr>().is_err() {
                return Err("the text in brackets is not an IPv6 address");
            }
            match port.strip_prefix(':') {
                Some(port) => port,
                None if port.is_empty() => "",
                None => return Err("the text after the bracket is not a port"),
            }
        }
        None => match place.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err("an IPv6 address needs brackets");
            }
            Some(("", _)) => return Err("it has no host"),
            Some((_, port)) => port,
            None => "",
        },
    };
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    if digits && (port.is_empty() || port.parse::<u16>().is_ok()) {
        Ok(())
    } else {
        Err("its port is not a number up to 65535")
    }
}

fn path_byte(byte: u8) -> String {
    match byte {
        b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

fn decode_login(text: &str) -> Result<UrlLogin, &'static str> {
    let (name, password) = text.split_once(':').unwrap_or((text, ""));
    let decode =
        |text: &str| unescape(text).ok_or("its user name or password is escaped incorrectly");
    Ok(UrlLogin {
        name: decode(name)?,
        password: decode(password)?,
    })
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let value = digit()?.saturating_mul(16).saturating_add(digit()?);
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::ServerAddress;
    use proptest::prelude::*;

    #[test]
    fn a_server_is_read_as_kubectl_reads_it() {
        for (text, shown) in [
            ("https://hub.example", "https://hub.example"),
            ("HTTPS://hub.example:6443/", "https://hub.example:6443"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("hub.example", "http://hub.example"),
            ("localhost:8080/", "http://localhost:8080"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("https://[::1]", "https://[::1]"),
            ("https://hub/a/b/", "https://hub/a/b"),
            ("https://hub/a?b=c#d", "https://hub/a"),
            ("https://hub:0", "https://hub:0"),
            ("https://jane:secret@hub/x", "https://hub/x"),
            ("jane:secret@hub:80", "http://hub:80"),
        ] {
            let address = ServerAddress::server(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(address.shown(), shown, "{text}");
            assert!(!format!("{address:?}").contains("secret"));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_being_quoted() {
        for text in [
            "",
            " ",
            "https://",
            "://hub",
            "ftp://hub",
            "hub/path",
            "https://hub:port",
            "https://hub:65536",
            "https://a b",
            "https://hub\n",
            "https://b\u{fc}cher.example",
            "https://[::1",
            "https://[::g]",
            "https://[::1]x",
            "https://::1",
            "https://:6443",
            "https://jane:%zz@hub",
            "https://user:secret@",
        ] {
            let why = ServerAddress::server(text).err();
            assert!(why.is_some_and(|why| !why.contains("secret")), "{text:?}");
        }
    }

    #[test]
    fn a_login_is_decoded() {
        let address = ServerAddress::proxy("socks5://jane:p%40ss%3A@proxy:1080").unwrap();
        let login = address.login.unwrap();
        assert_eq!(
            (login.name.as_str(), login.password.as_str()),
            ("jane", "p@ss:")
        );
        assert!(ServerAddress::proxy("ftp://proxy").is_err());
        assert!(ServerAddress::proxy("proxy:3128").is_err());
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "\\PC{0,40}", scheme in "(https?://|socks5://)?") {
            let whole = format!("{scheme}{text}");
            let _ = ServerAddress::proxy(&whole);
            if let Ok(address) = ServerAddress::server(&whole) {
                prop_assert!(address.uri.host().is_some());
                prop_assert!(!address.shown().contains('@') || address.uri.path().contains('@'));
                // What requests do with it.
                let joined = http::Uri::builder()
                    .scheme(address.uri.scheme_str().unwrap_or_default())
                    .authority(address.uri.authority().unwrap().as_str())
                    .path_and_query("/api?x=y")
                    .build();
                prop_assert!(joined.is_ok());
            }
        }

        #[test]
        fn a_password_never_stays(password in "[a-zA-Z0-9]{12,20}", host in "[a-z]{1,8}(:[0-9]{1,6})?") {
            for scheme in ["", "https://", "http://", "ftp://"] {
                let text = format!("{scheme}jane:{password}@{host}");
                let said = match ServerAddress::server(&text) {
                    Ok(address) => format!("{} {address:?}", address.shown()),
                    Err(why) => why.to_owned(),
                };
                prop_assert!(!said.contains(&password));
            }
        }
    }
}
