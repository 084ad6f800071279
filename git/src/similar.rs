//! Names that resemble an unknown one.

/// Suggestions of an error.
pub(crate) const CANDIDATES_MAX: usize = 5;

/// Bytes of a compared name, which bound the time.
const NAME_BYTES_MAX: usize = 255;

const NAMES_MAX: usize = 20_000;

/// Names that resemble `typed`, nearest first. A third of the letters, at least one, may differ;
/// names that contain it count as near.
pub fn similar<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    if typed.is_empty() || typed.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let most = (typed.chars().count() / 3).max(1);
    let distance = |name: &str| {
        if typed.len() > 2 && name.contains(typed) {
            return Some(most);
        }
        let is_near = name.len().abs_diff(typed.len()) <= most * 4 && name.len() <= NAME_BYTES_MAX;
        Some(is_near.then(|| strsim::osa_distance(typed, name))?).filter(|it| *it <= most)
    };
    let mut near: Vec<(usize, &str)> = (names.into_iter().take(NAMES_MAX))
        .filter_map(|name| Some((distance(name)?, name)))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(CANDIDATES_MAX);
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}
