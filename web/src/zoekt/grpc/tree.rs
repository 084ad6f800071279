//! Query of a message as a tree of terms, as in a text.

use super::messages::q::Query;
use super::messages::raw_config::Flag;
use super::messages::r#type::Kind;
use super::messages::{BranchRepos, Q, RawConfig};
use crate::problem::Problem;
use crate::state::Call;
use crate::zoekt::list;
use frontend::query::zoekt::{AtomKey, QueryTree, ResultType};
use roaring::RoaringBitmap;
use schema::message::{Field, ListEntry};

/// Parts of a query. Constants and groups count as well.
const NODES_MAX: usize = 10_000;

pub(super) async fn read(call: &Call, query: Q) -> Result<QueryTree, Problem> {
    let mut reader = Reader::default();
    let tree = reader.tree(&query, false)?;
    if !reader.has_ids {
        return Ok(tree);
    }
    let scope = call.viewer.scope().await?;
    let entries = list::all(call.corpus(&scope)).await?.entries;
    Reader {
        entries,
        ..Reader::default()
    }
    .tree(&query, false)
}

#[derive(Default)]
struct Reader {
    entries: Vec<ListEntry>,
    has_ids: bool,
    nodes: usize,
}

impl Reader {
    fn tree(&mut self, query: &Q, is_symbol: bool) -> Result<QueryTree, Problem> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(Problem::bad_request(format!(
                "a query has more than {NODES_MAX} parts"
            )));
        }
        let missing = || Problem::bad_request("a part of the query is missing");
        let query = query.query.as_ref().ok_or_else(missing)?;
        Ok(match query {
            Query::And(and) => QueryTree::all(self.trees(&and.children, is_symbol)?),
            Query::Or(or) => QueryTree::any(self.trees(&or.children, is_symbol)?),
            Query::Not(not) => self.child(not.child.as_deref(), is_symbol)?.negated(),
            Query::Boost(boost) => self.child(boost.child.as_deref(), is_symbol)?,
            Query::Symbol(symbol) => self.child(symbol.expr.as_deref(), true)?,
            Query::Type(it) => {
                let child = self.child(it.child.as_deref(), is_symbol)?;
                child.of_type(match it.r#type() {
                    Kind::Repo => ResultType::Repositories,
                    Kind::FileName => ResultType::Names,
                    Kind::FileMatch | Kind::UnknownUnspecified => ResultType::Matches,
                })
            }
            Query::Regexp(it) => {
                let key = key(is_symbol, it.file_name, it.content);
                QueryTree::term(key, &it.regexp, it.case_sensitive)
            }
            Query::Substring(it) => {
                let key = key(is_symbol, it.file_name, it.content);
                QueryTree::term(key, &regex::escape(&it.pattern), it.case_sensitive)
            }
            Query::RepoIds(ids) => self.with_ids(&ids.repos)?,
            Query::BranchesRepos(it) => {
                let parts = it.list.iter().map(|part| self.branch_repos(part));
                QueryTree::any(parts.collect::<Result<Vec<_>, _>>()?)
            }
            other => term(other),
        })
    }

    fn trees(&mut self, queries: &[Q], is_symbol: bool) -> Result<Vec<QueryTree>, Problem> {
        let trees = queries.iter().map(|query| self.tree(query, is_symbol));
        trees.collect()
    }

    fn child(&mut self, query: Option<&Q>, is_symbol: bool) -> Result<QueryTree, Problem> {
        self.tree(query.unwrap_or(&Q::default()), is_symbol)
    }

    fn branch_repos(&mut self, it: &BranchRepos) -> Result<QueryTree, Problem> {
        Ok(QueryTree::all([
            branch(&it.branch, true),
            self.with_ids(&it.repos)?,
        ]))
    }

    fn with_ids(&mut self, bitmap: &[u8]) -> Result<QueryTree, Problem> {
        self.has_ids = true;
        let ids = RoaringBitmap::deserialize_from(bitmap);
        let ids = ids.map_err(|error| {
            let detail = format!("the ids of repositories are no roaring bitmap: {error}");
            Problem::bad_request(detail)
        })?;
        let entries = self.entries.iter();
        let wanted = entries.filter(|entry| ids.contains(list::id(entry)));
        Ok(QueryTree::exact(
            Field::Package,
            wanted.map(list::name).collect(),
        ))
    }
}

fn term(query: &Query) -> QueryTree {
    match query {
        Query::Const(value) => QueryTree::constant(*value),
        Query::Language(it) => QueryTree::term(AtomKey::Lang, &it.language, true),
        Query::Repo(it) => QueryTree::term(AtomKey::Repo, &it.regexp, true),
        Query::RepoRegexp(it) => QueryTree::term(AtomKey::Repo, &it.regexp, true),
        Query::Branch(it) => branch(&it.pattern, it.exact),
        Query::Meta(it) => {
            QueryTree::term(AtomKey::Meta, &format!("{}:{}", it.key, it.value), true)
        }
        Query::RawConfig(it) => marks(it),
        Query::FileNameSet(it) => QueryTree::exact(Field::Path, it.set.clone()),
        Query::RepoSet(it) => {
            let names = it.set.iter().filter(|(_, is_in)| **is_in);
            let mut names: Vec<_> = names.map(|(name, _)| name.clone()).collect();
            names.sort_unstable();
            QueryTree::exact(Field::Package, names)
        }
        _ => QueryTree::constant(true),
    }
}

fn key(is_symbol: bool, file_name: bool, content: bool) -> AtomKey {
    match (is_symbol, file_name, content) {
        (true, ..) => AtomKey::Symbol,
        (_, true, false) => AtomKey::File,
        (_, false, true) => AtomKey::Content,
        _ => AtomKey::Any,
    }
}

fn branch(name: &str, is_exact: bool) -> QueryTree {
    if is_exact && name != "HEAD" {
        QueryTree::exact(Field::Branch, vec![name.to_owned()])
    } else {
        QueryTree::term(AtomKey::Branch, name, true)
    }
}

fn marks(config: &RawConfig) -> QueryTree {
    QueryTree::all(config.flags().map(|flag| match flag {
        Flag::OnlyPublic => QueryTree::term(AtomKey::Public, "yes", true),
        Flag::OnlyForks => QueryTree::term(AtomKey::Fork, "yes", true),
        Flag::OnlyArchived => QueryTree::term(AtomKey::Archived, "yes", true),
        Flag::OnlyPrivate | Flag::NoForks | Flag::NoArchived | Flag::UnknownUnspecified => {
            QueryTree::constant(true)
        }
    }))
}

#[cfg(test)]
mod tests;
