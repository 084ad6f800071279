//! `trawl completions` and `trawl man`, generated from clap's command line.

use crate::exit::Exit;
use anyhow::{Context, Result};
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::PathBuf;

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl completions bash > ~/.local/share/bash-completion/completions/trawl
  trawl completions zsh > ~/.zfunc/_trawl
  trawl completions fish > ~/.config/fish/completions/trawl.fish")]
pub(crate) struct CompletionsArguments {
    /// Name of the shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Print the manual page, or write a page for every command
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  trawl man | man -l -\n  trawl man --out /usr/local/share/man/man1"
)]
pub(crate) struct ManArguments {
    /// Write trawl.1, trawl-search.1 and so on into DIR
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(arguments: &CompletionsArguments, mut definition: clap::Command) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut definition, "trawl", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Exit::Success)
}

pub(super) fn man(arguments: &ManArguments, definition: clap::Command) -> Result<Exit> {
    match &arguments.out {
        Some(directory) => clap_mangen::generate_to(definition, directory)
            .with_context(|| format!("cannot write manual pages to {}", directory.display()))?,
        None => clap_mangen::Man::new(definition).render(&mut io::stdout())?,
    }
    Ok(Exit::Success)
}
