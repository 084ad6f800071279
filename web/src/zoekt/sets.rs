//! Sets of repositories in a query: those too large for filters restrict the scope instead.

use crate::problem::Problem;
use crate::state::Call;
use frontend::Scope;
use frontend::query::zoekt::{self, QueryTree, ZoektQuery};
use frontend::query::{NameSet, PackageNames};
use schema::message::Field;
use std::collections::HashSet;
use std::sync::Arc;

/// Names of the largest set that becomes filters.
const FILTERS_MAX: usize = 32;

pub(super) struct Prepared {
    pub(super) scope: Scope,
    pub(super) query: Option<ZoektQuery>,
    pub(super) missing: u64,
}

pub(super) async fn restricted(
    call: &Call,
    scope: &Scope,
    mut tree: QueryTree,
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

fn with_filters(tree: QueryTree, sets: Vec<Vec<String>>) -> QueryTree {
    let sets = sets.into_iter();
    let filters = sets.map(|names| QueryTree::exact(Field::Package, names));
    QueryTree::all(std::iter::once(tree).chain(filters))
}

/// Packages of `scope` in all `sets`, compared by name without version.
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
