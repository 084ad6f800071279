//! Checks what is said of a match before anything is done with it: a server may say what it likes.
//!
//! **Invariant:** of a match that passes, ranges and windows lie in their lines, and no offset in its
//! document and no line's number overflows.

use anyhow::{Result, ensure};
use frontend::{ContextLine, Match, Window};

/// An error when a match cannot be as it is said to be.
pub(super) fn check(found: &Match) -> Result<()> {
    ensure!(
        is_sound(found),
        "the answer contradicts itself: {}/{}:{}: a range is not in its line, or a line not in its file; \
         is this a Trawl server, of this version?",
        String::from_utf8_lossy(&found.document.package),
        String::from_utf8_lossy(&found.document.path),
        found.line
    );
    Ok(())
}

fn is_sound(found: &Match) -> bool {
    let mut ranges = found.ranges.iter();
    let lines = found.before.iter().chain(&found.after);
    let lengths = lines.map(|ContextLine { text, window, .. }| length(text, *window));
    // One more a line: its end.
    let end = lengths
        .chain([length(&found.text, found.window)])
        .try_fold(found.offset, |at, length| {
            at.checked_add(length?)?.checked_add(1)
        });
    ranges.all(|range| range.start <= range.end && range.end <= found.text.len())
        && found.line.checked_add(found.lines).is_some()
        && end.is_some()
}

/// How long a line is; `None` when the part that is there is not in it.
fn length(text: &[u8], window: Option<Window>) -> Option<u64> {
    let Some(Window { start, line_bytes }) = window else {
        return Some(text.len() as u64);
    };
    let end = start.checked_add(text.len() as u64)?;
    (end <= line_bytes).then_some(line_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::Document;
    use std::sync::Arc;

    fn found() -> Match {
        Match {
            document: Arc::new(Document::default()),
            line: 7,
            lines: 1,
            text: b"abc".to_vec(),
            ranges: vec![0..1, 3..3],
            before: vec![],
            after: vec![ContextLine {
                line: 8,
                text: b"after".to_vec(),
                window: None,
            }],
            rank: 1.0,
            offset: 40,
            window: None,
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let windowed = |start, line_bytes| Some(Window { start, line_bytes });
        let reversed = std::ops::Range { start: 2, end: 1 };
        let sound = found();
        assert!(is_sound(&sound));
        let refused = |change: fn(&mut Match)| {
            let mut found = found();
            change(&mut found);
            let error = check(&found).unwrap_err().to_string();
            assert!(error.contains("contradicts itself: /:"), "{error}");
        };
        refused(|it| it.ranges.push(3..4));
        refused(|it| it.ranges.push(usize::MAX..usize::MAX));
        refused(|it| it.offset = u64::MAX - 5);
        refused(|it| it.line = u32::MAX);
        for (window, ranges) in [
            (windowed(1, 3), vec![]),
            (windowed(u64::MAX, 3), vec![]),
            (windowed(1, u64::MAX), vec![]),
            (windowed(0, 3), vec![reversed]),
        ] {
            assert!(
                !is_sound(&Match {
                    window,
                    ranges,
                    ..found()
                }),
                "{window:?}"
            );
        }
        let window = windowed(1, 4);
        assert!(is_sound(&Match { window, ..found() }));
    }
}
