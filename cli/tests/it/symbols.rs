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

const TOTALS: &str = "\
#define TOTAL 1
struct total { int total_of; };
int total_sum(int a)
{

    return total(a);
}
";

fn totals() -> Home {
    let home = Home::new();
    home.write("all/a_1/a.c", TOTALS);
    let class = "class Total:\n    def total_all(self):\n\n\n        return total(1)\n";
    home.write("all/b_1/b.py", class);
    home.ok("index --index I --each all");
    home
}

#[test]
fn kinds_of_symbols_are_counted_and_select_what_they_count() {
    let home = totals();
    let server = home.start("serve --index I");
    let json = |path: &str| get(&server.address, &format!("/api/v2/{path}")).json();
    let facets = json("facets?q=sym:total");
    assert_eq!(facets["total"], 5);
    let counts = facets["symbol_kinds"].as_array().expect("kinds");
    let mut names: Vec<_> = counts
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    let expected = ["class", "field", "function", "macro", "method", "struct"];
    assert_eq!(names, expected);
    for count in counts {
        let kind = count["kind"].as_str().unwrap();
        for query in [
            format!("q=sym:total+kind:{kind}"),
            format!("q=sym:total&kind={kind}"),
        ] {
            let page = json(&format!("search?{query}"));
            assert_eq!(page["total"], count["total"], "{query}");
            assert_eq!(page["matches"][0]["kinds"], serde_json::json!([kind]));
        }
    }
    let others = json("search?q=sym:total&kind=-field&kind=-struct");
    assert_eq!(others["total"], 4);
    assert_eq!(
        json("facets?q=total")["symbol_kinds"],
        serde_json::json!([])
    );
    let csv = get(&server.address, "/api/v2/export?q=sym:=total_of&format=csv");
    assert!(csv.text().ends_with(",field\r\n"), "{}", csv.text());
    let explained =
        json("explain?q=sym:total+kind:field+parent:x")["expression"]["pattern"].clone();
    let place = ["role", "kinds", "parent"].map(|name| explained[name].clone());
    assert_eq!(
        serde_json::json!(place),
        serde_json::json!(["definition", ["field"], "x"])
    );
    let page = get(&server.address, "/search?q=sym:total+kind:macro");
    let row = "name=\"kind\" value=\"macro\" aria-label=\"macro\" checked";
    assert!(page.text().contains(row), "{}", page.text());
}

#[test]
fn results_name_the_definition_around_them() {
    let home = totals();
    let server = home.start("serve --index I");
    let around = |parameters: &str| {
        let page = get(
            &server.address,
            &format!("/api/v2/search?q=return&{parameters}"),
        )
        .json();
        let groups = page["groups"].as_array().cloned();
        let groups = groups.unwrap_or_else(|| vec![page.clone()]);
        let matches = groups
            .iter()
            .flat_map(|it| it["matches"].as_array().unwrap());
        let name = |it: &Value| {
            let around = &it["enclosing"];
            format!("{} {} {}", around["kind"], around["parent"], around["name"])
        };
        let mut names: Vec<_> = matches.map(name).collect();
        names.sort_unstable();
        names
    };
    let named = [
        "\"function\" null \"total_sum\"",
        "\"method\" \"Total\" \"total_all\"",
    ];
    assert_eq!(around("enclosing=true"), named);
    assert_eq!(around("enclosing=true&group=document"), named);
    assert_eq!(around("group=package"), ["null null null"; 2]);
    let page = get(&server.address, "/search?q=return");
    for label in ["in function <a href=\"/show", "Total › <b>total_all</b>"] {
        assert!(page.text().contains(label), "{label}: {}", page.text());
    }
}

#[test]
fn names_of_symbols_complete_a_query() {
    let home = totals();
    let server = home.start("serve --index I");
    let completed = |q: &str| {
        let found = get(&server.address, &format!("/api/v2/complete?q={q}")).json();
        let found = found["completions"]
            .as_array()
            .expect("completions")
            .clone();
        let mut found: Vec<_> = (found.iter())
            .map(|it| format!("{} {} {}", it["text"], it["about"], it["href"]).replace('"', ""))
            .collect();
        found.sort_unstable();
        found
    };
    assert_eq!(
        completed("total_"),
        [
            "total_all method · b_1/b.py:2 null",
            "total_of field · a_1/a.c:2 null",
            "total_sum function · a_1/a.c:3 null",
        ]
    );
    assert_eq!(
        completed("uses:total_s"),
        ["total_sum function · a_1/a.c:3 null"]
    );
    assert_eq!(
        completed("sym:%5Etotal_s"),
        ["=total_sum function · a_1/a.c:3 null"]
    );
    assert_eq!(
        completed("type:path+total_s"),
        ["total_sum function · a_1/a.c:3 /show?package=a_1&path=a.c&line=3#L3"]
    );
    for nothing in ["to", "sym:=.*", "content:total_s"] {
        assert_eq!(completed(nothing), [""; 0], "{nothing}");
    }
}
