//! Classes of bytes.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Class {
    /// Code, with directives.
    #[default]
    Code,
    /// Comment.
    Comment,
    /// String or character.
    String,
    /// Prose, and texts without a lexer.
    Text,
    /// Lines that a commit adds, in a change.
    Added,
    /// Lines that it removes.
    Removed,
}

impl Class {
    /// All classes, by number.
    pub const ALL: [Class; 6] = [
        Class::Code,
        Class::Comment,
        Class::String,
        Class::Text,
        Class::Added,
        Class::Removed,
    ];

    /// Name in queries.
    pub fn name(self) -> &'static str {
        match self {
            Class::Code => "code",
            Class::Comment => "comment",
            Class::String => "string",
            Class::Text => "text",
            Class::Added => "added",
            Class::Removed => "removed",
        }
    }
}
