//! Lines of another version in this one.

use super::asked::{AskedFile, LineRange};
use crate::diff::{AskedDiff, Side, compare, text};
use crate::http::blocking;
use crate::http::links::{FileAddress, encode};
use crate::suggest::Corpus;
use language::diff::{TextDiff, mapped};

const FILE_BYTES_MAX: u64 = 8 << 20;

pub(super) async fn redirect(corpus: Corpus<'_>, asked: &AskedFile) -> Option<String> {
    if asked.from.is_empty() || asked.from_line > 0 {
        return None;
    }
    let side = |package: &[u8], revision: &str| Side {
        package: package.to_vec(),
        revision: revision.to_owned(),
    };
    let to = side(&asked.package, &asked.revision);
    let from = match &asked.revision[..] {
        "" => side(&asked.from, ""),
        _ => side(&asked.package, str::from_utf8(&asked.from).ok()?),
    };
    let before = text(corpus, &from, &asked.path, FILE_BYTES_MAX);
    let mut path = asked.path.clone();
    let after = match text(corpus, &to, &path, FILE_BYTES_MAX).await {
        Ok(after) => after,
        Err(_) => {
            path = renamed(corpus, from.clone(), to.clone(), &path).await?;
            text(corpus, &to, &path, FILE_BYTES_MAX).await.ok()?
        }
    };
    let lines = asked.kept.lines;
    if lines.last == 0 && path == asked.path {
        return None;
    }
    let before = before.await.ok()?;
    let (found, is_same) = blocking(move || follow(&before, &after, lines)).await;
    let view = asked.view();
    let address = FileAddress::current(&asked.package, &path).at(&asked.revision);
    let page = address.with_query(&view).show_href(0);
    let notice = match is_same {
        true => String::new(),
        false => format!("&from={}&from_line={}", encode(&asked.from), lines.first),
    };
    Some(format!(
        "{page}{notice}{}{}",
        found.parameter(),
        found.fragment()
    ))
}

async fn renamed(corpus: Corpus<'_>, from: Side, to: Side, path: &[u8]) -> Option<Vec<u8>> {
    let asked = AskedDiff {
        from: Some(from),
        to,
        path: path.to_vec(),
        from_path: Vec::new(),
    };
    let files = compare(corpus, &asked).await.ok()?.files;
    let mut renamed = files.into_iter().filter(|file| file.was == path);
    renamed.next().map(|file| file.path)
}

fn follow(before: &[u8], after: &[u8], lines: LineRange) -> (LineRange, bool) {
    if lines.last == 0 {
        return (lines, true);
    }
    let diff = TextDiff::of(before, after);
    let last = (diff.after.len() as u32).max(1);
    let line = |number: u32| {
        let (line, is_same) = mapped(&diff.hunks, number - 1);
        ((line + 1).min(last), is_same)
    };
    let (first, is_first_same) = line(lines.first);
    let (end, is_last_same) = line(lines.last);
    let found = LineRange {
        first,
        last: end.max(first),
    };
    (found, is_first_same && is_last_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_another_version() {
        let follow = |first, last| {
            let (found, is_same) =
                follow(b"a\nb\nc\n", b"new\na\nB\nc\n", LineRange { first, last });
            (found.first, found.last, is_same)
        };
        assert_eq!(follow(1, 1), (2, 2, true));
        assert_eq!(follow(2, 2), (3, 3, false));
        assert_eq!(follow(1, 3), (2, 4, true));
        assert_eq!(follow(9, 9), (4, 4, true), "a line that the text lacks");
        assert_eq!(follow(0, 0), (0, 0, true));
    }
}
