//! References listed by a server or stored in a mirror.

use std::collections::BTreeMap;

/// Default if the server names none, best first.
const USUAL: [&[u8]; 2] = [b"refs/heads/main", b"refs/heads/master"];

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    /// Object ids in hexadecimal.
    pub(super) ids: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) head: Option<Vec<u8>>,
}

impl References {
    /// Parses `git ls-remote --symref`, restricted to `prefixes`.
    pub(super) fn advertised(output: &[u8], prefixes: &[&str]) -> References {
        let mut references = References::default();
        let mut head_id = None;
        for (value, name) in lines(output, b'\t') {
            if name == b"HEAD" {
                match value.strip_prefix(b"ref: ") {
                    Some(branch) => references.head = Some(branch.to_owned()),
                    None => head_id = Some(value),
                }
            } else if is_wanted(name, prefixes) {
                references.ids.insert(name.to_owned(), value.to_owned());
            }
        }
        if let Some(id) = head_id
            && references.head.is_none()
        {
            references.head = references.branch_at(id);
        }
        references.head.take_if(|head| !is_branch(head));
        references
    }

    /// Parses `git for-each-ref` as `%(objectname) %(refname)`, and `git symbolic-ref`.
    pub(super) fn local(output: &[u8], head: &[u8]) -> References {
        let ids = lines(output, b' ').map(|(id, name)| (name.to_owned(), id.to_owned()));
        References {
            ids: ids.collect(),
            head: Some(head.trim_ascii().to_owned()).filter(|head| is_branch(head)),
        }
    }

    /// Likeliest default branch.
    fn branch_at(&self, id: &[u8]) -> Option<Vec<u8>> {
        let is_there = |name: &&[u8]| self.ids.get(*name).is_some_and(|it| it == id);
        let usual = USUAL.into_iter().find(is_there);
        let mut at = (self.ids.iter()).filter(|(name, it)| is_branch(name) && *it == id);
        let any = || at.next().map(|(name, _)| name.as_slice());
        usual.or_else(any).map(<[u8]>::to_owned)
    }

    pub(super) fn differing(&self, other: &References) -> usize {
        let changed = (self.ids.iter()).filter(|(name, id)| other.ids.get(*name) != Some(id));
        let gone = (other.ids.keys()).filter(|name| !self.ids.contains_key(*name));
        changed.count() + gone.count()
    }
}

/// Skips lines without two fields.
fn lines(output: &[u8], between: u8) -> impl Iterator<Item = (&[u8], &[u8])> {
    output.split(|&byte| byte == b'\n').filter_map(move |line| {
        let at = line.iter().rposition(|&byte| byte == between)?;
        Some((&line[..at], &line[at + 1..]))
    })
}

fn is_branch(name: &[u8]) -> bool {
    name.starts_with(b"refs/heads/")
}

fn is_wanted(name: &[u8], prefixes: &[&str]) -> bool {
    // `refs/tags/v1^{}` is the target of a tag.
    let is_peeled = name.ends_with(b"^{}");
    let has_prefix = prefixes.iter().any(|it| name.starts_with(it.as_bytes()));
    !is_peeled && has_prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advertised(output: &str) -> References {
        References::advertised(output.as_bytes(), &["refs/heads/", "refs/tags/"])
    }

    #[test]
    fn the_default_branch_is_the_one_that_the_server_names_or_the_likeliest() {
        let head = |output| {
            advertised(output)
                .head
                .map(|it| String::from_utf8(it).unwrap())
        };
        let named = "ref: refs/heads/x\tHEAD\n1\tHEAD\n1\trefs/heads/main\n1\trefs/heads/x\n";
        assert_eq!(head(named).as_deref(), Some("refs/heads/x"));
        let guessed = "1\tHEAD\n1\trefs/heads/a\n1\trefs/heads/main\n";
        assert_eq!(head(guessed).as_deref(), Some("refs/heads/main"));
        let other = "1\tHEAD\n2\trefs/heads/main\n1\trefs/heads/z\n1\trefs/tags/a\n";
        assert_eq!(head(other).as_deref(), Some("refs/heads/z"));
        assert_eq!(head("ref: --help\tHEAD\n"), None);
        assert_eq!(head(""), None);
    }

    #[test]
    fn references_are_compared_by_name_and_id() {
        let theirs =
            advertised("1\trefs/heads/a\n2\trefs/tags/v\n1\trefs/tags/v^{}\n9\trefs/pull/1/head\n");
        assert_eq!(theirs.ids.len(), 2);
        let ours = |output: &str| References::local(output.as_bytes(), b"refs/heads/a\n");
        assert_eq!(
            theirs.differing(&ours("1 refs/heads/a\n2 refs/tags/v\n")),
            0
        );
        assert_eq!(
            theirs.differing(&ours("3 refs/heads/a\n1 refs/heads/b\n")),
            3
        );
    }
}
