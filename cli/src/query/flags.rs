//! The flags that make a query: the query's text, how it is read, and filters.

use schema::message::Field;

/// The query and how it is read.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct QueryFlags {
    /// How to read QUERY
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<QueryMode>,
    /// Search for exactly this text (--mode literal); with -e, every REGEXP is a literal
    #[arg(short = 'F', long, conflicts_with = "mode")]
    fixed_strings: bool,
    /// Search for a regular expression (syntax of Rust's regex crate); may be repeated: any may match
    #[arg(
        short = 'e',
        long,
        value_name = "REGEXP",
        allow_hyphen_values = true,
        conflicts_with = "mode"
    )]
    pub(super) regexp: Vec<String>,
    /// Ignore case
    #[arg(short, long, overrides_with_all = ["case_sensitive", "smart_case"])]
    ignore_case: bool,
    /// Respect case (the default of -F and -e)
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    case_sensitive: bool,
    /// Ignore case unless QUERY has an upper case letter (the default without -F and -e)
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    smart_case: bool,
    /// Match whole words only
    #[arg(short, long)]
    pub(super) word_regexp: bool,
    /// What to search for
    #[arg(
        value_name = "QUERY",
        required_unless_present = "regexp",
        conflicts_with = "regexp"
    )]
    pub(super) query: Option<String>,
    #[command(flatten)]
    filters: FilterFlags,
}

/// Which files are searched. A file must pass all filters.
#[derive(clap::Args, Clone, Debug, Default)]
struct FilterFlags {
    /// Search packages with REGEXP in their name, or the package =NAME; -REGEXP excludes
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    package: Vec<String>,
    /// Search files with REGEXP in their path, or the file =PATH; -REGEXP excludes
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    path: Vec<String>,
    /// Search files in this language, such as c or Python; -NAME excludes
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    lang: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum QueryMode {
    /// Words that a file must all contain, filters, `or`, `-`, /regexp/
    Keyword,
    /// Every character stands for itself
    Literal,
    /// A regular expression
    Regexp,
}

impl QueryFlags {
    /// The name of the mode in the API.
    pub(super) fn mode(&self) -> &'static str {
        match self.mode {
            Some(QueryMode::Keyword) => "keyword",
            Some(QueryMode::Literal) => "literal",
            Some(QueryMode::Regexp) => "regexp",
            None if self.fixed_strings => "literal",
            None if !self.regexp.is_empty() => "regexp",
            None => "keyword",
        }
    }

    /// The value of `case` in the API, if a flag gives one.
    pub(super) fn case(&self) -> Option<&'static str> {
        let values = [
            (self.ignore_case, "no"),
            (self.case_sensitive, "yes"),
            (self.smart_case, "auto"),
        ];
        values
            .iter()
            .find_map(|(given, value)| given.then_some(*value))
    }

    /// The filters as they were typed.
    pub(super) fn filters(&self) -> Vec<(Field, &str)> {
        let FilterFlags {
            package,
            path,
            lang,
        } = &self.filters;
        [
            (Field::Package, package),
            (Field::Path, path),
            (Field::Language, lang),
        ]
        .into_iter()
        .flat_map(|(field, typed)| typed.iter().map(move |text| (field, &text[..])))
        .collect()
    }
}
