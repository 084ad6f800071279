//! Ids of headings as on GitHub, so that tables of contents work.

/// Keeps the ids apart from the page's.
const PREFIX: &str = "md-";

pub(super) fn of(heading: &str) -> String {
    let characters = heading.chars().filter_map(character);
    format!("{PREFIX}{}", characters.collect::<String>())
}

pub(super) fn fragment(heading: &str) -> String {
    if heading.is_empty() {
        String::new()
    } else {
        format!("#{}", of(heading))
    }
}

fn character(character: char) -> Option<char> {
    match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ if character.is_alphanumeric() => character.to_lowercase().next(),
        _ => None,
    }
}
