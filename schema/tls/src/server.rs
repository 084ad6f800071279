//! Servers: public listener, and backends, which require certificates of their clients.

use crate::faults;
use crate::files::{Current, Identity, Side, VERSIONS, followed, provider};
use rustls::ServerConfig;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use watched_file::BadFile;

/// Below the 3 s of a frontend without TLS, so it learns of the mismatch.
const FIRST_BYTE_MAX: Duration = Duration::from_secs(2);

const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// Time for a refused client to read the reason, which a close would lose.
const LINGER_MAX: Duration = Duration::from_secs(1);

const LINGER_BYTES_MAX: u64 = 64 << 10;

const HANDSHAKE: u8 = 0x16;

const USE_HTTPS: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    connection: close\r\n\
    content-type: text/plain\r\n\r\n\
    this server speaks TLS: ask it with https://...\n";

#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Explained failure.
    #[error("{0}")]
    Refused(String),
}

/// Requires no certificates. Prefers the earlier of `protocols`.
pub fn public(
    identity: Identity,
    protocols: &'static [&'static str],
) -> Result<Current<ServerConfig>, BadFile> {
    followed(identity, Side::Server, None, move |key, _| {
        let server = ServerConfig::builder_with_provider(provider());
        let server = server
            .with_safe_default_protocol_versions()
            .expect(VERSIONS);
        let mut config = server.with_no_client_auth().with_cert_resolver(key);
        let protocols = protocols.iter().map(|it| it.as_bytes().to_vec());
        config.alpn_protocols = protocols.collect();
        Ok(config)
    })
}

/// Requires client certificates of `client_ca`.
pub fn backend(identity: Identity, client_ca: PathBuf) -> Result<Current<ServerConfig>, BadFile> {
    followed(identity, Side::Server, Some(client_ca), |key, roots| {
        let server = ServerConfig::builder_with_provider(provider());
        let server = server.with_protocol_versions(&[&TLS13]).expect(VERSIONS);
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
        let verifier = verifier.build();
        let verifier =
            verifier.map_err(|error| BadFile::Unusable(format!("--client-ca: {error}")))?;
        let server = server.with_client_cert_verifier(verifier);
        let mut config = server.with_cert_resolver(key);
        // No resumption: each connection is checked against the current CA.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(config)
    })
}

/// Makes the handshake of a backend; `None` if closed before, as by port checks.
pub async fn accept(
    stream: TcpStream,
    config: Arc<ServerConfig>,
) -> Result<Option<TlsStream<TcpStream>>, HandshakeError> {
    match timeout(FIRST_BYTE_MAX, stream.peek(&mut [0])).await {
        Ok(Ok(0)) => return Ok(None),
        Ok(Ok(_)) => {}
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => return Err(HandshakeError::Refused(no_handshake())),
    }
    let accepting = TlsAcceptor::from(config).accept(stream).into_fallible();
    match timeout(HANDSHAKE_MAX, accepting).await {
        Ok(Ok(stream)) => Ok(Some(stream)),
        Ok(Err((error, stream))) => {
            let _ = timeout(LINGER_MAX, linger(stream)).await;
            Err(HandshakeError::Refused(faults::of_client(&error)))
        }
        Err(_) => Err(HandshakeError::Refused(format!(
            "the handshake was not complete within {} s",
            HANDSHAKE_MAX.as_secs()
        ))),
    }
}

/// Returns true if a handshake begins. Answers anything else.
pub async fn is_handshake(stream: &mut TcpStream, max: Duration) -> io::Result<bool> {
    let mut first = [0];
    let peeked = timeout(max, stream.peek(&mut first)).await;
    if peeked.map_err(|_| io::ErrorKind::TimedOut)?? == 0 || first[0] == HANDSHAKE {
        return Ok(first[0] == HANDSHAKE);
    }
    // Closing with unread bytes would lose the response.
    let _ = stream.try_read(&mut [0; 8192]);
    // Fits in the socket's buffer.
    stream.write_all(USE_HTTPS).await?;
    stream.shutdown().await?;
    Ok(false)
}

