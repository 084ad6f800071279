//! The last row of a list that is not shown in full.

use crate::units;
use std::io::{self, Write};

/// Prints how many of `rows` are not shown, and how to show them.
pub(super) fn print_rest(
    rows: usize,
    limit: usize,
    indent: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    if rows > limit {
        let rest = units::count((rows - limit) as u64);
        writeln!(
            out,
            "{:indent$}and {rest} more; --limit {rows} shows them",
            ""
        )?;
    }
    Ok(())
}
