//! Mount points below a directory, as this process sees them.

use std::fs::File;
use std::io::{self, Read, Seek};

/// Table of mounts of this process. It becomes readable by priority when it changes.
pub(crate) fn open() -> io::Result<File> {
    File::open("/proc/self/mountinfo")
}

pub(crate) fn below(table: &mut File, root: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut text = Vec::new();
    table.rewind()?;
    table.read_to_end(&mut text)?;
    Ok(parse(&text, root))
}

fn parse(table: &[u8], root: &[u8]) -> Vec<Vec<u8>> {
    let lines = table.split(|&byte| byte == b'\n');
    let points = lines.filter_map(|line| line.split(|&byte| byte == b' ').nth(4));
    let below = points.filter_map(|point| {
        let point = unescaped(point);
        let rest = point.strip_prefix(root)?.strip_prefix(b"/")?;
        Some(rest.to_vec())
    });
    below.filter(|path| !path.is_empty()).collect()
}

/// Spaces, tabs, line ends and backslashes are escaped as three octal digits.
fn unescaped(mut path: &[u8]) -> Vec<u8> {
    let mut unescaped = Vec::with_capacity(path.len());
    while let [first, rest @ ..] = path {
        match path {
            [
                b'\\',
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                rest @ ..,
            ] => {
                unescaped.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                path = rest;
            }
            _ => {
                unescaped.push(*first);
                path = rest;
            }
        }
    }
    unescaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_below_a_root_are_relative() {
        let table = b"22 1 0:21 / / rw - ext4 /dev/x rw\n\
                      23 22 0:22 / /a rw - tmpfs t rw\n\
                      24 22 0:22 / /a/b\\040c/d\\134 rw shared:1 - tmpfs t rw\n\
                      25 22 0:22 / /ab/c rw - tmpfs t rw\n";
        assert_eq!(parse(table, b"/a"), [b"b c/d\\".to_vec()]);
        assert!(parse(table, b"/a/b c/d\\").is_empty());
    }
}
