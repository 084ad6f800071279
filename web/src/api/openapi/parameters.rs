//! Parameters, for the description: what [`Params`](super::super::params::Params) reads of an address.
//! A test holds these and the lists of what is understood to each other.

#![expect(dead_code, reason = "these are descriptions: nothing makes one")]

use frontend::page::{PER_DOCUMENT_MAX, PER_PACKAGE_MAX, PER_PAGE_MAX};
use utoipa::{IntoParams, ToSchema};

/// What is searched for, and in what time.
#[derive(IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(crate) struct Query {
    /// The query: in `mode=keyword` in the query language, else one text or regular expression.
    #[param(example = "errno EINTR lang:C")]
    #[schema(example = "errno EINTR lang:C")]
    pub(crate) q: String,
    /// How the query is read.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) mode: Option<Mode>,
    /// Whether upper and lower case differ: `auto` when the text has an upper case letter. The default
    /// is `auto` of keywords, and else `yes`.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) case: Option<Case>,
    /// Whether only whole words match.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) word: Option<YesNo>,
    /// Only documents of these languages; with a `-` in front, of no such.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) lang: Option<Vec<String>>,
    /// Only packages whose name this is found in: a regular expression, a glob, or `=` and the name;
    /// with a `-` in front, all but those.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) package: Option<Vec<String>>,
    /// Only documents in whose path this is found; likewise.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) path: Option<Vec<String>>,
    /// Lines of context before and after each match; 2 when nobody says.
    #[param(nullable = false, minimum = 0, maximum = 10)]
    #[schema(nullable = false, minimum = 0, maximum = 10)]
    pub(crate) context: Option<u32>,
    /// What is wanted: all matches, the first of each document, or how many there are.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) want: Option<Want>,
    /// Only the best so many; 0: all.
    #[param(nullable = false, minimum = 0, maximum = 10_000)]
    #[schema(nullable = false, minimum = 0, maximum = 10_000)]
    pub(crate) limit: Option<u64>,
    /// The time the search has: seconds, or milliseconds as `500ms`. What was found by then is the
    /// answer, which says that it is incomplete.
    #[param(nullable = false, example = "2")]
    #[schema(nullable = false, example = "2")]
    pub(crate) timeout: Option<String>,
    /// The documents of an earlier answer, as its `generation` names them.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) generation: Option<String>,
}

/// Which part of an answer, and how.
#[derive(IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(crate) struct View {
    /// The page's number, from 0.
    #[param(nullable = false, minimum = 0)]
    #[schema(nullable = false, minimum = 0)]
    pub(crate) page: Option<u64>,
    /// Matches on a page (10), or packages (5), or documents (10).
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    #[schema(nullable = false, minimum = 1, maximum = 1000)]
    pub(crate) per_page: Option<usize>,
    /// What the items of a page are: matches, packages or documents, all by the best match.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) group: Option<Group>,
    /// Matches of a package.
    #[param(nullable = false, minimum = 1, maximum = 10)]
    #[schema(nullable = false, minimum = 1, maximum = 10)]
    pub(crate) per_package: Option<usize>,
    /// Matches of a document.
    #[param(nullable = false, minimum = 1, maximum = 5)]
    #[schema(nullable = false, minimum = 1, maximum = 5)]
    pub(crate) per_document: Option<usize>,
    /// `false`: what is known so far, and an id to ask again with.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) wait: Option<bool>,
    /// Whether the answer says how the index was used.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) explain: Option<bool>,
    /// What an earlier page had as `next`: this one begins there, and is of the same answer. Then `q`
    /// may be left out.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) cursor: Option<String>,
}

const _: () = assert!(PER_PAGE_MAX == 1000 && PER_PACKAGE_MAX == 10 && PER_DOCUMENT_MAX == 5);

/// The body of a long search: what an address says, as JSON.
#[derive(ToSchema)]
#[schema(as = SearchRequest, example = json!({"q": "errno EINTR", "lang": ["C"], "per_page": 5}))]
pub(crate) struct SearchRequest {
    #[serde(flatten)]
    query: Query,
    #[serde(flatten)]
    view: View,
}

/// What an export is made of.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Export {
    /// JSON Lines, CSV with a header line, paths of documents alone, or `package/path:line:text`.
    #[param(inline, nullable = false)]
    format: Option<ExportFormat>,
    /// With `format=paths`: a NUL byte behind each path, not a line feed.
    #[param(nullable = false)]
    null: Option<bool>,
    /// Best first, when the search is done; or as they are found, with `format=jsonl` or `text`.
    #[param(inline, nullable = false)]
    order: Option<ExportOrder>,
}

/// Which form a list has.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Format {
    /// JSON, or names alone, one a line.
    #[param(inline, nullable = false)]
    format: Option<ListFormat>,
}

/// Which document, and which part of it.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct File {
    /// The package, as its directory was named.
    #[param(example = "package2_1.2")]
    package: String,
    /// The path in it.
    #[param(example = "src/file2.c")]
    path: String,
    /// The first byte.
    #[param(nullable = false, minimum = 0)]
    offset: Option<u64>,
    /// How many bytes at most; a backend may send less.
    #[param(nullable = false, minimum = 0)]
    count: Option<u64>,
}

/// Which part of a list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Part {
    /// What an earlier answer had as `next`.
    #[param(nullable = false)]
    after: Option<String>,
    /// How many at most.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    count: Option<u32>,
}

/// Which packages.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Prefix {
    /// What their directories' names begin with.
    #[param(nullable = false)]
    prefix: Option<String>,
}

/// Which directory.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Directory {
    /// The package, by its name or as its directory was named.
    #[param(example = "package2_1.2")]
    package: String,
    /// The directory in it; none: the package.
    #[param(nullable = false)]
    path: Option<String>,
}

/// What is not found.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Missed {
    /// The package, by its name or as its directory was named; none: all.
    #[param(nullable = false)]
    package: Option<String>,
    /// A path in it.
    #[param(nullable = false)]
    path: Option<String>,
}

/// Names a search.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Id {
    /// The `id` of an answer.
    id: String,
}

macro_rules! words {
    ($($name:ident { $($word:ident),* })*) => {
        $(#[derive(ToSchema)]
        #[schema(rename_all = "lowercase")]
        pub(crate) enum $name { $($word),* })*
    };
}

words! {
    Mode { Keyword, Literal, Regexp }
    Case { Auto, Yes, No }
    YesNo { Yes, No }
    Want { Matches, Documents, Count }
    Group { None, Package, Document }
    ExportOrder { Rank, Found }
    ExportFormat { Jsonl, Csv, Paths, Text }
    ListFormat { Json, Text }
}
