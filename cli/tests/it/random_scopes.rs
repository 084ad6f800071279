//! Random packages, layouts, scopes and queries: restricted answers equal those without the hidden
//! packages, byte for byte.
//!
//! All scopes share one frontend, so leaks show. A failure prints its seed.

use crate::commits::git;
use crate::home::Home;
use crate::random::{Random, seeds};
use backend::LiveShards;
use frontend::{
    Backend, Config, Coordinator, NameSet, Query, QueryInput, Scope, SearchRequest, Socket,
    SpoolError, StartError,
};
use index::corpus::sources;
use index::indexing::{BuildOptions, Progress, build};
use schema::message::{FileRange, FileRequest, FileSource, ListKind, ListRequest, Want};
use schema::name::name_of;
use std::fmt::Write;
use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::runtime::{Handle, Runtime};

const SEEDS: u64 = 3;

const SCOPES: usize = 3;

const QUERIES: [&str; 12] = [
    "task",
    "case:no TASK",
    "task lang:c",
    "package:p1 task",
    "-package:p0 e",
    "/ta[sx]k3?/",
    "(task or nothing) -path:min",
    "multitasking task",
    "type:path task",
    "rev:* task",
    "task\\n}",
    "nowhere",
];

#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) directory: String,
    /// Two are replicas.
    pub(crate) backends: Vec<usize>,
    pub(crate) is_git: bool,
    pub(crate) is_versioned: bool,
}

impl Package {
    fn name(&self) -> &[u8] {
        name_of(self.directory.as_bytes(), !self.is_versioned)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) backends: usize,
    pub(crate) block_bytes: usize,
    pub(crate) shard_bytes: u64,
}

const PATHS: [&str; 7] = [
    "a.c",
    "src/task.c",
    "tests/task.py",
    "b2",
    "doc/x.md",
    "min.js",
    "left.bin",
];

/// Revision, and the part to read.
const FILES: [(&str, FileSource); 5] = [
    ("", FileSource::Text),
    ("topic", FileSource::Text),
    ("0123456", FileSource::Text),
    ("", FileSource::TextOrOriginal),
    ("HEAD", FileSource::Original),
];

/// Many have the same texts.
fn write_packages(home: &Home, layout: Layout, random: &mut Random) -> Vec<Package> {
    const LINES: [&str; 8] = [
        "int task;",
        "\ttask(2); // task",
        "",
        "nothing",
        "Task \u{e9}",
        "multitasking 1",
        "  }",
        "taskx = tasks[3];\r",
    ];
    let text = |random: &mut Random| {
        let lines = (0..random.below(400)).map(|_| random.of(&LINES));
        lines.fold(String::new(), |text, line| text + line + "\n")
    };
    let texts: Vec<String> = (0..4).map(|_| text(random)).collect();
    let mut packages = Vec::new();
    for number in 0..6 + random.below(12) {
        let is_git = layout.shard_bytes == u64::MAX && number % 4 == 3;
        let directory = if is_git {
            format!("g{number}")
        } else {
            format!("p{}_{number}.{}", number / 2, random.below(3))
        };
        let write = |random: &mut Random| {
            for path in PATHS.iter().take(1 + random.below(PATHS.len())) {
                let is_binary = path.ends_with(".bin");
                let text = if is_binary {
                    "\0".to_owned()
                } else if random.below(4) == 0 {
                    format!("{number}\n{}", text(random))
                } else {
                    texts[random.below(texts.len())].clone()
                };
                home.write(&format!("src/{directory}/{path}"), text);
            }
        };
        write(random);
        if is_git {
            let repository = format!("src/{directory}");
            let run = |arguments: &[&str]| git(home, &repository, arguments);
            run(&["init", "-q", "-b", "main"]);
            for branch in ["main", "topic"] {
                run(&["checkout", "-q", "-B", branch]);
                write(random);
                run(&["add", "."]);
                run(&["commit", "-q", "--allow-empty", "-m", branch]);
            }
            run(&["checkout", "-q", "main"]);
        }
        let mut backends = vec![random.below(layout.backends), random.below(layout.backends)];
        if !is_git && random.below(3) > 0 {
            backends.pop();
        }
        backends.truncate(if is_git { 1 } else { 2 });
        backends.dedup();
        packages.push(Package {
            directory,
            backends,
            is_git,
            is_versioned: layout.shard_bytes != u64::MAX,
        });
    }
    packages
}

