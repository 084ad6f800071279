//! Definitions and classes of bytes of texts.

use language::Language;
use language::symbols::Symbols;

/// Runs must ascend, and runs and definitions must lie within the text.
///
/// Input: number of the language, text.
pub(crate) fn symbols(data: &[u8]) {
    let Some((&number, text)) = data.split_first() else {
        return;
    };
    let languages = Language::all();
    let language = &languages[usize::from(number) % languages.len()];
    let symbols = Symbols::of(Some(language), text);
    let mut end = 0;
    for run in &symbols.runs {
        assert!(end <= run.range.start && run.range.start < run.range.end);
        end = run.range.end;
    }
    assert!(end as usize <= text.len());
    for it in &symbols.definitions {
        assert!(it.name.start <= it.name.end && it.name.end <= it.end);
        assert!(it.end as usize <= text.len());
    }
}

/// One text for every language.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let text = [
        "#!/bin/a\n/* a */ // b\n# c\n-- d\n; e\n% f\n=head1 g\n\n=cut\n<!-- h -->\n",
        "#include <i.h>\nclass A extends B { def c(self): x = f\"{d['e']!r:>{g}}\" }\n",
        "fn h<'a>(i: &'a str) -> J { r#\"k\"# }\n\"\"\"l\"\"\" '''m''' `n ${o(`p`)} q`\n",
        "cat <<EOF; r=\"$(s \"t ${u:-v}\")\"\nw\nEOF\ns{x}{y}e; qw(z) %w[a] /[/]b/ ~r|c|\n",
        "[==[ d ]==] R\"e(f)e\" $$g$$ {- h -} (* i *)\n<?php j(\"{$k['l']}\"); ?>\n__END__\n",
    ]
    .concat();
    let numbers = 0..Language::all().len();
    let seed = |number: usize| [&[number as u8], text.as_bytes()].concat();
    numbers.map(seed).collect()
}
