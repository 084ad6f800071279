//! The flags of `trawl search` that say what is printed. Names and meanings are ripgrep's where it has
//! the flag.

use super::links::LinkFormat;

/// Above the flags for the form of the output.
const OUTPUT: &str = "Output";

/// Which matches are printed, in which order and form.
#[derive(clap::Args, Debug)]
pub(crate) struct PrintFlags {
    /// Print only the best N matches
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// The order of matches
    #[arg(long, value_enum, default_value_t = SortOrder::Rank)]
    pub(super) sort: SortOrder,
    /// Print matches while the search runs, as they are found: --sort none
    #[arg(long, conflicts_with_all = ["limit", "sort"])]
    pub(crate) stream: bool,

    /// Print the number of lines that match in each file; for a multi-line pattern, of matches
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) count: bool,
    /// Print the number of matches in each file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) count_matches: bool,
    /// Print only the total: the sum of what -c prints
    #[arg(long, help_heading = OUTPUT)]
    pub(super) total: bool,
    /// Print only the names of files with matches
    #[arg(short = 'l', long, help_heading = OUTPUT)]
    pub(super) files_with_matches: bool,
    /// Print nothing; the exit status says whether there is a match
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) quiet: bool,
    /// Print ripgrep's JSON Lines: begin, match, context, end and summary
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
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
    /// Print only the first N lines that match in each file; for a multi-line pattern, matches
    #[arg(short, long, value_name = "N", help_heading = OUTPUT)]
    pub(super) max_count: Option<u64>,
    /// Print line numbers (the default)
    #[arg(short = 'n', long, overrides_with = "no_line_number", help_heading = OUTPUT)]
    line_number: bool,
    /// Do not print line numbers
    #[arg(short = 'N', long, overrides_with = "line_number", help_heading = OUTPUT)]
    pub(super) no_line_number: bool,
    /// Print the file name with each line (the default)
    #[arg(short = 'H', long, overrides_with = "no_filename", help_heading = OUTPUT)]
    pub(super) with_filename: bool,
    /// Do not print file names
    #[arg(short = 'I', long, overrides_with = "with_filename", help_heading = OUTPUT)]
    pub(super) no_filename: bool,
    /// Print the column of the first match in the line, in bytes from 1
    #[arg(long, help_heading = OUTPUT)]
    pub(super) column: bool,
    /// Print a line for every match, with its column, as editors expect
    #[arg(long, help_heading = OUTPUT)]
    pub(super) vimgrep: bool,
    /// Print a NUL byte after file names
    #[arg(short = '0', long, help_heading = OUTPUT)]
    pub(super) null: bool,
    /// Print the file name once, above its lines [default: on a terminal]
    #[arg(long, overrides_with = "no_heading", help_heading = OUTPUT)]
    pub(super) heading: bool,
    /// Print the file name on each line [default: in a pipe]
    #[arg(long, overrides_with = "heading", help_heading = OUTPUT)]
    pub(super) no_heading: bool,
    /// When to use colors (those of ripgrep); auto respects NO_COLOR
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, help_heading = OUTPUT)]
    pub(super) color: ColorChoice,
    /// Link file names on a terminal: a URL with {package}, {path}, {line}, {column}; or `default`, the
    /// server's page of the file; or `none`
    #[arg(long, value_name = "FORMAT", value_parser = parse_hyperlinks, help_heading = OUTPUT)]
    pub(super) hyperlink_format: Option<Hyperlinks>,
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
pub(super) enum ColorChoice {
    /// On a terminal
    Auto,
    Always,
    Never,
}

/// The value of `--hyperlink-format`.
#[derive(Clone, Debug)]
pub(super) enum Hyperlinks {
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

impl PrintFlags {
    /// Lines of context before and after each match.
    pub(super) fn context_lines(&self) -> (u32, u32) {
        let both = self.context.unwrap_or(0);
        (
            self.before_context.unwrap_or(both),
            self.after_context.unwrap_or(both),
        )
    }
}
