//! Requests by method, and their responses.

use super::lookup::Lookup;
use crate::CorpusError;
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request::{
    DocumentHighlightRequest, DocumentSymbolRequest, GotoDefinition, HoverRequest, References,
    Request as Method, WorkspaceSymbolRequest,
};
use lsp_types::{DocumentSymbolResponse, GotoDefinitionResponse, WorkspaceSymbolResponse};

macro_rules! methods {
    ($($method:ty => $answer:expr;)*) => {
        pub(super) fn is_known(method: &str) -> bool {
            [$(<$method>::METHOD),*].contains(&method)
        }

        pub(super) fn answer(lookup: &Lookup<'_>, request: Request) -> Response {
            match &*request.method {
                $(<$method>::METHOD => answer_with::<$method>(lookup, request, $answer),)*
                _ => failed(request, ErrorCode::MethodNotFound, "unknown method"),
            }
        }
    };
}

methods! {
    DocumentSymbolRequest => |lookup, it| {
        let symbols = lookup.document_symbols(&it.text_document.uri)?;
        Ok(Some(DocumentSymbolResponse::Nested(symbols)))
    };
    WorkspaceSymbolRequest => |lookup, it| {
        let symbols = lookup.workspace_symbols(&it.query)?;
        Ok(Some(WorkspaceSymbolResponse::Nested(symbols)))
    };
    GotoDefinition => |lookup, it| {
        let locations = lookup.definitions(&it.text_document_position_params)?;
        Ok(Some(GotoDefinitionResponse::Array(locations)))
    };
    References => |lookup, it| {
        let is_wanted = it.context.include_declaration;
        lookup.references(&it.text_document_position, is_wanted).map(Some)
    };
    HoverRequest => |lookup, it| lookup.hover(&it.text_document_position_params);
    DocumentHighlightRequest => |lookup, it| {
        lookup.highlights(&it.text_document_position_params).map(Some)
    };
}

fn answer_with<M: Method>(
    lookup: &Lookup<'_>,
    request: Request,
    answer: fn(&Lookup<'_>, M::Params) -> Result<M::Result, CorpusError>,
) -> Response {
    let params = match serde_json::from_value(request.params.clone()) {
        Ok(params) => params,
        Err(error) => return failed(request, ErrorCode::InvalidParams, &error.to_string()),
    };
    match answer(lookup, params) {
        Ok(result) => Response::new_ok(request.id, result),
        Err(error) => failed(request, ErrorCode::RequestFailed, &error.0),
    }
}

fn failed(request: Request, code: ErrorCode, reason: &str) -> Response {
    Response::new_err(request.id, code as i32, reason.to_owned())
}
