//! Query of a message as a tree of terms, as in a text.

use super::messages::q::Query;
use super::messages::raw_config::Flag;
use super::messages::r#type::Kind;
use super::messages::{BranchRepos, Q, RawConfig};
use crate::problem::Problem;
use crate::state::Call;
use crate::zoekt::list;
use frontend::query::zoekt::{AtomKey, ResultType, Tree};
use roaring::RoaringBitmap;
use schema::message::{Field, ListEntry};

/// Parts of a query. Constants and groups count as well.
const NODES_MAX: usize = 10_000;

pub(super) async fn read(call: &Call, query: Q) -> Result<Tree, Problem> {
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
    /// Repositories, to find their ids.
    entries: Vec<ListEntry>,
    has_ids: bool,
    nodes: usize,
}

impl Reader {
    fn tree(&mut self, query: &Q, is_symbol: bool) -> Result<Tree, Problem> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(Problem::bad_request(format!(
                "a query has more than {NODES_MAX} parts"
            )));
        }
        let missing = || Problem::bad_request("a part of the query is missing");
        let query = query.query.as_ref().ok_or_else(missing)?;
        Ok(match query {
            Query::And(and) => Tree::all(self.trees(&and.children, is_symbol)?),
            Query::Or(or) => Tree::any(self.trees(&or.children, is_symbol)?),
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
                Tree::term(key, &it.regexp, it.case_sensitive)
            }
            Query::Substring(it) => {
                let key = key(is_symbol, it.file_name, it.content);
                Tree::term(key, &regex::escape(&it.pattern), it.case_sensitive)
            }
            Query::RepoIds(ids) => self.with_ids(&ids.repos)?,
            Query::BranchesRepos(it) => {
                let parts = it.list.iter().map(|part| self.branch_repos(part));
                Tree::any(parts.collect::<Result<Vec<_>, _>>()?)
            }
            other => term(other),
        })
    }

    fn trees(&mut self, queries: &[Q], is_symbol: bool) -> Result<Vec<Tree>, Problem> {
        let trees = queries.iter().map(|query| self.tree(query, is_symbol));
        trees.collect()
    }

    fn child(&mut self, query: Option<&Q>, is_symbol: bool) -> Result<Tree, Problem> {
        self.tree(query.unwrap_or(&Q::default()), is_symbol)
    }

    fn branch_repos(&mut self, it: &BranchRepos) -> Result<Tree, Problem> {
        Ok(Tree::all([
            branch(&it.branch, true),
            self.with_ids(&it.repos)?,
        ]))
    }

    fn with_ids(&mut self, bitmap: &[u8]) -> Result<Tree, Problem> {
        self.has_ids = true;
        let ids = RoaringBitmap::deserialize_from(bitmap);
        let ids = ids.map_err(|error| {
            let detail = format!("the ids of repositories are no roaring bitmap: {error}");
            Problem::bad_request(detail)
        })?;
        let entries = self.entries.iter();
        let wanted = entries.filter(|entry| ids.contains(list::id(entry)));
        Ok(Tree::exact(
            Field::Package,
            wanted.map(list::name).collect(),
        ))
    }
}

/// A part without parts.
fn term(query: &Query) -> Tree {
    match query {
        Query::Const(value) => Tree::constant(*value),
        Query::Language(it) => Tree::term(AtomKey::Lang, &it.language, true),
        Query::Repo(it) => Tree::term(AtomKey::Repo, &it.regexp, true),
        Query::RepoRegexp(it) => Tree::term(AtomKey::Repo, &it.regexp, true),
        Query::Branch(it) => branch(&it.pattern, it.exact),
        Query::Meta(it) => Tree::term(AtomKey::Meta, &format!("{}:{}", it.key, it.value), true),
        Query::RawConfig(it) => marks(it),
        Query::FileNameSet(it) => Tree::exact(Field::Path, it.set.clone()),
        Query::RepoSet(it) => {
            let names = it.set.iter().filter(|(_, is_in)| **is_in);
            let mut names: Vec<_> = names.map(|(name, _)| name.clone()).collect();
            names.sort_unstable();
            Tree::exact(Field::Package, names)
        }
        _ => Tree::constant(true),
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

fn branch(name: &str, is_exact: bool) -> Tree {
    if is_exact && name != "HEAD" {
        Tree::exact(Field::Branch, vec![name.to_owned()])
    } else {
        Tree::term(AtomKey::Branch, name, true)
    }
}

fn marks(config: &RawConfig) -> Tree {
    Tree::all(config.flags().map(|flag| match flag {
        Flag::OnlyPublic => Tree::term(AtomKey::Public, "yes", true),
        Flag::OnlyForks => Tree::term(AtomKey::Fork, "yes", true),
        Flag::OnlyArchived => Tree::term(AtomKey::Archived, "yes", true),
        Flag::OnlyPrivate | Flag::NoForks | Flag::NoArchived | Flag::UnknownUnspecified => {
            Tree::constant(true)
        }
    }))
}

#[cfg(test)]
mod tests;
