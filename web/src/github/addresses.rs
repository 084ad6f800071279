//! Absolute addresses of this server, as its client knows it.

use crate::http::links::encode;
use crate::http::server::IsHttps;
use crate::http::site::Site;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use std::convert::Infallible;
use std::fmt::Write;

pub(super) const PREFIX: &str = "/api/v3";

#[derive(Clone, Debug)]
pub(super) struct Addresses {
    site: String,
    path: String,
}

impl<S: Sync> FromRequestParts<S> for Addresses {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let is_https = parts.extensions.get::<IsHttps>().is_some();
        let scheme = if is_https { "https" } else { "http" };
        let named = parts.headers.get(header::HOST);
        let named = named.and_then(|host| host.to_str().ok());
        let host = parts.uri.authority().map(|it| it.as_str()).or(named);
        let base = Site::of(&parts.headers, &parts.extensions).base;
        let host = host.unwrap_or("localhost");
        Ok(Addresses {
            site: format!("{scheme}://{host}{}", base.as_str()),
            path: parts.uri.path().to_owned(),
        })
    }
}

impl Addresses {
    pub(super) fn page(&self, path: &str) -> String {
        format!("{}{path}", self.site)
    }

    pub(super) fn this(&self) -> String {
        self.page(&self.path)
    }

    pub(super) fn api(&self, path: &str) -> String {
        format!("{}{PREFIX}{path}", self.site)
    }

    pub(super) fn repository(&self, full_name: &str) -> String {
        self.api(&format!("/repos/{}", encode(full_name.as_bytes())))
    }

    pub(super) fn contents(repository: &str, path: &[u8], rev: &str) -> String {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let at = format!("{repository}/contents/{}", encode(path));
        match rev {
            "" => at,
            rev => format!("{at}?ref={}", encode(rev.as_bytes())),
        }
    }
}

/// Prefix of a BLAKE3 hash, as long as git's.
pub(super) fn sha(hash: &[u8]) -> String {
    let mut digits = String::with_capacity(40);
    for byte in hash.iter().take(20) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
