//! `files` and `repositories`: names.

use super::answer::{Answer, count, escaped, short_id};
use super::arguments::{FilesArguments, RepositoriesArguments};
use super::call::{Call, Failure, parsed};
use schema::message::{Field, IndexedRepository, ListEntry, ListKind, ListRequest};
use std::collections::HashMap;
use std::time::UNIX_EPOCH;

const ENTRIES_MAX: u32 = 1000;

const REVISIONS_MAX: usize = 8;

impl Call {
    pub(super) async fn files(&self, arguments: FilesArguments) -> Result<String, Failure> {
        let answer = Answer::new(arguments.max_tokens)?;
        let glob = arguments.glob.map(|glob| format!("g:{glob}"));
        let filters = [
            (Field::Path, glob.as_deref()),
            (Field::Path, arguments.path.as_deref()),
            (Field::Package, arguments.package.as_deref()),
        ];
        let given = |(field, typed): (_, Option<_>)| Some((field, typed?));
        let mut filters: Vec<(Field, &str)> = filters.into_iter().filter_map(given).collect();
        filters.retain(|(_, typed)| !typed.is_empty());
        if filters.is_empty() {
            let hint = "give glob, path or package; repositories lists the packages";
            return Err(Failure::of(hint));
        }
        let parsed = parsed("", None, &filters)?;
        self.found(answer, &parsed, &[], arguments.page.as_deref())
            .await
    }

    pub(super) async fn repositories(
        &self,
        arguments: RepositoriesArguments,
    ) -> Result<String, Failure> {
        let mut answer = Answer::new(arguments.max_tokens)?;
        let prefix = arguments.prefix.as_bytes();
        let mut request = ListRequest::new(ListKind::Packages, b"", prefix, ENTRIES_MAX);
        request.after = arguments.page.unwrap_or_default().into_bytes();
        let listing = self.coordinator.listing(&self.scope, &request).await;
        let listing = listing.map_err(Failure::of)?;
        request.kind = ListKind::Repositories;
        let repositories = self.coordinator.listing(&self.scope, &request).await;
        let repositories = repositories.map_err(Failure::of)?.entries.into_iter();
        let repositories: HashMap<_, _> = repositories
            .filter_map(|entry| Some((entry.package, entry.repository?)))
            .collect();
        let served = self.coordinator.served(&self.scope);
        let mut tail = format!(
            " of {}; {}, generation {}",
            count(served.packages, "package", "packages"),
            count(served.documents, "file", "files"),
            served.generation
        );
        if let Some((backend, reason)) = listing.unreachable.first() {
            tail += &format!("; INCOMPLETE: no answer from {backend} ({reason})");
        }
        let entries = &listing.entries;
        let longest = entries.iter().map(|entry| entry.package.len()).max();
        let room = " ".repeat(longest.unwrap_or_default() + "9999; more: page=".len());
        answer.reserve(&(room + &tail));
        let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        let line = |entry: &ListEntry| described(entry, repositories.get(&entry.package), now);
        let shown = answer.push_all(entries.iter().map(line));
        if let Some(last) = entries.get(shown.wrapping_sub(1))
            && (listing.more || shown < entries.len())
        {
            tail += &format!("; more: page={}", String::from_utf8_lossy(&last.package));
        }
        Ok(answer.finish(&format!("{shown}{tail}")))
    }
}

/// One line: name, size, age, and revisions.
fn described(entry: &ListEntry, repository: Option<&IndexedRepository>, now: u64) -> String {
    let files = count(entry.documents.into(), "file", "files");
    let mut line = format!("{}: {files}", escaped(&entry.package));
    if entry.indexed > 0 {
        line += &format!(", indexed {} ago", age(now.saturating_sub(entry.indexed)));
    }
    if let Some(repository) = repository {
        for (index, revision) in repository.revisions.iter().take(REVISIONS_MAX).enumerate() {
            let name = revision.name.trim_start_matches("refs/");
            let name = name
                .trim_start_matches("heads/")
                .trim_start_matches("tags/");
            let id = short_id(&revision.commit);
            let before = if index == 0 { "; rev" } else { "," };
            line += &format!("{before} {}@{id}", escaped(name.as_bytes()));
            if let Some(behind @ 1..) = revision.behind {
                line += &format!(" ({behind} commits behind)");
            }
        }
        let others = (repository.revision_count as usize).saturating_sub(REVISIONS_MAX);
        if others > 0 {
            line += &format!(" and {others} more");
        }
        if !repository.problem.is_empty() {
            line += &format!(
                "; update failed: {}",
                escaped(repository.problem.as_bytes())
            );
        }
    }
    line + "\n"
}

fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::IndexedRevision;

    #[test]
    fn a_repository_is_one_line() {
        let entry = ListEntry {
            package: b"team/tool".to_vec(),
            documents: 1,
            indexed: 1000,
            ..ListEntry::default()
        };
        let repository = IndexedRepository {
            revisions: vec![IndexedRevision {
                name: "refs/heads/main".to_owned(),
                commit: "0123456789abcdef".to_owned(),
                behind: Some(2),
                ..IndexedRevision::default()
            }],
            revision_count: 9,
            ..IndexedRepository::default()
        };
        let line = described(&entry, Some(&repository), 8200);
        let expected = "team/tool: 1 file, indexed 2 h ago; rev main@0123456789ab \
                        (2 commits behind) and 1 more\n";
        assert_eq!(line, expected);
    }
}
