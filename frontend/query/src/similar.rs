//! Suggests names that resemble an unknown parameter, key or package.
//!
//! Distance is optimal string alignment: letters changed, added, omitted, or swapped with the next.

/// Bytes of a compared name, as in Linux file names. Bounds the time.
const NAME_BYTES_MAX: usize = 255;

/// Bytes of the shortest suggesting prefix.
const BEGINNING_BYTES_MIN: usize = 3;

/// Names that resemble `typed`, nearest first, distinct. A third of its letters
/// may be wrong, at least one.
pub fn similar<N>(typed: impl AsRef<[u8]>, names: impl IntoIterator<Item = N>) -> Vec<N>
where
    N: AsRef<[u8]> + Ord,
{
    let typed = typed.as_ref();
    if typed.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let near = |name: N| Some((distance(typed, name.as_ref())?, name));
    let mut near: Vec<_> = names.into_iter().filter_map(near).collect();
    near.sort();
    near.dedup();
    near.into_iter().map(|(_, name)| name).collect()
}

/// `None` if not similar.
fn distance(typed: &[u8], name: &[u8]) -> Option<usize> {
    let [letters, others] = [typed, name].map(String::from_utf8_lossy);
    let [count, other] = [&letters, &others].map(|letters| letters.chars().count());
    let most = (count / 3).max(1);
    // A prefix may lack any number of letters.
    if typed.len() >= BEGINNING_BYTES_MIN && name.starts_with(typed) {
        return Some(most.min(other.abs_diff(count)));
    }
    if count.abs_diff(other) > most {
        return None;
    }
    Some(strsim::osa_distance(&letters, &others)).filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_come_nearest_first() {
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
    fn long_names_are_compared_in_full() {
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
