//! Descriptions of parameters and problems: those that [`Params`](crate::params::Params) reads, and
//! the responses of operations. A test compares the parameters with the lists of known ones.

#![expect(dead_code, reason = "descriptions are never constructed")]

use crate::api::export::format::Order;
use crate::choice::{Case, Copies, Group, Mode};
use crate::model::ProblemDocument;
use frontend::page::{PER_DOCUMENT_MAX, PER_PACKAGE_MAX, PER_PAGE_MAX};
use utoipa::{IntoParams, IntoResponses, ToSchema};

/// The query and its execution.
#[derive(IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[schema(as = Query)]
pub(crate) struct QueryParams {
    /// The query: with `mode=keyword` in the query language, else a text or a regular expression.
    #[param(example = "errno EINTR lang:C")]
    #[schema(example = "errno EINTR lang:C")]
    pub(crate) q: String,
    /// How the query is read.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) mode: Option<Mode>,
    /// Whether upper and lower case differ. `auto`: if the text has an upper case letter. The default is
    /// `auto` for keywords, else `yes`.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) case: Option<Case>,
    /// Whether only whole words match.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) word: Option<WordChoice>,
    /// Only documents in these languages; with a leading `-`, in other languages.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) lang: Option<Vec<String>>,
    /// Only packages whose name matches a regular expression, a glob, or `=` and the exact name; with a
    /// leading `-`, all other packages.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) package: Option<Vec<String>>,
    /// Only documents whose path matches; written like `package`.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) path: Option<Vec<String>>,
    /// Only documents of these revisions of git repositories: branches, tags, 7 or more digits of a commit id,
    /// or globs; with a leading `-`, all others. Absent, as is `branch`: the default revision of each.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) rev: Option<Vec<String>>,
    /// Only documents of these branches; written like `rev`.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) branch: Option<Vec<String>>,
    /// Only documents of these kinds: `source`, `documentation`, `tests` or `vendored`; with a leading `-`, of all
    /// other kinds.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) kind: Option<Vec<String>>,
    /// Lines of context before and after each match. The default is 2.
    #[param(nullable = false, minimum = 0, maximum = 10)]
    #[schema(nullable = false, minimum = 0, maximum = 10)]
    pub(crate) context: Option<u32>,
    /// All matches, the first match of each document, or only their number.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) want: Option<WantChoice>,
    /// How many of the best matches to return; 0: all.
    #[param(nullable = false, minimum = 0, maximum = 10_000)]
    #[schema(nullable = false, minimum = 0, maximum = 10_000)]
    pub(crate) limit: Option<u64>,
    /// With `limit`: `exact` (the default), or `estimate`: matches beyond the limit need not be counted, so the best
    /// ones are often found without looking at the others.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) total: Option<TotalChoice>,
    /// The time limit of the search: seconds, or milliseconds such as `500ms`. The answer then has what
    /// was found by that time, and says that it is incomplete.
    #[param(nullable = false, example = "2")]
    #[schema(nullable = false, example = "2")]
    pub(crate) timeout: Option<String>,
    /// Search the documents of an earlier answer: its `generation`.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) generation: Option<String>,
}

/// A part of an answer.
#[derive(IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[schema(as = View)]
pub(crate) struct ViewParams {
    /// The page's number, from 0.
    #[param(nullable = false, minimum = 0)]
    #[schema(nullable = false, minimum = 0)]
    pub(crate) page: Option<u64>,
    /// Matches on a page (10), or packages (5), or documents (10).
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    #[schema(nullable = false, minimum = 1, maximum = 1000)]
    pub(crate) per_page: Option<usize>,
    /// The items of a page: matches, packages or documents, ordered by their best match.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) group: Option<Group>,
    /// Matches for each package.
    #[param(nullable = false, minimum = 1, maximum = 10)]
    #[schema(nullable = false, minimum = 1, maximum = 10)]
    pub(crate) per_package: Option<usize>,
    /// Matches for each document.
    #[param(nullable = false, minimum = 1, maximum = 5)]
    #[schema(nullable = false, minimum = 1, maximum = 5)]
    pub(crate) per_document: Option<usize>,
    /// `folded` shows one of the documents that have the same text and the same matching lines,
    /// the one whose best match comes first; a group by package has all. The default is `all`.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) copies: Option<Copies>,
    /// `false`: answer at once with what is known so far, and an id for the next request. `fresh`: wait until what has
    /// changed before the request is in the index (see `pending`), for half of the search's time at most.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) wait: Option<WaitChoice>,
    /// Whether to say how the index was used.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) explain: Option<bool>,
    /// `next` of an earlier page, to continue the same answer there. Then `q` may be left out.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) cursor: Option<String>,
}

