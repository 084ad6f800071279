//! Scopes of statements, and branches of the preprocessor around them.

#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) context: Context,
    /// First token of its statement.
    pub(super) begin: usize,
    pub(super) brackets: u32,
    /// Braces that its statement opened, with this one.
    pub(super) opens: usize,
    /// Its head begins in the first column.
    pub(super) is_first_column: bool,
    /// A line in it does not begin in the first column.
    pub(super) is_indented: bool,
    /// First definition inside of a type without a name.
    pub(super) nameless: Option<u32>,
}

/// Meaning of statements in a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Context {
    /// Top of a file, namespace, `extern "C"`.
    #[default]
    File,
    Type,
    Enum,
    /// `@interface` and the like.
    Objective,
    /// Body of a function: only types are found.
    Body,
    Value,
}

/// Scope that a brace opens.
pub(super) struct Opened {
    pub(super) context: Context,
    pub(super) definition: Option<u32>,
    pub(super) is_nameless: bool,
}

impl Opened {
    pub(super) fn scope(context: Context) -> Opened {
        Opened {
            context,
            definition: None,
            is_nameless: false,
        }
    }
}

#[derive(Default)]
pub(super) struct Branches {
    pub(super) open: Vec<Branch>,
    pub(super) deeper: usize,
    /// Open branches of `#if 0`.
    pub(super) dead: usize,
}

pub(super) struct Branch {
    /// Scopes, tokens and brackets at its `#if`.
    pub(super) depth: usize,
    pub(super) tokens: usize,
    pub(super) brackets: u32,
    pub(super) is_dead: bool,
    /// Its first branch ended a statement from before; the others are skipped.
    pub(super) is_over: bool,
    /// Number of scopes behind the first branch, and those that it opened.
    pub(super) first: Option<(usize, Vec<Block>)>,
}

impl Branches {
    pub(super) fn is_dead(&self) -> bool {
        self.dead > 0
    }
}
