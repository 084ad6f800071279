//! Languages whose scopes end with a word.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Ruby,
    Crystal,
    Elixir,
    Lua,
    Julia,
    Fish,
}
