//! Access control by address: a key, a cookie of our pages, or nothing. Active if the operator sets
//! keys.
//!
//! `/api/v2`, `/.api`, `/mcp` and `/raw` need a key, or the cookie that every page sets. If keys
//! are required, everything needs one except health, assets and the sign-in form; the cookie then
//! stands for the entered key.
//!
//! **Invariant:** shared caches keep no answer that needed a key or a cookie.

use crate::http::server::IsHttps;
use crate::http::site::cookie;
use crate::problem::Problem;
use access::{Access, Authorization, COOKIE_LIFETIME, Sender, credential};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Beginnings of the addresses of APIs.
const APIS: &[&str] = &[
    "/api/v2/",
    "/raw/",
    "/api/v3",
    "/api/graphql",
    "/search/code",
    "/repos/",
    "/rate_limit",
    "/user",
    "/meta",
    "/.api/",
    "/api/search",
    "/api/list",
    "/print",
    "/zoekt.webserver.v1.",
];

/// Address of the form. The other ends its cookie.
pub(crate) const SIGN_IN: &str = "/sign-in";
pub(crate) const SIGN_OUT: &str = "/sign-out";

const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

const VARY: HeaderValue = HeaderValue::from_static("cookie, authorization");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Nothing,
    /// A key if keys are required.
    Page,
    /// A key, or the cookie of a page.
    Api,
    /// Its own kind of key, or one of ours.
    DebianCodeSearch,
}

impl Need {
    fn of(method: &Method, path: &str) -> Need {
        match path {
            // Preflights have no key.
            _ if method == Method::OPTIONS => Need::Nothing,
            "/healthz" | "/readyz" | "/robots.txt" | SIGN_IN | SIGN_OUT => Need::Nothing,
            _ if path.starts_with("/assets/") => Need::Nothing,
            _ if path.starts_with("/api/v1/") => Need::DebianCodeSearch,
            "/mcp" => Need::Api,
            _ if APIS.iter().any(|api| path.starts_with(api)) => Need::Api,
            _ => Need::Page,
        }
    }
}

pub(crate) fn describe() {
    let refused =
        "Requests without a key that needed one (missing), and with an unknown one (wrong)";
    metrics::describe_counter!("trawl_http_keys_refused_total", refused);
}

pub(crate) fn count_refused(is_wrong: bool) {
    let reason = if is_wrong { "wrong" } else { "missing" };
    metrics::counter!("trawl_http_keys_refused_total", "reason" => reason).increment(1);
}

/// Refuses a request without its key or cookie. Adds the key's name to its extensions.
pub(crate) async fn check(
    State(access): State<Arc<Access>>,
    mut request: Request,
    next: Next,
) -> Response {
    let need = Need::of(request.method(), request.uri().path());
    let name = cookie_name(request.headers());
    let cookie = cookie(request.headers(), &name).map(str::to_owned);
    let sender = access.sender(
        request
            .headers()
            .get(header::AUTHORIZATION)
            .and_then(credential),
        cookie.as_deref(),
    );
    let is_https = request.extensions().get::<IsHttps>().is_some();
    let is_open = !access.is_required();
    let is_enough = match (&sender, need) {
        (Sender::Key(_) | Sender::Page, _) => true,
        (_, Need::Nothing | Need::DebianCodeSearch) => true,
        (_, Need::Page) => is_open,
        (_, Need::Api) => false,
    };
    if let Sender::Stranger { is_wrong } = sender
        && !is_enough
    {
        count_refused(is_wrong);
        let mut response = refused(is_wrong).into_response();
        response.headers_mut().append(header::VARY, VARY);
        return response;
    }
    if let Sender::Key(name) = &sender {
        request.extensions_mut().insert(name.clone());
    }
    let mut response = next.run(request).await;
    if need == Need::Nothing {
        return response;
    }
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(PRIVATE);
    headers.append(header::VARY, VARY);
    let is_open_page = need == Need::Page && is_open && is_page(&response);
    if is_open_page && let Some(value) = access.page_cookie(cookie.as_deref()) {
        set_cookie(response.headers_mut(), &name, &value, is_https);
    }
    response
}

