//! Names that may have been meant by one that does not exist.
//!
//! One measure for all of them, parameters, keys and packages: letters that were changed, added, left
//! out or swapped with their neighbour (optimal string alignment).

/// Bytes of a name that others can be like. A file's or a directory's has no more on Linux, and the
/// time that a comparison takes goes with it.
const NAME_BYTES_MAX: usize = 255;

/// Bytes from which on the end of a name may be left out.
const BEGINNING_BYTES_MIN: usize = 3;

/// Those of these names that are like the one that was typed, the nearest first, each once: a third of
/// its letters may be wrong, and one in any case.
pub fn similar<N>(typed: impl AsRef<[u8]>, names: impl IntoIterator<Item = N>) -> Vec<N>
where
    N: AsRef<[u8]> + Ord,
{
    let typed = typed.as_ref();
    if typed.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let names = names.into_iter();
    let mut near: Vec<_> = names
        .filter_map(|name| Some((far(typed, name.as_ref())?, name)))
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().map(|(_, name)| name).collect()
}

/// How far a name is from the one that was typed, when they are alike.
fn far(typed: &[u8], name: &[u8]) -> Option<usize> {
    let [letters, others] = [typed, name].map(String::from_utf8_lossy);
    let [count, other] = [&letters, &others].map(|letters| letters.chars().count());
    let most = (count / 3).max(1);
    // Whoever leaves out the end of a name knew it up to there.
    if typed.len() >= BEGINNING_BYTES_MIN && name.starts_with(typed) {
        return Some(most.min(other.abs_diff(count)));
    }
    if count.abs_diff(other) > most {
        return None;
    }
    Some(strsim::osa_distance(&letters, &others)).filter(|far| *far <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_nearest_first() {
        let names = [
            "curl",
            "cups",
            "coreutils",
            "cron",
            "crun",
            "libcurl",
            "curl",
        ];
        let check = |typed: &str| similar(typed, names);
        assert_eq!(check("crul"), ["crun", "curl"]);
        assert_eq!(check("core"), ["coreutils"]);
        assert_eq!(check("coreutil"), ["coreutils"]);
        assert_eq!(check("curl"), ["curl"]);
        assert_eq!(similar(b"cur\xff", [&b"curl"[..]]), [b"curl"]);
        assert!(check("emacs").is_empty() && check("").is_empty());
    }

    #[test]
    fn a_long_name_is_compared_to_its_end() {
        let names = ["golang-github-prometheus-client-model", "golang-go"];
        let check = |typed: &str| similar(typed, names);
        assert_eq!(check("golang-github-promehteus-client-modle"), names[..1]);
        assert_eq!(check("golang-github-prometheus-client"), names[..1]);
        assert!(check("golang-github-prometheus-and-something-else").is_empty());
        let longest = "x".repeat(NAME_BYTES_MAX);
        assert_eq!(similar(&longest, [&longest]), [&longest]);
        let longer = "x".repeat(NAME_BYTES_MAX + 1);
        assert!(similar(&longer, [&longer]).is_empty());
    }
}
