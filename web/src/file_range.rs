//! A range of a file, from a backend that has it: for pages in lines, for the API in bytes.
//!
//! The package may be named without its version. Then the file is that of its only version, or of the only
//! one that has the file; if several have it, the problem names them.

use crate::params::{Params, lossy};
use crate::problem::Problem;
use crate::state::App;
use crate::versions::versions;
use schema::message::{FileRange, FileReply};

/// Versions of a package that are asked for a file.
const VERSIONS_ASKED_MAX: usize = 16;

/// A range of a file.
pub(crate) struct Fetched {
    /// The directory of the package, with its version.
    pub(crate) package: Vec<u8>,
    pub(crate) reply: FileReply,
}

/// Asks the backends for a range of the file that the parameters name.
pub(crate) async fn fetch(
    app: &App,
    params: &Params,
    range: FileRange,
) -> Result<Fetched, Problem> {
    let (package, path) = (params.required("package")?, params.required("path")?);
    if let Some(reply) = app.coordinator.file(package, path, range).await? {
        let package = package.to_vec();
        return Ok(Fetched { package, reply });
    }
    let mut found: Vec<Fetched> = Vec::new();
    let versions = versions(app, package).await?.into_iter();
    let others = versions.map(|version| version.package);
    let others = others.filter(|version| version != package);
    for package in others.take(VERSIONS_ASKED_MAX) {
        if let Some(reply) = app.coordinator.file(&package, path, range).await? {
            found.push(Fetched { package, reply });
        }
    }
    match found.len() {
        0 => Err(missing(package, path)),
        1 => Ok(found.remove(0)),
        _ => Err(ambiguous(package, path, &found)),
    }
}

fn missing(package: &[u8], path: &[u8]) -> Problem {
    let (package, path) = (lossy(Some(package)), lossy(Some(path)));
    Problem::missing(format!("no backend has {package}/{path}"))
}

fn ambiguous(package: &[u8], path: &[u8], found: &[Fetched]) -> Problem {
    let (package, path) = (lossy(Some(package)), lossy(Some(path)));
    let names = found.iter().map(|each| lossy(Some(&each.package)));
    let names = names.collect::<Vec<_>>().join(", ");
    let detail = format!("several versions of {package} have {path}: {names}");
    Problem::bad_request(detail).hint(format!(
        "name the version: package={}",
        lossy(Some(&found[found.len() - 1].package))
    ))
}