/// Runs in this process.
pub(crate) struct World<'a> {
    runtime: &'a Runtime,
    pub(crate) frontend: Arc<Coordinator>,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        runtime: &'a Runtime,
        home: &Home,
        name: &str,
        packages: &[Package],
        layout: Layout,
    ) -> World<'a> {
        for number in 0..layout.backends {
            let is_here = |package: &&Package| package.backends.contains(&number);
            let own: Vec<_> = packages.iter().filter(is_here).collect();
            // An index cannot be empty.
            if !own.is_empty() {
                make_index(
                    home,
                    &format!("{name}-{number}"),
                    &own,
                    layout,
                    number as u64,
                );
            }
        }
        World::reopened(runtime, home, name, layout)
    }

    pub(crate) fn reopened(
        runtime: &'a Runtime,
        home: &Home,
        name: &str,
        layout: Layout,
    ) -> World<'a> {
        World::configured(runtime, home, name, layout, |_| {})
    }

    pub(crate) fn configured(
        runtime: &'a Runtime,
        home: &Home,
        name: &str,
        layout: Layout,
        change: impl FnOnce(&mut Config),
    ) -> World<'a> {
        let frontend = runtime.block_on(async {
            let backends = (0..layout.backends).filter_map(|number| {
                let index = home.path(&format!("{name}-{number}"));
                index.exists().then(|| start(&number.to_string(), &index))
            });
            let mut config = Config {
                // Other tests may use the processors.
                silence_max: Duration::from_secs(60),
                has_scopes: true,
                ..Config::new(home.path(&format!("{name}-spool")))
            };
            change(&mut config);
            let backends: Vec<_> = backends.collect();
            // A dropped frontend may still hold the spool.
            loop {
                match Coordinator::start(config.clone(), backends.clone()) {
                    Err(StartError::Spool(SpoolError::Locked(_))) => {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    started => break started.unwrap(),
                }
            }
        });
        let world = World { runtime, frontend };
        let all_listed = || {
            let backends = world.frontend.backends(&Scope::everything());
            backends.iter().all(|backend| backend.connected)
        };
        while !all_listed() {
            runtime.block_on(world.frontend.package_names_soon());
        }
        world
    }

    pub(crate) fn scope(&self, sees: impl Fn(&[u8]) -> bool) -> Scope {
        let names = self.frontend.package_names().unwrap();
        let visible = names.iter().enumerate().filter(|(_, name)| sees(name));
        let visible: NameSet = visible.map(|(number, _)| number).collect();
        Scope::of(&names, visible)
    }

    /// Excludes ids and times.
    fn answer(&self, scope: &Scope, query: Query) -> String {
        let frontend = &self.frontend;
        let request = SearchRequest::new(scope, query.clone());
        let search = self.runtime.block_on(frontend.search(request));
        let search = search.unwrap();
        let answer = self.runtime.block_on(search.finished()).unwrap();
        assert!(answer.is_complete(), "{:?}", answer.missing());
        assert_eq!(frontend.identity(scope, &query), answer.identity());
        let mut out = format!(
            "found {} len {} unique {:?} documents {} packages {} known {:?} reached {:?}\n{:?}\n{:?}\n",
            answer.found(),
            answer.len(),
            answer.unique(),
            answer.documents(),
            answer.packages(),
            answer.known,
            answer.outcome.reached,
            answer.skipped(),
            answer.explain(),
        );
        let overlaps = &answer.outcome.overlaps.packages;
        writeln!(out, "{overlaps:?} {:?}", answer.facets().unwrap()).unwrap();
        if answer.is_empty() {
            return out;
        }
        let positions: Vec<u64> = (0..answer.len() as u64).collect();
        for found in answer.matches_with_copies(&positions).unwrap() {
            writeln!(out, "{found:?}").unwrap();
        }
        let packages = answer.package_list(0..answer.packages()).unwrap();
        let documents = answer.document_list(0..answer.documents_listed().unwrap());
        writeln!(out, "{packages:?}\n{:?}", documents.unwrap()).unwrap();
        out
    }

    fn catalog(&self, scope: &Scope, packages: &[Package]) -> String {
        let frontend = &self.frontend;
        let served = frontend.served(scope);
        let mut out = format!(
            "{} {} {} {}\n{:?}\n",
            served.shards,
            served.packages,
            served.documents,
            served.text_bytes,
            frontend.overlaps(scope)
        );
        for backend in frontend.backends(scope) {
            if backend.shards > 0 {
                let counts = (backend.shards, backend.packages, backend.documents);
                writeln!(out, "{} {counts:?} {}", backend.name, backend.text_bytes).unwrap();
            }
        }
        let query = parse("task");
        writeln!(out, "{:?}", frontend.notice_of_revisions(scope, &query)).unwrap();
        let names = packages.iter().map(|package| &package.directory[..]);
        let mut asked = vec![(ListKind::Packages, ""), (ListKind::Skipped, "")];
        asked.push((ListKind::Repositories, ""));
        for name in names.clone().chain(["p0", "p1", "none"]) {
            asked.extend([ListKind::Children, ListKind::Skipped].map(|kind| (kind, name)));
        }
        for (kind, package) in asked {
            let request = ListRequest {
                kind,
                package: package.into(),
                prefix: Vec::new(),
                after: Vec::new(),
                count: 1000,
                visible: None,
                revision: String::new(),
            };
            let list = self.runtime.block_on(frontend.listing(scope, &request));
            let list = list.unwrap();
            assert!(list.unreachable.is_empty());
            for mut entry in list.entries {
                entry.indexed = 0;
                if let Some(repository) = &mut entry.repository {
                    repository.fetched = 0;
                }
                writeln!(out, "{kind:?} {package} {entry:?}").unwrap();
            }
        }
        for (name, path) in names
            .clone()
            .flat_map(|name| PATHS.map(|path| (name, path)))
        {
            for (revision, source) in FILES {
                let request = FileRequest {
                    package: name.into(),
                    path: path.into(),
                    range: FileRange::Bytes {
                        offset: 0,
                        count: 100,
                    },
                    revision: revision.to_owned(),
                    source,
                    visible: None,
                    definitions: false,
                    inside: Vec::new(),
                    symbol_line: 0,
                    symbol_column: 0,
                };
                let file = frontend.file(scope, &request);
                let file = self.runtime.block_on(file).unwrap();
                writeln!(out, "{name} {path} {revision} {file:?}").unwrap();
            }
        }
        let pairs = names.chain(["g", "none"]);
        let pairs = pairs.map(|name| (name.to_owned(), "topic".to_owned()));
        let commits = self
            .runtime
            .block_on(frontend.commits(scope, pairs.collect()));
        writeln!(out, "{commits:?}").unwrap();
        out
    }
}

