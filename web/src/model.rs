//! Shapes of `/api/v2`: one declaration each, from which code to write, read and describe (OpenAPI)
//! is derived. Rust clients read answers with them.
//!
//! **Invariant:** fields have a fixed order. Two searches of the same documents differ at most in
//! `id`, `generation`, `next`, `timings`, `missing` and `explain`.
//!
//! Names and texts are bytes, but JSON is UTF-8. A field such as `path` has readable text;
//! `path_base64` has the exact bytes, only if they are not UTF-8. See [`exact`] and [`readable`].

#![allow(
    missing_docs,
    reason = "a field has a description where its name leaves a question"
)]

mod blame;
mod bytes;
mod catalog;
mod commits;
mod completion;
mod copies;
mod events;
mod explain;
mod facets;
mod limits;
mod matches;
mod outline;
mod page;

pub use crate::problem::{NewestRevision, ProblemDocument};
pub use blame::{
    Blame, BlameCommit, BlameHunk, BlamePrevious, ChangedFile, ChangedFileKind, Changes,
};
pub use bytes::{Malformed, exact};
pub use catalog::{
    BackendStatus, IndexPackage, IndexPackages, LeftOut, PackageState, RepositoryStatus,
    RevisionStatus, Status, Tree, TreeEntry, TreeEntryKind, Unreachable, Why,
};
pub use commits::{
    Commit, CommitEntry, CommitLog, Commits, Person, Ref, RefKind, Refs, RevisionName,
    RevisionNames,
};
pub use completion::{Completion, CompletionKind, Completions};
pub use copies::{CopyDocument, CopyList};
pub use events::{BestMatches, Event, EventName, Reconnect, SearchEnd, SearchProgress};
pub(crate) use explain::share;
pub use explain::{
    CostClass, Explanation, ExpressionTree, FilterLeaf, PatternCost, PatternLeaf, SearchCost,
};
pub use facets::{
    DirectoryCount, Facets, KindCount, LanguageCount, PackageCount, Packages, SummaryHead,
};
pub use limits::{Limits, PageLimits, QueryLimits, RequestLimits, ServerLimits};
pub use matches::{Context, ContextLine, Match, MatchGroup, MatchWindow, Results};
pub use outline::{DefinitionKind, FileOutline, OutlineDefinition};
pub(crate) use page::notices;
pub use page::{
    BackendProgress, BrokenOff, ExportDone, ExportEnd, IndexUse, Missing, Notice,
    OverlappingPackage, Overlaps, Page, Progress, Reached, SearchState, Searched, Skipped,
    SkippedDocument, Timings, TotalRelation,
};
