//! Repositories made by `git`, and their indexed content.

use index::corpus::sources;
use index::directory::Index;
use index::indexing::{BuildOptions, Changes, Progress, Report, RepositorySource, update};
use index::shard::{DocId, TextCache};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

pub(crate) struct Fixture(TempDir);

pub(crate) struct Repository {
    pub(crate) path: PathBuf,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Fixture(tempfile::tempdir().expect("the system has room"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn init(&self, name: &str, flags: &[&str]) -> Repository {
        let path = self.path(name);
        std::fs::create_dir(&path).expect("the name is new");
        let repository = Repository { path };
        repository.git(&[&["init", "-q", "-b", "main"], flags].concat());
        repository
    }

    pub(crate) fn update(&self, repositories: &[&Repository], patterns: &[&str]) -> Report {
        self.update_with(repositories, patterns, &[])
    }

    pub(crate) fn update_with(
        &self,
        repositories: &[&Repository],
        patterns: &[&str],
        directories: &[PathBuf],
    ) -> Report {
        let changes = changes(repositories, patterns);
        self.update_in("index", &changes, directories)
    }

    pub(crate) fn update_in(
        &self,
        name: &str,
        changes: &Changes,
        directories: &[PathBuf],
    ) -> Report {
        let sources = sources(directories, false).expect("they are directories");
        let options = BuildOptions::default();
        update(
            sources,
            changes,
            &self.path(name),
            &options,
            &Progress::default(),
        )
        .expect("the index can be written")
    }

    pub(crate) fn index(&self) -> Index {
        self.index_in("index")
    }

    pub(crate) fn index_in(&self, name: &str) -> Index {
        Index::open(&self.path(name)).expect("it is an index")
    }
}

pub(crate) fn changes(repositories: &[&Repository], patterns: &[&str]) -> Changes {
    let source = |repository: &&Repository| source(&repository.path, patterns);
    Changes {
        repositories: repositories.iter().map(source).collect(),
        ..Changes::default()
    }
}

pub(crate) fn source(path: &Path, patterns: &[&str]) -> RepositorySource {
    let name = path.file_stem().expect("it has a name");
    RepositorySource {
        name: name.as_encoded_bytes().to_vec(),
        path: path.to_owned(),
        location: path.as_os_str().as_encoded_bytes().to_vec(),
        patterns: patterns.iter().map(|it| (*it).to_owned()).collect(),
        ..RepositorySource::default()
    }
}

impl Repository {
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_with(arguments, "")
    }

    fn git_with(&self, arguments: &[&str], input: &str) -> String {
        let mut child = Command::new("git")
            .args(arguments)
            .current_dir(&self.path)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", "/nonexistent")
            .env("GIT_AUTHOR_NAME", "Ada")
            .env("GIT_AUTHOR_EMAIL", "ada@example.org")
            .env("GIT_COMMITTER_NAME", "Bob")
            .env("GIT_COMMITTER_EMAIL", "bob@example.org")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("git is installed: apt install git");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(input.as_bytes()).expect("git reads it");
        drop(stdin);
        let output = child.wait_with_output().expect("git ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// `None` deletes a file.
    pub(crate) fn import(&self, reference: &str, files: &[(&str, Option<&str>)]) {
        let known = self.git(&["for-each-ref", "--format=%(refname)", reference]);
        self.import_from(reference, (!known.is_empty()).then_some(reference), files);
    }

    pub(crate) fn import_from(
        &self,
        reference: &str,
        parent: Option<&str>,
        files: &[(&str, Option<&str>)],
    ) {
        let parent = parent.map(|name| self.git(&["rev-parse", name]));
        let parent = parent.unwrap_or_default();
        let mut stream = String::from(
            "reset refs/import/x\n\ncommit refs/import/x\ncommitter Bob <bob@example.org> 1700000000 +0000\ndata 1\nx\n",
        );
        if let Some(parent) = parent.lines().next() {
            let _ = writeln!(stream, "from {parent}");
        }
        for (path, text) in files {
            let _ = match text {
                Some(text) => write!(
                    stream,
                    "M 100644 inline {path}\ndata {}\n{text}\n",
                    text.len()
                ),
                None => writeln!(stream, "D {path}"),
            };
        }
        self.git_with(&["fast-import", "--quiet", "--force"], &stream);
        self.git(&["update-ref", reference, "refs/import/x"]);
        self.git(&["update-ref", "-d", "refs/import/x"]);
    }

    pub(crate) fn blob(&self, text: &str) -> String {
        self.git_with(&["hash-object", "-w", "--stdin"], text)
    }

    /// Stages an entry on top of the default branch.
    pub(crate) fn stage(&self, mode: &str, id: &str, path: &str) {
        if !self.path.join(".git/index").exists() {
            self.git(&["read-tree", "main"]);
        }
        let entry = format!("{mode},{id},{path}");
        self.git(&["update-index", "--add", "--cacheinfo", &entry]);
    }

    pub(crate) fn commit_staged(&self, message: &str) {
        let tree = self.git(&["write-tree"]);
        let id = self.git(&["commit-tree", "-p", "main", "-m", message, &tree]);
        self.git(&["update-ref", "refs/heads/main", &id]);
    }
}

/// Lists `package/path revision@commit,… text` of all documents, in any revision.
pub(crate) fn contents(index: &Index) -> Vec<String> {
    let mut lines = Vec::new();
    for shard in &index.shards {
        for package in shard.live_packages() {
            let package = shard.package(package).unwrap();
            for id in shard.documents_of(&package).unwrap() {
                if shard.revisions().is_some_and(|of| !of.is_indexed(id.0)) {
                    continue;
                }
                let document = shard.document(id).unwrap();
                let text = shard.text_range(document.blocks.clone()).unwrap();
                let text = shard.text(text, &TextCache::default()).unwrap();
                let history = (shard.is_history()).then(|| shard.history_document(&document));
                let history = history.map(|found| {
                    let found = found.unwrap();
                    format!(" {} {:?}", found.commit, found.change)
                });
                let is_text = blake3::hash(&text).as_bytes() == document.hash;
                assert_eq!(is_text, history.is_none());
                let history = history.unwrap_or_default();
                let name = String::from_utf8_lossy(package.directory);
                let path = String::from_utf8_lossy(document.path);
                let text = String::from_utf8_lossy(&text);
                let revisions = revisions(shard, id);
                lines.push(format!("{name}/{path} {revisions} {text:?}{history}"));
            }
        }
    }
    lines.sort();
    lines
}

fn revisions(shard: &index::shard::Shard, id: DocId) -> String {
    let Some(all) = shard.revisions() else {
        return String::new();
    };
    let of = all.of(id.0);
    let names = of
        .iter()
        .map(|it| format!("{}@{}", String::from_utf8_lossy(it.name), it.commit));
    names.collect::<Vec<_>>().join(",")
}

/// Lists `package/path reason` of skipped files.
pub(crate) fn skipped(index: &Index) -> Vec<String> {
    let mut lines = Vec::new();
    for shard in &index.shards {
        for file in shard.skipped().unwrap() {
            let package = shard.package(file.package).unwrap().directory;
            let (package, path) = (
                String::from_utf8_lossy(package),
                String::from_utf8_lossy(&file.path),
            );
            lines.push(format!("{package}/{path} {}", file.reason));
        }
    }
    lines.sort();
    lines
}
