//! Completions of a query.

shapes! {
    /// Completions of a query that is being typed.
    #[derive(Default, PartialEq, Eq)]
    struct Completions {
        /// Start of the replaced bytes of the query.
        from: usize,
        /// End of the replaced bytes.
        to: usize,
        /// Most likely first.
        completions: Vec<Completion>,
    }

    /// One completion.
    #[derive(PartialEq, Eq)]
    struct Completion {
        /// Replacement text.
        text: String,
        /// Display name.
        label: String,
        kind: CompletionKind,
        /// Effect in a few words; may be empty.
        about: String,
    }

    /// Kind of a completion.
    enum CompletionKind {
        /// Key with its colon; a value follows.
        Key,
        /// Value of an option, or kind of document.
        Value,
        Language,
        Package,
        /// Path of a file.
        File,
    }
}
