//! Memory of git while it reads a server's references, which it keeps in full. Linux only.

use crate::allocator::anonymous;
use std::fs;

/// Holds some 500,000 references in protocol version 2, half as many in older ones.
pub(super) const REFERENCES_BYTES_MAX: u64 = 192 << 20;

/// Memory beside known references.
const FETCH_BYTES: u64 = 64 << 20;

/// Measured with 200,000 references: 1.2 KiB.
const REFERENCE_BYTES: u64 = 2 << 10;

/// Readers of objects; their memory depends on the repository.
const READERS: &str = "index-pack unpack-objects rev-list pack-objects maintenance gc";

/// `git`, its transport, and ssh or other helpers.
const DEPTH_MAX: u32 = 8;

/// Git may read all of the repository.
pub(super) fn of_fetch(references: usize, repository_bytes: u64) -> u64 {
    FETCH_BYTES + references as u64 * REFERENCE_BYTES + repository_bytes
}

/// Sums living descendants, without readers of objects.
pub(super) fn used(process: u32) -> u64 {
    used_by(process, DEPTH_MAX)
}

fn used_by(process: u32, depth: u32) -> u64 {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}"));
    let command = read("cmdline").unwrap_or_default();
    let is_reader = |word: &str| READERS.split(' ').any(|reader| reader == word);
    if depth == 0 || command.split('\0').any(is_reader) {
        return 0;
    }
    let own = read("status").ok().and_then(|status| anonymous(&status));
    let children = read(&format!("task/{process}/children")).unwrap_or_default();
    let children = children.split_whitespace();
    let children = children.filter_map(|child| child.parse().ok());
    let below: u64 = children.map(|child| used_by(child, depth - 1)).sum();
    own.unwrap_or(0) + below
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    #[test]
    fn memory_of_descendants_is_counted_but_not_of_what_reads_objects() {
        assert_eq!(
            anonymous("VmRSS:\t9 kB\nRssAnon:\t     128 kB\n"),
            Some(128 << 10)
        );
        assert_eq!(anonymous("RssAnon:\tx"), None);
        let whole = 32 << 20;
        // Holds some megabytes in a variable.
        let hold =
            "sh -c 'x=$(head -c 33554432 /dev/zero | tr \"\\0\" x); echo; read -r _' \"$1\"; true";
        let used_by_child = |name: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", hold, "sh", name]);
            let mut shell = shell
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            let used = used(shell.id());
            drop(shell.stdin.take());
            shell.wait().unwrap();
            used
        };
        assert!(used_by_child("fetch") >= whole);
        assert!(used_by_child("index-pack") < whole);
    }
}
