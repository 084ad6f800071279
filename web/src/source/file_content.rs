//! Kind of a file for a browser: text, an image, or bytes to save.

use axum::http::HeaderValue;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use schema::message::FileReply;

/// Bytes that decide: as in git, a NUL among them makes a file binary.
pub(crate) const HEAD_BYTES: u64 = 8_000;

/// Limit of file systems.
const NAME_BYTES_MAX: usize = 255;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text,
    /// Image without active content. SVG may have scripts, so it is text.
    Image(&'static str),
    Bytes,
}

impl Content {
    pub(crate) fn of(reply: &FileReply) -> Content {
        let head = &reply.text[..reply.text.len().min(HEAD_BYTES as usize)];
        if !reply.original {
            return Content::Text;
        }
        match head {
            _ if head.starts_with(b"\x89PNG\r\n\x1a\n") => Content::Image("image/png"),
            [0xff, 0xd8, 0xff, ..] => Content::Image("image/jpeg"),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Content::Image("image/gif"),
            _ if head.starts_with(b"RIFF") && head.get(8..12) == Some(&b"WEBP"[..]) => {
                Content::Image("image/webp")
            }
            // UTF-16, which the index would decode.
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Content::Bytes,
            _ if head.contains(&0) => Content::Bytes,
            _ => Content::Text,
        }
    }

    pub(crate) fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Content::Text => "text/plain; charset=utf-8",
            Content::Image(media_type) => media_type,
            Content::Bytes => "application/octet-stream",
        })
    }

    /// Header `Content-Disposition` of a saved file. Its name has no special characters of headers
    /// or file systems.
    pub(crate) fn disposition(self, path: &[u8]) -> Option<HeaderValue> {
        if self != Content::Bytes {
            return None;
        }
        let name = path.rsplit(|&byte| byte == b'/').next()?;
        let name = &name[..name.len().min(NAME_BYTES_MAX)];
        let plain = |byte: &u8| match byte {
            b'.' | b'-' | b'_' | b'+' => char::from(*byte),
            _ if byte.is_ascii_alphanumeric() => char::from(*byte),
            _ => '_',
        };
        let safe: String = name.iter().map(plain).collect();
        let safe = safe.trim_start_matches('.');
        let safe = if safe.is_empty() { "file" } else { safe };
        let mut text = format!("attachment; filename=\"{safe}\"");
        if safe.as_bytes() != name && is_harmless(name) {
            text += &format!(
                "; filename*=UTF-8''{}",
                percent_encode(name, NON_ALPHANUMERIC)
            );
        }
        Some(HeaderValue::from_str(&text).expect("the name is ASCII"))
    }
}

/// Safe to show: UTF-8, without characters that reorder or hide the rest.
fn is_harmless(name: &[u8]) -> bool {
    let text = std::str::from_utf8(name);
    let is_hidden = name.starts_with(b".");
    let is_odd = |it: char| {
        it.is_control()
            || matches!(it, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\\')
    };
    !is_hidden && text.is_ok_and(|text| !text.contains(is_odd))
}

pub(crate) fn is_image(reply: &FileReply) -> bool {
    matches!(Content::of(reply), Content::Image(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn original(bytes: &[u8]) -> Content {
        Content::of(&FileReply {
            text: bytes.to_vec(),
            original: true,
            ..FileReply::default()
        })
    }

    #[test]
    fn only_safe_images_are_shown_and_nothing_is_a_page() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a\x01\0", "image/gif"),
            (b"RIFF\x01\0\0\0WEBPVP8 ", "image/webp"),
            (
                b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>",
                "text/plain; charset=utf-8",
            ),
            (
                b"<!doctype html><script>alert(1)</script>",
                "text/plain; charset=utf-8",
            ),
            (b"%PDF-1.7\n\0", "application/octet-stream"),
            (b"\xff\xfea\0", "application/octet-stream"),
            (b"RIFF\x01\0\0\0WAVE", "application/octet-stream"),
            (b"", "text/plain; charset=utf-8"),
        ] {
            assert_eq!(original(bytes).media_type(), expected, "{bytes:?}");
        }
        let indexed = Content::of(&FileReply {
            text: b"GIF89a".to_vec(),
            ..FileReply::default()
        });
        assert_eq!(indexed, Content::Text);
    }

    #[test]
    fn a_file_is_saved_under_a_safe_name() {
        let saved = |path: &[u8]| {
            let value = Content::Bytes.disposition(path).unwrap();
            value.to_str().unwrap().to_owned()
        };
        assert_eq!(saved(b"src/a.bin"), "attachment; filename=\"a.bin\"");
        assert_eq!(
            saved("d/na\u{ef}ve \".bin".as_bytes()),
            "attachment; filename=\"na__ve__.bin\"; filename*=UTF-8''na%C3%AFve%20%22%2Ebin"
        );
        // Nothing hidden or reversed.
        assert_eq!(saved(b".bashrc"), "attachment; filename=\"bashrc\"");
        assert_eq!(saved(b"..."), "attachment; filename=\"file\"");
        assert_eq!(saved(b"a\r\nx: y\xff"), "attachment; filename=\"a__x__y_\"");
        assert!(!saved("a\u{202e}fdp.exe".as_bytes()).contains("filename*"));
        assert!(Content::Text.disposition(b"a").is_none());
        assert!(saved(&[b'x'; 5000]).len() < 300);
    }
}
