//! Random packages in random layouts: pages equal those of one worker over one shard, byte for
//! byte. A failure prints its seed.

use crate::random::{Random, seeds};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::http::header::HOST;
use backend::LiveShards;
use backend::server::Options;
use frontend::{Backend, Config, Coordinator, Socket};
use index::ContentCodec;
use index::corpus::sources;
use index::indexing::{BuildOptions, Progress, build};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::{Handle, Runtime};
use tower_service::Service;

const SEEDS: u64 = 6;

const LAYOUTS: usize = 4;

/// Ties, filters, empty matches and no match.
const SEARCHES: [&str; 11] = [
    "q=task",
    "q=TASK&case=no&context=10",
    "q=ta%5Bsx%5D%7C%5E%24&mode=regexp&context=0",
    "q=task&group=package&per_package=2",
    "q=e&path=-2&package=p%5B0-4%5D&lang=c",
    "q=%5Cbtask%5Cb.*%5B0-3%5D&mode=regexp",
    "q=nowhere",
    "q=task&want=documents",
    "q=task&want=count",
    "q=task&limit=7",
    "q=e&want=documents&limit=3",
];

fn write_packages(source: &Path, random: &mut Random) -> Vec<PathBuf> {
    const PATHS: [&str; 6] = [
        "a.c",
        "src/task.c",
        "tests/task.py",
        "b2",
        "doc/x.md",
        "min.js",
    ];
    const LINES: [&str; 8] = [
        "int task;",
        "\ttask(2); // task",
        "",
        "nothing",
        "Task \u{e9} \u{202e}",
        "multitasking 1",
        "  }",
        "taskx = tasks[3];\r",
    ];
    let texts: Vec<String> = (0..4)
        .map(|_| {
            let lines = (0..random.below(60)).map(|_| random.of(&LINES));
            lines.fold(String::new(), |text, line| text + line + "\n")
        })
        .collect();
    let mut directories = Vec::new();
    for package in 0..3 + random.below(8) {
        let directory = source.join(format!("p{package}_{}", random.below(3)));
        for path in PATHS.iter().take(1 + random.below(PATHS.len())) {
            let path = directory.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut text = texts[random.below(texts.len())].clone();
            if random.below(8) == 0 {
                text.push_str(&("x".repeat(3000 + random.below(3000)) + "task"));
            }
            std::fs::write(path, text).unwrap();
        }
        directories.push(directory);
    }
    directories
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    backends: usize,
    workers: usize,
    block_bytes: usize,
    shard_bytes: u64,
    content: ContentCodec,
    /// Delays and splits bytes.
    late: bool,
}

impl Layout {
    const PLAIN: Layout = Layout {
        backends: 1,
        workers: 1,
        block_bytes: 4096,
        shard_bytes: u64::MAX,
        content: ContentCodec::Raw,
        late: false,
    };

    fn random(random: &mut Random) -> Layout {
        Layout {
            backends: 1 + random.below(5),
            workers: 1 + random.below(4),
            block_bytes: random.of(&[256, 1024, 4096]),
            shard_bytes: random.of(&[u64::MAX, 1]),
            content: random.of(&[ContentCodec::Raw, ContentCodec::Zstd]),
            late: random.below(3) > 0,
        }
    }
}

/// Runs in this process.
struct Site {
    runtime: Runtime,
    app: Router,
    _there: TempDir,
}

impl Site {
    fn new(packages: &[PathBuf], layout: Layout, random: &mut Random) -> Site {
        let there = tempfile::tempdir().unwrap();
        let mut parts = vec![Vec::new(); layout.backends];
        for package in packages {
            parts[random.below(layout.backends)].push(package.clone());
        }
        // An index cannot be empty.
        parts.retain(|part| !part.is_empty());
        let runtime = Runtime::new().unwrap();
        let app = runtime.block_on(async {
            let backends = parts.into_iter().enumerate().map(|(number, part)| {
                let out = there.path().join(number.to_string());
                start(&part, &out, layout, random.below(usize::MAX) as u64)
            });
            let config = Config::new(there.path().join("spool"));
            let frontend = Coordinator::start(config, backends.collect()).unwrap();
            fuzzing::router(frontend)
        });
        Site {
            runtime,
            app,
            _there: there,
        }
    }

