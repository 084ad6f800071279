//! `trawl lsp`: an editor on standard input and output.

use crate::WAIT_MAX;
use crate::commits::git;
use crate::home::Home;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

const SHAPE: &str = "/// Area of a shape.\n///\n/// In squares.\n#[must_use]\npub fn area(\n    \
    side: u32,\n) -> u32\n{\n    side * side\n}\n\nstruct Shape {\n    side: u32,\n}\n";

const MAIN: &str = "fn main() {\n    /* 😀 */ area(1); // area\n    area(2);\n}\n";

/// Work tree with a definition, and a use after an emoji.
fn project() -> Home {
    let home = Home::new();
    home.write("project/src/shape.rs", SHAPE);
    home.write("project/src/main.rs", MAIN);
    git(&home, "project", &["init", "-q", "-b", "main"]);
    home
}

struct Editor {
    process: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    requests: u64,
    root: String,
}

impl Editor {
    fn start(home: &Home, arguments: &str) -> Editor {
        let mut editor = Editor::silent(home, arguments);
        let hello = editor.ask("initialize", json!({"capabilities": {}, "processId": null}));
        assert_eq!(hello["serverInfo"]["name"], "trawl", "{hello}");
        assert_eq!(hello["capabilities"]["positionEncoding"], "utf-16");
        editor.tell("initialized", json!({}));
        editor
    }

