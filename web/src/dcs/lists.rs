//! JSON arrays of all matches, or of packages with their best matches, one element a line.
//!
//! Clients rely on two oddities: lines are escaped like Go's `html.EscapeString`, even in JSON, and
//! empty context lines are dropped. Bytes that are not UTF-8 become U+FFFD; `/api/v2` has them.

use crate::http::stream_body::{MatchSource, PIECE_BYTES, ReadMemory, Source};
use frontend::{ContextLine, Match, PackageGroup, Renderer, SearchResult, SpoolError};
use schema::name::package_name;
use std::sync::Arc;
use std::vec;

const PACKAGES_AT_ONCE: usize = 64;

const PER_PACKAGE: usize = 2;

pub(super) fn matches(answer: Arc<SearchResult>) -> Box<dyn Source> {
    let renderer = Renderer::new(Box::new(|found, out| push(&MatchShape::from(found), out)));
    array(MatchSource::new(answer, renderer, b""))
}

pub(super) fn packages(answer: Arc<SearchResult>) -> Box<dyn Source> {
    array(PackageSource {
        answer,
        written: 0,
        read: Vec::new().into_iter(),
    })
}

fn push(element: &impl serde::Serialize, out: &mut Vec<u8>) {
    out.push(b',');
    serde_json::to_writer(&mut *out, element).expect("elements are plain data");
    out.push(b'\n');
}

struct Array {
    elements: Box<dyn Source>,
    is_begun: bool,
    is_over: bool,
}

fn array(elements: impl Source) -> Box<dyn Source> {
    Box::new(Array {
        elements: Box::new(elements),
        is_begun: false,
        is_over: false,
    })
}

impl Source for Array {
    fn is_quick(&self) -> bool {
        self.elements.is_quick()
    }

    fn piece(&mut self, memory: &Arc<ReadMemory>) -> Result<Option<Vec<u8>>, SpoolError> {
        let mut out = Vec::new();
        while out.len() < PIECE_BYTES && !self.is_over {
            match self.elements.piece(memory)? {
                Some(piece) if out.is_empty() => out = piece,
                Some(piece) => out.extend_from_slice(&piece),
                None => {
                    if !self.is_begun && out.is_empty() {
                        out.push(b',');
                    }
                    out.push(b']');
                    self.is_over = true;
                }
            }
        }
        if let (false, Some(first)) = (self.is_begun, out.first_mut()) {
            *first = b'[';
            self.is_begun = true;
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }

    fn forget(&mut self) {
        self.elements.forget();
    }
}

struct PackageSource {
    answer: Arc<SearchResult>,
    written: usize,
    read: vec::IntoIter<PackageGroup>,
}

impl Source for PackageSource {
    fn is_quick(&self) -> bool {
        self.answer.is_in_memory()
    }

    fn piece(&mut self, _: &Arc<ReadMemory>) -> Result<Option<Vec<u8>>, SpoolError> {
        let mut out = Vec::new();
        while out.len() < PIECE_BYTES {
            if self.read.len() == 0 {
                let end = self.answer.packages().min(self.written + PACKAGES_AT_ONCE);
                self.read = self.answer.package_list(self.written..end)?.into_iter();
            }
            let Some(package) = self.read.next() else {
                break;
            };
            let matches = self.answer.matches_of(&package, PER_PACKAGE)?;
            let shape = PackageShape {
                package: lossy(package_name(&package.name)),
                results: matches.iter().map(Into::into).collect(),
            };
            push(&shape, &mut out);
            self.written += 1;
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }

    fn forget(&mut self) {
        // These packages are read again.
        self.read = Vec::new().into_iter();
    }
}

#[derive(Debug, serde::Serialize)]
struct MatchShape {
    package: String,
    path: String,
    line: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context_before: Vec<String>,
    context: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context_after: Vec<String>,
}

impl From<&Match> for MatchShape {
    fn from(found: &Match) -> Self {
        let package = lossy(&found.document.package);
        MatchShape {
            path: format!("{package}/{}", lossy(&found.document.path)),
            package,
            line: found.line,
            context_before: context(&found.before),
            context: escaped(&found.text),
            context_after: context(&found.after),
        }
    }
}

/// Named without its version.
#[derive(Debug, serde::Serialize)]
struct PackageShape {
    package: String,
    results: Vec<MatchShape>,
}

fn context(lines: &[ContextLine]) -> Vec<String> {
    let lines = lines.iter().filter(|line| !line.text.is_empty());
    lines.map(|line| escaped(&line.text)).collect()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn escaped(line: &[u8]) -> String {
    let mut out = String::with_capacity(line.len());
    for letter in String::from_utf8_lossy(line).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_lines_as_clients_expect() {
        let line = b"if (a < b && c > '\\'') puts(\"\xff\");";
        let expected =
            "if (a &lt; b &amp;&amp; c &gt; &#39;\\&#39;&#39;) puts(&#34;\u{fffd}&#34;);";
        assert_eq!(escaped(line), expected);
    }
}
