//! Places that define or use a name, by two searches: of the package, and of all others.

use super::file::definitions_of;
use super::imports::Imports;
use super::precise;
use super::word::{self, SymbolTarget};
use crate::http::rendering;
use crate::model::{
    Missing, PlaceReason, SymbolPlace, SymbolPlaces, TotalRelation, readable_owned,
};
use crate::problem::Problem;
use crate::source::file_range::Fetched;
use crate::suggest::Corpus;
use frontend::query::Query;
use frontend::{Document, Match, SearchRequest, SearchResult};
use futures_util::future::{join, join_all};
use language::symbols::Class;
use schema::message::{
    Expr, Field, FileDefinition, FileRange, FileRequest, Filter, Pattern, Place, Reading, Role,
    Want,
};
use std::sync::Arc;

/// Places of an answer.
pub const LIMIT_MAX: usize = 1000;

/// Files of an answer that are asked for their definitions.
pub(super) const FILES_MAX: usize = 16;

/// Bytes of the file that are read for its imports, which stand at the beginning.
const IMPORT_BYTES_MAX: u64 = 64 << 10;

const NAME_BYTES_MAX: usize = 1000;

/// Name in a file, and the bounds of the answer.
#[derive(Clone, Debug)]
pub struct SymbolRequest {
    /// File with the name. Its range has no effect.
    pub file: FileRequest,
    /// Name, or its position.
    pub target: SymbolTarget,
    /// Maximum number of places, up to [`LIMIT_MAX`].
    pub limit: usize,
    /// Number of the caller, for fairness; 0 if unknown.
    pub client: u64,
}

/// Finds the definitions and declarations of a name, also the one at the position.
pub async fn definitions(
    corpus: Corpus<'_>,
    request: &SymbolRequest,
) -> Result<SymbolPlaces, Problem> {
    places(corpus, request, Role::Definition).await
}

/// Finds the lines that use a name, outside of comments and strings, without its definitions.
pub async fn references(
    corpus: Corpus<'_>,
    request: &SymbolRequest,
) -> Result<SymbolPlaces, Problem> {
    places(corpus, request, Role::Use).await
}

async fn places(
    corpus: Corpus<'_>,
    request: &SymbolRequest,
    role: Role,
) -> Result<SymbolPlaces, Problem> {
    let (origin, name, symbol) = Origin::open(corpus, request).await?;
    let limit = request.limit;
    let precise = precise::places(corpus, &origin.request, &symbol, role, limit).await?;
    let answers = if precise.is_answer {
        Vec::new()
    } else {
        origin.guess(corpus, request, pattern(&name, role)).await?
    };
    let mut guesses = Vec::new();
    for answer in &answers {
        let best = best(answer, limit).await?;
        guesses.extend(best.iter().map(|it| (place(it), it.document.clone())));
    }
    let mut counted = counted(&answers);
    if !symbol.is_empty() {
        let is_cut = answers.iter().any(|answer| answer.found() > limit as u64);
        precise::retain_unresolved(corpus, &mut guesses).await?;
        let total = precise.found.len() + guesses.len();
        counted = (total as u64, relation(precise.is_whole && !is_cut));
    }
    let found = precise.found.into_iter().chain(guesses).collect();
    let mut places = origin.nearest(corpus, found, limit).await;
    if role == Role::Definition {
        describe(corpus, &mut places).await;
        let is_declaration = |it: &SymbolPlace| it.declaration == Some(true);
        places.sort_by_key(|(it, _)| (!it.precise, it.reason, is_declaration(it)));
    }
    let places = places.into_iter().map(|(place, _)| place);
    Ok(answered(name, places.collect(), counted, &answers))
}

/// Place, and its document.
pub(super) type Found = (SymbolPlace, Arc<Document>);

fn counted(answers: &[Arc<SearchResult>]) -> (u64, TotalRelation) {
    let mut relations = answers.iter().map(|answer| TotalRelation::of(answer));
    let is_exact = relations.all(|it| it == TotalRelation::Eq);
    let total = answers.iter().map(|answer| answer.found()).sum();
    (total, relation(is_exact))
}

fn relation(is_exact: bool) -> TotalRelation {
    if is_exact {
        TotalRelation::Eq
    } else {
        TotalRelation::Gte
    }
}

