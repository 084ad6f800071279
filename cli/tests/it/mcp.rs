//! `trawl mcp`: an agent on standard input and output, and `/mcp` of a server.

use crate::WAIT_MAX;
use crate::commits::git;
use crate::home::{Home, Server};
use crate::process::finish;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use testkit::authorization::FakeService;

fn home() -> Home {
    let home = Home::new();
    home.write(
        "zoo/src/cage.c",
        "int open_cage(void)\n{\n\treturn lion;\n}\n",
    );
    home.write("zoo/test/cage.c", "assert(open_cage());\n");
    home.write("farm/barn.py", "lion = None  # \x1b[31m\n");
    home.write("farm/copy.c", "assert(open_cage());\n");
    home.ok("index --each --index I .");
    home
}

struct Agent {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    calls: u64,
}

impl Agent {
    fn start(home: &Home, arguments: &str) -> Agent {
        let mut agent = Agent::silent(home, arguments);
        let hello = agent.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18", "{hello}");
        assert_eq!(hello["result"]["serverInfo"]["name"], "trawl");
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn silent(home: &Home, arguments: &str) -> Agent {
        let mut command = home.command(&format!("mcp {arguments}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        Agent {
            input: process.stdin.take(),
            process,
            lines,
            calls: 0,
        }
    }

    fn send(&mut self, message: &Value) {
        self.write(&message.to_string());
    }

    fn write(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{line}").unwrap();
    }

    fn next(&self) -> Value {
        let line = self.lines.recv_timeout(WAIT_MAX).expect("an answer");
        serde_json::from_str(&line).expect("only messages are on standard output")
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let answer = self.next();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<String, String> {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}")).to_owned();
        match result["isError"].as_bool() {
            Some(true) => Err(text),
            _ => Ok(text),
        }
    }

    fn ends(mut self) -> Option<i32> {
        self.input = None;
        self.process.wait().unwrap().code()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Fails if it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn every_tool_answers() {
    let home = home();
    let mut agent = Agent::start(&home, "--index I");
    let listed = agent.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
    let expected = [
        "search",
        "search_many",
        "read",
        "files",
        "repositories",
        "history",
        "explain",
    ];
    assert_eq!(names, expected);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        let about = tool["description"].as_str().unwrap();
        assert!(about.contains("Example: {"), "{about}");
    }
    let mut check = |tool: &str, arguments: Value, expected: &[&str]| {
        let text = agent.call(tool, arguments).unwrap();
        for part in expected {
            assert!(text.contains(part), "{tool}: no {part:?} in {text}");
        }
    };
    let found = [
        "zoo/src/cage.c\n1: int open_cage(void)\n",
        "(and 1 copy)\n1: assert(open_cage());\n",
        "of 3 matches, ",
        "; searched 4 files, generation ",
    ];
    check("search", json!({"query": "open_cage"}), &found);
    let regexp = json!({"query": "return \\w+;", "regexp": true});
    check("search", regexp, &["3: \treturn lion;\n", "1 of 1 match"]);
    let many = json!({"queries": ["lion", "open_cage", "tiger"]});
    let expected = ["farm/barn.py\n", "\\u{1b}[31m", "\ntiger: 0 matches"];
    check("search_many", many, &expected);
    let read = json!({"file": "zoo/src/cage.c", "ranges": [[1, 1], [3, 9]]});
    let expected = "zoo/src/cage.c (4 lines)\n1: int open_cage(void)\n…\n3: \treturn lion;\n4: }\n";
    check("read", read, &[expected, "3 of 4 lines shown"]);
    check(
        "files",
        json!({"glob": "**/*.py"}),
        &["farm/barn.py\n1 of 1"],
    );
    check(
        "repositories",
        json!({}),
        &["farm: 2 files", "zoo: 2 files"],
    );
    let explained = ["read as: lion path:src", "blocks"];
    check("explain", json!({"query": "lion path:src"}), &explained);
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn mistakes_are_errors_of_the_tool_with_the_right_form() {
    let home = home();
    let mut agent = Agent::start(&home, "--index I");
    let mut check = |tool: &str, arguments: Value, expected: &str| {
        let text = agent.call(tool, arguments.clone()).unwrap_err();
        assert!(text.contains(expected), "{arguments}: {text}");
    };
    check("search", json!({"query": "/a(/"}), "unclosed group");
    check("search", json!({"query": ""}), "the query is empty");
    check("search", json!({"q": "x"}), "unknown field `q`, expected");
    check(
        "search",
        json!({"query": "x", "max_tokens": 5}),
        "too small",
    );
    check("search", json!({"query": "x", "page": "7"}), "is not valid");
    check("search_many", json!({"queries": []}), "give 1 to 8");
    check("read", json!({"file": "cage.c"}), "zoo/src/cage.c");
    check("read", json!({"file": "zoo/src/cage.d"}), "zoo/src/cage.c");
    let nothing = agent.call("search", json!({"query": "lion -path:barn path:test"}));
    let nothing = nothing.unwrap();
    assert!(nothing.contains("lion: 2 by itself"), "{nothing}");
    assert!(nothing.contains("path:test: removes all 1"), "{nothing}");
    let unknown = agent.ask("tools/call", json!({"name": "grep", "arguments": {}}));
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(message.contains("search_many"), "{message}");
}

#[test]
fn garbage_and_cancellation_leave_the_server_running() {
    let home = home();
    let mut agent = Agent::start(&home, "--index I");
    agent.write("garbage");
    agent.write("{\"jsonrpc\": \"2.0\"");
    agent.write("[]");
    let search = json!({"name": "search", "arguments": {"query": "/[a-z]+/"}});
    let id = agent.begin("tools/call", search);
    let cancelled = json!({"requestId": id, "reason": "no longer needed"});
    agent.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
    }));
    let calls = (0..8).map(|_| {
        let search = json!({"name": "search", "arguments": {"query": "lion"}});
        agent.begin("tools/call", search)
    });
    let mut calls: Vec<_> = calls.collect();
    while !calls.is_empty() {
        let answer = agent.next();
        calls.retain(|id| answer["id"] != *id);
    }
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn pages_follow_each_other_within_their_budget() {
    let home = Home::new();
    let lines = |file: u32| (0..9).map(move |line| format!("common {file} {line}\n"));
    (0..40).for_each(|file| home.write(&format!("p/{file}"), lines(file).collect::<String>()));
    home.ok("index --index I p");
    let mut agent = Agent::start(&home, "--index I");
    let ten = json!({"query": "common count:10"});
    let ten = agent.call("search", ten).unwrap();
    assert!(ten.len() < 1000 && ten.contains("p/0 (4 more)"), "{ten}");
    let (mut page, mut files) = (Value::Null, 0);
    loop {
        let next = json!({"query": "common", "max_tokens": 200, "page": page});
        let text = agent.call("search", next).unwrap();
        assert!(text.len() <= 800, "{text}");
        files += text.lines().filter(|line| line.starts_with("p/")).count();
        let Some((_, rest)) = text.split_once("; more: page=") else {
            break;
        };
        page = rest.split(';').next().into();
    }
    assert_eq!(files, 40);
    let other = json!({"query": "other", "page": page});
    assert!(agent.call("search", other).is_err());
}

#[test]
fn directories_are_indexed_first() {
    let home = Home::new();
    home.write("project/a.rs", "fn needle() {}\n");
    let mut agent = Agent::start(&home, "project");
    let found = agent.call("search", json!({"query": "needle"})).unwrap();
    assert!(
        found.starts_with("project/a.rs\n1: fn needle() {}\n"),
        "{found}"
    );
}

#[test]
fn the_home_directory_is_not_indexed() {
    let home = Home::new();
    home.write("secret", "needle\n");
    let mut command = home.command("mcp");
    command
        .env("HOME", home.path(""))
        .current_dir(home.path(""));
    finish(&mut command).check("too wide", 2, &["name one: trawl mcp DIRECTORY"]);
}

#[test]
fn an_edit_is_known_to_the_next_call() {
    let home = home();
    home.write("project/src/a.rs", "fn before() {}\n");
    let mut agent = Agent::start(&home, "project");
    for number in 0..5 {
        home.write("project/src/a.rs", format!("fn edited_{number}() {{}}\n"));
        let found = agent.call("search", json!({"query": format!("edited_{number}")}));
        let found = found.unwrap();
        assert!(found.contains("1: fn edited_"), "{number}: {found}");
        let path = format!("project/new/{number}/b.rs");
        home.write(&path, format!("fn created_{number}() {{}}\n"));
        let read = agent.call("read", json!({"file": path, "ranges": [[1, 1]]}));
        let read = read.unwrap();
        assert!(read.contains("1: fn created_"), "{number}: {read}");
    }
    assert_eq!(agent.ends(), Some(0));
}

fn post(
    address: &str,
    host: &str,
    header: (&str, &str),
    tool: &str,
    arguments: Value,
) -> (u16, String) {
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    });
    let sent = ureq::post(&format!("http://{address}/mcp"))
        .config()
        .http_status_as_error(false)
        .build()
        .header("host", host)
        .header(header.0, header.1)
        .header("accept", "application/json, text/event-stream")
        .content_type("application/json")
        .send(call.to_string());
    let mut answer = sent.unwrap();
    let body = answer.body_mut().read_to_string().unwrap();
    (answer.status().as_u16(), body)
}

