//! HTTPS: trusted CAs, and explanations of TLS failures.

use crate::tls::{authorities, provider};
use anyhow::{Result, bail};
use rustls::CertificateError as Fault;
use std::io;
use std::path::Path;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Trusts the CAs of `flag`, else those of the system (`SSL_CERT_FILE` names another file).
pub(crate) fn config(ca: Option<&Path>, flag: &str) -> Result<TlsConfig> {
    let roots = match ca {
        Some(path) => authorities(path)?,
        None => {
            let found = rustls_native_certs::load_native_certs();
            if found.certs.is_empty() {
                let fault = found.errors.first().map(|fault| format!(": {fault}"));
                let fault = fault.unwrap_or_default();
                bail!("this machine has no CA certificates{fault}; name one with {flag} FILE");
            }
            found.certs
        }
    };
    let roots = roots
        .iter()
        .map(|root| Certificate::from_der(root).to_owned());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(provider())
        .build())
}

pub(super) fn reason(error: &io::Error) -> Option<String> {
    let fault = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match fault {
        rustls::Error::InvalidMessage(_) => "it does not speak TLS: ask it with http://".to_owned(),
        rustls::Error::InvalidCertificate(fault) => match fault {
            Fault::UnknownIssuer => {
                "its certificate is of no CA that is trusted here; name its CA with --ca FILE"
                    .to_owned()
            }
            Fault::Expired | Fault::ExpiredContext { .. } => {
                "its certificate has expired".to_owned()
            }
            other => other.to_string(),
        },
        other => other.to_string(),
    })
}
