//! Resolves hosts to public addresses.
//!
//! Repository lists may be from people who must not reach this network. Hosts are checked before
//! each fetch, and git connects only to checked addresses (see [`super::child`]).

use anyhow::{Context, Result, ensure};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};

const ADDRESSES_MAX: usize = 16;

/// Requires public addresses, unless `allow_private`.
pub(super) fn resolve(host: &str, port: u16, allow_private: bool) -> Result<Vec<IpAddr>> {
    let resolved = (host, port).to_socket_addrs();
    let resolved = resolved.with_context(|| format!("the host `{host}` cannot be resolved"))?;
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in resolved.map(|address| address.ip()).take(ADDRESSES_MAX) {
        ensure!(
            allow_private || is_public(address),
            "the host `{host}` is {address}, which is not on the public internet; allow it with --allow-private"
        );
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    ensure!(!addresses.is_empty(), "the host `{host}` has no address");
    Ok(addresses)
}

/// False for loopback, private, link-local and other special-purpose addresses (IANA's registries),
/// also embedded in IPv6.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
        // This network; multicast and reserved; carriers; benchmarks; protocol assignments.
        || a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b & 0xfe) == 18)
        || (a == 192 && b == 0 && c == 0);
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let inner = |high: u16, low: u16| {
        is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
    };
    match [a, b, c, d, e, f] {
        // NAT64 and 6to4 lead to the embedded IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0] => inner(g, h),
        [0x2002, high, low, ..] => inner(high, low),
        // Teredo and other protocol assignments; documentation.
        [0x2001, 0..0x200 | 0xdb8, ..] => false,
        // Global addresses start with bits 001, unlike IPv4-mapped ones (`::ffff:a.b.c.d`).
        _ => a & 0xe000 == 0x2000 && !(a == 0x3fff && b < 0x1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_its_network_are_not_public() {
        let private = "0.0.0.0 127.0.0.1 127.9.9.9 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 \
            169.254.169.254 100.64.0.1 192.0.0.8 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 \
            :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 fe80::1 fec0::1 fc00::1 fd12::1 \
            ff02::1 64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1::1 2002:a00:1::1 2001:0:1::1 2001:db8::1 100::1 \
            3fff::1";
        for address in private.split_whitespace() {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        let public = "1.1.1.1 8.8.8.8 140.82.121.4 172.32.0.1 192.0.1.1 100.128.0.1 198.20.0.1 \
            2606:4700:4700::1111 2a00:1450:4001::1 2001:4860:4860::8888 64:ff9b::808:808 2002:808:808::1";
        for address in public.split_whitespace() {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn other_spellings_of_loopback_are_refused() {
        for host in [
            "localhost",
            "127.1",
            "2130706433",
            "0x7f.1",
            "017700000001",
            "::1",
        ] {
            // A resolver without IPv6 may reject a spelling.
            let error = resolve(host, 80, false).expect_err(host);
            assert!(!error.to_string().contains("has no address"), "{host}");
            assert!(resolve("127.0.0.1", 80, true).is_ok());
        }
    }
}
