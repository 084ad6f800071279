//! Certificates and keys from files.
//!
//! [`pem`] checks them, [`reload`] follows changes, and this module builds the configurations:
//! public listener, and mutual TLS between frontends and backends.
//!
//! **Invariant:** a configuration in use is replaced only by one that was read without errors.

mod pem;
mod reload;

pub(crate) use pem::{Identity, authorities, provider};

use anyhow::{Context, Result, ensure};
use pem::{Side, certified_key, roots};
use rustls::client::Resumption;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::SingleCertAndKey;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// Follows its files.
pub(crate) type Current<T> = watch::Receiver<Arc<T>>;

pub(crate) fn public_server(identity: Identity) -> Result<Current<ServerConfig>> {
    let files = vec![identity.certificate.clone(), identity.key.clone()];
    reload::watched(files, move || {
        let server = ServerConfig::builder_with_provider(provider());
        let server = server.with_safe_default_protocol_versions()?;
        let key = certified_key(&identity, Side::Server)?;
        let resolver = Arc::new(SingleCertAndKey::from(key));
        let mut config = server.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    })
}

/// Requires client certificates of `client_ca`.
pub(crate) fn backend_server(
    identity: Identity,
    client_ca: PathBuf,
) -> Result<Current<ServerConfig>> {
    let files = vec![
        identity.certificate.clone(),
        identity.key.clone(),
        client_ca.clone(),
    ];
    reload::watched(files, move || {
        let server = ServerConfig::builder_with_provider(provider());
        let server = server.with_protocol_versions(&[&TLS13])?;
        let clients = Arc::new(roots(&client_ca)?);
        let verifier = WebPkiClientVerifier::builder_with_provider(clients, provider());
        let verifier = verifier.build().context("--client-ca")?;
        let key = certified_key(&identity, Side::Server)?;
        let resolver = Arc::new(SingleCertAndKey::from(key));
        let server = server.with_client_cert_verifier(verifier);
        let mut config = server.with_cert_resolver(resolver);
        // No resumption: each connection is checked against the current CA.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(config)
    })
}

/// Requires backend certificates of `backend_ca`.
pub(crate) fn backend_client(
    identity: Identity,
    backend_ca: PathBuf,
) -> Result<Current<ClientConfig>> {
    let files = vec![
        identity.certificate.clone(),
        identity.key.clone(),
        backend_ca.clone(),
    ];
    reload::watched(files, move || {
        let client = ClientConfig::builder_with_provider(provider());
        let client = client.with_protocol_versions(&[&TLS13])?;
        let client = client.with_root_certificates(roots(&backend_ca)?);
        let key = certified_key(&identity, Side::Client)?;
        let resolver = Arc::new(SingleCertAndKey::from(key));
        let mut config = client.with_client_cert_resolver(resolver);
        config.resumption = Resumption::disabled();
        Ok(config)
    })
}

/// Client of other services, such as authorization. Trusts the system's CAs (`SSL_CERT_FILE` names
/// another file), if needed.
pub(crate) fn outgoing_client(needs_roots: bool) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    if needs_roots {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        ensure!(
            !roots.is_empty(),
            "this machine has no CA certificates, which an address with https:// needs; name a file of them in SSL_CERT_FILE"
        );
    }
    let client = ClientConfig::builder_with_provider(provider());
    let client = client.with_safe_default_protocol_versions()?;
    Ok(client.with_root_certificates(roots).with_no_client_auth())
}

pub(crate) fn describe_metrics() {
    let expiry = "When a certificate expires, in seconds since 1970";
    metrics::describe_gauge!("trawl_certificate_expiry_seconds", expiry);
}
