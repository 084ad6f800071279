//! Backends that share a store. `scripts/faults/rebalance` uses a real etcd and changing nodes.

use crate::home::{Home, Server, until};

const NODES: &str = "static:b1=127.0.0.1:1/zone=east,b2=127.0.0.1:2/zone=west,b3=127.0.0.1:3/zone=west,b4=127.0.0.1:4/weight=0";

/// A store with eight shards, each with a package.
fn home(replicas: u8) -> Home {
    let home = Home::new();
    for number in 0..8 {
        home.write(&format!("p{number}/a.c"), format!("int wanted_{number};\n"));
        home.ok(&format!(
            "index --index I{number} --store S --replicas {replicas} p{number}"
        ));
    }
    home
}

fn backend(home: &Home, name: &str) -> Server {
    home.start(&format!(
        "backend --store S --data D-{name} --nodes {NODES} --name {name}"
    ))
}

fn status(home: &Home) -> serde_json::Value {
    let found = home.run(&format!(
        "cluster status --store S --nodes {NODES} --unasked --json"
    ));
    serde_json::from_str(found.text()).unwrap()
}

#[test]
fn nodes_share_the_shards_and_say_what_they_have() {
    let home = home(2);
    let before = home.run(&format!("cluster status --store S --nodes {NODES}"));
    before.check("no node", 3, &[]);
    assert!(
        before.text().contains("0 of 2 replicas ready: 8 shards"),
        "{}",
        before.text()
    );
    let backends = ["b1", "b2", "b3", "b4"].map(|name| backend(&home, name));
    until("all shards have two replicas", || {
        status(&home)["under_replicated"] == 0
    });
    let now = status(&home);
    let nodes = now["nodes"].as_array().unwrap();
    let shards = |name: &str| {
        let node = nodes.iter().find(|node| node["node"] == name).unwrap();
        assert_eq!(node["shards"], node["assigned_shards"], "{now}");
        node["shards"].as_u64().unwrap()
    };
    // b1 is the only eastern node, so it has a replica of each shard.
    assert_eq!(shards("b1"), 8);
    assert_eq!(shards("b2") + shards("b3"), 8);
    assert!(shards("b2") > 0 && shards("b3") > 0, "{now}");
    assert_eq!(shards("b4"), 0);
    // No process has these addresses.
    let down = home.run(&format!("cluster status --store S --nodes {NODES}"));
    down.check("nobody answers", 3, &[]);
    assert!(down.text().contains("down"), "{}", down.text());
    let text = home.run(&format!(
        "cluster status --store S --nodes {NODES} --unasked"
    ));
    text.check("status", 0, &[]);
    for part in [
        "every shard has its replicas",
        "zone east has one node, b1",
        "empty",
    ] {
        assert!(text.text().contains(part), "{part}: {}", text.text());
    }
    home.ok(&format!(
        "cluster status --store S --nodes {NODES} --unasked --wait 60"
    ));
    // An unlisted node may return.
    let others = "static:b1=127.0.0.1:1/zone=east,b3=127.0.0.1:3/zone=west";
    let without = home.run(&format!(
        "cluster status --store S --nodes {others} --unasked --wait 0"
    ));
    without.check("without b2", 3, &[]);
    for part in [
        "gone",
        "waiting",
        "moving: ",
        &format!("1 of 2 replicas ready: {}", shards("b2")),
        "under-replicated: ",
        "warning: b2 is not listed; it was seen ",
    ] {
        assert!(without.text().contains(part), "{part}: {}", without.text());
    }
    let [b1, b2, b3, _] = &backends;
    let frontend = home.start(&format!(
        "frontend --backend {} --backend {} --backend {} --spool spool",
        b1.address, b2.address, b3.address
    ));
    let search = format!("search --server http://{} wanted_", frontend.address);
    until("all packages are found once", || {
        home.run(&search).text().lines().count() == 8
    });
}

#[test]
fn a_killed_node_is_down_at_once_whatever_it_has_said() {
    let home = home(2);
    let nodes = |b1: &str, b2: &str| format!("static:b1={b1}/zone=east,b2={b2}/zone=west");
    let listed = nodes("127.0.0.1:1", "127.0.0.1:2");
    let start = |name: &str| {
        home.start(&format!(
            "backend --store S --data D-{name} --nodes {listed} --name {name}"
        ))
    };
    let (b1, b2) = (start("b1"), start("b2"));
    let status = |b2: &str, flags: &str| {
        let nodes = nodes(&b1.address, b2);
        home.run(&format!("cluster status --store S --nodes {nodes} {flags}"))
    };
    status(&b2.address, "--wait 60").check("both are there", 0, &[]);
    let address = b2.address.clone();
    drop(b2);
    for flags in ["", "--wait 1"] {
        let down = status(&address, flags);
        down.check("b2 is killed", 3, &[]);
        for part in [
            "down",
            "1 of 2 replicas ready: 8 shards",
            "warning: b2 does not answer, so its shards are not counted: connection refused",
        ] {
            assert!(down.text().contains(part), "{part}: {}", down.text());
        }
    }
    status(&address, "--unasked").check("what it has said", 0, &[]);
    let again = start("b2");
    status(&again.address, "--wait 60").check("it is back", 0, &[]);
}

#[test]
fn a_plan_says_what_would_move() {
    let home = home(1);
    let plan = |changes: &str| {
        let found = home.ok(&format!(
            "cluster plan --store S --nodes {NODES} --json {changes}"
        ));
        let plan: serde_json::Value = serde_json::from_slice(&found).unwrap();
        plan
    };
    let same = plan("");
    assert_eq!(same["moving_bytes"], 0);
    let more = plan("--add b5/zone=north --replicas 2");
    assert!(more["moving_bytes"].as_u64() > Some(0), "{more}");
    assert_eq!(
        more["bytes"].as_u64(),
        same["bytes"].as_u64().map(|bytes| 2 * bytes)
    );
    let fewer = plan("--remove b2 --remove b3");
    let only = &fewer["nodes"][0];
    assert_eq!(
        (&only["node"], &only["shards_after"]),
        (&"b1".into(), &8.into())
    );
    for (changes, says) in [
        (
            "--remove b9",
            "no node is called b9; there are b1, b2, b3, b4",
        ),
        ("--add b1", "there is a node of this name"),
        ("--add b5/zone", "not NAME[/zone=ZONE][/weight=N]"),
    ] {
        let run = home.run(&format!("cluster plan --store S --nodes {NODES} {changes}"));
        run.check(changes, 2, &[says]);
    }
    let drain = home.run(&format!("cluster drain b1 --nodes {NODES}"));
    drain.check("drain", 2, &["only etcd can keep what is drained"]);
    let stranger = home.run(&format!(
        "backend --store S --data D --nodes {NODES} --listen 127.0.0.1:0"
    ));
    stranger.check("no name", 2, &["say with --name which one this is"]);
}
