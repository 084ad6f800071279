//! Exit statuses of all commands. 0 is success.

use std::process::ExitCode;

/// Status of shells for a signal.
pub(crate) const INTERRUPTED: i32 = 130;

pub(crate) fn error() -> ExitCode {
    ExitCode::from(2)
}

/// 1 if nothing was found.
pub(crate) fn found(any: bool) -> ExitCode {
    ExitCode::from(u8::from(!any))
}

/// 3 if backends or documents are missing.
pub(crate) fn complete_or(is_complete: bool, code: ExitCode) -> ExitCode {
    if is_complete { code } else { ExitCode::from(3) }
}
