//! Outlines of files.

use super::openapi::described as doc;
use crate::blocking::blocking;
use crate::colours::{DocumentColours, split_lines};
use crate::file_range::fetch_beginning;
use crate::model::FileOutline;
use crate::outline::Outline;
use crate::params::Params;
use crate::problem::Problem;
use crate::state::App;
use crate::viewer::Viewer;
use axum::Json;
use axum::extract::State;
use schema::message::FileReply;

/// Read in 10 ms.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// List the lines of a file that look like definitions.
#[utoipa::path(
    get, path = "/api/v2/outline", operation_id = "outline", tag = "index",
    params(doc::FileParams),
    responses((status = 200, description = "Definitions, as far as single lines tell; of a file above 1 MiB, those in its first MiB", body = FileOutline), doc::Any, doc::NotFound, doc::NotIndexed, doc::BackendLost)
)]
pub(crate) async fn outline(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Json<FileOutline>, Problem> {
    params.expect(&[&["package", "path", "rev"]])?;
    let scope = viewer.scope_of(params.required("package")?).await?;
    let found = fetch_beginning(&app, &scope, &params, FILE_BYTES_MAX).await?;
    let answer = blocking(move || {
        let FileReply {
            language,
            text,
            total_bytes,
            ..
        } = &found.reply;
        let is_whole = text.len() as u64 == *total_bytes;
        FileOutline::new(&found.package, language, read(language, text), is_whole)
    });
    Ok(Json(answer.await))
}

fn read(language: &str, text: &[u8]) -> Outline {
    let (mut outline, colours) = (Outline::new(language), DocumentColours::reading(language));
    for (number, line) in (1..).zip(split_lines(text)) {
        outline.add(number, line, &colours.tokens(number, line));
    }
    outline
}
