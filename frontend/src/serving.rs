//! Whether a frontend takes searches. It drains before it ends: it starts no search any more, and those that run end, or
//! their clients are told to ask another frontend.

/// Whether searches are taken. It only ever goes on to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Serving {
    /// Searches start.
    #[default]
    Open,
    /// None starts any more. Those that run go on.
    Draining,
    /// Clients that still wait are to ask another frontend.
    HandingOver,
}
