//! Three-way merge of a local index with the published one.
//!
//! *base* is the last manifest that this machine published, *ours* its index directory, *theirs*
//! the current generation. Packages that ours changed since base are taken from ours, others from
//! theirs. Packages dropped by ours are dropped if theirs has them as in base. With
//! `replace_versions`, packages added by ours replace their other versions.
//!
//! **Invariant:** a package comes as a whole from one side.

use index::manifest::{Beside, Manifest, NamedFile, ShardEntry};
use schema::message::{Recorded, RecordedRepository};
use schema::name::package_name;
use std::collections::{BTreeMap, BTreeSet, HashMap};

type ShardId = [u8; 32];

type Places = BTreeMap<Vec<u8>, BTreeSet<ShardId>>;

/// Merges all but recorded repositories: see [`recorded`].
pub(crate) fn manifests(
    base: Option<&Manifest>,
    ours: &Manifest,
    theirs: &Manifest,
    replace_versions: bool,
) -> Manifest {
    let mut places = chosen(base, ours, theirs);
    if replace_versions {
        drop_versions(&mut places, base, ours, theirs);
    }
    let known = |manifest: Option<&Manifest>| -> HashMap<ShardId, ShardEntry> {
        let shards = manifest.into_iter().flat_map(|it| &it.shards);
        shards.map(|shard| (shard.id, shard.clone())).collect()
    };
    let (in_base, in_ours, in_theirs) = (known(base), known(Some(ours)), known(Some(theirs)));
    let added = ours
        .shards
        .iter()
        .filter(|shard| !in_theirs.contains_key(&shard.id));
    let shards = theirs.shards.iter().chain(added).map(|shard| {
        let mut shard = shard.clone();
        for package in &mut shard.packages {
            let of_package = places.get(&package.directory);
            package.is_dead = !of_package.is_some_and(|shards| shards.contains(&shard.id));
        }
        let our = in_ours.get(&shard.id);
        let of_ours = our.into_iter().flat_map(|our| &our.packages);
        for (package, our) in shard.packages.iter_mut().zip(of_ours) {
            package.has_own_name |= our.has_own_name && !package.is_dead;
        }
        if let Some(our) = our
            && in_base.get(&shard.id).map(|base| &base.revisions) != Some(&our.revisions)
        {
            shard.revisions.clone_from(&our.revisions);
        }
        shard
    });
    Manifest {
        options: ours.options,
        shards: shards
            .filter(|shard| shard.live().next().is_some())
            .collect(),
        beside: beside(base, ours, theirs),
        recorded: None,
        precise: None,
    }
}

fn chosen(base: Option<&Manifest>, ours: &Manifest, theirs: &Manifest) -> Places {
    let none = BTreeSet::new();
    let (in_base, in_ours, in_theirs) = (base.map(places), places(ours), places(theirs));
    let changed = changed_tables(base, ours, theirs);
    let names: BTreeSet<_> = in_ours.keys().chain(in_theirs.keys()).collect();
    let choose = |name: &Vec<u8>| {
        let of = |places: Option<&Places>| {
            let found = places.and_then(|places| places.get(name));
            found.unwrap_or(&none).clone()
        };
        let (base, ours, theirs) = (
            of(in_base.as_ref()),
            of(Some(&in_ours)),
            of(Some(&in_theirs)),
        );
        // A table covers all packages of its shard, so these move together.
        let is_tied = ours.iter().any(|shard| changed.contains(shard));
        let is_unchanged = ours == base && !is_tied;
        let is_dropped = ours.is_empty();
        if is_unchanged || (is_dropped && theirs != base) {
            theirs
        } else {
            ours
        }
    };
    let names = names.into_iter();
    names.map(|name| (name.clone(), choose(name))).collect()
}

/// A name that is its own has no versions.
fn drop_versions(places: &mut Places, base: Option<&Manifest>, ours: &Manifest, theirs: &Manifest) {
    let names = |manifest: &Manifest| -> BTreeSet<Vec<u8>> {
        let live = manifest.live();
        live.map(|package| package.directory.clone()).collect()
    };
    let (in_base, in_ours) = (base.map(names).unwrap_or_default(), names(ours));
    let live = ours.live().chain(theirs.live());
    let own = live.filter(|package| package.has_own_name);
    let own: BTreeSet<Vec<u8>> = own.map(|package| package.directory.clone()).collect();
    let added = in_ours.iter().filter(|name| !in_base.contains(*name));
    let added = added.filter(|name| !own.contains(*name));
    let replaced: BTreeSet<&[u8]> = added.map(|name| package_name(name)).collect();
    places.retain(|name, _| {
        let is_kept = in_ours.contains(name) || own.contains(name);
        is_kept || !replaced.contains(package_name(name))
    });
}

/// Shards with a table that both sides changed.
fn changed_tables(
    base: Option<&Manifest>,
    ours: &Manifest,
    theirs: &Manifest,
) -> BTreeSet<ShardId> {
    let table = |manifest: Option<&Manifest>, id: &ShardId| -> Option<Option<NamedFile>> {
        let mut shards = manifest?.shards.iter();
        let shard = shards.find(|shard| shard.id == *id)?;
        Some(shard.revisions.clone())
    };
    let ids = ours.shards.iter().filter(|shard| shard.revisions.is_some());
    ids.map(|shard| shard.id)
        .filter(|id| {
            let (base, ours) = (table(base, id), table(Some(ours), id));
            let theirs = table(Some(theirs), id);
            theirs.is_some() && ours != base && theirs != base && ours != theirs
        })
        .collect()
}

fn places(manifest: &Manifest) -> Places {
    let mut places = Places::new();
    for shard in &manifest.shards {
        for package in shard.live() {
            let of_package = places.entry(package.directory.clone()).or_default();
            of_package.insert(shard.id);
        }
    }
    places
}

/// Theirs, with our changes since base.
fn beside(base: Option<&Manifest>, ours: &Manifest, theirs: &Manifest) -> Vec<Beside> {
    let by_path = |manifest: Option<&Manifest>| -> BTreeMap<Vec<u8>, Beside> {
        let all = manifest.into_iter().flat_map(|it| &it.beside);
        all.map(|it| (it.path.clone(), it.clone())).collect()
    };
    let mut merged = by_path(Some(theirs));
    for path in by_path(base).keys() {
        merged.remove(path);
    }
    merged.extend(by_path(Some(ours)));
    merged.into_values().collect()
}

/// Records of the live packages. The newer record of a repository wins.
pub(crate) fn recorded(merged: &Manifest, ours: Recorded, theirs: Recorded) -> Recorded {
    let live: BTreeSet<&[u8]> = merged.live().map(|package| &*package.directory).collect();
    let mut repositories: BTreeMap<Vec<u8>, RecordedRepository> = BTreeMap::new();
    for record in theirs.repositories.into_iter().chain(ours.repositories) {
        let age = |it: &RecordedRepository| it.indexed.max(it.fetched);
        let known = repositories.get(&record.package);
        if live.contains(&*record.package) && known.is_none_or(|known| age(known) <= age(&record)) {
            repositories.insert(record.package.clone(), record);
        }
    }
    let mut sources = theirs.sources;
    for source in ours.sources {
        let is_it = |known: &schema::message::RecordedSource| {
            known.kind == source.kind && known.location == source.location
        };
        sources.retain(|known| !is_it(known));
        sources.push(source);
    }
    Recorded {
        repositories: repositories.into_values().collect(),
        sources,
    }
}

#[cfg(test)]
mod tests;
