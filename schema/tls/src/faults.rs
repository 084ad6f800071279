//! Error texts of TLS, for each reader: a backend, a frontend, or a user of a server.

use rustls::{AlertDescription, CertificateError as Fault};
use std::io;

/// Error text for a certificate name mismatch when addresses are hidden.
pub const OTHER_NAME: &str =
    "the backend's certificate is for another name than the one in --backend";

/// Explains a TLS failure to a frontend. Shown after the backend's name.
pub fn of_backend(error: &io::Error) -> Option<String> {
    let fault = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match fault {
        rustls::Error::InvalidMessage(_) => {
            "the backend does not speak TLS; start it with --tls-cert, --tls-key and --client-ca, or \
             this frontend without --backend-ca"
                .to_owned()
        }
        rustls::Error::InvalidCertificate(fault) => backend_refused(fault),
        rustls::Error::AlertReceived(alert) => refused_by_backend(*alert),
        other => format!("TLS failed: {other}"),
    })
}

fn backend_refused(fault: &Fault) -> String {
    let why = match fault {
        Fault::Expired | Fault::ExpiredContext { .. } => "has expired; renew it (its --tls-cert)",
        Fault::NotValidYet | Fault::NotValidYetContext { .. } => {
            "is not valid yet; compare the clocks of both machines"
        }
        Fault::UnknownIssuer | Fault::BadSignature => {
            "was issued by another CA than those in --backend-ca"
        }
        Fault::NotValidForName => return OTHER_NAME.to_owned(),
        Fault::NotValidForNameContext {
            expected,
            presented,
        } => {
            let expected = expected.to_str();
            let mut names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
            if names.is_empty() {
                names.push("no name");
            }
            let names = names.join(", ");
            return format!(
                "the backend's certificate is for {names}, not for {expected}; issue one for this name \
                 (subjectAltName), or connect to a name that it has"
            );
        }
        Fault::InvalidPurpose | Fault::InvalidPurposeContext { .. } => {
            "is not for servers (extendedKeyUsage)"
        }
        other => return format!("the backend's certificate is not accepted: {other}"),
    };
    format!("the backend's certificate {why}")
}

/// Name without its kind: `DnsName("host.example")`.
fn bare(name: &str) -> &str {
    let (_, name) = name.split_once('(').unwrap_or(("", name));
    name.trim_end_matches(')').trim_matches('"')
}

fn refused_by_backend(alert: AlertDescription) -> String {
    let why = match alert {
        AlertDescription::CertificateExpired => {
            "it has expired or is not valid yet; renew it (--backend-cert)"
        }
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "it was issued by another CA than those in the backend's --client-ca"
        }
        AlertDescription::CertificateRequired => {
            "there is none; give --backend-cert and --backend-key"
        }
        AlertDescription::UnsupportedCertificate => "it is not for clients (extendedKeyUsage)",
        AlertDescription::BadCertificate | AlertDescription::CertificateUnknown => {
            "the backend's log says why"
        }
        other => return format!("the backend refuses the TLS handshake: {other:?}"),
    };
    format!("the backend refuses this frontend's certificate: {why}")
}

/// Explains to a backend the failed handshake of a client.
pub(crate) fn of_client(error: &io::Error) -> String {
    let fault = error.get_ref().and_then(|it| it.downcast_ref());
    let text = match fault {
        Some(rustls::Error::InvalidMessage(_)) => {
            "the client does not speak TLS; a frontend needs --backend-ca, --backend-cert and \
             --backend-key"
        }
        Some(rustls::Error::NoCertificatesPresented) => {
            "the client has no certificate; a frontend needs --backend-cert and --backend-key"
        }
        Some(rustls::Error::InvalidCertificate(fault)) => return client_refused(fault),
        Some(rustls::Error::AlertReceived(alert)) => return refused_by_client(*alert),
        Some(other) => return other.to_string(),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the client closed the connection during the handshake"
        }
        None => return error.to_string(),
    };
    text.to_owned()
}

fn client_refused(fault: &Fault) -> String {
    let why = match fault {
        Fault::Expired | Fault::ExpiredContext { .. } => "it has expired",
        Fault::NotValidYet | Fault::NotValidYetContext { .. } => {
            "it is not valid yet; compare the clocks of both machines"
        }
        Fault::UnknownIssuer | Fault::BadSignature => {
            "it was issued by another CA than those in --client-ca"
        }
        Fault::InvalidPurpose | Fault::InvalidPurposeContext { .. } => {
            "it is not for clients (extendedKeyUsage)"
        }
        other => return format!("the client's certificate is refused: {other}"),
    };
    format!("the client's certificate is refused: {why}")
}

fn refused_by_client(alert: AlertDescription) -> String {
    let why = match alert {
        AlertDescription::CertificateExpired => "it has expired or is not valid yet",
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "it was issued by another CA than those in its --backend-ca"
        }
        AlertDescription::BadCertificate => "it may be for another name",
        other => return format!("the client refuses the handshake: {other:?}"),
    };
    format!("the client refuses the certificate of this backend: {why}")
}

/// Explains a TLS failure to a user. Shown after the server's address.
pub fn of_server(error: &io::Error) -> Option<String> {
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
