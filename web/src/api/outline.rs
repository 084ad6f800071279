//! Outlines of files.

use super::openapi::described as doc;
use crate::http::blocking;
use crate::model::FileOutline;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::source::colours::{DocumentColours, split_lines};
use crate::source::outline::Outline;
use crate::state::App;
use access::Viewer;
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
    let found = app.corpus(&scope);
    let found = found.fetch_beginning(&params, FILE_BYTES_MAX).await?;
    let answer = blocking(move || {
        let FileReply {
            language,
            text,
            total_bytes,
            ..
        } = &found.reply;
        let is_whole = text.len() as u64 == *total_bytes;
        let outline = read(language, text);
        let is_complete = is_whole && !outline.is_cut;
        FileOutline::new(&found.package, language, outline.definitions, is_complete)
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
