//! Test certificates and TLS configurations.
//!
//! An [`Authority`] issues for `localhost` and `127.0.0.1`, or for other names and times.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::sync::Arc;

const LOCAL: [&str; 2] = ["localhost", "127.0.0.1"];

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, as PEM.
#[derive(Clone, Debug)]
pub struct Issued {
    pub certificate: String,
    pub key: String,
}

#[derive(Clone, Copy, Debug)]
pub enum Valid {
    Now,
    /// Expired in the year 2000.
    Past,
    /// Valid from the year 3000.
    Future,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        Authority::valid(name, Valid::Now)
    }

    pub fn valid(name: &str, valid: Valid) -> Authority {
        let mut params = params(&[], valid);
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let issuer = CertifiedIssuer::self_signed(params, key());
        Authority(issuer.expect("the parameters are right"))
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    pub fn issue(&self) -> Issued {
        self.issue_for(&LOCAL, Valid::Now)
    }

    pub fn issue_valid(&self, valid: Valid) -> Issued {
        self.issue_for(&LOCAL, valid)
    }

    pub fn issue_for(&self, names: &[&str], valid: Valid) -> Issued {
        let key = key();
        let issued = params(names, valid).signed_by(&key, &self.0);
        Issued {
            certificate: issued.expect("the parameters are right").pem(),
            key: key.serialize_pem(),
        }
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).expect("a certificate");
        roots
    }
}

/// Requires client certificates of an authority, if given.
pub fn server(identity: &Issued, client_ca: Option<&Authority>) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let server = server.with_safe_default_protocol_versions().unwrap();
    let server = match client_ca {
        None => server.with_no_client_auth(),
        Some(authority) => {
            let roots = Arc::new(authority.roots());
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
            server.with_client_cert_verifier(verifier.build().expect("it has a root"))
        }
    };
    let (chain, key) = identity.der();
    Arc::new(server.with_single_cert(chain, key).expect("they match"))
}

pub fn client(server_ca: &Authority, identity: Option<&Issued>) -> Arc<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider);
    let client = client.with_safe_default_protocol_versions().unwrap();
    let client = client.with_root_certificates(server_ca.roots());
    Arc::new(match identity.map(Issued::der) {
        None => client.with_no_client_auth(),
        Some((chain, key)) => client
            .with_client_auth_cert(chain, key)
            .expect("they match"),
    })
}

impl Issued {
    fn der(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let chain = CertificateDer::pem_slice_iter(self.certificate.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes());
        (chain.map(Result::unwrap).collect(), key.unwrap())
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("the system has random bytes")
}

fn params(names: &[&str], valid: Valid) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("names of hosts, or addresses");
    match valid {
        Valid::Now => {}
        Valid::Past => params.not_after = date_time_ymd(2000, 1, 1),
        Valid::Future => params.not_before = date_time_ymd(3000, 1, 1),
    }
    params
}