fn text((status, body): (u16, String)) -> String {
    assert_eq!(status, 200, "{body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{body}")).to_owned()
}

#[test]
fn a_server_answers_agents_without_sessions() {
    let home = home();
    let server = home.start("serve --index I");
    let address = &server.address;
    let lion = json!({"query": "lion"});
    let search = |host: &str| post(address, host, ("x-a", "b"), "search", lion.clone());
    let text = text(search(address));
    assert!(text.contains("farm/barn.py\n1: lion"), "{text}");
    assert_eq!(search("example.org").0, 421);
}

#[test]
fn a_server_asks_for_keys() {
    let home = home();
    let made = String::from_utf8(home.ok("key robot")).unwrap();
    let (key, line) = made.trim().split_once('\n').unwrap();
    home.write("keys", line);
    let server = home.start("serve --index I --api-keys keys --require-key");
    let address = &server.address;
    let ask = |key: &str| {
        let header = ("authorization", format!("Bearer {key}"));
        post(
            address,
            address,
            (header.0, &header.1),
            "repositories",
            json!({}),
        )
    };
    assert_eq!(ask("wrong").0, 401);
    assert!(text(ask(key)).contains("zoo: 2 files"));
}

/// Two commits with one file.
fn repository(home: &Home, name: &str) {
    for text in ["one lion\n", "two lion\n"] {
        home.write(&format!("{name}/a.txt"), text);
        if text.starts_with("one") {
            git(home, name, &["init", "-q", "-b", "main"]);
        }
        git(home, name, &["add", "."]);
        git(home, name, &["commit", "-q", "-m", text]);
    }
}

