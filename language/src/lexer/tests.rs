mod any_text;

use super::*;
use crate::Language;
use proptest::prelude::*;

fn syntaxes() -> impl Iterator<Item = (&'static str, &'static Syntax)> {
    let languages = Language::all().iter();
    languages.filter_map(|it| Some((it.name, Syntax::of(it.name)?)))
}

fn letter(colour: Colour) -> char {
    match colour {
        Colour::Comment => 'c',
        Colour::String => 's',
        Colour::Number => 'n',
        Colour::Keyword => 'k',
        Colour::Type => 't',
        Colour::Meta => 'p',
        Colour::Key => 'f',
        Colour::Added => 'i',
        Colour::Removed => 'd',
    }
}

/// Shows colours as `<k if>`.
fn render(language: &str, text: &str) -> String {
    let syntax = Syntax::of(language).expect("the language has colours");
    let (mut state, mut out) = (syntax.begin(), Vec::new());
    for line in text.split('\n') {
        let mut tokens = Vec::new();
        state = syntax.line(line.as_bytes(), state, &mut tokens);
        let (mut shown, mut at) = (String::new(), 0);
        for (range, colour) in tokens {
            shown += &line[at..range.start];
            shown += &format!("<{} {}>", letter(colour), &line[range.clone()]);
            at = range.end;
        }
        out.push(shown + &line[at..]);
    }
    out.join("\n")
}

#[track_caller]
fn check(language: &str, text: &str, expected: &str) {
    assert_eq!(render(language, text), expected, "{language}");
}

