//! URLs of terminal hyperlinks (OSC 8) for file names and line numbers.
//!
//! **Invariant:** a URL is printable ASCII, whatever the names in it.

use frontend::Document;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

/// Characters that are escaped in a URL. A path keeps its slashes.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'+')
    .add(b'<')
    .add(b'=')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b';');

/// The names that a format may have in braces.
const VARIABLES: [&str; 4] = ["package", "path", "line", "column"];

/// A URL with variables.
#[derive(Clone, Debug)]
pub(super) struct LinkFormat {
    segments: Vec<Segment>,
}

#[derive(Clone, Debug)]
enum Segment {
    Text(String),
    /// Index in [`VARIABLES`].
    Variable(usize),
}

impl LinkFormat {
    /// Parses a format such as `file:///srv/{package}/{path}#{line}`.
    pub(super) fn parse(format: &str) -> Result<LinkFormat, String> {
        if let Some(odd) = format.chars().find(|letter| !letter.is_ascii_graphic()) {
            return Err(format!("a URL cannot contain {odd:?}"));
        }
        let (mut segments, mut rest) = (Vec::new(), format);
        while let Some((text, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or("a { has no }")?;
            let variable = VARIABLES.iter().position(|known| *known == name);
            let variable = variable.ok_or_else(|| {
                format!(
                    "unknown variable {{{name}}}; expected one of {{{}}}",
                    VARIABLES.join("}, {")
                )
            })?;
            segments.push(Segment::Text(text.to_owned()));
            segments.push(Segment::Variable(variable));
            rest = after;
        }
        segments.push(Segment::Text(rest.to_owned()));
        Ok(LinkFormat { segments })
    }

    /// Links to the pages of a server.
    pub(super) fn to_server(url: &str) -> Option<LinkFormat> {
        let url = url.trim_end_matches('/');
        let format = format!("{url}/show?package={{package}}&path={{path}}&line={{line}}");
        LinkFormat::parse(&format).ok()
    }

    /// Returns the URL of a place in a document.
    pub(super) fn url(&self, document: &Document, line: u32, column: usize) -> String {
        let value = |variable| match variable {
            0 => percent_encode(&document.package, ESCAPED).to_string(),
            1 => percent_encode(&document.path, ESCAPED).to_string(),
            2 => line.to_string(),
            _ => column.to_string(),
        };
        let segments = self.segments.iter();
        segments
            .map(|segment| match segment {
                Segment::Text(text) => text.clone(),
                Segment::Variable(variable) => value(*variable),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_ascii_whatever_the_path() {
        let document = Document {
            package: b"p_1".to_vec(),
            path: b"a/b c\x1b]8;;\xff.c".to_vec(),
            ..Document::default()
        };
        let links = LinkFormat::parse("x://{package}/{path}#{line}:{column}").unwrap();
        let url = links.url(&document, 7, 3);
        assert_eq!(url, "x://p_1/a/b%20c%1B]8%3B%3B%FF.c#7:3");
        let links = LinkFormat::to_server("http://127.0.0.1:8080").unwrap();
        assert!(links.url(&document, 7, 3).ends_with("&line=7"));
    }

    #[test]
    fn errors_say_what_is_wrong_with_a_format() {
        assert!(
            LinkFormat::parse("x://{host}")
                .unwrap_err()
                .contains("{package}, {path}")
        );
        assert!(LinkFormat::parse("x://{path").is_err());
        assert!(LinkFormat::parse("x:// ").is_err());
    }
}
