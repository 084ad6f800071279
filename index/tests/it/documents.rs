//! Large directories: an update replaces single documents and equals a fresh build.

use crate::repositories::support::{Fixture, contents, skipped};
use index::corpus::sources;
use index::indexing::{BuildOptions, Changes, Outcome, Progress, Report, update};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Enough for updates by document.
const FILES: usize = 1_100;

struct Large {
    fixture: Fixture,
    directory: PathBuf,
}

impl Large {
    fn new() -> Large {
        let fixture = Fixture::new();
        let directory = fixture.path("tree");
        for number in 0..FILES {
            let path = directory.join(format!("d{}/f{number}.c", number % 20));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("int number_{number};\n")).unwrap();
        }
        Large { fixture, directory }
    }

    /// Updates the index; returns the report and the files read.
    fn update(&self, changes: &Changes) -> (Report, u64) {
        let progress = Progress::default();
        let sources = sources(std::slice::from_ref(&self.directory), false).unwrap();
        let options = BuildOptions::default();
        let report = update(
            sources,
            changes,
            &self.fixture.path("index"),
            &options,
            &progress,
        );
        (report.unwrap(), progress.files.load(Ordering::Relaxed))
    }

    fn check(&self, round: usize) {
        let name = format!("anew{round}");
        let directories = [self.directory.clone()];
        let anew = self
            .fixture
            .update_in(&name, &Changes::default(), &directories);
        let (index, other) = (self.fixture.index(), self.fixture.index_in(&name));
        assert_eq!(contents(&index), contents(&other), "round {round}");
        assert_eq!(skipped(&index), skipped(&other), "round {round}");
        let documents: u32 = index
            .shards
            .iter()
            .map(|it| it.live_counts().documents)
            .sum();
        assert_eq!(u64::from(documents), anew.documents, "round {round}");
    }

    fn write(&self, number: usize, text: &str) {
        let path = format!("d{}/f{number}.c", number % 20);
        fs::write(self.directory.join(path), text).unwrap();
    }
}

#[test]
fn a_changed_file_of_a_large_directory_is_one_new_document() {
    let large = Large::new();
    let (built, _) = large.update(&Changes::default());
    assert_eq!(built.documents, FILES as u64);
    let first = large.fixture.index().shards[0].file_id();
    for round in 0..3 {
        large.write(7, &format!("changed {round}\n"));
        let (report, read) = large.update(&Changes::default());
        assert_eq!((report.read.documents, read), (1, 1), "round {round}");
        assert_eq!((report.packages, report.documents), (1, FILES as u64));
        assert_eq!(large.fixture.index().shards[0].file_id(), first);
        large.check(round);
    }
    let (report, _) = large.update(&Changes::default());
    assert_eq!(report.outcome, Outcome::Unchanged);
}

#[test]
fn a_large_directory_brought_up_to_date_step_by_step_is_one_indexed_anew() {
    let large = Large::new();
    large.update(&Changes::default());
    let mut random = 0x9e37_79b9_u32;
    let mut next = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    for round in 0..14 {
        for _ in 0..=next(4) {
            let number = next(FILES);
            let path = format!("d{}/f{number}.c", number % 20);
            match next(5) {
                0 => drop(fs::remove_file(large.directory.join(path))),
                1 => large.write(number, "a\0b"),
                2 => drop(fs::rename(
                    large.directory.join(path),
                    large.directory.join("moved.c"),
                )),
                3 => {
                    fs::write(large.directory.join(".gitignore"), format!("f{number}.c\n")).unwrap()
                }
                _ => large.write(number, &format!("round {round} of {}\n", next(9))),
            }
        }
        large.update(&Changes::default());
        large.check(round);
        assert!(large.fixture.index().shards.len() <= 8);
    }
}

#[test]
fn verify_repairs_a_part_of_a_large_directory() {
    let large = Large::new();
    large.update(&Changes::default());
    large.write(7, "changed\n");
    large.update(&Changes::default());
    let verify = Changes {
        verify: true,
        ..Changes::default()
    };
    let (report, _) = large.update(&verify);
    let verified = report.verified.expect("it was asked for");
    assert_eq!((verified.files, verified.differing), (FILES as u64, 0));
    large.check(0);
}
