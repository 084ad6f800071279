//! XML, HTML and the like. Scripts and styles have no colours.

use super::{Colour, LineState, RawElement, Tokens};

const COMMENT: u8 = 0;
const CDATA: u8 = 1;
const INSTRUCTION: u8 = 2;
const IN_DOUBLE: u8 = 3;
const IN_SINGLE: u8 = 4;

/// Tags around a value. Its `depth` is an index here, plus 1.
const TAGS: [Option<RawElement>; 3] = [None, Some(RawElement::Script), Some(RawElement::Style)];

pub(super) fn line(line: &[u8], mut state: LineState, tokens: &mut impl Tokens) -> LineState {
    let mut at = 0;
    while at < line.len() {
        let (next, bytes) = match state {
            LineState::Tag { is_raw } => in_tag(line, at, is_raw, tokens),
            LineState::Quote { form, depth } => in_form(line, at, form, depth, tokens),
            LineState::RawText(element) => in_raw_text(&line[at..], element),
            _ => in_text(line, at, tokens),
        };
        state = next;
        // 0 if a tag or a script ends where the next begins.
        at += bytes;
    }
    state
}

fn in_text(line: &[u8], at: usize, tokens: &mut impl Tokens) -> (LineState, usize) {
    let text = &line[at..];
    let Some(open) = text.iter().position(|byte| matches!(byte, b'<' | b'&')) else {
        return (LineState::Code, text.len());
    };
    let (start, tag) = (at + open, &text[open..]);
    if tag[0] == b'&' {
        let name = tag.iter().skip(1).take(12);
        let name = name.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#');
        let bytes = 1 + name.count();
        if bytes > 1 && tag.get(bytes) == Some(&b';') {
            tokens.coloured(start..start + bytes + 1, Colour::Number);
            return (LineState::Code, open + bytes + 1);
        }
        return (LineState::Code, open + 1);
    }
    let forms = [("<!--", COMMENT), ("<![CDATA[", CDATA), ("<?", INSTRUCTION)];
    let mut forms = forms.iter();
    if let Some((_, form)) = forms.find(|(open, _)| tag.starts_with(open.as_bytes())) {
        return (quote(*form, 0), open);
    }
    let signs = tag.iter().take_while(|byte| b"</!".contains(byte)).count();
    let name = tag[signs..].iter();
    let name = name.take_while(|byte| is_of_name(**byte)).count();
    if name == 0 {
        return (LineState::Code, open + 1);
    }
    tokens.coloured(start..start + signs + name, Colour::Keyword);
    let element = &tag[signs..signs + name];
    let is_raw = match () {
        () if signs > 1 => None,
        () if element.eq_ignore_ascii_case(b"script") => Some(RawElement::Script),
        () if element.eq_ignore_ascii_case(b"style") => Some(RawElement::Style),
        () => None,
    };
    (LineState::Tag { is_raw }, open + signs + name)
}

fn in_tag(
    line: &[u8],
    at: usize,
    is_raw: Option<RawElement>,
    tokens: &mut impl Tokens,
) -> (LineState, usize) {
    let (tag, state) = (&line[at..], LineState::Tag { is_raw });
    match tag[0] {
        b'>' => {
            tokens.coloured(at..at + 1, Colour::Keyword);
            (is_raw.map_or(LineState::Code, LineState::RawText), 1)
        }
        b'/' | b'?' if tag.get(1) == Some(&b'>') => {
            tokens.coloured(at..at + 2, Colour::Keyword);
            (LineState::Code, 2)
        }
        b'<' => (LineState::Code, 0),
        b'"' | b'\'' => {
            let form = if tag[0] == b'"' { IN_DOUBLE } else { IN_SINGLE };
            let known = TAGS.iter().position(|tag| *tag == is_raw);
            tokens.coloured(at..at + 1, Colour::String);
            (quote(form, 1 + known.unwrap_or(0) as u16), 1)
        }
        byte if is_of_name(byte) => {
            let name = tag.iter().take_while(|byte| is_of_name(**byte)).count();
            tokens.coloured(at..at + name, Colour::Key);
            (state, name)
        }
        _ => (state, 1),
    }
}

fn in_form(
    line: &[u8],
    at: usize,
    form: u8,
    depth: u16,
    tokens: &mut impl Tokens,
) -> (LineState, usize) {
    let (close, colour) = match form {
        COMMENT => ("-->", Colour::Comment),
        CDATA => ("]]>", Colour::String),
        INSTRUCTION => ("?>", Colour::Meta),
        IN_DOUBLE => ("\"", Colour::String),
        _ => ("'", Colour::String),
    };
    let text = &line[at..];
    let found = memchr::memmem::find(text, close.as_bytes());
    let bytes = found.map_or(text.len(), |found| found + close.len());
    tokens.coloured(at..at + bytes, colour);
    let after = match depth {
        0 => LineState::Code,
        _ => LineState::Tag {
            is_raw: TAGS[usize::from(depth).min(TAGS.len()) - 1],
        },
    };
    let state = if found.is_some() {
        after
    } else {
        quote(form, depth)
    };
    (state, bytes)
}

fn in_raw_text(text: &[u8], element: RawElement) -> (LineState, usize) {
    let end: &[u8] = match element {
        RawElement::Script => b"</script",
        RawElement::Style => b"</style",
    };
    let mut parts = text.windows(end.len());
    match parts.position(|bytes| bytes.eq_ignore_ascii_case(end)) {
        Some(found) => (LineState::Code, found),
        None => (LineState::RawText(element), text.len()),
    }
}

fn quote(form: u8, depth: u16) -> LineState {
    LineState::Quote { form, depth }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_:-.@*#".contains(&byte) || byte >= 0x80
}