fn no_handshake() -> String {
    format!(
        "the client began no TLS handshake within {} s; a frontend needs --backend-ca, --backend-cert and \
         --backend-key",
        FIRST_BYTE_MAX.as_secs()
    )
}

async fn linger(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut rest = stream.take(LINGER_BYTES_MAX);
    tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::ClientConfig;
    use testkit::ca::{Authority, Issued, Valid};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsConnector;

    /// Accepts one client, driven by `connect`. Returns true if accepted, or the error.
    async fn accepted<T: Future>(
        config: Arc<ServerConfig>,
        connect: impl FnOnce(TcpStream) -> T,
    ) -> Result<bool, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = async { connect(TcpStream::connect(address).await.unwrap()).await };
        let server = async {
            let (stream, _) = listener.accept().await.unwrap();
            accept(stream, config).await
        };
        let (_client, accepted) = tokio::join!(client, server);
        accepted
            .map(|stream| stream.is_some())
            .map_err(|error| error.to_string())
    }

    async fn handshake(
        config: Arc<ServerConfig>,
        client: Arc<ClientConfig>,
    ) -> Result<bool, String> {
        let connect = |stream| async {
            let name = "localhost".try_into().unwrap();
            let connected = TlsConnector::from(client).connect(name, stream).await;
            // Its refusal of our certificate arrives with a read.
            if let Ok(mut stream) = connected {
                let _ = timeout(LINGER_MAX, stream.read(&mut [0])).await;
            }
        };
        accepted(config, connect).await
    }

    #[tokio::test]
    async fn wrong_certificates_are_refused_and_the_reason_is_said() {
        let (ours, other) = (Authority::new("ours"), Authority::new("other"));
        let config = testkit::ca::server(&ours.issue(), Some(&ours));
        let refused = async |trusted: &Authority, identity: Option<&Issued>, says: &str| {
            let client = testkit::ca::client(trusted, identity);
            let refused = handshake(Arc::clone(&config), client).await.unwrap_err();
            assert!(refused.contains(says), "no `{says}` in: {refused}");
        };
        refused(&ours, None, "the client has no certificate").await;
        refused(
            &ours,
            Some(&other.issue()),
            "another CA than those in --client-ca",
        )
        .await;
        let expired = ours.issue_valid(Valid::Past);
        refused(&ours, Some(&expired), "it has expired").await;
        let early = ours.issue_valid(Valid::Future);
        refused(&ours, Some(&early), "it is not valid yet").await;
        let says = "another CA than those in its --backend-ca";
        refused(&other, Some(&ours.issue()), says).await;
        let right = testkit::ca::client(&ours, Some(&ours.issue()));
        assert_eq!(handshake(config, right).await, Ok(true));
    }

    #[tokio::test]
    async fn clients_without_tls_are_refused_in_time() {
        let ours = Authority::new("ours");
        let config = testkit::ca::server(&ours.issue(), Some(&ours));
        let said = async |bytes: &'static [u8]| {
            let connect = |mut stream: TcpStream| async move {
                stream.write_all(bytes).await.unwrap();
                let _ = stream.read_to_end(&mut Vec::new()).await;
            };
            accepted(Arc::clone(&config), connect).await.unwrap_err()
        };
        let plain = said(b"GET / HTTP/1.1\r\n\r\n").await;
        assert!(
            plain.contains("does not speak TLS; a frontend needs"),
            "{plain}"
        );
        assert!(
            said(b"")
                .await
                .contains("began no TLS handshake within 2 s")
        );
        let unfinished = said(b"\x16\x03\x01").await;
        assert!(
            unfinished.contains("not complete within 5 s"),
            "{unfinished}"
        );
        let checked = accepted(Arc::clone(&config), async |stream| drop(stream)).await;
        assert_eq!(checked, Ok(false), "closing is not an error");
    }
}