    fn get(&self, path: &str) -> (u16, String) {
        let request = Request::get(path).header(HOST, "localhost");
        let request = request.body(Body::empty()).unwrap();
        let mut app = self.app.clone();
        self.runtime.block_on(async {
            let response = app.call(request).await.expect("it cannot fail");
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, String::from_utf8(body.into()).expect("escaped"))
        })
    }

    /// Excludes id, generation and timings, includes the export.
    fn pages(&self, search: &str, per_page: usize) -> Vec<String> {
        let mut pages = Vec::new();
        loop {
            let page = pages.len();
            let path = format!("/api/v2/search?{search}&page={page}&per_page={per_page}");
            let (status, text) = self.get(&path);
            if status == 404 {
                break;
            }
            assert_eq!(status, 200, "{path}: {text}");
            assert!(text.contains(r#""complete":true"#), "{path}: {text}");
            let start = text
                .find(r#""interpreted_as""#)
                .expect("it follows the generation");
            let end = text.rfind(r#","timings":{"#).expect("the last field");
            pages.push(text[start..end].to_owned());
        }
        if !search.contains("group") && !search.contains("want") {
            let (status, text) = self.get(&format!("/api/v2/export?{search}"));
            assert_eq!(status, 200, "{text}");
            pages.push(text);
        }
        pages
    }
}

fn start(packages: &[PathBuf], out: &Path, layout: Layout, seed: u64) -> Backend {
    let options = BuildOptions {
        options: index::manifest::Options {
            block_bytes: layout.block_bytes,
            no_ignore: true,
        },
        shard_bytes: layout.shard_bytes,
        content: Some(layout.content),
        jobs: 1,
        ..BuildOptions::default()
    };
    let sources = sources(packages, false).unwrap();
    build(sources, out, &options, &Progress::default()).unwrap();
    let options = Options {
        workers: layout.workers,
        ..Options::default()
    };
    let backend = backend::Backend::start(LiveShards::open(out).unwrap(), None, options);
    let runtime = Handle::current();
    let name = out.file_name().unwrap().to_string_lossy();
    Backend::new(name, move |_| {
        let (ours, theirs) = UnixStream::pair()?;
        let _guard = runtime.enter();
        theirs.set_nonblocking(true)?;
        let theirs = tokio::net::UnixStream::from_std(theirs)?;
        let backend = Arc::clone(&backend);
        runtime.spawn(async move { backend.serve(theirs).await });
        Ok(Socket::Unix(if layout.late {
            delayed(ours, seed)?
        } else {
            ours
        }))
    })
}

fn delayed(backend: UnixStream, seed: u64) -> std::io::Result<UnixStream> {
    let (ours, theirs) = UnixStream::pair()?;
    let (mut requests, mut asked) = (ours.try_clone()?, backend.try_clone()?);
    thread::spawn(move || {
        let _ = std::io::copy(&mut requests, &mut asked);
        let _ = asked.shutdown(std::net::Shutdown::Both);
    });
    thread::spawn(move || delay(backend, ours, Random(seed)));
    Ok(theirs)
}

fn delay(mut from: UnixStream, mut to: UnixStream, mut random: Random) {
    let mut piece = [0; 4096];
    loop {
        let most = 1 + random.below(piece.len());
        let Some(bytes @ 1..) = from.read(&mut piece[..most]).ok() else {
            let _ = to.shutdown(std::net::Shutdown::Both);
            return;
        };
        if random.below(2) == 0 {
            thread::sleep(Duration::from_micros(random.below(1500) as u64));
        }
        if to.write_all(&piece[..bytes]).is_err() {
            return;
        }
    }
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let source = tempfile::tempdir().unwrap();
    let packages = write_packages(source.path(), &mut random);
    let per_page = random.of(&[1, 3, 10, 1000]).max(packages.len() / 4);
    let plain = Site::new(&packages, Layout::PLAIN, &mut random);
    let expected = SEARCHES.map(|search| plain.pages(search, per_page));
    for _ in 0..LAYOUTS {
        let layout = Layout::random(&mut random);
        let site = Site::new(&packages, layout, &mut random);
        for (search, expected) in SEARCHES.iter().zip(&expected) {
            let pages = site.pages(search, per_page);
            let differs = pages
                .iter()
                .zip(expected)
                .position(|(page, expected)| page != expected);
            let differs = differs.or((pages.len() != expected.len()).then_some(pages.len()));
            if let Some(page) = differs {
                panic!(
                    "seed {seed}, {layout:?}, {search}, page {page} of {per_page}:\n{:?}\nexpected\n{:?}",
                    pages.get(page),
                    expected.get(page)
                );
            }
        }
    }
}

#[test]
fn pages_do_not_depend_on_the_layout() {
    seeds(SEEDS).for_each(check);
}
