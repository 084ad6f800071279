//! Link secrets: mistakes in the file prevent a start.

use crate::home::Home;

#[test]
fn a_file_of_secrets_that_cannot_be_used_is_an_error() {
    let home = Home::new();
    home.write("short", "a secret\n");
    let command =
        "frontend --backend 127.0.0.1:1 --spool spool --listen 127.0.0.1:0 --link-secrets";
    let missing = home.run(&format!("{command} missing"));
    missing.check("no file", 2, &["--link-secrets", "missing"]);
    let short = home.run(&format!("{command} short"));
    short.check(
        "too short",
        2,
        &["--link-secrets", "secret 1 has 8 characters"],
    );
}
