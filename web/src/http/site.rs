//! Site as one client sees it: values of every page, beside its content.

use crate::http::base_path::BasePath;
use access::KeyName;
use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};
use std::any::Any;
use std::convert::Infallible;

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

/// Colours chosen by the user: a cookie set by our script. The server marks the page, so that its
/// first paint has these colours. Without the cookie the system decides.
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
