//! Name of announced shards, to compare with the status in the store.

pub(crate) fn name(shards: impl IntoIterator<Item = [u8; 32]>) -> String {
    let mut shards: Vec<[u8; 32]> = shards.into_iter().collect();
    shards.sort_unstable();
    let hash = blake3::hash(shards.as_flattened()).to_hex();
    hash[..16].to_owned()
}
