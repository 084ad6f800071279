//! Scopes of statements, and branches of the preprocessor around them.

#[derive(Clone, Copy, Default)]
pub(super) struct Block {
    pub(super) context: Context,
    /// Start of its statement in the tokens.
    pub(super) begin: usize,
    pub(super) brackets: u32,
    pub(super) opens: usize,
    /// Head in the first column.
    pub(super) is_first_column: bool,
    /// Line that begins behind the first column.
    pub(super) is_indented: bool,
    /// First definition in a type without a name.
    pub(super) nameless: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Context {
    /// Top of a file, namespace, `extern "C"`.
    #[default]
    File,
    Type,
    Enum,
    /// `@interface` and the like.
    Objective,
    /// Function; only types are found.
    Body,
    Value,
}

#[derive(Default)]
pub(super) struct Branches {
    pub(super) open: Vec<Branch>,
    pub(super) deeper: usize,
    /// Open branches of `#if 0`.
    pub(super) dead: usize,
}

pub(super) struct Branch {
    /// Scopes at its `#if`.
    pub(super) depth: usize,
    pub(super) tokens: usize,
    pub(super) brackets: u32,
    pub(super) is_dead: bool,
    /// Skips the others, as the first ended a statement from before.
    pub(super) is_over: bool,
    /// Depth behind the first branch, and scopes that it opened.
    pub(super) first: Option<(usize, Vec<Block>)>,
}

impl Branches {
    pub(super) fn is_dead(&self) -> bool {
        self.dead > 0
    }
}
