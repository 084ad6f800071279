//! Clients: their addresses, also behind proxies, and limits on connections.

use axum::http::HeaderMap;
use fnv::FnvHasher;
use ipnet::IpNet;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest are foreign cookies of the same host.
pub(crate) const HEADERS_BYTES_MAX: usize = 32 << 10;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// `http` or `https`.
const FORWARDED_PROTO: &str = "x-forwarded-proto";

#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    pub connections_max: usize,
    /// Connections of a client. Behind a trusted proxy: its concurrent requests.
    pub per_client_max: usize,
    /// Time for a request's head.
    pub head_max: Duration,
    /// Time for a body, after its head.
    pub body_max: Duration,
    /// Time between two requests.
    pub idle_max: Duration,
    pub unread_max: Duration,
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

#[derive(Debug, Default)]
pub(super) struct Clients(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    clients: HashMap<Client, [usize; 2]>,
}

/// Connection, counted until dropped.
#[derive(Debug)]
pub(super) struct Held {
    clients: Arc<Clients>,
    client: Client,
    is_reserved: bool,
}

impl Clients {
    /// `None` at the limit of all or of this client.
    pub(super) fn hold(
        clients: &Arc<Clients>,
        client: Client,
        (all_max, client_max): (usize, usize),
        is_reserved: bool,
    ) -> Option<Held> {
        let mut counts = clients.lock();
        if counts.all >= all_max {
            return None;
        }
        let count = counts.clients.entry(client).or_default();
        let count = &mut count[usize::from(is_reserved)];
        // A full entry has connections, so no empty one remains.
        if *count >= client_max {
            return None;
        }
        *count += 1;
        counts.all += 1;
        Some(Held {
            clients: Arc::clone(clients),
            client,
            is_reserved,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut counts = self.clients.lock();
        counts.all -= 1;
        let count = counts.clients.entry(self.client).or_default();
        count[usize::from(self.is_reserved)] -= 1;
        if *count == [0, 0] {
            counts.clients.remove(&self.client);
        }
    }
}

/// Networks of proxies that name their clients.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Vec<IpNet>);

#[derive(Debug, thiserror::Error)]
#[error("{0}: expected an address or a network, such as 10.0.0.5 or 10.0.0.0/8")]
pub struct BadNetwork(String);

impl TrustedProxies {
    pub fn new(networks: &[String]) -> Result<TrustedProxies, BadNetwork> {
        let network = |text: &String| {
            let address = text.parse::<IpAddr>().map(IpNet::from);
            let network = address.or_else(|_| text.parse::<IpNet>());
            network.map_err(|_| BadNetwork(text.clone()))
        };
        let networks: Result<_, _> = networks.iter().map(network).collect();
        networks.map(TrustedProxies)
    }

    pub(super) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    pub(super) fn is_https(&self, peer: IpAddr, headers: &HeaderMap) -> bool {
        let protocol = headers.get(FORWARDED_PROTO);
        self.contains(peer) && protocol.is_some_and(|it| it.as_bytes() == b"https")
    }

    /// Client of a request: the last address that is not a trusted proxy, from the connection back
    /// through the header. Earlier ones may be forged.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let mut client = peer;
        let values = headers.get_all(FORWARDED_FOR).iter();
        let values: Vec<_> = values.filter_map(|value| value.to_str().ok()).collect();
        let named = values.iter().rev().flat_map(|value| value.rsplit(','));
        for named in named {
            if !self.contains(client) {
                break;
            }
            match address(named.trim()) {
                Some(address) => client = address,
                None => break,
            }
        }
        Client::new(client)
    }
}

fn address(text: &str) -> Option<IpAddr> {
    let with_port = text.parse().map(|address: SocketAddr| address.ip());
    let rest = text.strip_prefix('[');
    let bracketed = rest.and_then(|text| text.strip_suffix(']'));
    let bare = bracketed.unwrap_or(text).parse();
    with_port.or(bare).ok()
}

/// Extension of a request that was encrypted, here or at the proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsHttps;

/// Address of a client, or its /64 network in IPv6, since one client can use all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Client(IpAddr);

impl Client {
    pub(crate) fn new(address: IpAddr) -> Client {
        Client(match address.to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => {
                let network = u128::from(address) & (u128::MAX << 64);
                IpAddr::V6(Ipv6Addr::from(network))
            }
            address => address,
        })
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.0
    }

    pub(crate) fn key(&self) -> u64 {
        let mut hasher = FnvHasher::default();
        self.hash(&mut hasher);
        hasher.finish().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn counts_connections_of_all_and_of_each_client() {
        let clients = Arc::default();
        let (one, other) = (Client::new(ip("10.0.0.1")), Client::new(ip("10.0.0.2")));
        let hold = |client| Clients::hold(&clients, client, (3, 2), false);
        let first = hold(one);
        let held = [hold(one), hold(other)];
        assert!(first.is_some() && held.iter().all(Option::is_some));
        assert!(hold(one).is_none() && hold(other).is_none());
        assert!(Clients::hold(&clients, one, (4, 1), true).is_some());
        drop(first);
        let again = hold(other);
        assert!(again.is_some() && hold(one).is_none());
        drop((held, again));
        assert!(clients.lock().clients.is_empty() && clients.lock().all == 0);
    }

    #[test]
    fn only_trusted_proxies_name_their_clients() {
        let proxies = ["10.0.0.0/8".to_owned(), "::1".to_owned()];
        let proxies = TrustedProxies::new(&proxies).unwrap();
        let client = |peer, named: &[&str]| {
            let mut headers = HeaderMap::new();
            for named in named {
                let value = HeaderValue::from_str(named).unwrap();
                headers.append(FORWARDED_FOR, value);
            }
            proxies.client(ip(peer), &headers)
        };
        let is = |text| Client::new(ip(text));
        assert_eq!(client("192.0.2.1", &["192.0.2.9"]), is("192.0.2.1"));
        assert_eq!(client("10.1.1.1", &[]), is("10.1.1.1"));
        assert_eq!(client("10.1.1.1", &["192.0.2.9"]), is("192.0.2.9"));
        assert_eq!(
            client("::1", &["1.1.1.1, 192.0.2.9:80,10.2.2.2"]),
            is("192.0.2.9")
        );
        assert_eq!(
            client("10.1.1.1", &["1.1.1.1", "[2001:db8::7]:9"]),
            is("2001:db8::7")
        );
        assert_eq!(client("10.1.1.1", &["192.0.2.9, unknown"]), is("10.1.1.1"));
        let bad = TrustedProxies::new(&["10.0.0.0/40".to_owned()]).unwrap_err();
        assert!(bad.to_string().starts_with("10.0.0.0/40: expected"));
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let client = |text: &str| Client::new(text.parse().unwrap());
        assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:1"));
        assert_ne!(client("2001:db8:0:1::1"), client("2001:db8:0:2::1"));
        assert_eq!(client("::ffff:10.0.0.1"), client("10.0.0.1"));
    }
}
