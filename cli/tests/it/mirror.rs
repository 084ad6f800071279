//! `trawl mirror`: fetched and rejected repositories, and failures.

use crate::commits::git;
use crate::home::Home;
use crate::process::Process;
use crate::{WAIT_MAX, poll};
use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use testkit::net::HttpRequest;

enum Behaviour {
    /// Serves git's dumb protocol, after closing some connections.
    Files(PathBuf, usize),
    Redirect(String),
    Hang,
    References,
}

struct HttpServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl HttpServer {
    fn start(behaviour: Behaviour) -> HttpServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming().flatten() {
                let number = counted.fetch_add(1, Ordering::SeqCst);
                match &behaviour {
                    Behaviour::Files(_, closed) if number < *closed => {}
                    Behaviour::Files(root, _) => answer(&stream, |path| file(root, path)),
                    Behaviour::Redirect(to) => answer(&stream, |path| {
                        format!("HTTP/1.1 302 Found\r\nLocation: {to}{path}\r\n\r\n").into_bytes()
                    }),
                    Behaviour::Hang => held.push(stream),
                    Behaviour::References => drop(list_without_end(&stream)),
                }
            }
        });
        HttpServer {
            address,
            connections,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn answer(mut stream: &TcpStream, reply: impl FnOnce(&str) -> Vec<u8>) {
    // The client may have gone.
    if let Ok(Some(asked)) = HttpRequest::read(&mut BufReader::new(stream)) {
        let _ = stream.write_all(&reply(&asked.target));
    }
}

fn list_without_end(stream: &TcpStream) -> std::io::Result<()> {
    let line = |text: String| format!("{:04x}{text}", text.len() + 4);
    let id = "1".repeat(40);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\
                Connection: close\r\n\r\n001e# service=git-upload-pack\n0000";
    let first = line(format!("{id} HEAD\0multi_ack side-band-64k ofs-delta\n"));
    answer(stream, |_| format!("{head}{first}").into_bytes());
    let mut stream = stream;
    for number in 0.. {
        let name = format!("{}{number}", "b".repeat(200));
        let lines = (0..1000).map(|more| line(format!("{id} refs/heads/{name}-{more}\n")));
        stream.write_all(lines.collect::<String>().as_bytes())?;
    }
    Ok(())
}

fn file(root: &Path, path: &str) -> Vec<u8> {
    let path = path.split('?').next().unwrap_or_default();
    let (status, body) = match fs::read(root.join(path.trim_start_matches('/'))) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    [head.into_bytes(), body].concat()
}

/// `upstream/x` has the default branch `trunk`.
fn home() -> Home {
    let home = Home::new();
    home.write("upstream/x/a.txt", "one\n");
    git(&home, "upstream/x", &["init", "-q", "-b", "trunk"]);
    commit(&home, "one");
    git(&home, "upstream/x", &["tag", "v1"]);
    git(&home, "upstream/x", &["branch", "old"]);
    home
}

fn commit(home: &Home, text: &str) {
    home.write("upstream/x/a.txt", text);
    git(home, "upstream/x", &["add", "."]);
    git(home, "upstream/x", &["commit", "-q", "-m", text]);
}

fn file_url(home: &Home) -> String {
    format!("file://{}", home.path("upstream/x").display())
}

fn check_same(home: &Home, mirror: &str) {
    let refs = |repository| {
        git(
            home,
            repository,
            &[
                "for-each-ref",
                "--format=%(objectname) %(refname)",
                "refs/heads",
                "refs/tags",
            ],
        )
    };
    assert_eq!(refs(mirror), refs("upstream/x"));
    let head = |repository| git(home, repository, &["symbolic-ref", "HEAD"]);
    assert_eq!(head(mirror), head("upstream/x"));
    git(home, mirror, &["fsck", "--strict"]);
}

fn names(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path("m")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != ".lock").collect();
    names.sort();
    names
}

