//! Limits that a decoder enforces, whatever the bytes say.

/// Patterns and filters of an expression, at most. A backend keeps a compiled regular expression for
/// each, and a set of patterns is a 64-bit number.
pub const ATOMS_MAX: usize = 64;

/// Nesting of an expression, at most; a pattern alone has depth 1.
pub const DEPTH_MAX: usize = 32;

/// How often a reader may traverse each word of a message. A batch is traversed once or twice; a
/// message whose pointers exceed this is an attack.
pub(super) const TRAVERSALS_MAX: usize = 16;

/// Nesting of structs and lists, at most: each level of an expression is inside a list.
pub(super) const NESTING_MAX: i32 = 2 * DEPTH_MAX as i32 + 16;
