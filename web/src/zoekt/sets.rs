//! Sets of repositories in a query: those that `type:repo` finds, and sets that are too large for
//! filters and restrict the scope instead.

use super::list;
use crate::problem::Problem;
use crate::state::Call;
use frontend::Scope;
use frontend::query::zoekt::{self, Tree, ZoektQuery};
use frontend::query::{NameSet, PackageNames};
use schema::message::Field;
use std::collections::HashSet;
use std::sync::Arc;

/// `type:repo` in a query, each a search.
const SUBQUERIES_MAX: usize = 8;

/// Names that are filters. Larger sets are compared without versions.
const FILTERS_MAX: usize = 32;

/// Checked query; `None` if nothing can match.
pub(super) struct Prepared {
    pub(super) scope: Scope,
    pub(super) query: Option<ZoektQuery>,
    /// Backends and shards that are missing in a subquery.
    pub(super) missing: u64,
}

pub(super) async fn prepare(
    call: &Call,
    mut tree: Tree,
    context_lines: u32,
) -> Result<Prepared, Problem> {
    let scope = call.viewer.scope().await?;
    let mut missing = 0;
    for _ in 0..SUBQUERIES_MAX {
        let Some((inner, place)) = tree.take_subquery() else {
            return restricted(call, &scope, tree, context_lines, missing).await;
        };
        let inner = restricted(call, &scope, inner, 0, 0).await?;
        let found = list::find(call, &inner).await?;
        missing += found.missing;
        place.found(found.entries.iter().map(list::name).collect());
    }
    let detail = format!("type:repo occurs more than {SUBQUERIES_MAX} times");
    Err(Problem::bad_request(detail))
}

async fn restricted(
    call: &Call,
    scope: &Scope,
    mut tree: Tree,
    context_lines: u32,
    missing: u64,
) -> Result<Prepared, Problem> {
    let sets = tree.take_sets(FILTERS_MAX);
    let mut scope = scope.clone();
    if !sets.is_empty() {
        let names = call.coordinator.package_names_soon().await;
        match names.filter(|names| !names.is_empty()) {
            Some(names) => scope = within(&names, &scope, &sets),
            // Without scopes, backends do not list their packages.
            None => tree = with_filters(tree, sets),
        }
    }
    let query = zoekt::check(&tree, context_lines)?;
    Ok(Prepared {
        query: query.filter(|_| !scope.is_empty()),
        scope,
        missing,
    })
}

fn with_filters(tree: Tree, sets: Vec<Vec<String>>) -> Tree {
    let sets = sets.into_iter();
    let filters = sets.map(|names| Tree::exact(Field::Package, names));
    Tree::all(std::iter::once(tree).chain(filters))
}

/// Packages of a scope that are in all sets: the scope itself if these have all of it.
fn within(names: &Arc<PackageNames>, scope: &Scope, sets: &[Vec<String>]) -> Scope {
    let without_version = |name: &'_ String| names.name_of(name.as_bytes()).to_vec();
    let sets = sets.iter().map(|set| set.iter().map(without_version));
    let sets: Vec<HashSet<_>> = sets.map(Iterator::collect).collect();
    let visible = names.iter().enumerate();
    let visible: Vec<_> = visible.filter(|(_, name)| scope.sees_name(name)).collect();
    let kept = visible.iter();
    let kept = kept.filter(|(_, name)| sets.iter().all(|set| set.contains(*name)));
    let kept: NameSet = kept.map(|(number, _)| *number).collect();
    if kept.len() == visible.len() {
        return scope.clone();
    }
    let restricted = Scope::of(names, kept);
    if scope.is_undecided() {
        restricted.undecided()
    } else {
        restricted
    }
}
