//! Interfaces of other products, whose clients only change the host.
//!
//! `--compat` chooses them. Each has its own routes, shape of problems, and dialect in
//! `frontend::query`. `/search` and `/show` belong to several and to our pages; the parameters tell
//! them apart.

use crate::dcs;
use crate::http::rendering;
use crate::http::response::KnownTags;
use crate::pages;
use crate::problem::Problem;
use crate::state::{App, Call};
use crate::{github, sourcegraph, zoekt};
use axum::Router;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use frontend::{Match, SearchResult};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Product {
    Zoekt,
    Sourcegraph,
    Github,
    /// Debian Code Search.
    Dcs,
}

const PRODUCTS: [(Product, &str); 4] = [
    (Product::Zoekt, "zoekt"),
    (Product::Sourcegraph, "sourcegraph"),
    (Product::Github, "github"),
    (Product::Dcs, "dcs"),
];

/// Set of products, written `zoekt,dcs` or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compat(u8);

impl Default for Compat {
    fn default() -> Compat {
        Compat(u8::MAX)
    }
}

impl FromStr for Compat {
    type Err = String;

    fn from_str(text: &str) -> Result<Compat, String> {
        if text == "none" {
            return Ok(Compat(0));
        }
        let mut set = Compat(0);
        for typed in text.split(',') {
            let product = PRODUCTS.iter().find(|(_, name)| *name == typed);
            let (product, _) = product.ok_or_else(|| {
                let names = PRODUCTS.map(|(_, name)| name).join(", ");
                format!("{typed} is not a product: expected some of {names}, or none")
            })?;
            set.0 |= 1 << *product as u8;
        }
        Ok(set)
    }
}

impl fmt::Display for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |(product, _): &&(Product, &str)| self.has(*product);
        let names: Vec<_> = PRODUCTS.iter().filter(has).map(|(_, name)| *name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(","))
    }
}

impl Compat {
    fn has(self, product: Product) -> bool {
        self.0 & 1 << product as u8 != 0
    }

    fn products(self) -> impl Iterator<Item = Product> {
        let all = PRODUCTS.into_iter().map(|(product, _)| product);
        all.filter(move |product| self.has(*product))
    }

    pub(crate) fn routes(self) -> Router<App> {
        let routes = self.products().map(|product| match product {
            Product::Zoekt => zoekt::routes(),
            Product::Sourcegraph => sourcegraph::routes(),
            Product::Github => github::routes(),
            Product::Dcs => dcs::routes(),
        });
        routes.fold(Router::new(), Router::merge)
    }

    /// Replaces the body of a problem, and the status if need be, at an address of a product.
    pub(crate) fn shape(self, uri: &Uri) -> Option<fn(&Problem, Response) -> Response> {
        let shapes = self.products().map(|product| match product {
            Product::Zoekt => zoekt::shape(uri),
            Product::Sourcegraph => sourcegraph::shape(uri),
            Product::Github => github::shape(uri),
            Product::Dcs => dcs::shape(uri),
        });
        shapes.flatten().next()
    }
}

/// `/search` of all products.
pub(crate) async fn search_page(call: Call, links: zoekt::Links, known: KnownTags) -> Response {
    let compat = call.options.compat;
    if compat.has(Product::Zoekt) && zoekt::is_search(&call.params) {
        return zoekt::search_page(&call, &links).await;
    }
    if compat.has(Product::Dcs) && dcs::is_search(&call.params) {
        return dcs::search_page(&call);
    }
    pages::search(call, known).await
}

/// `/show` of Debian Code Search and of our pages.
pub(crate) async fn show_page(call: Call) -> Response {
    if call.options.compat.has(Product::Dcs) && call.params.bytes("file").is_some() {
        return dcs::show_page(&call.params);
    }
    pages::show(call).await.into_response()
}

/// File with matches.
pub(crate) struct FoundFile {
    /// At least one, by line.
    pub(crate) matches: Vec<Match>,
    /// Number of all its matches, if counted.
    pub(crate) total: Option<u64>,
}

/// Reads a range of the files of an answer, the best first, with `matches_max` matches in all, the
/// best. Files without one of those are left out.
pub(crate) async fn files(
    answer: &Arc<SearchResult>,
    range: Range<usize>,
    matches_max: usize,
) -> Result<Vec<FoundFile>, Problem> {
    let whole = Arc::clone(answer);
    rendering(answer, move || {
        let count = whole.documents_listed()?;
        let range = range.start.min(count)..range.end.min(count);
        let documents = whole.document_list(range)?;
        let matches = whole.matches_of_documents(&documents, matches_max)?;
        let totals = documents.into_iter().map(|document| document.total);
        let files = totals
            .zip(matches)
            .filter(|(_, matches)| !matches.is_empty());
        Ok(files
            .map(|(total, matches)| FoundFile { matches, total })
            .collect())
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_products_is_read_as_it_is_written() {
        for text in ["none", "zoekt", "zoekt,dcs", "zoekt,sourcegraph,github,dcs"] {
            assert_eq!(text.parse::<Compat>().unwrap().to_string(), text);
        }
        let all = Compat::default();
        assert_eq!(
            all.to_string().parse::<Compat>().unwrap().to_string(),
            all.to_string()
        );
        for bad in ["", "zoket", "zoekt,", "none,dcs"] {
            let error = bad.parse::<Compat>().unwrap_err();
            assert!(
                error.contains("expected some of zoekt, sourcegraph"),
                "{error}"
            );
        }
    }
}