fn answered(
    name: String,
    places: Vec<SymbolPlace>,
    (total, total_relation): (u64, TotalRelation),
    answers: &[Arc<SearchResult>],
) -> SymbolPlaces {
    SymbolPlaces {
        name,
        places,
        total,
        total_relation,
        complete: answers.iter().all(|answer| answer.is_complete()),
        missing: answers.iter().flat_map(|it| Missing::of(it)).collect(),
    }
}

/// File of the request.
struct Origin {
    request: FileRequest,
    package: Vec<u8>,
    /// Filter for the package; `None` if its name is not UTF-8.
    filter: Option<Filter>,
}

impl Origin {
    /// Reads the file, and the name and the resolved symbol at the position.
    async fn open(
        corpus: Corpus<'_>,
        request: &SymbolRequest,
    ) -> Result<(Origin, String, Vec<u8>), Problem> {
        let (range, wants_name) = match request.target {
            SymbolTarget::At { line: first, .. } => (FileRange::Lines { first, count: 1 }, true),
            SymbolTarget::Name(_) => (FileRange::Lines { first: 1, count: 1 }, false),
        };
        if range == (FileRange::Lines { first: 0, count: 1 }) {
            return Err(Problem::bad_request("line=0: lines count from 1"));
        }
        let (symbol_line, symbol_column) = match request.target {
            SymbolTarget::At { line, column } => (line, column),
            SymbolTarget::Name(_) => (0, 0),
        };
        let file = FileRequest {
            range,
            definitions: wants_name,
            symbol_line,
            symbol_column,
            ..request.file.clone()
        };
        let fetched = corpus.fetch_file(file.clone()).await?;
        let name = match &request.target {
            SymbolTarget::Name(name) => name.clone(),
            SymbolTarget::At { line, column } => name_at(&fetched, *line, *column)?,
        };
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            let detail = format!("a name has 1 to {NAME_BYTES_MAX} bytes");
            return Err(Problem::bad_request(detail));
        }
        let Fetched { package, reply } = fetched;
        let filter = str::from_utf8(&package).ok().map(|package| Filter {
            field: Field::Package,
            reading: Reading::Exact,
            text: package.to_owned(),
        });
        let request = FileRequest {
            package: package.clone(),
            revision: match &reply.commit[..] {
                "" => file.revision,
                commit => commit.to_owned(),
            },
            definitions: false,
            symbol_line: 0,
            ..file
        };
        let origin = Origin {
            request,
            package,
            filter,
        };
        Ok((origin, name, reply.symbol))
    }

    /// Searches the package, and all others.
    async fn guess(
        &self,
        corpus: Corpus<'_>,
        request: &SymbolRequest,
        pattern: Pattern,
    ) -> Result<Vec<Arc<SearchResult>>, Problem> {
        let search = |same| self.search(corpus, request, pattern.clone(), same);
        let (inside, outside) = join(search(true), search(false)).await;
        let answers: Vec<_> = [inside?, outside?].into_iter().flatten().collect();
        if answers.iter().any(|answer| answer.is_unavailable()) {
            return Err(Problem::unavailable("no backend answers"));
        }
        Ok(answers)
    }

    /// Searches the package, or all others. `None` if the first cannot be named.
    async fn search(
        &self,
        corpus: Corpus<'_>,
        request: &SymbolRequest,
        pattern: Pattern,
        same: bool,
    ) -> Result<Option<Arc<SearchResult>>, Problem> {
        let role = pattern.place.role;
        let mut parts = vec![Expr::Pattern(pattern)];
        match &self.filter {
            None if same => return Ok(None),
            None => {}
            Some(filter) if same => parts.push(Expr::Filter(filter.clone())),
            Some(filter) => parts.push(Expr::Not(Box::new(Expr::Filter(filter.clone())))),
        }
        let revision = &request.file.revision;
        if same && !revision.is_empty() {
            parts.push(Expr::Filter(Filter {
                field: Field::Revision,
                reading: Reading::Exact,
                text: revision.clone(),
            }));
        }
        let query = Query::new(Expr::all(parts), 0)?;
        let mut query = query.wanting(Want::Matches, request.limit as u64)?;
        if role == Role::Definition {
            query = query.uncounted()?;
        }
        let search = SearchRequest {
            client: request.client.into(),
            ..SearchRequest::new(corpus.scope, query)
        };
        let search = corpus.coordinator.search(search).await?;
        Ok(Some(search.finished().await?))
    }

    /// First places: precise ones, then by nearness, of equally near ones the better matches.
    async fn nearest(&self, corpus: Corpus<'_>, mut found: Vec<Found>, limit: usize) -> Vec<Found> {
        let imports = self.imports(corpus, &found).await;
        for (place, document) in &mut found {
            place.reason = self.reason(document, &imports);
        }
        // Stable.
        found.sort_by_key(|(place, _)| (!place.precise, place.reason));
        found.truncate(limit);
        found
    }

    fn reason(&self, document: &Document, imports: &Imports) -> PlaceReason {
        match document.package == self.package {
            true if document.path == self.request.path => PlaceReason::SameFile,
            true => PlaceReason::SamePackage,
            false if imports.name(&document.package) => PlaceReason::Imported,
            false => PlaceReason::Elsewhere,
        }
    }

    /// Reads the imports of the file if places are in other packages.
    async fn imports(&self, corpus: Corpus<'_>, found: &[Found]) -> Imports {
        if (found.iter()).all(|(_, document)| document.package == self.package) {
            return Imports::default();
        }
        let request = FileRequest {
            range: FileRange::Bytes {
                offset: 0,
                count: IMPORT_BYTES_MAX,
            },
            ..self.request.clone()
        };
        let reply = corpus.file(&request).await;
        reply.map_or_else(|_| Imports::default(), |reply| Imports::of(&reply.text))
    }
}

