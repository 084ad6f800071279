//! `read`: numbered lines of a file. A package without its version stands for its newest one.

use super::answer::{Answer, cut, escaped, heading};
use super::arguments::ReadArguments;
use super::call::{Call, Failure, parsed, reading};
use super::nothing;
use schema::message::{Field, FileRange, FileReply, FileRequest, ListKind, ListRequest};

const LINES_AT_ONCE: u32 = 500;

const PACKAGE_PARTS_MAX: usize = 4;

const LINE_BYTES_MAX: usize = 1000;

const VERSIONS_MAX: u32 = 16;

const RANGES_MAX: usize = 32;

const SUGGESTED_MAX: usize = 5;

impl Call {
    pub(super) async fn read(&self, arguments: ReadArguments) -> Result<String, Failure> {
        let mut answer = Answer::new(arguments.max_tokens)?;
        let (file, mut ranges) = located(&arguments.file);
        if !arguments.ranges.is_empty() {
            ranges = arguments.ranges;
        }
        if ranges.len() > RANGES_MAX || ranges.iter().any(|(from, to)| *from == 0 || to < from) {
            return Err(Failure(format!(
                "ranges are at most {RANGES_MAX} pairs [from, to] of line numbers from 1"
            )));
        }
        let name = file.trim_start_matches("./").trim_matches('/');
        let (mut request, first) = self.opened(name, &arguments.rev).await?;
        let lines = first.total_lines;
        let commit = match &first.commit[..] {
            "" => String::new(),
            commit => format!(", commit {commit}"),
        };
        let heading = heading(&request.package, &request.path);
        let receipt = |shown: u32, next: Option<(u32, u32)>| {
            let next = next.map_or(String::new(), |(from, to)| {
                format!("; next: ranges=[[{from},{to}]]")
            });
            format!("{shown} of {lines} lines shown{next}")
        };
        answer.reserve(&receipt(lines, Some((lines, lines))));
        answer.push(&format!("{heading} ({lines} lines{commit})\n"));
        if ranges.is_empty() {
            ranges.push((1, lines.max(1)));
        }
        let (mut shown, mut next) = (0, None);
        for (index, (from, to)) in ranges.into_iter().enumerate() {
            let to = to.min(lines);
            let mut end = from;
            if index == 0 || answer.push("…\n") {
                let range = (from, to);
                end = self
                    .push_lines(&mut answer, &mut request, &first.hash, range)
                    .await?;
            }
            shown += end - from;
            if end <= to {
                next = Some((end, to));
                break;
            }
        }
        Ok(answer.finish(&receipt(shown, next)))
    }

    /// Appends the lines that fit. Returns the number of the first line that does not.
    async fn push_lines(
        &self,
        answer: &mut Answer,
        request: &mut FileRequest,
        hash: &[u8],
        (mut line, to): (u32, u32),
    ) -> Result<u32, Failure> {
        while line <= to {
            let count = (to - line).saturating_add(1).min(LINES_AT_ONCE);
            request.range = FileRange::Lines { first: line, count };
            let reply = self.coordinator.file(&self.scope, request).await;
            let reply = reply.map_err(Failure::of)?;
            if !reply.found || reply.hash != hash || reply.text.is_empty() {
                return Err(Failure::of("the file has changed; read it again"));
            }
            let texts = reply.text.split_inclusive(|&byte| byte == b'\n');
            for text in texts.take(count as usize) {
                let text = text.strip_suffix(b"\n").unwrap_or(text);
                let text = cut(text, 0..0, LINE_BYTES_MAX);
                if !answer.push(&format!("{line}: {text}\n")) {
                    return Ok(line);
                }
                line += 1;
            }
        }
        Ok(line)
    }

