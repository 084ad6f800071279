//! Files of the Debian package agree with the program.

use crate::home::Home;
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

const CONFIG: &str = include_str!("../../packaging/config.toml");
const UNIT: &str = include_str!("../../packaging/trawl.service");
const MANUAL: &str = include_str!("../../packaging/trawl.1");
const ALERTS: &str = include_str!("../../packaging/alerts.yml");

const MEASURED: [&str; 10] = [
    "backend",
    "cli",
    "cluster",
    "frontend",
    "frontend/cache",
    "frontend/results",
    "schema/tls",
    "schema/trace",
    "web",
    "web/access",
];

const OF_HISTOGRAMS: [&str; 3] = ["_bucket", "_sum", "_count"];

#[test]
fn the_packaged_configuration_is_valid() {
    let home = Home::new();
    home.write("as-it-is.toml", CONFIG);
    home.ok("config check as-it-is.toml");
    // Examples are valid too.
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
    // The unit starts once the index exists.
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

fn metrics(text: &str) -> impl Iterator<Item = &str> {
    let places = text.match_indices("trawl_");
    places.map(|(at, _)| {
        let name = &text[at..];
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        &name[..name.find(|letter| !is_part(letter)).unwrap_or(name.len())]
    })
}

/// Counts quoted names in sources.
fn count(directory: &Path, counts: &mut HashMap<String, usize>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count(&path, counts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            for (at, quote) in text.match_indices('"') {
                let quoted = &text[at + quote.len()..];
                let name = metrics(quoted)
                    .next()
                    .filter(|name| quoted.starts_with(name));
                if let Some(name) = name.filter(|name| quoted[name.len()..].starts_with('"')) {
                    *counts.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
    }
}

#[test]
fn alerts_are_about_metrics_that_are_described_and_set() {
    let mut counts = HashMap::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for measured in MEASURED {
        count(&root.join(measured).join("src"), &mut counts);
    }
    let mut named = 0;
    for name in metrics(ALERTS) {
        let of_histogram = OF_HISTOGRAMS.iter().find_map(|end| name.strip_suffix(end));
        let of_histogram = of_histogram.filter(|name| counts.contains_key(*name));
        // One description, and one use.
        let places = counts.get(of_histogram.unwrap_or(name));
        assert!(
            places.is_some_and(|&places| places > 1),
            "{name}: {places:?}"
        );
        named += 1;
    }
    assert!(named > 20, "{named}");
}

#[test]
fn every_alert_says_what_to_do() {
    let (_, rules) = ALERTS.split_once("rules:").unwrap();
    let alerts: Vec<&str> = rules.split("- alert: ").skip(1).collect();
    assert!(alerts.len() >= 10, "{}", alerts.len());
    for alert in alerts {
        for part in ["expr: ", "severity: ", "summary: ", "description: "] {
            assert_eq!(alert.matches(part).count(), 1, "{part}in {alert}");
        }
    }
}

#[test]
fn prometheus_accepts_the_alerts() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/alerts.yml");
    let checked = Command::new("promtool")
        .args(["check", "rules", file])
        .output();
    match checked {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        // Debian's package prometheus has it.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("promtool is not installed");
        }
        Err(error) => panic!("{error}"),
    }
}
