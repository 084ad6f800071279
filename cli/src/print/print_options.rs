//! Print flags of `trawl search`, as in ripgrep, and the derived output form.
//!
//! **Invariant:** the form is decided here, once, from flags and the terminal state of standard
//! output.

use super::links::LinkFormat;
use crate::work_tree::WorkTree;
use frontend::{Document, commit_name};
use std::io::IsTerminal;

const OUTPUT: &str = "Output";

/// Two screens.
const TERMINAL_MATCHES: u64 = 50;

/// Selection, order and form of printed matches.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct PrintFlags {
    /// Print only the best N matches; 0: all [default: on a terminal 50, else all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Order of matches
    #[arg(long, value_enum, default_value_t = SortOrder::Rank)]
    sort: SortOrder,
    /// Print matches while the search runs, as they are found: --sort none
    #[arg(long, conflicts_with_all = ["limit", "sort"])]
    pub(crate) stream: bool,

    /// Print the number of lines that match in each file; for a multi-line pattern, of matches
    #[arg(short, long, help_heading = OUTPUT)]
    count: bool,
    /// Print the number of matches in each file
    #[arg(long, help_heading = OUTPUT)]
    count_matches: bool,
    /// Print only the total: the sum of the counts of -c
    #[arg(long, help_heading = OUTPUT)]
    total: bool,
    /// Print only the names of files with matches
    #[arg(short = 'l', long, help_heading = OUTPUT)]
    files_with_matches: bool,
    /// Print nothing; the exit status tells if there is a match
    #[arg(short, long, help_heading = OUTPUT)]
    quiet: bool,
    /// Print ripgrep's JSON Lines: begin, match, context, end and summary
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Print only the parts of lines that match
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) only_matching: bool,
    /// Print N lines after each match
    #[arg(short = 'A', long, value_name = "N", help_heading = OUTPUT)]
    after_context: Option<u32>,
    /// Print N lines before each match
    #[arg(short = 'B', long, value_name = "N", help_heading = OUTPUT)]
    before_context: Option<u32>,
    /// Print N lines before and after each match
    #[arg(short = 'C', long, value_name = "N", help_heading = OUTPUT)]
    context: Option<u32>,
    /// Print lines of copies, too: files with the same text as an earlier one [default: in a pipe]
    #[arg(long, help_heading = OUTPUT)]
    copies: bool,
    /// Print only the first N lines that match in each file; for a multi-line pattern, matches
    #[arg(short, long, value_name = "N", help_heading = OUTPUT)]
    max_count: Option<u64>,
    /// Print line numbers (the default)
    #[arg(short = 'n', long, overrides_with = "no_line_number", help_heading = OUTPUT)]
    line_number: bool,
    /// Do not print line numbers
    #[arg(short = 'N', long, overrides_with = "line_number", help_heading = OUTPUT)]
    no_line_number: bool,
    /// Print the file name with each line (the default)
    #[arg(short = 'H', long, overrides_with = "no_filename", help_heading = OUTPUT)]
    with_filename: bool,
    /// Do not print file names
    #[arg(short = 'I', long, overrides_with = "with_filename", help_heading = OUTPUT)]
    pub(super) no_filename: bool,
    /// Print the column of the first match in the line, in bytes from 1
    #[arg(long, help_heading = OUTPUT)]
    column: bool,
    /// Print a line for every match, with its column, as editors expect
    #[arg(long, help_heading = OUTPUT)]
    pub(super) vimgrep: bool,
    /// Print a NUL byte after file names
    #[arg(short = '0', long, help_heading = OUTPUT)]
    pub(super) null: bool,
    /// Print the file name once, above its lines [default: on a terminal]
    #[arg(long, overrides_with = "no_heading", help_heading = OUTPUT)]
    heading: bool,
    /// Print the file name on each line [default: in a pipe]
    #[arg(long, overrides_with = "heading", help_heading = OUTPUT)]
    no_heading: bool,
    /// Use of colors (ripgrep's colors); auto respects NO_COLOR
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, help_heading = OUTPUT)]
    color: ColorChoice,
    /// Format of links from file names on a terminal: a URL with {package}, {path}, {line},
    /// {column}; or `default`, the server's page of the file; or `none`
    #[arg(long, value_name = "FORMAT", value_parser = parse_hyperlinks, help_heading = OUTPUT)]
    hyperlink_format: Option<Hyperlinks>,
    /// Print statistics after the matches
    #[arg(long, help_heading = OUTPUT)]
    pub(super) stats: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SortOrder {
    /// Best first
    Rank,
    /// By package, path and line
    Path,
    /// As they are found
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ColorChoice {
    /// On a terminal
    Auto,
    Always,
    Never,
}

#[derive(Clone, Debug)]
enum Hyperlinks {
    None,
    Default,
    Format(LinkFormat),
}

fn parse_hyperlinks(format: &str) -> Result<Hyperlinks, String> {
    Ok(match format {
        "none" | "" => Hyperlinks::None,
        "default" => Hyperlinks::Default,
        format => Hyperlinks::Format(LinkFormat::parse(format)?),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Lines,
    Json,
    Files,
    LineCounts,
    MatchCounts,
    /// Counted by backends.
    Total,
    /// Counted here: backends cannot count multi-line matches, or up to a maximum per file.
    CountedTotal,
    Nothing,
}

#[derive(Clone, Debug)]
pub(crate) struct PrintOptions {
    pub(crate) kind: OutputKind,
    pub(super) sort: SortOrder,
    pub(super) flags: PrintFlags,
    pub(super) numbers: bool,
    pub(super) columns: bool,
    /// File names precede their lines.
    pub(super) heading: bool,
    pub(super) color: bool,
    /// Escapes control characters.
    pub(super) escape: bool,
    pub(crate) before: u32,
    pub(crate) after: u32,
    /// Lines, or matches if `multi_line`.
    pub(super) per_file_max: u64,
    /// Counts matches instead of lines.
    pub(super) multi_line: bool,
    pub(super) links: Option<LinkFormat>,
    /// Hides copies.
    pub(super) folds: bool,
    /// Names are relative to the current directory in it; else they begin with the package.
    tree: Option<WorkTree>,
    /// Terminals get a last line.
    is_terminal: bool,
    /// 0 means all.
    pub(super) limit: u64,
}

impl PrintOptions {
    /// Names link to the pages of `server` by default.
    pub(crate) fn new(
        flags: &PrintFlags,
        server: Option<&str>,
        tree: Option<WorkTree>,
    ) -> PrintOptions {
        let is_terminal = std::io::stdout().is_terminal();
        let kind = kind(flags);
        let color = match flags.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let no_color = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
                let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
                is_terminal && !no_color && !is_dumb
            }
        };
        let color = color && kind != OutputKind::Json;
        let both = flags.context.unwrap_or(0);
        let found = flags.stream.then_some(SortOrder::None);
        let default_links = || LinkFormat::to_server(server?);
        PrintOptions {
            kind,
            sort: found.unwrap_or(flags.sort),
            flags: flags.clone(),
            numbers: flags.vimgrep || !flags.no_line_number,
            columns: flags.column || flags.vimgrep,
            heading: (flags.heading || (is_terminal && !flags.no_heading)) && !flags.vimgrep,
            color,
            escape: is_terminal || color,
            before: flags.before_context.unwrap_or(both),
            after: flags.after_context.unwrap_or(both),
            per_file_max: flags.max_count.unwrap_or(u64::MAX),
            multi_line: false,
            links: match &flags.hyperlink_format {
                Some(Hyperlinks::None) => None,
                Some(Hyperlinks::Format(format)) => Some(format.clone()),
                Some(Hyperlinks::Default) => default_links(),
                None if is_terminal && flags.color != ColorChoice::Never => default_links(),
                None => None,
            },
            folds: is_terminal
                && kind == OutputKind::Lines
                && flags.sort == SortOrder::Rank
                && !(flags.copies || flags.stats || flags.stream || flags.vimgrep),
            tree,
            is_terminal,
            limit: 0,
        }
    }

    /// Printed name of a file.
    pub(super) fn name(&self, document: &Document) -> Vec<u8> {
        if document.change.is_some() {
            let commit = &document.revisions.commit;
            return commit_name(&document.package, commit, &document.path);
        }
        match &self.tree {
            Some(tree) => tree.name(&document.path),
            None => [&document.package[..], b"/", &document.path].concat(),
        }
    }

    /// `None` means all.
    pub(crate) fn limit_default(&self) -> Option<u64> {
        let is_list = self.kind == OutputKind::Lines && self.sort == SortOrder::Rank;
        (self.is_terminal && is_list && !self.flags.stats).then_some(TERMINAL_MATCHES)
    }

    pub(super) fn counts_at_end(&self) -> bool {
        use OutputKind::{Files, LineCounts, Lines, MatchCounts};
        let counts = matches!(self.kind, Lines | Files | LineCounts | MatchCounts);
        self.is_terminal && counts && !self.flags.stats
    }

    /// Adapts to patterns over several lines.
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

    /// The best matches are known only at the end, so they cannot be streamed.
    pub(crate) fn limited(mut self, limit: u64) -> PrintOptions {
        self.limit = limit;
        if limit > 0 && self.sort == SortOrder::None {
            self.sort = SortOrder::Rank;
        }
        self
    }

    /// True if the maximum per file may cut a match.
    pub(super) fn cuts_spans(&self) -> bool {
        self.multi_line && self.per_file_max < u64::MAX
    }

    /// True if output waits for whole files.
    pub(super) fn is_grouped(&self) -> bool {
        self.kind == OutputKind::Json
            || self.heading
            || self.sort == SortOrder::Path
            || self.before + self.after > 0
            || self.per_file_max < u64::MAX
    }

    /// True for exact `package/path:line:text`, by rank or as found.
    pub(crate) fn is_plain(&self) -> bool {
        let flags = &self.flags;
        let changed = self.columns || self.escape || flags.null || flags.only_matching;
        let extra = flags.stats || self.links.is_some();
        self.kind == OutputKind::Lines
            && self.tree.is_none()
            && self.sort != SortOrder::Path
            && !flags.no_filename
            && self.numbers
            && !(changed || extra || self.is_grouped())
    }

    /// Text must be complete.
    pub(super) fn wants_text(&self) -> bool {
        matches!(self.kind, OutputKind::Lines | OutputKind::Json)
    }

    /// Pieces of unchanged lines can be printed one by one.
    pub(super) fn takes_pieces(&self) -> bool {
        self.kind == OutputKind::Lines
            && !self.escape
            && self.before + self.after == 0
            && !self.wants_all_ranges()
    }

    /// True if printed during the search.
    pub(crate) fn streams(&self) -> bool {
        self.sort == SortOrder::None && self.wants_text()
    }

    /// Other ranges are not used.
    pub(crate) fn takes_first_range(&self) -> bool {
        let marks = self.escape || (self.columns && self.multi_line);
        !(marks || self.wants_all_ranges())
    }

    /// True even for lines with many matches.
    pub(super) fn wants_all_ranges(&self) -> bool {
        let flags = &self.flags;
        match self.kind {
            OutputKind::Lines => {
                let marked = flags.only_matching || flags.vimgrep || self.color;
                marked || flags.stats || self.cuts_spans()
            }
            OutputKind::Json | OutputKind::MatchCounts => true,
            OutputKind::CountedTotal => self.multi_line,
            _ => flags.stats,
        }
    }
}

fn kind(flags: &PrintFlags) -> OutputKind {
    // ripgrep's precedence. `-c -o` counts the output of `-o`.
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
