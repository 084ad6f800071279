//! Runs the program `git` with only the settings that a fetch needs.
//!
//! **Invariant:** only [`MirrorOptions`] take effect: no other configuration, hook, helper, prompt
//! or variable. A limit or interrupt ends the child with all of its processes.

use super::memory;
use super::remote::{Remote, Scheme};
use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, Read};
use std::net::IpAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;

const POLL_EVERY: Duration = Duration::from_millis(10);

const MEASURE_EVERY: Duration = Duration::from_millis(250);

/// A local server sends some 40 MB meanwhile.
const MEASURE_MEMORY_EVERY: Duration = Duration::from_millis(50);

/// Holds half a million references.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

const MESSAGE_BYTES_MAX: u64 = 64 << 10;

/// Time below a byte per second.
const STALLED_SECONDS: u32 = 60;

/// Harmless object faults in well-known histories.
const HARMLESS: &str = "badTimezone missingEmail missingNameBeforeEmail missingSpaceBeforeDate \
                        missingSpaceBeforeEmail zeroPaddedDate zeroPaddedFilemode";

/// The first version that accepts addresses of a host.
const VERSION_MIN: (u32, u32) = (2, 37);

pub(super) const TOO_LARGE: &str = "it is larger than --max-size";

const CANNOT_START: &str = "cannot start git; install it";

/// Ends of git that are told apart.
#[derive(Debug, Error)]
pub(crate) enum ChildError {
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Failed(String),
}

/// Permissions and limits of a fetch.
#[derive(Clone, Debug)]
pub(crate) struct MirrorOptions {
    /// Allows addresses outside the public internet.
    pub(crate) allow_private: bool,
    /// Fetches more than branches and tags.
    pub(crate) all_references: bool,
    /// File in the format of `git credential-store`.
    pub(crate) credentials: Option<PathBuf>,
    /// CAs instead of the system's.
    pub(crate) ca: Option<PathBuf>,
    /// Time for a repository, with retries.
    pub(crate) timeout: Duration,
    pub(crate) bytes_max: Option<u64>,
    pub(crate) retries: u32,
    pub(crate) jobs: usize,
}

pub(super) struct Limits<'a> {
    pub(super) deadline: Instant,
    /// Maximum bytes of a directory.
    pub(super) size: Option<(PathBuf, u64)>,
    /// Excludes processes that read objects.
    pub(super) memory: Option<u64>,
    pub(super) interrupted: &'a AtomicBool,
}

pub(super) fn check_version() -> Result<()> {
    let output = local_git().arg("version").output().context(CANNOT_START)?;
    let said = String::from_utf8_lossy(output.stdout.trim_ascii());
    let (major, minor) = VERSION_MIN;
    ensure!(
        version(&said) >= Some(VERSION_MIN),
        "`{said}` is too old; install git {major}.{minor} or later"
    );
    Ok(())
}

/// Parses `git version 2.39.5 (more)`.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split(' ').nth(2)?.split('.');
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// Returns `git` without environment, configuration and network.
pub(super) fn local_git() -> Command {
    let mut command = Command::new("git");
    command
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        // Messages are parsed in English.
        .env("LC_ALL", "C")
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        // Empty: no program asks for a password.
        .env("GIT_ASKPASS", "")
        .env("GIT_NO_LAZY_FETCH", "1")
        // Later versions of git make reftables, which `trawl index` does not read.
        .env("GIT_DEFAULT_REF_FORMAT", "files")
        .stdin(Stdio::null());
    let settings = [
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "gc.auto=0",
        "gc.autoDetach=false",
        "maintenance.auto=false",
        "submodule.recurse=false",
        "protocol.allow=never",
    ];
    set(&mut command, settings);
    command
}

/// Restricted to checked addresses and one protocol.
pub(super) fn network_git(
    remote: &Remote,
    addresses: &[IpAddr],
    options: &MirrorOptions,
) -> Command {
    let mut command = local_git();
    let allowed = format!("protocol.{}.allow=always", remote.scheme.name());
    let stalled = format!("http.lowSpeedTime={STALLED_SECONDS}");
    let settings = [
        &allowed[..],
        // No redirect or alternate leads elsewhere.
        "http.followRedirects=false",
        "transfer.bundleURI=false",
        "fetch.uriProtocols=",
        "fetch.recurseSubmodules=false",
        "fetch.fsckObjects=true",
        "http.lowSpeedLimit=1",
        "credential.helper=",
        &stalled,
    ];
    set(&mut command, settings);
    let harmless = HARMLESS.split(' ');
    let harmless = harmless.map(|fault| format!("fetch.fsck.{fault}=ignore"));
    set(&mut command, harmless);
    if let Some(file) = &options.credentials {
        let file = shell_quoted(&file.to_string_lossy());
        set(
            &mut command,
            [format!("credential.helper=store --file={file}")],
        );
    }
    if let Some(file) = &options.ca {
        set(&mut command, [format!("http.sslCAInfo={}", file.display())]);
    }
    match remote.scheme {
        Scheme::Http | Scheme::Https => set(&mut command, [resolution(remote, addresses)]),
        Scheme::Ssh => {
            command.env("GIT_SSH_COMMAND", ssh(remote, addresses));
            command.env("GIT_SSH_VARIANT", "ssh");
            command.envs(std::env::var_os("SSH_AUTH_SOCK").map(|path| ("SSH_AUTH_SOCK", path)));
        }
        Scheme::Git | Scheme::File => {}
    }
    command
}

