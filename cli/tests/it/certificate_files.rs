//! Certificate and key files that prevent a start, and dependent flags.

use crate::home::Home;
use std::os::unix::fs::PermissionsExt;
use testkit::ca::{Authority, Valid};

fn home() -> Home {
    let home = Home::new();
    home.write("p/a.c", "int wanted;\n");
    home.ok("index --index I p");
    let (ca, other) = (Authority::new("ours"), Authority::new("other"));
    for (name, issued) in [
        ("good", ca.issue()),
        ("other", other.issue()),
        ("expired", ca.issue_valid(Valid::Past)),
        ("early", ca.issue_valid(Valid::Future)),
    ] {
        home.write(&format!("{name}.pem"), issued.certificate);
        home.write(&format!("{name}.key"), issued.key);
    }
    home.write("ca.pem", ca.pem());
    home.write("old-ca.pem", Authority::valid("old", Valid::Past).pem());
    home.write("garbage", "garbage\n");
    home.write("broken.pem", "-----BEGIN CERTIFICATE-----\n!\n");
    home.write(
        "encrypted.key",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    home
}

#[test]
fn certificates_that_cannot_be_used_are_errors_at_the_start() {
    let home = home();
    for (certificate, key, says) in [
        (
            "nowhere.pem",
            "good.key",
            "cannot read the certificate in nowhere.pem",
        ),
        (
            "good.pem",
            "nowhere.key",
            "cannot read the private key in nowhere.key",
        ),
        (
            "garbage",
            "good.key",
            "no certificate in garbage; expected PEM",
        ),
        (
            "broken.pem",
            "good.key",
            "malformed certificate in broken.pem",
        ),
        (
            "good.pem",
            "garbage",
            "no private key in garbage; expected PEM",
        ),
        (
            "good.pem",
            "encrypted.key",
            "it is encrypted; decrypt it with `openssl pkey`",
        ),
        (
            "good.key",
            "good.pem",
            "no certificate in good.key; it has a private key: are",
        ),
        (
            "good.pem",
            "good.pem",
            "no private key in good.pem; it has a certificate: are",
        ),
        (
            "good.pem",
            "other.key",
            "the key in other.key does not belong to the certificate in good.pem",
        ),
        (
            "expired.pem",
            "expired.key",
            "expired.pem: the certificate expired",
        ),
        (
            "early.pem",
            "early.key",
            "early.pem: the certificate is not valid yet",
        ),
        (
            "ca.pem",
            "good.key",
            "ca.pem: this is the certificate of a CA",
        ),
    ] {
        let identity = format!("--tls-cert {certificate} --tls-key {key}");
        let listen = "--listen 127.0.0.1:0";
        home.run(&format!("serve --index I {listen} {identity}"))
            .check(&identity, 2, &[says]);
        home.run(&format!(
            "backend --index I {listen} {identity} --client-ca ca.pem"
        ))
        .check(&identity, 2, &[says]);
    }
    let frontend = "frontend --backend 127.0.0.1:1 --spool spool --listen 127.0.0.1:0";
    let good = "--backend-cert good.pem --backend-key good.key";
    for (flags, says) in [
        (
            format!("--backend-ca garbage {good}"),
            "no certificate in garbage",
        ),
        (
            format!("--backend-ca old-ca.pem {good}"),
            "old-ca.pem: the certificate expired",
        ),
        (
            "--backend-ca ca.pem --backend-cert expired.pem --backend-key expired.key".to_owned(),
            "expired.pem: the certificate expired",
        ),
    ] {
        home.run(&format!("{frontend} {flags}"))
            .check(&flags, 2, &[says]);
    }
}

#[test]
fn flags_of_a_certificate_need_each_other() {
    let home = home();
    let frontend = "frontend --backend 127.0.0.1:1 --spool spool";
    for (command, says) in [
        (
            "serve --index I --tls-cert good.pem",
            "--tls-cert needs --tls-key",
        ),
        (
            "serve --index I --tls-key good.key",
            "--tls-key needs --tls-cert",
        ),
        (
            "backend --index I --tls-cert good.pem --tls-key good.key",
            "--tls-cert needs --client-ca",
        ),
        (
            "backend --index I --client-ca ca.pem",
            "--client-ca needs --tls-cert and --tls-key",
        ),
        (&format!("{frontend} --backend-ca ca.pem"), "give all three"),
        (
            &format!("{frontend} --backend-cert good.pem --backend-key good.key"),
            "give all three",
        ),
    ] {
        home.run(&format!("{command} --listen 127.0.0.1:0"))
            .check(command, 2, &[says]);
    }
}

#[test]
fn a_backend_that_other_machines_reach_needs_tls() {
    let home = home();
    let refused = home.run("backend --index I --listen 0.0.0.0:0");
    let says = [
        "0.0.0.0 is not a loopback address",
        "--client-ca",
        "--insecure",
    ];
    refused.check("0.0.0.0", 2, &says);
}

#[test]
fn backends_on_other_machines_without_tls_are_warned_about() {
    let home = home();
    let frontend = home.start("frontend --backend 0.0.0.0:1 --backend 127.0.0.1:1 --spool spool");
    let log = frontend.log();
    let warned = log
        .lines()
        .filter(|line| line.contains("can be read and changed"));
    assert_eq!(warned.count(), 1, "{log}");
    assert!(
        log.contains("0.0.0.0:1") && log.contains("--backend-ca"),
        "{log}"
    );
}

#[test]
fn a_key_that_others_can_read_is_warned_about() {
    let home = home();
    let command = "serve --index I --tls-cert good.pem --tls-key good.key";
    for (mode, is_warned) in [(0o644, true), (0o640, false)] {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(home.path("good.key"), mode).unwrap();
        let server = home.start(command);
        let log = server.log();
        assert_eq!(
            log.contains("every user of this machine can read"),
            is_warned,
            "{log}"
        );
    }
}
