//! The flags of `trawl search`: ripgrep's names where it has one, and what they mean together.

use super::links::Links;
use std::path::PathBuf;

/// Search, and print package/path:line:text, best first
///
/// QUERY is words that a file must all contain, and filters: `fopen path:^src/ -lang:c`. With -F it
/// is looked for as it is, with -e it is a regular expression. A match is a line.
///
/// Exit status: 0 when something was found, 1 when nothing was, 2 after an error, 3 when some of
/// the corpus could not be searched.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  trawl search TCP_NODELAY
  trawl search 'malloc free lang:c -path:test'     lines of files that have both words
  trawl search --index I -e 'fopen\\(.*\"r\"'
  trawl search -F 'errno == EINTR' -C 2            as it is, with two lines around
  trawl search -l type:path '\\.h$'                 names of files
  trawl search -c --sort path printf               how many lines of each file
  trawl search --json printf                       for programs that read `rg --json`
  trawl search --package =i3-wm --path '^src/' --path -test --lang c malloc
                                                   files of C below src in the package i3-wm,
                                                   but those with `test` in their path
  trawl search -F -- --pipe                        a query that begins with a dash")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) place: Place,
    #[command(flatten)]
    pub(super) asked: Asked,
    #[command(flatten)]
    pub(super) filters: Filters,
    /// Print only the best N matches
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<u64>,
    /// In which order: best first, by path, or as they are found
    #[arg(long, value_enum, default_value_t = Sort::Rank)]
    pub(super) sort: Sort,
    /// Print matches as they are found, instead of best first: --sort none
    #[arg(long, conflicts_with_all = ["limit", "sort"])]
    pub(super) stream: bool,

    /// Print how many lines match in each file; of a pattern over lines, how many matches
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) count: bool,
    /// Print how many matches there are in each file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) count_matches: bool,
    /// Print how many lines match in all, and nothing else: what -c prints, added
    #[arg(long, help_heading = OUTPUT)]
    pub(super) total: bool,
    /// Print the names of the files with matches
    #[arg(short = 'l', long, help_heading = OUTPUT)]
    pub(super) files_with_matches: bool,
    /// Print nothing: the exit status says whether there is a match
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) quiet: bool,
    /// Print ripgrep's JSON Lines: begin, match, context, end and summary
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
    /// Print only what matches of each line
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
    /// Print at most N lines of each file: the first; of a pattern over lines, the first N matches
    #[arg(short, long, value_name = "N", help_heading = OUTPUT)]
    pub(super) max_count: Option<u64>,
    /// Print line numbers (as is the default)
    #[arg(short = 'n', long, overrides_with = "no_line_number", help_heading = OUTPUT)]
    line_number: bool,
    /// Print no line numbers
    #[arg(short = 'N', long, overrides_with = "line_number", help_heading = OUTPUT)]
    pub(super) no_line_number: bool,
    /// Print the file's name with each line (as is the default)
    #[arg(short = 'H', long, overrides_with = "no_filename", help_heading = OUTPUT)]
    pub(super) with_filename: bool,
    /// Print no file names
    #[arg(short = 'I', long, overrides_with = "with_filename", help_heading = OUTPUT)]
    pub(super) no_filename: bool,
    /// Print the column of the first match, in bytes from 1
    #[arg(long, help_heading = OUTPUT)]
    pub(super) column: bool,
    /// Print a line for each match, with its column: as editors read it
    #[arg(long, help_heading = OUTPUT)]
    pub(super) vimgrep: bool,
    /// Print a NUL behind names
    #[arg(short = '0', long, help_heading = OUTPUT)]
    pub(super) null: bool,
    /// Print names above their lines [default: on a terminal]
    #[arg(long, overrides_with = "no_heading", help_heading = OUTPUT)]
    pub(super) heading: bool,
    /// Print the name with each line [default: in a pipe]
    #[arg(long, overrides_with = "heading", help_heading = OUTPUT)]
    pub(super) no_heading: bool,
    /// When to use colours, which are ripgrep's; NO_COLOR is respected
    #[arg(long, value_enum, default_value_t = Colour::Auto, help_heading = OUTPUT)]
    pub(super) color: Colour,
    /// Where names lead to on a terminal: an address with {package}, {path}, {line}, {column};
    /// `default`, which is the server's page; or `none`
    #[arg(long, value_name = "FORMAT", value_parser = parse_links, help_heading = OUTPUT)]
    hyperlink_format: Option<LinkFormat>,
    /// Print at the end what was found and searched
    #[arg(long, help_heading = OUTPUT)]
    pub(super) stats: bool,
    /// Say on standard error how the index was used, and whether all of the text had to be scanned
    #[arg(long, help_heading = OUTPUT)]
    pub(super) explain: bool,
}

