//! Argument of `--nodes`: the source of nodes.

use super::{Member, check_address};
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

const PORT_DEFAULT: u16 = 28082;

const PREFIX_DEFAULT: &str = "/trawl";

const ENDPOINTS_MAX: usize = 16;

/// DNS names, one per zone.
const DNS_NAMES_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Static(Vec<Member>),
    Dns {
        names: Vec<DnsName>,
        /// Server, if not the system's.
        server: Option<SocketAddr>,
    },
    Etcd {
        endpoints: Vec<String>,
        /// Key prefix, without a final slash.
        prefix: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsName {
    /// With SRV records if it begins with `_`, else addresses.
    pub name: String,
    pub port: u16,
    pub zone: String,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SourceError(String);

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Source, SourceError> {
        let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
        let parsed = match scheme {
            "static" => parse_static(rest),
            "dns" => parse_dns(rest).ok_or_else(|| {
                format!(
                    "dns:{rest}: expected dns:NAME[:PORT][/zone=ZONE][,NAME…][?server=IP:PORT], or \
                     dns:_SERVICE._tcp.NAME for SRV records"
                )
            }),
            "etcd" => parse_etcd(rest).ok_or_else(|| {
                format!("etcd:{rest}: expected etcd:http://HOST:PORT[,http://HOST:PORT…][/PREFIX], or https://")
            }),
            _ => Err(format!(
                "{scheme:?} is not a source of nodes{}; expected static:HOST:PORT,…, dns:NAME or etcd:URL",
                meant(scheme).map_or_else(String::new, |it| format!(", did you mean {it}:?"))
            )),
        };
        parsed.map_err(SourceError)
    }
}

impl fmt::Display for Source {
    /// For logs and the map file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Static(_) => write!(f, "static"),
            Source::Dns { names, .. } => {
                let names: Vec<String> = names.iter().map(DnsName::to_string).collect();
                write!(f, "dns:{}", names.join(","))
            }
            Source::Etcd { endpoints, prefix } => write!(f, "etcd:{}{prefix}", endpoints.join(",")),
        }
    }
}

impl fmt::Display for DnsName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.port)?;
        if !self.zone.is_empty() {
            write!(f, "/zone={}", self.zone)?;
        }
        Ok(())
    }
}

/// Most similar source.
fn meant(given: &str) -> Option<&'static str> {
    let known = [
        ("static", "static"),
        ("list", "static"),
        ("dns", "dns"),
        ("srv", "dns"),
        ("kubernetes", "dns"),
        ("k8s", "dns"),
        ("etcd", "etcd"),
        ("etcd3", "etcd"),
        ("http", "etcd"),
        ("https", "etcd"),
    ];
    let given = given.to_ascii_lowercase();
    let scored = known.map(|(name, meant)| (strsim::osa_distance(&given, name), meant));
    let best = scored.into_iter().min_by_key(|(distance, _)| *distance)?;
    (best.0 <= 2 && best.0 < given.len().max(1)).then_some(best.1)
}

fn parse_static(text: &str) -> Result<Source, String> {
    let mut members: Vec<Member> = Vec::new();
    for word in text.split(',') {
        let word = word.trim();
        let wrong = |reason: String| {
            format!("node {word:?}: {reason}; expected [NAME=]HOST:PORT[/zone=ZONE][/weight=N]")
        };
        let member = parse_member(word).map_err(wrong)?;
        let mut others = members.iter();
        if let Some(other) =
            others.find(|it| it.name == member.name || it.address == member.address)
        {
            let same = if other.name == member.name {
                "name"
            } else {
                "address"
            };
            return Err(wrong(format!("another node has this {same}")));
        }
        members.push(member);
    }
    Ok(Source::Static(members))
}

fn parse_member(word: &str) -> Result<Member, String> {
    let mut parts = word.split('/');
    let first = parts.next().unwrap_or_default();
    let mut member = match first.split_once('=') {
        Some((name, address)) => Member {
            name: name.to_owned(),
            ..Member::at(address)
        },
        None => Member::at(first),
    };
    for part in parts {
        match part.split_once('=') {
            Some(("zone", zone)) => member.zone = zone.to_owned(),
            Some(("weight", weight)) => {
                let wrong = |_| format!("weight {weight:?} is not a number");
                member.weight = weight.parse().map_err(wrong)?;
            }
            _ => return Err(format!("{part:?} is neither zone=ZONE nor weight=N")),
        }
    }
    member.check()?;
    Ok(member)
}

fn parse_dns(text: &str) -> Option<Source> {
    let (names, server) = match text.split_once('?') {
        Some((names, option)) => (names, Some(option.strip_prefix("server=")?.parse().ok()?)),
        None => (text, None),
    };
    let names: Option<Vec<DnsName>> = names.split(',').map(parse_dns_name).collect();
    let names = names.filter(|names| names.len() <= DNS_NAMES_MAX)?;
    Some(Source::Dns { names, server })
}

fn parse_dns_name(text: &str) -> Option<DnsName> {
    let (name, zone) = match text.split_once('/') {
        Some((name, zone)) => (name, zone.strip_prefix("zone=")?),
        None => (text, ""),
    };
    let (name, port) = match name.split_once(':') {
        Some((name, port)) => (name, port.parse().ok().filter(|&port| port > 0)?),
        None => (name, PORT_DEFAULT),
    };
    let node = Member {
        zone: zone.to_owned(),
        ..Member::at(&format!("{name}:{port}"))
    };
    node.check().ok()?;
    Some(DnsName {
        name: name.to_owned(),
        port,
        zone: node.zone,
    })
}

