//! Dialects of ML, and their structures.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    OCaml,
    Reason,
    FSharp,
    StandardMl,
}

/// Structure that holds items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Structure,
    Signature,
    Object,
}
