//! Texts of random pieces.

use crate::Language;
use crate::symbols::Symbols;

const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "::",
    "=",
    "*",
    "~",
    "a",
    "B",
    "int ",
    "class ",
    "typedef ",
    "template<",
    "operator",
    "namespace ",
    "enum {",
    "f(",
    "(*p)(",
    "\"",
    "'",
    "\\\n",
    "\n",
    "\n#if 0\n",
    "\n#if A\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#define ",
    "\n@interface A\n",
    "\n@end\n",
    "\n- (int)",
    "\n%%\n",
    "\n%{\n",
    "\n%}\n",
    "\nMODULE = A PACKAGE = ",
    "/*",
    "*/",
    "\0",
];

#[test]
fn random_pieces_give_ascending_names() {
    let languages = [
        "C",
        "C++",
        "Objective-C",
        "GLSL",
        "Yacc",
        "Lex",
        "SWIG",
        "Perl XS",
    ];
    let mut random = 1_u32;
    for round in 0..2000 {
        let mut text = String::new();
        for _ in 0..100 {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            text += PIECES[random as usize % PIECES.len()];
        }
        let language = Language::named(languages[round % languages.len()]);
        let found = Symbols::of(language, text.as_bytes()).definitions;
        assert!(found.is_sorted_by_key(|it| it.name.start), "{text}");
        let length = text.len() as u32;
        assert!(
            found
                .iter()
                .all(|it| it.name.end <= it.end && it.end <= length),
            "{text}"
        );
    }
}
