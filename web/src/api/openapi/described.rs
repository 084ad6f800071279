//! Parameters that [`Params`](crate::search::params::Params) reads, and responses. A test compares
//! the parameters with the known ones.

#![expect(dead_code, reason = "descriptions are never constructed")]

use crate::api::export::format::Order;
use crate::problem::ProblemDocument;
use crate::search::choice::{Case, Copies, Group, Mode};
use frontend::page::{PER_DOCUMENT_MAX, PER_PACKAGE_MAX, PER_PAGE_MAX};
use utoipa::{IntoParams, IntoResponses, ToSchema};

/// Query and its execution.
#[derive(IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[schema(as = Query)]
pub(crate) struct QueryParams {
    /// Query: with `mode=keyword` in the query language, else a text or a regular expression.
    #[param(example = "errno EINTR lang:C")]
    #[schema(example = "errno EINTR lang:C")]
    pub(crate) q: String,
    /// Syntax of the query.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) mode: Option<Mode>,
    /// Case sensitivity. `auto`: only if the text has an upper case letter. The default is `auto`
    /// for keywords, else `yes`.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) case: Option<Case>,
    /// Match whole words only.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) word: Option<WordChoice>,
    /// Documents in these languages; with a leading `-`, in others.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) lang: Option<Vec<String>>,
    /// Packages with a name that matches a regular expression, a glob, or `=` and the exact name;
    /// with a leading `-`, all others.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) package: Option<Vec<String>>,
    /// Documents with a matching path; written like `package`.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) path: Option<Vec<String>>,
    /// Documents of these git revisions: branches, tags, 7 or more digits of a commit id, or globs;
    /// with a leading `-`, all others. Without it and `branch`: the default revision of each
    /// repository.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) rev: Option<Vec<String>>,
    /// Documents of these branches; written like `rev`.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) branch: Option<Vec<String>>,
    /// Documents of these kinds: `source`, `documentation`, `tests` or `vendored`; with a leading
    /// `-`, of others.
    #[param(nullable = false, explode = true)]
    #[schema(nullable = false)]
    pub(crate) kind: Option<Vec<String>>,
    /// Lines of context before and after each match (2).
    #[param(nullable = false, minimum = 0, maximum = 10)]
    #[schema(nullable = false, minimum = 0, maximum = 10)]
    pub(crate) context: Option<u32>,
    /// All matches, the first match of each document, or only their number.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) want: Option<WantChoice>,
    /// Number of best matches to return; 0: all.
    #[param(nullable = false, minimum = 0, maximum = 10_000)]
    #[schema(nullable = false, minimum = 0, maximum = 10_000)]
    pub(crate) limit: Option<u64>,
    /// With `limit`: `exact` (the default), or `estimate`: matches beyond the limit need not be
    /// counted, which often finds the best ones sooner.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) total: Option<TotalChoice>,
    /// Time limit of the search: seconds, or milliseconds such as `500ms`. Then the answer is
    /// incomplete.
    #[param(nullable = false, example = "2")]
    #[schema(nullable = false, example = "2")]
    pub(crate) timeout: Option<String>,
    /// `generation` of an earlier answer, to search the same documents.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) generation: Option<String>,
}

