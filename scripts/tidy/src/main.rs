//! Checks the workspace: dependencies, cycles of files, module layers, prose.
//!
//! `cargo test -p tidy` lists violations; `cargo run -p tidy` prints layers and arrows. Paths are
//! resolved by name, so method calls are not arrows. Ignores tests (`#[cfg(test)]`, `tests/`).

mod files;
mod graph;
mod imports;
mod prose;
mod rules;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for each in &rules::CRATES {
        println!("{}", rules::picture(&root, each));
    }
    println!("{}", prose::Prose::read(&root).figures());
    let violations = rules::check(&root);
    for violation in &violations {
        eprintln!("{violation}");
    }
    ExitCode::from(u8::from(!violations.is_empty()))
}

#[cfg(test)]
mod tests;
