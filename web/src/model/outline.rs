//! Outline of a file.

use super::bytes::readable_owned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Lines that look like definitions, guessed from single lines without parsing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Outline)]
pub struct FileOutline {
    /// Package, with its version.
    pub package: String,
    /// Present if not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// Language; empty if unknown.
    pub language: String,
    /// Ascending by line.
    pub definitions: Vec<OutlineDefinition>,
    /// True if the whole file was read, and all such lines are listed.
    pub complete: bool,
}

/// Line that looks like a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutlineDefinition {
    pub name: String,
    pub kind: DefinitionKind,
    /// From 1.
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DefinitionKind {
    Function,
    Type,
    Macro,
    Module,
    Constant,
}

impl FileOutline {
    pub(crate) fn new(
        package: &[u8],
        language: &str,
        definitions: Vec<OutlineDefinition>,
        complete: bool,
    ) -> Self {
        let (package, package_base64) = readable_owned(package);
        FileOutline {
            package,
            package_base64,
            language: language.to_owned(),
            definitions,
            complete,
        }
    }
}
