//! Globs over names without version, in `--public` and in claims of tokens.
//!
//! `*` and `?` match within a part of a name, `**` also across the slashes of `group/project`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Few enough to match all of them.
const GLOBS_MAX: usize = 1000;

const GLOB_BYTES_MAX: usize = 1 << 10;

#[derive(Clone, Debug)]
pub(crate) struct NameGlobs(GlobSet);

impl NameGlobs {
    /// The error names a malformed glob.
    pub(crate) fn new<T: AsRef<str>>(globs: &[T]) -> Result<NameGlobs, String> {
        if globs.len() > GLOBS_MAX {
            return Err(format!(
                "{} globs; at most {GLOBS_MAX} may be given",
                globs.len()
            ));
        }
        let mut set = GlobSetBuilder::new();
        for glob in globs.iter().map(AsRef::as_ref) {
            if glob.is_empty() {
                return Err("a glob is empty; write ** for all names".to_owned());
            }
            if glob.len() > GLOB_BYTES_MAX {
                return Err(format!("a glob has more than {GLOB_BYTES_MAX} bytes"));
            }
            let compiled = GlobBuilder::new(glob).literal_separator(true).build();
            set.add(compiled.map_err(|error| error.to_string())?);
        }
        set.build()
            .map(NameGlobs)
            .map_err(|error| error.to_string())
    }

    /// `name` has no version.
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        self.0.is_match(OsStr::from_bytes(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        let globs = NameGlobs::new(&["lib*", "team/**", "i3-{wm,lock}", "a?"]).unwrap();
        for name in ["libc", "lib", "team/x", "team/x/y", "i3-wm", "ab"] {
            assert!(globs.matches(name.as_bytes()), "{name}");
        }
        for name in ["glib", "lib/x", "team", "i3", "abc", "", "LIBC"] {
            assert!(!globs.matches(name.as_bytes()), "{name}");
        }
        assert!(globs.matches(b"lib\xff"));
        assert!(!NameGlobs::new::<&str>(&[]).unwrap().matches(b"x"));
        assert!(NameGlobs::new(&["**"]).unwrap().matches(b"a/b"));
    }

    #[test]
    fn malformed_globs_are_refused() {
        for bad in ["", "[", "{a", "a\\"] {
            assert!(NameGlobs::new(&[bad]).is_err(), "{bad}");
        }
        assert!(NameGlobs::new(&vec!["x"; GLOBS_MAX + 1]).is_err());
        assert!(NameGlobs::new(&["x".repeat(GLOB_BYTES_MAX + 1)]).is_err());
    }
}
