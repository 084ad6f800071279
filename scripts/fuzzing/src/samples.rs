//! A valid frame of every message, as seeds.

use schema::message::{
    Batch, Blame, BlameHunk, BlameSource, Change, ChangeKind, ChangeList, Commit, CommitLog,
    DocumentKind, End, Excluded, Expr, Failure, FailureKind, Field, FileDefinition, FileRange,
    FileReply, FileRequest, FileSource, Filter, Hello, Line, ListEntry, ListKind, ListReply,
    ListRequest, Lookup, LookupAnswer, LookupOf, LookupProblem, LookupProblemKind, LookupReply,
    LookupRequest, MessageError, PROTOCOL, Pattern, Progress, Range, Reading, Reference,
    ReferenceKind, ReferenceList, ResumePoint, Search, ShardEnd, ShardInfo, Skip, SpoolManifest,
    Syntax, TextBatch, TextOrder, TextParts, TextRun, TraceContext, VisibleShard, Want, Window,
};
use schema::order::SEMANTICS;
use std::num::{NonZeroU64, NonZeroU128};

/// Follows the order of [`crate::wire::messages`].
pub(crate) fn samples() -> Vec<Vec<u8>> {
    let frame = |encode: &dyn Fn(&mut Vec<u8>) -> Result<(), MessageError>| {
        let mut frame = Vec::new();
        encode(&mut frame).expect("the frame is short");
        frame
    };
    let (package, path) = (b"p_1".to_vec(), b"a/b.c".to_vec());
    let search = Search {
        expr: expr(),
        context_lines: 2,
        shards: vec![[1; 32], [2; 32]],
        want: Want::Documents,
        limit: 100,
        deadline_ms: 3000,
        heavy: true,
        names: true,
        uncounted: true,
        per_document: 3,
        first_range: true,
        text: TextOrder::Ranked,
        phrase: expr().patterns().into_iter().take(2).cloned().collect(),
        excluded: vec![Excluded {
            shard: 1,
            packages: vec![0, 3],
        }],
        visible: Some(vec![VisibleShard {
            shard: [2; 32],
            packages: [5, 1].into(),
            is_all: false,
        }]),
        resume: vec![ResumePoint {
            shard: 1,
            matches: 7,
            documents: 2,
            hash: 3,
            last: Some((4, 5)),
            skipped: 1,
            last_skipped: Some(6),
        }],
        trace: Some(TraceContext {
            trace: NonZeroU128::MIN,
            span: NonZeroU64::MAX,
            is_sampled: true,
        }),
    };
    let progress = Progress {
        blocks_done: 1,
        blocks_total: 2,
        documents: 3,
        matches: 4,
        bound: 1.5,
        steps: 5,
        is_queued: true,
    };
    let skip = skip();
    let failure = Failure {
        kind: FailureKind::BadQuery,
        message: "unclosed group".to_owned(),
        offset: Some(3),
        atom: Some(0),
        hint: "did you mean C?".to_owned(),
        cost: 5,
    };
    let request = FileRequest {
        package: package.clone(),
        path: path.clone(),
        range: FileRange::Lines { first: 3, count: 9 },
        revision: "v1.0".to_owned(),
        source: FileSource::Original,
        visible: None,
        definitions: false,
        inside: Vec::new(),
        symbol_line: 0,
        symbol_column: 0,
    };
    let reply = FileReply {
        found: true,
        offset: 4,
        first_line: 2,
        text: b"int needle;\n".to_vec(),
        total_lines: 3,
        total_bytes: 20,
        language: "C".to_owned(),
        hash: vec![5; 32],
        commit: "5".repeat(40),
        revisions: vec!["main".to_owned()],
        newest: "v1.0".to_owned(),
        from_objects: true,
        original: true,
        decoded_from: "utf-16le".to_owned(),
        lfs_pointer: "sha256:ab 12".to_owned(),
        reason: "too large".to_owned(),
        definitions: vec![FileDefinition {
            name: b"needle".to_vec(),
            kind: 12,
            is_declaration: true,
            line: 2,
            column: 4,
            end_line: 2,
            parent: b"Haystack".to_vec(),
            parent_index: Some(0),
        }],
        definitions_missing: "too long".to_owned(),
        symbol: b"npm p 1 f().".to_vec(),
    };
    let list = ListRequest {
        kind: ListKind::Children,
        package: package.clone(),
        prefix: b"src/".to_vec(),
        after: path.clone(),
        count: 100,
        visible: None,
        revision: String::new(),
    };
    let entry = ListEntry {
        package: package.clone(),
        path: path.clone(),
        documents: 1,
        language: "C".to_owned(),
        hash: vec![5; 32],
        reason: "ignored".to_owned(),
        ..ListEntry::default()
    };
    let listed = ListReply {
        entries: vec![entry],
        more: true,
    };
    let manifest = SpoolManifest {
        generation: "0123456789abcdef".to_owned(),
        search: search.clone(),
        frame_bytes: vec![8, 0, 1 << 40],
        pointers: 2,
        plan: "all".to_owned(),
        skipped: vec![skip.clone()],
        skipped_count: 1,
        finished: 1 << 30,
        order_bytes: vec![64, 0, 96],
        ..SpoolManifest::default()
    };
    vec![
        frame(&|out| hello().encode(out)),
        frame(&|out| search.encode(out)),
        frame(&|out| progress.encode(out)),
        frame(&|out| skip.encode(out)),
        frame(&|out| end().encode(out)),
        frame(&|out| failure.encode(out)),
        frame(&|out| request.encode(out)),
        frame(&|out| reply.encode(out)),
        frame(&|out| manifest.encode(out)),
        frame(&|out| list.encode(out)),
        frame(&|out| listed.encode(out)),
        frame(&|out| lookups().encode(out)),
        frame(&|out| found().encode(out)),
        frame(&|out| batch(out)),
        frame(&|out| text(out)),
    ]
}

