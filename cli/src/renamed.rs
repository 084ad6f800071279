//! Former names of flags, and of their keys and variables.
//!
//! Each works until [`GONE_IN`], is in no help, and is reported when used.

use crate::terminal;
use clap::Command;
use std::ffi::OsString;

const GONE_IN: &str = "0.3";

pub(crate) struct Renamed {
    pub(crate) command: &'static str,
    /// Long flags without dashes.
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
    /// Otherwise the old flag is still defined, hidden, since its values mean something else.
    pub(crate) is_alias: bool,
}

macro_rules! renamed {
    ($($command:literal $old:literal $new:literal $is_alias:literal;)*) => {
        &[$(Renamed { command: $command, old: $old, new: $new, is_alias: $is_alias }),*]
    };
}

const RENAMED: &[Renamed] = renamed! {
    "index" "out" "index" true;
    "serve" "search-memory" "memory" false;
    "backend" "pattern-memory" "memory" true;
};

impl Renamed {
    /// Warning about a former name in a form such as `--out` or `TRAWL_SERVE_SEARCH_MEMORY`.
    pub(crate) fn warning(&self, form: impl Fn(&str) -> String) -> String {
        let (old, new) = (form(self.old), form(self.new));
        format!("{old} is now {new}, and goes in {GONE_IN}")
    }

    /// `--old` or `--old=VALUE` before `--`.
    fn is_in(&self, words: &[OsString]) -> bool {
        let words = words.iter().map(|word| word.to_string_lossy());
        let mut flags = words.take_while(|word| word != "--");
        flags.any(|word| {
            let flag = word.strip_prefix("--").unwrap_or_default();
            let rest = flag.strip_prefix(self.old);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    }
}

pub(crate) fn of(command: &str) -> impl Iterator<Item = &'static Renamed> {
    RENAMED.iter().filter(move |it| it.command == command)
}

/// Adds the former flags as hidden aliases.
pub(crate) fn with_former_flags(definition: Command) -> Command {
    let aliases = RENAMED.iter().filter(|it| it.is_alias);
    aliases.fold(definition, |definition, renamed| {
        definition.mut_subcommand(renamed.command, |command| {
            let id = renamed.new.replace('-', "_");
            command.mut_arg(id, |argument| argument.alias(renamed.old))
        })
    })
}

/// Reports the former flags of a command line, each once.
pub(crate) fn report_flags(words: &[OsString]) {
    let Some(command) = words.get(1).and_then(|word| word.to_str()) else {
        return;
    };
    for renamed in of(command).filter(|it| it.is_in(&words[2..])) {
        terminal::complain(renamed.warning(|name| format!("--{name}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_flags_are_found_before_the_end_of_flags() {
        let is_in = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            RENAMED[0].is_in(&words)
        };
        for (line, expected) in [
            ("--out I source", true),
            ("--each --out=I", true),
            ("--index I source", false),
            ("--output I", false),
            ("--index I -- --out", false),
        ] {
            assert_eq!(is_in(line), expected, "{line}");
        }
    }

    #[test]
    fn warnings_name_the_new_flag() {
        let warning = RENAMED[0].warning(|name| format!("--{name}"));
        assert_eq!(warning, "--out is now --index, and goes in 0.3");
    }
}
