//! Outline of a file.

shapes! {
    /// Lines that look like definitions, guessed from single lines without parsing.
    #[schema(as = Outline)]
    struct FileOutline {
        /// Package, with its version.
        package / package_base64: String,
        /// Language; empty if unknown.
        language: String,
        /// Ascending by line.
        definitions: Vec<OutlineDefinition>,
        /// True if the whole file was read, and all such lines are listed.
        complete: bool,
    }

    /// Line that looks like a definition.
    #[derive(PartialEq, Eq)]
    struct OutlineDefinition {
        name: String,
        kind: DefinitionKind,
        /// From 1.
        line: u32,
    }

    enum DefinitionKind {
        Function,
        Type,
        Macro,
        Module,
        Constant,
    }
}
