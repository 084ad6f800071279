//! `trawl inspect --packages`: packages and revisions.

use crate::terminal::escaped;
use anyhow::Result;
use index::directory::Index;
use index::shard::{DocId, PackageId, Shard};
use std::collections::HashMap;
use std::io::Write;

/// Counts documents searched without `rev:`.
pub(super) fn list(index: &Index, out: &mut impl Write) -> Result<()> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for shard in &index.shards {
        for id in shard.live_packages() {
            let name = shard.package(id)?.directory.to_vec();
            let documents = searched(shard, id)?;
            if !counts.contains_key(&name) {
                names.push(name.clone());
            }
            *counts.entry(name).or_default() += documents;
        }
    }
    for name in names {
        writeln!(out, "{}\t{}", counts[&name], escaped(&name))?;
        if let Some(repository) = index.recorded.repository(&name) {
            for revision in &repository.revisions {
                let is_default = revision.name == repository.default;
                let default = if is_default { " (default)" } else { "" };
                let (commit, name) = (&revision.commit.id, escaped(&revision.name));
                writeln!(out, "\t{commit} {name}{default}")?;
            }
        }
    }
    Ok(())
}

fn searched(shard: &Shard, id: PackageId) -> Result<usize> {
    let package = shard.package(id)?;
    let Some(revisions) = shard.revisions() else {
        return Ok(package.documents as usize);
    };
    let documents = shard.documents_of(&package)?;
    let searched = documents.iter().filter(|id| revisions.is_default(id.0));
    Ok(searched.count())
}

pub(super) fn revisions_of(shard: &Shard, document: DocId) -> Option<String> {
    let of = shard.revisions()?.of(document.0);
    let names: Vec<String> = of.iter().map(|it| it.text.to_owned()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
