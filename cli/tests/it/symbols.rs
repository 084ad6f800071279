//! `trawl symbols`, and definitions and uses of names in an index.

use crate::home::Home;
use crate::http::get;
use serde_json::Value;

const LIBRARY: &str = "\
/* list_add is fast. */
int list_add(struct list *to);
int list_add(struct list *to)
{
    return ++to->length;
}
";

const PROGRAM: &str = "\
#include <list/list.h>
// list_add
int main(void)
{
    puts(\"list_add\");
    return list_add(0);
}
";

const CLASS: &str = "class Server:\n    def run(self):\n        pass\n";

fn home() -> Home {
    let home = Home::new();
    home.write("all/list_1.0/list.c", LIBRARY);
    home.write("all/program_2/main.c", PROGRAM);
    home.write("all/program_2/empty.c", "/* nothing */\n");
    home.write("all/server_3/a.py", CLASS);
    home.ok("index --index I --each all");
    home
}

#[test]
fn definitions_of_a_file_are_listed_with_and_without_an_index() {
    let home = home();
    let server = home.start("serve --index I");
    let class = "a.py:1:7: class Server\na.py:2:9: method Server.run\n";
    home.write("a.py", CLASS);
    assert_eq!(home.run("symbols a.py").text(), class);
    let in_package = class.replace("a.py", "server_3/a.py");
    for target in ["--index I", &format!("--server {}", server.address)] {
        let symbols = home.run(&format!("symbols {target} server a.py"));
        symbols.check("symbols", 0, &[]);
        assert_eq!(symbols.text(), in_package, "{target}");
        let declared = home.run(&format!("symbols {target} list list.c"));
        assert_eq!(
            declared.text(),
            "list_1.0/list.c:2:5: function list_add (declaration)\n\
             list_1.0/list.c:3:5: function list_add\n"
        );
        let none = home.run(&format!("symbols {target} program empty.c"));
        none.check("symbols", 1, &[]);
        let missing = home.run(&format!("symbols {target} program none.c"));
        missing.check("symbols", 2, &["has no file none.c"]);
    }
    let json = |line: &str| -> Value { serde_json::from_slice(&home.ok(line)).unwrap() };
    let local = json("symbols --json a.py");
    let indexed = json("symbols --index I --json server a.py");
    assert_eq!(local["definitions"], indexed["definitions"]);
    let missing = home.run("symbols none.py");
    missing.check("symbols", 2, &["cannot read none.py"]);
}

#[test]
fn definitions_and_uses_are_of_code_and_come_by_nearness() {
    let home = home();
    let server = home.start("serve --index I");
    let places = |request: &str| -> Value {
        let answer = get(&server.address, &format!("/api/v2/{request}"));
        let found = answer.json();
        let line = |it: &Value| {
            let part = |name: &str| it[name].to_string().replace('"', "");
            let at = [part("package"), part("path"), part("line"), part("column")].join(":");
            format!("{}: {at} {}", part("reason"), part("kind"))
        };
        let lines = found["places"].as_array().expect("places").iter().map(line);
        serde_json::json!([found["name"], found["total"], lines.collect::<Vec<_>>()])
    };
    let at = "package=program&path=main.c&line=6&column=12";
    assert_eq!(
        places(&format!("definitions?{at}")),
        serde_json::json!([
            "list_add",
            2,
            [
                "imported: list_1.0:list.c:3:4 function",
                "imported: list_1.0:list.c:2:4 function",
            ]
        ])
    );
    assert_eq!(
        places(&format!("references?{at}")),
        serde_json::json!(["list_add", 1, ["same file: program_2:main.c:6:11 null"]])
    );
}
