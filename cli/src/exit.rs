//! Exit statuses of all commands: the table in `docs/cli.md`.

use std::process;

/// Status of a command that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    /// The answer is complete, and empty.
    NothingFound = 1,
    /// Wrong usage, or a failure.
    Error = 2,
    /// Backends, documents, sources or replicas are missing.
    Incomplete = 3,
    /// SIGINT or SIGTERM, as in shells.
    Interrupted = 130,
}

impl Exit {
    pub(crate) fn found(any: bool) -> Exit {
        if any {
            Exit::Success
        } else {
            Exit::NothingFound
        }
    }

    /// `Incomplete` takes precedence.
    pub(crate) fn if_complete(self, is_complete: bool) -> Exit {
        if is_complete { self } else { Exit::Incomplete }
    }

    pub(crate) fn now(self) -> ! {
        process::exit(self as i32)
    }
}
