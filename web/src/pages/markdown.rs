//! Markdown as a safe subset of HTML: READMEs, Markdown files, our own descriptions.
//!
//! Events of the parser are rendered, never markup of the file: text is escaped, and HTML in
//! Markdown keeps only text, images and line breaks. Headings nest below those of the page.
//!
//! **Invariants:** addresses are the caller's, or lead to other sites on a click only; images come
//! from this site; only `href`, `title`, `id`, `src` and `alt` have text of the file.

mod html;
mod targets;

use super::visible;
use crate::http::blocking;
use crate::http::links::FileAddress;
use crate::state::App;
use crate::suggest::Corpus;
use askama::filters::{Html, escape};
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
pub(super) use targets::beginning;
use targets::{Targets, fragment, slug};

/// Browsers flatten deeper nesting beyond a few hundred.
const DEPTH_MAX: usize = 50;

const ENDINGS: [&[u8]; 4] = [b"md", b"markdown", b"mdown", b"mkd"];

/// Schemes that a click may open.
const FOREIGN: [&str; 3] = ["https://", "http://", "mailto:"];

struct Markdown<'a> {
    events: Vec<Event<'a>>,
}

impl<'a> Markdown<'a> {
    fn parse(text: &'a str) -> Markdown<'a> {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        Markdown {
            events: html::as_markdown(Parser::new_ext(text, options)),
        }
    }

    fn addresses(&self) -> BTreeSet<String> {
        let address = |event: &Event<'_>| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.to_string())
            }
            _ => None,
        };
        self.events.iter().filter_map(address).collect()
    }

    /// Renders below a heading of level `below`. Links missing in `targets` become text.
    fn render(self, targets: &Targets, below: u8) -> String {
        let mut renderer = Renderer {
            targets,
            slugs: HashMap::new(),
            open: Vec::new(),
            base: below,
            level: below,
            out: Vec::with_capacity(self.events.len()),
        };
        for at in 0..self.events.len() {
            renderer.event(&self.events, at);
        }
        let mut html = String::new();
        pulldown_cmark::html::push_html(&mut html, renderer.out.into_iter());
        html
    }
}

pub(super) fn is_markdown(path: &[u8]) -> bool {
    let end = path.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let end = end.to_ascii_lowercase();
    path.len() > end.len() && ENDINGS.contains(&&end[..])
}

pub(super) async fn of_file(
    app: &App,
    corpus: Corpus<'_>,
    file: FileAddress<'_>,
    text: &[u8],
    below: u8,
) -> String {
    let text = String::from_utf8_lossy(text).into_owned();
    let (text, addresses) = blocking(move || {
        let addresses = Markdown::parse(&text).addresses();
        (text, addresses)
    })
    .await;
    let targets = Targets::find(&app.options.base_path, corpus, addresses, file).await;
    blocking(move || Markdown::parse(&text).render(&targets, below)).await
}

/// Renders our own text, without the paragraph around a single one. Links are absolute.
pub(super) fn inline(text: &str) -> String {
    let html = Markdown::parse(text).render(&Targets::default(), 1);
    let html = html.trim_end();
    let single = html
        .strip_prefix("<p>")
        .and_then(|html| html.strip_suffix("</p>"));
    single
        .filter(|html| !html.contains("<p>"))
        .unwrap_or(html)
        .to_owned()
}

struct Renderer<'a> {
    targets: &'a Targets,
    slugs: HashMap<String, u32>,
    /// Ends of the rendered ones.
    open: Vec<Option<TagEnd>>,
    /// Levels of the page's heading and the last one.
    base: u8,
    level: u8,
    out: Vec<Event<'a>>,
}

