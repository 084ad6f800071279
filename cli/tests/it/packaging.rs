//! The files of the Debian package agree with the program.

use crate::home::Home;

const CONFIG: &str = include_str!("../../packaging/config.toml");
const UNIT: &str = include_str!("../../packaging/trawl.service");
const MANUAL: &str = include_str!("../../packaging/trawl.1");

#[test]
fn the_packaged_configuration_is_valid() {
    let home = Home::new();
    home.write("as-it-is.toml", CONFIG);
    home.ok("config check as-it-is.toml");
    // Its examples are valid, too.
    let all = CONFIG.lines().map(|line| match line.strip_prefix("# ") {
        Some(example) if example.contains(" = ") => example,
        _ => line,
    });
    let all: Vec<&str> = all.collect();
    assert!(all.contains(&"listen = \"0.0.0.0:8080\""), "{all:?}");
    home.write("all.toml", all.join("\n"));
    home.ok("config check all.toml");
}

#[test]
fn the_unit_starts_a_server_with_the_packaged_configuration() {
    let command = UNIT
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let arguments = command.and_then(|command| command.strip_prefix("/usr/bin/trawl "));
    let home = Home::new();
    home.write("config.toml", CONFIG);
    let arguments = arguments
        .unwrap()
        .replace("/etc/trawl/config.toml", "config.toml");
    let run = home.run(&format!(
        "{arguments} --index nowhere --spool spool --listen 127.0.0.1:0"
    ));
    // Nothing is wrong but the index, which is there when the unit starts.
    run.check("the unit", 2, &["nowhere"]);
    assert!(UNIT.contains("ConditionPathExists=/var/lib/trawl/index/manifest"));
    assert!(CONFIG.contains("index = \"/var/lib/trawl/index\""));
}

#[test]
fn the_packaged_manual_page_is_what_trawl_prints() {
    let printed = String::from_utf8(Home::new().ok("man")).unwrap();
    let update = "cargo run -- man > cli/packaging/trawl.1";
    assert!(printed == MANUAL, "it differs: {update}");
}
