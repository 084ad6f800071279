//! How matches look: which parts of them are printed, in which form, where.
//!
//! Decided once, of the flags and of what standard output is; nothing later asks for a terminal.

use super::arguments::{Arguments, Colour, Sort};
use super::links::Links;
use std::io::IsTerminal;

/// What is printed of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Its lines.
    Lines,
    /// Its lines as ripgrep's messages.
    Json,
    /// The files that they are in.
    Files,
    /// How many lines match, file by file.
    Counts,
    /// How many matches there are, file by file.
    MatchCounts,
    /// How many lines match, in all.
    Total,
    /// The same where only we can count it: [`Counts`](What::Counts) of all files, added.
    CountedTotal,
    /// Nothing: whether there is any is in the exit status.
    Nothing,
}

/// How lines are printed.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) what: What,
    pub(super) sort: Sort,
    pub(super) names: bool,
    pub(super) numbers: bool,
    pub(super) columns: bool,
    /// A file's name stands above its lines.
    pub(super) heading: bool,
    pub(super) colour: bool,
    /// What could do harm to a terminal is spelled out.
    pub(super) harmless: bool,
    /// A NUL stands behind names.
    pub(super) null: bool,
    pub(super) only_matching: bool,
    /// A line for each match in it.
    pub(super) each_match: bool,
    pub(super) before: u32,
    pub(super) after: u32,
    /// Lines of a file, at most; matches, when they are over lines.
    pub(super) lines_max: u64,
    /// Matches may be over lines: they are counted then, and their lines are not.
    pub(super) over_lines: bool,
    pub(super) links: Option<Links>,
    pub(super) stats: bool,
}

impl Look {
    pub(super) fn new(arguments: &Arguments) -> Look {
        let is_terminal = std::io::stdout().is_terminal();
        let colour = match arguments.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => is_terminal && colour_is_welcome(),
        };
        let what = what(arguments);
        let colour = colour && what != What::Json;
        let columns = arguments.column || arguments.vimgrep;
        let (before, after) = arguments.context();
        Look {
            what,
            sort: match arguments.stream {
                true => Sort::None,
                false => arguments.sort,
            },
            names: arguments.with_filename || !arguments.no_filename,
            numbers: arguments.vimgrep || !arguments.no_line_number,
            columns,
            heading: (arguments.heading || (is_terminal && !arguments.no_heading))
                && !arguments.vimgrep,
            colour,
            harmless: is_terminal || colour,
            null: arguments.null,
            only_matching: arguments.only_matching,
            each_match: arguments.vimgrep,
            before,
            after,
            lines_max: arguments.max_count.unwrap_or(u64::MAX),
            over_lines: false,
            links: arguments.links(is_terminal),
            stats: arguments.stats,
        }
    }

    /// The look of matches that may be over lines, or not.
    pub(super) fn over_lines(mut self, over_lines: bool) -> Look {
        self.over_lines = over_lines;
        self.what = match self.what {
            What::Counts if over_lines => What::MatchCounts,
            What::Total if over_lines || self.lines_max < u64::MAX => What::CountedTotal,
            what => what,
        };
        self
    }

    /// Whether some of the matches of a run of lines may be more than are wanted.
    pub(super) fn cuts_runs(&self) -> bool {
        self.over_lines && self.lines_max < u64::MAX
    }

    /// Whether the lines of a file are printed together.
    pub(super) fn is_grouped(&self) -> bool {
        self.what == What::Json
            || self.heading
            || self.sort == Sort::Path
            || self.before + self.after > 0
            || self.lines_max < u64::MAX
    }

    /// Whether a match is printed as `package/path:line:text`, byte for byte.
    pub(super) fn is_plain(&self) -> bool {
        let changed = self.columns || self.harmless || self.null || self.only_matching;
        let counted = self.stats || self.links.is_some();
        self.what == What::Lines
            && self.sort == Sort::Rank
            && self.names
            && self.numbers
            && !(changed || counted || self.is_grouped())
    }

    /// Whether the text of lines is printed, and so must be whole.
    pub(super) fn wants_text(&self) -> bool {
        matches!(self.what, What::Lines | What::Json)
    }

    /// Whether lines are printed while more of them are looked for.
    pub(super) fn follows(&self) -> bool {
        self.sort == Sort::None && self.wants_text()
    }

    /// The look of an answer that has a limit, or none (0): which matches are the best is known when all
    /// are.
    pub(super) fn limited(mut self, limit: u64) -> Look {
        if limit > 0 && self.sort == Sort::None {
            self.sort = Sort::Rank;
        }
        self
    }

    /// Whether each of the matches in a line is printed or counted, however many there are.
    pub(super) fn wants_all_ranges(&self) -> bool {
        let lines = self.only_matching || self.each_match || self.colour;
        match self.what {
            What::Lines => lines || self.stats || self.cuts_runs(),
            What::Json | What::MatchCounts => true,
            What::CountedTotal => self.over_lines,
            _ => self.stats,
        }
    }
}

fn what(arguments: &Arguments) -> What {
    match arguments {
        Arguments { quiet: true, .. } => What::Nothing,
        Arguments { json: true, .. } => What::Json,
        Arguments { total: true, .. } => What::Total,
        Arguments {
            files_with_matches: true,
            ..
        } => What::Files,
        Arguments {
            count_matches: true,
            ..
        } => What::MatchCounts,
        // As ripgrep has it: what is counted of `-o` is what it would print.
        Arguments {
            count: true,
            only_matching: true,
            ..
        } => What::MatchCounts,
        Arguments { count: true, .. } => What::Counts,
        _ => What::Lines,
    }
}

/// Whether the surroundings have anything against colour.
fn colour_is_welcome() -> bool {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !no_colour && !is_dumb
}
