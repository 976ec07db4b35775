//! Certificates for servers on loopback.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};

use crate::Error;

/// What a server shows and what its clients trust, as PEM.
pub struct Certificates {
    /// The authority, which signed the server's.
    pub authority: String,
    /// The server's.
    pub server: String,
    /// The key of the server's.
    pub key: String,
}

impl Certificates {
    /// An authority of its own, and one certificate for loopback.
    pub fn issue() -> Result<Self, Error> {
        issue().map_err(|error| Error::Failed(format!("making certificates: {error}")))
    }
}

fn issue() -> Result<Certificates, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    // With the name of its own certificates, OpenSSL takes them for self-signed.
    params
        .distinguished_name
        .push(DnType::CommonName, "the test hub's authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let server = CertificateParams::new(names)?.signed_by(&key, &issuer)?;
    Ok(Certificates {
        authority: issuer.pem(),
        server: server.pem(),
        key: key.serialize_pem(),
    })
}
