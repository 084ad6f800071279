use super::*;

#[test]
fn a_line_is_coloured_from_the_state_in_which_it_begins() {
    let syntax = Syntax::of("C").unwrap();
    let states = LineStates::of(syntax, b"a\n/* b\nc\nd */ e\nf\n");
    let begins: Vec<_> = (1..=6)
        .map(|line| states.at(line) == LineState::Code)
        .collect();
    assert_eq!(begins, [true, true, false, false, true, true]);
    let colours = DocumentColours::new("C", Some(std::sync::Arc::new(states)));
    assert_eq!(colours.tokens(3, b"if"), [(0..2, Colour::Comment)]);
    assert_eq!(colours.tokens(5, b"if"), [(0..2, Colour::Keyword)]);
}

#[test]
fn lines_in_order_need_no_states() {
    let colours = DocumentColours::reading("C");
    assert!(colours.tokens(1, b"a").is_empty());
    colours.tokens(2, b"/*");
    assert_eq!(colours.tokens(3, b"if"), [(0..2, Colour::Comment)]);
    let after_a_gap = colours.tokens(9, b"if");
    assert_eq!(after_a_gap, [(0..2, Colour::Keyword)]);
}

#[test]
fn lines_of_a_comment_whose_beginning_is_not_shown_look_like_one() {
    let is_comment = |language: &str, lines: &[&str]| {
        let colours = DocumentColours::reading(language);
        colours.guess(7, lines.iter().map(|line| line.as_bytes()));
        let tokens = colours.tokens(7, lines[0].as_bytes());
        matches!(&tokens[..], [(_, Colour::Comment), ..])
    };
    assert!(is_comment("C", &[" * if it is"]));
    assert!(is_comment("C", &["if it is", "or not */", "return 1;"]));
    assert!(is_comment("OCaml", &["if it is", "or not *)"]));
    for code in [
        &["*p = 1;"][..],
        &["return 1;", "/* why */"],
        &["return 1;", "/* why", " * more */"],
        &["return 1;", "cron(\"*/5 * * *\")"],
        &["return 1;"],
    ] {
        assert!(!is_comment("C", code), "{code:?}");
    }
    assert!(!is_comment("Python", &[" * if it is"]));
    let colours = DocumentColours::reading("C");
    colours.tokens(6, b"x");
    colours.guess(7, [&b" * if"[..]].into_iter());
    assert_ne!(
        colours.tokens(7, b" * if")[0].1,
        Colour::Comment,
        "line 6 is known"
    );
}

#[test]
fn a_language_without_a_family_has_no_colours() {
    assert!(
        DocumentColours::reading("CSV")
            .tokens(1, b"if 1")
            .is_empty()
    );
}
