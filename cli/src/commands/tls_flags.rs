//! TLS flags: public listener, backend, and connections to backends.

use anyhow::{Result, bail};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use tls::{ClientConfig, Current, Identity, ServerConfig};

const ENCRYPTION: &str = "Encryption";

/// Certificate of a process that listens.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct ServerIdentity {
    /// Use TLS, with the certificate in FILE (PEM, followed by the intermediate certificates)
    ///
    /// Files are read again when they change.
    #[arg(long, help_heading = ENCRYPTION, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Private key of --tls-cert (PEM)
    #[arg(long, help_heading = ENCRYPTION, value_name = "FILE")]
    tls_key: Option<PathBuf>,
}

impl ServerIdentity {
    pub(super) fn public(&self) -> Result<Option<Current<ServerConfig>>> {
        Ok(self
            .identity()?
            .map(|it| tls::server::public(it, web::PROTOCOLS))
            .transpose()?)
    }

    fn identity(&self) -> Result<Option<Identity>> {
        match (self.tls_cert.clone(), self.tls_key.clone()) {
            (Some(certificate), Some(key)) => Ok(Some(Identity { certificate, key })),
            (None, None) => Ok(None),
            (Some(_), None) => {
                bail!("--tls-cert needs --tls-key, the private key of the certificate")
            }
            (None, Some(_)) => bail!("--tls-key needs --tls-cert, the certificate of the key"),
        }
    }
}

/// TLS of a backend.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct BackendTls {
    #[command(flatten)]
    identity: ServerIdentity,
    /// Serve only clients with a certificate of the CAs in FILE (PEM); needs --tls-cert
    #[arg(long, help_heading = ENCRYPTION, value_name = "FILE")]
    client_ca: Option<PathBuf>,
    /// Listen without TLS on an address that other machines reach; they can then read everything
    #[arg(long, help_heading = ENCRYPTION)]
    insecure: bool,
}

impl BackendTls {
    /// Checks `address` if TLS is disabled.
    pub(super) fn config(&self, address: SocketAddr) -> Result<Option<Current<ServerConfig>>> {
        match (self.identity.identity()?, self.client_ca.clone()) {
            (Some(identity), Some(client_ca)) => {
                Ok(Some(tls::server::backend(identity, client_ca)?))
            }
            (None, None) if self.insecure || address.ip().to_canonical().is_loopback() => Ok(None),
            (None, None) => bail!(
                "{} is not a loopback address, so other machines could read everything that is \
                 indexed; give --tls-cert, --tls-key and --client-ca (docs/operations.md, Encryption), or \
                 --insecure if only frontends reach this address",
                address.ip()
            ),
            (Some(_), None) => bail!(
                "--tls-cert needs --client-ca, the CA of the frontends' certificates; without it \
                 every machine that reaches {address} could search"
            ),
            (None, Some(_)) => bail!("--client-ca needs --tls-cert and --tls-key"),
        }
    }
}

/// TLS of a frontend towards its backends.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct BackendClientTls {
    /// Use TLS to backends, and trust the CAs in FILE (PEM); needs --backend-cert and --backend-key
    ///
    /// The certificate of a backend must be for the host in --backend.
    #[arg(long, help_heading = ENCRYPTION, value_name = "FILE")]
    backend_ca: Option<PathBuf>,
    /// Certificate that backends request (PEM)
    #[arg(long, help_heading = ENCRYPTION, value_name = "FILE")]
    backend_cert: Option<PathBuf>,
    /// Private key of --backend-cert (PEM)
    #[arg(long, help_heading = ENCRYPTION, value_name = "FILE")]
    backend_key: Option<PathBuf>,
}

impl BackendClientTls {
    /// Warns about remote backends without TLS.
    pub(super) fn config(&self, backends: &[String]) -> Result<Option<Current<ClientConfig>>> {
        let given = (
            self.backend_ca.clone(),
            self.backend_cert.clone(),
            self.backend_key.clone(),
        );
        match given {
            (Some(ca), Some(certificate), Some(key)) => {
                let identity = Identity { certificate, key };
                Ok(Some(tls::client::backend(identity, ca)?))
            }
            (None, None, None) => {
                let remote = backends.iter().filter(|address| !is_loopback(address));
                for backend in remote {
                    tracing::warn!(
                        backend,
                        "connection to this backend is not encrypted: it can be read and changed on the \
                         way; give --backend-ca, --backend-cert and --backend-key"
                    );
                }
                Ok(None)
            }
            _ => bail!(
                "--backend-ca, --backend-cert and --backend-key need each other; give all three"
            ),
        }
    }
}

/// False in doubt.
fn is_loopback(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || (host.parse()).is_ok_and(|host: IpAddr| host.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(insecure: bool, address: &str) -> Result<()> {
        let flags = BackendTls {
            insecure,
            ..BackendTls::default()
        };
        let address = SocketAddr::new(address.parse().unwrap(), 1);
        flags.config(address).map(drop)
    }

    #[test]
    fn a_backend_without_tls_listens_on_loopback_alone_unless_told_otherwise() {
        for (address, is_allowed) in [
            ("127.0.0.1", true),
            ("127.0.0.2", true),
            ("::1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(plain(false, address).is_ok(), is_allowed, "{address}");
            assert!(plain(true, address).is_ok(), "{address}");
        }
        let refused = plain(false, "10.0.0.1").unwrap_err().to_string();
        assert!(refused.contains("--client-ca") && refused.contains("--insecure"));
    }

    #[test]
    fn hosts_of_this_machine_are_known() {
        for own in ["127.0.0.1:1", "[::1]:1", "localhost:1"] {
            assert!(is_loopback(own), "{own}");
        }
        for other in [
            "10.0.0.1:1",
            "[2001:db8::1]:1",
            "host.example:1",
            "0.0.0.0:1",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
