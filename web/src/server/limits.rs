//! The limits on connections, and their defaults.

use super::clients::TrustedProxies;
use std::time::Duration;

/// Limits on connections.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// Connections of all clients.
    pub connections_max: usize,
    /// Connections of a client, or requests at once of a client behind a trusted proxy.
    pub per_client_max: usize,
    /// From the first byte of a request, or from the beginning of the connection, to the end of its head.
    pub head_max: Duration,
    /// How long the body of a request may take, counted from the end of its head.
    pub body_max: Duration,
    /// Between two requests.
    pub idle_max: Duration,
    /// How long a client may not read its response.
    pub unread_max: Duration,
    /// Proxies that say whom they ask for.
    pub trusted_proxies: TrustedProxies,
}

/// How long a client may take to send the body of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyTime(pub(crate) Duration);

impl Default for BodyTime {
    fn default() -> BodyTime {
        BodyTime(Duration::from_secs(30))
    }
}

impl Default for ConnectionLimits {
    fn default() -> ConnectionLimits {
        ConnectionLimits {
            connections_max: 12_000,
            per_client_max: 512,
            head_max: Duration::from_secs(10),
            body_max: BodyTime::default().0,
            idle_max: Duration::from_secs(75),
            unread_max: Duration::from_secs(30),
            trusted_proxies: TrustedProxies::default(),
        }
    }
}
