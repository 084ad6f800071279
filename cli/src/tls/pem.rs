//! Certificates and keys in PEM files, checked before use: time, purpose and key.

use crate::cache_dir::read_small;
use crate::terminal::escaped;
use crate::units;
use anyhow::{Context, Result, anyhow, bail};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use webpki::{EndEntityCert, KeyUsage};

/// Four times an operating system's CAs.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// An earlier expiry gives a warning.
const EXPIRES_SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Read permission of others.
const READABLE_BY_OTHERS: u32 = 0o004;

#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// Reads a certificate, its chain and its key.
pub(super) fn certified_key(identity: &Identity, side: Side) -> Result<CertifiedKey> {
    let (certificate, key) = (shown(&identity.certificate), shown(&identity.key));
    let chain = authorities(&identity.certificate)?;
    check_purpose(&chain[0], side).with_context(|| certificate.clone())?;
    let left = check_time(&chain[0]).with_context(|| certificate.clone())?;
    record_expiry(&certificate, left);
    let private = private_key(&identity.key)?;
    CertifiedKey::from_der(chain, private, &provider()).map_err(|error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            anyhow!("the key in {key} does not belong to the certificate in {certificate}")
        }
        error => anyhow!("cannot use the key in {key}: {error}"),
    })
}

/// Skips expired ones with a warning.
pub(super) fn roots(path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let mut fault = None;
    for certificate in authorities(path)? {
        let added = check_time(&certificate)
            .and_then(|_| roots.add(certificate).map_err(anyhow::Error::from));
        if let Err(error) = added {
            tracing::warn!(file = %shown(path), reason = %error, "a certificate is not used");
            fault = Some(error);
        }
    }
    match fault {
        Some(error) if roots.is_empty() => Err(error.context(shown(path))),
        _ => Ok(roots),
    }
}

/// Reads at least one certificate, unchecked.
pub(crate) fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = read_small(path, "the certificate in", FILE_BYTES_MAX)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let certificates =
        certificates.with_context(|| format!("malformed certificate in {}", shown(path)))?;
    if certificates.is_empty() {
        let hint = if text.contains("PRIVATE KEY-----") {
            "it has a private key: are certificate and key swapped?"
        } else {
            "expected PEM, which begins with -----BEGIN CERTIFICATE-----"
        };
        bail!("no certificate in {}; {hint}", shown(path));
    }
    Ok(certificates)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    let text = read_small(path, "the private key in", FILE_BYTES_MAX)?;
    let mode = std::fs::metadata(path).map_or(0, |file| file.permissions().mode());
    if mode & READABLE_BY_OTHERS != 0 {
        let key = shown(path);
        tracing::warn!(%key, "every user of this machine can read the private key; chmod o-r it");
    }
    PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| {
        let hint = if text.contains("ENCRYPTED") {
            "it is encrypted; decrypt it with `openssl pkey`".to_owned()
        } else if text.contains("BEGIN CERTIFICATE-----") {
            "it has a certificate: are certificate and key swapped?".to_owned()
        } else if let rustls::pki_types::pem::Error::NoItemsFound = error {
            "expected PEM, which begins with -----BEGIN PRIVATE KEY-----".to_owned()
        } else {
            error.to_string()
        };
        anyhow!("no private key in {}; {hint}", shown(path))
    })
}

/// Sets the metric.
fn record_expiry(file: &str, left: Option<Duration>) {
    let Some(left) = left else { return };
    let at = UnixTime::now().as_secs() + left.as_secs();
    metrics::gauge!("trawl_certificate_expiry_seconds", "file" => file.to_owned()).set(at as f64);
    if left < EXPIRES_SOON {
        let left = units::age(left.as_secs());
        tracing::warn!(file, "a certificate expires in {left}");
    }
}

/// Checks as peers will.
fn check_purpose(certificate: &CertificateDer<'_>, side: Side) -> Result<()> {
    match verified(certificate, side, UnixTime::now()) {
        Err(webpki::Error::RequiredEkuNotFoundContext(_)) => {
            let purpose = match side {
                Side::Client => "clients (extendedKeyUsage clientAuth)",
                Side::Server => "servers (extendedKeyUsage serverAuth)",
            };
            bail!("the certificate is not for {purpose}")
        }
        Err(webpki::Error::CaUsedAsEndEntity) => {
            bail!("this is the certificate of a CA; issue one with it for this process")
        }
        // The issuer is unknown here.
        _ => Ok(()),
    }
}

/// Remaining validity, if known. Fails if not valid now.
fn check_time(certificate: &CertificateDer<'_>) -> Result<Option<Duration>> {
    let now = UnixTime::now();
    match verified(certificate, Side::Server, now) {
        Err(webpki::Error::CertExpired { not_after, .. }) => {
            let age = now.as_secs().saturating_sub(not_after.as_secs());
            bail!("the certificate expired {} ago", units::age(age))
        }
        Err(webpki::Error::CertNotValidYet { not_before, .. }) => {
            let wait = not_before.as_secs().saturating_sub(now.as_secs());
            bail!(
                "the certificate is not valid yet, for another {}; is the clock right?",
                units::age(wait)
            )
        }
        Err(webpki::Error::InvalidCertValidity) => {
            bail!("the certificate ends before it begins (notBefore, notAfter)")
        }
        Err(webpki::Error::BadDer) => bail!("the certificate is malformed"),
        _ => {}
    }
    // Every certificate has expired in the far future.
    let end = UnixTime::since_unix_epoch(Duration::from_secs(u64::MAX));
    Ok(match verified(certificate, Side::Server, end) {
        Err(webpki::Error::CertExpired { not_after, .. }) => Some(Duration::from_secs(
            not_after.as_secs().saturating_sub(now.as_secs()),
        )),
        _ => None,
    })
}

/// Checks time and purpose, which come before the CA.
fn verified(
    certificate: &CertificateDer<'_>,
    side: Side,
    time: UnixTime,
) -> Result<(), webpki::Error> {
    let usage = match side {
        Side::Client => KeyUsage::client_auth(),
        Side::Server => KeyUsage::server_auth(),
    };
    let algorithms = webpki::ALL_VERIFICATION_ALGS;
    let certificate = EndEntityCert::try_from(certificate)?;
    let verified = certificate.verify_for_usage(algorithms, &[], &[], time, usage, None, None);
    verified.map(drop)
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn shown(path: &Path) -> String {
    escaped(&*path.to_string_lossy()).into_owned()
}
