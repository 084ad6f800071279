//! TLS between clients, frontends and backends.
//!
//! [`files`] reads and checks certificates and keys, [`server`] and [`client`] build the
//! configurations and make the handshakes, and [`faults`] explains failures. Flags are in `cli`.
//!
//! **Invariant:** a configuration in use is replaced only by one that was read without errors.
//!
//! ```
//! let config = tls::client::outgoing(false)?;
//! assert!(config.alpn_protocols.is_empty());
//! # Ok::<(), tls::BadFile>(())
//! ```

pub mod client;
pub mod faults;
pub mod files;
pub mod server;

pub use files::{Current, Identity};
pub use rustls::{ClientConfig, ServerConfig};
pub use tokio_rustls::TlsAcceptor;
pub use watched_file::BadFile;

pub fn describe_metrics() {
    let expiry = "When a certificate expires, in seconds since 1970";
    metrics::describe_gauge!("trawl_certificate_expiry_seconds", expiry);
}