fn lookups() -> LookupRequest {
    let revision = || "HEAD~2".to_owned();
    let (path, after) = (b"a/b.c".to_vec(), b"refs/heads/a".to_vec());
    let operations = [
        LookupOf::Commit {
            revision: revision(),
        },
        LookupOf::Log {
            revision: revision(),
            path,
            after: Vec::new(),
            count: 9,
        },
        LookupOf::References { after, count: 9 },
        LookupOf::Blame {
            revision: revision(),
            path: b"a/b.c".to_vec(),
        },
        LookupOf::Changes {
            since: "v1".to_owned(),
            path: b"a".to_vec(),
            revision: revision(),
            count: 9,
        },
    ];
    let lookup = |of| Lookup {
        repository: "a/b".to_owned(),
        of,
    };
    LookupRequest {
        lookups: operations.map(lookup).into(),
    }
}

fn found() -> LookupReply {
    let commit = Commit {
        id: "12".repeat(20),
        parents: vec!["34".repeat(20)],
        subject: b"web: fix".to_vec(),
        tags: vec![b"v1".to_vec()],
        ..Commit::default()
    };
    let reference = Reference {
        indexed: false,
        name: b"refs/heads/main".to_vec(),
        kind: ReferenceKind::Branch,
        id: commit.id.clone(),
    };
    let log = CommitLog {
        commits: vec![commit.clone()],
        paths: vec![b"a/b.c".to_vec()],
        next: b"n".to_vec(),
    };
    let list = ReferenceList {
        references: vec![reference],
        more: true,
    };
    let problem = LookupProblem {
        kind: LookupProblemKind::Ambiguous,
        reason: "two".to_owned(),
        candidates: vec!["1234".to_owned()],
    };
    let blame = Blame {
        found: true,
        commit: commit.id.clone(),
        complete: true,
        hunks: vec![BlameHunk {
            first: 1,
            lines: 3,
            source: 0,
            source_line: 7,
            or_earlier: false,
        }],
        sources: vec![BlameSource {
            commit: commit.id.clone(),
            ..BlameSource::default()
        }],
    };
    let changes = ChangeList {
        commit: commit.id.clone(),
        changes: vec![Change {
            path: b"a/b.c".to_vec(),
            kind: ChangeKind::Added,
            was: b"a/c".to_vec(),
            before: String::new(),
            after: commit.id.clone(),
            mode_before: 0,
            mode_after: 0o100_644,
        }],
        more: false,
        since: commit.id.clone(),
    };
    LookupReply {
        answers: vec![
            LookupAnswer::Blame(blame),
            LookupAnswer::Changes(changes),
            LookupAnswer::Commit(commit),
            LookupAnswer::Log(log),
            LookupAnswer::References(list),
            LookupAnswer::Problem(problem),
        ],
    }
}

