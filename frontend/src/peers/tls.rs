//! TLS on a backend connection: handshake and failures.
//!
//! The backend's certificate is checked before anything is sent. The backend checks ours later, so
//! its refusal arrives as an alert on the first read.

use cache::lock;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, ClientConnection, Stream};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const HANDSHAKE_MAX: Duration = Duration::from_secs(2);

/// Error text for a certificate name mismatch when addresses are hidden.
pub(super) const OTHER_NAME: &str =
    "the backend's certificate is for another name than the one in --backend";

/// A blocking TLS connection. One thread at a time reads or writes; others may shut it down.
#[derive(Debug)]
pub struct TlsStream {
    pub(super) socket: TcpStream,
    session: Mutex<ClientConnection>,
}

impl TlsStream {
    pub(super) fn connect(
        socket: TcpStream,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        max: Duration,
    ) -> io::Result<TlsStream> {
        let mut session = ClientConnection::new(config, name).map_err(io::Error::other)?;
        let due = Instant::now() + max.min(HANDSHAKE_MAX);
        while session.is_handshaking() || session.wants_write() {
            step(&mut session, &socket, due)?;
        }
        Ok(TlsStream {
            socket,
            session: Mutex::new(session),
        })
    }

    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut session = lock(&self.session);
        match Stream::new(&mut *session, &mut &self.socket).read(buffer) {
            // Frames mark the end of an answer, so truncation is noticed.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut session = lock(&self.session);
        let mut socket = &self.socket;
        let mut stream = Stream::new(&mut *session, &mut socket);
        let taken = stream.write(bytes)?;
        stream.flush()?;
        Ok(taken)
    }
}

fn step(session: &mut ClientConnection, mut socket: &TcpStream, due: Instant) -> io::Result<()> {
    let left = due.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    socket.set_read_timeout(Some(left))?;
    socket.set_write_timeout(Some(left))?;
    if session.wants_write() {
        return session.write_tls(&mut socket).map(drop);
    }
    if session.read_tls(&mut socket)? == 0 {
        let what = "the backend closed the connection during the TLS handshake";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
    }
    session.process_new_packets().map(drop).map_err(|fault| {
        let _ = session.write_tls(&mut socket);
        io::Error::new(io::ErrorKind::InvalidData, fault)
    })
}

/// Explains a TLS failure. Shown after the backend's name.
pub(super) fn reason(error: &io::Error) -> Option<String> {
    let fault = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match fault {
        rustls::Error::InvalidMessage(_) => {
            "the backend does not speak TLS; start it with --tls-cert, --tls-key and --client-ca, or \
             this frontend without --backend-ca"
                .to_owned()
        }
        rustls::Error::InvalidCertificate(fault) => refusal(fault),
        rustls::Error::AlertReceived(alert) => refused(*alert),
        other => format!("TLS failed: {other}"),
    })
}

fn refusal(fault: &CertificateError) -> String {
    use CertificateError as Fault;
    match fault {
        Fault::Expired | Fault::ExpiredContext { .. } => {
            "the backend's certificate has expired; renew it (its --tls-cert)".to_owned()
        }
        Fault::NotValidYet | Fault::NotValidYetContext { .. } => {
            "the backend's certificate is not valid yet; compare the clocks of both machines"
                .to_owned()
        }
        Fault::UnknownIssuer | Fault::BadSignature => {
            "the backend's certificate was issued by another CA than those in --backend-ca"
                .to_owned()
        }
        Fault::NotValidForName => OTHER_NAME.to_owned(),
        Fault::NotValidForNameContext {
            expected,
            presented,
        } => {
            let expected = expected.to_str();
            let names = if presented.is_empty() {
                "no name".to_owned()
            } else {
                let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
                names.join(", ")
            };
            format!(
                "the backend's certificate is for {names}, not for {expected}; issue one for this name \
                 (subjectAltName), or connect to a name that it has"
            )
        }
        Fault::InvalidPurpose | Fault::InvalidPurposeContext { .. } => {
            "the backend's certificate is not for servers (extendedKeyUsage)".to_owned()
        }
        other => format!("the backend's certificate is not accepted: {other}"),
    }
}

/// Name without its kind: `DnsName("host.example")`.
fn bare(name: &str) -> &str {
    let (_, name) = name.split_once('(').unwrap_or(("", name));
    name.trim_end_matches(')').trim_matches('"')
}

fn refused(alert: AlertDescription) -> String {
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

#[cfg(test)]
mod tests;
