//! Parameters and result of a comparison.

use crate::http::links::{FileAddress, encode};
use crate::problem::Problem;
use crate::repositories::{check_name, path};
use crate::search::params::{Params, lossy};
use access::Viewer;
use frontend::Scope;
use schema::message::{Change, ChangeKind};

pub(crate) const FILES_MAX: u32 = 3000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) package: Vec<u8>,
    /// Empty: the default.
    pub(crate) revision: String,
}

#[derive(Clone, Debug)]
pub(crate) struct AskedDiff {
    /// `None`: the first parent of `to`.
    pub(crate) from: Option<Side>,
    pub(crate) to: Side,
    pub(crate) path: Vec<u8>,
    pub(crate) from_path: Vec<u8>,
}

pub(crate) struct Comparison {
    pub(crate) from: Side,
    pub(crate) to: Side,
    pub(crate) files: Vec<Change>,
    pub(crate) more: bool,
}

impl Side {
    pub(crate) fn file<'a>(&'a self, path: &'a [u8]) -> FileAddress<'a> {
        FileAddress::current(&self.package, path).at(&self.revision)
    }

    pub(crate) fn name(&self) -> String {
        let package = lossy(Some(&self.package));
        match &self.revision[..] {
            "" => package.into_owned(),
            revision => format!("{package}@{revision}"),
        }
    }
}

impl AskedDiff {
    pub(crate) const PARAMETERS: &[&str] = &[
        "package",
        "from",
        "to",
        "from_rev",
        "to_rev",
        "path",
        "from_path",
    ];

    pub(crate) fn new(params: &Params) -> Result<AskedDiff, Problem> {
        let revision = |name: &str| {
            let revision = params.text(name)?.unwrap_or_default();
            check_name(name, revision)?;
            Ok::<_, Problem>(revision.to_owned())
        };
        let side = |package: &[u8], revision: String| Side {
            package: package.to_vec(),
            revision,
        };
        let package = params.bytes("package").unwrap_or_default();
        let (from, to) = if package.is_empty() {
            let [from, to] = ["from", "to"].map(|name| params.required(name));
            let hint = "name two packages, or a repository and two revisions: \
                        package=NAME&from=v1.0&to=main";
            let hinted = |problem: Problem| problem.hint(hint);
            (
                Some(side(from.map_err(hinted)?, revision("from_rev")?)),
                side(to.map_err(hinted)?, revision("to_rev")?),
            )
        } else {
            let from = Some(revision("from")?).filter(|from| !from.is_empty());
            let from = from.map(|from| side(package, from));
            (from, side(package, revision("to")?))
        };
        Ok(AskedDiff {
            from,
            to,
            path: path(params)?.to_vec(),
            from_path: params.bytes("from_path").unwrap_or_default().to_vec(),
        })
    }

    pub(crate) fn commit(repo: &str, id: &str) -> AskedDiff {
        AskedDiff {
            from: None,
            to: Side {
                package: repo.as_bytes().to_vec(),
                revision: id.to_owned(),
            },
            path: Vec::new(),
            from_path: Vec::new(),
        }
    }

    pub(crate) async fn scope(&self, viewer: &Viewer) -> Result<Scope, Problem> {
        let names = [Some(&self.to), self.from.as_ref()].into_iter().flatten();
        let names = names.map(|side| &side.package[..]);
        Ok(viewer.scope_with_all(names).await?)
    }

    pub(crate) fn href(&self, path: &[u8], from_path: &[u8]) -> String {
        let mut href = match &self.from {
            Some(from) if from.package != self.to.package => {
                let [old, new] = [from, &self.to].map(|side| encode(&side.package));
                let revision = |name, side: &Side| match &side.revision[..] {
                    "" => String::new(),
                    revision => format!("&{name}={}", encode(revision.as_bytes())),
                };
                let (old_rev, new_rev) = (revision("from_rev", from), revision("to_rev", &self.to));
                format!("/diff?from={old}{old_rev}&to={new}{new_rev}")
            }
            from => {
                let from = from.as_ref().map_or("", |from| &from.revision);
                let revisions = [from, &self.to.revision].map(|it| encode(it.as_bytes()));
                let package = encode(&self.to.package);
                let [from, to] = revisions;
                format!("/diff?package={package}&from={from}&to={to}")
            }
        };
        for (name, value) in [("path", path), ("from_path", from_path)] {
            if !value.is_empty() {
                href += &format!("&{name}={}", encode(value));
            }
        }
        href
    }
}

pub(super) fn change(path: &[u8], kind: ChangeKind) -> Change {
    Change {
        path: path.to_vec(),
        kind,
        was: Vec::new(),
        before: String::new(),
        after: String::new(),
        mode_before: 0,
        mode_after: 0,
    }
}
