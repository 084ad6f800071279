//! Hover: the head of the best definition, and the comment above it.

use super::lexed::Lexed;
use super::lookup::Lookup;
use super::text::Text;
use crate::{CorpusError, Place};
use language::symbols::Definition;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, TextDocumentPositionParams};

const FENCE: &str = "```";

/// Documents that are read until one has more than a declaration.
const READ_MAX: usize = 8;

impl Lookup<'_> {
    pub(super) fn hover(
        &self,
        at: &TextDocumentPositionParams,
    ) -> Result<Option<Hover>, CorpusError> {
        let Some(asked) = self.asked(at)? else {
            return Ok(None);
        };
        let mut best = described(&asked.lexed, &asked.word);
        if best
            .as_ref()
            .is_none_or(|(is_declaration, _)| *is_declaration)
        {
            let found = self.elsewhere(&asked, (true, false))?;
            for found in found.iter().take(READ_MAX) {
                let other = self.newest(&found.place)?;
                let other = other.and_then(|it| described(&it, &asked.word));
                let is_body = matches!(other, Some((false, _)));
                if best.is_none() || is_body {
                    best = other;
                }
                if is_body {
                    break;
                }
            }
        }
        let hover = |(_, value)| Hover {
            contents: HoverContents::Markup(MarkupContent {
                kind: MarkupKind::Markdown,
                value,
            }),
            range: None,
        };
        Ok(best.map(hover))
    }
}

/// Describes the first definition of the highest level in Markdown. True for a declaration.
fn described(lexed: &Lexed, word: &str) -> Option<(bool, String)> {
    let definitions = lexed.definitions(word);
    let it = definitions.min_by_key(|it| std::cmp::Reverse(it.level()))?;
    Some((it.is_declaration, markdown(lexed, it)))
}

fn markdown(lexed: &Lexed, it: &Definition) -> String {
    let (text, symbols) = (&lexed.text, &lexed.symbols);
    let head = symbols.head(text, it).join("\n");
    let fence = if head.contains(FENCE) {
        "~~~~~~"
    } else {
        FENCE
    };
    let language = lexed.language.map(|it| it.name.to_lowercase());
    let language = language.unwrap_or_default();
    let mut parts = vec![format!("{fence}{language}\n{head}\n{fence}")];
    let comment = symbols.comment(text, it).join("\n").trim().to_owned();
    parts.extend((!comment.is_empty()).then_some(comment));
    if let Some(Place { package, path }) = &lexed.place {
        let name = String::from_utf8_lossy(&[&package[..], path].join(&b'/')).into_owned();
        let name = name.replace(|it: char| it.is_control() || it == '`', "");
        let line = Text::new(text).line_of(it.name.start as usize) + 1;
        parts.push(format!("`{name}:{line}`"));
    }
    parts.join("\n\n")
}