fn set(command: &mut Command, settings: impl IntoIterator<Item = impl AsRef<str>>) {
    for setting in settings {
        command.args(["-c", setting.as_ref()]);
    }
}

/// Pins addresses in curl against DNS rebinding.
fn resolution(remote: &Remote, addresses: &[IpAddr]) -> String {
    let shown = addresses.iter().map(|address| match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    });
    let shown = shown.collect::<Vec<_>>().join(",");
    let Remote { host, port, .. } = remote;
    if host.contains(':') {
        return format!("http.curloptResolve=[{host}]:{port}:{shown}");
    }
    format!("http.curloptResolve={host}:{port}:{shown}")
}

/// SSH without prompts and configuration, pinned to the checked address.
fn ssh(remote: &Remote, addresses: &[IpAddr]) -> String {
    let alias = match remote.port {
        22 => remote.host.clone(),
        port => format!("[{}]:{port}", remote.host),
    };
    let address = addresses.first().map(|it| format!(" -oHostName={it}"));
    format!(
        "ssh -F /dev/null -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout={STALLED_SECONDS} \
         -oServerAliveInterval={STALLED_SECONDS} -oClearAllForwardings=yes -oPermitLocalCommand=no \
         -oProxyCommand=none -oHostKeyAlias={}{}",
        shell_quoted(&alias),
        address.unwrap_or_default()
    )
}

fn shell_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

pub(super) fn run(command: &mut Command, limits: &Limits<'_>) -> Result<Vec<u8>> {
    let spawned = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Killing the group reaches git's children.
        .process_group(0)
        .spawn();
    let mut child = spawned.context(CANNOT_START)?;
    let output = read_in_thread(child.stdout.take(), OUTPUT_BYTES_MAX);
    let messages = read_in_thread(child.stderr.take(), MESSAGE_BYTES_MAX);
    let ended = wait(&mut child, limits);
    if ended.is_err() {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // Fails if all have ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = child.wait();
    }
    let joined = |thread: JoinHandle<Vec<u8>>| thread.join().unwrap_or_default();
    let (output, messages) = (joined(output), joined(messages));
    if !ended? {
        bail!(ChildError::Failed(complaint(&messages)));
    }
    ensure!(
        output.len() as u64 <= OUTPUT_BYTES_MAX,
        "the server lists too many references: they take more than {} MiB",
        OUTPUT_BYTES_MAX >> 20
    );
    Ok(output)
}

/// True on success.
fn wait(child: &mut Child, limits: &Limits<'_>) -> Result<bool> {
    let (mut measured, mut measured_memory) = (Instant::now(), Instant::now());
    loop {
        if let Some(status) = child.try_wait().context(CANNOT_START)? {
            return Ok(status.success());
        }
        if limits.interrupted.load(Ordering::Relaxed) {
            bail!(ChildError::Interrupted);
        }
        ensure!(
            Instant::now() < limits.deadline,
            "it took longer than the time limit; allow more with --timeout"
        );
        if let Some((directory, bytes_max)) = &limits.size
            && measured.elapsed() >= MEASURE_EVERY
        {
            ensure!(size(directory) <= *bytes_max, TOO_LARGE);
            measured = Instant::now();
        }
        if let Some(bytes_max) = limits.memory
            && measured_memory.elapsed() >= MEASURE_MEMORY_EVERY
        {
            ensure!(
                memory::used(child.id()) <= bytes_max,
                "the server lists too many references, perhaps without end: git takes more than {} MiB of memory \
                 for them",
                bytes_max >> 20
            );
            measured_memory = Instant::now();
        }
        std::thread::sleep(POLL_EVERY);
    }
}

/// Drains a pipe, so the child never blocks. Keeps `bytes_max` bytes, and one more if exceeded.
fn read_in_thread(pipe: Option<impl Read + Send + 'static>, bytes_max: u64) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // An unreadable pipe counts as ended.
            let _ = pipe.by_ref().take(bytes_max + 1).read_to_end(&mut bytes);
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        bytes
    })
}

