//! Check before a TLS handshake: a plain request is told to use https.

use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

const HANDSHAKE: u8 = 0x16;

const USE_HTTPS: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    connection: close\r\n\
    content-type: text/plain\r\n\r\n\
    this server speaks TLS: ask it with https://...\n";

/// Returns whether a handshake begins. Answers anything else.
pub(super) async fn is_handshake(stream: &mut TcpStream, max: Duration) -> io::Result<bool> {
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
