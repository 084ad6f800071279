//! Name of a request, and the searches for its places: everywhere, or for each reason.

use super::found::{SymbolRequest, SymbolTarget};
use super::imports::Imports;
use super::precise::Found;
use crate::http::rendering;
use crate::model::{PlaceReason, SymbolPlace, TotalRelation, hex, readable_owned};
use crate::problem::Problem;
use crate::source::file_range::Fetched;
use crate::suggest::Corpus;
use frontend::query::Query;
use frontend::{Document, Match, SearchRequest, SearchResult};
use futures_util::future::try_join_all;
use language::name;
use language::symbols::Class;
use schema::message::{
    Expr, Field, FileRange, FileRequest, Filter, Pattern, Place, Reading, Role, Want,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a file with its imports.
const IMPORT_BYTES_MAX: u64 = 64 << 10;

const NAME_BYTES_MAX: usize = 1000;

/// Without a reason it has places of each.
pub(super) type Answer = (Option<PlaceReason>, Arc<SearchResult>);

/// Name of a request, and filters near it.
pub(super) struct Origin {
    pub(super) name: String,
    /// Symbol that a SCIP file resolved the name to, or empty.
    pub(super) symbol: Vec<u8>,
    pub(super) read: FileRequest,
    package: Option<Expr>,
    file: Option<Expr>,
    imports: Imports,
    revision: Option<Expr>,
}

impl Origin {
    pub(super) async fn open(
        corpus: Corpus<'_>,
        request: &SymbolRequest,
    ) -> Result<Origin, Problem> {
        let range = FileRange::Bytes {
            offset: 0,
            count: IMPORT_BYTES_MAX,
        };
        let mut file = FileRequest {
            range,
            definitions: false,
            ..request.file.clone()
        };
        let mut read = file.clone();
        let (name, symbol) = match &request.target {
            SymbolTarget::Name(name) => (name.clone(), Vec::new()),
            SymbolTarget::At { line, column } => name_at(corpus, &mut read, *line, *column).await?,
        };
        file.package.clone_from(&read.package);
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            let detail = format!("a name has 1 to {NAME_BYTES_MAX} bytes");
            return Err(Problem::bad_request(detail));
        }
        let mut imports = Imports::default();
        if !file.path.is_empty() {
            let fetched = corpus.fetch_file(file.clone()).await?;
            (file.package, imports) = (fetched.package, Imports::of(&fetched.reply.text));
            read.package.clone_from(&file.package);
        }
        Ok(Origin {
            name,
            symbol,
            read,
            package: exact(Field::Package, &file.package),
            file: exact(Field::Path, &file.path),
            imports,
            revision: exact(Field::Revision, file.revision.as_bytes()),
        })
    }

    fn filters(&self, reason: PlaceReason) -> Option<Vec<Expr>> {
        let not = |filter: &Option<Expr>| filter.clone().map(|it| Expr::Not(Box::new(it)));
        let (package, file) = (&self.package, &self.file);
        let imports = &self.imports.filter().map(Expr::Filter);
        let same_package = || Some([Some(package.clone()?), self.revision.clone()]);
        let (first, others) = match reason {
            PlaceReason::SameFile => (Some(file.clone()?), same_package()?),
            PlaceReason::SamePackage => (not(file), same_package()?),
            PlaceReason::Imported => (Some(imports.clone()?), [not(package), None]),
            PlaceReason::Elsewhere => (not(imports), [not(package), None]),
        };
        let others = others.into_iter().flatten();
        Some(first.into_iter().chain(others).collect())
    }

    /// Searches everywhere, then, if there are more places than wanted, for each reason.
    pub(super) async fn guess(
        &self,
        corpus: Corpus<'_>,
        request: &SymbolRequest,
        roles: &[Role],
    ) -> Result<Vec<Answer>, Problem> {
        let search = |reason| self.search(corpus, request, roles, reason);
        let mut answers = Vec::new();
        if self.revision.is_none() {
            answers.extend(search(None).await?);
        }
        let fits = |(_, answer): &Answer| {
            let is_exact = TotalRelation::of(answer) == TotalRelation::Eq;
            is_exact && answer.found() <= request.limit as u64
        };
        if !answers.iter().any(fits) {
            let searches = PlaceReason::ALL.map(|reason| search(Some(reason)));
            let of_each = try_join_all(searches).await?;
            answers = of_each.into_iter().flatten().collect();
        }
        if answers.iter().any(|(_, answer)| answer.is_unavailable()) {
            return Err(Problem::unavailable("no backend answers"));
        }
        Ok(answers)
    }

    pub(super) async fn guessed(
        &self,
        answers: &[Answer],
        roles: &[Role],
        limit: usize,
    ) -> Result<Vec<Found>, Problem> {
        let mut places = Vec::new();
        for (reason, answer) in answers {
            let mut found = best(answer, limit - places.len()).await?;
            if roles.contains(&Role::Use) {
                by_file(&mut found);
            }
            places.extend(found.iter().map(|it| {
                let reason = reason.unwrap_or_else(|| self.reason(&it.document));
                (place(reason, it), it.document.clone())
            }));
        }
        places.sort_by_key(|(place, _)| place.reason);
        Ok(places)
    }

    pub(super) fn reason(&self, document: &Document) -> PlaceReason {
        match document.package == self.read.package {
            true if document.path == self.read.path => PlaceReason::SameFile,
            true => PlaceReason::SamePackage,
            false if self.imports.name(&document.package) => PlaceReason::Imported,
            false => PlaceReason::Elsewhere,
        }
    }

    async fn search(
        &self,
        corpus: Corpus<'_>,
        request: &SymbolRequest,
        roles: &[Role],
        reason: Option<PlaceReason>,
    ) -> Result<Option<Answer>, Problem> {
        let parts = reason.map_or(Some(Vec::new()), |reason| self.filters(reason));
        let Some(mut parts) = parts else {
            return Ok(None);
        };
        let patterns = roles.iter().map(|role| pattern(&self.name, *role));
        parts.push(Expr::any(patterns.map(Expr::Pattern)));
        let query = Query::new(Expr::all(parts), 0)?;
        let mut query = query.wanting(Want::Matches, request.limit as u64)?;
        if reason.is_none() || !roles.contains(&Role::Use) {
            query = query.uncounted()?;
        }
        let search = SearchRequest {
            client: request.client.into(),
            ..SearchRequest::new(corpus.scope, query)
        };
        let search = corpus.coordinator.search(search).await?;
        Ok(Some((reason, search.finished().await?)))
    }
}

