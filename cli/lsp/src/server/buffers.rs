//! Open buffers of the editor.

use percent_encoding::percent_decode_str;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of all texts. A buffer beyond is read from disk.
const OPEN_BYTES_MAX: usize = 64 << 20;

const OPEN_MAX: usize = 10_000;

/// Texts by decoded URI, as editors escape different characters. A clone is a snapshot.
#[derive(Clone, Default)]
pub(super) struct Buffers {
    texts: HashMap<Vec<u8>, Arc<str>>,
    bytes: usize,
}

impl Buffers {
    pub(super) fn set(&mut self, uri: &str, text: String) {
        self.close(uri);
        if self.bytes + text.len() <= OPEN_BYTES_MAX && self.texts.len() < OPEN_MAX {
            self.bytes += text.len();
            self.texts.insert(decoded(uri), text.into());
        }
    }

    pub(super) fn close(&mut self, uri: &str) {
        if let Some(text) = self.texts.remove(&decoded(uri)) {
            self.bytes -= text.len();
        }
    }

    pub(super) fn get(&self, uri: &str) -> Option<&Arc<str>> {
        self.texts.get(&decoded(uri))
    }
}

fn decoded(uri: &str) -> Vec<u8> {
    percent_decode_str(uri).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_texts_are_bounded() {
        let mut buffers = Buffers::default();
        let third = || "x".repeat(OPEN_BYTES_MAX / 3);
        for uri in ["a", "b", "c", "d"] {
            buffers.set(uri, third());
        }
        assert!(buffers.get("c").is_some() && buffers.get("d").is_none());
        buffers.close("b");
        buffers.set("d", third());
        assert!(buffers.get("d").is_some());
        for uri in ["a", "b", "c", "d"] {
            buffers.close(uri);
        }
        assert_eq!(buffers.bytes, 0);
    }
}
