//! What the answers look like whose JSON is written by hand, for the description of the API.
//!
//! Bytes travel as text; where they are not UTF-8 the text is what can be shown of them, and the bytes
//! are beside it in base64.

#![expect(dead_code, reason = "these are descriptions: nothing makes one")]

use utoipa::ToSchema;

/// A line that matches, or several, or the name of a document.
#[derive(ToSchema)]
#[schema(as = Match)]
pub(crate) struct MatchSchema {
    /// The package, as its directory was named.
    package: String,
    /// Present when the package's name is not UTF-8.
    #[schema(nullable = false)]
    package_base64: Option<String>,
    /// The path within the package.
    path: String,
    /// Present when the path is not UTF-8.
    #[schema(nullable = false)]
    path_base64: Option<String>,
    /// The line's number, from 1; 0: what was found is the document's name.
    line: u32,
    /// Over how many lines the match goes; absent when it is one.
    #[schema(nullable = false, minimum = 2)]
    lines: Option<u32>,
    /// The line without its end, or lines joined by line feeds; of a name the path.
    text: String,
    /// Present when the text is not UTF-8.
    #[schema(nullable = false)]
    text_base64: Option<String>,
    /// Of what matched where it begins and ends, in bytes of the text.
    ranges: Vec<[usize; 2]>,
    context: ContextSchema,
    /// The document's language, empty when unknown.
    language: String,
    /// How good the match is; the order is by this, from high to low.
    rank: f32,
    /// BLAKE3 of the document's text.
    hash: String,
    /// Where in the document the line begins, in bytes.
    offset: u64,
    #[schema(nullable = false)]
    window: Option<WindowSchema>,
}

/// The lines around a match, as far as they were asked for.
#[derive(ToSchema)]
#[schema(as = Context)]
struct ContextSchema {
    before: Vec<ContextLineSchema>,
    after: Vec<ContextLineSchema>,
}

/// A line beside a match.
#[derive(ToSchema)]
#[schema(as = ContextLine)]
struct ContextLineSchema {
    line: u32,
    text: String,
    /// Present when the text is not UTF-8.
    #[schema(nullable = false)]
    text_base64: Option<String>,
    #[schema(nullable = false)]
    window: Option<WindowSchema>,
}

/// Of a long line, which part of it the text is.
#[derive(ToSchema)]
#[schema(as = Window)]
struct WindowSchema {
    /// Where in the line it begins, in bytes.
    start: u64,
    /// Bytes of the whole line.
    line_bytes: u64,
}

/// The first matches of a package or of a document.
#[derive(ToSchema)]
#[schema(as = Group)]
pub(crate) struct GroupSchema {
    package: String,
    /// Present when the package's name is not UTF-8.
    #[schema(nullable = false)]
    package_base64: Option<String>,
    /// Of a document.
    #[schema(nullable = false)]
    path: Option<String>,
    /// Present when the path is not UTF-8.
    #[schema(nullable = false)]
    path_base64: Option<String>,
    /// Of a document.
    #[schema(nullable = false)]
    language: Option<String>,
    /// Of a document: BLAKE3 of its text.
    #[schema(nullable = false)]
    hash: Option<String>,
    /// How many matches there are; null when there are more documents than are counted.
    #[schema(required)]
    total: Option<u64>,
    matches: Vec<MatchSchema>,
}

