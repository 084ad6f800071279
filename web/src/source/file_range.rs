//! Fetches a range of a file from a backend: in lines for pages, in bytes for the API.
//!
//! A package without a version stands for its only version, or the only one that has the file. If
//! several have it, the problem names them. A revision is any that is indexed, or that a backend
//! can read.

use crate::http::links::{FileAddress, encode};
use crate::problem::{NewestRevision, Problem};
use crate::repositories::suggest;
use crate::search::params::{Params, lossy};
use crate::suggest::Corpus;
use axum::http::{HeaderMap, HeaderValue};
use frontend::LookupError;
use schema::message::{
    FileRange, FileReply, FileRequest, ListEntry, ListKind, ListRequest, LookupProblem,
    LookupProblemKind,
};
use schema::name::package_name;

const VERSIONS_ASKED_MAX: usize = 16;

pub(crate) const REVISION_BYTES_MAX: usize = 1 << 10;

/// Abbreviated or full commit id.
const ID_DIGITS: std::ops::RangeInclusive<usize> = 7..=64;

pub(crate) struct Fetched {
    pub(crate) package: Vec<u8>,
    pub(crate) reply: FileReply,
}

impl Corpus<'_> {
    pub(crate) async fn fetch(self, params: &Params, range: FileRange) -> Result<Fetched, Problem> {
        self.fetch_file(request(params, range)?).await
    }

    pub(crate) async fn fetch_file(self, request: FileRequest) -> Result<Fetched, Problem> {
        let reply = self.file(&request).await?;
        if reply.found {
            let package = request.package;
            return Ok(Fetched { package, reply });
        }
        let (package, path) = (&request.package[..], &request.path[..]);
        if !reply.reason.is_empty() {
            let [package, path] = [package, path].map(|name| lossy(Some(name)));
            let detail = format!("{package}/{path} is not sent: {}", reply.reason);
            return Err(Problem::missing(detail));
        }
        let newest = reply.newest;
        let known = self.versions(package).await?;
        if known.is_empty() && package_name(package) != package {
            return Err(self.not_in_version(&request, &newest).await?);
        }
        let known_as = known.last().map(|newest| newest.package.clone());
        let mut found = self.in_versions(&request, known).await?;
        match found.len() {
            0 if request.revision.is_empty() => {
                Err(self.missing(&request, known_as.as_deref(), &newest).await)
            }
            0 => {
                let package = known_as.as_deref().unwrap_or(package);
                Err(self.not_in_revision(package, &request, &newest).await)
            }
            1 => Ok(found.remove(0)),
            _ => Err(ambiguous(package, path, &found)),
        }
    }

    /// Asks other versions for the file, newest first. Returns the oldest first.
    pub(crate) async fn in_versions(
        self,
        request: &FileRequest,
        versions: Vec<ListEntry>,
    ) -> Result<Vec<Fetched>, Problem> {
        let mut found = Vec::new();
        let others = versions.into_iter().rev().map(|version| version.package);
        let others = others.filter(|version| *version != request.package);
        for package in others.take(VERSIONS_ASKED_MAX) {
            let request = FileRequest {
                package,
                ..request.clone()
            };
            let reply = self.file(&request).await?;
            if reply.found {
                let package = request.package;
                found.push(Fetched { package, reply });
            }
        }
        found.reverse();
        Ok(found)
    }

    /// Names a version that has the file, if any.
    async fn not_in_version(self, request: &FileRequest, newest: &str) -> Result<Problem, Problem> {
        let (package, path) = (&request.package[..], &request.path[..]);
        let versions = self.versions(package_name(package)).await?;
        let found = self.in_versions(request, versions).await?;
        let Some(Fetched { package: other, .. }) = found.last() else {
            return Ok(self.missing(request, None, newest).await);
        };
        let [gone, current, file] = [package, other, path].map(|name| lossy(Some(name)));
        let newest = NewestRevision {
            rev: String::new(),
            package: Some(current.clone().into_owned()),
            link: FileAddress::current(other, path).file_href(),
        };
        let problem = Problem::not_indexed(format!("{gone} is not indexed, or no longer"))
            .hint(format!("{current} has {file}"))
            .newest(Some(newest));
        Ok(problem.in_package(other.clone()))
    }

    /// Address of the directory at a path, with or without its last slash. `None` if there is none.
    pub(crate) async fn directory_href(self, address: FileAddress<'_>) -> Option<String> {
        let mut path = address.path.to_vec();
        if !path.is_empty() && path.last() != Some(&b'/') {
            path.push(b'/');
        }
        let request = ListRequest {
            revision: address.revision.to_owned(),
            ..ListRequest::new(ListKind::Children, address.package, &path, 1)
        };
        let list = self.coordinator.list(self.scope, request).await.ok()?;
        let entry = list.entries.first()?;
        let directory = FileAddress {
            package: &entry.package,
            path: &path,
            ..address
        };
        (entry.path.starts_with(&path)).then(|| directory.directory_href())
    }

    /// Reads the rest of the first `bytes_max` bytes. Returns false if the file has changed.
    pub(crate) async fn read_on(
        self,
        mut request: FileRequest,
        reply: &mut FileReply,
        bytes_max: u64,
    ) -> Result<bool, Problem> {
        let wanted = reply.total_bytes.min(bytes_max);
        while (reply.text.len() as u64) < wanted {
            let offset = reply.text.len() as u64;
            request.range = FileRange::Bytes {
                offset,
                count: bytes_max - offset,
            };
            let next = self.file(&request).await?;
            let is_next = next.found && next.hash == reply.hash && next.offset == offset;
            if !is_next || next.text.is_empty() {
                return Ok(false);
            }
            reply.text.extend_from_slice(&next.text);
        }
        Ok(true)
    }

    /// Problem of a missing package or file, with similar names. `known` is the indexed version of
    /// the package, if any.
    async fn missing(
        self,
        FileRequest { package, path, .. }: &FileRequest,
        known: Option<&[u8]>,
        newest: &str,
    ) -> Problem {
        let [shown, file] = [package, path].map(|name| lossy(Some(name)));
        let newest = newest_revision(package, path, newest);
        if let Some(NewestRevision { rev, .. }) = &newest {
            let detail = format!("the default revision of {shown} has no file {file}");
            let hint = format!("{rev} has it: add rev={rev}");
            let problem = Problem::missing(detail).near_names("rev", vec![rev.clone()]);
            return problem.hint(hint).newest(newest);
        }
        let (detail, parameter, near) = match known {
            None => {
                let near = self.near_packages(package).await;
                (format!("no package {shown} is indexed"), "package", near)
            }
            Some(known) => {
                let near = self.near_files(known, path).await;
                (format!("{shown} has no file {file}"), "path", near)
            }
        };
        let problem = Problem::missing(detail);
        let near = near.unwrap_or_default().into_iter();
        let near = near.filter_map(|name| String::from_utf8(name).ok());
        suggest(problem, parameter, near.collect(), "did you mean")
    }

    async fn not_in_revision(
        self,
        package: &[u8],
        FileRequest { path, revision, .. }: &FileRequest,
        newest: &str,
    ) -> Problem {
        let names = (lossy(Some(package)).into_owned(), revision.to_owned());
        let mut found = self.coordinator.commits(self.scope, vec![names]).await;
        let found = found.pop().expect("an outcome for each pair");
        let [package_shown, file] = [package, path].map(|name| lossy(Some(name)));
        let newest = newest_revision(package, path, newest);
        let problem = match found {
            Ok(_) => Problem::missing(format!("{package_shown} has no file {file} in {revision}")),
            Err(LookupError::Unreachable(_) | LookupError::Busy | LookupError::Late) => {
                return Problem::unavailable(format!(
                    "a backend that may have {revision} of {package_shown} cannot be asked"
                ));
            }
            Err(LookupError::Problem(LookupProblem {
                kind,
                reason,
                candidates,
            })) => match kind {
                LookupProblemKind::Refused => return Problem::bad_request(reason),
                LookupProblemKind::Ambiguous => {
                    let detail = format!("{revision} names several commits of {package_shown}");
                    return Problem::ambiguous_revision(detail).near_names("rev", candidates);
                }
                LookupProblemKind::UnknownRevision if newest.is_none() || !is_id(revision) => {
                    let detail = format!("{package_shown} has no revision {revision}");
                    Problem::unknown_revision(detail).near_names("rev", candidates)
                }
                _ => not_indexed(&package_shown, revision, newest.is_some()),
            },
            Err(LookupError::NoRepositories) => {
                not_indexed(&package_shown, revision, newest.is_some())
            }
        };
        match &newest {
            Some(it) => problem
                .hint(format!("{} has {file}", it.rev))
                .newest(newest),
            None => problem,
        }
    }
}

