//! Caller of a request, and its scope.
//!
//! Every handler that shows content takes a [`Viewer`] and gets its scope first. Long streams
//! recheck it ([`Watched`]). Without authorization the scope is everything, at no cost.

mod watched;

pub(crate) use watched::Watched;

use crate::authorization::{Authorization, Caller, Refusal};
use crate::problem::Problem;
use crate::state::App;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use frontend::{PackageNames, Scope};
use futures_util::future::try_join_all;
use schema::name::package_name;
use std::collections::BTreeSet;
use std::sync::Arc;

const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Retry delay until the packages of all backends are known.
const NAMES_RETRY_S: u64 = 1;

/// Caller of a request. Free without authorization.
#[derive(Clone, Debug)]
pub(crate) struct Viewer(Option<Authorized>);

/// A caller, and the known package names.
type Authorized = (Arc<Authorization>, Caller, Option<Arc<PackageNames>>);

impl FromRequestParts<App> for Viewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Some(authorization) = &app.authorization else {
            return Ok(Viewer(None));
        };
        let caller = authorization.caller(&parts.headers)?;
        let names = app.coordinator.package_names();
        Ok(Viewer(Some((Arc::clone(authorization), caller, names))))
    }
}

impl Viewer {
    /// Scope of this caller. If the decision is late: the public packages, marked as undecided.
    pub(crate) async fn scope(&self, app: &App) -> Result<Scope, Problem> {
        let Some((authorization, caller, _)) = &self.0 else {
            return Ok(Scope::everything());
        };
        let names = app.coordinator.package_names_soon().await.ok_or_else(|| {
            let detail =
                "a backend has not listed its packages yet, so it is not known what you may see";
            Problem::authorization_unknown(detail, NAMES_RETRY_S)
        })?;
        Ok(authorization.scope(caller, &names).await?)
    }

    /// Scope of the one package, if visible, else of everything visible, for hints. Asks about the
    /// name whether it exists or not: timing must not reveal that.
    pub(crate) async fn scope_with(&self, app: &App, directory: &[u8]) -> Result<Scope, Problem> {
        if self.0.is_none() {
            return Ok(Scope::everything());
        }
        let name = self.name(directory);
        if self.sees(name).await? {
            Ok(only(&[name]))
        } else {
            self.scope(app).await
        }
    }

    /// Scope of the one package, if visible, else of nothing.
    pub(crate) async fn scope_of(&self, directory: &[u8]) -> Result<Scope, Problem> {
        self.scope_with_all([directory].into_iter()).await
    }

    pub(crate) async fn scope_with_all(
        &self,
        directories: impl Iterator<Item = &[u8]>,
    ) -> Result<Scope, Problem> {
        if self.0.is_none() {
            return Ok(Scope::everything());
        }
        let asked: BTreeSet<&[u8]> = directories.map(|it| self.name(it)).collect();
        let asked: Vec<&[u8]> = asked.into_iter().collect();
        let visible = try_join_all(asked.iter().map(|name| self.sees(name))).await?;
        let visible = asked
            .iter()
            .zip(visible)
            .filter(|(_, is_visible)| *is_visible);
        Ok(only(&visible.map(|(name, _)| *name).collect::<Vec<_>>()))
    }

    /// Returns the name that rights refer to.
    fn name<'a>(&self, directory: &'a [u8]) -> &'a [u8] {
        match &self.0 {
            Some((.., Some(names))) => names.name_of(directory),
            _ => package_name(directory),
        }
    }

    async fn sees(&self, name: &[u8]) -> Result<bool, Problem> {
        let Some((authorization, caller, _)) = &self.0 else {
            return Ok(true);
        };
        Ok(authorization.sees(caller, name).await?)
    }
}

/// Keeps answers that depend on the caller out of shared caches.
pub(crate) async fn keep_private(
    State(authorization): State<Arc<Authorization>>,
    request: Request,
    next: Next,
) -> Response {
    let is_same_for_all = request.uri().path().starts_with("/assets/");
    let mut response = next.run(request).await;
    if !is_same_for_all {
        let headers = response.headers_mut();
        headers.entry(header::CACHE_CONTROL).or_insert(PRIVATE);
        headers.append(header::VARY, authorization.varies_by());
    }
    response
}

fn only(names: &[&[u8]]) -> Scope {
    let names = Arc::new(PackageNames::new(names.iter().copied()));
    Scope::of(&names, (0..names.len()).collect())
}

fn no_answer(retry_after_s: u64) -> Problem {
    let detail = "the service that decides what you may see does not answer";
    Problem::authorization_unknown(detail, retry_after_s)
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        match refusal {
            Refusal::BadHeader(name) => {
                Problem::bad_request(format!("the header {name} has control characters"))
            }
            Refusal::BadToken(reason) => {
                let hint = "get a new token from the service that issued it";
                Problem::bad_token(reason).hint(hint)
            }
            Refusal::Unknown { retry_after_s } => no_answer(retry_after_s),
            Refusal::TooManyNames => {
                let detail = "more packages are not public than the authorization service is asked for one by one";
                Problem::authorization_unknown(detail, 60)
                    .hint("the operator can start Trawl with --auth-batch or --public")
            }
        }
    }
}