/// Two patterns, a filter, and every operator.
fn expr() -> Expr {
    let pattern = Expr::Pattern(Pattern {
        text: "nee*dle".to_owned(),
        syntax: Syntax::Regexp,
        ignore_case: true,
        ..Pattern::default()
    });
    let filter = Expr::Filter(Filter {
        field: Field::Path,
        reading: Reading::Regexp,
        text: "^vendor/".to_owned(),
    });
    let line = Expr::Line(Box::new(pattern.clone()));
    Expr::all([Expr::any([pattern, line]), filter.negated()])
}

pub(crate) fn hello() -> Hello {
    let shard = ShardInfo {
        id: [1; 32],
        packages: 1,
        parts: 1,
        documents: 10,
        blocks: 100,
        text_bytes: 400_000,
    };
    Hello {
        protocol: PROTOCOL,
        shards: vec![shard],
        updated: 0,
        has_repositories: true,
        indexed_repositories: 0,
        semantics: SEMANTICS,
        has_views: true,
        resumes: true,
    }
}

/// Two matches, one in a truncated line, and context.
pub(crate) fn batch(out: &mut Vec<u8>) -> Result<(), MessageError> {
    let line = |number, rank, text_bytes, ranges| Line {
        number,
        rank,
        offset: u64::from(number) * 10,
        text_bytes,
        ranges,
    };
    let batch = Batch {
        shard: 0,
        document: 7,
        package: b"p_1",
        path: b"a/b.c",
        language: "C",
        kind: DocumentKind::Tests,
        hash: &[8; 32],
        text: b"int needle;// <b>needleneedle",
        lines: &[
            line(3, 1.5, 11, 1),
            line(4, 0.0, 6, 0),
            line(9, 1.25, 12, 2),
        ],
        ranges: &[
            Range { start: 4, end: 10 },
            Range { start: 0, end: 6 },
            Range { start: 6, end: 12 },
        ],
        windows: &[Window {
            line: 2,
            start: 500,
            line_bytes: 9000,
        }],
        spans: &[],
        revisions: &["main", "v1.0"],
        revision_count: 3,
        commit: "5555555555555555555555555555555555555555",
        kinds: &[],
        change: None,
        changed_lines: &[],
    };
    batch.encode(out)
}

/// Two matches.
fn text(out: &mut Vec<u8>) -> Result<(), MessageError> {
    let run = |rank, number| TextRun {
        rank,
        number,
        lines: 1,
        text_bytes: 14,
    };
    let batch = TextBatch {
        shard: 0,
        document: 7,
        package: b"p_1",
        path: b"a/b.c",
        hash: &[8; 32],
        is_revision: true,
        numbers: &[3, 9],
        runs: &[run(1.5, 9), run(1.25, 3)],
        text: TextParts {
            buffer: b"p_1/a/b.c:3:x\np_1/a/b.c:9:y\n",
            parts: &[(14, 28), (0, 14)],
        },
    };
    batch.encode(out)
}

pub(crate) fn skip() -> Skip {
    Skip {
        shard: 0,
        document: 2,
        package: b"p_1".to_vec(),
        path: b"a/b.c".to_vec(),
        reason: "too slow".to_owned(),
    }
}

/// Follows [`batch`] and [`skip`].
pub(crate) fn end() -> End {
    let hash = ShardEnd::key_hash(ShardEnd::key_hash(0, 7, 3), 7, 9);
    let shard = ShardEnd {
        shard: 0,
        matches: 2,
        found: 2,
        documents: 10,
        matched_documents: 1,
        blocks: 100,
        candidates: 2,
        matched_blocks: 1,
        verified_bytes: 8000,
        hash,
        skipped: 1,
        failure: String::new(),
    };
    End {
        shards: vec![shard],
        plan: "\"nee\" \"dle\"".to_owned(),
        ..End::default()
    }
}
