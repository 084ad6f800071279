//! Names of the command, and its results.

pub(crate) const RIPGREP: &str = "15.2.0";

/// Name in messages, usage and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    TrawlGrep,
    /// The binary under the name `rg`.
    Ripgrep,
}

impl Program {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Program::TrawlGrep => "trawl",
            Program::Ripgrep => "rg",
        }
    }

    pub(crate) fn usage(self) -> &'static str {
        match self {
            Program::TrawlGrep => "trawl grep",
            Program::Ripgrep => "rg",
        }
    }
}

/// Result of a run, which its exit status tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A match, a path, a type, or help.
    Match,
    /// No match, in files that could all be read.
    NoMatch,
    /// A mistake in the command line, or a file that could not be read.
    Error,
}
