//! Clients: of backends, over blocking connections, and of other services.
//!
//! The backend's certificate is checked before anything is sent. The backend checks ours later, so
//! its refusal arrives as an alert on the first read.

use crate::files::{Current, Identity, Side, VERSIONS, followed, provider};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use watched_file::BadFile;

pub use rustls::pki_types::InvalidDnsNameError;

const HANDSHAKE_MAX: Duration = Duration::from_secs(2);

/// Requires backend certificates of `backend_ca`.
pub fn backend(identity: Identity, backend_ca: PathBuf) -> Result<Current<ClientConfig>, BadFile> {
    followed(identity, Side::Client, Some(backend_ca), |key, roots| {
        let client = ClientConfig::builder_with_provider(provider());
        let client = client.with_protocol_versions(&[&TLS13]).expect(VERSIONS);
        let client = client.with_root_certificates(roots);
        let mut config = client.with_client_cert_resolver(key);
        config.resumption = Resumption::disabled();
        Ok(config)
    })
}

/// Configuration of a client of other services, such as authorization. Trusts the system's CAs
/// (`SSL_CERT_FILE` names another file).
pub fn outgoing(needs_roots: bool) -> Result<ClientConfig, BadFile> {
    let mut roots = RootCertStore::empty();
    if needs_roots {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let fault = "this machine has no CA certificates, which an address with https:// needs; \
                name a file of them in SSL_CERT_FILE";
            return Err(BadFile::Unusable(fault.to_owned()));
        }
    }
    let client = ClientConfig::builder_with_provider(provider());
    let client = client
        .with_safe_default_protocol_versions()
        .expect(VERSIONS);
    Ok(client.with_root_certificates(roots).with_no_client_auth())
}

/// Name that the certificate of `host:port` must have.
pub fn server_name(address: &str) -> Result<ServerName<'static>, InvalidDnsNameError> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    Ok(ServerName::try_from(bare.unwrap_or(host))?.to_owned())
}

/// A blocking TLS connection. One thread at a time reads or writes; others may shut it down.
#[derive(Debug)]
pub struct TlsStream {
    socket: TcpStream,
    session: Mutex<ClientConnection>,
}

impl TlsStream {
    /// Makes the handshake, within `max`.
    pub fn connect(
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

    /// Returns 0 at the end, even if it is not announced.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut session = self.session();
        match Stream::new(&mut *session, &mut &self.socket).read(buffer) {
            // Frames mark the end of an answer, so truncation is noticed.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }

    /// Ignores poisoning: a broken session fails by itself.
    fn session(&self) -> MutexGuard<'_, ClientConnection> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut session = self.session();
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
