//! Checks of the requested host and of the sending page.
//!
//! A foreign page can point its own host name at this machine and read answers as its own (DNS
//! rebinding). So a server on loopback answers only to names of this machine and listed ones.
//! Foreign pages read answers only from origins set by the operator. Cookies are for our own pages,
//! so credentials are not allowed. Foreign scripts send a key.

use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version, header};
use axum::middleware::Next;
use axum::response::Response;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Reads by POST. Their clients may be servers, which send an origin of their own.
const POSTED_READS: [&str; 4] = ["/api/search", "/api/list", "/.api/graphql", "/api/graphql"];

#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    pub(crate) hosts: HostNames,
    /// Foreign origins of sending pages; `*` for all.
    pub(crate) origins: Arc<[String]>,
}

/// Host names of the server. The default is every name: other machines use names that the server
/// does not know.
#[derive(Clone, Debug, Default)]
pub struct HostNames {
    /// Names of this machine are accepted, and those listed.
    is_loopback: bool,
    listed: Arc<[String]>,
}

impl HostNames {
    pub fn new(address: IpAddr, listed: &[String]) -> HostNames {
        HostNames {
            is_loopback: address.is_loopback(),
            listed: listed
                .iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
        }
    }

    fn accept(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let is_ours = if self.is_loopback {
            is_loopback(&host)
        } else {
            self.listed.is_empty()
        };
        is_ours || self.listed.contains(&host)
    }
}

/// `host` is in lower case.
fn is_loopback(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address = bare.unwrap_or(host).parse::<IpAddr>();
    address.is_ok_and(|address| address.to_canonical().is_loopback())
        || host == "localhost"
        || host.ends_with(".localhost")
}

/// Refuses other hosts, and cross-site changes.
pub(crate) async fn check(
    State(hosts): State<Hosts>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    hosts.check(&request)?;
    Ok(next.run(request).await)
}

impl Hosts {
    fn check(&self, request: &Request) -> Result<(), Problem> {
        let named = named(request).map_err(Problem::bad_request)?;
        let in_address = request.uri().authority().map(Authority::as_str);
        // HTTP/1.0 has no host; browsers always send it.
        let Some(host) = in_address.or(named) else {
            return Ok(());
        };
        let authority: Option<Authority> = host.parse().ok();
        let name = authority.as_ref().map_or("", |authority| authority.host());
        if !self.hosts.accept(name) {
            let detail = format!("this server is not {host}");
            let hint =
                "use the address that the server printed; its operator can list names with --host";
            return Err(Problem::misdirected(detail).hint(hint));
        }
        let is_read = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method())
            || POSTED_READS.contains(&request.uri().path());
        let Some(origin) = request.headers().get(header::ORIGIN).filter(|_| !is_read) else {
            return Ok(());
        };
        let origin = origin.to_str().unwrap_or_default();
        let is_allowed = |allowed: &String| allowed == "*" || allowed == origin;
        if is_of(origin, host) || self.origins.iter().any(is_allowed) {
            return Ok(());
        }
        let detail = format!("a page of {origin} may not send this request");
        Err(Problem::foreign(detail).hint("the operator can allow it with --cors-origin"))
    }
}

/// Returns the only header `Host` (RFC 9112, 3.2). With several or a malformed one, a proxy and
/// this server could see requests for different sites.
fn named(request: &Request) -> Result<Option<&str>, &'static str> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let Some(host) = hosts.next() else {
        return match request.version() {
            Version::HTTP_11 => Err("the request has no header Host"),
            _ => Ok(None),
        };
    };
    if hosts.next().is_some() {
        return Err("the request has several headers Host");
    }
    let host = host.to_str().unwrap_or("@");
    // Empty for an address without a host.
    if host.is_empty() || is_host(host) {
        Ok(Some(host))
    } else {
        Err("the header Host is neither a host nor a host with a port")
    }
}

