//! Exit statuses of the commands are those of the table in `docs/cli.md`.

use crate::home::Home;
use std::fs;

const MANUAL: &str = include_str!("../../../docs/cli.md");

#[test]
fn commands_end_with_the_statuses_of_the_table() {
    let home = Home::new();
    home.write("p/a.c", "int wanted;\n");
    home.write("p/binary", "\0");
    home.write("good.toml", "[serve]\nlisten = '127.0.0.1:0'\n");
    home.write("bad.toml", "[serve]\nlistne = 1\n");
    home.ok("index --index I --store S p");
    home.ok("index --index J --store T p");
    for file in fs::read_dir(home.path("T/files")).unwrap() {
        fs::write(file.unwrap().path(), "damaged").unwrap();
    }
    let frontend = home.start("frontend --backend 127.0.0.1:1 --spool spool");
    let server = format!("--server {}", frontend.address);
    let table = [
        (0, "help"),
        (0, "search --help"),
        (0, "--version"),
        (0, "index --index I p"),
        (0, "index --index I --dry-run p"),
        (0, "search --index I wanted"),
        (0, "explain --index I wanted"),
        (0, "status --index I"),
        (0, "packages --index I"),
        (0, "skipped --index I"),
        (0, "inspect --index I"),
        (0, "inspect --index I --document p/a.c"),
        (0, "store history --store S"),
        (0, "store verify --store S"),
        (0, "store gc --store S"),
        (0, "cluster plan --store S --nodes static:a:1"),
        (0, "config check good.toml"),
        (0, "config show"),
        (0, "key robot"),
        (0, "completions bash"),
        (0, "man"),
        (1, "search --index I absent"),
        (1, "packages --index I absent"),
        (1, "skipped --index I absent"),
        (1, "inspect --index I --document p/b.c"),
        (1, "inspect --index I --trigram xyz"),
        (2, ""),
        (2, "serch"),
        (2, "search"),
        (2, "search --index nowhere wanted"),
        (2, "explain --index I --mode regexp a(b"),
        (2, "status --server 127.0.0.1:1"),
        (2, "index --index K nowhere"),
        (2, "inspect --index nowhere"),
        (2, "inspect --index I --trigram xy"),
        (2, "store history --store Empty"),
        (2, "cluster plan --store Empty --nodes static:a:1"),
        (2, "config check bad.toml"),
        (2, "serve --index nowhere --listen 127.0.0.1:0"),
        (2, "backend --index nowhere --listen 127.0.0.1:0"),
        (2, "frontend --spool spool2 --backend nonsense"),
        (2, "mirror --to M nonsense"),
        (2, "commit --repos nowhere x"),
        (2, "cluster drain x --nodes static:a:1"),
        (3, "store verify --store T"),
        (3, "cluster status --store S --nodes static:a:1 --unasked"),
        (3, &format!("search {server} wanted")),
        (3, &format!("packages {server}")),
        (3, &format!("skipped {server}")),
        (3, &format!("explain {server} wanted")),
        (3, &format!("status {server}")),
    ];
    for (expected, line) in table {
        let run = home.run(line);
        assert_eq!(run.code, Some(expected), "{line}: {}", run.stderr);
    }
}

#[test]
fn the_manual_has_one_table_of_exit_statuses() {
    let rows = MANUAL.lines().filter_map(|line| {
        let (status, _) = line.strip_prefix("| ")?.split_once(" |")?;
        status.parse().ok()
    });
    let statuses: Vec<u8> = rows.collect();
    assert_eq!(statuses, [0, 1, 2, 3, 130]);
}