/// What is said of a search while it goes on.
#[derive(ToSchema)]
#[schema(as = Event)]
pub(crate) struct EventSchema {
    event: EventName,
    /// JSON: of `notice` a `Notice`, of `facets` `Facets`, of `progress` a `Progress` with the `id` of
    /// the search; of `matches` the best ten so far, `final` when nothing can change them, and `html`;
    /// of `done` what a `Page` says of the answer, or when there is none what a `Problem` says, with its
    /// `detail` as `error` too. Of a search by its id `at` is a place in `interpreted_as`.
    data: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
enum EventName {
    Notice,
    Progress,
    Matches,
    Facets,
    Done,
}

/// Documents that were given up, and why.
#[derive(ToSchema)]
#[schema(as = Skipped)]
pub(crate) struct SkippedSchema {
    count: u64,
    /// The first of them.
    documents: Vec<SkippedDocumentSchema>,
}

/// A document that was given up.
#[derive(ToSchema)]
#[schema(as = SkippedDocument)]
struct SkippedDocumentSchema {
    package: String,
    /// Present when the package's name is not UTF-8.
    #[schema(nullable = false)]
    package_base64: Option<String>,
    path: String,
    /// Present when the path is not UTF-8.
    #[schema(nullable = false)]
    path_base64: Option<String>,
    reason: String,
}

/// How many matches a package has.
#[derive(ToSchema)]
#[schema(as = PackageCount)]
pub(crate) struct PackageCountSchema {
    package: String,
    /// Present when the name is not UTF-8.
    #[schema(nullable = false)]
    package_base64: Option<String>,
    total: u64,
}

/// How many matches are in documents of a language; empty: of none that is known.
#[derive(ToSchema)]
#[schema(as = LanguageCount)]
pub(crate) struct LanguageCountSchema {
    language: String,
    /// Present when the name is not UTF-8.
    #[schema(nullable = false)]
    language_base64: Option<String>,
    total: u64,
}

/// How many matches are in documents below a directory.
#[derive(ToSchema)]
#[schema(as = DirectoryCount)]
pub(crate) struct DirectoryCountSchema {
    directory: String,
    /// Present when the name is not UTF-8.
    #[schema(nullable = false)]
    directory_base64: Option<String>,
    total: u64,
}

/// A package of the index.
#[derive(ToSchema)]
#[schema(as = IndexPackage)]
pub(crate) struct IndexPackageSchema {
    /// As its directory was named.
    package: String,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    package_base64: Option<String>,
    /// Its name before the version.
    name: String,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    name_base64: Option<String>,
    documents: u32,
    bytes: u64,
    lines: u64,
    /// When, in seconds since 1970.
    indexed: u64,
}

/// What is in a directory.
#[derive(ToSchema)]
#[schema(as = Tree)]
pub(crate) struct TreeSchema {
    /// As its directory was named.
    package: String,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    package_base64: Option<String>,
    /// Of the directory, with a slash at its end; empty: the package itself.
    path: String,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    path_base64: Option<String>,
    /// When, in seconds since 1970.
    indexed: u64,
    entries: Vec<TreeEntrySchema>,
    /// What to give as `after` for the rest; null when this is all.
    #[schema(required)]
    next: Option<String>,
}

/// A file, or a directory with what is in it.
#[derive(ToSchema)]
#[schema(as = TreeEntry)]
struct TreeEntrySchema {
    kind: TreeEntryKind,
    name: String,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    name_base64: Option<String>,
    path: String,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    path_base64: Option<String>,
    /// Of a directory.
    #[schema(nullable = false)]
    documents: Option<u32>,
    bytes: u64,
    lines: u64,
    /// Of a file; empty when unknown.
    #[schema(nullable = false)]
    language: Option<String>,
    /// Of a file: BLAKE3 of its text.
    #[schema(nullable = false)]
    hash: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
enum TreeEntryKind {
    File,
    Directory,
}

/// Why something is found, or is not.
#[derive(ToSchema)]
#[schema(as = Why)]
pub(crate) struct WhySchema {
    /// What was asked for.
    #[schema(nullable = false)]
    package: Option<String>,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    package_base64: Option<String>,
    /// What was asked for.
    #[schema(nullable = false)]
    path: Option<String>,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    path_base64: Option<String>,
    /// What is known of it, when something was asked for.
    #[schema(nullable = false)]
    state: Option<KnownSchema>,
    /// Of a document.
    #[schema(nullable = false)]
    bytes: Option<u64>,
    /// Of a document.
    #[schema(nullable = false)]
    lines: Option<u64>,
    /// Of a document; empty when unknown.
    #[schema(nullable = false)]
    language: Option<String>,
    /// Of a document: BLAKE3 of its text.
    #[schema(nullable = false)]
    hash: Option<String>,
    /// Of a document: when it was indexed, in seconds since 1970.
    #[schema(nullable = false)]
    indexed: Option<u64>,
    /// The versions of the package that are indexed.
    versions: Vec<IndexPackageSchema>,
    /// What was left out of what was asked for.
    skipped: Vec<LeftOutSchema>,
    /// Names that may have been meant.
    similar: Vec<String>,
    /// Backends that could not be asked, and might know more.
    missing: Vec<super::catalog::UnreachableJson>,
    /// What to give as `after` for the rest; null when this is all.
    #[schema(required)]
    next: Option<String>,
}

#[derive(ToSchema)]
#[schema(as = Known, rename_all = "lowercase")]
enum KnownSchema {
    Indexed,
    Skipped,
    Unknown,
}

/// Something that is not searchable, and why.
#[derive(ToSchema)]
#[schema(as = LeftOut)]
struct LeftOutSchema {
    package: String,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    package_base64: Option<String>,
    path: String,
    /// Present when it is not UTF-8.
    #[schema(nullable = false)]
    path_base64: Option<String>,
    /// A word that does not change, such as `binary` or `ignored`.
    reason: String,
    /// The same for people.
    words: String,
    /// Of what is ignored: by which rule of which file.
    #[schema(nullable = false)]
    rule: Option<String>,
}
