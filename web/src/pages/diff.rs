//! Page of the differences between two revisions or packages.

mod painter;
mod view;

pub(super) use view::DiffView;

use super::form::Form;
use super::{filters, visible};
use crate::diff::{AskedDiff, Comparison, Side, compare};
use crate::http::links::RepositoryAddress;
use crate::problem::Problem;
use crate::search::params::lossy;
use crate::state::Call;
use askama::Template;
use axum::response::Html;
use view::DiffOptions;

#[derive(Template)]
#[template(path = "diff.html")]
struct DiffPage {
    form: Form,
    asked: AskedDiff,
    compared: Comparison,
    options: DiffOptions,
    files: String,
}

pub(crate) async fn diff(call: Call) -> Result<Html<String>, Problem> {
    let params = &call.params;
    params.expect(&[AskedDiff::PARAMETERS, DiffOptions::PARAMETERS])?;
    let mut asked = AskedDiff::new(params)?;
    let options = DiffOptions::new(params)?;
    let scope = asked.scope(&call.viewer).await?;
    let corpus = call.corpus(&scope);
    let compared = compare(corpus, &asked).await?;
    if asked.from.is_none() {
        asked.from = Some(compared.from.clone()).filter(|from| !from.revision.is_empty());
    }
    let files = DiffView::of(corpus, &asked, &compared, options).await;
    let files = params.site.render(&files);
    let page = DiffPage {
        form: Form::of(&params.site),
        asked,
        compared,
        options,
        files,
    };
    Ok(Html(params.site.render(&page)))
}

impl DiffPage {
    fn from(&self) -> Option<&Side> {
        self.asked.from.as_ref()
    }

    fn is_of_revisions(&self) -> bool {
        let to = &self.asked.to;
        self.from().is_none_or(|from| from.package == to.package)
    }

    fn name(side: &Side) -> String {
        visible::plain(side.name().as_bytes())
    }

    fn typed(&self, side: Option<&Side>) -> String {
        let Some(side) = side else {
            return String::new();
        };
        match self.is_of_revisions() {
            true => side.revision.clone(),
            false => Self::text(&side.package),
        }
    }

    fn whole(&self) -> String {
        self.asked.href(b"", b"") + &self.options.parameters()
    }

    fn text(bytes: &[u8]) -> String {
        lossy(Some(bytes)).into_owned()
    }

    fn path(&self) -> String {
        visible::plain(&self.asked.path)
    }

    fn side_href(&self, side: &Side) -> String {
        match str::from_utf8(&side.package) {
            Ok(repo) if !side.revision.is_empty() => {
                let rev = &side.revision;
                RepositoryAddress { repo, rev }.commit_href()
            }
            _ => side.file(b"").directory_href(),
        }
    }

    fn other_view(&self) -> String {
        let options = DiffOptions {
            split: !self.options.split,
            ..self.options
        };
        let AskedDiff {
            path, from_path, ..
        } = &self.asked;
        self.asked.href(path, from_path) + &options.parameters()
    }

    fn swapped(&self) -> Option<String> {
        let AskedDiff {
            from,
            to,
            path,
            from_path,
        } = &self.asked;
        let (path, from_path) = match &from_path[..] {
            b"" => (path, from_path),
            from_path => (&from_path.to_vec(), path),
        };
        let swapped = AskedDiff {
            from: Some(to.clone()),
            to: from.clone()?,
            path: path.clone(),
            from_path: from_path.clone(),
        };
        Some(swapped.href(path, from_path) + &self.options.parameters())
    }
}
