//! The description of the API (OpenAPI 3.1), made from what stands at the handlers.
//!
//! `testdata/openapi.json` holds it as it is, so that a change is seen where it is made. What the HTTP
//! library answers by itself (see `gate`) is not in it.

pub(crate) mod parameters;
pub(crate) mod responses;

use super::{catalog, events, explain, export, facets, file, limits, search, skipped};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use responses::Gate;
use std::sync::LazyLock;
use utoipa::openapi::path::Operation;
use utoipa::{IntoResponses, Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Trawl",
        description = "Search of source code. Every answer says how the query was understood, and \
                       whether it is all there is. Errors are problem documents (RFC 9457). Parameters \
                       that are not known are refused; Accept is not looked at."
    ),
    paths(
        search::search, search::post, search::by_id, search::cancel, events::by_query, events::by_id, facets::facets,
        facets::facets_by_id, facets::packages, facets::packages_by_id, export::search, export::run,
        explain::explain, file::raw, limits::limits, catalog::packages, catalog::tree,
        catalog::status, skipped::skipped,
    ),
    components(schemas(super::model::ProblemDocument, super::model::ExportEnd)),
    modifiers(&Everywhere),
    tags(
        (name = "search", description = "Searches, and what they have found"),
        (name = "index", description = "What there is to be searched"),
    )
)]
struct Api;

/// Adds what any request may be answered with.
struct Everywhere;

impl Modify for Everywhere {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        for item in openapi.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.post, &mut item.delete];
            operations.into_iter().flatten().for_each(add_gate);
        }
    }
}

fn add_gate(operation: &mut Operation) {
    operation.responses.responses.extend(Gate::responses());
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let document = Api::openapi().to_pretty_json();
    document.expect("a description is plain data")
});

/// The description.
pub(crate) async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], &**DOCUMENT).into_response()
}

#[cfg(test)]
mod tests {
    use super::super::{catalog, export};
    use super::parameters as params;
    use crate::params::{FORMAT, QUERY, VIEW};
    use utoipa::IntoParams;
    use utoipa::openapi::path::ParameterIn;

    fn check<P: IntoParams>(understood: &[&str]) {
        let described = P::into_params(|| Some(ParameterIn::Query));
        let described: Vec<_> = described.iter().map(|param| &param.name[..]).collect();
        assert_eq!(described, understood);
    }

    #[test]
    fn what_is_understood_is_described() {
        check::<params::Query>(QUERY);
        check::<params::View>(VIEW);
        check::<params::Export>(export::EXPORT);
        check::<params::Format>(FORMAT);
        check::<params::Part>(catalog::PART);
    }
}
