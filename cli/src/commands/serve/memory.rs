//! Parts of `trawl serve --memory`.

use crate::units;
use anyhow::{Result, bail};
use index::indexing::{MEMORY_BYTES, MEMORY_BYTES_MIN};

/// Default for searches.
const SEARCH_BYTES: u64 = 256 << 20;

/// Part for searches beside a build, as a divisor. The default leaves the build
/// [`MEMORY_BYTES`].
const SEARCH_SHARE: u64 = 3;

/// Part of the searches' memory for compiled patterns, as a divisor.
const PATTERN_SHARE: u64 = 4;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServeMemory {
    /// `None` if nothing is indexed.
    pub(super) build: Option<u64>,
    pub(super) patterns: u64,
    /// Running queries and their answers.
    pub(super) queries: u64,
}

impl ServeMemory {
    /// Divides `memory`. `search` sets its part for searches.
    pub(super) fn new(
        memory: Option<u64>,
        search: Option<u64>,
        builds: bool,
    ) -> Result<ServeMemory> {
        let (build, share) = match memory {
            _ if !builds => (None, memory.unwrap_or(SEARCH_BYTES)),
            None => (Some(MEMORY_BYTES as u64), SEARCH_BYTES),
            Some(memory) => {
                let share = memory / SEARCH_SHARE;
                (Some(memory - share), share)
            }
        };
        if build.is_some_and(|build| build < MEMORY_BYTES_MIN as u64) {
            let min = units::size(MEMORY_BYTES_MIN as u64 / 2 * SEARCH_SHARE);
            bail!("--memory: indexing takes two thirds of it, so at least {min} are needed");
        }
        let search = search.unwrap_or(share);
        let patterns = search / PATTERN_SHARE;
        Ok(ServeMemory {
            build,
            patterns,
            queries: search - patterns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_divided_among_indexing_and_searches() {
        let divided = |memory: Option<u64>, search: Option<u64>, builds| {
            let bytes = |mib: u64| mib << 20;
            let memory = ServeMemory::new(memory.map(bytes), search.map(bytes), builds).unwrap();
            let mib = |bytes: u64| bytes >> 20;
            (
                memory.build.map(mib),
                mib(memory.patterns),
                mib(memory.queries),
            )
        };
        assert_eq!(divided(None, None, true), (Some(512), 64, 192));
        assert_eq!(divided(Some(768), None, true), (Some(512), 64, 192));
        assert_eq!(divided(None, None, false), (None, 64, 192));
        assert_eq!(divided(Some(768), None, false), (None, 192, 576));
        assert_eq!(divided(None, Some(512), true), (Some(512), 128, 384));
        let small = ServeMemory::new(Some(95 << 20), None, true);
        assert!(small.unwrap_err().to_string().contains("two thirds"));
    }
}
