//! Sender of a request, as far as its connection tells.

use fnv::FnvHasher;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv6Addr};

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

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let client = |text: &str| Client::new(text.parse().unwrap());
        assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:1"));
        assert_ne!(client("2001:db8:0:1::1"), client("2001:db8:0:2::1"));
        assert_eq!(client("::ffff:10.0.0.1"), client("10.0.0.1"));
    }
}
