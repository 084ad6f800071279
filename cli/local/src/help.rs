//! Help and version.

use crate::arguments::Special;
use crate::flags::{Effect, FLAGS, Flag};
use crate::program::{Outcome, Program, RIPGREP};
use anyhow::Result;
use std::io::{self, Write};

pub(crate) fn print(program: Program, special: Special) -> Result<Outcome> {
    let mut stdout = io::stdout().lock();
    match special {
        Special::ShortHelp | Special::LongHelp => write_help(program, &mut stdout)?,
        Special::ShortVersion => writeln!(stdout, "{}", version(program))?,
        Special::LongVersion => writeln!(
            stdout,
            "{}\n\nfeatures:-pcre2\n\nTrawl {}, with the flags and the output of ripgrep",
            version(program),
            env!("CARGO_PKG_VERSION"),
        )?,
        Special::Pcre2Version => {
            writeln!(stdout, "PCRE2 is not available in this build of ripgrep.")?;
            return Ok(Outcome::NoMatch);
        }
    }
    stdout.flush()?;
    Ok(Outcome::Match)
}

/// Programs that call `rg` look for its name and version.
fn version(program: Program) -> String {
    match program {
        Program::TrawlGrep => format!("trawl {}", env!("CARGO_PKG_VERSION")),
        Program::Ripgrep => format!("ripgrep {RIPGREP}"),
    }
}

fn write_help(program: Program, out: &mut impl Write) -> io::Result<()> {
    let usage = program.usage();
    writeln!(
        out,
        "Search the files below this directory, with the flags and the output of ripgrep\n\n\
         Usage: {usage} [FLAGS] PATTERN [PATH...]\n       \
         {usage} [FLAGS] -e PATTERN ... [PATH...]\n       \
         {usage} [FLAGS] --files [PATH...]\n\n\
         Examples:\n  \
         {usage} 'fn \\w+_init'             lines that match, in files that git does not ignore\n  \
         {usage} -l -F 'errno ==' src      paths of the files with a match\n  \
         {usage} -n -C2 -t rust unwrap     in Rust files, with line numbers and two lines around\n  \
         {usage} --files -g '*.md'         paths of all Markdown files\n\n\
         Flags:"
    )?;
    for flag in FLAGS.iter().filter(|flag| !flag.help.is_empty()) {
        writeln!(out, "  {:<36} {}", names(flag), flag.help)?;
    }
    writeln!(
        out,
        "\nNot available: --pcre2, --auto-hybrid-regex, --generate. A flag --no-NAME undoes --NAME.\n\n\
         Exit status: 0 match, 1 no match, 2 error."
    )
}

fn names(flag: &Flag) -> String {
    let short = match flag.short {
        Some(short) => format!("-{short}, "),
        None => "    ".to_owned(),
    };
    let value = match flag.effect {
        Effect::Value(value, _) => format!("={value}"),
        Effect::Switch(_) | Effect::Refused(_) => String::new(),
    };
    format!("{short}--{}{value}", flag.long)
}
