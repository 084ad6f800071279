//! Checks the structure of the workspace: which crate may use which, that the files of a crate do
//! not import each other in a circle, and that no module uses one in a layer above it.
//!
//! `cargo test -p tidy` fails with every violation; `cargo run -p tidy` prints the layers of each
//! crate and the arrows between them. It reads sources as text and resolves paths by names alone, so
//! a call of a method is not seen as an arrow. Tests (`#[cfg(test)]`, `tests/`) are not looked at.

mod files;
mod graph;
mod imports;
mod rules;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for each in &rules::CRATES {
        println!("{}", rules::picture(&root, each));
    }
    let violations = rules::check(&root);
    for violation in &violations {
        eprintln!("{violation}");
    }
    ExitCode::from(u8::from(!violations.is_empty()))
}

#[cfg(test)]
mod tests;
