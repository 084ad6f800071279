//! Popularity of packages: the file of `--package-ranks`.

use anyhow::{Context, Result, ensure};
use index::document::Popularity;
use std::collections::HashMap;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Ranks {
    #[serde(default, alias = "Inst")]
    inst: f32,
    #[serde(default, alias = "Rdep")]
    rdep: f32,
}

/// Parses a JSON object of objects, by unversioned package name.
pub(crate) fn parse(text: &[u8]) -> Result<HashMap<Vec<u8>, Popularity>> {
    let ranks: HashMap<String, Ranks> = serde_json::from_slice(text)
        .context("not package ranks; expected JSON such as {\"bash\": {\"inst\": 0.9}}")?;
    let is_share = |rank| (0.0..=1.0).contains(&rank);
    ranks
        .into_iter()
        .map(|(name, Ranks { inst, rdep })| {
            ensure!(
                is_share(inst) && is_share(rdep),
                "{name}: inst and rdep must be numbers from 0 to 1"
            );
            Ok((name.into_bytes(), Popularity { inst, rdep }))
        })
        .collect()
}
