//! Parsed address of a file's page.

use super::super::filters::{grouped, short_id};
use super::super::form::Form;
use super::super::markdown::is_markdown;
use super::super::visible;
use crate::http::links::FileAddress;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::state::Call;

/// From 1; empty if `last` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineRange {
    pub(super) first: u32,
    pub(super) last: u32,
}

pub(super) struct AskedFile {
    pub(super) package: Vec<u8>,
    pub(super) path: Vec<u8>,
    pub(super) revision: String,
    pub(super) kept: FileView,
    pub(super) from: Vec<u8>,
    pub(super) from_line: u32,
    pub(super) first: Option<u32>,
    /// BLAKE3 of the linked text.
    pub(super) hash: Option<Vec<u8>>,
    pub(super) form: Form,
    pub(super) blame: bool,
    pub(super) plain: bool,
    pub(super) call: Call,
}

pub(super) const PLAIN: &str = "plain=yes";

const BLAME: &str = "blame=yes";

const HASH_DIGITS: usize = 64;

impl AskedFile {
    pub(super) fn new(call: Call) -> Result<AskedFile, Problem> {
        let params = &call.params;
        let first = params.number("first", 0)?;
        Ok(AskedFile {
            package: params.required("package")?.to_vec(),
            path: params.required("path")?.to_vec(),
            revision: params.text("rev")?.unwrap_or_default().to_owned(),
            kept: FileView::new(params)?,
            from: params.bytes("from").unwrap_or_default().to_vec(),
            from_line: params.number("from_line", 0)?,
            first: Some(first).filter(|&first| first > 0),
            hash: hash(params.text("hash")?.unwrap_or_default())?,
            form: Form::new(params),
            blame: params.bytes("blame") == Some(b"yes"),
            plain: params.bytes("plain") == Some(b"yes"),
            call,
        })
    }

    pub(super) fn address(&self) -> FileAddress<'_> {
        FileAddress::current(&self.package, &self.path).at(&self.revision)
    }

    /// Returns true for Markdown if the address asks for nothing in its lines.
    pub(super) fn is_rendered(&self) -> bool {
        let has_lines = self.kept.lines.last > 0 || self.first.is_some() || self.hash.is_some();
        let is_view = self.plain || self.blame || !self.kept.query.is_empty();
        is_markdown(&self.path) && !has_lines && !is_view
    }

    pub(super) fn moved(&self) -> Option<String> {
        let from = visible::plain(&self.from);
        let from = if self.revision.is_empty() {
            from
        } else {
            short_id(&from)
        };
        let line = grouped(self.from_line.into());
        (self.from_line > 0).then(|| {
            format!("Line {line} of {from} is not in this version: its change begins here")
        })
    }

    pub(super) fn view(&self) -> String {
        if self.blame {
            self.kept.query_with_blame()
        } else {
            self.kept.query.clone()
        }
    }
}

impl LineRange {
    /// Reads `7`, `7-9` or nothing, in either order. Line 0 does not exist.
    fn parse(text: &str) -> Result<LineRange, Problem> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.parse::<u32>().ok();
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first > 0 && last > 0 => Ok(LineRange {
                first: first.min(last),
                last: first.max(last),
            }),
            (Some(_), Some(_)) => Ok(LineRange::default()),
            _ if text.is_empty() => Ok(LineRange::default()),
            _ => {
                let detail = format!("line={text} is not a number or a range");
                Err(Problem::bad_request(detail).hint("such as line=7 or line=7-9"))
            }
        }
    }

    /// `#L7`, `#L7-L9` or nothing.
    pub(super) fn fragment(self) -> String {
        self.text("#L", "-L")
    }

    /// `&line=7`, `&line=7-9` or nothing.
    pub(super) fn parameter(self) -> String {
        self.text("&line=", "-")
    }

    fn text(self, before: &str, between: &str) -> String {
        match self {
            LineRange { last: 0, .. } => String::new(),
            LineRange { first, last } if first == last => format!("{before}{first}"),
            LineRange { first, last } => format!("{before}{first}{between}{last}"),
        }
    }

    pub(super) fn has(self, line: u32) -> bool {
        (self.first..=self.last).contains(&line) && line > 0
    }
}

pub(in super::super) struct FileView {
    pub(in super::super) query: String,
    pub(super) lines: LineRange,
}

impl FileView {
    pub(in super::super) const PARAMETERS: &[&str] =
        &["q", "mode", "case", "word", "exact", "line"];

    pub(in super::super) fn new(params: &Params) -> Result<FileView, Problem> {
        let form = Form::new(params);
        let has_query = !form.q.trim().is_empty();
        let query = has_query.then(|| form.query_parameters());
        Ok(FileView {
            query: query.unwrap_or_default(),
            lines: LineRange::parse(params.text("line")?.unwrap_or_default())?,
        })
    }

    pub(super) fn query_with_blame(&self) -> String {
        let separator = if self.query.is_empty() { "" } else { "&" };
        format!("{}{separator}{BLAME}", self.query)
    }

    pub(in super::super) fn parameters(&self) -> String {
        let separator = if self.query.is_empty() { "" } else { "&" };
        format!("{separator}{}{}", self.query, self.lines.parameter())
    }

    pub(in super::super) fn fragment(&self) -> String {
        self.lines.fragment()
    }
}

fn hash(digits: &str) -> Result<Option<Vec<u8>>, Problem> {
    if digits.is_empty() {
        return Ok(None);
    }
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..HASH_DIGITS).step_by(2).map(byte).collect();
    match bytes.filter(|_| digits.len() == HASH_DIGITS && digits.is_ascii()) {
        Some(bytes) => Ok(Some(bytes)),
        None => {
            let detail = "hash is malformed: expected 64 hexadecimal digits";
            Err(Problem::bad_request(detail).hint("leave it out to see the current text"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_and_ranges_in_either_order() {
        let range = |text: &str| {
            let range = LineRange::parse(text)?;
            Ok::<_, Problem>((range.first, range.last))
        };
        assert_eq!(range("").unwrap(), (0, 0));
        assert_eq!(range("0").unwrap(), (0, 0));
        assert_eq!(range("7").unwrap(), (7, 7));
        assert_eq!(range("20-10").unwrap(), (10, 20));
        assert_eq!(range("0-3").unwrap(), (0, 0));
        for bad in ["x", "1-", "-1", "1-2-3", "99999999999"] {
            assert!(range(bad).is_err(), "{bad}");
        }
        assert!(!LineRange::default().has(0));
    }

    #[test]
    fn reads_hashes_of_32_bytes() {
        assert_eq!(hash("").unwrap(), None);
        assert_eq!(hash(&"ab".repeat(32)).unwrap(), Some(vec![0xab; 32]));
        for bad in ["ab", &"ä".repeat(32), &"x".repeat(64), &"a".repeat(66)] {
            assert!(hash(bad).is_err(), "{bad}");
        }
    }
}
