//! Exit statuses, the same for every command. 0 is success.

use std::process::ExitCode;

/// The status of a command that a signal of the terminal has ended, as shells report it.
pub(crate) const INTERRUPTED: i32 = 130;

/// The status of a command that failed.
pub(crate) fn error() -> ExitCode {
    ExitCode::from(2)
}

/// The status of a command that looked for something: 1 if nothing was found.
pub(crate) fn found(any: bool) -> ExitCode {
    ExitCode::from(u8::from(!any))
}

/// `code`; or 3 if the answer is incomplete, because a backend or a document is missing.
pub(crate) fn complete_or(is_complete: bool, code: ExitCode) -> ExitCode {
    if is_complete { code } else { ExitCode::from(3) }
}
