//! Certificates and keys in PEM files, checked before use: time, purpose and key.

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{InconsistentKeys, RootCertStore};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use watched_file::{BadFile, WatchedFile, read_text};
use webpki::{EndEntityCert, KeyUsage};

/// Four times an operating system's CAs.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// An earlier expiry gives a warning.
const EXPIRES_SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const READABLE_BY_OTHERS: u32 = 0o004;

/// Configuration that follows its files.
pub type Current<T> = watch::Receiver<Arc<T>>;

/// Proof of `expect` for the versions of a configuration.
pub(crate) const VERSIONS: &str = "the provider has these versions";

/// Files of a certificate, with its chain, and of its private key.
#[derive(Clone, Debug)]
pub struct Identity {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Configuration of a `side` from its key and the CAs of `ca`, now and after changes of the files.
pub(crate) fn followed<T: Send + Sync + 'static>(
    identity: Identity,
    side: Side,
    ca: Option<PathBuf>,
    build: impl Fn(Arc<SingleCertAndKey>, RootCertStore) -> Result<T, BadFile> + Send + 'static,
) -> Result<Current<T>, BadFile> {
    let files = [&identity.certificate, &identity.key];
    let files = files.into_iter().chain(&ca).cloned().collect();
    let read = move || {
        let roots = ca
            .as_deref()
            .map_or_else(|| Ok(RootCertStore::empty()), roots)?;
        build(certified_key(&identity, side)?, roots)
    };
    Ok(WatchedFile::open_all(files, "certificates", read)?.receiver())
}

fn certified_key(identity: &Identity, side: Side) -> Result<Arc<SingleCertAndKey>, BadFile> {
    let file = &*identity.certificate;
    let (certificate, key) = (file.display(), identity.key.display());
    let chain = authorities(file)?;
    let unusable = |fault| BadFile::unusable(file, fault);
    check_purpose(&chain[0], side).map_err(unusable)?;
    record_expiry(file, check_time(&chain[0]).map_err(unusable)?);
    let private = private_key(&identity.key)?;
    let key = CertifiedKey::from_der(chain, private, &provider()).map_err(|error| {
        BadFile::Unusable(match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                format!("the key in {key} does not belong to the certificate in {certificate}")
            }
            error => format!("cannot use the key in {key}: {error}"),
        })
    })?;
    Ok(Arc::new(SingleCertAndKey::from(key)))
}

/// Skips expired ones with a warning.
fn roots(path: &Path) -> Result<RootCertStore, BadFile> {
    let mut roots = RootCertStore::empty();
    let mut fault = None;
    for certificate in authorities(path)? {
        let added = check_time(&certificate)
            .and_then(|_| roots.add(certificate).map_err(|error| error.to_string()));
        if let Err(reason) = added {
            tracing::warn!(file = %path.display(), reason = %reason, "a certificate is not used");
            fault = Some(reason);
        }
    }
    match fault {
        Some(reason) if roots.is_empty() => Err(BadFile::unusable(path, reason)),
        _ => Ok(roots),
    }
}

/// Reads at least one certificate, unchecked.
pub fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, BadFile> {
    let text = read_text(path, "the certificate in", FILE_BYTES_MAX)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let file = path.display();
    let certificates = certificates
        .map_err(|error| BadFile::Unusable(format!("malformed certificate in {file}: {error}")))?;
    if certificates.is_empty() {
        let hint = if text.contains("PRIVATE KEY-----") {
            "it has a private key: are certificate and key swapped?"
        } else {
            "expected PEM, which begins with -----BEGIN CERTIFICATE-----"
        };
        return Err(BadFile::Unusable(format!(
            "no certificate in {file}; {hint}"
        )));
    }
    Ok(certificates)
}

