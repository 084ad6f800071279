use super::*;
use frontend::Window;

fn found(text: &[u8], number: u32, ranges: &[(usize, usize)], context: usize) -> Match {
    let lines: Vec<_> = text.split(|&byte| byte == b'\n').collect();
    let line = |number: usize| ContextLine {
        line: number as u32,
        text: lines[number - 1].to_vec(),
        window: None,
    };
    let at = number as usize;
    let before = lines[..at - 1].iter().map(|line| line.len() + 1);
    Match {
        line: number,
        lines: 1,
        text: line(at).text,
        ranges: ranges.iter().map(|&(start, end)| start..end).collect(),
        before: (at.saturating_sub(context).max(1)..at).map(line).collect(),
        after: (at + 1..=(at + context).min(lines.len()))
            .map(line)
            .collect(),
        offset: before.sum::<usize>() as u64,
        ..Match::default()
    }
}

fn shown(text: &[u8], matches: &[Match], context: u32) -> Vec<(String, u32, Vec<u64>)> {
    let chunks = FileLines::new(matches, context).chunks();
    let shown = chunks.into_iter().map(|chunk| {
        let start = chunk.content_start.byte_offset as usize;
        assert!(text[start..].starts_with(&chunk.content.0), "{start}");
        for range in &chunk.ranges {
            assert!(range.end.byte_offset as usize <= start + chunk.content.0.len());
        }
        let starts = chunk.ranges.iter().map(|range| range.start.byte_offset);
        let content = String::from_utf8_lossy(&chunk.content.0).into_owned();
        (content, chunk.content_start.line_number, starts.collect())
    });
    shown.collect()
}

const TEXT: &[u8] = b"zero\none x\ntwo\n\nfour x\nfive x\nsix\nseven\n";

#[test]
fn chunks_merge_only_if_their_context_overlaps() {
    let matches: Vec<_> = [(2, 4, 5), (5, 5, 6), (6, 5, 6)]
        .map(|(line, start, end)| found(TEXT, line, &[(start, end)], 3))
        .into();
    let own = |content: &str, line, starts: &[u64]| (content.to_owned(), line, starts.to_vec());
    let expected = [
        own("one x\n", 2, &[9]),
        own("four x\n", 5, &[21]),
        own("five x\n", 6, &[28]),
    ];
    assert_eq!(shown(TEXT, &matches, 0), expected);
    let expected = [
        own("zero\none x\ntwo\n", 1, &[9]),
        own("\nfour x\nfive x\nsix\n", 4, &[21, 28]),
    ];
    assert_eq!(shown(TEXT, &matches, 1), expected);
    assert_eq!(shown(TEXT, &matches, 2)[0].2, [9, 21, 28]);
}

#[test]
fn a_part_of_a_line_stands_alone() {
    let mut matches = [1, 2, 3].map(|line| found(b"a x\nb x\nc x", line, &[(2, 3)], 2));
    matches[1].window = Some(Window {
        start: 1000,
        line_bytes: 5000,
    });
    matches[2].offset = 5005;
    let file = FileLines::new(&matches, 2);
    let chunks = file.chunks();
    let contents: Vec<_> = chunks.iter().map(|it| &it.content.0[..]).collect();
    assert_eq!(contents, [&b"a x\n"[..], b"b x", b"c x\n"]);
    let range = chunks[1].ranges[0];
    assert_eq!((range.start.byte_offset, range.start.column), (1006, 1003));
    assert_eq!(chunks[1].content_start.byte_offset, 1004);
    let lines = file.line_matches();
    assert_eq!(
        (lines[1].line_start, lines[1].line_fragments[0].line_offset),
        (1004, 2)
    );
}

#[test]
fn spans_end_on_the_line_of_their_last_byte() {
    let span = Match {
        line: 4,
        lines: 2,
        text: "ü{\r\n}\r".into(),
        ranges: vec![2..6],
        offset: 30,
        ..Match::default()
    };
    let matches = [span];
    let chunk = &FileLines::new(&matches, 0).chunks()[0];
    assert_eq!(chunk.content.0, "ü{\r\n}\r\n".as_bytes());
    let Range { start, end } = chunk.ranges[0];
    assert_eq!(
        (start.byte_offset, start.line_number, start.column),
        (32, 4, 2)
    );
    assert_eq!((end.byte_offset, end.line_number, end.column), (36, 5, 2));
}
