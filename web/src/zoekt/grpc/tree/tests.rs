//! Trees have the meaning of texts.

use super::*;
use crate::zoekt::grpc::messages::{
    And, Boost, Branch, BranchesRepos, FileNameSet, Language, Meta, Not, Or, Regexp, Repo, RepoIds,
    RepoSet, Substring, Symbol, Type,
};
use frontend::query::zoekt;

fn q(query: Query) -> Q {
    Q { query: Some(query) }
}

fn text(pattern: &str, file_name: bool, content: bool, case_sensitive: bool) -> Q {
    q(Query::Substring(Substring {
        pattern: pattern.into(),
        case_sensitive,
        file_name,
        content,
    }))
}

fn regexp(pattern: &str, file_name: bool, content: bool, case_sensitive: bool) -> Q {
    q(Query::Regexp(Regexp {
        regexp: pattern.into(),
        case_sensitive,
        file_name,
        content,
    }))
}

fn all(children: Vec<Q>) -> Q {
    q(Query::And(And { children }))
}

fn any(children: Vec<Q>) -> Q {
    q(Query::Or(Or { children }))
}

fn not(child: Q) -> Q {
    q(Query::Not(Box::new(Not {
        child: Some(Box::new(child)),
    })))
}

fn symbol(expr: Q) -> Q {
    q(Query::Symbol(Box::new(Symbol {
        expr: Some(Box::new(expr)),
    })))
}

fn of_type(child: Q, kind: Kind) -> Q {
    q(Query::Type(Box::new(Type {
        child: Some(Box::new(child)),
        r#type: kind.into(),
    })))
}

fn branch(pattern: &str, exact: bool) -> Q {
    let pattern = pattern.into();
    q(Query::Branch(Branch { pattern, exact }))
}

fn language(language: &str) -> Q {
    q(Query::Language(Language {
        language: language.into(),
    }))
}

fn repo(regexp: &str) -> Q {
    q(Query::Repo(Repo {
        regexp: regexp.into(),
    }))
}

fn set(names: &[(&str, bool)]) -> Q {
    let set = names
        .iter()
        .map(|(name, is_in)| ((*name).to_owned(), *is_in));
    q(Query::RepoSet(RepoSet { set: set.collect() }))
}

fn flags(flags: &[Flag]) -> Q {
    let flags = flags.iter().map(|&flag| flag.into()).collect();
    q(Query::RawConfig(RawConfig { flags }))
}

fn ids(ids: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let ids: RoaringBitmap = ids.iter().copied().collect();
    ids.serialize_into(&mut bytes).unwrap();
    bytes
}

fn entry(package: &str) -> ListEntry {
    ListEntry {
        package: package.into(),
        ..ListEntry::default()
    }
}

fn meaning(query: &Q) -> String {
    let mut reader = Reader {
        entries: vec![entry("yak"), entry("zoo")],
        ..Reader::default()
    };
    let tree = reader.tree(query, false).unwrap();
    let checked = zoekt::check(&tree, 0).unwrap();
    checked.map_or_else(String::new, |it| shown(&it))
}

fn shown(query: &zoekt::ZoektQuery) -> String {
    format!(
        "{} {:?}",
        query.parsed.query.interpreted_as(),
        query.results
    )
}

