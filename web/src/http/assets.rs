//! Styles, scripts and icon, embedded in the binary and cached forever: their address has a hash of
//! all.
//!
//! Files below `css` are joined to one style: a page waits for a single file. Files below `js`
//! import each other.

use crate::http::links::Path;
use crate::problem::{NO_STORE, Problem};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use fnv::FnvHasher;
use std::hash::Hasher;
use std::sync::LazyLock;

pub(crate) const STYLE: &str = "style.css";

/// Imports the others.
pub(crate) const SCRIPT: &str = "main.js";

pub(crate) const ICON: &str = "icon.svg";

/// An address never changes its bytes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

type File = (&'static str, &'static [u8]);

macro_rules! files {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_bytes!(concat!("../../assets/", $folder, $name)))),*]
    };
}

/// The first declares the tokens of the others, the last prevails.
const STYLES: &[File] = files! { "css/":
    "tokens.css" "base.css" "code.css" "colours.css" "complete.css" "diff.css" "directory.css" "facets.css"
    "file.css" "filters.css" "keys.css" "markdown.css" "notices.css" "outline.css" "results.css"
    "running.css" "start.css" "symbol.css" "text.css" "narrow.css" "print.css"
};

const SCRIPTS: &[File] = files! { "js/":
    "boxes.js" "complete.js" "copy.js" "diff.js" "facets.js" "file.js" "find_file.js" "form.js"
    "fragment.js" "hint.js" "keys.js" "lines.js" "main.js" "marks.js" "more_lines.js" "move.js"
    "options.js" "outline.js" "patience.js" "recent.js" "replace.js" "running.js" "say.js"
    "stream.js" "symbol.js" "theme.js" "tree.js" "versions.js" "words.js"
};

const ICONS: &[File] = files! { "":
    "icon.svg"
};

static ASSETS: LazyLock<Assets> = LazyLock::new(Assets::new);

struct Assets {
    style: Vec<u8>,
    hash: String,
}

impl Assets {
    fn new() -> Assets {
        let style = STYLES.iter().flat_map(|(_, bytes)| bytes.iter().copied());
        let style: Vec<u8> = style.collect();
        let mut hasher = FnvHasher::default();
        for (name, bytes) in [(STYLE, &style[..])].iter().chain(SCRIPTS).chain(ICONS) {
            hasher.write(name.as_bytes());
            hasher.write(&(bytes.len() as u64).to_le_bytes());
            hasher.write(bytes);
        }
        let hash = format!("{:016x}", hasher.finish());
        Assets { style, hash }
    }

    /// Content and type.
    fn find(&'static self, name: &str) -> Option<(&'static [u8], &'static str)> {
        let of = |files: &[File]| Some(files.iter().find(|file| file.0 == name)?.1);
        if name == STYLE {
            return Some((&self.style, "text/css; charset=utf-8"));
        }
        let script = of(SCRIPTS).map(|bytes| (bytes, "text/javascript; charset=utf-8"));
        script.or_else(|| Some((of(ICONS)?, "image/svg+xml")))
    }
}

pub(crate) fn hash() -> &'static str {
    &ASSETS.hash
}

/// Changes with any asset.
pub(crate) fn address(name: &str) -> String {
    format!("/assets/{}/{name}", hash())
}

/// Crawlers must not search: that is expensive.
pub(crate) async fn robots() -> &'static str {
    "User-agent: *\nAllow: /$\nDisallow: /\n"
}

pub(crate) async fn favicon() -> axum::response::Redirect {
    axum::response::Redirect::temporary(&address(ICON))
}

/// A page of another version gets the current asset, uncached.
pub(crate) async fn asset(
    Path((version, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let found = ASSETS.find(&name);
    let (bytes, kind) =
        found.ok_or_else(|| Problem::missing(format!("no asset is called {name}")))?;
    let cache = if version == hash() { FOREVER } else { NO_STORE };
    let kind = HeaderValue::from_static(kind);
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)];
    Ok((headers, bytes).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    const SCRIPT_LINES_MAX: usize = 200;

    fn names(files: &[File]) -> BTreeSet<String> {
        files.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    #[test]
    fn every_file_of_the_assets_is_served() {
        let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        for (folder, files) in [("css", STYLES), ("js", SCRIPTS)] {
            let there = fs::read_dir(assets.join(folder)).unwrap();
            let there = there.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            assert_eq!(there.collect::<BTreeSet<_>>(), names(files), "{folder}");
        }
    }

    #[test]
    fn scripts_are_small_checked_modules_that_import_what_is_there() {
        for (name, bytes) in SCRIPTS {
            let text = str::from_utf8(bytes).unwrap();
            assert!(text.starts_with("// @ts-check\n"), "{name}");
            assert!(text.lines().count() < SCRIPT_LINES_MAX, "{name}");
            let imports = text.lines().filter(|line| line.starts_with("import "));
            for import in imports {
                let path = import.split('\'').nth(1).unwrap_or_default();
                let imported = path.strip_prefix("./").unwrap_or_default();
                assert!(names(SCRIPTS).contains(imported), "{name}: {import}");
            }
        }
    }

    #[test]
    fn only_one_script_makes_markup_of_text() {
        let sinks = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
        ];
        for (name, bytes) in SCRIPTS {
            let text = str::from_utf8(bytes).unwrap();
            assert!(!sinks.iter().any(|sink| text.contains(sink)), "{name}");
            let parses = text.contains("parseFromString") || text.contains("createPolicy");
            assert_eq!(parses, *name == "fragment.js", "{name}");
        }
    }

    #[test]
    fn the_colours_of_both_schemes_are_in_one_place() {
        for (name, bytes) in STYLES {
            let text = str::from_utf8(bytes).unwrap();
            assert!(!text.contains("prefers-color-scheme"), "{name}");
            let declares = text.contains("light-dark(");
            assert_eq!(declares, *name == "tokens.css", "{name}");
        }
    }
}