#[test]
fn comments_strings_numbers_and_words_have_colours() {
    for (language, text, expected) in [
        (
            "C",
            "static int x = 0x1fUL; // a",
            "<k static> <t int> x = <n 0x1fUL>; <c // a>",
        ),
        ("C", "#include <stdio.h>", "<p #include> <s <stdio.h>>"),
        (
            "C",
            "#  define A \"b\" /* c */ d",
            "<p #  define> A <s \"b\"> <c /* c */> d",
        ),
        (
            "C",
            "char c = '\\'', d = '\"';",
            "<t char> c = <s '\\''>, d = <s '\"'>;",
        ),
        (
            "C++",
            "auto s = R\"x(a)\"b)x\" + 1'000;",
            "<t auto> s = <s R\"x(a)\"b)x\"> + <n 1'000>;",
        ),
        (
            "Rust",
            "fn f<'a>(x: &'a u8) -> char { 'x' }",
            "<k fn> f<'a>(x: &'a <t u8>) -> <t char> { <s 'x'> }",
        ),
        (
            "Rust",
            "let s = r#\"a\"b\"#; // c",
            "<k let> s = <s r#\"a\"b\"#>; <c // c>",
        ),
        (
            "Rust",
            "#[a = \"]\", [1]] mod t;",
            "<p #[a = ><s \"]\"><p , [1]]> <k mod> t;",
        ),
        ("PHP", "<?php // a ?>b", "<?<k php> <c // a >?>b"),
        (
            "PHP",
            "<?php $a = <<<eot\n'\neot;",
            "<?<k php> $a = <<<eot\n<s '>\n<s eot>;",
        ),
        ("Nix", "''a ''${b} ''' c'';", "<s ''a ''${b} ''' c''>;"),
        ("ANTLR", "A : ~[\"'] ;", "A : ~<s [\"']> ;"),
        ("Puppet", "/['{]/ => $a", "<s /['{]/> => $a"),
        ("Rust", "#[cfg(test)] mod t;", "<p #[cfg(test)]> <k mod> t;"),
        (
            "Python",
            "@cached\ndef f(a='x'): # y",
            "<p @cached>\n<k def> f(a=<s 'x'>): <c # y>",
        ),
        (
            "JavaScript",
            "x = /[/'\"]+/g.test(a) / 2;",
            "x = <s /[/'\"]+/g>.test(a) / <n 2>;",
        ),
        (
            "JavaScript",
            "`a ${b({c: `}${'}'}`})} d` + /`/",
            "<s `a ${>b({c: <s `}${'}'}`>})<s } d`> + <s /`/>",
        ),
        (
            "JavaScript",
            "`a\n${{\n}}`\n} `${",
            "<s `a>\n<s ${>{\n}<s }`>\n} <s `${>",
        ),
        (
            "Groovy",
            "sh '''a'b'''; c =~ /d'/",
            "sh <s '''a'b'''>; c =~ <s /d'/>",
        ),
        (
            "Kotlin",
            "\"\"\"a\\\"\"\" /* /* */ */ b",
            "<s \"\"\"a\\\"\"\"> <c /* /* */ */> b",
        ),
        ("D", "r\"c:\\\" r", "<s r\"c:\\\"> r"),
        ("Dart", "r'\\' + $a", "<s r'\\'> + $a"),
        ("C#", "@$\"a\"\"b\" c", "<s @$\"a\"\"b\"> c"),
        ("TSX", "<b>Don't {a}</b>", "<b>Don't {a}</b>"),
        ("JavaScript", "a => /'/ / 1", "a => <s /'/> / <n 1>"),
        (
            "Shell",
            "echo \"$a\" ${#b} # c",
            "<k echo> <s \"$a\"> ${#b} <c # c>",
        ),
        (
            "Shell",
            "if [ $# -gt 1 ]; then",
            "<k if> [ <f $#> -gt <n 1> ]; <k then>",
        ),
        (
            "Perl",
            "my @a = qw(b c); s/\"/'/g;",
            "<k my> @a = <s qw(b c)>; <s s/\"/'/>g;",
        ),
        ("Perl", "$a = $' . b'c('d');", "$a = $' . b'c(<s 'd'>);"),
        (
            "Perl",
            "sub {q{it's}} $h{s}{y}",
            "<k sub> {<s q{it's}>} $h{s}{y}",
        ),
        (
            "Ruby",
            "when ?\", ?\\\", 'a'",
            "<k when> ?\", ?\\\", <s 'a'>",
        ),
        (
            "Elixir",
            "~c|\"(| <> ~r/'/i ?\" \"a\"",
            "<s ~c|\"(|> <> <s ~r/'/>i ?\" <s \"a\">",
        ),
        (
            "PowerShell",
            "'it''s\\' + \"C:\\\" # a",
            "<s 'it''s\\'> + <s \"C:\\\"> <c # a>",
        ),
        (
            "Perl",
            "s{a} {b}; $x =~ s@#@'@; $a%$b if /'/; print << 'A'",
            "<s s{a}> <s {b}>; $x =~ <s s@#@'@>; $a%$b <k if> <s /'/>; <k print> << <s 'A'>",
        ),
        (
            "Ruby",
            "a.b %r{'} + /'/ / 2 if c /'/",
            "a.b <s %r{'}> + <s /'/> / <n 2> <k if> c <s /'/>",
        ),
        ("JavaScript", "#!/bin/node 'a", "<c #!/bin/node 'a>"),
        (
            "Python",
            "rb'\\\\' + f\"{{{a['b']!r:>{c}}}}\" + Rf'{d[1:2]}' # e",
            "<s rb'\\\\'> + <s f\"{{{>a[<s 'b'>]<s !r:>{>c<s }}}}\"> + <s Rf'{>d[<n 1>:<n 2>]<s }'> <c # e>",
        ),
        (
            "Rust",
            "b'\\'' + b\"a\" + c\"b\"",
            "<s b'\\''> + <s b\"a\"> + <s c\"b\">",
        ),
        (
            "C",
            "u8\"a\" L'b' a\"c\"",
            "<s u8\"a\"> <s L'b'> a<s \"c\">",
        ),
        (
            "Ruby",
            "\"a#{b(\"c#{d}\", {})}\" # e",
            "<s \"a#{>b(<s \"c#{>d<s }\">, {})<s }\"> <c # e>",
        ),
        (
            "Shell",
            "a=\"$(b \"c d\" | e ')')\" `f` # g",
            "a=<s \"$(>b <s \"c d\"> | e <s ')')\"> `f` <c # g>",
        ),
        (
            "Shell",
            "\"${a:-\"b $(c)\"}\" $((1<<SHIFT)) d#e",
            "<s \"${a:-\"b $(>c<s )\"}\"> $((<n 1><<SHIFT)) d#e",
        ),
        (
            "PHP",
            "<?php \"{$a[\"b\"]} $c\" # d",
            "<?<k php> <s \"{$>a[<s \"b\">]<s } $c\"> <c # d>",
        ),
        ("Kotlin", "\"${a(\"b\")}\"", "<s \"${>a(<s \"b\">)<s }\">"),
        ("Swift", "\"\\(a(\"b\"))\"", "<s \"\\(>a(<s \"b\">)<s )\">"),
        (
            "C#",
            "$\"{a(\"b\"):x2}{{\"",
            "<s $\"{>a(<s \"b\">)<s :x2}{{\">",
        ),
        ("Ruby", "a = %w[b c] # d", "a = <s %w[b c]> <c # d>"),
        (
            "Lua",
            "x = [==[a]]b]==] -- c",
            "x = <s [==[a]]b]==]> <c -- c>",
        ),
        ("Haskell", "f' x = 'c' -- d", "f' x = <s 'c'> <c -- d>"),
        (
            "SQL",
            "SELECT 'it''s' FROM t -- c",
            "<k SELECT> <s 'it''s'> <k FROM> t <c -- c>",
        ),
        (
            "Makefile",
            "all: $(OBJS) # x",
            "<f all>: <f $(OBJS)> <c # x>",
        ),
        (
            "JSON",
            "{\"a\": \"b\", \"c\": true}",
            "{<f \"a\">: <s \"b\">, <f \"c\">: <k true>}",
        ),
        ("YAML", "- name: x # y", "- <f name>: x <c # y>"),
        ("INI", "[a]\nb = c", "<p [a]>\n<f b> = c"),
        (
            "HTML",
            "<a href=\"x\">b &amp; c</a>",
            "<k <a> <f href>=<s \"x\"><k >>b <n &amp;> c<k </a>>",
        ),
        (
            "CSS",
            "a { color: red; /* b */ }",
            "a { color: red; <c /* b */> }",
        ),
        (
            "CSS",
            "a { b: url(//c;d) } // e",
            "a { b: <s url(//c;d)> } // e",
        ),
        (
            "SCSS",
            "a { b: url(//c;d) } // e",
            "a { b: <s url(//c;d)> } <c // e>",
        ),
        (
            "Diff",
            "@@ -1 +1 @@\n-a\n+b",
            "<p @@ -1 +1 @@>\n<d -a>\n<i +b>",
        ),
        (
            "Common Lisp",
            "(defun f (x) #\\\" x) ; y",
            "(<k defun> f (x) #\\\" x) <c ; y>",
        ),
        (
            "Emacs Lisp",
            "(if (eq x ?\\\") nil)",
            "(<k if> (eq x ?\\\") <k nil>)",
        ),
        (
            "TeX",
            "\\section{a} 50\\% % b",
            "<k \\section>{a} <n 50>\\% <c % b>",
        ),
    ] {
        check(language, text, expected);
    }
}

