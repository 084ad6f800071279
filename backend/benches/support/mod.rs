//! Shared by benchmarks: a small index, and a client of a backend in this process.

use backend::server::Options;
use backend::{Backend, LiveShards};
use index::corpus::sources;
use index::indexing::{self, BuildOptions};
use schema::frame::{Decoder, Kind};
use schema::message::{Expr, Hello, Pattern, Search, Syntax};
use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

const CONTEXT_LINES: u32 = 2;

/// Arguments without Cargo's flag.
pub(crate) fn arguments() -> impl Iterator<Item = String> {
    let arguments = std::env::args().skip(1);
    arguments.filter(|argument| argument != "--bench")
}

pub(crate) fn small_index(directory: &Path, text: &str) -> Result<PathBuf, Box<dyn Error>> {
    let (source, index) = (directory.join("p_1"), directory.join("index"));
    std::fs::create_dir(&source)?;
    std::fs::write(source.join("a.c"), text)?;
    let (build, progress) = (BuildOptions::default(), indexing::Progress::default());
    indexing::build(sources(&[source], false)?, &index, &build, &progress)?;
    Ok(index)
}

pub(crate) struct Client {
    stream: UnixStream,
    decoder: Decoder,
    pub(crate) shards: Vec<[u8; 32]>,
    _runtime: tokio::runtime::Runtime,
}

impl Client {
    pub(crate) fn new(index: &Path) -> Result<Client, Box<dyn Error>> {
        let runtime = tokio::runtime::Runtime::new()?;
        let guard = runtime.enter();
        let backend = Backend::start(LiveShards::open(index)?, None, Options::default());
        let (stream, theirs) = UnixStream::pair()?;
        theirs.set_nonblocking(true)?;
        let theirs = tokio::net::UnixStream::from_std(theirs)?;
        runtime.spawn(async move { backend.serve(theirs).await });
        drop(guard);
        let mut client = Client {
            stream,
            decoder: Decoder::new(),
            shards: Vec::new(),
            _runtime: runtime,
        };
        while client.shards.is_empty() {
            client.fill()?;
            while let Some(frame) = client.decoder.decode()? {
                let hello = Hello::decode(frame.payload)?;
                client.shards = hello.shards.iter().map(|shard| shard.id).collect();
            }
        }
        Ok(client)
    }

    pub(crate) fn literal(&self, text: &str) -> Search {
        Search {
            expr: Expr::Pattern(Pattern {
                text: text.to_owned(),
                syntax: Syntax::Literal,
                ignore_case: false,
                ..Pattern::default()
            }),
            context_lines: CONTEXT_LINES,
            shards: self.shards.clone(),
            heavy: true,
            ..Search::default()
        }
    }

    pub(crate) fn send(&mut self, request: &[u8]) -> Result<(), Box<dyn Error>> {
        Ok(self.stream.write_all(request)?)
    }

    /// Calls `receive` with each BATCH, and with END.
    pub(crate) fn receive(
        &mut self,
        mut receive: impl FnMut(Kind, &[u8]) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        loop {
            while let Some(frame) = self.decoder.decode()? {
                match frame.kind {
                    Kind::Batch => receive(Kind::Batch, frame.payload)?,
                    Kind::End => return receive(Kind::End, frame.payload),
                    Kind::Hello | Kind::Progress => {}
                    other => panic!("{other:?} in an answer"),
                }
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<(), Box<dyn Error>> {
        let read = self.stream.read(self.decoder.space())?;
        assert_ne!(read, 0, "the backend has closed the connection");
        self.decoder.filled(read);
        Ok(())
    }
}
