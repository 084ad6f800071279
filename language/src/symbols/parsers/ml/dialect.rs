//! Dialects and structures.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    OCaml,
    Reason,
    FSharp,
    StandardMl,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Structure,
    Signature,
    Object,
}