/// Bytes of all files below.
pub(super) fn size(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// Error lines of git, with a remedy if it names none.
fn complaint(messages: &[u8]) -> String {
    const LINES_MAX: usize = 3;
    const BYTES_MAX: usize = 400;
    let text = String::from_utf8_lossy(messages);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let starts = ["fatal: ", "error: ", "ssh: "];
    let is_complaint = |line: &&str| starts.iter().any(|it| line.starts_with(it));
    let mut said: Vec<&str> = lines().filter(is_complaint).take(LINES_MAX).collect();
    if said.is_empty() {
        said.extend(lines().next_back());
    }
    let mut said = said.join("; ");
    said.truncate(said.floor_char_boundary(BYTES_MAX));
    let has = |word: &str| text.contains(word);
    let hint = if has("returned error: 30") {
        "the server redirects elsewhere, which is never followed; give the URL that it redirects to"
    } else if has("could not read Username") || has("Authentication failed") {
        "there is no such repository, or it needs --credentials FILE"
    } else {
        return match &*said {
            "" => "git says nothing".to_owned(),
            _ => said,
        };
    };
    format!("{said}: {hint}")
}

/// True if a retry may help.
pub(super) fn is_transient(error: &anyhow::Error) -> bool {
    const RESOLVER: &str = "Temporary failure";
    const WORDS: [&str; 16] = [
        "Could not resolve host",
        "Failed to connect",
        "Connection refused",
        "Connection reset",
        "Connection timed out",
        "Connection closed",
        "Empty reply from server",
        "Operation too slow",
        "Recv failure",
        "early EOF",
        "hung up unexpectedly",
        "transfer closed",
        "unexpected disconnect",
        "returned error: 5",
        "returned error: 429",
        RESOLVER,
    ];
    let has = |said: &str| WORDS.iter().any(|word| said.contains(word));
    match error.downcast_ref() {
        Some(ChildError::Failed(said)) => has(said),
        Some(ChildError::Interrupted) => false,
        None => {
            let cause = error.root_cause().downcast_ref::<io::Error>();
            cause.is_some_and(|error| error.to_string().contains(RESOLVER))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_sh_are_quoted() {
        assert_eq!(shell_quoted("a b"), "'a b'");
        assert_eq!(shell_quoted("a'; touch b"), r"'a'\''; touch b'");
    }

    #[test]
    fn the_addresses_that_were_checked_are_the_ones_that_are_used() {
        let remote = |url| Remote::parse(url, None, &[Scheme::Https, Scheme::Ssh]).unwrap();
        let addresses = ["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
        assert_eq!(
            resolution(&remote("https://example.org/x"), &addresses),
            "http.curloptResolve=example.org:443:192.0.2.1,[2001:db8::1]"
        );
        let ssh = ssh(&remote("ssh://git@example.org:2222/x"), &addresses);
        assert!(
            ssh.ends_with(" -oHostKeyAlias='[example.org]:2222' -oHostName=192.0.2.1"),
            "{ssh}"
        );
    }

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(version("git version 2.39.5"), Some((2, 39)));
        assert!(version("git version 2.4.0 (Apple Git-1)") < Some(VERSION_MIN));
        assert!(version("git version 3.0.rc1") > Some(VERSION_MIN));
        assert_eq!(version("nonsense"), None);
    }

    #[test]
    fn complaints_are_short_and_say_what_to_do() {
        let redirect = b"fatal: unable to access 'x': The requested URL returned error: 302\n";
        assert!(complaint(redirect).contains("give the URL that it redirects to"));
        let login = b"fatal: could not read Username for 'x': terminal prompts disabled\n";
        assert!(complaint(login).contains("--credentials"));
        assert_eq!(complaint(b""), "git says nothing");
        assert_eq!(
            complaint(b"remote: hello\nwarning: x\nfatal: y\n"),
            "fatal: y"
        );
        assert!(complaint(format!("fatal: {}", "\u{e9}".repeat(9_999)).as_bytes()).len() <= 400);
    }

    #[test]
    fn only_failures_that_may_go_away_are_tried_again() {
        let failed = |said: &str| is_transient(&ChildError::Failed(said.to_owned()).into());
        assert!(failed(
            "fatal: unable to access 'x': The requested URL returned error: 503"
        ));
        assert!(failed(
            "fatal: unable to access 'x': Failed to connect to x port 1: refused"
        ));
        assert!(!failed("fatal: repository 'x' not found"));
        assert!(!failed(
            "fatal: unable to access 'x': The requested URL returned error: 403"
        ));
        assert!(!is_transient(&ChildError::Interrupted.into()));
        assert!(!is_transient(&anyhow::anyhow!(TOO_LARGE)));
    }
}