#[test]
fn trees_have_the_meaning_of_texts() {
    let a = || text("a", false, true, false);
    let boosted = Boost {
        child: Some(Box::new(a())),
        boost: 2.0,
    };
    for (tree, typed) in [
        (a(), "c:a case:no"),
        (text("Ab", false, true, true), "c:Ab case:yes"),
        (text("a.b(", true, false, false), r"f:a\.b\( case:no"),
        (text("a", false, false, true), "a case:yes"),
        (text("a", true, true, true), "a case:yes"),
        (regexp("a.*[Bc]", false, true, false), "c:a.*[Bc] case:no"),
        (regexp(r"\.go$", true, false, true), r"f:\.go$ case:yes"),
        (all(vec![a(), language("Go")]), "c:a case:no lang:go"),
        (any(vec![a(), repo("^z")]), "(c:a case:no) or r:^z"),
        (all(vec![a(), not(repo("z"))]), "c:a case:no -r:z"),
        (symbol(regexp("^A", false, false, true)), "sym:^A case:yes"),
        (symbol(text("a+b", false, true, false)), r"sym:a\+b case:no"),
        (all(vec![a(), branch("HEAD", true)]), "c:a case:no"),
        (all(vec![a(), branch("rel", false)]), "c:a case:no b:rel"),
        (of_type(a(), Kind::FileName), "c:a case:no type:file"),
        (of_type(a(), Kind::FileMatch), "c:a case:no type:filematch"),
        (
            all(vec![of_type(a(), Kind::FileName), repo("z")]),
            "(c:a case:no type:file) r:z",
        ),
        (q(Query::Boost(Box::new(boosted))), "c:a case:no"),
        (
            all(vec![a(), flags(&[Flag::NoForks, Flag::OnlyPrivate])]),
            "c:a case:no",
        ),
        (all(vec![a(), q(Query::Const(true))]), "c:a case:no"),
        (any(vec![a(), q(Query::Const(false))]), "c:a case:no"),
        (any(vec![a(), flags(&[Flag::OnlyPublic])]), "c:a case:no"),
        (text("", false, true, true), ""),
    ] {
        let expected = shown(&zoekt::parse(typed, 0).unwrap());
        assert_eq!(meaning(&tree), expected, "{typed}");
    }
}

#[test]
fn sets_are_exact_names() {
    let a = || text("a", false, true, true);
    let names = |names: &[&str]| {
        let set = names.iter().map(|&name| name.to_owned()).collect();
        q(Query::FileNameSet(FileNameSet { set }))
    };
    let zoo = list::id(&entry("zoo"));
    let repos = ids(&[zoo, zoo.wrapping_add(1)]);
    let by_id = q(Query::RepoIds(RepoIds {
        repos: repos.clone(),
    }));
    let pair = |branch: &str| BranchRepos {
        branch: branch.into(),
        repos: repos.clone(),
    };
    let pairs = |list| q(Query::BranchesRepos(BranchesRepos { list }));
    let expected = "a package:=zoo case:yes Matches";
    for (part, expected) in [
        (set(&[("zoo", true), ("yak", false)]), expected),
        (set(&[]), ""),
        (by_id, expected),
        (pairs(vec![pair("HEAD")]), expected),
        (
            pairs(vec![pair("main")]),
            "a package:=zoo branch:main case:yes Matches",
        ),
        (pairs(vec![]), ""),
        (names(&["a/b c"]), "a path:=\"a/b c\" case:yes Matches"),
    ] {
        let query = all(vec![a(), part]);
        assert_eq!(meaning(&query), expected, "{query:?}");
    }
}

#[test]
fn faults_are_explained() {
    let refused = |query: &Q| {
        let tree = Reader::default().tree(query, false);
        let checked = tree.and_then(|tree| Ok(zoekt::check(&tree, 0)?));
        checked.unwrap_err().to_string()
    };
    let meta = q(Query::Meta(Meta {
        key: "team".into(),
        value: "web".into(),
    }));
    let repos = b"no bitmap".to_vec();
    for (query, reason) in [
        (Q::default(), "a part of the query is missing"),
        (all(vec![Q::default()]), "a part of the query is missing"),
        (
            meta,
            "no file can match: repositories have no metadata here",
        ),
        (flags(&[Flag::OnlyArchived]), "repositories are not marked"),
        (language("pyton"), "there is no language pyton"),
        (regexp("a(", false, true, false), "unclosed group"),
        (q(Query::RepoIds(RepoIds { repos })), "no roaring bitmap"),
        (
            all(vec![q(Query::Const(true)); NODES_MAX]),
            "more than 10000 parts",
        ),
        (all(vec![repo("x"); 65]), "65"),
        (
            regexp(&"x".repeat(20_000), false, true, false),
            "20000 bytes",
        ),
    ] {
        let found = refused(&query);
        assert!(found.contains(reason), "{found}");
    }
}
