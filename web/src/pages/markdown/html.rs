//! HTML in Markdown, reduced to its text, images and line breaks.

use pulldown_cmark::{CowStr, Event, LinkType, Tag, TagEnd};

const NO_TEXT: [&str; 2] = ["script", "style"];

/// Bytes of a tag. Beyond them `<` is text, which keeps the scan for `>` linear.
const TAG_BYTES_MAX: usize = 4 << 10;

const ENTITIES: [(&str, &str); 6] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&nbsp;", "\u{a0}"),
    ("&copy;", "©"),
    // Last, so that its output is not decoded again.
    ("&amp;", "&"),
];

pub(super) fn as_markdown<'a>(events: impl Iterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let (mut out, mut block) = (Vec::new(), None::<String>);
    for event in events {
        if matches!(event, Event::End(TagEnd::HtmlBlock)) {
            let content = said(&block.take().unwrap_or_default());
            if !content.is_empty() {
                out.push(Event::Start(Tag::Paragraph));
                out.extend(content);
                out.push(Event::End(TagEnd::Paragraph));
            }
            continue;
        }
        if let Some(block) = &mut block {
            if let Event::Html(html) | Event::Text(html) = &event {
                block.push_str(html);
            }
            continue;
        }
        match event {
            Event::Start(Tag::HtmlBlock) => block = Some(String::new()),
            Event::Html(html) | Event::InlineHtml(html) => out.extend(said(&html)),
            event => out.push(event),
        }
    }
    out
}

fn said<'a>(html: &str) -> Vec<Event<'a>> {
    let (mut out, mut rest) = (Vec::new(), html);
    while let Some(start) = rest.find('<') {
        push_text(&mut out, &rest[..start]);
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let is_tag =
            rest[1..].starts_with(|it: char| it.is_ascii_alphabetic() || "/!?".contains(it));
        let Some(end) = tag_end(rest).filter(|_| is_tag) else {
            push_text(&mut out, "<");
            rest = &rest[1..];
            continue;
        };
        let (tag, after) = rest.split_at(end);
        rest = after;
        let name = name(tag).to_ascii_lowercase();
        match &name[..] {
            "br" => out.push(Event::HardBreak),
            "img" => out.extend(image(tag)),
            _ if NO_TEXT.contains(&&name[..]) => rest = after_element(rest, &name),
            _ => {}
        }
    }
    push_text(&mut out, rest);
    out
}

fn push_text(out: &mut Vec<Event<'_>>, text: &str) {
    let words = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return;
    }
    // Whitespace beside a tag is whitespace in the text.
    let edge = |is_blank: bool| if is_blank { " " } else { "" };
    let before = edge(text.starts_with(|it: char| it.is_ascii_whitespace()) && !out.is_empty());
    let after = edge(text.ends_with(|it: char| it.is_ascii_whitespace()));
    out.push(Event::Text(
        format!("{before}{}{after}", decoded(&words)).into(),
    ));
}

fn decoded(text: &str) -> String {
    let decode = |text: String, (entity, character): &(&str, &str)| text.replace(entity, character);
    ENTITIES.iter().fold(text.to_owned(), decode)
}

/// Offset behind the first `>` outside an attribute's value.
fn tag_end(html: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in html.bytes().take(TAG_BYTES_MAX).enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if byte == b'>' => return Some(at + 1),
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            None => {}
        }
    }
    None
}

fn name(tag: &str) -> &str {
    let name = tag.trim_start_matches('<');
    let end = name.find(|it: char| !it.is_ascii_alphanumeric());
    &name[..end.unwrap_or(name.len())]
}

fn after_element<'a>(mut html: &'a str, wanted: &str) -> &'a str {
    while let Some((_, tag)) = html.split_once("</") {
        html = tag;
        if name(tag).eq_ignore_ascii_case(wanted) {
            return tag_end(tag).map_or("", |end| &tag[end..]);
        }
    }
    ""
}

fn image<'a>(tag: &str) -> Vec<Event<'a>> {
    let Some(address) = attribute(tag, "src") else {
        return Vec::new();
    };
    let words = attribute(tag, "alt").unwrap_or_default();
    let mut out = vec![Event::Start(Tag::Image {
        link_type: LinkType::Inline,
        dest_url: address.into(),
        title: CowStr::Borrowed(""),
        id: CowStr::Borrowed(""),
    })];
    if !words.is_empty() {
        out.push(Event::Text(words.into()));
    }
    out.push(Event::End(TagEnd::Image));
    out
}

fn attribute(tag: &str, wanted: &str) -> Option<String> {
    let mut rest = tag[name(tag).len() + 1..].trim_end_matches(['>', '/']);
    while let Some((before, after)) = rest.split_once('=') {
        let name = before
            .split_ascii_whitespace()
            .next_back()
            .unwrap_or_default();
        let value = after.trim_ascii_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => value
                .split_once(|it: char| it.is_ascii_whitespace())
                .unwrap_or((value, "")),
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(decoded(value));
        }
        rest = after;
    }
    None
}
