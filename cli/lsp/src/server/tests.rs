//! Hostile editors and corpora, by seed.

use crate::{Corpus, CorpusError, Ended, Found, Named, Place, Workspace, serve};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

const REQUESTS: usize = 60;

const METHODS: [&str; 7] = [
    "textDocument/definition",
    "textDocument/references",
    "textDocument/hover",
    "textDocument/documentHighlight",
    "textDocument/documentSymbol",
    "workspace/symbol",
    "textDocument/unknown",
];

const TEXTS: [&str; 5] = [
    "",
    "fn name() {\n\u{1f600} name(name)\r\n}",
    "/* name \u{0} */ int name(int a[\nname",
    "struct name { struct name {{{{ name \"name",
    "\n\n\u{fffd}name\u{300}\n",
];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }
}

struct Hostile;

impl Corpus for Hostile {
    fn search(&self, query: &str, matches_max: usize) -> Result<Vec<Found>, CorpusError> {
        let mut random = Random(query.len() as u64);
        let found = |_| Found {
            place: Place {
                package: random.one_of(&[b"p".to_vec(), b"..".to_vec(), b"\xff/".to_vec()]),
                path: random.one_of(&[b"a.c".to_vec(), b"../../x".to_vec(), b"\0".to_vec()]),
            },
            hash: String::new(),
            line: random.one_of(&[0, 1, 2, u32::MAX]),
            text: random.one_of(&TEXTS).into(),
            start: random.one_of(&[0, usize::MAX]),
            ranges: random.one_of(&[vec![], vec![[0, 4]], vec![[9, 1], [usize::MAX; 2]]]),
        };
        Ok((0..matches_max + 1).map(found).collect())
    }

    fn named(&self, it: &Named<'_>, lines_max: usize) -> Result<Vec<Found>, CorpusError> {
        self.search(it.name, lines_max)
    }

    fn text(&self, place: &Place) -> Result<Option<Vec<u8>>, CorpusError> {
        match &place.package[..] {
            b"p" => Ok(Some(TEXTS[1].into())),
            _ => Err(CorpusError("no such text".to_owned())),
        }
    }

    fn cancel(&self) {}
}

struct Output(Sender<Vec<u8>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn message(value: &Value) -> String {
    let text = value.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

fn request(random: &mut Random, id: usize) -> Value {
    let uris = [
        "file:///t/a.c",
        "file:///%00",
        "trawl://p/a.c",
        "trawl://",
        "x:",
        "file:///t/b",
    ];
    let numbers = [0, 1, 2, 5, u32::MAX];
    let document = json!({"uri": random.one_of(&uris)});
    let (line, character) = (random.one_of(&numbers), random.one_of(&numbers));
    let params = json!({
        "textDocument": document,
        "position": {"line": line, "character": character},
        "context": {"includeDeclaration": random.below(2) == 0},
        "query": random.one_of(&["name", "\"", "\\\" x", ""]),
    });
    json!({"jsonrpc": "2.0", "id": id, "method": random.one_of(&METHODS), "params": params})
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let hello = json!({"id": 0, "method": "initialize", "params": {"capabilities": {}}});
    let mut input = message(&hello);
    for id in 1..REQUESTS {
        let document = json!({
            "uri": random.one_of(&["file:///t/a.c", "trawl://p/a.c", "file:///%00"]),
            "languageId": "c", "version": 1, "text": random.one_of(&TEXTS),
        });
        let open = json!({"textDocument": document});
        input += &message(&json!({"method": "textDocument/didOpen", "params": open}));
        input += &message(&request(&mut random, id));
        let cancelled = json!({"id": random.below(REQUESTS)});
        input += &message(&json!({"method": "$/cancelRequest", "params": cancelled}));
    }
    let cache = tempfile::tempdir().unwrap();
    let workspace = Workspace {
        packages: vec![(b"q".to_vec(), "/t".into())],
        cache: Some(cache.path().to_owned()),
    };
    let (sender, output) = channel();
    let ended = serve(
        || Arc::new(Hostile),
        workspace,
        input.as_bytes(),
        Output(sender),
    );
    assert_eq!(ended.unwrap(), Ended::Regular, "seed {seed}");
    let mut written = Vec::new();
    // A thread that panics sends no response.
    while memchr::memmem::find_iter(&written, "Content-Length").count() < REQUESTS {
        let part = output.recv_timeout(Duration::from_secs(60));
        written.extend(part.unwrap_or_else(|_| panic!("a response is missing, seed {seed}")));
    }
}

#[test]
fn every_request_of_a_hostile_editor_is_answered_once() {
    (0..8).for_each(check);
}