/// What a search waits for.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitParam {
    /// `fresh`: begin when what has changed before the request is in the index, or half of the search's time is over.
    #[param(inline, nullable = false)]
    wait: Option<WaitChoice>,
}

const _: () = assert!(PER_PAGE_MAX == 1000 && PER_PACKAGE_MAX == 10 && PER_DOCUMENT_MAX == 5);

/// The body of a search: the parameters of an address, as JSON.
#[derive(ToSchema)]
#[schema(as = SearchRequest, example = json!({"q": "errno EINTR", "lang": ["C"], "per_page": 5}))]
pub(crate) struct SearchRequest {
    #[serde(flatten)]
    query: QueryParams,
    #[serde(flatten)]
    view: ViewParams,
}

/// A match, and a part of the list of its copies.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CopiesParams {
    /// The match's position among all matches, from 0: `copies.position` of a match.
    #[param(minimum = 0)]
    pub(crate) position: u64,
    /// The page's number, from 0.
    #[param(nullable = false, minimum = 0)]
    pub(crate) page: Option<u64>,
    /// Documents on a page (100).
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    pub(crate) per_page: Option<usize>,
}

/// The form of an export.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportParams {
    /// JSON Lines, CSV with a header line, only the paths of documents, or `package/path:line:text`.
    #[param(inline, nullable = false)]
    format: Option<ExportFormat>,
    /// With `format=paths`: end each path with a NUL byte, not a line feed.
    #[param(nullable = false)]
    null: Option<bool>,
    /// Best first, once the search has ended; or as they are found, with `format=jsonl` or `text`.
    #[param(inline, nullable = false)]
    order: Option<Order>,
    /// With `format=text`: the last line is JSON that says whether the export is complete, as that of `jsonl` with
    /// `order=found` does. Its `total` counts lines.
    #[param(nullable = false)]
    end: Option<bool>,
}

/// The form of a list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FormatParam {
    /// JSON, or only names, one a line.
    #[param(inline, nullable = false)]
    format: Option<ListFormat>,
}

/// A query that is being typed.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CompleteParams {
    /// The query until now.
    #[param(example = "errno lang:py")]
    q: String,
    /// Where the user types, in bytes of `q`; absent: at its end.
    #[param(nullable = false, minimum = 0)]
    at: Option<usize>,
}

/// A file.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileParams {
    /// The package, as its directory was named.
    #[param(example = "package2_1.2")]
    package: String,
    /// The path within the package.
    #[param(example = "src/file2.c")]
    path: String,
    /// A revision of a git repository: a branch, a tag, or 7 or more digits of a commit id; absent: the default one.
    #[param(nullable = false, example = "v1.0")]
    rev: Option<String>,
}

/// A part of a document.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BytesParams {
    /// The first byte.
    #[param(nullable = false, minimum = 0)]
    offset: Option<u64>,
    /// The maximum number of bytes. A backend may send less.
    #[param(nullable = false, minimum = 0)]
    count: Option<u64>,
}

/// A part of a list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PartParams {
    /// `next` of an earlier answer.
    #[param(nullable = false)]
    after: Option<String>,
    /// The maximum number of entries.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    count: Option<u32>,
}

/// Some packages.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PrefixParam {
    /// The beginning of the names of their directories.
    #[param(nullable = false)]
    prefix: Option<String>,
}

/// A directory.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DirectoryParams {
    /// The package: its name, or the name of its directory.
    #[param(example = "package2_1.2")]
    package: String,
    /// The directory within the package; absent: the package itself.
    #[param(nullable = false)]
    path: Option<String>,
}

/// A package or a path that a search does not find.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MissedParams {
    /// The package: its name, or the name of its directory; absent: all packages.
    #[param(nullable = false)]
    package: Option<String>,
    /// A path within the package.
    #[param(nullable = false)]
    path: Option<String>,
}

/// A repository.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RepositoryParam {
    /// The repository: its path below the directory of repositories, without `.git` at its end.
    #[param(example = "project")]
    repo: String,
}

