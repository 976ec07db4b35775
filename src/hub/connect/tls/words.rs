//! What is wrong with a certificate or a handshake, in words.

use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{AlertDescription, CertificateError};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::kubefleet::duration;
use crate::words::list;

/// How many of the hosts are named that a certificate is valid for.
const HOSTS: usize = 8;

/// What words need of a server's certificate.
#[derive(Debug, Clone)]
pub(super) struct ServerCertificate {
    subject: String,
    issuer: String,
    self_signed: bool,
    from: i64,
    until: i64,
    hosts: Vec<String>,
    /// Whether it may be a server's.
    for_servers: bool,
}

impl ServerCertificate {
    pub(super) fn read(der: &CertificateDer<'_>) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let hosts = certificate.subject_alternative_name().ok().flatten();
        let hosts = hosts.map(|names| &names.value.general_names);
        let purposes = certificate.extended_key_usage().ok().flatten();
        Some(Self {
            subject: certificate.subject().to_string(),
            issuer: certificate.issuer().to_string(),
            self_signed: certificate.subject().as_raw() == certificate.issuer().as_raw(),
            from: certificate.validity().not_before.timestamp(),
            until: certificate.validity().not_after.timestamp(),
            hosts: hosts.into_iter().flatten().filter_map(host).collect(),
            for_servers: purposes
                .is_none_or(|purposes| purposes.value.any || purposes.value.server_auth),
        })
    }

    /// Checks what a trusted certificate needs beside its name.
    pub(super) fn check(&self, now: UnixTime) -> Result<(), CertificateError> {
        let now = seconds(now);
        if now < self.from {
            Err(CertificateError::NotValidYet)
        } else if now > self.until {
            Err(CertificateError::Expired)
        } else if !self.for_servers {
            Err(CertificateError::InvalidPurpose)
        } else {
            Ok(())
        }
    }

    fn named(&self) -> String {
        if self.subject.is_empty() {
            "the server's certificate".to_owned()
        } else {
            format!("the server's certificate ({})", self.subject)
        }
    }
}

fn host(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(std::net::IpAddr::from);
            let sixteen = <[u8; 16]>::try_from(*bytes).map(std::net::IpAddr::from);
            four.or(sixteen).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

fn seconds(time: UnixTime) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

/// Why a server's certificate is not trusted.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CertificateDistrust(String);

impl CertificateDistrust {
    /// `trust` ends the sentence about an authority that is not known.
    pub(super) fn of(
        error: &CertificateError,
        leaf: Option<&ServerCertificate>,
        name: &ServerName<'_>,
        now: UnixTime,
        trust: &str,
    ) -> Self {
        let Some(leaf) = leaf else {
            return Self("the server's certificate cannot be read".to_owned());
        };
        let named = leaf.named();
        let now = seconds(now);
        let text = match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                if now > leaf.until {
                    format!(
                        "{named} expired {} ago, at {}",
                        describe_validity(leaf.until, now),
                        describe_second(leaf.until)
                    )
                } else {
                    format!(
                        "the certificate authority {:?} behind {named} has expired",
                        leaf.issuer
                    )
                }
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                if now < leaf.from {
                    format!(
                        "{named} becomes valid in {}, at {}, according to this machine's clock",
                        describe_validity(now, leaf.from),
                        describe_second(leaf.from)
                    )
                } else {
                    format!(
                        "the certificate authority {:?} behind {named} is not valid yet",
                        leaf.issuer
                    )
                }
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                let wanted = name.to_str();
                match leaf.hosts.as_slice() {
                    [] => format!("{named} lists no hosts, so it is not valid for {wanted}"),
                    hosts => format!(
                        "{named} is valid for {}, not for {wanted}",
                        list(hosts, HOSTS)
                    ),
                }
            }
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                format!("{named} is not for servers: its extended key usage lacks serverAuth")
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                unknown(&named, leaf, trust)
            }
            CertificateError::Other(_) if leaf.self_signed => unknown(&named, leaf, trust),
            CertificateError::Revoked => format!("{named} was revoked"),
            CertificateError::BadEncoding => format!("{named} is not encoded correctly"),
            CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
                format!("{named} has an unsupported or unsafe signature")
            }
            CertificateError::Other(_) => format!("{named} cannot be used by a server"),
            other => format!("{named} is not valid: {other}"),
        };
        Self(text)
    }
}

fn unknown(named: &str, leaf: &ServerCertificate, trust: &str) -> String {
    if leaf.self_signed {
        format!("{named} is self-signed, and {trust} it")
    } else {
        format!(
            "{named} is signed by an unknown authority: {trust} {:?}",
            leaf.issuer
        )
    }
}

fn describe_second(second: i64) -> String {
    Timestamp::from_second(second)
        .map_or_else(|_| "an unknown time".to_owned(), |time| time.to_string())
}

fn describe_validity(from: i64, to: i64) -> String {
    duration::describe(jiff::SignedDuration::from_secs(to.saturating_sub(from)))
}

/// What is wrong with a connection that could not be made secure.
pub(in crate::hub) fn explain(error: &rustls::Error) -> String {
    use rustls::Error;
    match error {
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            match other.0.downcast_ref::<CertificateDistrust>() {
                Some(CertificateDistrust(text)) => text.clone(),
                None => "the server's certificate is not valid".to_owned(),
            }
        }
        Error::InvalidMessage(_) => {
            "the server does not use TLS on this port: should the address be http://, or use \
             another port?"
                .to_owned()
        }
        Error::AlertReceived(alert) => refused(*alert),
        Error::PeerIncompatible(_) => "the server does not support TLS 1.2 or later".to_owned(),
        other => other.to_string(),
    }
}

fn refused(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => {
            "the server requires a client certificate, but none is set".to_owned()
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::AccessDenied
        | AlertDescription::DecryptError => "the server rejected the client certificate".to_owned(),
        AlertDescription::UnrecognisedName => {
            "the server does not recognize the requested name".to_owned()
        }
        AlertDescription::HandshakeFailure
        | AlertDescription::ProtocolVersion
        | AlertDescription::InsufficientSecurity => {
            "the server refused the handshake: no common TLS version or cipher".to_owned()
        }
        other => format!("the server aborted the handshake: {other:?}"),
    }
}
