//! Files without a text in the index that is searched: they are published as they are.

use bstr::ByteSlice;
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Bytes of the texts that are published with an index, and with the changes since.
pub(super) const TEXTS_BYTES_MAX: usize = 2 << 20;

pub(super) const TEXT_BYTES_MAX: usize = 256 << 10;

/// Marks of UTF-8 and UTF-16, whose files ripgrep decodes.
const MARKS: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];

/// Returns the bytes of a file that ripgrep searches: those before the first NUL, or all if it has
/// a mark. `None` if they are more than `bytes_max`, if the file has another name, or is no file.
pub(super) fn searched(path: &Path, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = File::options();
    let opened = options
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path);
    let file = opened?;
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() != 1 {
        return Ok(None);
    }
    let mut text = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut text)?;
    let is_decoded = MARKS.iter().any(|mark| text.starts_with(mark));
    if let Some(at) = text.find_byte(0).filter(|_| !is_decoded) {
        text.truncate(at);
    }
    Ok((text.len() <= bytes_max).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_text_ends_at_its_first_nul() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let of = |name: &str, bytes: &[u8]| {
            fs::write(at(name), bytes).unwrap();
            searched(&at(name), 4).unwrap()
        };
        assert_eq!(of("a", b"abcd"), Some(b"abcd".to_vec()));
        assert_eq!(of("a", b"abcde"), None);
        assert_eq!(of("a", b"abc\0e"), Some(b"abc".to_vec()));
        assert_eq!(of("a", b"\xff\xfea\0"), Some(b"\xff\xfea\0".to_vec()));
        symlink("a", at("link")).unwrap();
        assert!(searched(&at("link"), 4).is_err());
        fs::hard_link(at("a"), at("b")).unwrap();
        assert_eq!(searched(&at("b"), 4).unwrap(), None);
        assert_eq!(searched(directory.path(), 4).unwrap(), None);
    }
}
