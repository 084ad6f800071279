//! Completions of a query.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Completions of a query that is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Completions {
    /// Start of the replaced bytes of the query.
    pub from: usize,
    /// End of the replaced bytes.
    pub to: usize,
    /// Most likely first.
    pub completions: Vec<Completion>,
}

/// One completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Completion {
    /// Replacement text.
    pub text: String,
    /// Display name.
    pub label: String,
    pub kind: CompletionKind,
    /// Effect in a few words; may be empty.
    pub about: String,
}

/// Kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompletionKind {
    /// Key with its colon; a value follows.
    Key,
    /// Value of an option, or kind of document.
    Value,
    Language,
    Package,
    /// Path of a file.
    File,
}