/// Above the flags that say what is printed.
const OUTPUT: &str = "Output";

/// Who is asked.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Place {
    /// The server to ask [default: $TRAWL_SERVER, or http://127.0.0.1:8080]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Search this index directory instead, without a server
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    pub(crate) index: Option<PathBuf>,
}

impl Place {
    /// The server's address, whose scheme need not be typed.
    pub(crate) fn server(&self) -> String {
        const DEFAULT: &str = "http://127.0.0.1:8080";
        let set = || std::env::var("TRAWL_SERVER").ok();
        let given = self.server.clone().or_else(set);
        let address = given.filter(|address| !address.is_empty());
        match address {
            Some(address) if address.contains("://") => address,
            Some(address) => format!("http://{address}"),
            None => DEFAULT.to_owned(),
        }
    }
}

/// What is asked, and how it is read.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Asked {
    /// How QUERY is read
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) mode: Option<Mode>,
    /// Look for QUERY as it is: --mode literal; with -e, for its text
    #[arg(short = 'F', long, conflicts_with = "mode")]
    pub(crate) fixed_strings: bool,
    /// Look for a regular expression (that of Rust's regex crate); of several, for any
    #[arg(
        short = 'e',
        long,
        value_name = "REGEXP",
        allow_hyphen_values = true,
        conflicts_with = "mode"
    )]
    pub(crate) regexp: Vec<String>,
    /// Ignore case
    #[arg(short, long, overrides_with_all = ["case_sensitive", "smart_case"])]
    pub(crate) ignore_case: bool,
    /// Do not ignore case (the default of -F and -e)
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    pub(crate) case_sensitive: bool,
    /// Ignore case unless there is an upper case letter (the default without -F and -e)
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    pub(crate) smart_case: bool,
    /// Find whole words
    #[arg(short, long)]
    pub(crate) word_regexp: bool,
    /// What to search for
    #[arg(
        value_name = "QUERY",
        required_unless_present = "regexp",
        conflicts_with = "regexp"
    )]
    pub(crate) query: Option<String>,
}

/// Which files are searched. All filters must hold, also those that are given again.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Filters {
    /// Search packages with REGEXP in their name, or =NAME; with a - in front, all others
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    pub(super) package: Vec<String>,
    /// Search files with REGEXP in their path, or =PATH; with a - in front, all others
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    pub(super) path: Vec<String>,
    /// Search files in this language, in any case; with a - in front, all others
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(super) lang: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Mode {
    /// Words that must all be there, filters, `or`, `-`, /regexp/
    Keyword,
    /// Every character stands for itself
    Literal,
    /// A regular expression
    Regexp,
}

/// In which order matches are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Sort {
    /// Best first
    Rank,
    /// By package, path and line
    Path,
    /// As they are found
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Colour {
    /// On a terminal
    Auto,
    Always,
    Never,
}

/// What was given as a format of hyperlinks.
#[derive(Clone, Debug)]
enum LinkFormat {
    None,
    Default,
    Format(Links),
}

fn parse_links(format: &str) -> Result<LinkFormat, String> {
    Ok(match format {
        "none" | "" => LinkFormat::None,
        "default" => LinkFormat::Default,
        format => LinkFormat::Format(Links::parse(format)?),
    })
}

impl Asked {
    /// How the query's text is read.
    pub(crate) fn mode(&self) -> Mode {
        match self.mode {
            Some(mode) => mode,
            None if self.fixed_strings => Mode::Literal,
            None if !self.regexp.is_empty() => Mode::Regexp,
            None => Mode::Keyword,
        }
    }
}

impl Arguments {
    /// Lines before and after each match.
    pub(super) fn context(&self) -> (u32, u32) {
        let around = self.context.unwrap_or(0);
        (
            self.before_context.unwrap_or(around),
            self.after_context.unwrap_or(around),
        )
    }

    /// Where names lead to.
    pub(super) fn links(&self, is_terminal: bool) -> Option<Links> {
        let default = || match self.place.index {
            // An index does not know where its sources are.
            Some(_) => None,
            None => Links::of_server(&self.place.server()),
        };
        match &self.hyperlink_format {
            Some(LinkFormat::None) => None,
            Some(LinkFormat::Format(links)) => Some(links.clone()),
            Some(LinkFormat::Default) => default(),
            None => default().filter(|_| is_terminal && self.color != Colour::Never),
        }
    }
}