#[test]
fn history_has_logs_commits_and_blames() {
    let home = Home::new();
    repository(&home, "src/shop");
    home.ok("index --index I --git src/shop");
    // An index of the repository, and its work tree.
    for arguments in ["--index I", "src/shop"] {
        let mut agent = Agent::start(&home, arguments);
        let mut check = |arguments: Value, expected: &[&str]| {
            let text = agent.call("history", arguments.clone());
            let text = text.unwrap_or_else(|error| error);
            for part in expected {
                assert!(text.contains(part), "{arguments}: no {part:?} in {text}");
            }
        };
        let id = git(&home, "src/shop", &["rev-parse", "HEAD"]);
        let line = format!("{} 2023-11-14 Zoë: two lion\n", &id[..12]);
        check(
            json!({"repository": "shop"}),
            &[&line, "one lion\n2 commits"],
        );
        let of_path = json!({"repo": "shop", "path": "a.txt", "rev": "HEAD~1"});
        check(of_path, &["one lion\n1 commit"]);
        let whole = format!("commit {id}\nparents ");
        let commit = json!({"repository": "shop", "show": "commit"});
        check(
            commit,
            &[&whole, "\ntwo lion\n", "M a.txt\n1 of 1 changed files"],
        );
        let blame = json!({"repository": "shop", "show": "blame", "path": "a.txt"});
        check(blame, &[&format!("1-1: {line}"), "as of commit "]);
        let missing = json!({"repository": "shop", "show": "blame", "path": "b.txt"});
        check(missing, &["has no file b.txt"]);
        check(
            json!({"repository": "ship"}),
            &["ship is no git repository here"],
        );
        let wrong = json!({"repository": "shop", "rev": "v9"});
        check(wrong, &["shop has no such revision v9"]);
        check(
            json!({"repository": "shop", "page": "x"}),
            &["is not valid"],
        );
    }
}

