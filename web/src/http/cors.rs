//! Cross-origin requests: foreign pages may read answers only from origins set by the operator.
//!
//! Cookies are for our own pages, so credentials are not allowed. Foreign scripts send a key.

use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use std::time::Duration;
use tower_http::cors::{AllowOrigin, CorsLayer};

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

/// Not an origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not an origin: expected https://host, https://host:port, or *")]
pub struct BadOrigin(String);

/// `origins` must pass [`check`]. `exposed` are further headers that scripts may read.
pub(crate) fn layer(origins: &[String], exposed: &[HeaderName]) -> CorsLayer {
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
pub(crate) fn check(origins: &[String]) -> Result<(), BadOrigin> {
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
