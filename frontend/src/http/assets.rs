//! What pages load: kept in the binary, addressed by content, cached for ever.

use super::problem::Problem;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::hash::Hasher;

/// A file in the binary.
pub(super) struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

pub(super) const STYLE: Asset = Asset {
    name: "style.css",
    kind: "text/css; charset=utf-8",
    bytes: include_bytes!("../../web/style.css"),
};

pub(super) const SCRIPT: Asset = Asset {
    name: "app.js",
    kind: "text/javascript; charset=utf-8",
    bytes: include_bytes!("../../web/app.js"),
};

const ICON: Asset = Asset {
    name: "icon.svg",
    kind: "image/svg+xml",
    bytes: include_bytes!("../../web/icon.svg"),
};

impl Asset {
    /// Its address, another one whenever its bytes are others.
    pub(super) fn address(&self) -> String {
        let mut hasher = fnv::FnvHasher::default();
        hasher.write(self.bytes);
        format!("/assets/{}?{:016x}", self.name, hasher.finish())
    }
}

pub(super) async fn asset(Path(name): Path<String>) -> Response {
    let found = [STYLE, SCRIPT, ICON]
        .into_iter()
        .find(|asset| asset.name == name);
    let Some(asset) = found else {
        return Problem::missing(format!("no asset is called {name}")).into_response();
    };
    let cache = "public, max-age=31536000, immutable";
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, cache),
    ];
    (headers, asset.bytes).into_response()
}