/// One server has packages that the caller may not see; the other never had them.
#[test]
fn a_caller_learns_nothing_of_packages_that_it_may_not_see() {
    let home = Home::new();
    for package in ["both/open_1", "alone/open_1", "both/closed_1"] {
        home.write(&format!("{package}/x.c"), "int needle;\nint common;\n");
        home.write(&format!("{package}/sub/y.c"), "int common;\n");
    }
    home.write("both/closed_1/z.c", "int hidden_needle;\nint lion;\n");
    repository(&home, "shop");
    repository(&home, "vault");
    home.ok("index --each --index both-index both --git shop --git vault");
    home.ok("index --each --index alone-index alone --git shop");
    let service = FakeService::start();
    service.allow("ann", &["*"]);
    let rights = format!("--auth-url {} --public open --public shop", service.url());
    let [both, alone] =
        ["both", "alone"].map(|world| home.start(&format!("serve --index {world}-index {rights}")));
    let answer = |world: &str, cookie: &str, (tool, arguments): (&str, Value)| {
        let text = text(post(world, world, ("cookie", cookie), tool, arguments));
        let is_hash =
            |word: &str| word.len() >= 16 && word.chars().all(|it| it.is_ascii_hexdigit());
        let words = text.split([' ', '\n']).filter(|word| !is_hash(word));
        let text = words.collect::<Vec<_>>().join(" ");
        let ages = text
            .split(", indexed ")
            .map(|part| match part.split_once(" ago") {
                Some((_, rest)) => rest,
                None => part,
            });
        ages.collect::<String>()
    };
    let calls = [
        ("search", json!({"query": "common"})),
        ("search", json!({"query": "hidden_needle"})),
        ("search", json!({"query": "neddle"})),
        ("search", json!({"query": "needle package:closed"})),
        ("search", json!({"query": "needle package:=closed"})),
        ("search", json!({"query": "int lion"})),
        ("search", json!({"query": "needle path:z.c"})),
        (
            "search_many",
            json!({"queries": ["lion", "hidden_needle", "int -path:sub"]}),
        ),
        ("read", json!({"file": "closed_1/x.c"})),
        ("read", json!({"file": "closed/z.c"})),
        ("read", json!({"file": "z.c"})),
        ("read", json!({"file": "open/x.c"})),
        ("files", json!({"glob": "**/*.c"})),
        ("files", json!({"package": "clo"})),
        ("repositories", json!({})),
        ("repositories", json!({"prefix": "v"})),
        ("history", json!({"repository": "vault"})),
        ("history", json!({"repository": "shop"})),
        ("history", json!({"repository": "vault", "show": "commit"})),
        (
            "history",
            json!({"repository": "vault", "show": "blame", "path": "a.txt"}),
        ),
        ("explain", json!({"query": "hidden_needle common"})),
    ];
    for call in calls {
        let ask = |server: &Server| answer(&server.address, "bob", call.clone());
        // A busy machine may leave out a count that takes long.
        let same = (0..5).any(|_| ask(&both) == ask(&alone));
        assert!(same, "{call:?}: {} {}", ask(&both), ask(&alone));
    }
    for (call, expected) in [
        (
            ("search", json!({"query": "hidden_needle"})),
            "closed_1/z.c",
        ),
        (("history", json!({"repository": "vault"})), "2 commits"),
        (
            ("read", json!({"file": "closed/z.c"})),
            "1: int hidden_needle;",
        ),
    ] {
        let seen = answer(&both.address, "ann", call);
        assert!(seen.contains(expected), "{seen}");
    }
}
