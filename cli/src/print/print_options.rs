//! What is printed of matches, in which form and order.
//!
//! Decided once, from the flags and from what standard output is; no other module asks whether there
//! is a terminal.

use super::flags::{ColorChoice, Hyperlinks, PrintFlags, SortOrder};
use super::links::LinkFormat;
use std::io::IsTerminal;

/// What is printed of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    /// Lines with matches.
    Lines,
    /// ripgrep's JSON messages.
    Json,
    /// Names of files with matches.
    Files,
    /// The number of lines that match in each file.
    LineCounts,
    /// The number of matches in each file.
    MatchCounts,
    /// The total, which backends count.
    Total,
    /// The total, counted here: backends cannot count matches of a multi-line pattern, nor up to a
    /// maximum for each file.
    CountedTotal,
    /// Nothing: only the exit status counts.
    Nothing,
}

/// How matches are printed.
#[derive(Clone, Debug)]
pub(crate) struct PrintOptions {
    pub(crate) kind: OutputKind,
    pub(super) sort: SortOrder,
    pub(super) names: bool,
    pub(super) numbers: bool,
    pub(super) columns: bool,
    /// The file name is above its lines.
    pub(super) heading: bool,
    pub(super) color: bool,
    /// Control characters are escaped.
    pub(super) escape: bool,
    /// A NUL byte follows names.
    pub(super) null: bool,
    pub(super) only_matching: bool,
    /// A line for every match in it.
    pub(super) each_match: bool,
    pub(crate) before: u32,
    pub(crate) after: u32,
    /// Lines printed of a file; if `multi_line`, matches.
    pub(super) per_file_max: u64,
    /// The pattern can match several lines. Matches are counted then, instead of lines.
    pub(super) multi_line: bool,
    pub(super) links: Option<LinkFormat>,
    pub(super) stats: bool,
}

impl PrintOptions {
    /// Options from the flags. Names link to the pages of `server` by default; an index has none.
    pub(crate) fn new(flags: &PrintFlags, server: Option<&str>) -> PrintOptions {
        let is_terminal = std::io::stdout().is_terminal();
        let kind = kind(flags);
        let color = match flags.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && environment_allows_color(),
        };
        let color = color && kind != OutputKind::Json;
        let (before, after) = flags.context_lines();
        let default_links = || LinkFormat::to_server(server?);
        PrintOptions {
            kind,
            sort: if flags.stream {
                SortOrder::None
            } else {
                flags.sort
            },
            names: flags.with_filename || !flags.no_filename,
            numbers: flags.vimgrep || !flags.no_line_number,
            columns: flags.column || flags.vimgrep,
            heading: (flags.heading || (is_terminal && !flags.no_heading)) && !flags.vimgrep,
            color,
            escape: is_terminal || color,
            null: flags.null,
            only_matching: flags.only_matching,
            each_match: flags.vimgrep,
            before,
            after,
            per_file_max: flags.max_count.unwrap_or(u64::MAX),
            multi_line: false,
            links: match &flags.hyperlink_format {
                Some(Hyperlinks::None) => None,
                Some(Hyperlinks::Format(format)) => Some(format.clone()),
                Some(Hyperlinks::Default) => default_links(),
                None if is_terminal && flags.color != ColorChoice::Never => default_links(),
                None => None,
            },
            stats: flags.stats,
        }
    }

    /// The options for a pattern that can match several lines, or not.
    pub(crate) fn multi_line(mut self, multi_line: bool) -> PrintOptions {
        self.multi_line = multi_line;
        self.kind = match self.kind {
            OutputKind::LineCounts if multi_line => OutputKind::MatchCounts,
            OutputKind::Total if multi_line || self.per_file_max < u64::MAX => {
                OutputKind::CountedTotal
            }
            kind => kind,
        };
        self
    }

    /// The options for an answer with a limit (0: none). The best matches are known at the end, so they
    /// cannot be printed as they are found.
    pub(crate) fn limited(mut self, limit: u64) -> PrintOptions {
        if limit > 0 && self.sort == SortOrder::None {
            self.sort = SortOrder::Rank;
        }
        self
    }

    /// Whether a match over several lines may have to be cut, to print the first matches of a file.
    pub(super) fn cuts_spans(&self) -> bool {
        self.multi_line && self.per_file_max < u64::MAX
    }

    /// Whether the lines of a file are printed together.
    pub(super) fn is_grouped(&self) -> bool {
        self.kind == OutputKind::Json
            || self.heading
            || self.sort == SortOrder::Path
            || self.before + self.after > 0
            || self.per_file_max < u64::MAX
    }

    /// Whether matches are printed as `package/path:line:text`, byte for byte, best first.
    pub(crate) fn is_plain(&self) -> bool {
        let changed = self.columns || self.escape || self.null || self.only_matching;
        let extra = self.stats || self.links.is_some();
        self.kind == OutputKind::Lines
            && self.sort == SortOrder::Rank
            && self.names
            && self.numbers
            && !(changed || extra || self.is_grouped())
    }

    /// Whether the text of lines is printed, and so must be complete.
    pub(super) fn wants_text(&self) -> bool {
        matches!(self.kind, OutputKind::Lines | OutputKind::Json)
    }

    /// Whether lines are printed while the search runs.
    pub(crate) fn streams(&self) -> bool {
        self.sort == SortOrder::None && self.wants_text()
    }

    /// Whether every match in a line is printed or counted, even if a line has very many.
    pub(super) fn wants_all_ranges(&self) -> bool {
        match self.kind {
            OutputKind::Lines => {
                let marked = self.only_matching || self.each_match || self.color;
                marked || self.stats || self.cuts_spans()
            }
            OutputKind::Json | OutputKind::MatchCounts => true,
            OutputKind::CountedTotal => self.multi_line,
            _ => self.stats,
        }
    }
}

fn kind(flags: &PrintFlags) -> OutputKind {
    // ripgrep's precedence. `-c -o` counts what `-o` would print.
    let kinds = [
        (flags.quiet, OutputKind::Nothing),
        (flags.json, OutputKind::Json),
        (flags.total, OutputKind::Total),
        (flags.files_with_matches, OutputKind::Files),
        (flags.count_matches, OutputKind::MatchCounts),
        (flags.count && flags.only_matching, OutputKind::MatchCounts),
        (flags.count, OutputKind::LineCounts),
    ];
    let given = kinds.into_iter().find(|(given, _)| *given);
    given.map_or(OutputKind::Lines, |(_, kind)| kind)
}

/// Whether the environment allows color.
fn environment_allows_color() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !no_color && !is_dumb
}