/// A revision of a repository.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RevisionParams {
    /// The repository: its path below the directory of repositories, without `.git` at its end.
    #[param(example = "project")]
    repo: String,
    /// A branch, a tag, an id or its beginning, or an expression such as `HEAD~25` or `v1.0^{commit}`; absent:
    /// the default branch.
    #[param(nullable = false, example = "HEAD~1")]
    rev: Option<String>,
}

/// A file of a repository.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PathParam {
    /// The path of the file.
    #[param(example = "src/main.c")]
    path: String,
}

/// How much of a list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CountParam {
    /// The maximum number of entries.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    count: Option<u32>,
}

/// A part of a history.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogParams {
    /// Only commits that changed this file or directory.
    #[param(nullable = false)]
    path: Option<String>,
    /// `next` of an earlier answer.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// The maximum number of commits.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    count: Option<u32>,
}

/// A search.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct IdParam {
    /// The `id` or the `link` of an answer.
    id: String,
}

macro_rules! names {
    ($($name:ident { $($value:ident),* })*) => {
        $(#[derive(ToSchema)]
        #[schema(rename_all = "lowercase")]
        pub(crate) enum $name { $($value),* })*
    };
}

names! {
    WordChoice { Yes, No }
    WantChoice { Matches, Documents, Count }
    TotalChoice { Exact, Estimate }
    WaitChoice { True, False, Fresh }
    ExportFormat { Jsonl, Csv, Paths, Text }
    ListFormat { Json, Text }
}

/// Responses of any operation.
#[derive(IntoResponses)]
pub(crate) enum Any {
    /// A parameter or the query is malformed.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemDocument),
}

/// Responses of an operation that searches.
#[derive(IntoResponses)]
pub(crate) enum Searching {
    /// A parameter or the query is malformed.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemDocument),
    /// The generation is no longer kept, or the cursor has expired.
    #[response(status = 410, content_type = "application/problem+json")]
    Gone(ProblemDocument),
    /// The stored answer is damaged.
    #[response(status = 500, content_type = "application/problem+json")]
    Damaged(ProblemDocument),
    /// Too many heavy queries are running; `Retry-After` says when to try again.
    #[response(status = 503, content_type = "application/problem+json")]
    Overloaded(ProblemDocument),
}

/// There is no such search, page, file, package or directory.
#[derive(IntoResponses)]
#[response(status = 404, content_type = "application/problem+json")]
pub(crate) struct NotFound(ProblemDocument);

/// The revision is no longer indexed, and no backend can read it; `newest` has the file.
#[derive(IntoResponses)]
#[response(status = 410, content_type = "application/problem+json")]
pub(crate) struct NotIndexed(ProblemDocument);

/// Responses of an operation that asks a repository.
#[derive(IntoResponses)]
pub(crate) enum Repositories {
    /// The repository or the revision is unknown or ambiguous, or no backend has repositories.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDocument),
    /// The repository cannot be read.
    #[response(status = 502, content_type = "application/problem+json")]
    Unreadable(ProblemDocument),
    /// A backend that may have the repository cannot be reached, or was too slow.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(ProblemDocument),
}

/// The client already has the answer.
#[derive(IntoResponses)]
#[response(status = 304)]
pub(crate) struct Unchanged;

/// A backend that may have the answer cannot be reached.
#[derive(IntoResponses)]
#[response(status = 503, content_type = "application/problem+json")]
pub(crate) struct BackendLost(ProblemDocument);

/// Responses of an operation with a body.
#[derive(IntoResponses)]
pub(crate) enum Body {
    /// The body did not arrive in time.
    #[response(status = 408, content_type = "application/problem+json")]
    Slow(ProblemDocument),
    /// The body has too many bytes.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(ProblemDocument),
    /// The body is not JSON.
    #[response(status = 415, content_type = "application/problem+json")]
    Unsupported(ProblemDocument),
}

/// Responses that every request may get.
#[derive(IntoResponses)]
pub(crate) enum AnyRequest {
    /// The server asks for a key, and the request has none that is known.
    #[response(status = 401, content_type = "application/problem+json")]
    KeyNeeded(ProblemDocument),
    /// The address is too long.
    #[response(status = 414, content_type = "application/problem+json")]
    LongAddress(ProblemDocument),
    /// The headers are too long.
    #[response(status = 431, content_type = "application/problem+json")]
    LongHeaders(ProblemDocument),
}
