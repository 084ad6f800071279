//! Symbols: definitions of a file, and the definitions and uses of a name in it.

use super::call::Call;
use super::openapi::described as doc;
use crate::model::{FileOutline, SymbolPlaces};
use crate::problem::Problem;
use crate::search::params::Wait;
use crate::search::run::wait_until_fresh;
use crate::source::file_range::request;
use crate::symbols::{self, LIMIT_MAX, SymbolRequest, SymbolTarget};
use axum::Json;
use schema::message::{FileRange, FileRequest};

const LIMIT_DEFAULT: usize = 100;

const NOTHING: FileRange = FileRange::Lines { first: 1, count: 1 };

/// List the definitions of a file.
#[utoipa::path(
    get, path = "/api/v2/symbols", operation_id = "symbols", tag = "index",
    params(doc::FileParams),
    responses((status = 200, description = "Definitions of the whole file", body = FileOutline), doc::Any, doc::NotFound, doc::NotIndexed, doc::BackendLost)
)]
pub(crate) async fn of_file(call: Call) -> Result<Json<FileOutline>, Problem> {
    call.expect(&[doc::FileParams::NAMES])?;
    let file = file(&call)?;
    let scope = call.viewer.scope_of(&file.package).await?;
    Ok(Json(symbols::outline(call.corpus(&scope), file).await?))
}

/// List the definitions of a file: the same as `/api/v2/symbols`.
#[utoipa::path(
    get, path = "/api/v2/outline", operation_id = "outline", tag = "index",
    params(doc::FileParams),
    responses((status = 200, description = "Definitions of the whole file", body = FileOutline), doc::Any, doc::NotFound, doc::NotIndexed, doc::BackendLost)
)]
pub(crate) async fn outline(call: Call) -> Result<Json<FileOutline>, Problem> {
    of_file(call).await
}

/// Find the definitions of a name in a file.
#[utoipa::path(
    get, path = "/api/v2/definitions", operation_id = "definitions", tag = "index",
    params(doc::NameParams, doc::WaitParam),
    responses((status = 200, description = "Definitions and declarations of the name, nearest first", body = SymbolPlaces), doc::Any, doc::NotFound, doc::NotIndexed, doc::BackendLost)
)]
pub(crate) async fn definitions(call: Call) -> Result<Json<SymbolPlaces>, Problem> {
    let asked = asked(&call, &[]).await?;
    let scope = call.viewer.scope().await?;
    let found = symbols::definitions(call.corpus(&scope), &asked).await?;
    Ok(Json(found))
}

/// Find the uses of a name in a file.
#[utoipa::path(
    get, path = "/api/v2/references", operation_id = "references", tag = "index",
    params(doc::NameParams, doc::UsesParams, doc::WaitParam),
    responses((status = 200, description = "Lines of code that use the name, nearest first", body = SymbolPlaces), doc::Any, doc::NotFound, doc::NotIndexed, doc::BackendLost)
)]
pub(crate) async fn references(call: Call) -> Result<Json<SymbolPlaces>, Problem> {
    let asked = asked(&call, doc::UsesParams::NAMES).await?;
    let definitions = call.params.flag("definitions", false)?;
    let scope = call.viewer.scope().await?;
    let found = symbols::references(call.corpus(&scope), &asked, definitions).await?;
    Ok(Json(found))
}

fn file(call: &Call) -> Result<FileRequest, Problem> {
    request(&call.params, NOTHING)
}

async fn asked(call: &Call, others: &[&str]) -> Result<SymbolRequest, Problem> {
    let params = &call.params;
    call.expect(&[doc::NameParams::NAMES, doc::WaitParam::NAMES, others])?;
    let has_position = params.bytes("line").is_some() || params.bytes("column").is_some();
    let target = match params.text("name")? {
        Some(_) if has_position => {
            let detail = "name and line both say what to look for";
            return Err(Problem::bad_request(detail).hint("leave out name, or line and column"));
        }
        Some(name) => SymbolTarget::Name(name.to_owned()),
        None => {
            params.required("line")?;
            params.required("column")?;
            SymbolTarget::At {
                line: params.number("line", 1)?,
                column: params.number("column", 0)?,
            }
        }
    };
    if params.wait()? == Wait::Fresh {
        wait_until_fresh(&call.coordinator, None).await;
    }
    let is_nowhere = matches!(target, SymbolTarget::Name(_)) && params.bytes("path").is_none();
    let package = params.bytes("package").unwrap_or_default();
    Ok(SymbolRequest {
        file: if is_nowhere {
            FileRequest::new(package, b"", "", NOTHING)
        } else {
            file(call)?
        },
        target,
        limit: params.bounded("limit", LIMIT_DEFAULT, LIMIT_MAX)?,
        client: params.client,
    })
}
