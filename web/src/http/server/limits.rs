//! Limits on connections, and their defaults.

use super::clients::TrustedProxies;
use std::time::Duration;

/// Connection limits.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// Total connections.
    pub connections_max: usize,
    /// Connections of a client. Behind a trusted proxy: its concurrent requests.
    pub per_client_max: usize,
    /// Time for a request's head.
    pub head_max: Duration,
    /// Time for a body, after its head.
    pub body_max: Duration,
    /// Time between two requests.
    pub idle_max: Duration,
    /// Time for an unread response.
    pub unread_max: Duration,
    /// Proxies that name clients.
    pub trusted_proxies: TrustedProxies,
}

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
