//! OpenAPI 3.1 description of handlers and model.
//!
//! A test compares it with `testdata/openapi.json`, so reviews see changes. Responses of the HTTP
//! library (see `request_limits`) are missing.

pub(crate) mod described;

use super::{
    catalog, commits, complete, diff, events, explain, export, facets, file, limits, search,
    symbols,
};
use crate::http::site::Site;
use crate::pages::Reference;
use crate::state::App;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use described::AnyRequest;
use std::sync::LazyLock;
use utoipa::{IntoResponses, Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Trawl",
        description = "Source code search. Every answer says how the query was understood, and \
                       whether the answer is complete. Errors are problem documents (RFC 9457). \
                       Unknown parameters are rejected; the header Accept is ignored."
    ),
    paths(
        search::by_query, search::by_posted_query, search::by_id, search::cancel, events::by_query, events::by_id, facets::facets,
        facets::facets_by_id, facets::copies, facets::copies_by_id, facets::packages, facets::packages_by_id, export::by_query, export::by_id,
        explain::explain, complete::complete, file::raw, symbols::of_file, symbols::outline, symbols::definitions, symbols::references, limits::limits, catalog::packages, catalog::tree,
        catalog::status, catalog::skipped, commits::commit, commits::commits, commits::log, commits::refs,
        commits::blame, commits::changes, diff::diff,
    ),
    components(schemas(crate::model::ProblemDocument, crate::model::ExportEnd, crate::model::BrokenOff)),
    modifiers(&Everywhere),
    tags(
        (name = "search", description = "Searches and their matches"),
        (name = "index", description = "The index that is searched"),
        (name = "repositories", description = "Commits of git repositories"),
    )
)]
struct Api;

struct Everywhere;

impl Modify for Everywhere {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        for item in openapi.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.post, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                let responses = &mut operation.responses.responses;
                responses.extend(AnyRequest::responses());
            }
        }
    }
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let document = Api::openapi().to_pretty_json();
    document.expect("a description is plain data")
});

static REFERENCE: LazyLock<Reference> = LazyLock::new(|| Reference::new(&DOCUMENT));

pub(crate) async fn reference(site: Site) -> Html<String> {
    Html(REFERENCE.page(&site))
}

/// Includes the base path, if there is one.
pub(crate) async fn document(State(app): State<App>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    match app.options.base_path.as_str() {
        "" => (kind, &**DOCUMENT).into_response(),
        base => {
            let servers = format!(r#"{{"servers":[{{"url":"{base}"}}],"#);
            (kind, DOCUMENT.replacen('{', &servers, 1)).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::described as doc;
    use utoipa::IntoParams;
    use utoipa::openapi::path::ParameterIn;

    fn check<P: IntoParams>(understood: &[&str]) {
        let described = P::into_params(|| Some(ParameterIn::Query));
        let described: Vec<_> = described.iter().map(|param| &param.name[..]).collect();
        assert_eq!(described, understood);
    }

    #[test]
    fn describes_all_known_parameters() {
        check::<doc::QueryParams>(doc::QueryParams::NAMES);
        check::<doc::ViewParams>(doc::ViewParams::NAMES);
        check::<doc::WaitParam>(doc::WaitParam::NAMES);
        check::<doc::CopiesParams>(doc::CopiesParams::NAMES);
        check::<doc::ExportParams>(doc::ExportParams::NAMES);
        check::<doc::FormatParam>(doc::FormatParam::NAMES);
        check::<doc::PartParams>(doc::PartParams::NAMES);
        check::<doc::LogParams>(doc::LogParams::NAMES);
        check::<doc::NameParams>(doc::NameParams::NAMES);
        check::<doc::UsesParams>(doc::UsesParams::NAMES);
    }
}