#[test]
fn what_lasts_over_lines_keeps_its_colour() {
    for (language, text, expected) in [
        ("C", "a /* b\n if */ if", "a <c /* b>\n<c  if */> <k if>"),
        ("C", "\"a\\\nb\" c", "<s \"a\\>\n<s b\"> c"),
        ("C", "\"a\nif", "<s \"a>\n<k if>"),
        (
            "Rust",
            "/* /* a */\nb */ if",
            "<c /* /* a */>\n<c b */> <k if>",
        ),
        (
            "Python",
            "x = '''a\nif\n''' if",
            "x = <s '''a>\n<s if>\n<s '''> <k if>",
        ),
        (
            "Shell",
            "cat <<-'END' | x\nif\n\tEND\nif",
            "cat <<-<s 'END'> | x\n<s if>\n<s \tEND>\n<k if>",
        ),
        (
            "Shell",
            "cat <<\\END && if\nif\nEND\nif",
            "cat <<\\END && <k if>\n<s if>\n<s END>\n<k if>",
        ),
        (
            "Perl",
            "s{a\n}\n{if\n}e; if",
            "<s s{a>\n<s }>\n<s {if>\n<s }>e; <k if>",
        ),
        (
            "Perl",
            "$a =~ /b\nif/; if\n__END__\nif '\n=a\nif\n=cut\n\"",
            "$a =~ <s /b>\n<s if/>; <k if>\n__END__\nif '\n<c =a>\n<c if>\n<c =cut>\n\"",
        ),
        (
            "Shell",
            "a=\"$(cat <<A\nif \"\nA\n)\" if",
            "a=<s \"$(>cat <<A\n<s if \">\n<s A>\n<s )\"> <k if>",
        ),
        (
            "JavaScript",
            "`${a + `b\n${{\n}}` /* c\n*/}` if",
            "<s `${>a + <s `b>\n<s ${>{\n}<s }`> <c /* c>\n<c */><s }`> <k if>",
        ),
        (
            "Perl",
            "=head1 A\nif\n=cut\nif",
            "<c =head1 A>\n<c if>\n<c =cut>\n<k if>",
        ),
        (
            "JavaScript",
            "`a\n${b}\n`; if",
            "<s `a>\n<s ${>b<s }>\n<s `>; <k if>",
        ),
        (
            "PHP",
            "<b>it's\n<?php if ?>\nif",
            "<b>it's\n<?<k php> <k if> ?>\nif",
        ),
        (
            "Markdown",
            "- ```c\n  `a\n  ```\n`b` c`\n````\n```\n`````\n```d``` e\n> f",
            "- <s ```c>\n<s   `a>\n<s   ```>\n<s `b`> c`\n<s ````>\n<s ```>\n<s ````>`\n<s ```d```> e\n<p > f>",
        ),
        (
            "YAML",
            "a: |-\n  b: \"c # d\n\ne: f \"g\nh: 'i''\n j'\nk: \"l\nm: n",
            "<f a>: |-\n  b: \"c # d\n\n<f e>: f \"g\n<f h>: <s 'i''>\n<s  j'>\n<f k>: <s \"l>\n<f m>: n",
        ),
        (
            "XML",
            "<a\nb='c\nd'>e<!-- f\n-->g",
            "<k <a>\n<f b>=<s 'c>\n<s d'><k >>e<c <!-- f>\n<c -->>g",
        ),
        (
            "HTML",
            "<script>if (a<b) '\n</script><b>",
            "<k <script>>if (a<b) '\n<k </script><b>>",
        ),
    ] {
        check(language, text, expected);
    }
}

