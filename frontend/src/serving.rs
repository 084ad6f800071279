//! Serving state of a frontend. Before it ends it drains: no search starts, and running ones end or
//! their clients are sent to another frontend.

/// Serving state, which only moves forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Serving {
    /// Searches start.
    #[default]
    Open,
    /// No search starts. Running ones continue.
    Draining,
    /// Waiting clients should ask another frontend.
    HandingOver,
}
