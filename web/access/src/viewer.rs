//! Caller of a request, and its scope.
//!
//! A handler that shows content takes a [`Viewer`] and gets its scope first; long streams recheck
//! it. Without authorization the scope is everything, at no cost.

use crate::authorization::{Authorization, Caller, Refusal};
use frontend::{Coordinator, PackageNames, Scope};
use futures_util::future::try_join_all;
use http::HeaderMap;
use schema::name::package_name;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Retry delay until the packages of all backends are known.
const NAMES_RETRY_S: u64 = 1;

/// Caller of a request. Free without authorization.
#[derive(Clone)]
pub struct Viewer(Option<Authorized>);

#[derive(Clone)]
struct Authorized {
    authorization: Arc<Authorization>,
    caller: Caller,
    coordinator: Arc<Coordinator>,
    /// Known when the request came.
    names: Option<Arc<PackageNames>>,
}

impl Viewer {
    /// Caller with these headers. Without `authorization` it sees everything.
    pub fn new(
        authorization: Option<&Arc<Authorization>>,
        coordinator: &Arc<Coordinator>,
        headers: &HeaderMap,
    ) -> Result<Viewer, Refusal> {
        let Some(authorization) = authorization else {
            return Ok(Viewer(None));
        };
        Ok(Viewer(Some(Authorized {
            authorization: Arc::clone(authorization),
            caller: authorization.caller(headers)?,
            coordinator: Arc::clone(coordinator),
            names: coordinator.package_names(),
        })))
    }

    /// `None` if the viewer sees everything.
    pub fn authorization(&self) -> Option<&Authorization> {
        self.0.as_ref().map(|it| &*it.authorization)
    }

    /// Scope of this caller. If the decision is late: the public packages, marked as undecided.
    pub async fn scope(&self) -> Result<Scope, Refusal> {
        let Some(authorized) = &self.0 else {
            return Ok(Scope::everything());
        };
        let names = authorized.coordinator.package_names_soon().await;
        let names = names.ok_or(Refusal::NamesUnknown {
            retry_after_s: NAMES_RETRY_S,
        })?;
        let (authorization, caller) = (&authorized.authorization, &authorized.caller);
        authorization.scope(caller, &names).await
    }

    /// Scope of the one package, if visible, else of everything visible, for hints. Asks about the
    /// name whether it exists or not: timing must not reveal that.
    pub async fn scope_with(&self, directory: &[u8]) -> Result<Scope, Refusal> {
        if self.0.is_none() {
            return Ok(Scope::everything());
        }
        let name = self.name(directory);
        if self.sees(name).await? {
            Ok(only(&[name]))
        } else {
            self.scope().await
        }
    }

    /// Scope of the one package, if visible, else of nothing.
    pub async fn scope_of(&self, directory: &[u8]) -> Result<Scope, Refusal> {
        self.scope_with_all([directory].into_iter()).await
    }

    /// Scope of the visible ones of these packages.
    pub async fn scope_with_all(
        &self,
        directories: impl Iterator<Item = &[u8]>,
    ) -> Result<Scope, Refusal> {
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
        let names = self.0.as_ref().and_then(|it| it.names.as_ref());
        names.map_or_else(|| package_name(directory), |it| it.name_of(directory))
    }

    async fn sees(&self, name: &[u8]) -> Result<bool, Refusal> {
        let Some(authorized) = &self.0 else {
            return Ok(true);
        };
        let (authorization, caller) = (&authorized.authorization, &authorized.caller);
        authorization.sees(caller, name).await
    }
}

fn only(names: &[&[u8]]) -> Scope {
    let names = Arc::new(PackageNames::new(names.iter().copied()));
    Scope::of(&names, (0..names.len()).collect())
}