/// Builds one or several shards. File times depend only on the backend.
fn make_index(home: &Home, out: &str, packages: &[&Package], layout: Layout, backend: u64) {
    if layout.shard_bytes == u64::MAX {
        // A later run may merge shards.
        let source = |it: &&Package| {
            let flag = if it.is_git { "--git " } else { "" };
            format!(" {flag}src/{}", it.directory)
        };
        let all: String = packages.iter().map(source).collect();
        let has_git = packages.iter().any(|package| package.is_git);
        let refs = if has_git { "--ref all" } else { "" };
        let block_bytes = layout.block_bytes;
        let options = format!("--no-ignore --block-size {block_bytes} {refs}");
        home.ok(&format!("index --index {out} {options}{all}"));
    } else {
        let options = BuildOptions {
            options: index::manifest::Options {
                block_bytes: layout.block_bytes,
                no_ignore: true,
            },
            shard_bytes: layout.shard_bytes,
            jobs: 1,
            ..BuildOptions::default()
        };
        let paths = packages
            .iter()
            .map(|it| home.path(&format!("src/{}", it.directory)));
        let mut sources = sources(&paths.collect::<Vec<_>>(), false).unwrap();
        // Sources of a directory of packages are versioned.
        sources.iter_mut().for_each(|it| it.is_versioned = true);
        build(sources, &home.path(out), &options, &Progress::default()).unwrap();
    }
    let time = UNIX_EPOCH + Duration::from_secs(1_700_000_000 + backend);
    for file in fs::read_dir(home.path(out)).unwrap() {
        let file = File::options().append(true).open(file.unwrap().path());
        file.unwrap().set_modified(time).unwrap();
    }
}

