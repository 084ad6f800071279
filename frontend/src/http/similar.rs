//! Names that may have been meant by one that does not exist.

use super::App;
use super::params::{distance, lossy};
use super::problem::Problem;
use crate::name::package_name;
use schema::message::{ListRequest, What};

/// How many are proposed.
const SIMILAR_MAX: usize = 3;

/// Lists that are asked for, at most, each of some thousand packages: those of a distribution with
/// the same first letter, so that a wrong name costs little.
const LISTS_MAX: usize = 4;

/// Indexed packages that have a name like this one; it begins with the same letter.
pub(super) async fn similar_packages(app: &App, name: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
    let mut request = ListRequest {
        what: What::Packages,
        package: Vec::new(),
        prefix: name.iter().take(1).copied().collect(),
        after: Vec::new(),
        count: u32::MAX,
    };
    let mut names = Vec::new();
    for _ in 0..LISTS_MAX {
        let list = app.frontend.listing(&request).await?;
        let found = list.entries.iter();
        names.extend(found.map(|entry| package_name(&entry.package).to_vec()));
        match list.entries.into_iter().next_back().filter(|_| list.more) {
            Some(last) => request.after = last.package,
            None => break,
        }
    }
    Ok(similar(package_name(name), names))
}

/// Those of these names that differ little from one, the nearest first.
pub(super) fn similar(name: &[u8], names: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let typed = lossy(Some(name));
    let most = typed.chars().count().div_ceil(3);
    let distances = names.into_iter().map(|other| {
        // Whoever leaves out the end of a name knew it up to there.
        let is_longer = name.len() >= 3 && other.starts_with(name);
        let far = distance(&typed, &lossy(Some(&other)));
        (if is_longer { far.min(most) } else { far }, other)
    });
    let mut near: Vec<_> = distances.filter(|(far, _)| *far <= most).collect();
    near.sort();
    near.dedup();
    let names = near.into_iter().map(|(_, other)| other);
    names.take(SIMILAR_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::similar;

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
        let check = |typed: &str| -> Vec<String> {
            let names = names.iter().map(|name| name.as_bytes().to_vec());
            let found = similar(typed.as_bytes(), names);
            found
                .into_iter()
                .map(|name| String::from_utf8(name).unwrap())
                .collect()
        };
        assert_eq!(check("crul"), ["crun", "cron", "curl"]);
        assert_eq!(check("core"), ["coreutils", "curl"]);
        assert_eq!(check("coreutil"), ["coreutils"]);
        assert!(check("emacs").is_empty());
    }
}