pub(crate) fn request(params: &Params, range: FileRange) -> Result<FileRequest, Problem> {
    let revision = params.text("rev")?.unwrap_or_default();
    if revision.len() > REVISION_BYTES_MAX {
        let detail = format!("rev has more than {REVISION_BYTES_MAX} bytes");
        return Err(Problem::bad_request(detail));
    }
    let (package, path) = (params.required("package")?, params.required("path")?);
    Ok(FileRequest::new(package, path, revision, range))
}

pub(crate) fn describe(headers: &mut HeaderMap, reply: &FileReply) {
    let mut add = |name: &'static str, text: &str| {
        let text = HeaderValue::from_str(text).expect("encoded text is ASCII");
        headers.insert(name, text);
    };
    if !reply.commit.is_empty() {
        let names = reply.revisions.iter().map(|name| encode(name.as_bytes()));
        add("x-trawl-commit", &encode(reply.commit.as_bytes()));
        add("x-trawl-revisions", &names.collect::<Vec<_>>().join(" "));
    }
    if reply.from_objects {
        add("x-trawl-from-repository", "true");
    }
    if !reply.decoded_from.is_empty() {
        add(
            "x-trawl-decoded-from",
            &encode(reply.decoded_from.as_bytes()),
        );
    }
    let pointer = &reply.lfs_pointer;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b": ".contains(&byte);
    if !pointer.is_empty() && pointer.bytes().all(is_plain) {
        add("x-trawl-lfs-pointer", pointer);
    }
}

