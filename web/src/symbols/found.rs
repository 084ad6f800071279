//! Places that define or use a name: those that a SCIP file resolved, then guesses, the nearest
//! first.

use super::file::definitions_of;
use super::origin::{SymbolOrigin, SymbolRequest};
use super::precise::{self, Found};
use crate::model::{Missing, SymbolPlace, SymbolPlaces, TotalRelation};
use crate::problem::Problem;
use crate::suggest::Corpus;
use futures_util::stream::{self, StreamExt};
use schema::message::{FileDefinition, FileRange, FileRequest, Role};
use std::collections::HashSet;
use std::pin::pin;

/// Places of an answer.
pub const LIMIT_MAX: usize = 1000;

const FILES_AT_ONCE: usize = 16;

/// Finds the definitions and declarations of a name, also the one at the position.
pub async fn definitions(
    corpus: Corpus<'_>,
    request: &SymbolRequest,
) -> Result<SymbolPlaces, Problem> {
    places(corpus, request, &[Role::Definition]).await
}

/// Finds the lines that use a name in code, or define it if `definitions`, by file.
pub async fn references(
    corpus: Corpus<'_>,
    request: &SymbolRequest,
    definitions: bool,
) -> Result<SymbolPlaces, Problem> {
    let roles = [Role::Use, Role::Definition];
    places(corpus, request, &roles[..1 + usize::from(definitions)]).await
}

async fn places(
    corpus: Corpus<'_>,
    request: &SymbolRequest,
    roles: &[Role],
) -> Result<SymbolPlaces, Problem> {
    let origin = SymbolOrigin::open(corpus, request).await?;
    let (file, symbol) = (&origin.read, &origin.symbol);
    let mut precise = precise::places(corpus, file, symbol, roles, request.limit).await?;
    for (place, document) in &mut precise.found {
        place.reason = origin.reason(document);
    }
    let answers = if precise.is_answer {
        Vec::new()
    } else {
        origin.guess(corpus, request, roles).await?
    };
    let room = request.limit.saturating_sub(precise.found.len());
    let mut guesses = origin.guessed(&answers, roles, room).await?;
    let mut total = answers.iter().map(|(_, answer)| answer.found()).sum();
    let mut relations = answers.iter().map(|(_, it)| TotalRelation::of(it));
    let mut is_exact = relations.all(|it| it == TotalRelation::Eq);
    if !symbol.is_empty() {
        is_exact &= precise.is_whole && guesses.len() as u64 == total;
        precise::retain_unresolved(corpus, &mut guesses).await?;
        total = (precise.found.len() + guesses.len()) as u64;
    }
    let mut places: Vec<Found> = precise.found.into_iter().chain(guesses).collect();
    places.truncate(request.limit);
    if !roles.contains(&Role::Use) {
        describe(corpus, &mut places).await;
        let is_declaration = |it: &SymbolPlace| it.declaration == Some(true);
        places.sort_by_key(|(it, document)| {
            let is_copy = is_quilt_copy(&document.path);
            (!it.precise, it.reason, is_copy, is_declaration(it))
        });
    }
    Ok(SymbolPlaces {
        name: origin.name,
        places: places.into_iter().map(|(place, _)| place).collect(),
        total,
        total_relation: if is_exact {
            TotalRelation::Eq
        } else {
            TotalRelation::Gte
        },
        complete: answers.iter().all(|(_, answer)| answer.is_complete()),
        missing: (answers.iter())
            .flat_map(|(_, it)| Missing::of(it))
            .collect(),
    })
}

/// Adds kinds and bodies.
async fn describe(corpus: Corpus<'_>, places: &mut [Found]) {
    let documents: HashSet<_> = places.iter().map(|(_, it)| it.clone()).collect();
    let known = documents.into_iter().map(async |document| {
        let (package, path) = (&document.package, &document.path);
        let nothing = FileRange::Lines { first: 1, count: 1 };
        let request = FileRequest::new(package, path, &document.revisions.commit, nothing);
        let known = definitions_of(corpus, request, &document.hash).await;
        (
            document,
            known.map_or_else(Vec::new, |(definitions, _)| definitions),
        )
    });
    let mut known = pin!(stream::iter(known).buffer_unordered(FILES_AT_ONCE));
    while let Some((document, definitions)) = known.next().await {
        for (place, _) in places.iter_mut().filter(|(_, it)| *it == document) {
            let is_it = |it: &&FileDefinition| {
                let name_end = u64::from(it.column) + it.name.len() as u64;
                it.line == place.line && (u64::from(it.column)..=name_end).contains(&place.column)
            };
            if let Some(definition) = definitions.iter().find(is_it) {
                place.describe(definition);
            }
        }
    }
}

/// True below `.pc`, where quilt keeps files from before its patches.
fn is_quilt_copy(path: &[u8]) -> bool {
    path.split(|&byte| byte == b'/').any(|part| part == b".pc")
}