    fn silent(home: &Home, arguments: &str) -> Editor {
        let mut command = command(home, arguments);
        command.stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                drop(sender.send(message));
            }
        });
        Editor {
            input: process.stdin.take(),
            process,
            messages,
            requests: 0,
            root: home
                .path("project")
                .canonicalize()
                .unwrap()
                .display()
                .to_string(),
        }
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("it is open");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let (id, version) = (self.requests, "2.0");
        let message = json!({"jsonrpc": version, "id": id, "method": method, "params": params});
        self.write(&message.to_string());
        id
    }

    fn next(&self) -> Value {
        self.messages.recv_timeout(WAIT_MAX).expect("a response")
    }

    fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let response = self.next();
        assert_eq!(response["id"], id, "{response}");
        response
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.answer(method, params);
        assert!(response.get("result").is_some(), "{method}: {response}");
        response["result"].clone()
    }

    fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.root)
    }

    fn open(&mut self, path: &str, text: &str) {
        let document = json!({
            "uri": self.uri(path), "languageId": "rust", "version": 1, "text": text,
        });
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Asks about a position, and shortens URIs of the work tree.
    fn at(&mut self, method: &str, path: &str, (line, column): (u32, u32)) -> Value {
        let params = json!({
            "textDocument": {"uri": self.uri(path)},
            "position": {"line": line, "character": column},
            "context": {"includeDeclaration": true},
        });
        self.ask(&format!("textDocument/{method}"), params)
    }

    /// Renders locations as `path:line:column`, from 0.
    fn places(&self, found: &Value) -> Vec<String> {
        let place = |it: &Value| {
            let uri = it["uri"].as_str().unwrap();
            let start = &it["range"]["start"];
            let path = uri.strip_prefix(&*self.uri("")).unwrap_or(uri);
            format!("{path}:{}:{}", start["line"], start["character"])
        };
        found.as_array().unwrap().iter().map(place).collect()
    }

    fn ends(mut self) -> Option<i32> {
        self.tell("exit", json!(null));
        self.process.wait().unwrap().code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // Fails if it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn command(home: &Home, arguments: &str) -> Command {
    let mut command = home.command(&format!("lsp {arguments}"));
    command.current_dir(home.path("project/src"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut header = String::new();
    output.read_line(&mut header).ok()?;
    let length = header
        .strip_prefix("Content-Length: ")?
        .trim()
        .parse()
        .unwrap();
    output.read_line(&mut header).ok()?;
    let mut text = vec![0; length];
    output.read_exact(&mut text).ok()?;
    Some(serde_json::from_slice(&text).expect("only messages are on standard output"))
}

#[test]
fn names_are_found_in_the_work_tree() {
    let home = project();
    let mut editor = Editor::start(&home, "");
    // The emoji has two units.
    let found = editor.at("definition", "src/main.rs", (1, 14));
    assert_eq!(editor.places(&found), ["src/shape.rs:4:7"]);
    let found = editor.at("references", "src/main.rs", (1, 14));
    let places = ["src/main.rs:1:13", "src/main.rs:2:4", "src/shape.rs:4:7"];
    assert_eq!(editor.places(&found), places);
    let found = editor.at("references", "src/shape.rs", (4, 8));
    let places = ["src/shape.rs:4:7", "src/main.rs:1:13", "src/main.rs:2:4"];
    assert_eq!(editor.places(&found), places);
    let hover = editor.at("hover", "src/main.rs", (2, 5));
    let expected = "```rust\npub fn area(\n    side: u32,\n) -> u32\n```\n\nArea of a shape.\n\n\
        In squares.\n\n`project/src/shape.rs:5`";
    assert_eq!(hover["contents"]["value"], expected, "{hover}");
    let marks = editor.at("documentHighlight", "src/shape.rs", (5, 5));
    let kinds: Vec<_> = marks
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["kind"])
        .collect();
    assert_eq!(kinds.len(), 4, "{marks}");
    let nothing = editor.at("hover", "src/main.rs", (0, 11));
    assert_eq!(nothing, Value::Null);
    let symbols = editor.ask("workspace/symbol", json!({"query": "sid"}));
    assert_eq!(symbols[0]["name"], "side", "{symbols}");
    assert_eq!(symbols[0]["containerName"], "Shape", "{symbols}");
    assert_eq!(
        editor.ask("workspace/symbol", json!({"query": ""})),
        json!([])
    );
    assert_eq!(
        editor.ask("workspace/symbol", json!({"query": "\" or fn"})),
        json!([])
    );
    assert_eq!(editor.ask("shutdown", json!(null)), Value::Null);
    let refused = editor.answer("workspace/symbol", json!({"query": "sid"}));
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert_eq!(editor.ends(), Some(0));
}

#[test]
fn open_buffers_are_newer_than_the_index() {
    let home = project();
    let mut editor = Editor::start(&home, "");
    let name = |symbols: &Value| symbols[0]["name"].as_str().map(str::to_owned);
    let document = json!({"textDocument": {"uri": editor.uri("src/shape.rs")}});
    let symbols = editor.ask("textDocument/documentSymbol", document.clone());
    assert_eq!(symbols[1]["children"][0]["name"], "side", "{symbols}");
    assert_eq!(symbols[1]["range"]["end"]["line"], 13, "{symbols}");
    let start = json!({"line": 11, "character": 7});
    assert_eq!(symbols[1]["selectionRange"]["start"], start, "{symbols}");
    let edited = SHAPE.replace("fn area", "fn surface");
    editor.open("src/shape.rs", &edited);
    let symbols = editor.ask("textDocument/documentSymbol", document.clone());
    assert_eq!(name(&symbols).as_deref(), Some("surface"));
    let start = json!({"line": 0, "character": 0});
    let change = json!({
        "textDocument": {"uri": editor.uri("src/shape.rs"), "version": 2},
        "contentChanges": [
            {"text": SHAPE},
            {"range": {"start": start, "end": start}, "text": "\n\n"},
        ],
    });
    editor.tell("textDocument/didChange", change);
    let found = editor.at("definition", "src/main.rs", (2, 4));
    assert_eq!(editor.places(&found), ["src/shape.rs:6:7"]);
    editor.tell("textDocument/didClose", document.clone());
    // A file on disk that changes.
    home.write("project/src/shape.rs", &edited);
    let symbols = editor.ask("textDocument/documentSymbol", document);
    assert_eq!(name(&symbols).as_deref(), Some("surface"));
    home.write("project/src/main.rs", "fn main() {\n    surface();\n}\n");
    let found = editor.at("definition", "src/main.rs", (1, 5));
    assert_eq!(editor.places(&found), ["src/shape.rs:4:7"]);
    assert_eq!(editor.ends(), Some(1));
}

#[test]
fn files_of_an_index_are_opened_as_copies() {
    let home = project();
    home.write("zoo/src/cage.c", "int open_cage(void)\n{\n\treturn 1;\n}\n");
    home.write("project/src/main.rs", "open_cage();\n");
    home.ok("index --index I zoo project");
    fs::remove_dir_all(home.path("zoo")).unwrap();
    let server = home.start("serve --index I");
    let url = format!("--server http://{}", server.address);
    let index = home.path("I");
    for arguments in [format!("--index {}", index.display()), url] {
        let mut editor = Editor::start(&home, &arguments);
        let found = editor.at("definition", "src/main.rs", (0, 2));
        let uri = found[0]["uri"]
            .as_str()
            .unwrap_or_else(|| panic!("{found}"));
        let file = uri.strip_prefix("file://").unwrap();
        assert!(
            file.contains("/cache/trawl/lsp/") && file.ends_with("/zoo/src/cage.c"),
            "{file}"
        );
        assert!(fs::metadata(file).unwrap().permissions().readonly());
        let params = json!({
            "textDocument": {"uri": uri},
            "position": {"line": 0, "character": 5},
            "context": {"includeDeclaration": false},
        });
        let found = editor.ask("textDocument/references", params);
        assert_eq!(editor.places(&found), ["src/main.rs:0:0"], "{file}");
    }
}

#[test]
fn packages_of_an_index_below_the_work_tree_are_its_files() {
    let home = project();
    home.ok("index --index I --each project");
    let index = home.path("I");
    let mut editor = Editor::start(&home, &format!("--index {}", index.display()));
    let found = editor.at("references", "src/main.rs", (1, 14));
    let places = ["src/main.rs:1:13", "src/main.rs:2:4", "src/shape.rs:4:7"];
    assert_eq!(editor.places(&found), places);
}

#[test]
fn a_checkout_is_a_package_of_the_index() {
    let home = project();
    let keeper = "int keep(void) { return open_cage(); }\n";
    home.write(
        "corpus/zoo_1.0/cage.c",
        "int open_cage(void)\n{\n\treturn 1;\n}\n",
    );
    home.write("corpus/zoo_1.0/keeper.c", keeper);
    home.write("corpus/other_1.0/cage.c", "int open_cage(void);\n");
    home.ok("index --each --index I corpus");
    fs::rename(home.path("corpus/zoo_1.0"), home.path("project/zoo")).unwrap();
    let index = home.path("I");
    let mut editor = Editor::start(&home, &format!("--index {}", index.display()));
    editor.open("zoo/keeper.c", &format!("// unsaved\n{keeper}"));
    let found = editor.at("definition", "zoo/keeper.c", (1, 28));
    let places = editor.places(&found);
    assert_eq!(places[0], "zoo/cage.c:0:4", "{found}");
    assert!(places[1].ends_with("/other_1.0/cage.c:0:4"), "{found}");
    let found = editor.at("references", "zoo/cage.c", (0, 5));
    let places = editor.places(&found);
    assert_eq!(places[..2], ["zoo/cage.c:0:4", "zoo/keeper.c:1:24"]);
    home.write(
        "project/zoo/new.c",
        "int new(void) { return open_cage(); }\n",
    );
    let found = editor.at("definition", "zoo/new.c", (0, 25));
    assert_eq!(editor.places(&found)[0], "zoo/cage.c:0:4");
}

#[test]
fn cancellation_closes_the_connection_to_a_server() {
    let home = project();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let mut editor = Editor::start(&home, &format!("--server http://{address}"));
    let id = editor.begin("workspace/symbol", json!({"query": "area"}));
    let (mut connection, _) = server.accept().unwrap();
    connection.set_read_timeout(Some(WAIT_MAX)).unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        connection.read_exact(&mut byte).unwrap();
        request.extend(byte);
    }
    editor.tell("$/cancelRequest", json!({"id": id}));
    let answer = editor.next();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(id), &json!(-32800))
    );
    assert_eq!(connection.read(&mut [0]).unwrap(), 0);
}