impl<'a> Renderer<'a> {
    fn event(&mut self, events: &'a [Event<'a>], at: usize) {
        match &events[at] {
            Event::Start(tag) => {
                let tag = (self.open.len() < DEPTH_MAX).then(|| self.tag(tag, &events[at + 1..]));
                match tag.flatten() {
                    Some(tag) => {
                        self.open.push(Some(tag.to_end()));
                        self.out.push(Event::Start(tag));
                    }
                    None => self.open.push(None),
                }
            }
            Event::End(_) => {
                if let Some(Some(end)) = self.open.pop() {
                    self.out.push(Event::End(end));
                }
            }
            Event::Text(text) => self.text(text, ("", "")),
            Event::Code(text) => self.text(text, ("<code>", "</code>")),
            Event::SoftBreak => self.out.push(Event::SoftBreak),
            Event::HardBreak => self.out.push(Event::HardBreak),
            Event::Rule => self.out.push(Event::Rule),
            Event::TaskListMarker(is_done) => {
                let mark = if *is_done { "☑ " } else { "☐ " };
                self.out.push(Event::Text(mark.into()));
            }
            // `html::as_markdown` leaves no HTML; other extensions are off.
            _ => {}
        }
    }

    /// `None` if only the content is kept.
    fn tag(&mut self, tag: &'a Tag<'a>, content: &'a [Event<'a>]) -> Option<Tag<'a>> {
        match tag {
            Tag::Heading { level, .. } => Some(Tag::Heading {
                level: self.heading(*level as u8),
                id: Some(self.slug(content).into()),
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            Tag::CodeBlock(_) => Some(Tag::CodeBlock(CodeBlockKind::Indented)),
            // Alignment would add style attributes.
            Tag::Table(columns) => Some(Tag::Table(vec![Alignment::None; columns.len()])),
            Tag::Link {
                dest_url, title, ..
            } => self.link(dest_url, title),
            Tag::Image {
                dest_url, title, ..
            } => match self.targets.image(dest_url) {
                Some(address) => Some(Tag::Image {
                    link_type: LinkType::Inline,
                    dest_url: address.into(),
                    title: shown(title).into(),
                    id: CowStr::Borrowed(""),
                }),
                None => self.in_place_of_image(dest_url, content),
            },
            Tag::Paragraph
            | Tag::BlockQuote(_)
            | Tag::List(_)
            | Tag::Item
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough => Some(match tag {
                Tag::BlockQuote(_) => Tag::BlockQuote(None),
                other => other.clone(),
            }),
            _ => None,
        }
    }

    /// At most one below the last heading.
    fn heading(&mut self, level: u8) -> HeadingLevel {
        let level = level.saturating_add(self.base);
        self.level = level.min(self.level + 1).min(6).max(self.base.min(5) + 1);
        HeadingLevel::try_from(usize::from(self.level)).unwrap_or(HeadingLevel::H6)
    }

    /// Id as on GitHub, so that tables of contents work.
    fn slug(&mut self, content: &[Event<'_>]) -> String {
        let end = |event: &&Event<'_>| !matches!(event, Event::End(TagEnd::Heading(_)));
        let mut words = String::new();
        for event in content.iter().take_while(end) {
            if let Event::Text(text) | Event::Code(text) = event {
                words.push_str(text);
            }
        }
        let mut slug = slug(&words);
        let count = self.slugs.entry(slug.clone()).or_default();
        *count += 1;
        if *count > 1 {
            let _ = write!(slug, "-{}", *count - 1);
        }
        slug
    }

    fn link(&self, address: &str, title: &str) -> Option<Tag<'a>> {
        // Links cannot be nested.
        let is_within = |open: &_| matches!(open, Some(TagEnd::Link | TagEnd::Image));
        if self.open.iter().any(is_within) {
            return None;
        }
        Some(Tag::Link {
            link_type: LinkType::Inline,
            dest_url: self.address(address)?.into(),
            title: shown(title).into(),
            id: CowStr::Borrowed(""),
        })
    }

    fn address(&self, address: &str) -> Option<String> {
        if let Some(heading) = address.strip_prefix('#') {
            return Some(fragment(heading));
        }
        if is_foreign(address) {
            return Some(address.to_owned());
        }
        self.targets.link(address).map(str::to_owned)
    }

    /// Links to a hidden image, under its description or address.
    fn in_place_of_image(&mut self, address: &'a str, content: &[Event<'_>]) -> Option<Tag<'a>> {
        let link = self.link(address, "")?;
        if matches!(content.first(), Some(Event::End(TagEnd::Image))) {
            self.out.push(Event::Start(link));
            self.text(address, ("", ""));
            self.out.push(Event::End(TagEnd::Link));
            return None;
        }
        Some(link)
    }

    /// Escapes quotes too: later page edits would take one for an attribute's.
    fn text(&mut self, text: &str, (before, after): (&str, &str)) {
        let text = shown(text);
        // Descriptions of images are attributes, escaped on output.
        if self
            .open
            .iter()
            .any(|open| matches!(open, Some(TagEnd::Image)))
        {
            return self.out.push(Event::Text(text.into()));
        }
        let Ok(text) = escape(&text, Html);
        let html = format!("{before}{text}{after}");
        self.out.push(Event::InlineHtml(html.into()));
    }
}

fn is_foreign(address: &str) -> bool {
    let begins = |scheme: &&str| {
        address
            .get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    FOREIGN.iter().any(begins)
}

fn shown(text: &str) -> String {
    let lines = text.split('\n').map(|line| visible::plain(line.as_bytes()));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
