//! Files on disk.

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Text of a file that is read. Longer ones are data.
const TEXT_BYTES_MAX: u64 = 32 << 20;

/// Characters that stay as they are in the path of a URI.
pub(super) const IN_PATH: AsciiSet = NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_');

/// Path of names alone: relative, without `.`, `..` and NUL. `None` for others.
pub(super) fn relative(path: &[u8]) -> Option<&Path> {
    let parsed = Path::new(OsStr::from_bytes(path));
    let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
    let is_normal = parsed
        .components()
        .all(|it| matches!(it, Component::Normal(_)));
    (is_normal && path.split(|&byte| byte == b'/').all(is_plain)).then_some(parsed)
}

pub(super) fn file(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    let is_path = bytes.starts_with(b"/") && !bytes.contains(&0);
    is_path.then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
}

pub(super) fn file_uri(file: &Path) -> Option<Uri> {
    let path = percent_encode(file.as_os_str().as_bytes(), &IN_PATH);
    format!("file://{path}").parse().ok()
}

/// Reads a regular file; `None` if that fails, or for a long one.
pub(super) fn read(file: &Path) -> Option<Vec<u8>> {
    let is_file = file.metadata().ok()?.is_file();
    let opened = is_file.then(|| std::fs::File::open(file).ok()).flatten()?;
    let mut text = Vec::new();
    let read = opened.take(TEXT_BYTES_MAX + 1).read_to_end(&mut text);
    (read.is_ok() && text.len() as u64 <= TEXT_BYTES_MAX).then_some(text)
}
