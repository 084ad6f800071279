//! Name and address of a backend, and ways to connect.
//!
//! Answers show the name; the log shows the address too.

use schema::message::Search;
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tls::client::{InvalidDnsNameError, TlsStream, server_name};
use tls::{ClientConfig, Current, faults};

const CONNECT_MAX: Duration = Duration::from_secs(2);

/// Connects; no step (connection, handshake) may take longer than its argument.
type Dial = Arc<dyn Fn(Duration) -> io::Result<Socket> + Send + Sync>;

pub(crate) type AnswerHere =
    Arc<dyn Fn(&Search, &Arc<AtomicBool>, &mut dyn FnMut(&[u8]) -> bool) -> bool + Send + Sync>;

/// A backend: its name and a way to connect.
#[derive(Clone)]
pub struct Backend {
    name: String,
    pub(crate) address: String,
    dial: Dial,
    pub(crate) answer_here: Option<AnswerHere>,
    pub(super) is_draining: bool,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Backend").field(&self.name).finish()
    }
}

impl Backend {
    /// Backend with connections made by `dial`, each step within its argument.
    pub fn new(
        name: impl Into<String>,
        dial: impl Fn(Duration) -> io::Result<Socket> + Send + Sync + 'static,
    ) -> Backend {
        let name = name.into();
        Backend {
            address: name.clone(),
            name,
            dial: Arc::new(dial),
            answer_here: None,
            is_draining: false,
        }
    }

    /// Answers searches on the calling thread instead of a connection. `answer` gets the search, a
    /// stop flag, and a consumer of frames that returns true while more are wanted. It returns
    /// false before any frame if the search needs a connection.
    pub fn answering_here(
        self,
        answer: impl Fn(&Search, &Arc<AtomicBool>, &mut dyn FnMut(&[u8]) -> bool) -> bool
        + Send
        + Sync
        + 'static,
    ) -> Backend {
        Backend {
            answer_here: Some(Arc::new(answer)),
            ..self
        }
    }

    /// Backend on `host:port`, which is also its name.
    pub fn tcp(address: impl Into<String>) -> Backend {
        let address = address.into();
        Backend::new(address.clone(), move |step_max| {
            connect(&address, step_max).map(Socket::Tcp)
        })
    }

    /// Like [`tcp`](Self::tcp), over TLS with the current `config`. The certificate must be
    /// for the host in `address`.
    pub fn tls(
        address: impl Into<String>,
        config: Current<ClientConfig>,
    ) -> Result<Backend, InvalidDnsNameError> {
        let address = address.into();
        let name = server_name(&address)?;
        Ok(Backend::new(address.clone(), move |step_max| {
            let config = Arc::clone(&config.borrow());
            let socket = connect(&address, step_max)?;
            let stream = TlsStream::connect(socket, config, name.clone(), step_max)?;
            Ok(Socket::Tls(Box::new(stream)))
        }))
    }

    /// Sets a name other than the address, which answers then hide.
    pub fn named(self, name: impl Into<String>) -> Backend {
        let name = name.into();
        Backend { name, ..self }
    }

    /// Marks it as draining: new searches prefer other backends with its shards.
    pub fn draining(self, is_draining: bool) -> Backend {
        Backend {
            is_draining,
            ..self
        }
    }

    pub(super) fn is_same(&self, other: &Backend) -> bool {
        self.name == other.name && self.address == other.address
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn log_name(&self) -> Cow<'_, str> {
        if self.name == self.address {
            Cow::from(&self.name)
        } else {
            Cow::from(format!("{} ({})", self.name, self.address))
        }
    }

    /// Connects; no step may take longer than `step_max`. Errors hide the address if answers do.
    pub(super) fn connect(&self, step_max: Duration) -> io::Result<Socket> {
        (self.dial)(step_max).map_err(|error| self.without_address(error))
    }

    fn without_address(&self, error: io::Error) -> io::Error {
        let host = self.address.rsplit_once(':').map_or("", |(host, _)| host);
        let fault = faults::of_backend(&error);
        let text = fault.clone().unwrap_or_else(|| error.to_string());
        if self.name == self.address || host.is_empty() || !text.contains(host) {
            return error;
        }
        tracing::debug!(backend = self.address, %error, "cannot connect");
        let hidden = match fault {
            Some(_) => faults::OTHER_NAME.to_owned(),
            None => text.replace(host, &self.name),
        };
        io::Error::new(error.kind(), hidden)
    }
}

fn connect(address: &str, max: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, max.min(CONNECT_MAX)) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[derive(Debug)]
pub enum Socket {
    /// To another process or machine.
    Tcp(TcpStream),
    /// The same, encrypted.
    Tls(Box<TlsStream>),
    /// Within this machine or process.
    Unix(UnixStream),
}

impl Socket {
    pub fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        let timeout = Some(timeout);
        let stream = match self {
            Socket::Tcp(stream) => stream,
            Socket::Tls(stream) => stream.socket(),
            Socket::Unix(stream) => {
                stream.set_read_timeout(timeout)?;
                return stream.set_write_timeout(timeout);
            }
        };
        stream.set_read_timeout(timeout)?;
        stream.set_write_timeout(timeout)
    }

    /// Shuts down both directions, which ends reads and writes of other threads.
    pub fn shutdown(&self) {
        // Fails harmlessly if the other side was first.
        let _ = match self {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Socket::Tls(stream) => stream.socket().shutdown(Shutdown::Both),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for &Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => (&mut &*stream).read(buffer),
            Socket::Tls(stream) => stream.read(buffer),
            Socket::Unix(stream) => (&mut &*stream).read(buffer),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => (&mut &*stream).write(bytes),
            Socket::Tls(stream) => stream.write(bytes),
            Socket::Unix(stream) => (&mut &*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
