//! Parameters that handlers expect in [`Params`](crate::search::params::Params), and responses.

#![expect(dead_code, reason = "descriptions are never constructed")]

use crate::api::export::format::Order;
use crate::problem::ProblemDocument;
use crate::search::choice::{Case, Copies, Group, Mode};
use frontend::page::{PER_DOCUMENT_MAX, PER_PACKAGE_MAX, PER_PAGE_MAX};
use utoipa::{IntoParams, IntoResponses, ToSchema};

/// Declares parameters. `both` describes one in addresses and in bodies.
macro_rules! parameters {
    ($($(#[$($about:tt)*])* struct $name:ident {
        $(
            $(#[doc = $doc:tt])*
            $(#[param($($param:tt)*)])?
            $(#[both($($both:tt)*)])?
            $field:ident: $type:ty,
        )*
    })*) => {$(
        #[derive(IntoParams, ToSchema)]
        #[into_params(parameter_in = Query)]
        $(#[$($about)*])*
        pub(crate) struct $name {
            $(
                $(#[doc = $doc])*
                $(#[param($($param)*)])?
                $(#[param($($both)*)])?
                #[schema($($($both)*,)? nullable = false)]
                $field: $type,
            )*
        }

        impl $name {
            pub(crate) const NAMES: &[&str] = &[$(stringify!($field)),*];
        }
    )*};
}

parameters! {
    /// Query and its execution.
    #[schema(as = Query)]
    struct QueryParams {
        /// Query: with `mode=keyword` in the query language, else a text or a regular expression.
        #[both(example = "errno EINTR lang:C")]
        q: String,
        /// Syntax of the query.
        #[both(inline)]
        mode: Option<Mode>,
        /// Case sensitivity. `auto`: only if the text has an upper case letter. The default is
        /// `auto` for keywords, else `yes`.
        #[both(inline)]
        case: Option<Case>,
        /// Match whole words only.
        #[both(inline)]
        word: Option<WordChoice>,
        /// Find text only as typed: not with other line ends, normal forms, or plain quotes.
        #[both(inline)]
        exact: Option<WordChoice>,
        /// Documents in these languages; with a leading `-`, in others.
        #[param(explode = true)]
        lang: Option<Vec<String>>,
        /// Packages with a name that matches a regular expression, a glob, or `=` and the exact
        /// name; with a leading `-`, all others.
        #[param(explode = true)]
        package: Option<Vec<String>>,
        /// Documents with a matching path; written like `package`.
        #[param(explode = true)]
        path: Option<Vec<String>>,
        /// Documents of these git revisions: branches, tags, 7 or more digits of a commit id, or
        /// globs; with a leading `-`, all others. Without it and `branch`: the default revision of
        /// each repository.
        #[param(explode = true)]
        rev: Option<Vec<String>>,
        /// Documents of these branches; written like `rev`.
        #[param(explode = true)]
        branch: Option<Vec<String>>,
        /// Documents of these kinds: `source`, `documentation`, `tests` or `vendored`, or symbols:
        /// `function`, `type`, `macro` and others; with a leading `-`, of others.
        #[param(explode = true)]
        kind: Option<Vec<String>>,
        /// Lines of context before and after each match (2).
        #[both(minimum = 0, maximum = 10)]
        context: Option<u32>,
        /// All matches, the first match of each document, or only their number.
        #[both(inline)]
        want: Option<WantChoice>,
        /// Number of best matches to return; 0: all.
        #[both(minimum = 0, maximum = 10_000)]
        limit: Option<u64>,
        /// With `limit`: `exact` (the default), or `estimate`: matches beyond the limit need not be
        /// counted, which often finds the best ones sooner.
        #[both(inline)]
        total: Option<TotalChoice>,
        /// Time limit of the search: seconds, or milliseconds such as `500ms`. Then the answer is
        /// incomplete.
        #[both(example = "2")]
        timeout: Option<String>,
        /// `generation` of an earlier answer, to search the same documents.
        generation: Option<String>,
    }

    /// Part of an answer.
    #[schema(as = View)]
    struct ViewParams {
        /// Page number, from 0.
        #[both(minimum = 0)]
        page: Option<u64>,
        /// Matches on a page (10), or packages (5), or documents (10).
        #[both(minimum = 1, maximum = 1000)]
        per_page: Option<usize>,
        /// Items of a page: matches, packages or documents, ordered by their best match.
        #[both(inline)]
        group: Option<Group>,
        /// Matches for each package.
        #[both(minimum = 1, maximum = 10)]
        per_package: Option<usize>,
        /// Matches for each document.
        #[both(minimum = 1, maximum = 5)]
        per_document: Option<usize>,
        /// `folded` shows only the best of the documents with the same text and matching lines; a
        /// group by package has all. The default is `all`.
        #[both(inline)]
        copies: Option<Copies>,
        /// `false`: answer at once with the results so far, and an id for the next request.
        /// `fresh`: wait until earlier changes are indexed (see `pending`), for half of the
        /// search's time at most.
        #[both(inline)]
        wait: Option<WaitChoice>,
        /// Report the use of the index.
        explain: Option<bool>,
        /// Name the definition around each match.
        enclosing: Option<bool>,
        /// `next` of an earlier page, to continue the same answer; `q` may be omitted.
        cursor: Option<String>,
    }

    struct WaitParam {
        /// `fresh`: begin once earlier changes are indexed, or half of the search's time is over.
        #[both(inline)]
        wait: Option<WaitChoice>,
    }
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

parameters! {
    struct CopiesParams {
        /// `copies.position` of a match.
        #[both(minimum = 0)]
        position: u64,
        /// Page number, from 0.
        #[both(minimum = 0)]
        page: Option<u64>,
        /// Documents on a page (100).
        #[both(minimum = 1, maximum = 1000)]
        per_page: Option<usize>,
    }

    struct ExportParams {
        /// JSON Lines, CSV with a header line, only the paths of documents, or
        /// `package/path:line:text`.
        #[both(inline)]
        format: Option<ExportFormat>,
        /// With `format=paths`: end each path with a NUL byte instead of a line feed.
        null: Option<bool>,
        /// Best first, after the search has ended; or as found, with `format=jsonl` or `text`.
        #[both(inline)]
        order: Option<Order>,
        /// With `format=text`: end with a line of JSON, like `jsonl` with `order=found`, that tells
        /// whether the export is complete. Its `total` counts lines.
        end: Option<bool>,
    }

    struct FormatParam {
        /// JSON, or only names, one a line.
        #[both(inline)]
        format: Option<ListFormat>,
    }

    struct CompleteParams {
        /// Query so far.
        #[both(example = "errno lang:py")]
        q: String,
        /// Position of the cursor, in bytes of `q`; absent: at its end.
        #[both(minimum = 0)]
        at: Option<usize>,
    }

    struct FileParams {
        /// Package, named after its directory.
        #[both(example = "package2_1.2")]
        package: String,
        /// Path within the package.
        #[both(example = "src/file2.c")]
        path: String,
        /// Git revision: a branch, a tag, or 7 or more digits of a commit id; absent: the default
        /// one.
        #[both(example = "v1.0")]
        rev: Option<String>,
    }

    struct NameParams {
        /// Package; optional beside `name`.
        #[both(example = "package2_1.2")]
        package: Option<String>,
        /// Path; optional beside `name`.
        #[both(example = "src/file2.c")]
        path: Option<String>,
        /// Git revision, as of a file.
        #[both(example = "v1.0")]
        rev: Option<String>,
        /// Line of the name, from 1.
        #[both(minimum = 1, example = 7)]
        line: Option<u32>,
        /// Position in the line, in bytes from 0: within the name, or right behind it.
        #[both(minimum = 0, example = 4)]
        column: Option<u32>,
        /// Name, in place of a position.
        name: Option<String>,
        /// Maximum number of places (100).
        #[both(minimum = 1, maximum = 1000)]
        limit: Option<usize>,
    }

    struct UsesParams {
        /// List definitions, too.
        definitions: Option<bool>,
    }

    struct BytesParams {
        /// First byte.
        #[both(minimum = 0)]
        offset: Option<u64>,
        /// Maximum number of bytes. A backend may send less.
        #[both(minimum = 0)]
        count: Option<u64>,
    }

    struct PartParams {
        /// `next` of an earlier answer.
        after: Option<String>,
        /// Maximum number of entries.
        #[both(minimum = 1, maximum = 1000)]
        count: Option<u32>,
    }

    struct PrefixParam {
        /// Beginning of the names of their directories.
        prefix: Option<String>,
    }

    struct DirectoryParams {
        /// Package: its name, or the name of its directory.
        #[both(example = "package2_1.2")]
        package: String,
        /// Directory within the package; absent: the package itself.
        path: Option<String>,
    }

    struct MissedParams {
        /// Package: its name, or the name of its directory; absent: all packages.
        package: Option<String>,
        /// Path within the package.
        path: Option<String>,
    }

    struct RepositoryParam {
        /// Repository: its path below the directory of repositories, without `.git` at its end.
        #[both(example = "project")]
        repo: String,
    }

    struct RevisionParams {
        /// Repository: its path below the directory of repositories, without `.git` at its end.
        #[both(example = "project")]
        repo: String,
        /// Branch, tag, id or its beginning, or an expression such as `HEAD~25` or `v1.0^{commit}`;
        /// absent: the default branch.
        #[both(example = "HEAD~1")]
        rev: Option<String>,
    }

    struct PathParam {
        /// Path of the file.
        #[both(example = "src/main.c")]
        path: String,
    }

    struct DiffParams {
        /// Repository of the revisions `from` and `to`; absent: they are packages.
        #[both(example = "project")]
        package: Option<String>,
        /// Earlier revision or package; absent with `package`: the first parent of `to`.
        #[both(example = "v1.0")]
        from: Option<String>,
        /// Later revision or package; absent with `package`: the default branch.
        #[both(example = "main")]
        to: Option<String>,
        /// Revision of the package `from`.
        from_rev: Option<String>,
        to_rev: Option<String>,
        /// File, or directory of files; absent: all.
        path: Option<String>,
        /// Path of the earlier file, to compare two files of different names.
        from_path: Option<String>,
        /// Number of common lines around changed ones.
        context: Option<u32>,
        /// `next` of an earlier answer.
        after: Option<String>,
    }

    struct CountParam {
        /// Maximum number of entries.
        #[both(minimum = 1, maximum = 1000)]
        count: Option<u32>,
    }

    struct LogParams {
        /// Commits that changed this file or directory.
        path: Option<String>,
        /// `next` of an earlier answer.
        cursor: Option<String>,
        /// Maximum number of commits.
        #[both(minimum = 1, maximum = 1000)]
        count: Option<u32>,
    }
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

/// Declares problems as responses.
macro_rules! problems {
    ($($name:ident { $($(#[$($about:tt)*])* $problem:ident = $status:tt,)* })*) => {$(
        #[derive(IntoResponses)]
        pub(crate) enum $name {$(
            $(#[$($about)*])*
            #[response(status = $status, content_type = "application/problem+json")]
            $problem(ProblemDocument),
        )*}
    )*};
}

problems! {
    Any {
        /// A parameter or the query is malformed.
        BadRequest = 400,
    }
    Searching {
        /// A parameter or the query is malformed.
        BadRequest = 400,
        /// The generation is no longer kept, or the cursor has expired.
        Gone = 410,
        /// The stored answer is damaged.
        Damaged = 500,
        /// Too many heavy queries are running; retry after `Retry-After`.
        Overloaded = 503,
    }
    NotFound {
        /// No such search, page, file, package or directory.
        NotFound = 404,
    }
    NotIndexed {
        /// The revision is no longer indexed, and no backend can read it; `newest` has the file.
        NotIndexed = 410,
    }
    Repositories {
        /// The repository or the revision is unknown or ambiguous, or no backend has repositories.
        NotFound = 404,
        /// The repository cannot be read.
        Unreadable = 502,
        /// A backend that may have the repository is unreachable or too slow.
        Unavailable = 503,
    }
    BackendLost {
        /// A backend that may have the answer is unreachable.
        BackendLost = 503,
    }
    Body {
        /// The body did not arrive in time.
        Slow = 408,
        /// The body has too many bytes.
        TooLarge = 413,
        /// The body is not JSON.
        Unsupported = 415,
    }
    AnyRequest {
        /// The server requires a key, and the request has no valid one.
        KeyNeeded = 401,
        /// The address is too long.
        LongAddress = 414,
        /// The headers are too long.
        LongHeaders = 431,
    }
}

/// The client already has the answer.
#[derive(IntoResponses)]
#[response(status = 304)]
pub(crate) struct Unchanged;