fn name_at(fetched: &Fetched, line: u32, column: u32) -> Result<String, Problem> {
    let reply = &fetched.reply;
    let text = reply.text.split(|&byte| byte == b'\n').next();
    let text = text.filter(|_| line <= reply.total_lines);
    let text = text.ok_or_else(|| {
        let lines = reply.total_lines;
        Problem::missing(format!(
            "the file has no line {line}: its last line is {lines}"
        ))
    })?;
    let name = word::at(text, column as usize, &reply.definitions);
    let name = name.and_then(|range| str::from_utf8(&text[range]).ok());
    name.map(str::to_owned)
        .ok_or_else(|| Problem::missing(format!("line {line} has no name at column {column}")))
}

/// Whole name, as typed.
fn pattern(name: &str, role: Role) -> Pattern {
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

/// Guessed place, before its reason is known.
fn place(found: &Match) -> SymbolPlace {
    let document = &found.document;
    let (package, package_base64) = readable_owned(&document.package);
    let (path, path_base64) = readable_owned(&document.path);
    let (text, text_base64) = readable_owned(&found.text);
    let commit = &document.revisions.commit;
    SymbolPlace {
        reason: PlaceReason::Elsewhere,
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
        precise: false,
        documentation: None,
    }
}

fn column(found: &Match) -> u64 {
    let start = found.ranges.first().map_or(0, |range| range.start as u64);
    found.window.map_or(0, |window| window.start) + start
}

/// Adds kinds and bodies from the definitions of the first files.
async fn describe(corpus: Corpus<'_>, places: &mut [Found]) {
    let mut documents: Vec<Arc<Document>> = Vec::new();
    for (_, document) in &*places {
        if !documents.contains(document) && documents.len() < FILES_MAX {
            documents.push(document.clone());
        }
    }
    let known = join_all(documents.iter().map(async |document| {
        let (package, path) = (&document.package, &document.path);
        let nothing = FileRange::Lines { first: 1, count: 1 };
        let request = FileRequest::new(package, path, &document.revisions.commit, nothing);
        let known = definitions_of(corpus, request, &document.hash).await;
        known.map_or_else(Vec::new, |(definitions, _)| definitions)
    }));
    let known: Vec<Vec<FileDefinition>> = known.await;
    for (place, document) in places {
        let document = documents.iter().position(|it| it == document);
        let definitions = document.map_or(&[][..], |at| &known[at]);
        let is_it = |it: &&FileDefinition| {
            let name_end = u64::from(it.column) + it.name.len() as u64;
            it.line == place.line && (u64::from(it.column)..=name_end).contains(&place.column)
        };
        if let Some(definition) = definitions.iter().find(is_it) {
            place.describe(definition);
        }
    }
}
