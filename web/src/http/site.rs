//! Site as one client sees it: values of every page, beside its content.

use crate::http::base_path::BasePath;
use crate::http::theme::Theme;
use access::KeyName;
use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use std::any::Any;
use std::convert::Infallible;

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
