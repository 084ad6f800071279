//! Client of a backend in this process.

use crate::corpus::{Build, build_index, write_package};
use crate::found::Batch;
use backend::Backend;
use backend::LiveShards;
use backend::LookUp;
use backend::server::Options;
use index::shard::Shard;
use schema::frame::{Decoder, Kind};
use schema::message::{
    End, Expr, Failure, FileRange, FileReply, FileRequest, FileSource, Hello, ListReply,
    ListRequest, Pattern, Progress, Search, ShardEnd, Syntax,
};
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Limit for steps of untested duration.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Served {
    pub(super) backend: Arc<Backend>,
    pub(super) directory: tempfile::TempDir,
}

impl Served {
    pub(super) fn start(files: &[(&str, Vec<u8>)], searches: usize) -> Served {
        Served::in_blocks(4096, files, searches)
    }

    /// With blocks of `block_bytes`, and one heavy search at once.
    pub(super) fn in_blocks(
        block_bytes: usize,
        files: &[(&str, Vec<u8>)],
        searches: usize,
    ) -> Served {
        let directory = tempfile::tempdir().unwrap();
        build(&directory, files, block_bytes);
        Served::over(directory, searches)
    }

    pub(super) fn over(directory: tempfile::TempDir, searches: usize) -> Served {
        Served::with(directory, searches, None)
    }

    /// Serves `out` and repositories, one look-up request at a time.
    pub(super) fn with(
        directory: tempfile::TempDir,
        searches: usize,
        repositories: Option<Arc<dyn LookUp>>,
    ) -> Served {
        let live = LiveShards::open(&directory.path().join("out")).unwrap();
        let options = Options {
            workers: 2,
            searches,
            heavy_searches: 1,
            lookups: 1,
            ..Options::default()
        };
        let backend = Backend::start(live, repositories, options);
        Served { backend, directory }
    }

    pub(super) async fn connect(&self) -> (Client, JoinHandle<bool>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let backend = self.backend.clone();
        let mut client = Client::new(ours);
        let theirs = WatchedStream {
            stream: theirs,
            is_blocked: client.is_server_blocked.clone(),
        };
        let serving = tokio::spawn(async move { backend.serve(theirs).await.is_ok() });
        client.greeted().await;
        (client, serving)
    }

    pub(super) fn shard(&self) -> Arc<Shard> {
        self.backend.live().current().shards[0].clone()
    }
}

pub(super) fn build(directory: &tempfile::TempDir, files: &[(&str, Vec<u8>)], block_bytes: usize) {
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_bytes().to_vec(), text.clone()))
        .collect();
    let source: PathBuf = directory.path().join("source");
    let _ = std::fs::remove_dir_all(&source);
    write_package(&source.join("p_1"), &files);
    let how = Build {
        block_bytes,
        shard_bytes: u64::MAX,
        content: index::ContentCodec::Raw,
    };
    build_index(&source, &directory.path().join("out"), how);
}

pub(super) struct Client {
    stream: UnixStream,
    decoder: Decoder,
    pub(super) hello: Option<Hello>,
    is_server_blocked: watch::Sender<bool>,
}

/// Server's end. Reports writes that wait for the client.
struct WatchedStream {
    stream: UnixStream,
    is_blocked: watch::Sender<bool>,
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.is_blocked.send_replace(written.is_pending());
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

pub(super) struct Answer {
    pub(super) batches: Vec<Batch>,
    pub(super) progress: Vec<Progress>,
    pub(super) end: Result<End, Failure>,
}

impl Client {
    pub(super) fn new(stream: UnixStream) -> Client {
        Client {
            stream,
            decoder: Decoder::new(),
            hello: None,
            is_server_blocked: watch::Sender::new(false),
        }
    }

    pub(super) async fn server_blocked(&self) {
        let mut is_blocked = self.is_server_blocked.subscribe();
        let blocked = is_blocked.wait_for(|&is_blocked| is_blocked);
        timeout(PATIENCE, blocked).await.unwrap().unwrap();
    }

