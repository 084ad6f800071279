//! `trawl completions` and `trawl man`: what shells and `man` know of this command line. Made of
//! clap's definitions, so that nothing is said twice.

use crate::config;
use anyhow::{Context, Result};
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Print what a shell needs to complete trawl's arguments
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl completions bash > ~/.local/share/bash-completion/completions/trawl
  trawl completions zsh > ~/.zfunc/_trawl
  trawl completions fish > ~/.config/fish/completions/trawl.fish")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Print the manual page, or write one for every command
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  trawl man | man -l -\n  trawl man --out /usr/local/share/man/man1"
)]
pub(crate) struct ManArguments {
    /// Write trawl.1, trawl-search.1 and the others into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut config::command(),
        "trawl",
        &mut script,
    );
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(arguments: &ManArguments) -> Result<ExitCode> {
    match &arguments.out {
        Some(directory) => clap_mangen::generate_to(config::command(), directory)
            .with_context(|| format!("{}: cannot be written", directory.display()))?,
        None => clap_mangen::Man::new(config::command()).render(&mut io::stdout())?,
    }
    Ok(ExitCode::SUCCESS)
}
