//! Style, script and icon: in the binary, with a hash of their content in the address, cached forever.

use crate::params::Path;
use crate::problem::Problem;
use axum::http::header;
use axum::response::{IntoResponse, Response};

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
    /// Returns the address, which changes with the content.
    pub(crate) fn address(&self) -> String {
        format!("/assets/{}?{:016x}", self.name, self.hash)
    }

    /// Returns a hash of the content.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}

/// FNV-1a 64, computed by the compiler.
const fn fnv(bytes: &[u8]) -> u64 {
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

/// Keeps crawlers away from searches, each of which costs more than a page that is only read.
pub(crate) async fn robots() -> &'static str {
    "User-agent: *\nAllow: /$\nDisallow: /\n"
}

pub(crate) async fn asset(Path(name): Path<String>) -> Result<Response, Problem> {
    let mut all = [&STYLE, &SCRIPT, &ICON].into_iter();
    let asset = all.find(|asset| asset.name == name);
    let asset = asset.ok_or_else(|| Problem::missing(format!("no asset is called {name}")))?;
    let cache = "public, max-age=31536000, immutable";
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, cache),
    ];
    Ok((headers, asset.bytes).into_response())
}
