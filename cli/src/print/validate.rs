//! Validates a match from a server, which may send anything, before it is used.
//!
//! **Invariant:** in a valid match all ranges and windows are inside their lines, and no offset and no
//! line number overflows.

use anyhow::{Result, ensure};
use frontend::{ContextLine, Match, Window};

/// Rejects a match that contradicts itself.
pub(super) fn validate(found: &Match) -> Result<()> {
    ensure!(
        is_valid(found),
        "invalid match from the server: {}/{}:{}: a range is outside of its line, or a line outside of its \
         file; is this a Trawl server of the same version?",
        String::from_utf8_lossy(&found.document.package),
        String::from_utf8_lossy(&found.document.path),
        found.line
    );
    Ok(())
}

fn is_valid(found: &Match) -> bool {
    let mut ranges = found.ranges.iter();
    let lines = found.before.iter().chain(&found.after);
    let lengths = lines.map(|ContextLine { text, window, .. }| length(text, *window));
    // Each line has a line end, of one byte.
    let end = lengths
        .chain([length(&found.text, found.window)])
        .try_fold(found.offset, |at, length| {
            at.checked_add(length?)?.checked_add(1)
        });
    ranges.all(|range| range.start <= range.end && range.end <= found.text.len())
        && found.line.checked_add(found.lines).is_some()
        && end.is_some()
}

/// The length of a line; `None` if the window is outside of it.
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
    fn rejects_matches_that_contradict_themselves() {
        let windowed = |start, line_bytes| Some(Window { start, line_bytes });
        let reversed = std::ops::Range { start: 2, end: 1 };
        assert!(is_valid(&found()));
        let rejects = |change: fn(&mut Match)| {
            let mut found = found();
            change(&mut found);
            let error = validate(&found).unwrap_err().to_string();
            assert!(
                error.contains("invalid match from the server: /:"),
                "{error}"
            );
        };
        rejects(|it| it.ranges.push(3..4));
        rejects(|it| it.ranges.push(usize::MAX..usize::MAX));
        rejects(|it| it.offset = u64::MAX - 5);
        rejects(|it| it.line = u32::MAX);
        for (window, ranges) in [
            (windowed(1, 3), vec![]),
            (windowed(u64::MAX, 3), vec![]),
            (windowed(1, u64::MAX), vec![]),
            (windowed(0, 3), vec![reversed]),
        ] {
            assert!(
                !is_valid(&Match {
                    window,
                    ranges,
                    ..found()
                }),
                "{window:?}"
            );
        }
        let window = windowed(1, 4);
        assert!(is_valid(&Match { window, ..found() }));
    }
}
