//! `trawl grep`, and the binary under the name `rg`.

use crate::cache_dir;
use crate::exit::Exit;
use local::{Outcome, Program};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Search the files below this directory, with the flags and the output of ripgrep
#[derive(clap::Args)]
#[command(disable_help_flag = true, after_help = "See trawl grep --help.")]
pub(crate) struct GrepArguments {
    /// Flags, a pattern and paths, as for rg
    #[arg(value_name = "ARGUMENT")]
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    words: Vec<OsString>,
}

/// Runs such a command line, which is ripgrep's and none of clap's.
pub(super) fn run_if_called(words: &[OsString]) -> Option<Exit> {
    let [program, rest @ ..] = words else {
        return None;
    };
    if Path::new(program).file_name() == Some(OsStr::new("rg")) {
        return Some(search(Program::Ripgrep, rest.to_vec()));
    }
    match rest {
        [command, rest @ ..] if command == "grep" => {
            Some(search(Program::TrawlGrep, rest.to_vec()))
        }
        _ => None,
    }
}

pub(super) fn run(arguments: &GrepArguments) -> Exit {
    search(Program::TrawlGrep, arguments.words.clone())
}

fn search(program: Program, words: Vec<OsString>) -> Exit {
    let cache = cache_dir::cache_dir().ok();
    match local::run(program, words, cache.as_deref()) {
        Outcome::Match => Exit::Success,
        Outcome::NoMatch => Exit::NothingFound,
        Outcome::Error => Exit::Error,
    }
}
