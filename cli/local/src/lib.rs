//! Search of the files of a directory, as ripgrep does it: `trawl grep`.
//!
//! [`flags`] reads ripgrep's command line into [`Arguments`], [`haystack`] walks the directories,
//! [`search`] prints the matches with ripgrep's own crates. `rg` 15.2 is the specification: output,
//! order of flags, messages and exit status.

mod arguments;
mod config;
mod diagnostics;
mod flags;
mod haystack;
mod help;
mod input;
mod pattern;
mod program;
mod search;
mod worker;

pub use program::{Outcome, Program};

use diagnostics::Diagnostics;
use std::ffi::OsString;
use std::io;

/// Runs the command line after the name of the command.
pub fn run(program: Program, words: Vec<OsString>) -> Outcome {
    let diagnostics = Diagnostics::new(program);
    match execute(program, words, &diagnostics) {
        Ok(outcome) => outcome,
        Err(error) if is_broken_pipe(&error) => Outcome::Match,
        Err(error) => {
            diagnostics.print(&format!("{error:#}"));
            Outcome::Error
        }
    }
}

fn execute(
    program: Program,
    words: Vec<OsString>,
    diagnostics: &Diagnostics,
) -> anyhow::Result<Outcome> {
    let mut arguments = flags::parse(words.clone())?;
    diagnostics.configure(&arguments);
    if let Some(special) = arguments.special {
        return help::print(program, special);
    }
    if !arguments.no_config {
        let configured = config::words(diagnostics);
        if !configured.is_empty() {
            arguments = flags::parse(configured.into_iter().chain(words).collect())?;
            diagnostics.configure(&arguments);
        }
    }
    search::run(arguments, diagnostics)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
