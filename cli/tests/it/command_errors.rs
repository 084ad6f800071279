//! Command errors: a reason, status 2, and empty standard output.

use crate::home::Home;
use std::fs;
use std::net::TcpListener;

fn home() -> Home {
    let home = Home::new();
    home.write("source/a.c", "int wanted;\n");
    home.write("elsewhere/source/a.c", "int wanted;\n");
    home.write("file", "neither source nor index\n");
    home.write("ranks.json", r#"{"source": {"inst": 2}}"#);
    home.write("empty/hello", "");
    home.ok("index --index good source");
    home
}

fn check(home: &Home, line: &str, says: &[&str]) {
    let run = home.run(line);
    run.check(line, 2, says);
    assert_eq!(run.text(), "", "{line}");
}

/// Rows have a command, and after each `=>` a part of its error.
fn check_table(home: &Home, table: &str) {
    for row in table.lines().filter(|row| row.contains("=>")) {
        let mut columns = row.split("=>").map(str::trim);
        let line = columns.next().expect("split gives at least one");
        check(home, line, &columns.collect::<Vec<_>>());
    }
}

#[test]
fn wrong_usage() {
    let table = "
                                          => Usage: trawl <COMMAND>
        serch wanted                      => unrecognized subcommand 'serch' => 'search'
        search                            => <QUERY>
        search --ignore-cas wanted        => '--ignore-cas' => '--ignore-case'
        search --mode fuzzy wanted        => 'fuzzy' => literal, regexp
        search --index I --server x:1 y   => --index => cannot be used with
        index --output out source         => '--output' => '--out'
        index --index out                   => <SOURCE>
        index source                      => --index <DIR>
        index --index out --jobs 0 source   => '0' => 1..=256
        index --index out --memory 5X x     => not a size; write bytes
        index --index out --memory=-1 x     => '-1'
        index --index out --block-size 9 x  => a block must have 256 to 1048576 bytes
        inspect --index good --skipped --packages => cannot be used with
        inspect --index good --plan x --verify    => cannot be used with
        inspect --index good --mode regexp        => --plan <PATTERN>
        inspect --index good --limit 3 --skipped  => cannot be used with
        backend --listen 127.0.0.1:0      => give --index DIR, or --store STORE
        frontend --spool spool            => --backend HOST:PORT => --nodes SOURCE
        frontend --spool spool --backend a:1 --nodes static:a:1 => give one of them
        frontend --spool spool --backend a:1 --accept-nodes     => --accept-nodes needs --nodes
        frontend --spool spool --nodes ectd:http://a:1          => did you mean etcd:?
        frontend --spool spool --nodes static:a:1,b             => \"b\" is not HOST:PORT => [NAME=]HOST:PORT
        frontend --spool spool --nodes dns:a?b=c                => ?server=IP:PORT
        serve --spol x                    => '--spol' => '--spool'
        serve --index I --each --listen 127.0.0.1:0 => flags for building an index need a SOURCE
    ";
    check_table(&Home::new(), table);
}

#[test]
fn wrong_sources() {
    let home = home();
    let table = "
        index --index out nowhere                              => nowhere: no such directory
        index --index out file                                 => file: not a directory
        index --index out --each empty                         => empty: contains no directory
        index --index out source elsewhere/source              => the same package, `source` \
                                                             => /source and => /elsewhere/source
        index --index file source                              => file: cannot be written
        index --index out --memory 1M source                   => --memory => at least
        index --index out --package-ranks none source          => cannot read the package ranks in none
        index --index out --package-ranks file source          => file: not package ranks => line 1
        index --index out --package-ranks ranks.json source    => ranks.json: source: => from 0 to 1
        serve --listen 127.0.0.1:0 nowhere                   => nowhere: no such directory
        serve --listen 127.0.0.1:0 file                      => file: not a directory
    ";
    check_table(&home, table);
    assert!(!home.path("out").exists(), "nothing was built");
}

#[test]
fn wrong_inspect_arguments() {
    let home = home();
    let table = r"
        inspect --index good --trigram ab               => three bytes, not 2 bytes
        inspect --index good --trigram äöü              => three bytes, not 6 bytes
        inspect --index good --trigram a\q              => a backslash must be followed by
        inspect --index good --trigram a\n              => three bytes
        inspect --index good --trigram ab\n             => line feed
        inspect --index good --document source           => expected PACKAGE/PATH
        inspect --index good --mode regexp --plan a\nb  => crosses lines
        inspect --index good --plan a(b --mode regexp   => unclosed group
        inspect --index good --plan ''                  => the query is empty
    ";
    check_table(&home, table);
}

fn readers(index: &str) -> [String; 4] {
    [
        format!("search --index {index} wanted"),
        format!("inspect --index {index}"),
        format!("backend --index {index} --listen 127.0.0.1:0"),
        format!("serve --index {index} --listen 127.0.0.1:0"),
    ]
}

#[test]
fn directories_without_an_index() {
    let home = home();
    for index in ["nowhere", "empty", "file"] {
        let says = format!(
            "{index}: no Trawl index here; build one with `trawl index --index {index} SOURCE...`"
        );
        readers(index)
            .iter()
            .for_each(|line| check(&home, line, &[&says]));
    }
}

fn check_changed(manifest: bool, change: impl FnOnce(&mut Vec<u8>), says: &[&str]) {
    let home = home();
    let file = if manifest {
        home.path("good/manifest")
    } else {
        home.shard("good")
    };
    let mut bytes = fs::read(&file).unwrap();
    change(&mut bytes);
    fs::write(&file, bytes).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let says = [&[name], says].concat();
    readers("good")
        .iter()
        .for_each(|line| check(&home, line, &says));
}

#[test]
fn indexes_of_a_newer_format() {
    let says = ["format 7; this version of Trawl reads format 6: update Trawl, or build the index"];
    check_changed(true, |bytes| bytes["trawl-index ".len()] = b'7', &says);
    let says =
        ["format 4; this version of Trawl reads formats 1 to 3: update Trawl, or build the index"];
    check_changed(
        false,
        |bytes| bytes[8..12].copy_from_slice(&[4, 0, 0, 0]),
        &says,
    );
}

#[test]
fn damaged_indexes() {
    let says = ["damaged", "build the index again"];
    check_changed(true, |bytes| bytes.truncate(bytes.len() / 2), &says);
    check_changed(true, |bytes| bytes[20] ^= 1, &says);
    check_changed(false, |bytes| bytes.truncate(bytes.len() / 2), &says);
    check_changed(false, |bytes| bytes[100] ^= 1, &says);
    check_changed(false, |bytes| bytes.truncate(100), &says);
    let says = ["not a shard of a Trawl index"];
    check_changed(false, |bytes| bytes.clear(), &says);
    check_changed(false, |bytes| bytes[0] ^= 1, &says);
}

#[test]
fn damage_found_by_a_search_makes_it_incomplete() {
    let home = home();
    let shard = home.shard("good");
    let mut bytes = fs::read(&shard).unwrap();
    let text = "int wanted;".as_bytes();
    let at = bytes.windows(text.len()).position(|found| found == text);
    bytes[at.expect("text is stored unchanged")] ^= 1;
    fs::write(&shard, bytes).unwrap();
    let search = home.run("search --index good wanted");
    search.check("search", 3, &["damaged at byte"]);
    assert_eq!(search.text(), "");
    home.run("inspect --index good --verify")
        .check("inspect", 2, &["damaged at byte"]);
}

#[test]
fn missing_backend_is_not_nothing_found() {
    let home = home();
    let frontend = home.start("frontend --backend 127.0.0.1:1 --spool spool");
    let search = home.run(&format!("search --server {} wanted", frontend.address));
    search.check(
        "search",
        3,
        &["incomplete: 127.0.0.1:1: connection refused"],
    );
    assert_eq!(search.text(), "");
}

#[test]
fn wrong_addresses() {
    let home = home();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let starts = [
        "backend --index good",
        "frontend --backend 127.0.0.1:1 --spool spool",
        "serve source",
    ];
    for start in starts {
        let says = format!("cannot listen on {taken}");
        let line = format!("{start} --listen {taken}");
        check(&home, &line, &[&says, "in use"]);
    }
    let spool = "frontend --backend 127.0.0.1:1 --listen 127.0.0.1:0 --spool file";
    check(&home, spool, &["cannot create the directory file"]);
    let unreachable = [
        "cannot reach the server at http://127.0.0.1:1",
        "trawl serve",
        "--index DIR: Connection refused\n",
    ];
    check(
        &home,
        "search --server http://127.0.0.1:1 wanted",
        &unreachable,
    );
    check(&home, "search --server 127.0.0.1:1/ wanted", &unreachable);
}

#[test]
fn addresses_and_urls_are_checked_at_the_start() {
    let home = home();
    let address = "expected HOST:PORT";
    let url = "expected a URL";
    let backend = "backend --index good --listen 127.0.0.1:0";
    let frontend = "frontend --backend 127.0.0.1:1 --spool spool --listen 127.0.0.1:0";
    for (line, says) in [
        ("frontend --spool spool --backend", address),
        ("frontend --spool spool --backend a:1 --listen", address),
        (
            "frontend --spool spool --backend a:1 --admin-listen",
            address,
        ),
        (&format!("{frontend} --nodes"), "is not a source of nodes"),
        (&format!("{frontend} --traces"), url),
        (&format!("{frontend} --auth-url"), "begins with https://"),
        (&format!("{frontend} --cache-redis"), "expected redis://"),
        (&format!("{frontend} --cors-origin"), "is not an origin"),
        (
            &format!("{frontend} --trusted-proxy"),
            "expected an address or a network",
        ),
        ("serve --index good --listen", address),
        ("serve --index good --admin-listen", address),
        ("backend --index good --listen", address),
        (&format!("{backend} --metrics"), address),
        (&format!("{backend} --announce"), address),
        (&format!("{backend} --traces"), url),
        (&format!("{backend} --nodes"), "is not a source of nodes"),
        ("search wanted --server", url),
        ("status --server", url),
        ("explain wanted --server", url),
        ("mirror --to M", "not a URL"),
    ] {
        check(&home, &format!("{line} nonsense"), &["trawl: ", says]);
    }
    let mut command = home.command("search wanted");
    let run = crate::process::finish(command.env("TRAWL_SERVER", "nonsense"));
    run.check("a variable", 2, &["TRAWL_SERVER=nonsense: expected a URL"]);
    let mut command = home.command("serve --index good");
    let run = crate::process::finish(command.env("TRAWL_SERVE_LISTEN", "nonsense"));
    run.check("a setting", 2, &["TRAWL_SERVE_LISTEN: listen: ", address]);
    for url in ["ftp://a", "http://", "http://a:65536"] {
        let line = format!("search wanted --server {url}");
        check(&home, &line, &["expected a URL or HOST:PORT"]);
    }
    check(
        &home,
        "index --index good --store ftp://a",
        &["give a directory, or s3://"],
    );
}

#[test]
fn errors_begin_with_the_name_of_the_program() {
    let home = home();
    for line in [
        "serch wanted",
        "search --ignore-cas wanted",
        "search -v wanted",
        "search --index nowhere wanted",
        "index --index out nowhere",
        "inspect",
        "store history",
        "store history Empty",
        "serve --listen nonsense",
        "frontend --spool spool",
        "config check nowhere.toml",
    ] {
        let run = home.run(line);
        assert_eq!(run.code, Some(2), "{line}");
        assert!(run.stderr.starts_with("trawl: "), "{line}: {}", run.stderr);
        assert!(!run.stderr.contains("error: "), "{line}: {}", run.stderr);
    }
}

#[test]
fn wrong_queries() {
    let home = home();
    let server = home.start("serve --index good");
    let mut table: Vec<(&str, &[&str])> = vec![
        ("''", &["the query is empty"]),
        ("--mode regexp ''", &["the query is empty"]),
        ("--mode regexp a(b", &["unclosed group\n  a(b\n   ^\n"]),
        (
            "--mode regexp äö[z-a]",
            &["character class range", "\n  äö[z-a]\n     ^\n"],
        ),
        ("--mode regexp x{1000}{1000}", &["the pattern is too large"]),
    ];
    let long = "x".repeat(5000);
    table.push((&long, &["the query has 5000 bytes, the limit is 4096"]));
    for (query, says) in table {
        check(&home, &format!("search --index good {query}"), says);
        let line = format!("search --server {} {query}", server.address);
        check(&home, &line, says);
    }
    server.check_no_panic();
}
