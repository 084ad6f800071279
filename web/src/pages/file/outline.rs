//! Outline beside a file: links to lines that look like definitions.

use crate::model::{DefinitionKind, OutlineDefinition};
use crate::source::outline::Outline;
use askama::Template;

#[derive(Template)]
#[template(path = "file_outline.html")]
struct OutlineView<'a> {
    definitions: &'a [OutlineDefinition],
    is_cut: bool,
}

/// Empty without definitions.
pub(super) fn render(outline: &Outline) -> String {
    if outline.definitions.is_empty() {
        return String::new();
    }
    let view = OutlineView {
        definitions: &outline.definitions,
        is_cut: outline.is_cut,
    };
    view.render().expect("an outline has a bound")
}

/// Kind, sign and CSS class.
fn look(kind: &DefinitionKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        DefinitionKind::Function => ("function", "f", "c-f"),
        DefinitionKind::Type => ("type", "T", "c-t"),
        DefinitionKind::Macro => ("macro", "#", "c-p"),
        DefinitionKind::Module => ("module", "M", "c-k"),
        DefinitionKind::Constant => ("constant", "c", "c-n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_leads_to_lines_and_says_that_it_is_a_guess() {
        let mut outline = Outline::new("C");
        assert_eq!(render(&outline), "");
        outline.add(7, b"int main(void)", &Vec::new());
        let html = render(&outline);
        for part in [
            "href=\"#L7\"",
            "title=\"function, line 7\"",
            "main</a>",
            "look like definitions",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