/// Keeps answers that depend on the caller out of shared caches.
pub(crate) async fn keep_private(
    State(authorization): State<Arc<Authorization>>,
    request: Request,
    next: Next,
) -> Response {
    let is_same_for_all = request.uri().path().starts_with("/assets/");
    let mut response = next.run(request).await;
    if !is_same_for_all {
        let headers = response.headers_mut();
        headers.entry(header::CACHE_CONTROL).or_insert(PRIVATE);
        headers.append(header::VARY, authorization.varies_by());
    }
    response
}

pub(crate) fn refused(is_wrong: bool) -> Problem {
    let detail = if is_wrong {
        "the key is not known here; it may have been revoked"
    } else {
        "a key is needed"
    };
    Problem::unauthorized(detail).hint("send the header authorization: Bearer KEY")
}

/// A page, or 304.
fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_html = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    is_html || response.status() == StatusCode::NOT_MODIFIED
}

/// Name of our cookie, with the port: browsers send the cookies of all ports of a host.
pub(crate) fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("trawl-{port}")
    } else {
        "trawl".to_owned()
    }
}

/// Sets a cookie that only our own pages send back.
pub(crate) fn set_cookie(headers: &mut HeaderMap, name: &str, value: &str, is_https: bool) {
    let age_s = COOKIE_LIFETIME.as_secs() * u64::from(!value.is_empty());
    let secure = if is_https { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Strict{secure}");
    let value = HeaderValue::from_str(&text).expect("names and signatures are ASCII");
    headers.append(header::SET_COOKIE, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        let pair = |&(name, value): &(&'static str, &'static str)| {
            (name.parse().unwrap(), HeaderValue::from_static(value))
        };
        pairs.map(pair).collect()
    }

    #[test]
    fn only_health_assets_and_the_form_need_no_key() {
        let need = |path| Need::of(&Method::GET, path);
        for path in [
            "/healthz",
            "/readyz",
            "/robots.txt",
            "/assets/0/style.css",
            "/sign-in",
        ] {
            assert_eq!(need(path), Need::Nothing, "{path}");
        }
        for path in [
            "/",
            "/search",
            "/show",
            "/metrics",
            "/problems",
            "/status",
            "/api",
            "/openapi.json",
            "/api/openapi.json",
            "/assetsx",
            "/healthz/",
        ] {
            assert_eq!(need(path), Need::Page, "{path}");
        }
        assert_eq!(need("/api/v2/export"), Need::Api);
        assert_eq!(need("/raw/p/a/b"), Need::Api);
        assert_eq!(need("/api/v3/search/code"), Need::Api);
        assert_eq!(need("/.api/graphql"), Need::Api);
        assert_eq!(need("/api/v1/search"), Need::DebianCodeSearch);
    }

    #[test]
    fn finds_the_key_and_the_cookie_in_the_headers() {
        let key = |value| credential(&HeaderValue::from_static(value)).map(<[u8]>::to_vec);
        for value in [
            "Bearer a-key",
            "bearer  a-key ",
            "token a-key",
            "Token a-key",
        ] {
            assert_eq!(key(value).unwrap(), b"a-key", "{value}");
        }
        assert_eq!(key("Bearer ").unwrap(), b"");
        for other in ["Basic YTpi", "Bearer", "Bear", "", "tokens x"] {
            assert_eq!(key(other), None, "{other}");
        }
        let sent = headers(&[
            ("cookie", "a=b; trawl-8080=x.y=; trawl=z"),
            ("cookie", "trawl-1=q"),
        ]);
        assert_eq!(cookie(&sent, "trawl-8080"), Some("x.y="));
        assert_eq!(cookie(&sent, "trawl-1"), Some("q"));
        assert_eq!(cookie(&sent, "trawl-2"), None);
        let named = |host| cookie_name(&headers(&[("host", host)]));
        assert_eq!(named("localhost:8080"), "trawl-8080");
        assert_eq!(named("[::1]:81"), "trawl-81");
        assert_eq!(named("code.example.org"), "trawl");
        assert_eq!(named("[::1]"), "trawl");
        assert_eq!(named("host:x;"), "trawl");
    }
}
