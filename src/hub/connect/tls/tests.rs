use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};

use super::{CertificateVerifier, ClientIdentity, Trust, authorities, explain, provider};

fn params(name: &str, hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = params(name, &[]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn signed(params: &CertificateParams, by: &CertifiedIssuer<'_, KeyPair>) -> String {
    let key = KeyPair::generate().unwrap();
    params.signed_by(&key, by).unwrap().pem()
}

fn alone(params: &CertificateParams) -> String {
    params
        .self_signed(&KeyPair::generate().unwrap())
        .unwrap()
        .pem()
}

/// What a verifier that trusts these says of a certificate.
fn verify(trusted: &str, shown: &str, name: &str) -> Result<(), String> {
    use rustls::pki_types::pem::PemObject;
    let trust = authorities(trusted.as_bytes()).unwrap();
    let verifier = CertificateVerifier::new(&trust, &Arc::new(provider())).unwrap();
    let certificate = CertificateDer::from_pem_slice(shown.as_bytes()).unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    verifier
        .verify_server_cert(&certificate, &[], &name, &[], UnixTime::now())
        .map(drop)
        .map_err(|error| explain(&error))
}

#[test]
fn a_certificate_that_is_itself_trusted_needs_no_authority() {
    let mut own = params("hub", &["hub.example", "10.0.0.1"]);
    let plain = alone(&own);
    assert_eq!(verify(&plain, &plain, "hub.example"), Ok(()));
    assert_eq!(verify(&plain, &plain, "10.0.0.1"), Ok(()));
    own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_too = alone(&own);
    let said = verify(&authority_too, &authority_too, "hub.example");
    assert_eq!(said, Ok(()));
    // So is one that another authority has signed, which nobody trusts.
    let root = authority("root");
    let leaf = signed(&params("hub", &["hub.example"]), &root);
    assert_eq!(verify(&leaf, &leaf, "hub.example"), Ok(()));
    assert_eq!(verify(&root.pem(), &leaf, "hub.example"), Ok(()));
    // Another authority of the same name did not sign it.
    let why = verify(&authority("root").pem(), &leaf, "hub.example").unwrap_err();
    assert!(why.contains("unknown authority"), "{why}");
}

#[test]
fn a_trusted_certificate_is_checked_like_any_other() {
    let own = params("hub", &["hub.example"]);
    let plain = alone(&own);
    let why = "the server's certificate (CN=hub) is valid for hub.example, not for other.example";
    assert_eq!(verify(&plain, &plain, "other.example").unwrap_err(), why);
    let of = |change: &dyn Fn(&mut CertificateParams)| {
        let mut own = own.clone();
        change(&mut own);
        let changed = alone(&own);
        verify(&changed, &changed, "hub.example").unwrap_err()
    };
    let old = of(&|own| own.not_after = date_time_ymd(2021, 1, 1));
    assert!(old.contains(" expired "), "{old}");
    assert!(old.ends_with("at 2021-01-01T00:00:00Z"), "{old}");
    let early = of(&|own| own.not_before = date_time_ymd(2999, 1, 1));
    assert!(early.contains("becomes valid in"), "{early}");
    assert!(early.contains("2999-01-01"), "{early}");
    let client = of(&|own| own.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]);
    assert!(client.contains("not for servers"), "{client}");
    // The same names and another key are another certificate.
    let why = verify(&plain, &alone(&own), "hub.example").unwrap_err();
    assert!(why.contains("self-signed"), "{why}");
}

#[test]
fn bundles_and_identities_are_checked() {
    let own = params("jane", &[]);
    let (key, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let certificate = own.self_signed(&key).unwrap().pem();
    let read =
        |certificate: &str, key: &str| ClientIdentity::read(certificate.as_bytes(), key.as_bytes());
    assert!(read(&certificate, &key.serialize_pem()).is_ok());
    let why = read(&certificate, &other.serialize_pem()).unwrap_err();
    assert_eq!(why, "the key does not match the certificate");
    for (certificate, key) in [
        ("", key.serialize_pem()),
        ("S3CR3T", key.serialize_pem()),
        (certificate.as_str(), String::new()),
        (certificate.as_str(), "S3CR3T".to_owned()),
        (&certificate.replace("MII", "S3CR3T"), key.serialize_pem()),
    ] {
        assert!(!read(certificate, &key).unwrap_err().contains("S3CR3T"));
    }
    assert!(authorities(b"").is_err());
    assert!(authorities(b"S3CR3T").is_err());
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(authorities(broken.as_bytes()).is_err());
    // One that cannot be read does not spoil the others.
    let Ok(Trust::Authorities(list)) = authorities(format!("{broken}{certificate}").as_bytes())
    else {
        panic!("no authorities");
    };
    assert_eq!(list.len(), 1);
}