fn parse_etcd(text: &str) -> Option<Source> {
    let (mut endpoints, mut prefix) = (Vec::new(), "");
    for url in text.split(',') {
        let (scheme, rest) = url.split_once("://")?;
        let (host, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let is_known = matches!(scheme, "http" | "https");
        if !is_known || check_address(host).is_err() || !prefix.is_empty() {
            return None;
        }
        prefix = path.trim_end_matches('/');
        endpoints.push(format!("{scheme}://{host}"));
    }
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte);
    if endpoints.len() > ENDPOINTS_MAX || !prefix.bytes().all(is_fine) || prefix.len() > 200 {
        return None;
    }
    Some(Source::Etcd {
        endpoints,
        prefix: Some(prefix)
            .filter(|it| !it.is_empty())
            .unwrap_or(PREFIX_DEFAULT)
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Source {
        text.parse().unwrap()
    }

    fn error(text: &str) -> String {
        text.parse::<Source>().unwrap_err().to_string()
    }

    #[test]
    fn nodes_are_listed_with_names_zones_and_weights() {
        let Source::Static(members) = parse(
            "static:b1=10.0.0.1:28082/zone=east/weight=2,[2001:db8::1]:28082,b3=backend.example:1/weight=0",
        ) else {
            panic!("another source");
        };
        let first = Member {
            name: "b1".to_owned(),
            address: "10.0.0.1:28082".to_owned(),
            zone: "east".to_owned(),
            weight: 2,
            draining: false,
        };
        assert_eq!(members[0], first);
        assert_eq!(members[1], Member::at("[2001:db8::1]:28082"));
        assert_eq!((&*members[2].name, members[2].weight), ("b3", 0));
    }

    #[test]
    fn malformed_nodes_are_named_with_what_is_expected() {
        for (text, part) in [
            ("static:", "not HOST:PORT"),
            ("static:10.0.0.1", "not HOST:PORT"),
            ("static:10.0.0.1:0", "not HOST:PORT"),
            ("static:a:1,a:1", "another node has this name"),
            ("static:x=a:1,x=b:1", "another node has this name"),
            ("static:x=a:1,y=a:1", "another node has this address"),
            ("static:a:1/zone=", ""),
            ("static:a:1/zone=a b", "zone"),
            ("static:a:1/size=2", "neither zone=ZONE nor weight=N"),
            ("static:a:1/weight=-1", "not a number"),
            ("static:a:1/weight=4294967295", "more than"),
        ] {
            match text.parse::<Source>() {
                Ok(_) => assert_eq!(part, "", "{text}"),
                Err(error) => assert!(
                    error.to_string().contains(part) && !part.is_empty(),
                    "{text}: {error}"
                ),
            }
        }
    }

    #[test]
    fn a_misspelt_source_gets_a_suggestion() {
        for (text, meant) in [
            ("statik:a:1", "static:"),
            ("ectd:http://a:1", "etcd:"),
            ("http://127.0.0.1:2379", "etcd:"),
            ("DNS:x", "dns:"),
            ("k8s:x", "dns:"),
        ] {
            assert!(
                error(text).contains(&format!("did you mean {meant}?")),
                "{}",
                error(text)
            );
        }
        assert!(!error("consul:x").contains("did you mean"));
        assert!(!error("10.0.0.1:28082").contains("did you mean"));
    }

    #[test]
    fn names_in_the_dns_have_a_port_and_a_server() {
        let named = |name: &str, port, zone: &str| DnsName {
            name: name.to_owned(),
            port,
            zone: zone.to_owned(),
        };
        let dns = |name: &str, port, server: Option<&str>| Source::Dns {
            names: vec![named(name, port, "")],
            server: server.map(|it| it.parse().unwrap()),
        };
        assert_eq!(
            parse("dns:backends.example"),
            dns("backends.example", 28082, None)
        );
        assert_eq!(
            parse("dns:_trawl._tcp.x"),
            dns("_trawl._tcp.x", 28082, None)
        );
        let server = parse("dns:b.example:99?server=[::1]:5353");
        assert_eq!(server, dns("b.example", 99, Some("[::1]:5353")));
        let zones = parse("dns:_t._tcp.a/zone=east,b:99/zone=west");
        let names = vec![named("_t._tcp.a", 28082, "east"), named("b", 99, "west")];
        let (text, server) = (zones.to_string(), None);
        assert_eq!(zones, Source::Dns { names, server });
        assert_eq!(parse(&text), zones);
        for text in [
            "dns:",
            "dns:a,",
            "dns:a/east",
            "dns:a/zone=x y",
            "dns:a b",
            "dns:a:0",
            "dns:a?server=x",
            "dns:a?servers=1.1.1.1:53",
        ] {
            assert!(error(text).starts_with(text), "{}", error(text));
        }
    }

    #[test]
    fn etcd_has_endpoints_and_a_prefix() {
        let etcd = |endpoints: &[&str], prefix: &str| Source::Etcd {
            endpoints: endpoints.iter().map(|it| (*it).to_owned()).collect(),
            prefix: prefix.to_owned(),
        };
        assert_eq!(
            parse("etcd:http://a:2379"),
            etcd(&["http://a:2379"], "/trawl")
        );
        assert_eq!(
            parse("etcd:https://a:1,https://[::1]:2/staging/"),
            etcd(&["https://a:1", "https://[::1]:2"], "/staging")
        );
        for text in [
            "etcd:",
            "etcd:a:2379",
            "etcd:ftp://a:1",
            "etcd:http://a",
            "etcd:http://u:p@a:1",
        ] {
            assert!(error(text).starts_with(text), "{}", error(text));
        }
    }
}
