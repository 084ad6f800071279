//! Hyperlinks for terminals (OSC 8): where a name or a number leads to when it is clicked.
//!
//! **Invariant:** an address is printable ASCII, whatever names are in it.

use frontend::Document;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

/// What an address cannot have in it as it is; a path keeps its slashes.
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

/// What may stand between braces in a format.
const VARIABLES: [&str; 4] = ["package", "path", "line", "column"];

/// A format of addresses.
#[derive(Clone, Debug)]
pub(super) struct Links {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    /// Index in [`VARIABLES`].
    Variable(usize),
}

impl Links {
    /// Parses a format such as `file:///srv/{package}/{path}#{line}`.
    pub(super) fn parse(format: &str) -> Result<Links, String> {
        if let Some(odd) = format.chars().find(|letter| !letter.is_ascii_graphic()) {
            return Err(format!("{odd:?} cannot be in an address"));
        }
        let (mut parts, mut rest) = (Vec::new(), format);
        while let Some((text, behind)) = rest.split_once('{') {
            let (name, behind) = behind.split_once('}').ok_or("a { without a }")?;
            let variable = VARIABLES.iter().position(|known| *known == name);
            let variable = variable.ok_or_else(|| {
                format!(
                    "there is no {{{name}}}; there are {{{}}}",
                    VARIABLES.join("}, {")
                )
            })?;
            parts.push(Part::Text(text.to_owned()));
            parts.push(Part::Variable(variable));
            rest = behind;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Links { parts })
    }

    /// To the pages of a server.
    pub(super) fn of_server(address: &str) -> Option<Links> {
        let address = address.trim_end_matches('/');
        let format = format!("{address}/show?package={{package}}&path={{path}}&line={{line}}");
        Links::parse(&format).ok()
    }

    /// Where a place in a document is.
    pub(super) fn address(&self, document: &Document, line: u32, column: usize) -> String {
        let value = |variable| match variable {
            0 => percent_encode(&document.package, ESCAPED).to_string(),
            1 => percent_encode(&document.path, ESCAPED).to_string(),
            2 => line.to_string(),
            _ => column.to_string(),
        };
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Variable(variable) => value(*variable),
        };
        self.parts.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_ascii_whatever_a_path_is() {
        let document = Document {
            package: b"p_1".to_vec(),
            path: b"a/b c\x1b]8;;\xff.c".to_vec(),
            ..Document::default()
        };
        let links = Links::parse("x://{package}/{path}#{line}:{column}").unwrap();
        let address = links.address(&document, 7, 3);
        assert_eq!(address, "x://p_1/a/b%20c%1B]8%3B%3B%FF.c#7:3");
        let links = Links::of_server("http://127.0.0.1:8080").unwrap();
        assert!(links.address(&document, 7, 3).ends_with("&line=7"));
    }

    #[test]
    fn a_wrong_format_says_what_is_wrong() {
        assert!(
            Links::parse("x://{host}")
                .unwrap_err()
                .contains("{package}, {path}")
        );
        assert!(Links::parse("x://{path").is_err());
        assert!(Links::parse("x:// ").is_err());
    }
}