fn exact(field: Field, value: &[u8]) -> Option<Expr> {
    let text = str::from_utf8(value).ok().filter(|it| !it.is_empty())?;
    Some(Expr::Filter(Filter {
        field,
        reading: Reading::Exact,
        text: text.to_owned(),
    }))
}

/// Reads the name and its symbol. Sets the version of the package, and the commit.
async fn name_at(
    corpus: Corpus<'_>,
    file: &mut FileRequest,
    line: u32,
    column: u32,
) -> Result<(String, Vec<u8>), Problem> {
    if line == 0 {
        return Err(Problem::bad_request("line=0: lines count from 1"));
    }
    let request = FileRequest {
        range: FileRange::Lines {
            first: line,
            count: 1,
        },
        definitions: true,
        symbol_line: line,
        symbol_column: column,
        ..file.clone()
    };
    let Fetched { package, reply } = corpus.fetch_file(request).await?;
    file.package = package;
    if !reply.commit.is_empty() {
        file.revision.clone_from(&reply.commit);
    }
    let text = reply.text.split(|&byte| byte == b'\n').next();
    let text = text.filter(|_| line <= reply.total_lines);
    let text = text.ok_or_else(|| {
        let lines = reply.total_lines;
        Problem::missing(format!(
            "the file has no line {line}: its last line is {lines}"
        ))
    })?;
    let defined = reply.definitions.iter().map(|it| &it.name[..]);
    let name = name::at(text, column as usize, defined);
    let name = name.and_then(|range| str::from_utf8(&text[range]).ok());
    name.map(|name| (name.to_owned(), reply.symbol))
        .ok_or_else(|| Problem::missing(format!("line {line} has no name at column {column}")))
}

pub(crate) fn pattern(name: &str, role: Role) -> Pattern {
    Pattern {
        text: name.to_owned(),
        word: true,
        place: Place {
            role,
            classes: match role {
                Role::Use => 1 << Class::Code as u32,
                Role::Any | Role::Definition => 0,
            },
            ..Place::default()
        },
        ..Pattern::default()
    }
}

async fn best(answer: &Arc<SearchResult>, limit: usize) -> Result<Vec<Match>, Problem> {
    let (whole, count) = (Arc::clone(answer), answer.len().min(limit));
    let read = rendering(answer, move || whole.matches(0..count));
    Ok(read.await?)
}

fn place(reason: PlaceReason, found: &Match) -> SymbolPlace {
    let document = &found.document;
    let (package, package_base64) = readable_owned(&document.package);
    let (path, path_base64) = readable_owned(&document.path);
    let (text, text_base64) = readable_owned(&found.text);
    let commit = &document.revisions.commit;
    SymbolPlace {
        reason,
        package,
        package_base64,
        path,
        path_base64,
        commit: (!commit.is_empty()).then(|| commit.clone()),
        line: found.line,
        column: column(found),
        end_line: None,
        kind: None,
        parent: None,
        parent_base64: None,
        declaration: None,
        text,
        text_base64,
        ranges: found.ranges.iter().map(|it| [it.start, it.end]).collect(),
        window: found.window.as_ref().map(Into::into),
        hash: hex(&document.hash),
        precise: false,
        documentation: None,
    }
}

fn column(found: &Match) -> u64 {
    let start = found.ranges.first().map_or(0, |range| range.start as u64);
    found.window.map_or(0, |window| window.start) + start
}

/// By file, the best first, then by line.
fn by_file(found: &mut [Match]) {
    let mut ranks = HashMap::new();
    for it in &*found {
        let next = ranks.len();
        ranks.entry(it.document.clone()).or_insert(next);
    }
    found.sort_by_key(|it| (ranks[&it.document], it.line));
}
