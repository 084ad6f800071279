//! Git's own indexes, and damaged ones.

use super::*;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Runs git without the machine's configuration.
fn git(directory: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", directory)
        .current_dir(directory)
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
        .args(arguments);
    let output = command.output().expect("git is installed");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

fn repository(init: &[&str]) -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    git(root.path(), &[&["init", "-q"], init].concat());
    for path in ["a", "d/b", "d/deep/c", "dd", "e/x"] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n").unwrap();
    }
    git(root.path(), &["add", "-A"]);
    let index = root.path().join(".git/index");
    (root, index)
}

#[track_caller]
fn check(index: &Path) {
    let tracked = TrackedFiles::read(index).unwrap();
    for path in ["a", "d/b", "d/deep/c", "dd", "e/x"] {
        assert!(tracked.has_file(path.as_bytes()), "{path}");
        assert!(!tracked.has_below(path.as_bytes()), "{path}");
    }
    for directory in ["d", "d/deep", "e"] {
        assert!(tracked.has_below(directory.as_bytes()), "{directory}");
    }
    for path in ["", "b", "d", "d/", "d/deep/cc", "e/", "f", "z"] {
        assert!(!tracked.has_file(path.as_bytes()), "{path}");
    }
    for directory in ["a", "dee", "f", "d/dee", "z"] {
        assert!(!tracked.has_below(directory.as_bytes()), "{directory}");
    }
}

#[test]
fn every_version_of_the_format_and_both_hashes_are_read() {
    let (root, index) = repository(&[]);
    check(&index);
    for version in ["3", "4"] {
        git(root.path(), &["update-index", "--index-version", version]);
        check(&index);
    }
    let (_sha256, index) = repository(&["--object-format=sha256"]);
    check(&index);
    let (root, index) = repository(&[]);
    git(root.path(), &["config", "index.skipHash", "true"]);
    git(root.path(), &["update-index", "--force-write-index"]);
    check(&index);
}

#[test]
fn an_index_in_two_parts_is_read() {
    let (root, index) = repository(&[]);
    git(root.path(), &["update-index", "--split-index"]);
    check(&index);
    fs::write(root.path().join("later"), "x\n").unwrap();
    git(root.path(), &["add", "later"]);
    git(root.path(), &["rm", "-q", "--cached", "e/x"]);
    let tracked = TrackedFiles::read(&index).unwrap();
    assert!(tracked.has_file(b"later") && tracked.has_file(b"d/deep/c"));
    assert!(!tracked.has_below(b"e"));
    let beside = fs::read_dir(root.path().join(".git")).unwrap().flatten();
    let shared = beside.filter(|it| it.file_name().as_encoded_bytes().starts_with(b"shared"));
    shared.for_each(|it| fs::remove_file(it.path()).unwrap());
    TrackedFiles::read(&index).unwrap_err();
}

#[test]
fn files_below_a_directory_of_a_sparse_index_may_be_tracked() {
    let (root, index) = repository(&[]);
    git(root.path(), &["commit", "-q", "-m", "x"]);
    git(
        root.path(),
        &["sparse-checkout", "set", "--cone", "--sparse-index", "e"],
    );
    let tracked = TrackedFiles::read(&index).unwrap();
    assert!(tracked.has_file(b"e/x") && tracked.has_below(b"d"));
    assert!(tracked.has_file(b"d/deep/c") && tracked.has_below(b"d/deep"));
    assert!(!tracked.has_file(b"e/y") && !tracked.has_file(b"f/y"));
}

#[test]
fn a_submodule_is_something_below_its_directory() {
    let (root, index) = repository(&[]);
    let module = root.path().join("module");
    fs::create_dir(&module).unwrap();
    git(&module, &["init", "-q"]);
    git(&module, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(root.path(), &["add", "module"]);
    let tracked = TrackedFiles::read(&index).unwrap();
    assert!(tracked.has_below(b"module") && !tracked.has_file(b"module"));
}

#[test]
fn a_damaged_index_is_an_error() {
    let (root, index) = repository(&[]);
    let whole = fs::read(&index).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&index, &damaged).unwrap();
        TrackedFiles::read(&index).unwrap_err();
        fs::write(&index, &whole[..at]).unwrap();
        TrackedFiles::read(&index).unwrap_err();
    }
    fs::remove_file(&index).unwrap();
    TrackedFiles::read(&index).unwrap_err();
    TrackedFiles::read(root.path()).unwrap_err();
}
