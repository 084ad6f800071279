//! Definitions and uses of names (`lsif`).

use super::super::matches::url;
use super::objects::{File, Lsif, Repository};
use super::shared::{Html, Range, refused};
use crate::model::SymbolPlace;
use crate::problem::Problem;
use crate::state::Call;
use crate::symbols::{self, SymbolRequest, SymbolTarget};
use async_graphql::{Context, Object, Result, SimpleObject};
use schema::message::FileRange;

const PLACES_MAX: usize = 100;

#[derive(SimpleObject)]
struct LocationConnection {
    nodes: Vec<Place>,
}

#[derive(SimpleObject)]
struct Place {
    resource: File,
    range: Range,
    url: String,
}

#[derive(SimpleObject)]
struct Hover {
    markdown: Html,
    range: Option<Range>,
}

#[Object(name = "GitBlobLSIFData", serial)]
impl Lsif {
    #[graphql(complexity = "50 + child_complexity")]
    async fn definitions(
        &self,
        ctx: &Context<'_>,
        line: i32,
        character: i32,
    ) -> Result<LocationConnection> {
        let found = self.places(ctx.data_unchecked(), (line, character), false);
        self.connection(found.await.map_err(refused)?)
    }

    #[graphql(complexity = "50 + child_complexity")]
    async fn references(
        &self,
        ctx: &Context<'_>,
        line: i32,
        character: i32,
    ) -> Result<LocationConnection> {
        let found = self.places(ctx.data_unchecked(), (line, character), true);
        self.connection(found.await.map_err(refused)?)
    }

    #[graphql(complexity = "50 + child_complexity")]
    async fn hover(&self, ctx: &Context<'_>, line: i32, character: i32) -> Result<Option<Hover>> {
        let found = self.places(ctx.data_unchecked(), (line, character), false);
        let found = found.await.map_err(refused)?;
        Ok(found.first().map(|place| Hover {
            markdown: Html::of(shown(place)),
            range: None,
        }))
    }
}

impl Lsif {
    /// Places of the name, if any. `character` counts UTF-16 units.
    async fn places(
        &self,
        call: &Call,
        (line, character): (i32, i32),
        uses: bool,
    ) -> Result<Vec<SymbolPlace>, Problem> {
        let (Ok(line), Ok(character)) = (u32::try_from(line), usize::try_from(character)) else {
            return Ok(Vec::new());
        };
        let line = line.saturating_add(1);
        let file = self.0.request(FileRange::Lines {
            first: line,
            count: 1,
        });
        let scope = call.viewer.scope().await?;
        let corpus = call.corpus(&scope);
        let text = corpus.fetch_file(file.clone()).await?.reply.text;
        let request = SymbolRequest {
            file,
            target: SymbolTarget::At {
                line,
                column: bytes(&text, character),
            },
            limit: PLACES_MAX,
            client: call.params.client,
        };
        let found = match uses {
            true => symbols::references(corpus, &request, true).await,
            false => symbols::definitions(corpus, &request).await,
        };
        match found {
            Ok(found) => Ok(found.places),
            Err(problem) if problem.is_about_file() => Ok(Vec::new()),
            Err(problem) => Err(problem),
        }
    }

    fn connection(&self, places: Vec<SymbolPlace>) -> Result<LocationConnection> {
        let here = self.0.repository();
        let nodes = places.into_iter().map(|place| {
            let repository = if place.package.as_bytes() == self.0.package() {
                here.clone()
            } else {
                Repository::named(place.package.as_bytes())
            };
            let revision = place.commit.clone().unwrap_or_default();
            let line = place.line.saturating_sub(1);
            let columns = columns(&place);
            let (package, path) = (place.package.as_bytes(), place.path.as_bytes());
            let column = columns.start + 1;
            let at = format!("?L{}:{column}", place.line);
            Place {
                url: url(package, &revision, "blob", path) + &at,
                resource: File::at(repository, &revision, &place.path),
                range: Range::on_line(line, columns),
            }
        });
        Ok(LocationConnection {
            nodes: nodes.collect(),
        })
    }
}

fn bytes(line: &[u8], character: usize) -> u32 {
    let line = String::from_utf8_lossy(line);
    let (mut units, mut bytes) = (0, 0);
    for letter in line.chars().take_while(|letter| *letter != '\n') {
        if units >= character {
            break;
        }
        units += letter.len_utf16();
        bytes += letter.len_utf8();
    }
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn columns(place: &SymbolPlace) -> std::ops::Range<usize> {
    let [start, end] = place.ranges.first().copied().unwrap_or_default();
    let units = |end: usize| {
        let text = place.text.get(..end).unwrap_or(&place.text);
        text.encode_utf16().count()
    };
    let text_start = usize::try_from(place.column).unwrap_or_default();
    let left_out = text_start.saturating_sub(start);
    left_out + units(start)..left_out + units(end)
}

fn shown(place: &SymbolPlace) -> String {
    let code = place.text.trim().replace("```", "'''");
    let mut markdown = format!("```\n{code}\n```\n");
    if let Some(documentation) = &place.documentation {
        markdown.push_str(documentation);
    }
    markdown + &format!("\n{}/{}:{}", place.package, place.path, place.line)
}
