//! The popularity of a package, and what it adds to the rank of its documents.

/// The popularity of a package.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Popularity {
    /// Share of installations.
    pub inst: f32,
    /// Share of reverse dependencies.
    pub rdep: f32,
}

impl Popularity {
    /// Returns what it adds to the static rank of the package's documents. The weights are those of
    /// Debian Code Search.
    pub fn rank(self) -> f32 {
        0.3840 * self.inst + 0.3427 * self.rdep
    }
}