#[test]
fn a_mirror_has_the_branches_and_tags_of_its_server_and_is_bare() {
    let home = home();
    let line = format!("mirror --to m --allow-scheme file {}", file_url(&home));
    git(
        &home,
        "upstream/x",
        &["update-ref", "refs/pull/1/head", "HEAD"],
    );
    let run = home.run(&line);
    run.check(&line, 0, &["1 repository in m: 1 cloned"]);
    assert!(
        run.text().starts_with("x  cloned      3 references"),
        "{}",
        run.text()
    );
    assert_eq!(names(&home), ["x.git"]);
    check_same(&home, "m/x.git");
    assert_eq!(
        git(&home, "m/x.git", &["rev-parse", "--is-bare-repository"]),
        "true"
    );
    assert!(!home.path("m/x.git/hooks").exists());
    assert_eq!(git(&home, "m/x.git", &["for-each-ref", "refs/pull"]), "");
    home.ok(&format!("{line} --all-refs"));
    assert_ne!(git(&home, "m/x.git", &["for-each-ref", "refs/pull"]), "");
}

#[test]
fn a_second_run_fetches_only_what_is_new_and_drops_what_is_gone() {
    let home = home();
    let line = format!("mirror --to m --allow-scheme file {}", file_url(&home));
    home.ok(&line);
    home.run(&line).check(&line, 0, &["1 up to date"]);
    commit(&home, "two");
    // A branch becomes a directory, a tag moves, the default branch changes.
    git(&home, "upstream/x", &["branch", "-D", "old"]);
    git(&home, "upstream/x", &["branch", "old/one"]);
    git(&home, "upstream/x", &["tag", "-f", "v1"]);
    git(&home, "upstream/x", &["checkout", "-q", "-b", "main"]);
    home.run(&line).check(&line, 0, &["1 updated"]);
    check_same(&home, "m/x.git");
    // Rewritten history.
    git(
        &home,
        "upstream/x",
        &["commit", "-q", "--amend", "-m", "other"],
    );
    home.run(&line).check(&line, 0, &["1 updated"]);
    check_same(&home, "m/x.git");
}

#[test]
fn a_list_names_repositories_and_a_broken_one_does_not_stop_the_others() {
    let home = home();
    let url = file_url(&home);
    home.write(
        "list",
        format!("# mine\n{url} tools/x\n{url}-nowhere gone\n\n{url} # again\n"),
    );
    let line = "mirror --to m --allow-scheme file --list list --jobs 2";
    let run = home.run(line);
    run.check(
        line,
        3,
        &["3 repositories in m: 2 cloned, 0 updated, 0 up to date, 1 failed"],
    );
    let rows: Vec<&str> = run.text().lines().collect();
    assert!(rows[0].starts_with("tools/x  cloned"), "{rows:?}");
    assert!(
        rows[1].starts_with("gone     failed      fatal: "),
        "{rows:?}"
    );
    assert!(rows[2].starts_with("x        cloned"), "{rows:?}");
    assert_eq!(names(&home), ["tools", "x.git"]);
    check_same(&home, "m/tools/x.git");
    let line = format!("mirror --to m --allow-scheme file {url}-nowhere");
    home.run(&line).check(&line, 2, &["1 failed"]);
}

#[test]
fn a_mirror_is_fetched_over_http() {
    let home = home();
    git(&home, "upstream/x", &["update-server-info"]);
    let server = HttpServer::start(Behaviour::Files(home.path("upstream"), 0));
    let url = server.url("x/.git");
    let line = format!("mirror --to m --allow-scheme http --allow-private {url}");
    let nameless = home.run(&line);
    nameless.check(&line, 2, &["give it another one in a --list file"]);
    home.write("list", format!("{} x", server.url("x/.git")));
    let line = "mirror --to m --allow-scheme http --allow-private --list list";
    home.run(line).check(line, 0, &["1 cloned"]);
    check_same(&home, "m/x.git");
    home.run(line).check(line, 0, &["1 up to date"]);
}