/// A port may follow.
fn is_host(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else {
        return false;
    };
    // The host comes first without a user.
    let port = text.strip_prefix(authority.host());
    let digits = port.map(|port| port.strip_prefix(':').unwrap_or(port));
    !authority.host().is_empty()
        && digits.is_some_and(|digits| digits.bytes().all(|it| it.is_ascii_digit()))
}

/// True for requests from no page, too.
pub(crate) fn is_from_own_page(headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| Some(headers.get(name)?.to_str().unwrap_or_default());
    let host = text(&header::HOST).unwrap_or_default();
    text(&header::ORIGIN).is_none_or(|origin: &str| is_of(origin, host))
}

fn is_of(origin: &str, host: &str) -> bool {
    let site = origin.split_once("://");
    site.is_some_and(|(_, from)| from == host)
}

const MAX_AGE: Duration = Duration::from_secs(3600);

/// Headers of all interfaces that scripts may read.
const EXPOSED: [HeaderName; 9] = [
    header::ETAG,
    header::RETRY_AFTER,
    HeaderName::from_static("server-timing"),
    HeaderName::from_static("x-trawl-complete"),
    HeaderName::from_static("x-trawl-search"),
    HeaderName::from_static("x-trawl-query"),
    HeaderName::from_static("x-trawl-notice"),
    HeaderName::from_static("x-trawl-offset"),
    HeaderName::from_static("x-trawl-total-bytes"),
];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not an origin: expected https://host, https://host:port, or *")]
pub struct BadOrigin(String);

/// `origins` must pass [`check_origins`]. `exposed` are further headers that scripts may read.
pub(crate) fn cors(origins: &[String], exposed: &[HeaderName]) -> CorsLayer {
    let origin = if origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        let origins = origins.iter();
        AllowOrigin::list(origins.filter_map(|origin| HeaderValue::from_str(origin).ok()))
    };
    CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::DELETE])
        .allow_headers([
            header::CONTENT_TYPE,
            header::AUTHORIZATION,
            header::IF_NONE_MATCH,
            HeaderName::from_static("x-dcs-apikey"),
        ])
        .expose_headers([&EXPOSED, exposed].concat())
        .max_age(MAX_AGE)
}

/// Rejects what no browser sends.
pub(crate) fn check_origins(origins: &[String]) -> Result<(), BadOrigin> {
    match origins.iter().find(|origin| !is_origin(origin)) {
        None => Ok(()),
        Some(origin) => Err(BadOrigin(origin.clone())),
    }
}

fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else {
        return false;
    };
    let parts = (uri.scheme_str(), uri.authority());
    let (Some(scheme @ ("http" | "https")), Some(authority)) = parts else {
        return text == "*";
    };
    // Lower case, without a user, a path or a slash at the end.
    let written = format!("{scheme}://{authority}").to_ascii_lowercase();
    text == written && !text.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::request::Builder;

    fn status(hosts: &HostNames, method: &str, headers: &[(&str, &str)]) -> Option<u16> {
        status_of(request().method(method), hosts, headers)
    }

    fn request() -> Builder {
        axum::http::Request::builder().uri("/")
    }

    fn status_of(mut request: Builder, hosts: &HostNames, headers: &[(&str, &str)]) -> Option<u16> {
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let hosts = Hosts {
            hosts: hosts.clone(),
            origins: ["https://code.example.org".to_owned()].into(),
        };
        let checked = hosts.check(&request.body(Body::empty()).unwrap());
        checked.err().map(|problem| problem.kind.status.as_u16())
    }

    #[test]
    fn loopback_answers_only_to_its_own_names() {
        let own = HostNames::new([127, 0, 0, 1].into(), &[]);
        let listed = HostNames::new([127, 0, 0, 1].into(), &["Code.example".to_owned()]);
        let host = |hosts, host| status(hosts, "GET", &[("host", host)]);
        for good in [
            "localhost:8080",
            "LOCALHOST.",
            "127.0.0.1",
            "127.9.9.9:1",
            "[::1]:8080",
            "trawl.localhost",
            "[::ffff:127.0.0.1]",
        ] {
            assert_eq!(host(&own, good), None, "{good}");
        }
        for bad in [
            "evil.example",
            "code.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
        ] {
            assert_eq!(host(&own, bad), Some(421), "{bad}");
        }
        assert_eq!(host(&listed, "code.EXAMPLE:8080"), None);
        assert_eq!(host(&listed, "evil.example"), Some(421));
    }

    #[test]
    fn a_request_has_one_host_and_a_valid_one() {
        let any = HostNames::default();
        let (good, evil) = (("host", "localhost"), ("host", "evil.example"));
        for hosts in [
            &[good, evil][..],
            &[evil, good],
            &[good, good],
            &[],
            &[("host", "a b")],
            &[("host", "evil.example#localhost")],
            &[("host", "evil.example/localhost")],
            &[("host", "user@localhost")],
            &[("host", "localhost:port")],
            &[("host", "localhost:80:80")],
            &[("host", ":80")],
            &[("host", "localhost, evil.example")],
        ] {
            for version in [Version::HTTP_10, Version::HTTP_11] {
                let is_older = version == Version::HTTP_10 && hosts.is_empty();
                let expected = (!is_older).then_some(400);
                let status = status_of(request().version(version), &any, hosts);
                assert_eq!(status, expected, "{hosts:?} in {version:?}");
            }
        }
        for good in [
            "",
            "a.example",
            "localhost:",
            "localhost:8080",
            "[::1]",
            "[::1]:80",
            "10.0.0.1:1",
        ] {
            assert_eq!(status(&any, "GET", &[("host", good)]), None, "{good}");
        }
        assert_eq!(
            status_of(request().version(Version::HTTP_2), &any, &[]),
            None
        );
    }

    #[test]
    fn other_addresses_answer_to_every_name_unless_some_are_listed() {
        let any = HostNames::new([0, 0, 0, 0].into(), &[]);
        let only = HostNames::new([0, 0, 0, 0].into(), &["code.example".to_owned()]);
        assert_eq!(status(&any, "GET", &[("host", "anything")]), None);
        assert_eq!(status(&only, "GET", &[("host", "code.example")]), None);
        assert_eq!(status(&only, "GET", &[("host", "localhost")]), Some(421));
    }

    #[test]
    fn pages_of_other_sites_change_nothing() {
        let own = HostNames::new([127, 0, 0, 1].into(), &[]);
        let from = |method, origin| {
            status(
                &own,
                method,
                &[("host", "localhost:80"), ("origin", origin)],
            )
        };
        assert_eq!(from("DELETE", "http://localhost:80"), None);
        assert_eq!(from("POST", "https://code.example.org"), None);
        assert_eq!(from("GET", "https://evil.example"), None);
        for foreign in ["https://evil.example", "null", "http://localhost:81"] {
            assert_eq!(from("POST", foreign), Some(403), "{foreign}");
            assert_eq!(from("DELETE", foreign), Some(403), "{foreign}");
            let posted = request().method("POST").uri("/api/search");
            let headers = [("host", "localhost"), ("origin", foreign)];
            assert_eq!(status_of(posted, &own, &headers), None, "{foreign}");
        }
    }

    #[test]
    fn accepts_origins_as_browsers_send_them() {
        for good in [
            "*",
            "https://example.org",
            "http://localhost:3000",
            "http://[::1]:80",
        ] {
            assert!(is_origin(good), "{good}");
        }
        let bad = [
            "",
            "example.org",
            "https://example.org/",
            "https://a/b",
            "ftp://a",
            "null",
        ];
        for bad in bad
            .into_iter()
            .chain(["https://Example.org", "https://u@a", "https://*.a b"])
        {
            assert!(!is_origin(bad), "{bad}");
        }
    }
}
