//! How well known a package is, and what that adds to the rank of its documents.

/// How well known a package is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Popularity {
    /// Share of installations.
    pub inst: f32,
    /// Share of reverse dependencies.
    pub rdep: f32,
}

impl Popularity {
    /// What it adds to the static rank of the package's documents; the weights are Debian Code
    /// Search's.
    pub fn rank(self) -> f32 {
        0.3840 * self.inst + 0.3427 * self.rdep
    }
}