    pub(super) async fn next(&mut self) -> Option<(Kind, Vec<u8>)> {
        loop {
            if let Some(frame) = self.decoder.decode().unwrap() {
                return Some((frame.kind, frame.payload.to_vec()));
            }
            let read = timeout(PATIENCE, self.stream.read(self.decoder.space()));
            // The server resets a connection dropped with bytes unread.
            let read = read.await.expect("a frame arrives in time").unwrap_or(0);
            if read == 0 {
                return None;
            }
            self.decoder.filled(read);
        }
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(super) fn shards(&self) -> Vec<[u8; 32]> {
        let hello = self.hello.as_ref().expect("HELLO was received");
        hello.shards.iter().map(|shard| shard.id).collect()
    }

    pub(super) async fn greeted(&mut self) -> Hello {
        let (kind, payload) = self.next().await.unwrap();
        assert_eq!(kind, Kind::Hello);
        let hello = Hello::decode(&payload).unwrap();
        self.hello = Some(hello.clone());
        hello
    }

    pub(super) async fn ask(&mut self, text: &str, shards: Vec<[u8; 32]>) {
        self.ask_filtered(text, Vec::new(), shards).await;
    }

    pub(super) async fn ask_filtered(
        &mut self,
        text: &str,
        filters: Vec<Expr>,
        shards: Vec<[u8; 32]>,
    ) {
        let search = self.regexp(text);
        let search = Search {
            expr: Expr::all(std::iter::once(search.expr.clone()).chain(filters)),
            shards,
            ..search
        };
        self.ask_for(&search).await;
    }

    pub(super) fn regexp(&self, text: &str) -> Search {
        Search {
            expr: Expr::Pattern(Pattern {
                text: text.to_owned(),
                syntax: Syntax::Regexp,
                ignore_case: false,
                ..Pattern::default()
            }),
            context_lines: 1,
            shards: self.shards(),
            heavy: true,
            ..Search::default()
        }
    }

    pub(super) async fn ask_for(&mut self, search: &Search) {
        let mut bytes = Vec::new();
        search.encode(&mut bytes).unwrap();
        self.send(&bytes).await;
    }

    pub(super) async fn search(&mut self, text: &str, shards: Vec<[u8; 32]>) -> Answer {
        self.ask(text, shards).await;
        self.answer().await
    }

    /// Receives frames up to END or ERROR. Checks each PROGRESS.
    pub(super) async fn answer(&mut self) -> Answer {
        let (mut batches, mut progress) = (Vec::new(), Vec::<Progress>::new());
        let (mut matches, mut bound) = (0, f32::INFINITY);
        let end = loop {
            let (kind, payload) = self
                .next()
                .await
                .expect("END comes before the connection ends");
            match kind {
                Kind::Batch => {
                    let batch = Batch::decode(&payload);
                    matches += batch.matches().count() as u64;
                    assert!(batch.matches().all(|line| line.rank <= bound));
                    batches.push(batch);
                }
                Kind::Progress => {
                    let said = Progress::decode(&payload).unwrap();
                    assert_eq!(said.matches, matches);
                    assert!(said.blocks_done <= said.blocks_total);
                    bound = bound.min(said.bound);
                    progress.push(said);
                }
                Kind::End => break Ok(End::decode(&payload).unwrap()),
                Kind::Error => break Err(Failure::decode(&payload).unwrap()),
                // Perhaps sent before the search arrived.
                Kind::Hello => assert!(batches.is_empty() && progress.is_empty()),
                other => panic!("{other:?} in an answer"),
            }
        };
        Answer {
            batches,
            progress,
            end,
        }
    }

    pub(super) async fn file(&mut self, path: &str, range: FileRange) -> FileReply {
        self.try_file(path, range).await.unwrap()
    }

    pub(super) async fn list(&mut self, request: &ListRequest) -> ListReply {
        let mut bytes = Vec::new();
        request.encode(&mut bytes).unwrap();
        self.send(&bytes).await;
        loop {
            match self.next().await.unwrap() {
                (Kind::List, payload) => return ListReply::decode(&payload).unwrap(),
                (kind, _) => assert_eq!(kind, Kind::Hello),
            }
        }
    }

    pub(super) async fn try_file(
        &mut self,
        path: &str,
        range: FileRange,
    ) -> Result<FileReply, Failure> {
        let request = FileRequest {
            package: b"p_1".to_vec(),
            path: path.into(),
            range,
            revision: String::new(),
            source: FileSource::Text,
            visible: None,
            definitions: false,
            inside: Vec::new(),
            symbol_line: 0,
            symbol_column: 0,
        };
        self.ask_file(&request).await
    }

    pub(super) async fn ask_file(&mut self, request: &FileRequest) -> Result<FileReply, Failure> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes).unwrap();
        self.send(&bytes).await;
        loop {
            match self.next().await.unwrap() {
                (Kind::File, payload) => return Ok(FileReply::decode(&payload).unwrap()),
                (Kind::Error, payload) => return Err(Failure::decode(&payload).unwrap()),
                (kind, _) => assert_eq!(kind, Kind::Hello),
            }
        }
    }
}

pub(super) fn keys(batches: &[Batch]) -> Vec<(u32, u32)> {
    let of = |batch: &Batch| -> Vec<_> {
        let matches = batch.matches();
        matches.map(|line| (batch.document, line.number)).collect()
    };
    batches.iter().flat_map(of).collect()
}

pub(super) fn check_end(answer: &Answer) -> ShardEnd {
    let end = answer.end.as_ref().unwrap();
    let keys = keys(&answer.batches);
    let hash = keys.iter().fold(0, |hash, &(document, line)| {
        ShardEnd::key_hash(hash, document, line)
    });
    let [shard] = &end.shards[..] else {
        panic!("{end:?}")
    };
    assert_eq!((shard.matches, shard.hash), (keys.len() as u64, hash));
    assert_eq!((shard.shard, &shard.failure[..]), (0, ""));
    let last = answer.progress.last().expect("PROGRESS comes before END");
    assert_eq!(last.matches, shard.matches);
    assert_eq!(last.blocks_done, last.blocks_total);
    shard.clone()
}