/// Part of an answer.
#[derive(IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[schema(as = View)]
pub(crate) struct ViewParams {
    /// Page number, from 0.
    #[param(nullable = false, minimum = 0)]
    #[schema(nullable = false, minimum = 0)]
    pub(crate) page: Option<u64>,
    /// Matches on a page (10), or packages (5), or documents (10).
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    #[schema(nullable = false, minimum = 1, maximum = 1000)]
    pub(crate) per_page: Option<usize>,
    /// Items of a page: matches, packages or documents, ordered by their best match.
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
    /// `folded` shows only the best of the documents with the same text and matching lines; a group
    /// by package has all. The default is `all`.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) copies: Option<Copies>,
    /// `false`: answer at once with the results so far, and an id for the next request. `fresh`:
    /// wait until earlier changes are indexed (see `pending`), for half of the search's time at
    /// most.
    #[param(inline, nullable = false)]
    #[schema(inline, nullable = false)]
    pub(crate) wait: Option<WaitChoice>,
    /// Report the use of the index.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) explain: Option<bool>,
    /// `next` of an earlier page, to continue the same answer; `q` may be omitted.
    #[param(nullable = false)]
    #[schema(nullable = false)]
    pub(crate) cursor: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitParam {
    /// `fresh`: begin once earlier changes are indexed, or half of the search's time is over.
    #[param(inline, nullable = false)]
    wait: Option<WaitChoice>,
}

const _: () = assert!(PER_PAGE_MAX == 1000 && PER_PACKAGE_MAX == 10 && PER_DOCUMENT_MAX == 5);

/// Body of a search: the parameters of an address, as JSON.
#[derive(ToSchema)]
#[schema(as = SearchRequest, example = json!({"q": "errno EINTR", "lang": ["C"], "per_page": 5}))]
pub(crate) struct SearchRequest {
    #[serde(flatten)]
    query: QueryParams,
    #[serde(flatten)]
    view: ViewParams,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CopiesParams {
    /// `copies.position` of a match.
    #[param(minimum = 0)]
    pub(crate) position: u64,
    /// Page number, from 0.
    #[param(nullable = false, minimum = 0)]
    pub(crate) page: Option<u64>,
    /// Documents on a page (100).
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    pub(crate) per_page: Option<usize>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportParams {
    /// JSON Lines, CSV with a header line, only the paths of documents, or
    /// `package/path:line:text`.
    #[param(inline, nullable = false)]
    format: Option<ExportFormat>,
    /// With `format=paths`: end each path with a NUL byte instead of a line feed.
    #[param(nullable = false)]
    null: Option<bool>,
    /// Best first, after the search has ended; or as found, with `format=jsonl` or `text`.
    #[param(inline, nullable = false)]
    order: Option<Order>,
    /// With `format=text`: end with a line of JSON, like `jsonl` with `order=found`, that tells
    /// whether the export is complete. Its `total` counts lines.
    #[param(nullable = false)]
    end: Option<bool>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FormatParam {
    /// JSON, or only names, one a line.
    #[param(inline, nullable = false)]
    format: Option<ListFormat>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CompleteParams {
    /// Query so far.
    #[param(example = "errno lang:py")]
    q: String,
    /// Position of the cursor, in bytes of `q`; absent: at its end.
    #[param(nullable = false, minimum = 0)]
    at: Option<usize>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileParams {
    /// Package, named after its directory.
    #[param(example = "package2_1.2")]
    package: String,
    /// Path within the package.
    #[param(example = "src/file2.c")]
    path: String,
    /// Git revision: a branch, a tag, or 7 or more digits of a commit id; absent: the default one.
    #[param(nullable = false, example = "v1.0")]
    rev: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BytesParams {
    /// First byte.
    #[param(nullable = false, minimum = 0)]
    offset: Option<u64>,
    /// Maximum number of bytes. A backend may send less.
    #[param(nullable = false, minimum = 0)]
    count: Option<u64>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PartParams {
    /// `next` of an earlier answer.
    #[param(nullable = false)]
    after: Option<String>,
    /// Maximum number of entries.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    count: Option<u32>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PrefixParam {
    /// Beginning of the names of their directories.
    #[param(nullable = false)]
    prefix: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DirectoryParams {
    /// Package: its name, or the name of its directory.
    #[param(example = "package2_1.2")]
    package: String,
    /// Directory within the package; absent: the package itself.
    #[param(nullable = false)]
    path: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MissedParams {
    /// Package: its name, or the name of its directory; absent: all packages.
    #[param(nullable = false)]
    package: Option<String>,
    /// Path within the package.
    #[param(nullable = false)]
    path: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RepositoryParam {
    /// Repository: its path below the directory of repositories, without `.git` at its end.
    #[param(example = "project")]
    repo: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RevisionParams {
    /// Repository: its path below the directory of repositories, without `.git` at its end.
    #[param(example = "project")]
    repo: String,
    /// Branch, tag, id or its beginning, or an expression such as `HEAD~25` or `v1.0^{commit}`;
    /// absent: the default branch.
    #[param(nullable = false, example = "HEAD~1")]
    rev: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PathParam {
    /// Path of the file.
    #[param(example = "src/main.c")]
    path: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CountParam {
    /// Maximum number of entries.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    count: Option<u32>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogParams {
    /// Commits that changed this file or directory.
    #[param(nullable = false)]
    path: Option<String>,
    /// `next` of an earlier answer.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// Maximum number of commits.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    count: Option<u32>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct IdParam {
    /// `id` or `link` of an answer.
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

#[derive(IntoResponses)]
pub(crate) enum Any {
    /// A parameter or the query is malformed.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemDocument),
}

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
    /// Too many heavy queries are running; retry after `Retry-After`.
    #[response(status = 503, content_type = "application/problem+json")]
    Overloaded(ProblemDocument),
}

/// No such search, page, file, package or directory.
#[derive(IntoResponses)]
#[response(status = 404, content_type = "application/problem+json")]
pub(crate) struct NotFound(ProblemDocument);

/// The revision is no longer indexed, and no backend can read it; `newest` has the file.
#[derive(IntoResponses)]
#[response(status = 410, content_type = "application/problem+json")]
pub(crate) struct NotIndexed(ProblemDocument);

#[derive(IntoResponses)]
pub(crate) enum Repositories {
    /// The repository or the revision is unknown or ambiguous, or no backend has repositories.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDocument),
    /// The repository cannot be read.
    #[response(status = 502, content_type = "application/problem+json")]
    Unreadable(ProblemDocument),
    /// A backend that may have the repository is unreachable or too slow.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(ProblemDocument),
}

/// The client already has the answer.
#[derive(IntoResponses)]
#[response(status = 304)]
pub(crate) struct Unchanged;

/// A backend that may have the answer is unreachable.
#[derive(IntoResponses)]
#[response(status = 503, content_type = "application/problem+json")]
pub(crate) struct BackendLost(ProblemDocument);

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

#[derive(IntoResponses)]
pub(crate) enum AnyRequest {
    /// The server requires a key, and the request has no valid one.
    #[response(status = 401, content_type = "application/problem+json")]
    KeyNeeded(ProblemDocument),
    /// The address is too long.
    #[response(status = 414, content_type = "application/problem+json")]
    LongAddress(ProblemDocument),
    /// The headers are too long.
    #[response(status = 431, content_type = "application/problem+json")]
    LongHeaders(ProblemDocument),
}
