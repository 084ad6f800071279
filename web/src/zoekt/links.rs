//! Addresses of our pages, and ids of repositories.

use super::shape::Templates;
use crate::http::links::{encode, package_href};
use crate::http::server::IsHttps;
use crate::http::site::Site;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use std::convert::Infallible;

pub(super) const LINE_FRAGMENT: &str = "#L{{.LineNumber}}";

/// Longest name of a host with a port.
const HOST_BYTES_MAX: usize = 260;

/// Scheme, host and base path, as the client knows them. Clients show links on their own pages, so
/// a path alone would lead elsewhere.
#[derive(Clone)]
pub(crate) struct Links(String);

impl<S: Sync> FromRequestParts<S> for Links {
    type Rejection = Infallible;

    /// Without a plausible host, links are paths.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        let host = parts.headers.get(header::HOST);
        let host = host.and_then(|host| host.to_str().ok());
        let host = host.filter(|it| it.len() <= HOST_BYTES_MAX && it.bytes().all(is_plain));
        let scheme = match parts.extensions.get::<IsHttps>() {
            Some(_) => "https",
            None => "http",
        };
        let origin = host.map_or_else(String::new, |host| format!("{scheme}://{host}"));
        let site = Site::of(&parts.headers, &parts.extensions);
        Ok(Links(format!("{origin}{}", site.base.as_str())))
    }
}

impl Links {
    pub(super) fn to(&self, href: &str) -> String {
        format!("{}{href}", self.0)
    }

    pub(super) fn repository(&self, package: &[u8]) -> String {
        self.to(&package_href(package))
    }

    /// `version` is encoded, or a template.
    pub(super) fn commit(&self, package: &[u8], version: &str) -> String {
        self.to(&format!("/commit?repo={}&rev={version}", encode(package)))
    }

    /// Clients only replace the names.
    pub(super) fn file_template(&self, package: &[u8]) -> String {
        let repository = self.repository(package);
        format!("{repository}{{{{.Path}}}}?rev={{{{.Version}}}}")
    }

    pub(super) fn add(&self, package: &str, urls: &mut Templates, fragments: &mut Templates) {
        if !urls.contains_key(package) {
            let template = self.file_template(package.as_bytes());
            urls.insert(package.to_owned(), template);
            fragments.insert(package.to_owned(), LINE_FRAGMENT.to_owned());
        }
    }
}

/// Stable, and not 0, which means none.
pub(super) fn repository_id(package: &[u8]) -> u32 {
    let hash = blake3::hash(package);
    let first = hash
        .as_bytes()
        .first_chunk::<4>()
        .expect("a hash has 32 bytes");
    u32::from_le_bytes(*first).max(1)
}
