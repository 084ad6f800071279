//! GitHub's REST API for code and repositories, the part of GraphQL that `gh` needs, and addresses
//! of its pages.
//!
//! Packages are repositories `owner/name`. Addresses begin with `/api/v3`, as of GitHub Enterprise,
//! or with nothing.

mod account;
mod addresses;
mod commits;
mod contents;
mod fragments;
#[cfg(feature = "graphql")]
mod graphql;
mod pages;
mod paging;
mod references;
mod repositories;
mod repository;
mod search;
mod shape;

pub(crate) use pages::{is_search, search_page};
pub(crate) use shape::shape;

#[cfg(not(feature = "graphql"))]
use crate::problem::Problem;
use crate::state::App;
use addresses::PREFIX;
use axum::Router;
use axum::routing::{get, post};
use shape::SEARCHES;

pub(crate) fn routes() -> Router<App> {
    #[cfg(feature = "graphql")]
    let graphql = post(graphql::answer);
    #[cfg(not(feature = "graphql"))]
    let graphql = post(async || Problem::missing("this server was built without GraphQL"));
    let pages = Router::new()
        .route("/api/graphql", graphql)
        .route(PREFIX, get(account::root))
        .route("/api/v3/", get(account::root))
        .route("/{owner}/{repo}/info/refs", get(pages::no_git))
        .route("/raw/{owner}/{repo}/{*path}", get(pages::raw))
        .route("/{owner}/{repo}/blob/{rev}/{*path}", get(pages::file))
        .route("/{owner}/{repo}/tree/{rev}", get(pages::top))
        .route("/{owner}/{repo}/tree/{rev}/{*path}", get(pages::directory));
    let routes = [
        ("/search/code", get(search::code)),
        ("/search/repositories", get(repositories::search)),
        ("/rate_limit", get(account::rate_limit)),
        ("/meta", get(account::meta)),
        ("/user", get(account::user)),
        ("/user/repos", get(repositories::list)),
        ("/repositories", get(repositories::list)),
        ("/users/{owner}", get(repositories::owner)),
        ("/users/{owner}/repos", get(repositories::owned)),
        ("/orgs/{owner}", get(repositories::owner)),
        ("/orgs/{owner}/repos", get(repositories::owned)),
        ("/repos/{owner}/{repo}", get(repository::get)),
        ("/repos/{owner}/{repo}/{*rest}", get(account::no_part)),
    ];
    let of_repository = [
        ("/contents", get(contents::at)),
        ("/contents/", get(contents::at)),
        ("/contents/{*rest}", get(contents::at)),
        ("/readme", get(contents::readme)),
        ("/readme/{*rest}", get(contents::readme)),
        ("/languages", get(contents::languages)),
        ("/commits", get(commits::list)),
        ("/commits/{*rest}", get(commits::one)),
        ("/branches", get(references::branches)),
        ("/branches/{*rest}", get(references::branch)),
        ("/tags", get(references::tags)),
        ("/git/blobs/{rest}", get(contents::blob)),
        ("/git/commits/{rest}", get(commits::object)),
        ("/git/trees/{*rest}", get(contents::tree)),
        ("/git/ref/{*rest}", get(references::one)),
        ("/git/refs", get(references::matching)),
        ("/git/refs/{*rest}", get(references::matching)),
        ("/git/matching-refs/{*rest}", get(references::matching)),
    ];
    let of_repository = of_repository.into_iter();
    let of_repository =
        of_repository.map(|(path, to)| (format!("/repos/{{owner}}/{{repo}}{path}"), to));
    let searches = SEARCHES.into_iter().skip(2);
    let searches = searches.map(|of| (format!("/search/{of}"), get(account::no_search)));
    let routes = routes.into_iter().map(|(path, to)| (path.to_owned(), to));
    let routes: Vec<_> = routes.chain(of_repository).chain(searches).collect();
    routes.into_iter().fold(pages, |router, (path, to)| {
        let versioned = format!("{PREFIX}{path}");
        router.route(&path, to.clone()).route(&versioned, to)
    })
}
