//! Interfaces of other products, whose clients only change the host.
//!
//! Each has its own routes, shape of problems, and dialect in `frontend::query`. `/search` and
//! `/show` belong to several and to our pages; the parameters tell them apart.

use crate::compat::{Compat, Product};
use crate::http::response::KnownTags;
use crate::pages::{self, Shape};
use crate::problem::{self, Problem};
use crate::state::{App, Call};
use crate::{dcs, github, sourcegraph, zoekt};
use axum::Router;
use axum::extract::State;
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};

pub(crate) fn routes(compat: Compat) -> Router<App> {
    let routes = compat.products().map(|product| match product {
        Product::Zoekt => zoekt::routes(),
        Product::Sourcegraph => sourcegraph::routes(),
        Product::Github => github::routes(),
        Product::Dcs => dcs::routes(),
    });
    routes.fold(Router::new(), Router::merge)
}

/// Replaces the body of a problem, and the status if need be, at an address of a product.
pub(crate) fn shape(compat: Compat, uri: &Uri) -> Option<Shape> {
    let shapes = compat.products().map(|product| match product {
        Product::Zoekt => zoekt::shape(uri),
        Product::Sourcegraph => sourcegraph::shape(uri),
        Product::Github => github::shape(uri),
        Product::Dcs => dcs::shape(uri),
    });
    shapes.flatten().next()
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
    if compat.has(Product::Github) && github::is_search(&call.params) {
        return github::search_page(&call.params);
    }
    if compat.has(Product::Sourcegraph) && sourcegraph::is_search(&call.params) {
        return sourcegraph::search_page(&call).await;
    }
    pages::search(call, known).await
}

/// Addresses of no route.
pub(crate) async fn elsewhere(
    call: Result<Call, Problem>,
    State(app): State<App>,
    method: Method,
    uri: Uri,
) -> Result<Response, Problem> {
    if app.options.compat.has(Product::Sourcegraph) {
        return sourcegraph::page(call, method, uri).await;
    }
    Err(problem::not_found(uri).await)
}

/// `/show` of Debian Code Search and of our pages.
pub(crate) async fn show_page(call: Call) -> Response {
    if call.options.compat.has(Product::Dcs) && call.params.bytes("file").is_some() {
        return dcs::show_page(&call.params);
    }
    pages::show(call).await.into_response()
}
