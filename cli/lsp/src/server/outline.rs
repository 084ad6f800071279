//! Symbols of a document as a tree, and symbols of all documents as a list.

use super::lexed::Lexed;
use super::lookup::{Lookup, RESULTS_MAX};
use super::text::Text;
use crate::{CorpusError, Found};
use language::symbols::{Definition, Kind, Parent};
use lsp_types::{
    DocumentSymbol, Location, OneOf, Position, Range, SymbolKind, Uri, WorkspaceSymbol,
};
use std::collections::HashMap;

/// Symbols of a document. A header of registers has 300,000.
const SYMBOLS_MAX: usize = 10_000;

/// Documents that are lexed for the kinds of a list.
const LEXED_MAX: usize = 64;

impl Lookup<'_> {
    pub(super) fn document_symbols(&self, uri: &Uri) -> Result<Vec<DocumentSymbol>, CorpusError> {
        Ok(self
            .lexed(uri)?
            .map_or_else(Vec::new, |lexed| self.tree(&lexed)))
    }

    /// Best definitions of a part of a name.
    pub(super) fn workspace_symbols(
        &self,
        typed: &str,
    ) -> Result<Vec<WorkspaceSymbol>, CorpusError> {
        // No name has these, and they would end the quoted text.
        let typed: String = typed
            .chars()
            .filter(|it| !it.is_control() && !"\"\\".contains(*it))
            .collect();
        if typed.trim().is_empty() {
            return Ok(Vec::new());
        }
        let found = self
            .corpus
            .search(&format!("sym:\"{}\"", typed.trim()), RESULTS_MAX)?;
        let (mut targets, mut lexed) = (self.targets(), HashMap::new());
        let symbols = found.iter().filter_map(|found| {
            let (uri, ranges) = targets.place(found)?;
            let place = &found.place;
            if !lexed.contains_key(place) && lexed.len() < LEXED_MAX {
                lexed.insert(place, self.newest(place).ok().flatten());
            }
            let lexed = lexed.get(place).and_then(Option::as_ref);
            Some(symbol(found, lexed, Location::new(uri, *ranges.first()?)))
        });
        Ok(symbols.take(RESULTS_MAX).collect())
    }

    fn tree(&self, lexed: &Lexed) -> Vec<DocumentSymbol> {
        let text = Text::new(&lexed.text);
        let all = &lexed.symbols.definitions;
        let all = &all[..all.len().min(SYMBOLS_MAX)];
        let mut children: Vec<Vec<DocumentSymbol>> = all.iter().map(|_| Vec::new()).collect();
        let mut roots = Vec::new();
        // Children come after their parents.
        for (index, it) in all.iter().enumerate().rev() {
            let mut below = std::mem::take(&mut children[index]);
            below.reverse();
            let symbol = self.symbol(lexed, &text, it, below);
            match it.parent {
                Parent::Definition(parent) if (parent as usize) < index => {
                    children[parent as usize].push(symbol)
                }
                _ => roots.push(symbol),
            }
        }
        roots.reverse();
        roots
    }

    #[expect(deprecated, reason = "the type has a deprecated field")]
    fn symbol(
        &self,
        lexed: &Lexed,
        text: &Text<'_>,
        it: &Definition,
        children: Vec<DocumentSymbol>,
    ) -> DocumentSymbol {
        let name = text.range(&it.name, self.encoding);
        let end = text.position(it.end.max(it.name.end) as usize, self.encoding);
        let line = text.line(name.start.line as usize);
        let indent = line
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let start = Position::new(name.start.line, indent as u32).min(name.start);
        DocumentSymbol {
            name: lexed.string(&it.name),
            detail: None,
            kind: kind(it.kind),
            tags: None,
            deprecated: None,
            range: Range::new(start, end),
            selection_range: name,
            children: (!children.is_empty()).then_some(children),
        }
    }
}

/// Entry of a list; without symbols, of an unknown kind.
fn symbol(found: &Found, lexed: Option<&Lexed>, location: Location) -> WorkspaceSymbol {
    let range = found.ranges.first().copied().unwrap_or_default();
    let matched = found.text.get(range[0]..range[1]).unwrap_or_default();
    let definition = lexed.and_then(|lexed| {
        let text = Text::new(&lexed.text);
        let line = text.nearest(found.line.saturating_sub(1) as usize, &found.text)?;
        let start = u32::try_from(text.start(line).checked_add(range[0])?).ok()?;
        let covers = |it: &&Definition| it.name.start <= start && start < it.name.end;
        lexed.symbols.definitions.iter().find(covers)
    });
    let known = lexed.zip(definition);
    let matched = || String::from_utf8_lossy(matched).into_owned();
    WorkspaceSymbol {
        name: known.map_or_else(matched, |(lexed, it)| lexed.string(&it.name)),
        kind: known.map_or(SymbolKind::VARIABLE, |(_, it)| kind(it.kind)),
        tags: None,
        container_name: known.and_then(|(lexed, it)| lexed.parent(it)),
        location: OneOf::Left(location),
        data: None,
    }
}

fn kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Function | Kind::Macro | Kind::Target | Kind::Rule => SymbolKind::FUNCTION,
        Kind::Method => SymbolKind::METHOD,
        Kind::Type | Kind::Class | Kind::Implementation => SymbolKind::CLASS,
        Kind::Struct | Kind::Union | Kind::Table => SymbolKind::STRUCT,
        Kind::Enum => SymbolKind::ENUM,
        Kind::Interface => SymbolKind::INTERFACE,
        Kind::Module => SymbolKind::MODULE,
        Kind::Constant => SymbolKind::CONSTANT,
        Kind::Variable | Kind::Label | Kind::Id => SymbolKind::VARIABLE,
        Kind::Field => SymbolKind::FIELD,
        Kind::Enumerator => SymbolKind::ENUM_MEMBER,
        Kind::Section => SymbolKind::STRING,
        Kind::Key | Kind::Selector => SymbolKind::KEY,
        Kind::Resource => SymbolKind::OBJECT,
    }
}
