//! What pages load: kept in the binary, addressed by content, cached for ever.

use crate::path::Path;
use crate::problem::Problem;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A file in the binary.
pub(crate) struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    hash: u64,
}

pub(crate) static STYLE: Asset = Asset {
    name: "style.css",
    kind: "text/css; charset=utf-8",
    bytes: include_bytes!("../assets/style.css"),
    hash: fnv(include_bytes!("../assets/style.css")),
};

pub(crate) static SCRIPT: Asset = Asset {
    name: "app.js",
    kind: "text/javascript; charset=utf-8",
    bytes: include_bytes!("../assets/app.js"),
    hash: fnv(include_bytes!("../assets/app.js")),
};

static ICON: Asset = Asset {
    name: "icon.svg",
    kind: "image/svg+xml",
    bytes: include_bytes!("../assets/icon.svg"),
    hash: fnv(include_bytes!("../assets/icon.svg")),
};

impl Asset {
    /// Its address, another one whenever its bytes are others.
    pub(crate) fn address(&self) -> String {
        format!("/assets/{}?{:016x}", self.name, self.hash)
    }

    /// Another one whenever its bytes are others.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}

/// FNV-1a 64, when the program is compiled.
const fn fnv(bytes: &[u8]) -> u64 {
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    let found = [&STYLE, &SCRIPT, &ICON]
        .into_iter()
        .find(|asset| asset.name == name);
    let Some(asset) = found else {
        let problem = Problem::missing(format!("no asset is called {name}"));
        return problem.into_response();
    };
    let cache = "public, max-age=31536000, immutable";
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, cache),
    ];
    (headers, asset.bytes).into_response()
}
