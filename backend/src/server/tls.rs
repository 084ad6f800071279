//! TLS with frontends: mutual handshake, and explanations of failures.

use super::connection::ConnectionError;
use rustls::{AlertDescription, CertificateError, ServerConfig};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Below the 3 s of a frontend without TLS, so it learns of the mismatch.
const FIRST_BYTE_MAX: Duration = Duration::from_secs(2);

const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// Time for a refused client to read the reason, which a close would lose.
const LINGER_MAX: Duration = Duration::from_secs(1);

const LINGER_BYTES_MAX: u64 = 64 << 10;

/// Makes the handshake; `None` if closed before, as by port checks.
pub(super) async fn accept(
    stream: TcpStream,
    config: Arc<ServerConfig>,
) -> Result<Option<TlsStream<TcpStream>>, ConnectionError> {
    match timeout(FIRST_BYTE_MAX, stream.peek(&mut [0])).await {
        Ok(Ok(0)) => return Ok(None),
        Ok(Ok(_)) => {}
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => return Err(ConnectionError::Tls(no_handshake())),
    }
    let accepting = TlsAcceptor::from(config).accept(stream).into_fallible();
    match timeout(HANDSHAKE_MAX, accepting).await {
        Ok(Ok(stream)) => Ok(Some(stream)),
        Ok(Err((error, stream))) => {
            let _ = timeout(LINGER_MAX, linger(stream)).await;
            Err(ConnectionError::Tls(reason(&error)))
        }
        Err(_) => Err(ConnectionError::Tls(format!(
            "the handshake was not complete within {} s",
            HANDSHAKE_MAX.as_secs()
        ))),
    }
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

fn reason(error: &io::Error) -> String {
    let fault = error.get_ref().and_then(|it| it.downcast_ref());
    match fault {
        Some(rustls::Error::InvalidMessage(_)) => {
            "the client does not speak TLS; a frontend needs --backend-ca, --backend-cert and \
             --backend-key"
                .to_owned()
        }
        Some(rustls::Error::NoCertificatesPresented) => {
            "the client has no certificate; a frontend needs --backend-cert and --backend-key"
                .to_owned()
        }
        Some(rustls::Error::InvalidCertificate(fault)) => {
            format!("the client's certificate is refused: {}", refusal(fault))
        }
        Some(rustls::Error::AlertReceived(alert)) => refused(*alert),
        Some(other) => other.to_string(),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the client closed the connection during the handshake".to_owned()
        }
        None => error.to_string(),
    }
}

fn refusal(fault: &CertificateError) -> String {
    use CertificateError as Fault;
    match fault {
        Fault::Expired | Fault::ExpiredContext { .. } => "it has expired".to_owned(),
        Fault::NotValidYet | Fault::NotValidYetContext { .. } => {
            "it is not valid yet; compare the clocks of both machines".to_owned()
        }
        Fault::UnknownIssuer | Fault::BadSignature => {
            "it was issued by another CA than those in --client-ca".to_owned()
        }
        Fault::InvalidPurpose | Fault::InvalidPurposeContext { .. } => {
            "it is not for clients (extendedKeyUsage)".to_owned()
        }
        other => other.to_string(),
    }
}

fn refused(alert: AlertDescription) -> String {
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
