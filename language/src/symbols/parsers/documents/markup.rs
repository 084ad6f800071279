//! HTML and XML: ids, headings, and names of schemas and style sheets.

use super::Sections;
use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};
use std::ops::Range;

#[derive(Default)]
pub(crate) struct Markup {
    is_html: bool,
    sections: Sections,
    tag: Tag,
    heading: Option<Heading>,
    attribute: Attribute,
    /// Id, which `name` may repeat.
    id: Range<u32>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Tag {
    #[default]
    Other,
    Anchor,
    /// Kind that `name` defines.
    Named(Kind),
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Attribute {
    #[default]
    Other,
    Id,
    Name,
}

struct Heading {
    level: u8,
    at: u32,
    /// Offset behind the last tag.
    text: Option<u32>,
    /// Longest text.
    name: Range<u32>,
}

impl Parser for Markup {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if line.is_begin
            && let Some(heading) = &mut self.heading
        {
            heading.text = heading.text.map(|_| line.range.start);
        }
        for token in line.tokens {
            match token.role {
                Role::Keyword => self.sign(*token, outline),
                Role::Key => self.attribute(*token, outline),
                Role::String => self.value(*token, outline),
                _ => {}
            }
        }
        let is_in_text = self.heading.as_ref().is_some_and(|it| it.text.is_some());
        if line.is_end && is_in_text {
            self.text(line.range.end, outline);
            if let Some(heading) = &mut self.heading {
                heading.text = Some(line.range.end);
            }
        }
    }
}

impl Markup {
    pub(crate) fn html() -> Markup {
        Markup {
            is_html: true,
            ..Markup::default()
        }
    }

    /// `<name`, `</name`, or a tag's end.
    fn sign(&mut self, token: Token, outline: &mut Outline<'_>) {
        self.attribute = Attribute::Other;
        let text = token.text(outline);
        if !text.starts_with(b"<") {
            if let Some(heading) = &mut self.heading {
                heading.text = Some(token.end);
            }
            return;
        }
        self.text(token.start, outline);
        self.id = 0..0;
        self.tag = match text {
            b"<a" | b"<A" => Tag::Anchor,
            b"<xsl:template" => Tag::Named(Kind::Function),
            b"<xs:complexType" | b"<xs:simpleType" => Tag::Named(Kind::Type),
            b"<xsd:complexType" | b"<xsd:simpleType" => Tag::Named(Kind::Type),
            _ => Tag::Other,
        };
        match text {
            [b'<', b'h' | b'H', level @ b'1'..=b'6'] if self.is_html => {
                let (level, at) = (level - b'0', token.start);
                self.end_heading(outline);
                self.sections.close(level, at, outline);
                self.heading = Some(Heading {
                    level,
                    at,
                    text: None,
                    name: 0..0,
                });
            }
            [b'<', b'/', b'h' | b'H', b'1'..=b'6'] => self.end_heading(outline),
            _ => {}
        }
    }

    fn text(&mut self, end: u32, outline: &Outline<'_>) {
        let Some(heading) = &mut self.heading else {
            return;
        };
        let Some(start) = heading.text.take().filter(|start| *start <= end) else {
            return;
        };
        let text = outline.bytes(start..end);
        let start = end - text.trim_ascii_start().len() as u32;
        let text = start..start + text.trim_ascii().len() as u32;
        if text.len() > heading.name.len() {
            heading.name = text;
        }
    }

    fn end_heading(&mut self, outline: &mut Outline<'_>) {
        if let Some(Heading {
            level, at, name, ..
        }) = self.heading.take()
        {
            self.sections.open(level, at, name, outline);
        }
    }

    fn attribute(&mut self, token: Token, outline: &mut Outline<'_>) {
        let before = token.start.checked_sub(1);
        let before = before.and_then(|at| outline.text.get(at as usize));
        if before == Some(&b'=') && self.attribute != Attribute::Other {
            return self.define(token.range(), outline);
        }
        self.attribute = match token.text(outline) {
            b"id" | b"ID" | b"xml:id" => Attribute::Id,
            b"name" | b"NAME" => Attribute::Name,
            _ => Attribute::Other,
        };
    }

    fn value(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.text(outline) {
            [b'"' | b'\''] => {}
            [_, .., b'"' | b'\''] => self.define(token.start..token.end - 1, outline),
            _ => self.attribute = Attribute::Other,
        }
    }

    fn define(&mut self, name: Range<u32>, outline: &mut Outline<'_>) {
        let kind = match (std::mem::take(&mut self.attribute), self.tag) {
            (Attribute::Id, _) => Kind::Id,
            (Attribute::Name, Tag::Anchor) if self.is_html => Kind::Id,
            (Attribute::Name, Tag::Named(kind)) => kind,
            _ => return,
        };
        if kind == Kind::Id && outline.bytes(name.clone()) == outline.bytes(self.id.clone()) {
            return;
        }
        self.id = name.clone();
        outline.define(name, kind);
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn ids_and_headings_of_html() {
        check(
            "html",
            "<h1 class=x>A <b>b</b> c&amp;d</h1>\n<!-- <p id=\"c\"> -->\n<div id=\"e\" name=\"f\"><a name='g' id=g>\n<H2>\n  <a name=\"h\"></a>\n  I\n</H2>\n<script>\"<p id='j'>\"</script>\n<input name=k id = \"l\">\n<h1>M</h1><p id=\"\" id='n\no'>",
            "section c&amp;d 1-9
             id c&amp;d.e 3
             id c&amp;d.g 3
             id c&amp;d.h 5
             section c&amp;d.I 6-9
             id c&amp;d.I.l 9
             section M 10-11",
        );
    }

    #[test]
    fn ids_and_names_of_xml() {
        check(
            "xml",
            "<?xml id='a'?>\n<x xml:id=\"b\" name=\"c\"/>\n<xs:complexType name=\"d\">\n<h1>e</h1><![CDATA[<x id='f'>]]>\n",
            "id b 2
             type d 3",
        );
        check(
            "xslt",
            "<xsl:template name=\"a\" match=\"b\"/>",
            "function a 1",
        );
    }
}