    async fn opened(&self, name: &str, rev: &str) -> Result<(FileRequest, FileReply), Failure> {
        let mut reason = String::new();
        for (at, _) in name.match_indices('/').take(PACKAGE_PARTS_MAX) {
            let (package, path) = (&name.as_bytes()[..at], &name.as_bytes()[at + 1..]);
            for package in self.versions(package).await? {
                let range = FileRange::Lines { first: 1, count: 1 };
                let request = FileRequest::new(&package, path, rev, range);
                let reply = self.coordinator.file(&self.scope, &request).await;
                let reply = reply.map_err(Failure::of)?;
                if reply.found {
                    return Ok((request, reply));
                }
                reason = self.missing(&package, path, reply).await.unwrap_or(reason);
            }
        }
        let near = self.near_files(name).await;
        let near = match &near[..] {
            [] => "search with type:path, or list with files and repositories".to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        let name = escaped(name.as_bytes());
        Err(Failure(format!(
            "no file {name} is indexed{reason}; {near}"
        )))
    }

    /// The package itself, or those of this name, newest first.
    async fn versions(&self, name: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let request = ListRequest::new(ListKind::Packages, name, b"", VERSIONS_MAX);
        let listing = self.coordinator.listing(&self.scope, &request).await;
        let entries = listing.map_err(Failure::of)?.entries.into_iter().rev();
        let mut names: Vec<_> = entries.map(|entry| entry.package).collect();
        if names.iter().any(|known| known == name) {
            names.retain(|known| known == name);
        }
        Ok(names)
    }

    async fn missing(&self, package: &[u8], path: &[u8], reply: FileReply) -> Option<String> {
        if !reply.newest.is_empty() {
            let newest = &reply.newest;
            return Some(format!(": this revision lacks it; rev={newest} has it"));
        }
        if !reply.reason.is_empty() {
            return Some(format!(": {}", reply.reason));
        }
        let request = ListRequest::new(ListKind::Skipped, package, path, 1);
        let listing = self.coordinator.listing(&self.scope, &request).await.ok()?;
        let entry = listing.entries.into_iter().next()?;
        path.starts_with(&entry.path)
            .then(|| format!(", but skipped: {} {}", entry.reason, entry.detail))
    }

    /// Files of the same name anywhere, else with another ending, else packages.
    async fn near_files(&self, name: &str) -> Vec<String> {
        let base = name.rsplit('/').next().unwrap_or_default();
        let stem = base.split('.').next().unwrap_or_default();
        for (base, ending) in [(base, ""), (stem, ".*")] {
            let near = self.named(base, ending).await.unwrap_or_default();
            if !near.is_empty() {
                return near;
            }
        }
        let package = name.split('/').next().unwrap_or_default();
        let near = nothing::near(self, package.as_bytes()).await.into_iter();
        near.map(|package| package + "/").collect()
    }

    async fn named(&self, base: &str, ending: &str) -> Option<Vec<String>> {
        let is_plain = |letter: &char| !"*?[]{}\\".contains(*letter);
        let base: String = base.chars().filter(is_plain).collect();
        let glob = format!("g:**/{base}{ending}");
        let parsed = parsed("", None, &[(Field::Path, &glob)]).ok()?;
        let result = self.find(&parsed, None).await.ok()?;
        let most = result.len().min(SUGGESTED_MAX);
        let found = reading(move || result.matches(0..most)).await.ok()?;
        let name = |it: &frontend::Match| heading(&it.document.package, &it.document.path);
        Some(found.iter().map(name).collect())
    }
}

/// Splits `file:12` and `file:12-40` as others print them.
fn located(typed: &str) -> (&str, Vec<(u32, u32)>) {
    let split = typed.rsplit_once(':').and_then(|(file, lines)| {
        let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
        Some((file, vec![(from.parse().ok()?, to.parse().ok()?)]))
    });
    split.unwrap_or((typed, Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_follow_the_name() {
        assert_eq!(located("p/a.c:12-40"), ("p/a.c", vec![(12, 40)]));
        assert_eq!(located("p/a.c:7"), ("p/a.c", vec![(7, 7)]));
        assert_eq!(located("p/a:b.c"), ("p/a:b.c", Vec::new()));
    }
}
