//! Colours chosen by the user: a cookie set by our script. The server marks the page, so that its
//! first paint has these colours. Without the cookie the system decides.

use crate::http::cookies::cookie;
use axum::http::HeaderMap;

const COOKIE: &str = "trawl-theme";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub(crate) fn of(headers: &HeaderMap) -> Option<Theme> {
        match cookie(headers, COOKIE)? {
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