fn start(name: &str, index: &Path) -> Backend {
    let live = LiveShards::open(index).unwrap();
    let options = backend::server::Options {
        workers: 2,
        ..backend::server::Options::default()
    };
    let backend = backend::Backend::start(live, None, options);
    let runtime = Handle::current();
    Backend::new(name, move |_| {
        let (ours, theirs) = UnixStream::pair()?;
        let _guard = runtime.enter();
        theirs.set_nonblocking(true)?;
        let theirs = tokio::net::UnixStream::from_std(theirs)?;
        let backend = Arc::clone(&backend);
        runtime.spawn(async move { backend.serve(theirs).await });
        Ok(Socket::Unix(ours))
    })
}

pub(crate) fn parse(text: &str) -> Query {
    let input = QueryInput {
        q: text,
        ..QueryInput::default()
    };
    Query::parse(&input).unwrap().query
}

fn queries() -> Vec<Query> {
    let wants = [
        (Want::Matches, 0),
        (Want::Matches, 3),
        (Want::Documents, 0),
        (Want::Count, 0),
        (Want::Estimate, 0),
    ];
    let of = |text| wants.map(|(want, limit)| parse(text).wanting(want, limit).unwrap());
    QUERIES.into_iter().flat_map(of).collect()
}

fn check(runtime: &Runtime, seed: u64) {
    let mut random = Random(seed);
    let home = Home::new();
    let layout = Layout {
        backends: 1 + random.below(3),
        block_bytes: random.of(&[256, 4096]),
        shard_bytes: random.of(&[u64::MAX, u64::MAX, 1]),
    };
    let packages = write_packages(&home, layout, &mut random);
    let all = World::new(runtime, &home, "all", &packages, layout);
    for number in 0..SCOPES {
        let hidden: Vec<&[u8]> = packages
            .iter()
            .map(Package::name)
            .filter(|_| random.below(2) == 0)
            .collect();
        let sees = |name: &[u8]| !hidden.contains(&name);
        let visible = packages.iter().filter(|package| sees(package.name()));
        let visible: Vec<Package> = visible.cloned().collect();
        if visible.is_empty() {
            continue;
        }
        let never = World::new(runtime, &home, &format!("never{number}"), &visible, layout);
        let (here, there) = (all.scope(sees), never.scope(|_| true));
        assert_eq!(here, there, "the hash is of visible names");
        let what = format!("seed {seed}, {layout:?}, without {hidden:?} of {packages:?}");
        let lists = all.catalog(&here, &packages);
        compare(&lists, &never.catalog(&there, &packages), &what);
        for query in queries() {
            let answer = all.answer(&here, query.clone());
            let expected = never.answer(&there, query.clone());
            compare(&answer, &expected, &format!("{what}, {query:?}"));
        }
    }
}

fn compare(answer: &str, expected: &str, what: &str) {
    let lines = answer.lines().zip(expected.lines());
    for (line, expected) in lines {
        assert_eq!(line, expected, "{what}");
    }
    assert_eq!(answer.len(), expected.len(), "{what}");
}

#[test]
fn an_answer_for_some_packages_is_that_of_an_index_that_never_had_the_others() {
    let runtime = Runtime::new().unwrap();
    seeds(SEEDS).for_each(|seed| check(&runtime, seed));
}