fn not_indexed(package: &str, revision: &str, has_newest: bool) -> Problem {
    if has_newest {
        Problem::not_indexed(format!(
            "{revision} of {package} is not indexed, or no longer"
        ))
    } else {
        Problem::missing(format!(
            "the file in {revision} of {package} is not indexed, and no repository with it can be read"
        ))
    }
}

fn newest_revision(package: &[u8], path: &[u8], newest: &str) -> Option<NewestRevision> {
    let address = FileAddress::current(package, path).at(newest);
    (!newest.is_empty()).then(|| NewestRevision {
        rev: newest.to_owned(),
        package: None,
        link: address.file_href(),
    })
}

fn is_id(revision: &str) -> bool {
    ID_DIGITS.contains(&revision.len()) && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn ambiguous(package: &[u8], path: &[u8], found: &[Fetched]) -> Problem {
    let (package, path) = (lossy(Some(package)), lossy(Some(path)));
    let names = found.iter().map(|each| lossy(Some(&each.package)));
    let names = names.collect::<Vec<_>>().join(", ");
    let detail = format!("several versions of {package} have {path}: {names}");
    let newest = &found[found.len() - 1].package;
    let hint = format!("name the version: package={}", lossy(Some(newest)));
    Problem::bad_request(detail)
        .hint(hint)
        .in_package(newest.clone())
}
