//! Scopes of a frontend: shared answers, ids and spools, and restarts.

use crate::home::Home;
use crate::random_scopes::{Layout, Package, World, parse};
use frontend::{Scope, SearchRequest};
use std::fs;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The text exceeds the memory of a result.
const PACKAGES: usize = 60;

const LAYOUT: Layout = Layout {
    backends: 1,
    block_bytes: 4096,
    shard_bytes: u64::MAX,
};

fn packages(home: &Home) -> Vec<Package> {
    let text = "int task;\n".repeat(300);
    let package = |number| {
        let directory = format!("p{number}x");
        home.write(&format!("src/{directory}/a.c"), &text);
        Package {
            directory,
            backends: vec![0],
            is_git: false,
            is_versioned: false,
        }
    };
    (0..PACKAGES).map(package).collect()
}

fn scope(world: &World<'_>, numbers: impl IntoIterator<Item = usize>) -> Scope {
    let names = numbers.into_iter().map(|number| format!("p{number}x"));
    let names: Vec<String> = names.collect();
    world.scope(|name| names.iter().any(|known| known.as_bytes() == name))
}

fn request(scope: &Scope) -> SearchRequest {
    SearchRequest::new(scope, parse("task"))
}

fn spools(home: &Home, world: &str) -> usize {
    let entries = fs::read_dir(home.path(&format!("{world}-spool"))).unwrap();
    let is_directory = |entry: &fs::DirEntry| entry.file_type().unwrap().is_dir();
    entries
        .filter(|entry| is_directory(entry.as_ref().unwrap()))
        .count()
}

#[test]
fn callers_who_see_the_same_share_an_answer_and_others_do_not_find_it() {
    let (runtime, home) = (Runtime::new().unwrap(), Home::new());
    let world = World::new(&runtime, &home, "world", &packages(&home), LAYOUT);
    let frontend = &world.frontend;
    let search = |scope: &Scope| {
        let search = runtime.block_on(frontend.search(request(scope)));
        let search = search.unwrap();
        let answer = runtime.block_on(search.finished()).unwrap();
        (search, answer.len())
    };
    let (few, same) = (scope(&world, 0..10), scope(&world, 0..10));
    let more = scope(&world, 0..20);
    let ((first, len), (second, _)) = (search(&few), search(&same));
    assert_eq!((len, first.was_there()), (3000, false));
    assert!(second.was_there(), "equal scopes share an execution");
    assert_eq!(spools(&home, "world"), 1, "and its spool");
    let (other, len) = search(&more);
    assert_eq!((len, other.was_there()), (6000, false));
    assert_ne!(other.identity(), first.identity());
    for (id, seen, unseen) in [(first.id(), &few, &more), (other.id(), &more, &few)] {
        assert!(frontend.get(seen, id).is_some());
        for unseen in [unseen, &Scope::everything()] {
            assert!(frontend.get(unseen, id).is_none(), "another scope");
            let again = runtime.block_on(frontend.get_or_rerun(unseen, id));
            assert!(again.unwrap().is_none(), "another scope");
        }
    }
    let generation = first.generation();
    let resume = |scope| {
        let request = SearchRequest {
            generation: Some(generation.to_owned()),
            is_resumed: true,
            ..request(scope)
        };
        runtime.block_on(frontend.search(request))
    };
    let resumed = resume(&few).unwrap();
    assert_eq!(resumed.identity(), first.identity());
    assert_eq!(resume(&more).unwrap().identity(), other.identity());
}

#[test]
fn a_result_that_survives_a_restart_is_that_of_callers_who_see_the_same() {
    let (runtime, home) = (Runtime::new().unwrap(), Home::new());
    let packages = packages(&home);
    let search = |world: &World<'_>, scope: &Scope| {
        let search = runtime.block_on(world.frontend.search(request(scope)));
        let search = search.unwrap();
        let answer = runtime.block_on(search.finished()).unwrap();
        (search.was_there(), answer.len())
    };
    let world = World::new(&runtime, &home, "world", &packages, LAYOUT);
    assert_eq!(search(&world, &scope(&world, 0..10)), (false, 3000));
    drop(world);
    let world = World::reopened(&runtime, &home, "world", LAYOUT);
    assert_eq!(search(&world, &scope(&world, 0..20)), (false, 6000));
    assert_eq!(search(&world, &Scope::everything()), (false, 18_000));
    assert_eq!(search(&world, &scope(&world, 0..10)), (true, 3000));
}

/// 4.8 MB of pointers spill.
#[test]
fn fifty_scopes_at_once_are_answered_in_little_memory() {
    let (runtime, home) = (Runtime::new().unwrap(), Home::new());
    drop(World::new(
        &runtime,
        &home,
        "world",
        &packages(&home),
        LAYOUT,
    ));
    let world = World::configured(&runtime, &home, "world", LAYOUT, |config| {
        config.memory_bytes = 2 << 20;
        config.query_memory_bytes = 1 << 20;
    });
    let scopes: Vec<Scope> = (0..50).map(|from| scope(&world, from..from + 10)).collect();
    runtime.block_on(async {
        let mut running = Vec::new();
        for scope in &scopes {
            let search = world.frontend.search(request(scope)).await;
            running.push(search.unwrap());
        }
        for search in &running {
            let answer = tokio::time::timeout(Duration::from_secs(60), search.finished());
            let answer = answer.await.unwrap().unwrap();
            assert!(answer.is_complete(), "{:?}", answer.missing());
            assert_eq!(answer.len(), 3000);
        }
    });
    assert_eq!(spools(&home, "world"), scopes.len());
}