#[test]
fn addresses_of_private_networks_are_refused_before_a_connection() {
    let home = home();
    let server = HttpServer::start(Behaviour::Files(home.path("upstream"), 0));
    let port = server.address.port();
    for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1"] {
        let line = format!("mirror --to m --allow-scheme http http://{host}:{port}/x");
        let run = home.run(&line);
        run.check(&line, 2, &[]);
        // Resolvers may not know other spellings.
        let is_refused = ["--allow-private", "cannot be resolved"]
            .iter()
            .any(|it| run.text().contains(it));
        assert!(is_refused, "{host}: {}", run.text());
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn redirects_are_not_followed() {
    let home = home();
    git(&home, "upstream/x", &["update-server-info"]);
    let inner = HttpServer::start(Behaviour::Files(home.path("upstream/x/.git"), 0));
    let server = HttpServer::start(Behaviour::Redirect(format!("http://{}", inner.address)));
    let line = format!(
        "mirror --to m --allow-scheme http --allow-private {}",
        server.url("x")
    );
    let run = home.run(&line);
    run.check(&line, 2, &["1 failed"]);
    assert!(
        run.text().contains("give the URL that it redirects to"),
        "{}",
        run.text()
    );
    assert_eq!(inner.connections(), 0);
    assert_eq!(names(&home), [""; 0]);
}

#[test]
fn a_server_that_hangs_is_given_up_after_the_time_limit() {
    let home = home();
    let server = HttpServer::start(Behaviour::Hang);
    let line = format!(
        "mirror --to m --allow-scheme http --allow-private --timeout 1 {}",
        server.url("x")
    );
    let started = Instant::now();
    let run = home.run(&line);
    run.check(&line, 2, &["1 failed"]);
    assert!(
        run.text().contains("longer than the time limit"),
        "{}",
        run.text()
    );
    assert!(started.elapsed() < WAIT_MAX / 2);
    assert_eq!(names(&home), [""; 0]);
}

#[test]
fn references_without_end_are_given_up_when_they_take_too_much_memory() {
    let home = home();
    let server = HttpServer::start(Behaviour::References);
    let run = home.run(&format!(
        "mirror --to m --allow-scheme http --allow-private {}",
        server.url("x.git")
    ));
    run.check("mirror", 2, &["1 failed"]);
    for says in ["too many references", "192 MiB"] {
        assert!(run.text().contains(says), "no `{says}` in: {}", run.text());
    }
    assert_eq!(
        server.connections(),
        1,
        "another attempt would fail as well"
    );
    assert_eq!(names(&home), [""; 0]);
}

#[test]
fn a_server_that_closes_is_tried_again() {
    let home = home();
    git(&home, "upstream/x", &["update-server-info"]);
    let server = HttpServer::start(Behaviour::Files(home.path("upstream"), 2));
    home.write("list", format!("{} x", server.url("x/.git")));
    let line = "mirror --to m --allow-scheme http --allow-private --list list";
    home.run(line).check(line, 0, &["1 cloned"]);
    check_same(&home, "m/x.git");
    let server = HttpServer::start(Behaviour::Files(home.path("upstream"), 99));
    let line = format!(
        "mirror --to m --allow-scheme http --allow-private --retries 1 {}",
        server.url("y")
    );
    let run = home.run(&line);
    run.check(&line, 2, &["1 failed"]);
    assert!(run.text().contains("(2 attempts)"), "{}", run.text());
}

#[test]
fn urls_that_start_programs_are_refused() {
    let home = home();
    let target = home.path("touched");
    let target = target.display();
    let table = [
        (format!("ext::sh -c touch% {target}"), "are never run"),
        (format!("-oProxyCommand=touch {target}"), "not a URL"),
        (format!("--upload-pack=touch {target}"), "not a URL"),
        (
            format!("ssh://-oProxyCommand=touch${{IFS}}{target}/x"),
            "must not stand",
        ),
        (
            format!("https://example.org/x\ntouch {target}"),
            "must not stand",
        ),
        ("file:///srv/x".to_owned(), "--allow-scheme file"),
        ("http://example.org/x".to_owned(), "--allow-scheme http"),
        (
            "https://user:word@example.org/x".to_owned(),
            "--credentials",
        ),
        (home.path("upstream/x").display().to_string(), "not a URL"),
    ];
    for (url, says) in table {
        let mut command = home.command("mirror --to m --allow-scheme ssh --");
        crate::process::finish(command.arg(&url)).check(&url, 2, &[says]);
    }
    assert!(!home.path("touched").exists());
    assert!(!home.path("m").exists());
}

#[test]
fn mistakes_in_a_list_name_its_line() {
    let home = home();
    let table = [
        (
            "https://a.org/x\nfile:///x\n",
            "list:2: `file:///x`: the scheme `file` is not allowed",
        ),
        (
            "https://a.org/x ../x\n",
            "list:1: `https://a.org/x`: `../x` cannot be the name",
        ),
        (
            "https://a.org/x\nhttps://b.org/X\n",
            "two repositories would be in `X.git`",
        ),
        ("# nothing\n", "list: no repository is listed"),
    ];
    for (text, says) in table {
        home.write("list", text);
        let line = "mirror --to m --list list";
        home.run(line).check(text, 2, &[says]);
    }
    home.write("list", b"https://a.org/\xff");
    for (line, says) in [
        ("mirror --to m --list list", "UTF-8"),
        (
            "mirror --to m --list nowhere",
            "cannot read the list of repositories nowhere",
        ),
        ("mirror --to m", "<URL"),
        ("mirror https://a.org/x", "--to <DIR>"),
        ("mirror --to m --jobs 0 https://a.org/x", "1..=64"),
        ("mirror --to m --timeout 0 https://a.org/x", "1..="),
        ("mirror --to m --retries 11 https://a.org/x", "0..=10"),
        (
            "mirror --to m --allow-scheme ext https://a.org/x",
            "invalid value 'ext'",
        ),
        ("mirror --to m --max-size x https://a.org/x", "not a size"),
        (
            "mirror --to upstream/x/a.txt https://a.org/x",
            "upstream/x/a.txt",
        ),
        ("mirror --to m --credentials none https://a.org/x", "none"),
    ] {
        home.run(line).check(line, 2, &[says]);
    }
}

#[test]
fn what_is_no_mirror_of_the_repository_stays_as_it_is() {
    let home = home();
    let line = format!("mirror --to m --allow-scheme file {}", file_url(&home));
    home.write("m/x.git/precious", "");
    let run = home.run(&line);
    assert!(
        run.text()
            .contains("is not a mirror that `trawl mirror` has made"),
        "{}",
        run.text()
    );
    assert_eq!(fs::read_dir(home.path("m/x.git")).unwrap().count(), 1);
    fs::remove_dir_all(home.path("m/x.git")).unwrap();
    home.ok(&line);
    fs::rename(home.path("upstream/x"), home.path("upstream/y")).unwrap();
    home.write("list", format!("{} x", file_url(&home).replace("/x", "/y")));
    let line = "mirror --to m --allow-scheme file --list list";
    let run = home.run(line);
    run.check(line, 2, &[]);
    assert!(
        run.text().contains("is a mirror of file://"),
        "{}",
        run.text()
    );
}

#[test]
fn a_repository_over_the_size_limit_leaves_nothing() {
    let home = home();
    let line = format!(
        "mirror --to m --allow-scheme file --max-size 100 {}",
        file_url(&home)
    );
    let run = home.run(&line);
    run.check(&line, 2, &[]);
    assert!(
        run.text().contains("larger than --max-size"),
        "{}",
        run.text()
    );
    assert_eq!(names(&home), [""; 0]);
}

#[test]
fn only_the_owner_may_read_credentials() {
    let home = home();
    home.write("secret", "https://me:word@example.org\n");
    let line = format!(
        "mirror --to m --allow-scheme file --credentials secret {}",
        file_url(&home)
    );
    let mode = |mode| {
        fs::set_permissions(home.path("secret"), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o644);
    home.run(&line).check(&line, 2, &["chmod 600 secret"]);
    mode(0o600);
    home.ok(&line);
}

#[test]
fn configuration_and_variables_of_the_user_have_no_effect() {
    let home = home();
    home.write(
        "hooks/reference-transaction",
        "#!/bin/sh\ntouch \"$HOME/touched\"\n",
    );
    let hook = home.path("hooks/reference-transaction");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = home.path("hooks").display().to_string();
    let elsewhere = home.path("elsewhere").display().to_string();
    home.write(
        ".gitconfig",
        format!("[core]\n\thooksPath = {hooks}\n[url \"{elsewhere}\"]\n\tinsteadOf = file://\n"),
    );
    let mut command = home.command("mirror --to m --allow-scheme file");
    command
        .arg(file_url(&home))
        .env("GIT_DIR", &elsewhere)
        .env("GIT_ALLOW_PROTOCOL", "ext")
        .env("GIT_OBJECT_DIRECTORY", &elsewhere)
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.hooksPath")
        .env("GIT_CONFIG_VALUE_0", &hooks);
    crate::process::finish(&mut command).check("mirror", 0, &["1 cloned"]);
    check_same(&home, "m/x.git");
    assert!(!home.path("touched").exists());
}

#[test]
fn a_clone_that_is_interrupted_or_killed_leaves_no_mirror() {
    let home = home();
    let server = HttpServer::start(Behaviour::Hang);
    let line = format!(
        "mirror --to m --allow-scheme http --allow-private {}",
        server.url("x")
    );
    let connected = |count| {
        poll("a connection", WAIT_MAX, || {
            (server.connections() >= count).then_some(())
        })
    };
    let mut process = Process::start(&mut home.command(&line));
    connected(1);
    let locked = home.run(&line);
    locked.check(
        "a second one",
        2,
        &["another `trawl mirror` is fetching into m"],
    );
    process.signal("INT");
    assert_eq!(process.wait(WAIT_MAX).code(), Some(130));
    assert_eq!(names(&home), [""; 0]);
    let process = Process::start(&mut home.command(&line));
    connected(2);
    process.kill();
    // Left by a killed clone.
    home.write("m/.incoming-old/repository.git/HEAD", "");
    let line = format!("mirror --to m --allow-scheme file {}", file_url(&home));
    home.ok(&line);
    assert_eq!(names(&home), ["x.git"]);
    home.write("m/x.git/objects/pack/tmp_pack_old", "half");
    home.ok(&line);
    assert!(!home.path("m/x.git/objects/pack/tmp_pack_old").exists());
}

#[test]
fn a_login_by_ssh_reads_no_configuration_and_asks_nothing() {
    let home = home();
    home.write(
        "bin/ssh",
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >said\nenv >variables\nexit 1\n",
    );
    fs::set_permissions(home.path("bin/ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = home.command("mirror --to m --allow-scheme ssh --allow-private");
    command
        .arg("ssh://git@127.0.0.1:2222/x")
        .env("PATH", format!("{}:{path}", home.path("bin").display()))
        .env("GIT_SSH_COMMAND", "touch touched")
        .env("SECRET", "x");
    crate::process::finish(&mut command).check("mirror", 2, &[]);
    let mut said = String::new();
    fs::File::open(home.path("said"))
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    let said: Vec<&str> = said.lines().collect();
    for word in [
        "/dev/null",
        "-oBatchMode=yes",
        "-oHostName=127.0.0.1",
        "-oProxyCommand=none",
        "git@127.0.0.1",
    ] {
        assert!(said.contains(&word), "{word}: {said:?}");
    }
    let variables = fs::read_to_string(home.path("variables")).unwrap();
    assert!(!variables.contains("SECRET"), "{variables}");
    assert!(!home.path("touched").exists());
}

#[test]
fn a_url_is_fetched_and_indexed_and_indexed_as_it_was_if_its_server_is_away() {
    let home = home();
    let line = format!(
        "index --index I --allow-scheme file --git {}",
        file_url(&home)
    );
    home.run(&line)
        .check(&line, 0, &["indexed 1 file of 1 package"]);
    let found =
        |word: &str| String::from_utf8(home.run(&format!("search --index I {word}")).stdout);
    assert_eq!(found("one").unwrap(), "x/a.txt:1:one\n");
    commit(&home, "two");
    home.ok(&line);
    assert_eq!(found("two").unwrap(), "x/a.txt:1:two\n");
    fs::rename(home.path("upstream"), home.path("away")).unwrap();
    let said = ["what was fetched before was indexed", "up to date"];
    home.run(&line).check(&line, 3, &said);
    assert_eq!(found("two").unwrap(), "x/a.txt:1:two\n");
}
