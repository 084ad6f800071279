//! Default sources of `trawl serve`, also used to find its index.

use anyhow::Result;
use index::corpus::{self, Source};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The current directory, and downloaded crates in a Rust project.
pub(crate) fn default_sources() -> Result<Vec<Source>> {
    let mut sources = corpus::packages(&[PathBuf::from(".")], false, false)?.sources;
    if !Path::new("Cargo.toml").exists() {
        return Ok(sources);
    }
    let mut names: HashSet<Vec<u8>> = sources.iter().map(|source| source.name.clone()).collect();
    for registry in registries() {
        // Ignore rules must not hide a dependency.
        let crates = corpus::packages(&[registry], true, true).unwrap_or_default();
        // A crate may come from two registries.
        let mut new = crates.sources;
        new.retain(|source| names.insert(source.name.clone()));
        sources.extend(new);
    }
    Ok(sources)
}

/// One for each registry.
fn registries() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let Some(Ok(entries)) = home.map(|home| std::fs::read_dir(home.join("registry/src"))) else {
        return Vec::new();
    };
    let mut registries: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    registries.sort();
    registries
}
