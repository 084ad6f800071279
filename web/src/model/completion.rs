//! Completions of a query.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a query that is being typed may go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Completions {
    /// Which bytes of the query a completion takes the place of: from here
    pub from: usize,
    /// to here.
    pub to: usize,
    /// The most likely first.
    pub completions: Vec<Completion>,
}

/// A way to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Completion {
    /// What stands in the query then.
    pub text: String,
    /// What it is called, if that is not its text.
    pub label: String,
    pub kind: CompletionKind,
    /// What it does, in a few words; empty: nothing to say.
    pub about: String,
}

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompletionKind {
    /// A key, with its colon: a value follows.
    Key,
    /// A value of an option, or a kind of document.
    Value,
    Language,
    Package,
    /// The path of a file.
    File,
}
