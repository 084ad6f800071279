//! Exit statuses, the same for every command. 0 is success.

use std::process::ExitCode;

/// Nothing was found.
const NOTHING: u8 = 1;

/// The command failed.
const ERROR: u8 = 2;

/// Something was found or shown, but a backend or a document is missing.
const INCOMPLETE: u8 = 3;

/// The status of a command that failed.
pub(crate) fn error() -> ExitCode {
    ExitCode::from(ERROR)
}

/// The status of a command that looked for something.
pub(crate) fn found(any: bool) -> ExitCode {
    if any {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOTHING)
    }
}

/// `code`, unless the answer is incomplete.
pub(crate) fn complete_or(is_complete: bool, code: ExitCode) -> ExitCode {
    if is_complete {
        code
    } else {
        ExitCode::from(INCOMPLETE)
    }
}
