//! Text tables.

use crate::terminal::{self, escaped};
use anyhow::Result;

pub(super) fn print<const N: usize>(table: &[[String; N]]) -> Result<()> {
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    for row in table {
        let cells = row.iter().zip(&widths);
        let line: Vec<String> = cells
            .map(|(cell, width)| format!("{:width$}", escaped(cell)))
            .collect();
        terminal::print(line.join("  ").trim_end())?;
    }
    Ok(())
}
