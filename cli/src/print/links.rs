//! Terminal hyperlinks (OSC 8) of file names and line numbers.
//!
//! **Invariant:** a URL is printable ASCII, for any names.

use frontend::Document;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

/// Characters misread by query strings or terminals, and braces. Slashes stay.
const ESCAPED: &AsciiSet = &{
    let (mut set, mut others) = (CONTROLS.add(0), b" \"#%&+<=>?\\^`{|};".as_slice());
    while let [first, rest @ ..] = others {
        (set, others) = (set.add(*first), rest);
    }
    set
};

const VARIABLES: [&str; 5] = ["package", "path", "line", "column", "commit"];

/// Git files have it.
const OF_COMMIT: &str = "&rev={commit}";

#[derive(Clone, Debug)]
pub(super) struct LinkFormat(String);

impl LinkFormat {
    /// Parses `file:///srv/{package}/{path}#{line}`.
    pub(super) fn parse(format: &str) -> Result<LinkFormat, String> {
        if let Some(odd) = format.chars().find(|letter| !letter.is_ascii_graphic()) {
            return Err(format!("a URL cannot contain {odd:?}"));
        }
        let mut rest = format;
        while let Some((_, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or("a { has no }")?;
            if !VARIABLES.contains(&name) {
                let known = VARIABLES.join("}, {");
                return Err(format!(
                    "unknown variable {{{name}}}; expected one of {{{known}}}"
                ));
            }
            rest = after;
        }
        Ok(LinkFormat(format.to_owned()))
    }

    pub(super) fn to_server(url: &str) -> Option<LinkFormat> {
        let url = url.trim_end_matches('/');
        let format =
            format!("{url}/show?package={{package}}&path={{path}}{OF_COMMIT}&line={{line}}");
        LinkFormat::parse(&format).ok()
    }

    pub(super) fn url(&self, document: &Document, line: u32, column: usize) -> String {
        // Escaped, so without braces.
        let values = [
            percent_encode(&document.package, ESCAPED).to_string(),
            percent_encode(&document.path, ESCAPED).to_string(),
            line.to_string(),
            column.to_string(),
            document.revisions.commit.clone(),
        ];
        let format = if document.revisions.commit.is_empty() {
            self.0.replace(OF_COMMIT, "")
        } else {
            self.0.clone()
        };
        let variables = VARIABLES.iter().zip(&values);
        variables.fold(format, |url, (name, value)| {
            url.replace(&format!("{{{name}}}"), value)
        })
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
        assert!(links.url(&document, 7, 3).ends_with("%FF.c&line=7"));
        let mut document = document;
        document.revisions.commit = "12ab".to_owned();
        assert!(
            links
                .url(&document, 7, 3)
                .ends_with("%FF.c&rev=12ab&line=7")
        );
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
