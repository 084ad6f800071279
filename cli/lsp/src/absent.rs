//! The interface of a build without the protocol.

use crate::{Corpus, Ended, Workspace};
use std::io::{BufRead, Error, Result, Write};
use std::sync::Arc;

/// Always fails.
///
/// # Errors
/// The build has no server.
pub fn serve(
    _corpus: impl Fn() -> Arc<dyn Corpus>,
    _workspace: Workspace,
    _input: impl BufRead,
    _output: impl Write + Send + 'static,
) -> Result<Ended> {
    let message =
        "this trawl is built without a server for editors: build it with `--features full`";
    Err(Error::other(message))
}
