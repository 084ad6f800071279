//! Proxy between frontend and backend. Forwards whole frames, so a test knows the received ones,
//! and can cut answers.

use schema::frame::{Decoder, Kind};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use testkit::net;

pub(crate) struct Proxy {
    pub(crate) address: String,
    shared: Arc<Shared>,
}

struct Shared {
    backend: Mutex<String>,
    trap: Mutex<Option<Trap>>,
    next_cut: NextCut,
}

/// Frames until the next cut; proxies can share it.
pub(crate) type NextCut = Arc<Mutex<Option<usize>>>;

/// Runs after the first BATCH.
struct Trap {
    kill: Box<dyn FnOnce() + Send>,
    sprung: mpsc::Sender<Cut>,
}

pub(crate) struct Cut {
    /// Received since the SEARCH.
    pub(crate) forwarded: Vec<Kind>,
    pub(crate) held_back: Vec<Kind>,
}

impl Proxy {
    pub(crate) fn start(backend: &str) -> Proxy {
        Proxy::cutting(backend, &NextCut::default())
    }

    pub(crate) fn cutting(backend: &str, next_cut: &NextCut) -> Proxy {
        let shared = Arc::new(Shared {
            backend: Mutex::new(backend.to_owned()),
            trap: Mutex::new(None),
            next_cut: Arc::clone(next_cut),
        });
        let accepting = Arc::clone(&shared);
        let address = net::serve(move |frontend| accepting.serve(frontend)).to_string();
        Proxy { address, shared }
    }

    pub(crate) fn forward_to(&self, backend: &str) {
        backend.clone_into(&mut self.shared.backend.lock().unwrap());
    }

    /// Calls `kill` after the first BATCH of the next answer, and stops forwarding.
    pub(crate) fn cut_after_first_batch(
        &self,
        kill: impl FnOnce() + Send + 'static,
    ) -> mpsc::Receiver<Cut> {
        let (sprung, receiver) = mpsc::channel();
        let kill = Box::new(kill);
        *self.shared.trap.lock().unwrap() = Some(Trap { kill, sprung });
        receiver
    }
}

impl Shared {
    fn serve(&self, frontend: TcpStream) {
        let address = self.backend.lock().unwrap().clone();
        // The frontend's connection is closed too.
        let Ok(backend) = TcpStream::connect(address) else {
            return;
        };
        let searched = AtomicBool::new(false);
        let left = AtomicUsize::new(usize::MAX);
        thread::scope(|scope| {
            scope.spawn(|| {
                forward(&frontend, &backend, |kind| {
                    searched.fetch_or(kind == Kind::Search, SeqCst);
                    if kind == Kind::Search
                        && let Some(frames) = self.next_cut.lock().unwrap().take()
                    {
                        left.store(frames, SeqCst);
                    }
                    true
                });
                let _ = backend.shutdown(Shutdown::Both);
            });
            self.answer(&backend, &frontend, &searched, &left);
            let _ = frontend.shutdown(Shutdown::Both);
        });
    }

    /// Ends when the connection ends, the trap springs, or no frame is `left`.
    fn answer(
        &self,
        backend: &TcpStream,
        frontend: &TcpStream,
        searched: &AtomicBool,
        left: &AtomicUsize,
    ) {
        let mut forwarded = Vec::new();
        let mut trap = None;
        let held_back = forward(backend, frontend, |kind| {
            if searched.load(SeqCst) {
                forwarded.push(kind);
            }
            if kind == Kind::Batch {
                trap = self.trap.lock().unwrap().take();
            }
            let is_counted = kind != Kind::Hello && left.load(SeqCst) != usize::MAX;
            let is_last = is_counted && left.fetch_sub(1, SeqCst) == 1;
            trap.is_none() && !is_last
        });
        if let Some(Trap { kill, sprung }) = trap {
            kill();
            let held_back = held_back.map_or_else(Vec::new, |decoder| drain(backend, decoder));
            let _ = sprung.send(Cut {
                forwarded,
                held_back,
            });
        }
    }
}

/// Ends with the connection, or when `go_on` returns false. Returns the remaining bytes.
fn forward(
    mut from: &TcpStream,
    mut to: &TcpStream,
    mut go_on: impl FnMut(Kind) -> bool,
) -> Option<Decoder> {
    let mut decoder = Decoder::new();
    loop {
        while let Some(kind) = next(&mut decoder) {
            let go_on = go_on(kind);
            to.write_all(decoder.consumed()).ok()?;
            if !go_on {
                return Some(decoder);
            }
        }
        fill(&mut from, &mut decoder)?;
    }
}

fn drain(mut from: &TcpStream, mut decoder: Decoder) -> Vec<Kind> {
    let mut kinds = Vec::new();
    loop {
        kinds.extend(std::iter::from_fn(|| next(&mut decoder)));
        if fill(&mut from, &mut decoder).is_none() {
            return kinds;
        }
    }
}

fn next(decoder: &mut Decoder) -> Option<Kind> {
    let frame = decoder.decode().expect("both sides send frames");
    frame.map(|frame| frame.kind)
}

fn fill(from: &mut &TcpStream, decoder: &mut Decoder) -> Option<()> {
    let bytes = from.read(decoder.space()).ok().filter(|&bytes| bytes > 0)?;
    decoder.filled(bytes);
    Some(())
}
