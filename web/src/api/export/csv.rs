//! Matches as CSV (RFC 4180), for spreadsheets.
//!
//! Spreadsheets run a cell as a formula if it begins with `=`, `+`, `-` or `@`, even after spaces.
//! Such text of a repository gets a leading `'`. Columns with the suffix `_base64` have the bytes
//! of cells that are not exact. Spaces separate revisions, and kinds of symbols.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::Match;
use language::symbols::Kind;

pub(crate) const HEADER: &[u8] = b"package,path,line,lines,text,language,rank,offset,\
    package_base64,path_base64,text_base64,commit,revision_count,revisions,kinds\r\n";

pub(crate) fn write(found: &Match, out: &mut Vec<u8>) {
    let document = &found.document;
    let cells = [&document.package, &document.path, &found.text].map(|bytes| Cell::new(bytes));
    let [package, path, text] = &cells;
    package.write(out);
    out.push(b',');
    path.write(out);
    out.extend_from_slice(format!(",{},{},", found.line, found.lines).as_bytes());
    text.write(out);
    out.push(b',');
    Cell::new(document.language.as_bytes()).write(out);
    out.extend_from_slice(format!(",{},{}", found.rank, found.offset).as_bytes());
    for cell in &cells {
        out.push(b',');
        out.extend_from_slice(cell.exact.as_bytes());
    }
    let revisions = &document.revisions;
    out.push(b',');
    Cell::new(revisions.commit.as_bytes()).write(out);
    out.push(b',');
    if revisions.count > 0 {
        out.extend_from_slice(revisions.count.to_string().as_bytes());
    }
    out.push(b',');
    Cell::new(revisions.names.join(" ").as_bytes()).write(out);
    out.push(b',');
    out.extend_from_slice(Kind::names_of(found.kinds).join(" ").as_bytes());
    out.extend_from_slice(b"\r\n");
}

struct Cell {
    shown: String,
    /// Base64 of the bytes, if `shown` differs.
    exact: String,
}

impl Cell {
    fn new(bytes: &[u8]) -> Cell {
        let text = String::from_utf8_lossy(bytes);
        let begins = text.trim_start();
        let is_formula = begins.starts_with(['=', '+', '-', '@']);
        let shown = format!("{}{text}", if is_formula { "'" } else { "" });
        let is_exact = shown.as_bytes() == bytes;
        let inexact = if is_exact { &[][..] } else { bytes };
        let exact = BASE64.encode(inexact);
        Cell { shown, exact }
    }

    fn write(&self, out: &mut Vec<u8>) {
        if !self.shown.contains([',', '"', '\r', '\n']) {
            return out.extend_from_slice(self.shown.as_bytes());
        }
        out.push(b'"');
        out.extend_from_slice(self.shown.replace('"', "\"\"").as_bytes());
        out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use frontend::{Document, DocumentRevisions};
    use std::sync::Arc;

    fn check(text: &[u8], expected: Expect) {
        check_in(DocumentRevisions::default(), text, expected);
    }

    fn check_in(revisions: DocumentRevisions, text: &[u8], expected: Expect) {
        let found = Match {
            document: Arc::new(Document {
                package: b"p_1".to_vec(),
                path: b"a,b.c".to_vec(),
                language: "C".to_owned(),
                hash: vec![],
                revisions,
                change: None,
            }),
            line: 3,
            lines: 1,
            text: text.to_vec(),
            rank: 1.5,
            ..Match::default()
        };
        let mut out = Vec::new();
        write(&found, &mut out);
        expected.assert_eq(String::from_utf8(out).unwrap().trim_end());
    }

    #[test]
    fn revisions_have_columns_and_are_no_formulas() {
        let revisions = DocumentRevisions {
            names: vec!["=cmd".to_owned(), "v1".to_owned()],
            count: 3,
            commit: "12ab".to_owned(),
        };
        check_in(
            revisions,
            b"x",
            expect![[r#"p_1,"a,b.c",3,1,x,C,1.5,0,,,,12ab,3,'=cmd v1,"#]],
        );
    }

    #[test]
    fn neutralizes_formulas_and_keeps_exact_bytes() {
        check(
            b"x = y",
            expect![[r#"p_1,"a,b.c",3,1,x = y,C,1.5,0,,,,,,,"#]],
        );
        check(b"\tx", expect![[r#"p_1,"a,b.c",3,1,	x,C,1.5,0,,,,,,,"#]]);
        check(
            b"\t@x",
            expect![[r#"p_1,"a,b.c",3,1,'	@x,C,1.5,0,,,CUB4,,,,"#]],
        );
        check(
            b"say(\"hi\")",
            expect![[r#"p_1,"a,b.c",3,1,"say(""hi"")",C,1.5,0,,,,,,,"#]],
        );
        check(
            b"=cmd|' /C calc'!A0",
            expect![[
                r#"p_1,"a,b.c",3,1,'=cmd|' /C calc'!A0,C,1.5,0,,,PWNtZHwnIC9DIGNhbGMnIUEw,,,,"#
            ]],
        );
        check(
            b"-1",
            expect![[r#"p_1,"a,b.c",3,1,'-1,C,1.5,0,,,LTE=,,,,"#]],
        );
        check(
            b"caf\xe9",
            expect![[r#"p_1,"a,b.c",3,1,caf�,C,1.5,0,,,Y2Fm6Q==,,,,"#]],
        );
        assert_eq!(HEADER.split(|&byte| byte == b',').count(), 15);
    }
}
