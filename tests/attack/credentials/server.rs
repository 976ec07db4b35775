//! Servers on loopback that write down who asks, and answer nothing of use.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

/// A request, as far as it says who asks.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    /// `Authorization`, with what Basic hides decoded.
    pub authorization: Option<String>,
    /// The name in the client's certificate.
    pub certificate: Option<String>,
    /// The headers of impersonation, sorted.
    pub impersonated: Vec<String>,
    pub secure: bool,
}

/// A running server; it lives as long as the test.
pub struct Server {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// How a server answers: a status and a body.
pub type Answer = fn(&Asked) -> (u16, String);

/// What each server of the table answers.
pub fn forbid(_: &Asked) -> (u16, String) {
    let body = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}"#;
    (403, body.to_owned())
}

impl Server {
    pub fn plain(answer: Answer) -> Self {
        Self::start(None, answer)
    }

    pub fn secure(config: ServerConfig, answer: Answer) -> Self {
        Self::start(Some(Arc::new(config)), answer)
    }

    fn start(tls: Option<Arc<ServerConfig>>, answer: Answer) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (tls, told) = (tls.clone(), Arc::clone(&told));
                std::thread::spawn(move || {
                    let _ = stream.set_read_timeout(Some(test_hub::waiting::HANGS));
                    match tls {
                        None => serve(stream, &told, answer, |_| None, false),
                        Some(tls) => {
                            let connection = ServerConnection::new(tls).unwrap();
                            let stream = StreamOwned::new(connection, stream);
                            serve(stream, &told, answer, certificate, true);
                        }
                    }
                });
            }
        });
        Self { port, asked }
    }

    /// What was asked since the last time.
    pub fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn certificate(stream: &StreamOwned<ServerConnection, TcpStream>) -> Option<String> {
    let chain = stream.conn.peer_certificates()?;
    let (_, certificate) = x509_parser::parse_x509_certificate(chain.first()?).ok()?;
    Some(certificate.subject().to_string())
}

fn serve<S: Read + Write>(
    mut stream: S,
    told: &Mutex<Vec<Asked>>,
    answer: Answer,
    certificate: impl Fn(&S) -> Option<String>,
    secure: bool,
) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            match stream.read(&mut buffer) {
                Ok(read @ 1..) => bytes.extend_from_slice(&buffer[..read]),
                _ => return,
            }
            // What begins like this begins a TLS handshake.
            if bytes[0] == 0x16 {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
                return;
            }
            continue;
        };
        let head: Vec<u8> = bytes.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.lines();
        let first = lines.next().unwrap_or_default();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
            .collect();
        let of = |wanted: &str| {
            let header = headers.iter().find(|(name, _)| name == wanted);
            header.map(|(_, value)| value.clone())
        };
        let mut impersonated: Vec<String> = headers
            .iter()
            .filter(|(name, _)| name.starts_with("impersonate-"))
            .map(|(name, value)| format!("{}={value}", name.trim_start_matches("impersonate-")))
            .collect();
        impersonated.sort();
        let asked = Asked {
            path: first.split(' ').nth(1).unwrap_or_default().to_owned(),
            authorization: of("authorization").map(|value| decoded(&value)),
            certificate: certificate(&stream),
            impersonated,
            secure,
        };
        let (status, body) = answer(&asked);
        told.lock().unwrap().push(asked);
        let text = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(text.as_bytes()).is_err() || stream.flush().is_err() {
            return;
        }
    }
}

fn decoded(value: &str) -> String {
    let basic = value.strip_prefix("Basic ");
    let bytes = basic.and_then(|text| STANDARD.decode(text).ok());
    match bytes {
        Some(bytes) => format!("Basic {}", String::from_utf8_lossy(&bytes)),
        None => value.to_owned(),
    }
}

/// What servers and clients show, as PEM.
pub struct Papers {
    pub authority: String,
    pub other: String,
    pub client: String,
    pub client_key: String,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A server's certificate and its key.
pub struct Shown {
    pub certificate: String,
    pub key: String,
}

impl Papers {
    pub fn issue() -> Self {
        let issuer = issuer("authority");
        let client_key = KeyPair::generate().unwrap();
        let client = named("jane", &[]).signed_by(&client_key, &issuer).unwrap();
        Self {
            authority: issuer.pem(),
            other: self::issuer("other").pem(),
            client: client.pem(),
            client_key: client_key.serialize_pem(),
            issuer,
        }
    }

    /// A certificate that the authority has signed.
    pub fn signed(&self, change: impl Fn(&mut CertificateParams)) -> Shown {
        let mut params = named("server", &["127.0.0.1", "localhost"]);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        Shown {
            certificate: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }

    /// A server's settings: it asks for a client's certificate, and takes none too.
    pub fn config(&self, shown: &Shown) -> ServerConfig {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(self.authority.as_bytes()).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let clients =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .allow_unauthenticated()
                .build()
                .unwrap();
        let certificate = CertificateDer::from_pem_slice(shown.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(shown.key.as_bytes()).unwrap();
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![certificate], key)
            .unwrap()
    }
}

/// A certificate that no one else has signed.
pub fn alone(change: impl Fn(&mut CertificateParams)) -> Shown {
    let mut params = named("server", &["127.0.0.1", "localhost"]);
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    Shown {
        certificate: params.self_signed(&key).unwrap().pem(),
        key: key.serialize_pem(),
    }
}

pub fn as_authority(params: &mut CertificateParams) {
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
}

pub fn expired(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2021, 1, 1);
}

pub fn early(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2999, 1, 1);
    params.not_after = date_time_ymd(3000, 1, 1);
}

pub fn for_clients(params: &mut CertificateParams) {
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
}

pub fn nameless(params: &mut CertificateParams) {
    params.subject_alt_names.clear();
}

pub fn elsewhere(params: &mut CertificateParams) {
    params.subject_alt_names = named("server", &["elsewhere.example"]).subject_alt_names;
}

fn named(name: &str, hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn issuer(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = named(name, &[]);
    as_authority(&mut params);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}