/// CAs of the file `ca`, else of the system (or of `SSL_CERT_FILE`). Errors name `flag`.
pub fn trusted(ca: Option<&Path>, flag: &str) -> Result<Vec<CertificateDer<'static>>, BadFile> {
    if let Some(path) = ca {
        return authorities(path);
    }
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let fault = found.errors.first().map(|fault| format!(": {fault}"));
        let fault = fault.unwrap_or_default();
        return Err(BadFile::Unusable(format!(
            "this machine has no CA certificates{fault}; name one with {flag} FILE"
        )));
    }
    Ok(found.certs)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, BadFile> {
    let text = read_text(path, "the private key in", FILE_BYTES_MAX)?;
    let mode = std::fs::metadata(path).map_or(0, |file| file.permissions().mode());
    let key = path.display();
    if mode & READABLE_BY_OTHERS != 0 {
        tracing::warn!(%key, "every user of this machine can read the private key; chmod o-r it");
    }
    PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| {
        let reason = error.to_string();
        let hint = if text.contains("ENCRYPTED") {
            "it is encrypted; decrypt it with `openssl pkey`"
        } else if text.contains("BEGIN CERTIFICATE-----") {
            "it has a certificate: are certificate and key swapped?"
        } else if let rustls::pki_types::pem::Error::NoItemsFound = error {
            "expected PEM, which begins with -----BEGIN PRIVATE KEY-----"
        } else {
            &reason
        };
        BadFile::Unusable(format!("no private key in {key}; {hint}"))
    })
}

fn record_expiry(file: &Path, left: Option<Duration>) {
    let Some(left) = left else { return };
    let file = file.to_string_lossy().into_owned();
    let at = UnixTime::now().as_secs() + left.as_secs();
    metrics::gauge!("trawl_certificate_expiry_seconds", "file" => file.clone()).set(at as f64);
    if left < EXPIRES_SOON {
        let left = age(left.as_secs());
        tracing::warn!(file, "a certificate expires in {left}");
    }
}

fn check_purpose(certificate: &CertificateDer<'_>, side: Side) -> Result<(), String> {
    match verified(certificate, side, UnixTime::now()) {
        Err(webpki::Error::RequiredEkuNotFoundContext(_)) => {
            let purpose = match side {
                Side::Client => "clients (extendedKeyUsage clientAuth)",
                Side::Server => "servers (extendedKeyUsage serverAuth)",
            };
            Err(format!("the certificate is not for {purpose}"))
        }
        Err(webpki::Error::CaUsedAsEndEntity) => {
            let fault = "this is the certificate of a CA; issue one with it for this process";
            Err(fault.to_owned())
        }
        // The issuer is unknown here.
        _ => Ok(()),
    }
}

/// Remaining validity, if known. Fails if not valid now.
fn check_time(certificate: &CertificateDer<'_>) -> Result<Option<Duration>, String> {
    let now = UnixTime::now();
    match verified(certificate, Side::Server, now) {
        Err(webpki::Error::CertExpired { not_after, .. }) => {
            let seconds = now.as_secs().saturating_sub(not_after.as_secs());
            return Err(format!("the certificate expired {} ago", age(seconds)));
        }
        Err(webpki::Error::CertNotValidYet { not_before, .. }) => {
            let wait = age(not_before.as_secs().saturating_sub(now.as_secs()));
            return Err(format!(
                "the certificate is not valid yet, for another {wait}; is the clock right?"
            ));
        }
        Err(webpki::Error::InvalidCertValidity) => {
            return Err("the certificate ends before it begins (notBefore, notAfter)".to_owned());
        }
        Err(webpki::Error::BadDer) => return Err("the certificate is malformed".to_owned()),
        _ => {}
    }
    // Every certificate has expired in the far future.
    let end = UnixTime::since_unix_epoch(Duration::from_secs(u64::MAX));
    Ok(match verified(certificate, Side::Server, end) {
        Err(webpki::Error::CertExpired { not_after, .. }) => {
            let left = not_after.as_secs().saturating_sub(now.as_secs());
            Some(Duration::from_secs(left))
        }
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

pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Time in the largest unit that fits twice: `3 days`.
fn age(seconds: u64) -> String {
    let units = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let unit = units.into_iter().find(|(length, _)| seconds >= 2 * length);
    match unit {
        Some((length, unit)) => format!("{} {unit}", seconds / length),
        None if seconds == 1 => "1 second".to_owned(),
        None => format!("{seconds} seconds"),
    }
}
