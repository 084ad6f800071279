//! The definition of a name is found before its uses.

use crate::home::Home;
use crate::http;
use std::fmt::Write;

/// Lines of an extension, a definition and a use of `NAME`, with ` | ` between.
const FORMS: &str = include_str!("../../../language/src/symbols/tests/forms.txt");

const USES: usize = 4;

#[test]
fn the_definition_is_the_first_result_in_any_language() {
    let home = Home::new();
    for (at, form) in FORMS.lines().enumerate() {
        let columns: Vec<_> = form.split(" | ").collect();
        let [extension, definition, usage] = columns[..] else {
            panic!("three columns: {form}");
        };
        let extension = extension.trim();
        let definition = "\n".repeat(20) + &text(definition);
        home.write(&format!("all/form{at}/zdef.{extension}"), definition);
        for copy in 0..USES {
            let usage = "\n".repeat(3) + &text(usage) + &"\n".repeat(copy);
            home.write(&format!("all/form{at}/use{copy}.{extension}"), usage);
        }
    }
    home.ok("index --index I --each all");
    let server = home.start("serve --index I");
    let mut wrong = String::new();
    for (at, form) in FORMS.lines().enumerate() {
        let query = format!("frobnicate+package:=form{at}");
        let (_, found) = http::search_all(&server.address, &query);
        let first = found.first().map_or("", String::as_str);
        if !first.contains("/zdef.") {
            writeln!(wrong, "{form}: {first}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn text(column: &str) -> String {
    let text = column.replace("\\n", "\n").replace("\\t", "\t");
    text.replace("\\|", "|").replace("NAME", "frobnicate") + "\n"
}
