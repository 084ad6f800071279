//! A new store for each test, and machines that index.

use index::corpus;
use index::indexing::{self, BuildOptions, Changes, Progress};
use std::fs;
use std::path::{Path, PathBuf};
use store::{Generation, Objects, Published, Transfer};
use tempfile::TempDir;

pub(crate) struct World {
    root: TempDir,
    pub(crate) objects: Objects,
}

impl World {
    pub(crate) fn new() -> World {
        let root = tempfile::tempdir().unwrap();
        let url = match std::env::var("TRAWL_TEST_STORE") {
            Ok(url) => {
                let name = root.path().file_name().unwrap().to_str().unwrap();
                format!("{url}/{}", name.trim_start_matches('.'))
            }
            Err(_) => root.path().join("store").to_str().unwrap().to_owned(),
        };
        World {
            objects: Objects::open(&url).unwrap(),
            root,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn machine(&self, name: &str) -> Machine {
        Machine {
            directory: self.path(name),
            objects: self.objects.clone(),
        }
    }

    pub(crate) fn packages(&self) -> Vec<String> {
        names(&Generation::current(&self.objects).unwrap())
    }
}

/// Live, ascending.
pub(crate) fn names(generation: &Generation) -> Vec<String> {
    let live = generation.manifest.live();
    let mut names: Vec<_> = live
        .map(|package| String::from_utf8_lossy(&package.directory).into_owned())
        .collect();
    names.sort();
    names
}

pub(crate) struct Machine {
    directory: PathBuf,
    objects: Objects,
}

impl Machine {
    fn index_directory(&self) -> PathBuf {
        self.directory.join("index")
    }

    /// One file. Other versions are dropped.
    pub(crate) fn index(&self, package: &str, text: &str) {
        let source = self.directory.join("sources").join(package);
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("file.c"), text).unwrap();
        let changes = Changes {
            replace_versions: true,
            ..Changes::default()
        };
        self.update(&[source], changes);
    }

    pub(crate) fn remove(&self, package: &str) {
        let changes = Changes {
            remove: vec![package.as_bytes().to_vec()],
            ..Changes::default()
        };
        self.update(&[], changes);
    }

    fn update(&self, sources: &[PathBuf], changes: Changes) {
        let options = BuildOptions {
            jobs: 1,
            ..BuildOptions::default()
        };
        let mut sources = corpus::packages(sources, false, true).unwrap().sources;
        sources.iter_mut().for_each(|it| it.is_versioned = true);
        let out: &Path = &self.index_directory();
        indexing::update(sources, &changes, out, &options, &Progress::default()).unwrap();
    }

    pub(crate) fn publish(&self) -> Published {
        let progress = Transfer::default();
        store::publish(
            &self.objects,
            &self.index_directory(),
            None,
            false,
            &progress,
        )
        .unwrap()
    }
}