#[test]
fn mistakes_and_cancellation_are_answered() {
    let home = project();
    let mut editor = Editor::silent(&home, "");
    let code = |answer: Value| answer["error"]["code"].as_i64();
    assert_eq!(
        code(editor.answer("textDocument/hover", json!({}))),
        Some(-32002)
    );
    let offered = json!({"general": {"positionEncodings": ["utf-8", "utf-16"]}});
    let hello = editor.ask("initialize", json!({"capabilities": offered}));
    assert_eq!(hello["capabilities"]["positionEncoding"], "utf-8");
    assert_eq!(
        code(editor.answer("textDocument/rename", json!({}))),
        Some(-32601)
    );
    assert_eq!(
        code(editor.answer("textDocument/hover", json!([1]))),
        Some(-32602)
    );
    editor.tell("textDocument/didOpen", json!({"textDocument": 7}));
    editor.tell("$/unknown", json!(null));
    editor.tell("$/cancelRequest", json!({"id": 99}));
    let id = editor.begin("workspace/symbol", json!({"query": "area"}));
    editor.tell("$/cancelRequest", json!({"id": id}));
    let answer = editor.next();
    // The answer may be faster than the cancellation.
    let is_one = answer.get("result").is_some() || answer["error"]["code"] == -32800;
    assert!(answer["id"] == id && is_one, "{answer}");
    let utf8 = editor.at("definition", "src/main.rs", (1, 17));
    assert_eq!(editor.places(&utf8), ["src/shape.rs:4:7"]);
}

#[test]
fn malformed_input_ends_with_an_error() {
    let home = project();
    let check = |input: &str, expected: &str| {
        home.write("input", input);
        let mut command = command(&home, "");
        command.stdin(fs::File::open(home.path("input")).unwrap());
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{log}");
        let is_clear =
            log.contains("the connection to the editor failed: ") && log.contains(expected);
        assert!(is_clear && !log.contains("panicked"), "{log}");
    };
    check("garbage\r\n\r\n", "malformed header");
    check("Content-Length: 4\r\n\r\n{{{{", "malformed message");
    check("Content-Length: 99999999\r\n\r\n", "the limit is 16777216");
}
