//! HTTPS: trusted CAs.

use anyhow::Result;
use std::path::Path;
use tls::files::{provider, trusted};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Trusts the CAs of `flag`, else those of the system (`SSL_CERT_FILE` names another file).
pub(crate) fn config(ca: Option<&Path>, flag: &str) -> Result<TlsConfig> {
    let roots = trusted(ca, flag)?;
    let roots = roots
        .iter()
        .map(|root| Certificate::from_der(root).to_owned());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(provider())
        .build())
}
