//! Open buffers of the editor.

use super::text::{Encoding, Text};
use lsp_types::TextDocumentContentChangeEvent;
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

    /// Replaces a range, or the whole text. No effect on a text that is not held.
    pub(super) fn edit(
        &mut self,
        uri: &str,
        change: TextDocumentContentChangeEvent,
        encoding: Encoding,
    ) {
        let Some(range) = change.range else {
            return self.set(uri, change.text);
        };
        if let Some(old) = self.get(uri) {
            let text = Text::new(old.as_bytes());
            let end = text.offset(range.end, encoding);
            let start = text.offset(range.start, encoding).min(end);
            let new = [&old[..start], &change.text, &old[end..]].concat();
            self.set(uri, new);
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
    use serde_json::json;

    #[test]
    fn edits_replace_ranges_of_the_encoding() {
        let mut buffers = Buffers::default();
        buffers.set("a", "é😀x\r\nb".to_owned());
        let mut check = |range: [u32; 4], text: &str, encoding, expected: &str| {
            let change = json!({"text": text, "range": {
                "start": {"line": range[0], "character": range[1]},
                "end": {"line": range[2], "character": range[3]},
            }});
            let change = serde_json::from_value(change).unwrap();
            buffers.edit("a", change, encoding);
            assert_eq!(&**buffers.get("a").unwrap(), expected);
        };
        check([0, 3, 0, 4], "yz", Encoding::Utf16, "é😀yz\r\nb");
        check([0, 6, 0, 7], "w", Encoding::Utf8, "é😀wz\r\nb");
        check([0, 2, 0, 99], "", Encoding::Utf32, "é😀\r\nb");
        check([0, 9, 1, 0], "\n", Encoding::Utf16, "é😀\nb");
        check([1, 1, 0, 0], "c\nd", Encoding::Utf16, "c\ndé😀\nb");
        check([7, 7, 9, 9], "!", Encoding::Utf16, "c\ndé😀\nb!");
        buffers.edit(
            "b",
            serde_json::from_value(json!({"text": "c"})).unwrap(),
            Encoding::Utf8,
        );
        assert_eq!(&**buffers.get("b").unwrap(), "c");
    }

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
