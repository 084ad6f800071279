//! Symbols: definitions of a file, and places that define or use a name.

use super::bytes::readable_owned;
use super::matches::MatchWindow;
use super::page::{Missing, TotalRelation};
use language::symbols::Kind;
use schema::message::{FileDefinition, FileReply};

shapes! {
    /// Definitions of a file.
    #[schema(as = Outline)]
    struct FileOutline {
        /// Package, with its version.
        package / package_base64: String,
        /// Language; empty if unknown.
        language: String,
        /// Ascending by position.
        definitions: Vec<OutlineDefinition>,
        /// True if all definitions of the file are listed.
        complete: bool,
        /// Present if others are missing: the reason.
        missing?: String,
    }

    /// Name that a file defines.
    #[derive(PartialEq, Eq)]
    struct OutlineDefinition {
        name / name_base64: String,
        /// Kind as in queries: `function`, `method`, `class` and others.
        kind: String,
        /// Line of the name, from 1.
        line: u32,
        /// Bytes before the name in its line.
        column: u32,
        /// Last line of the body; `line` without a body.
        end_line: u32,
        /// Name of the definition that it belongs to.
        parent? / parent_base64: String,
        /// Index of that definition in the list.
        parent_index?: u32,
        /// True for a prototype or forward declaration.
        declaration: bool,
    }

    /// Places that define or use a name, by the nearness of their file.
    #[schema(as = Places)]
    struct SymbolPlaces {
        /// Name that was searched.
        name: String,
        places: Vec<SymbolPlace>,
        /// Number of lines with such a place, also beyond `limit`.
        total: u64,
        /// Relation of `total` to the number of all such lines.
        total_relation: TotalRelation,
        /// True if every shard was searched to its end.
        complete: bool,
        /// Parts that were not searched, with reasons.
        missing: Vec<Missing>,
    }

    /// Line that defines or uses a name. If it is not precise, it may be of another symbol.
    #[derive(PartialEq, Eq)]
    #[schema(as = Place)]
    struct SymbolPlace {
        reason: PlaceReason,
        /// Package, with its version.
        package / package_base64: String,
        /// Path within the package.
        path / path_base64: String,
        /// Present for a git repository: commit with the file, as `rev` of a permanent link.
        commit?: String,
        /// Line number, from 1.
        line: u32,
        /// Bytes before the name in its line.
        column: u64,
        /// Present for a known definition: last line of its body.
        end_line?: u32,
        /// Present for a known definition: its kind.
        kind?: String,
        /// Present for a known definition: name of the definition that it belongs to.
        parent? / parent_base64: String,
        /// Present for a known definition: true for a prototype or forward declaration.
        declaration?: bool,
        /// Line without its end, or a part of a long one.
        text / text_base64: String,
        /// Start and end of each matching part, in bytes of the text.
        ranges: Vec<[usize; 2]>,
        window?: MatchWindow,
        /// BLAKE3 of the file's text.
        hash: String,
        /// True if a SCIP file resolved the name.
        precise: bool,
        /// Present for a precise definition: signature and comment, in Markdown.
        documentation?: String,
    }

    /// Relation of a place to the file of the request, nearest first.
    #[derive(PartialOrd, Ord)]
    enum PlaceReason {
        #[serde(rename = "same file")]
        SameFile,
        #[serde(rename = "same package")]
        SamePackage,
        /// A line of the file imports a package of this name.
        Imported,
        Elsewhere,
    }
}

impl PlaceReason {
    /// Nearest first.
    pub(crate) const ALL: [PlaceReason; 4] = [
        PlaceReason::SameFile,
        PlaceReason::SamePackage,
        PlaceReason::Imported,
        PlaceReason::Elsewhere,
    ];
}

impl FileOutline {
    /// Definitions of a backend's answer about a file.
    pub fn new(package: &[u8], reply: FileReply) -> FileOutline {
        let (package, package_base64) = readable_owned(package);
        let missing = reply.definitions_missing;
        FileOutline {
            package,
            package_base64,
            language: reply.language,
            definitions: reply.definitions.iter().map(Into::into).collect(),
            complete: missing.is_empty(),
            missing: (!missing.is_empty()).then_some(missing),
        }
    }
}

impl From<&FileDefinition> for OutlineDefinition {
    fn from(it: &FileDefinition) -> Self {
        let (name, name_base64) = readable_owned(&it.name);
        let (parent, parent_base64) = parent(it);
        OutlineDefinition {
            name,
            name_base64,
            kind: kind_name(it.kind).to_owned(),
            line: it.line,
            column: it.column,
            end_line: it.end_line,
            parent,
            parent_base64,
            parent_index: it.parent_index,
            declaration: it.is_declaration,
        }
    }
}

impl SymbolPlace {
    /// Adds what the definitions of the file tell.
    pub(crate) fn describe(&mut self, definition: &FileDefinition) {
        self.end_line = Some(definition.end_line);
        self.kind = Some(kind_name(definition.kind).to_owned());
        self.declaration = Some(definition.is_declaration);
        (self.parent, self.parent_base64) = parent(definition);
    }
}

/// Name of a kind by its number.
pub(crate) fn kind_name(number: u32) -> &'static str {
    Kind::ALL
        .get(number as usize)
        .map_or("unknown", |kind| kind.name())
}

fn parent(it: &FileDefinition) -> (Option<String>, Option<String>) {
    if it.parent.is_empty() {
        return (None, None);
    }
    let (parent, base64) = readable_owned(&it.parent);
    (Some(parent), base64)
}
