//! Chooses the names that resemble an unknown one.

/// Names that an error suggests.
pub(crate) const CANDIDATES_MAX: usize = 5;

/// Bytes of a name that is compared. It bounds the time of a comparison.
const NAME_BYTES_MAX: usize = 255;

/// Names that are compared with an unknown one.
const NAMES_MAX: usize = 20_000;

/// Returns the names that resemble `typed`, nearest first. A third of its letters may be wrong, at least
/// one; a name that contains it counts as near.
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