#[test]
fn a_language_without_a_family_has_no_colours() {
    assert!(Syntax::of("Text").is_none() && Syntax::of("").is_none());
}

#[test]
fn forms_have_beginnings_and_few_numbers() {
    for (_, syntax) in syntaxes() {
        let quotes = syntax.family.quotes;
        assert!(quotes.iter().all(|quote| !quote.open.is_empty()));
        assert!(quotes.len() < 256);
        for hole in quotes.iter().flat_map(|quote| quote.holes) {
            let mut forms = quotes.iter();
            let form = forms.find(|quote| quote.open == hole.open);
            assert!(hole.close != 0 || form.is_some_and(|form| form.has(quote::LINES)));
        }
    }
}

const SIGNS: &[&str] = &[
    "/*", "*/", "//", "\"", "'", "`", "\\", "#", "<<A", "A", "r#\"", "R\"(", ")\"", "[[", "]]",
    "--", "qw(", ")", "s/", "/", "<", ">", "<!--", "-->", "<script>", "</script", "{", "}", "=cut",
    "=", "${", "$", "@", "%w[", "1e+", "é", "\u{0}", " ", "\t", "if", "(*", "*)", "{-", "-}",
    "\"\"\"", "'''", "+", "-", ":", ";", "&", "&amp;",
];

proptest! {
    #[test]
    fn any_lines_of_any_language_have_colours_within_them(
        parts in prop::collection::vec(prop::collection::vec(0..SIGNS.len(), 0..12), 1..6),
        noise in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        for (name, syntax) in syntaxes() {
            let mut state = syntax.begin();
            for part in &parts {
                let mut line: Vec<u8> = part.iter().flat_map(|at| SIGNS[*at].bytes()).collect();
                line.extend(&noise);
                let mut tokens = Vec::new();
                state = syntax.line(&line, state, &mut tokens);
                let mut at = 0;
                for (range, _) in tokens {
                    prop_assert!(at <= range.start && range.start < range.end, "{name}");
                    at = range.end;
                }
                prop_assert!(at <= line.len());
            }
        }
    }
}
