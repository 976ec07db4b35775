//! Which servers are trusted, what is shown to them, and what is wrong with a certificate.
//!
//! Certificates are checked by webpki, or by the system's verifier where the kubeconfig names no
//! authority. One thing is added, as in Go: a certificate that is itself among the trusted ones
//! needs no other authority. Decision 15 says why that is sound.

mod words;

use std::sync::Arc;
use std::time::SystemTime;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::time_provider::TimeProvider;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};

pub(in crate::hub) use words::explain;
use words::{CertificateDistrust, ServerCertificate};

#[derive(Debug, Clone)]
pub(in crate::hub) enum Trust {
    System,
    /// The servers that these authorities vouch for.
    Authorities(Arc<Vec<CertificateDer<'static>>>),
    Any,
}

/// A certificate of ours, and its key.
#[derive(Clone)]
pub(in crate::hub) struct ClientIdentity {
    chain: Vec<CertificateDer<'static>>,
    key: Arc<PrivateKeyDer<'static>>,
}

impl PartialEq for ClientIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.chain == other.chain && self.key.secret_der() == other.key.secret_der()
    }
}

impl std::fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}

impl ClientIdentity {
    /// Reads a certificate and its key, and checks that they go together.
    pub(in crate::hub) fn read(certificate: &[u8], key: &[u8]) -> Result<Self, &'static str> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
        let chain = chain.map_err(|_| "the certificate is not valid PEM")?;
        if chain.is_empty() {
            return Err("the certificate is not in PEM format");
        }
        let key =
            PrivateKeyDer::from_pem_slice(key).map_err(|_| "the key is not a PEM private key")?;
        let this = Self {
            chain,
            key: Arc::new(key),
        };
        this.signing()?;
        Ok(this)
    }

    fn signing(&self) -> Result<rustls::sign::CertifiedKey, &'static str> {
        let chain = self.chain.clone();
        rustls::sign::CertifiedKey::from_der(chain, self.key.clone_key(), &provider()).map_err(
            |error| match error {
                rustls::Error::InconsistentKeys(_) => "the key does not match the certificate",
                rustls::Error::InvalidCertificate(_) => "the certificate cannot be read",
                _ => "the key type is not supported",
            },
        )
    }
}

fn provider() -> CryptoProvider {
    ring::default_provider()
}

/// The certificates in a bundle; those that are none are passed over, as kubectl does.
pub(in crate::hub) fn authorities(pem: &[u8]) -> Result<Trust, &'static str> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .filter_map(Result::ok)
        .filter(|der| ParsedCertificate::try_from(der).is_ok())
        .collect();
    if found.is_empty() {
        return Err("it has no PEM certificate");
    }
    Ok(Trust::Authorities(Arc::new(found)))
}

pub(in crate::hub) fn config(
    trust: &Trust,
    identity: Option<&ClientIdentity>,
) -> Result<ClientConfig, &'static str> {
    let provider = Arc::new(provider());
    let verifier = CertificateVerifier::new(trust, &provider)?;
    let builder = ClientConfig::builder_with_details(provider, Arc::new(OurTime))
        .with_safe_default_protocol_versions()
        .map_err(|_| "no version of TLS is available")?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    match identity {
        None => Ok(builder.with_no_client_auth()),
        Some(identity) => builder
            .with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
            .map_err(|_| "the client certificate and its key cannot be used"),
    }
}

/// What this machine's clock says. One that stands before 1970 is taken for 1970: every certificate
/// says then when it becomes valid.
#[derive(Debug)]
struct OurTime;

impl TimeProvider for OurTime {
    fn current_time(&self) -> Option<UnixTime> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Some(UnixTime::since_unix_epoch(since.unwrap_or_default()))
    }
}

#[derive(Debug)]
struct CertificateVerifier {
    trust: Trust,
    /// Who checks a chain; nobody where any server is trusted.
    chains: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl CertificateVerifier {
    fn new(trust: &Trust, provider: &Arc<CryptoProvider>) -> Result<Self, &'static str> {
        let chains: Option<Arc<dyn ServerCertVerifier>> = match trust {
            Trust::Any => None,
            Trust::System => {
                let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(provider))
                    .map_err(|_| "the system's certificate authorities cannot be read")?;
                Some(Arc::new(verifier))
            }
            Trust::Authorities(list) => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(list.iter().cloned());
                let builder = WebPkiServerVerifier::builder_with_provider(
                    Arc::new(roots),
                    Arc::clone(provider),
                );
                let verifier = builder.build();
                Some(verifier.map_err(|_| "the certificate authority cannot be used")?)
            }
        };
        Ok(Self {
            trust: trust.clone(),
            chains,
            provider: Arc::clone(provider),
        })
    }

    /// Whether a certificate is, byte for byte, one of those that the kubeconfig trusts.
    fn is_trusted_itself(&self, certificate: &CertificateDer<'_>) -> bool {
        match &self.trust {
            Trust::Authorities(list) => list
                .iter()
                .any(|known| known.as_ref() == certificate.as_ref()),
            Trust::System | Trust::Any => false,
        }
    }
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chains) = &self.chains else {
            return Ok(ServerCertVerified::assertion());
        };
        let leaf = ServerCertificate::read(end_entity);
        let checked = if self.is_trusted_itself(end_entity) {
            // Nobody else has to vouch for it; the rest is checked as for any certificate.
            leaf.as_ref()
                .ok_or(CertificateError::BadEncoding)
                .and_then(|leaf| leaf.check(now))
                .map_err(rustls::Error::InvalidCertificate)
                .and_then(|()| {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)
                })
                .map(|()| ServerCertVerified::assertion())
        } else {
            chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        };
        checked.map_err(|error| match error {
            rustls::Error::InvalidCertificate(error) => {
                let trust = match &self.trust {
                    Trust::System => "this system does not trust",
                    _ => "certificate-authority does not have",
                };
                let why = CertificateDistrust::of(&error, leaf.as_ref(), server_name, now, trust);
                let other = OtherError(Arc::new(why));
                rustls::Error::InvalidCertificate(CertificateError::Other(other))
            }
            other => other,
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests;
