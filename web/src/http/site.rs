//! Site as one client sees it: values of every page, beside its content, and the path below which a
//! proxy shows this server, such as `/code`.
//!
//! The path is removed from requests, and added to redirects and to addresses in pages (the filter
//! `url` of templates). A proxy may remove it itself: an address without it means the same.
//! Addresses in JSON never have it.

use access::KeyName;
use askama::Template;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::any::Any;
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

const THEME_COOKIE: &str = "trawl-theme";

#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    pub(crate) base: BasePath,
    /// `None`: the system decides.
    pub(crate) theme: Option<Theme>,
    /// The page offers to sign out.
    pub(crate) has_key: bool,
}

impl Site {
    /// Key of the base path, for the filter `url` of templates.
    pub(crate) const BASE: &str = "base";

    pub(crate) fn of(headers: &HeaderMap, extensions: &Extensions) -> Site {
        Site {
            base: extensions.get().cloned().unwrap_or_default(),
            theme: Theme::of(headers),
            has_key: extensions.get::<KeyName>().is_some(),
        }
    }

    pub(crate) fn render(&self, page: &impl Template) -> String {
        let page = page.render_with_values(self);
        page.expect("a page fits in memory")
    }
}

impl<S: Sync> FromRequestParts<S> for Site {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Site::of(&parts.headers, &parts.extensions))
    }
}

impl askama::Values for Site {
    fn get_value<'a>(&'a self, key: &str) -> Option<&'a dyn Any> {
        (key == Site::BASE).then_some(&self.base)
    }
}

/// Colours of a cookie set by our script, so that the first paint of a page has them. Without it
/// the system decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub(crate) fn of(headers: &HeaderMap) -> Option<Theme> {
        match cookie(headers, THEME_COOKIE)? {
            "light" => Some(Theme::Light),
            "dark" => Some(Theme::Dark),
            _ => None,
        }
    }

    /// Value of `data-theme`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }
}

pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(header::COOKIE).iter();
    let mut pairs = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    Some(pairs.find(|(known, _)| *known == name)?.1)
}

/// Part of every address of a page.
const BYTES_MAX: usize = 200;

/// Such as `/code`, or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BasePath(Arc<str>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no path to show a server below: expected one such as /code or /tools/code, of letters, digits, - _ . ~"
)]
pub struct BadBasePath(String);

impl FromStr for BasePath {
    type Err = BadBasePath;

    /// Parses a path. A slash at the end is ignored; `/` is the empty path.
    fn from_str(typed: &str) -> Result<BasePath, BadBasePath> {
        let path = typed.strip_suffix('/').unwrap_or(typed);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        let is_name = |name: &str| {
            !name.is_empty() && !matches!(name, "." | "..") && name.bytes().all(is_plain)
        };
        let is_path = |path: &str| path.starts_with('/') && path[1..].split('/').all(is_name);
        if typed == "/" || (path.len() <= BYTES_MAX && is_path(path)) {
            Ok(BasePath(path.into()))
        } else {
            Err(BadBasePath(typed.to_owned()))
        }
    }
}

impl BasePath {
    /// No slash at its end.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds the path to an address of this site. Others, such as `#L1`, are kept.
    pub(crate) fn url(&self, address: &str) -> String {
        let base = if address.starts_with('/') {
            &*self.0
        } else {
            ""
        };
        format!("{base}{address}")
    }

    /// `None` for the path itself.
    fn strip(&self, uri: &Uri) -> Option<Uri> {
        let rest = match uri.path().strip_prefix(self.as_str()) {
            Some("") => return None,
            Some(rest) if rest.starts_with('/') => rest,
            _ => return Some(uri.clone()),
        };
        let mut parts = uri.clone().into_parts();
        let stripped = PathAndQuery::try_from(format!("{rest}{}", query(uri)));
        parts.path_and_query = Some(stripped.expect("a part of an address that was parsed"));
        Some(Uri::from_parts(parts).expect("it has the same parts as before"))
    }
}

pub(crate) async fn follow(
    State(base): State<BasePath>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(uri) = base.strip(request.uri()) else {
        return redirect(&base, request.uri());
    };
    *request.uri_mut() = uri;
    request.extensions_mut().insert(base.clone());
    let mut response = next.run(request).await;
    if let Some(location) = response.headers_mut().get_mut(header::LOCATION)
        && let Ok(path) = location.to_str()
    {
        *location = HeaderValue::from_str(&base.url(path)).expect("both parts are ASCII");
    }
    response
}

/// Adds a slash, so that relative addresses work.
fn redirect(base: &BasePath, uri: &Uri) -> Response {
    match HeaderValue::from_str(&format!("{}/{}", base.as_str(), query(uri))) {
        Ok(address) => {
            let location = [(header::LOCATION, address)];
            (StatusCode::PERMANENT_REDIRECT, location).into_response()
        }
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

fn query(uri: &Uri) -> String {
    let query = uri.query();
    query.map_or_else(String::new, |query| format!("?{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_site_get_the_path() {
        let base: BasePath = "/code".parse().unwrap();
        for (address, expected) in [
            ("/a?b=/c", "/code/a?b=/c"),
            ("#L1", "#L1"),
            ("https://e/", "https://e/"),
        ] {
            assert_eq!(base.url(address), expected);
            assert_eq!(BasePath::default().url(address), address);
        }
    }

    #[test]
    fn only_plain_paths_can_be_shown_below() {
        for (typed, path) in [
            ("/code", "/code"),
            ("/a/b-c.d_e~1/", "/a/b-c.d_e~1"),
            ("/", ""),
        ] {
            assert_eq!(typed.parse::<BasePath>().unwrap().as_str(), path);
        }
        let long = format!("/{}", "x".repeat(BYTES_MAX));
        for bad in [
            "", "code", "//", "/a//b", "/.", "/a/..", "/a b", "/a?b", "/a#b", "/é", "/%41", "/\"",
            &long,
        ] {
            assert!(bad.parse::<BasePath>().is_err(), "{bad:?}");
        }
        let said = "/a b".parse::<BasePath>().unwrap_err().to_string();
        assert!(
            said.contains("\"/a b\"") && said.contains("/code"),
            "{said}"
        );
    }

    #[test]
    fn the_path_is_removed_once_from_an_address() {
        let base: BasePath = "/code".parse().unwrap();
        let stripped = |address: &str| {
            let uri = base.strip(&address.parse().unwrap());
            uri.map(|uri| uri.to_string())
        };
        for (address, expected) in [
            ("/code/", "/"),
            ("/code/search?q=%2Fcode/&x", "/search?q=%2Fcode/&x"),
            ("/code/code/a", "/code/a"),
            ("/codes/a", "/codes/a"),
            ("/search?q=/code/", "/search?q=/code/"),
            ("http://host/code/show?a", "http://host/show?a"),
        ] {
            assert_eq!(stripped(address).as_deref(), Some(expected), "{address}");
        }
        assert_eq!(stripped("/code?q=x"), None);
    }
}
