//! A range of a file, from a backend that has it: for pages in lines, for the API in bytes.

use crate::params::{Params, lossy};
use crate::problem::Problem;
use crate::state::App;
use schema::message::{FileRange, FileReply};

/// Asks the backends for a range of the file that the parameters name.
pub(crate) async fn fetch(
    app: &App,
    params: &Params,
    range: FileRange,
) -> Result<FileReply, Problem> {
    let (package, path) = name(params)?;
    let reply = app.coordinator.file(package, path, range).await?;
    reply.ok_or_else(|| {
        let (package, path) = (lossy(Some(package)), lossy(Some(path)));
        Problem::missing(format!("no backend has {package}/{path}"))
    })
}

/// Returns the package and the path that the parameters name.
pub(crate) fn name(params: &Params) -> Result<(&[u8], &[u8]), Problem> {
    Ok((params.required("package")?, params.required("path")?))
}
