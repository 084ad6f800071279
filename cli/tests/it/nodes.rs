//! Frontends with a node source. `scripts/faults/membership` uses real etcd and DNS servers.

use crate::home::Home;

fn home() -> Home {
    let home = Home::new();
    for name in ["one", "two"] {
        home.write(&format!("{name}/a.c"), "int wanted;\n");
        home.ok(&format!("index --index {name}.index {name}"));
    }
    home
}

#[test]
fn listed_nodes_are_searched_and_named() {
    let home = home();
    let backends = ["one", "two"].map(|name| home.start(&format!("backend --index {name}.index")));
    let [first, second] = &backends;
    let nodes = format!(
        "static:b1={}/zone=east,b2={}/zone=west/weight=2",
        first.address, second.address
    );
    home.write("trawl.toml", format!("[frontend]\nnodes = \"{nodes}\"\n"));
    let frontend = home.start("frontend --config trawl.toml --spool spool");
    let server = format!("--server http://{}", frontend.address);
    let found = home.run(&format!("search {server} wanted"));
    assert_eq!(
        found.text().matches("wanted").count(),
        2,
        "{}",
        found.text()
    );
    let status = String::from_utf8(home.ok(&format!("status {server}"))).unwrap();
    assert!(status.contains("b1") && status.contains("b2"), "{status}");
    let log = frontend.log();
    assert!(!log.contains("frozen"), "{log}");
}

#[test]
fn a_frontend_starts_without_a_list_and_says_so() {
    let home = home();
    home.write("spool/nodes", "trawl nodes 1 not a checksum\n{}");
    // A closed port.
    let frontend = home.start("frontend --nodes etcd:http://127.0.0.1:1 --spool spool");
    let log = frontend.log();
    for part in [
        "the kept map of nodes is ignored",
        "its checksum differs",
        "no node is known yet",
        "127.0.0.1:1",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let found = home.run(&format!(
        "search --server http://{} wanted",
        frontend.address
    ));
    found.check("search", 3, &["no node is known yet"]);
}

#[test]
fn a_backend_registers_itself_in_etcd_alone() {
    let home = home();
    for (flags, says) in [
        ("--name b1", "--name needs --nodes etcd:URL"),
        ("--zone east", "--zone needs --nodes etcd:URL"),
        ("--nodes static:a:1", "registers itself in etcd alone"),
        (
            "--nodes etcd:http://a:1 --announce here",
            "expected HOST:PORT",
        ),
        ("--nodes etcd:http://a:1 --name a/b", "must have 1 to 128"),
        (
            "--nodes etcd:http://a:1 --listen 0.0.0.0:0 --insecure",
            "--announce HOST:PORT is needed",
        ),
    ] {
        let listen = if flags.contains("--listen") {
            ""
        } else {
            "--listen 127.0.0.1:0"
        };
        let run = home.run(&format!("backend --index one.index {listen} {flags}"));
        run.check(flags, 2, &[says]);
    }
}
